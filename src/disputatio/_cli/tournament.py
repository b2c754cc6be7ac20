"""``disputatio tournament``: models against each other on both sides of every topic."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.experiments import (
    BatchOption,
    Progress,
    leave,
    note_singles,
    run_trials,
    show_report,
    whole_number,
)
from disputatio._cli.given import check_kept, command_line, format_called, say_notes
from disputatio._cli.options import CEILINGS, DryRunOption, takes
from disputatio._cli.streams import print_json, print_lines, tell
from disputatio.errors import InvalidInputError

if TYPE_CHECKING:
    from disputatio.config import Arguments, Settings
    from disputatio.engine.preview import Preview
    from disputatio.evaluation.tournament_plan import Topic, Tournament
    from disputatio.formats.format import Format

_WHO, _WHAT = "Who plays", "What is debated"
_LONGEST_FILE = 200_000


@takes("base_url", "config", "set", "seed", *CEILINGS, "store")
def tournament(
    models: Annotated[
        str,
        typer.Option(
            "--models",
            metavar="A,B,C",
            help="Two or more models, as PROVIDER:MODEL between commas.",
            rich_help_panel=_WHO,
        ),
    ],
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="PROVIDER:MODEL",
            help="Who judges; it does not play. Else the judge that is configured.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    topics: Annotated[
        str | None,
        typer.Option(
            "--topics",
            metavar="NAMES",
            help="Built-in topics between commas, or 'all'; `disputatio topics` lists them.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    motion: Annotated[
        list[str] | None,
        typer.Option("--motion", metavar="MOTION", help="A motion of your own; repeatable.", rich_help_panel=_WHAT),
    ] = None,
    motions: Annotated[
        Path | None,
        typer.Option("--motions", metavar="FILE", help="Motions of your own, one a line.", rich_help_panel=_WHAT),
    ] = None,
    formats: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="NAMES",
            help="structured, competition, or a file of your own rules; several between commas.",
            rich_help_panel=_WHAT,
        ),
    ] = "structured",
    repeat: Annotated[
        str | None,
        typer.Option("--repeat", metavar="N", help="Hold every match so often; 1 by default.", rich_help_panel=_WHAT),
    ] = None,
    batch: BatchOption = False,
    dry_run: DryRunOption = False,
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print the report as JSON.")] = False,
    **given: Any,
) -> None:
    """Let models debate each other on both sides of every topic, and rank them with intervals.

    Ceilings are of the whole tournament. Each match is an ordinary debate with a record of its own: the same command
    again goes on where it was stopped, and asks nothing twice.
    """
    from disputatio.evaluation.ranking import rank_players, render_ranking_lines
    from disputatio.evaluation.tournament_plan import check_ceiling, estimate_matches
    from disputatio.report.amounts import counted

    arguments = command_line(**given)
    matter = _topics(_listed(topics or ""), motion or [], motions)
    found = _tournament(_listed(models), judge, matter, formats, whole_number("--repeat", repeat, 1) or 1, arguments)
    settings = found.settings_for(found.formats[0], *found.players[:2])
    say_notes(settings)
    check_kept(settings)
    previews = asyncio.run(estimate_matches(found, batch=batch))
    if dry_run:
        _say_estimate(found, previews, as_json=json_)
        note_singles([found.settings_for(found.formats[0], row, row) for row in found.players], batch=batch)
        return
    check_ceiling(settings.budget, previews)
    tell(*(f"Warning: {row}" for row in found.warnings()))
    trials = found.trials()
    progress = Progress(len(trials), "matches", "judged")
    result = run_trials(trials, settings.store, settings.budget, progress, shares_ceiling=True, batch=batch)
    report = rank_players(found, result)
    show_report(report.as_json(), render_ranking_lines(report), as_json=json_)
    leave(
        "tournament",
        result.stopped,
        provider_failed=result.provider_failed,
        is_partial=bool(result.missing),
        note=(
            f"{counted(len(result.missing), 'match was', 'matches were')} not held: {result.stopped}.",
            "The same command with a higher ceiling holds what is missing.",
        ),
    )


def _tournament(
    players: tuple[str, ...],
    judge: str | None,
    matter: tuple[Topic, ...],
    formats: str,
    repeats: int,
    arguments: Arguments,
) -> Tournament:
    """What was asked for.

    Raises:
        InvalidInputError: it is no tournament.
    """
    from disputatio.evaluation.tournament_plan import Tournament, check_tournament
    from disputatio.participants.providers import parse_seat_value

    for name in players:
        parse_seat_value(name, source="--models")
    if judge is not None:
        parse_seat_value(judge, source="--judge")
    chosen = tuple(format_called(name) for name in _listed(formats))
    if not chosen:
        raise InvalidInputError("No format is named.", "Give one: --format structured.")
    seating = _Seating(arguments, judge)
    judged_by = seating.judge_of(chosen[0], players[0]) if players else judge or ""
    found = Tournament(players, judged_by, matter, chosen, seating.settings, repeats)
    check_tournament(found)
    return found


def _say_estimate(found: Tournament, previews: Sequence[Preview], *, as_json: bool) -> None:
    tokens = sum(row.input_tokens + row.output_tokens for row in previews)
    calls, prices = sum(row.calls for row in previews), [row.usd for row in previews]
    usd = None if None in prices else sum(row for row in prices if row is not None)
    if as_json:
        told = {"matches": len(previews), "calls": calls, "tokens": tokens, "usd": None if usd is None else str(usd)}
        print_json({**told, "estimate": True, "warnings": list(found.warnings())})
        return
    cost = "price unknown" if usd is None else f"{usd:.4f} USD"
    print_lines(f"{len(previews)} matches: about {calls:,} calls, {tokens:,} tokens, {cost}.")
    tell(*(f"Warning: {row}" for row in found.warnings()))


class _Seating:
    """Who sits where in a match, by everything that was configured."""

    def __init__(self, arguments: Arguments, judge: str | None) -> None:
        self._arguments, self._judge = arguments, judge
        self._known: dict[tuple[str, str, str], Settings] = {}

    def settings(self, form: Format, pro: str, con: str) -> Settings:
        """The settings of one match."""
        from disputatio.config.process import settings_for

        key = (form.name + form.file_text, pro, con)
        if key not in self._known:
            judge = (("judge", self._judge),) if self._judge else ()
            self._known[key] = settings_for(form, self._arguments.with_seats([("pro", pro), ("con", con), *judge]))
        return self._known[key]

    def judge_of(self, form: Format, player: str) -> str:
        """The judge, as the players are named.

        Raises:
            InvalidInputError: none is configured.
        """
        settings = self.settings(form, player, player)
        if "judge" not in settings.seats:
            return self._judge or ""
        seating = settings.seats["judge"]
        named = settings.sources.get("seats.judge.model", "default") != "default"
        if self._judge is None and not named and seating.provider != "embedded":
            raise InvalidInputError("There is no judge.", "Name a model that does not play: --judge PROVIDER:MODEL.")
        return self._judge or f"{seating.provider}:{seating.model}"


def _listed(words: str) -> tuple[str, ...]:
    return tuple(row.strip() for row in words.split(",") if row.strip())


def _topics(names: tuple[str, ...], own: list[str], file: Path | None) -> tuple[Topic, ...]:
    """What is debated: built-in topics, then motions of one's own.

    Raises:
        InvalidInputError: there is no such topic, or the file cannot be read.
    """
    from disputatio.config.catalogue import topic_named
    from disputatio.config.catalogue import topics as known
    from disputatio.evaluation.tournament_plan import Topic
    from disputatio.motion import one_line, read_motion

    names = tuple(known()) if names == ("all",) else names
    found = [Topic(name, read_motion(topic_named(name), "English")) for name in names]
    given = [*own, *(_lines(file) if file else [])]
    return (*found, *(Topic(one_line(text, 60), read_motion(text, "English")) for text in given))


def _lines(file: Path) -> list[str]:
    try:
        with file.open(encoding="utf-8-sig") as opened:
            text = opened.read(_LONGEST_FILE)
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInputError(
            f"The motions in {file.name} cannot be read: {cause}.", "Give a text file with a motion a line."
        ) from None
    rows = [row.strip() for row in text.splitlines() if row.strip() and not row.lstrip().startswith("#")]
    if not rows:
        raise InvalidInputError(f"There is no motion in {file.name}.", "Write one a line.")
    return rows
