"""``disputatio tournament``: rank models that debate each other on both sides of every topic."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.arguments import load_format, make_arguments, print_notes
from disputatio._cli.experiments import (
    BatchOption,
    Progress,
    exit_if_stopped,
    note_unbatched,
    print_report,
    read_whole_number,
    run_trials,
)
from disputatio._cli.options import CEILINGS, DryRunOption, takes
from disputatio._cli.stores import refuse_memory_store
from disputatio._cli.streams import print_json, print_lines, tell
from disputatio.errors import InvalidInputError

if TYPE_CHECKING:
    from disputatio.config import Arguments, Settings
    from disputatio.engine.preview import Preview
    from disputatio.evaluation.tournament_plan import Topic, Tournament
    from disputatio.formats.format import Format

_WHO, _WHAT = "Players", "Motions and formats"
_LONGEST_FILE = 200_000


@takes("base_url", "config", "set", "seed", *CEILINGS, "store")
def tournament(
    models: Annotated[
        str,
        typer.Option(
            "--models",
            metavar="A,B,C",
            help="Two or more models as PROVIDER:MODEL, between commas.",
            rich_help_panel=_WHO,
        ),
    ],
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="PROVIDER:MODEL",
            help="The model that judges. It does not play. The default is the configured judge.",
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
        typer.Option("--motion", metavar="MOTION", help="A motion of your own. Repeatable.", rich_help_panel=_WHAT),
    ] = None,
    motions: Annotated[
        Path | None,
        typer.Option("--motions", metavar="FILE", help="A file of motions, one on each line.", rich_help_panel=_WHAT),
    ] = None,
    formats: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="NAMES",
            help="structured, competition, or a file of your own rules. Several go between commas.",
            rich_help_panel=_WHAT,
        ),
    ] = "structured",
    repeat: Annotated[
        str | None,
        typer.Option(
            "--repeat", metavar="N", help="How often every match is run. The default is 1.", rich_help_panel=_WHAT
        ),
    ] = None,
    batch: BatchOption = False,
    dry_run: DryRunOption = False,
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print the report as JSON.")] = False,
    **given: Any,
) -> None:
    """Let models debate each other on both sides of every topic, and rank them with intervals.

    Ceilings count for the whole tournament. Each match is an ordinary debate with a record. If the command is stopped,
    the same command continues from there.
    """
    from disputatio.evaluation.ranking import rank_players, render_ranking_lines
    from disputatio.evaluation.tournament_plan import check_ceiling, estimate_matches
    from disputatio.report.amounts import counted

    arguments = make_arguments(**given)
    chosen = _topics(_split(topics or ""), motion or [], motions)
    repeats = read_whole_number("--repeat", repeat, 1) or 1
    planned = _plan(_split(models), judge, chosen, formats, repeats, arguments)
    settings = planned.settings_for(planned.formats[0], *planned.players[:2])
    print_notes(settings)
    refuse_memory_store(settings.store)
    previews = asyncio.run(estimate_matches(planned, batch=batch))
    if dry_run:
        _print_estimate(planned, previews, as_json=json_)
        note_unbatched([planned.settings_for(planned.formats[0], row, row) for row in planned.players], batch=batch)
        return
    check_ceiling(settings.budget, previews)
    tell(*(f"Warning: {row}" for row in planned.warnings()))
    trials = planned.trials()
    progress = Progress(len(trials), "matches", "judged")
    result = run_trials(trials, settings.store, settings.budget, progress, shares_ceiling=True, batch=batch)
    report = rank_players(planned, result)
    print_report(report.as_json(), render_ranking_lines(report), as_json=json_)
    exit_if_stopped(
        "tournament",
        result.stopped,
        provider_failed=result.provider_failed,
        is_partial=bool(result.missing),
        note=(
            f"{counted(len(result.missing), 'match was', 'matches were')} not run: {result.stopped}.",
            "The same command with a higher ceiling runs what is missing.",
        ),
    )


def _plan(
    players: tuple[str, ...],
    judge: str | None,
    topics: tuple[Topic, ...],
    formats: str,
    repeats: int,
    arguments: Arguments,
) -> Tournament:
    """Plan the tournament.

    Raises:
        InvalidInputError: it cannot be run.
    """
    from disputatio.evaluation.tournament_plan import Tournament, check_tournament
    from disputatio.participants.providers import parse_seat_value

    for name in players:
        parse_seat_value(name, source="--models")
    if judge is not None:
        parse_seat_value(judge, source="--judge")
    forms = tuple(load_format(name) for name in _split(formats))
    if not forms:
        raise InvalidInputError("No format is named.", "Name one: --format structured.")
    seating = _Seating(arguments, judge)
    judged_by = seating.find_judge(forms[0], players[0]) if players else judge or ""
    planned = Tournament(players, judged_by, topics, forms, seating.settings, repeats)
    check_tournament(planned)
    return planned


def _print_estimate(planned: Tournament, previews: Sequence[Preview], *, as_json: bool) -> None:
    tokens = sum(row.input_tokens + row.output_tokens for row in previews)
    calls, prices = sum(row.calls for row in previews), [row.usd for row in previews]
    usd = None if None in prices else sum(row for row in prices if row is not None)
    if as_json:
        body = {"matches": len(previews), "calls": calls, "tokens": tokens, "usd": None if usd is None else str(usd)}
        print_json({**body, "estimate": True, "warnings": list(planned.warnings())})
        return
    cost = "price unknown" if usd is None else f"{usd:.4f} USD"
    print_lines(f"{len(previews)} matches: about {calls:,} calls, {tokens:,} tokens, {cost}.")
    tell(*(f"Warning: {row}" for row in planned.warnings()))


class _Seating:
    """Resolves the settings of matches."""

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

    def find_judge(self, form: Format, player: str) -> str:
        """The judge as PROVIDER:MODEL, or empty for a format without one.

        Raises:
            InvalidInputError: no judge is configured.
        """
        settings = self.settings(form, player, player)
        if "judge" not in settings.seats:
            return self._judge or ""
        seating = settings.seats["judge"]
        named = settings.sources.get("seats.judge.model", "default") != "default"
        if self._judge is None and not named and seating.provider != "embedded":
            raise InvalidInputError("No judge is named.", "Name a model that does not play: --judge PROVIDER:MODEL.")
        return self._judge or f"{seating.provider}:{seating.model}"


def _split(words: str) -> tuple[str, ...]:
    return tuple(row.strip() for row in words.split(",") if row.strip())


def _topics(names: tuple[str, ...], motions: list[str], file: Path | None) -> tuple[Topic, ...]:
    """The built-in topics of these names, and the given motions.

    Raises:
        InvalidInputError: there is no such topic, or the file cannot be read.
    """
    from disputatio.config.catalogue import topic_named
    from disputatio.config.catalogue import topics as known
    from disputatio.evaluation.tournament_plan import Topic
    from disputatio.motion import one_line, read_motion

    names = tuple(known()) if names == ("all",) else names
    built_in = [Topic(name, read_motion(topic_named(name), "English")) for name in names]
    texts = [*motions, *(_read_motions(file) if file else [])]
    return (*built_in, *(Topic(one_line(text, 60), read_motion(text, "English")) for text in texts))


def _read_motions(file: Path) -> list[str]:
    try:
        with file.open(encoding="utf-8-sig") as opened:
            text = opened.read(_LONGEST_FILE)
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInputError(
            f"The motions in {file.name} cannot be read: {cause}.", "Give a text file with one motion on each line."
        ) from None
    rows = [row.strip() for row in text.splitlines() if row.strip() and not row.lstrip().startswith("#")]
    if not rows:
        raise InvalidInputError(f"There is no motion in {file.name}.", "Write one on each line.")
    return rows
