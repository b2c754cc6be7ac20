"""The debate that a program asks for: typed options, and participants, sources and functions of its own."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from disputatio.config import Arguments, arguments_of
from disputatio.config.arguments import option_rows
from disputatio.config.process import settings_for
from disputatio.engine.custom_format_files import load_format
from disputatio.engine.market_setup import motion_and_knowledge, pick_knowledge
from disputatio.engine.opening import Proposal
from disputatio.engine.review_setup import read_sources_by_round
from disputatio.engine.seat_assignments import fill_seats
from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import quote
from disputatio.evidence.sources import Source
from disputatio.formats.debate_context import place_of
from disputatio.formats.format import Format
from disputatio.formats.options import FormatOptions, Market
from disputatio.motion import Evidence, read_motion
from disputatio.options import Given, options_in
from disputatio.participants.human import Participant
from disputatio.participants.scripted import Scripted
from disputatio.request.model import DebateRequest, SeatOptions


def proposal_of_program(
    motion: str,
    chosen: FormatOptions,
    seats: Mapping[str, Any],
    evidence: Any,
    options: Mapping[str, Any],
    *,
    config: str | Mapping[str, Any] | None,
    prompts: Path | None,
) -> tuple[Proposal, Arguments]:
    """The proposal, and the arguments it was made from.

    Args:
        motion: the motion.
        chosen: the format with its options.
        seats: models, options of models and participants, by seat.
        evidence: sources, or sources by the round of a review that brings them.
        options: the further options of the request, by name.
        config: a configuration file, or its content.
        prompts: a folder of prompt overrides.

    Raises:
        InvalidInputError: something given cannot be used; says what would do.
    """
    _check_motion(motion)
    people, models = _divide_seats(seats)
    first, later = _sources(evidence)
    knowledge = chosen.knowledge if isinstance(chosen, Market) else None
    as_of = chosen.as_of if isinstance(chosen, Market) else None
    form, known = load_format(chosen.name), pick_knowledge(knowledge, as_of)
    motion, base = motion_and_knowledge(form, motion or None, None, known, [*first, *later])
    request = DebateRequest.model_validate({"motion": motion, "format": chosen, **options})
    arguments = replace(arguments_of(request), config=config)
    arguments = replace(arguments, given=(*arguments.given, *_seat_rows(models)))
    arguments = _with_counted_seats(arguments, form, seats)
    settings = settings_for(form, arguments)
    for_all = people.pop("all", None)
    named = dict.fromkeys(models, "")
    participants = fill_seats(for_all, form, settings, named, people)
    sources, introduced = read_sources_by_round(first, later)
    said = read_motion(motion, settings.language)
    return Proposal(said, form, settings, sources, participants, prompts, introduced, base), arguments


def _check_motion(motion: object) -> None:
    if not isinstance(motion, str):
        raise InvalidInputError(
            f"The motion is {quote(motion)}, and it must be text.", "Give the question or proposition as a string."
        )


def participants_of(seats: object) -> dict[str, Participant]:
    """The participants of a resumed debate. Its models are in its record.

    Raises:
        InvalidInputError: it is no mapping, or gives a seat to anything else.
    """
    people, models = _divide_seats(seats)
    if models:
        raise InvalidInputError(
            f"The seat {quote(next(iter(models)))} is given a model, but the record says which model sits there.",
            "Give participants alone, such as Scripted(...); leave the other seats out.",
        )
    return people


def _divide_seats(seats: object) -> tuple[dict[str, Participant], dict[str, str | SeatOptions]]:
    """The participants and the models among ``seats``.

    Raises:
        InvalidInputError: it is no mapping, or a seat is taken by nothing that could speak.
    """
    if not isinstance(seats, Mapping):
        example = seats if isinstance(seats, str) else "openai:gpt-5"
        raise InvalidInputError(
            f"seats is {quote(seats)}, and it must say who sits where.",
            f"Give a mapping, such as seats={{'all': '{quote(example).strip(chr(39))}'}}.",
        )
    people: dict[str, Participant] = {}
    models: dict[str, str | SeatOptions] = {}
    for seat, who in seats.items():
        if not isinstance(seat, str):
            raise InvalidInputError(f"{quote(seat)} is the name of no seat.", "Give a name, such as 'all' or 'pro'.")
        if isinstance(who, str | SeatOptions):
            models[seat] = who
        elif isinstance(who, Participant):
            people[seat] = who
            _check_script(seat, who)
        else:
            raise InvalidInputError(
                f"The seat {quote(seat)} is given {quote(who)}, which cannot take a seat.",
                "Give PROVIDER:MODEL, SeatOptions(...) of a model, or a participant such as Scripted(...).",
            )
    return people, models


def _check_script(seat: str, who: Participant) -> None:
    """Refuse a script that cannot be called with an ask, its path and reasons.

    Raises:
        InvalidInputError: it is no function, or takes something else.
    """
    if not isinstance(who, Scripted):
        return
    fault = ""
    script: object = who.script
    if not callable(script):
        fault = f"is {quote(script)}, and it must be a function"
    else:
        try:
            inspect.signature(script).bind(None, None, ())
        except TypeError:
            fault = "does not take three values"
        except ValueError:
            pass  # a function of another language says nothing of its parameters
    if fault:
        raise InvalidInputError(
            f"The script of the seat {quote(seat)} {fault}.",
            "Give a function or a coroutine function, such as def answer(ask, path, reasons).",
        )


def _seat_rows(models: Mapping[str, str | SeatOptions]) -> list[tuple[tuple[str, ...], Given]]:
    rows: list[tuple[tuple[str, ...], Given]] = []
    for seat, who in models.items():
        source = f"seats.{seat} of the request"
        if isinstance(who, str):
            rows.append((("seats", seat), Given(who, source)))
            continue
        if who.model is not None and who.provider is None:
            rows.append((("seats", seat), Given(who.model, source)))
        for row in options_in(SeatOptions):
            value = getattr(who, row.name)
            skipped = row.name == "model" and who.provider is None
            if row.name in who.model_fields_set and value is not None and not skipped:
                rows += [(("seats", seat, row.name), given) for _, given in option_rows(row, value, source, Path.cwd())]
    return rows


def _sources(evidence: Any) -> tuple[list[Any], list[tuple[int, Any]]]:
    """The sources from the beginning, and those of later rounds with their rounds.

    Raises:
        InvalidInputError: it is no list of sources.
    """
    if not isinstance(evidence, Mapping):
        return _source_list(evidence), []
    for number in evidence:
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise InvalidInputError(
                f"In evidence, {quote(number)} is the number of no round.",
                "Give whole numbers from 1, such as {1: [...]}.",
            )
    rows = [(number, row) for number in sorted(evidence) for row in _source_list(evidence[number])]
    return [row for number, row in rows if number == 1], [row for row in rows if row[0] > 1]


def _source_list(evidence: Any) -> list[Any]:
    if isinstance(evidence, str | Path):
        raise InvalidInputError(
            f"evidence is {quote(str(evidence))}, and it must be a list of sources.",
            f"Give a list, such as evidence=[{quote(str(evidence))}].",
        )
    if not isinstance(evidence, Iterable):
        raise InvalidInputError(
            f"evidence is {quote(evidence)}, and it must be a list of sources.",
            "Give paths, or Evidence and Source objects, in a list.",
        )
    rows = list(evidence)
    for row in rows:
        if not isinstance(row, str | Path | Evidence | Source):
            raise InvalidInputError(
                f"evidence holds {quote(row)}, which is no source.",
                "Give paths, or Evidence and Source objects.",
            )
    return rows


def _with_counted_seats(arguments: Arguments, form: Format, seats: Mapping[str, Any]) -> Arguments:
    """``arguments`` with the debaters or the number of judges that ``seats`` name, where nothing else says."""
    if form.free_seats:
        named: Sequence[str] = [seat for seat in seats if seat != "all"]
        given = arguments.value("debaters") is not None or not named
        return arguments if given else arguments.with_values({("debaters",): list(named)}, "seats of the request")
    taken = form.seats_named(seats)
    if arguments.value("judges") is not None or len(taken) <= len(form.seats):
        return arguments
    judges = sum(place_of(seat, "judge") is not None for seat in taken)
    return arguments.with_values({("judges",): judges}, "seats of the request") if judges else arguments
