"""Reads an order and makes the debate that it proposes; refuses what reaches beyond the debate itself."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio.config import CommandLine, resolve
from disputatio.config.format_options import format_options
from disputatio.config.keys import key_path
from disputatio.config.matter import motion_or_topic
from disputatio.config.reach import IN_FILES, refused_address, refused_file
from disputatio.engine.market_matter import question_on
from disputatio.engine.opening import Proposal, rules_of
from disputatio.evidence.reading_process import SourceReader
from disputatio.evidence.source_files import read_source, read_sources
from disputatio.evidence.sources import Source, SourceKind
from disputatio.failures import InvalidInputError
from disputatio.formats.format import Format
from disputatio.formats.registry import FORMATS, find_format
from disputatio.kernel import Json, JsonObject
from disputatio.motion import Evidence, one_line, read_motion
from disputatio.orders.form import MOST_EVIDENCE_CHARS, ORDERED, Order
from disputatio.orders.knowledge import base_of, kept_knowledge
from disputatio.orders.people import as_themselves, people_named
from disputatio.participants.local_models import LOCAL_MODELS
from disputatio.participants.providers import SeatValue, did_you_mean, parse_seat_value, shown

if TYPE_CHECKING:
    from disputatio.participants.human import Participant

_OPEN_SETTINGS = ("limits", "judging", "rubric", "criteria", "rules", "decision")
"""The branches of the configuration that change a debate and reach nothing else."""
_NAME = re.compile(r"[A-Za-z0-9_ -]{1,60}")
"""Of seats, and of the levels of keys."""
_MOST_ERRORS = 3
_A_KIND = re.compile(r"^(constrained-)?(str|int|float|bool|decimal)$|\[")
"""How pydantic names a kind among several, in the place of an error."""


def read_order(
    body: Mapping[str, Any] | Order, *, sources: Sequence[Source] = (), reader: SourceReader | None = None
) -> JsonObject:
    """An order as it is kept: checked, its sources read, its people named seat by seat; holds no key.

    The debate that it proposes is made once, so that what cannot be held is refused now. Nobody is called.

    Args:
        body: the order as it was given.
        sources: what was read before, such as uploads; it follows the sources of the order and is not read again.
        reader: reads the sources that need a process of their own; one for this order where not given.

    Raises:
        InvalidInputError: something in it cannot be used; says what and what would do.
    """
    order = body if isinstance(body, Order) else _validated(body)
    check_names(order)
    kept = order.normal()
    evidence = _evidence(order, sources, reader)
    if evidence:
        kept["evidence"] = evidence
    knowledge = kept_knowledge(_format(order.format), order.knowledge, order.as_of)
    kept = {name: value for name, value in kept.items() if name not in {"knowledge", "as_of"}}
    if knowledge is not None:
        kept["knowledge"] = knowledge
    proposal = proposal_of(kept, {}, people_missing=True)
    people = people_named(order.people, proposal.format, proposal.settings)
    if people:
        kept["people"] = list(people)
    rules_of(proposal.format, proposal.settings)
    return kept


def _evidence(order: Order, sources: Sequence[Source], reader: SourceReader | None) -> list[Json]:
    """The sources of an order as they are kept, each with an id of its own."""
    with nullcontext(reader) if reader is not None else SourceReader() as reading:
        given = [
            read_source(row.raw, row.title, kind=row.kind, source_id=row.source_id, reader=reading)
            for row in order.evidence
        ]
    ids = [row.source_id for row in order.evidence] + [None] * len(sources)
    found = _with_ids_of_their_own([*given, *sources], ids)
    length = sum(len(row.text) for row in found)
    if length > MOST_EVIDENCE_CHARS:
        raise InvalidInputError(
            f"The sources have {length:,} characters together, and {MOST_EVIDENCE_CHARS:,} are the most.",
            "Leave some out, or give the parts that bear on the motion.",
        )
    return [
        {"source_id": row.source_id, "title": row.title or row.source_id, "kind": row.kind.value, "text": row.text}
        for row in found
    ]


def proposal_of(
    order: JsonObject, participants: Mapping[str, Participant], *, people_missing: bool = False
) -> Proposal:
    """The debate that a kept order proposes, under the settings of this process.

    Args:
        order: what ``read_order`` gave.
        participants: who sits in the seats that ``order["people"]`` names.
        people_missing: whether nobody need be there for those yet.

    Raises:
        InvalidInputError: the settings of this process do not allow it, or nobody is there for a person's seat.
    """
    given = _validated(order)
    check_names(given)
    form = _format(given.format)
    arguments = _arguments(given)
    settings = resolve(
        format_name=form.name,
        seats=tuple(form.seats),
        environ=os.environ,
        directory=Path.cwd(),
        arguments=arguments,
        options=format_options(form),
    )
    sources = tuple(kept_source(row) for row in order.get("evidence", ()))  # type: ignore[union-attr, arg-type]
    base = base_of(form, given.knowledge, len(sources))
    usual = question_on(base) if base is not None and given.topic is None else None
    motion = read_motion(motion_or_topic(given.motion or usual, given.topic), settings.language)
    absent = [] if people_missing else [seat for seat in given.people if seat not in participants]
    if absent:
        raise InvalidInputError(
            f"The seat {absent[0]} is for a person, and no person can be asked here.",
            "Hold it where people are asked: disputatio serve.",
        )
    return Proposal(
        motion,
        form,
        as_themselves(settings, given.people),
        sources,
        {seat: participants[seat] for seat in given.people if seat in participants},
        knowledge=base,
    )


def _validated(body: Mapping[str, Any]) -> Order:
    from pydantic import ValidationError

    try:
        return Order.model_validate(body)
    except ValidationError as error:
        raise InvalidInputError(*told(error.errors(include_url=False, include_input=False))) from None


def told(errors: list[Any]) -> tuple[str, str]:
    """What is wrong with a body, and what would do, in words for people."""
    if any(row["type"] in {"json_invalid", "model_attributes_type"} for row in errors):
        return "The body is no JSON object.", "Send a JSON object, with Content-Type: application/json."
    found: dict[str, list[str]] = {}
    for row in errors:
        # What may be of several kinds is told once, with what each of them wants.
        parts = [str(part) for part in row["loc"] if part != "body"]
        place = ".".join(part for part in parts if not _A_KIND.search(part))
        what = str(row["msg"]).removeprefix("Value error, ")
        found.setdefault(one_line(place, 80), []).append(f"{what[:1].lower()}{what[1:]}")
    told_of = [f"{place}: {', or '.join(said)}" if place else ", or ".join(said) for place, said in found.items()]
    rows = told_of[:_MOST_ERRORS]
    more = f"; and {len(told_of) - _MOST_ERRORS} more" if len(told_of) > _MOST_ERRORS else ""
    return f"The request does not have the form that is asked for: {'; '.join(rows)}{more}.", "See /openapi.json."


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise InvalidInputError(
            f"There is no format called {shown(name)}.",
            f"{did_you_mean(name.lower(), FORMATS)}The formats are: {', '.join(ORDERED)}.",
        )
    return find_format(name)


def check_names(order: Order) -> None:
    """Check everything in an order that can be checked without the settings of this process.

    Raises:
        InvalidInputError: a name is none that a seat or a key could have, or a seat is given an address or a file.
    """
    for field in ("seats", "tools", "personality"):
        for name in getattr(order, field):
            if not _NAME.fullmatch(name):
                raise InvalidInputError(
                    f"{field} has the name {shown(name)}, which no seat can have.",
                    "Names of seats are of letters, digits, blanks, _ and -, such as judge, con_2 or all.",
                )
    for seat, value in order.seats.items():
        _seat_value(seat, value)
    for key in order.settings:
        _setting_path(key)


def check_kept(order: JsonObject) -> None:
    """Check an order that was kept, before its debate is gone on with from a record.

    Raises:
        InvalidInputError: it names what is not an order's to name.
    """
    check_names(_validated(order))


def _seat_value(seat: str, value: str) -> SeatValue:
    """The model that an order names for ``seat``.

    Raises:
        InvalidInputError: it is none, or it is at an address, in a file or in a repository.
    """
    named = parse_seat_value(value, source=f"seats.{one_line(seat, 40)} of the order")
    if named.base_url is not None:
        raise refused_address(one_line(seat, 40))
    # The name of a local model is no file. Whether the configuration has it for this seat is checked as it is resolved.
    listed = named.provider == "embedded" and named.model in LOCAL_MODELS
    if named.provider in IN_FILES and not listed and named.model not in {None, IN_FILES[named.provider]}:
        raise refused_file(one_line(seat, 40), named.provider)
    return named


def _setting_path(key: str) -> tuple[str, ...]:
    """The levels of a key under ``settings``.

    Raises:
        InvalidInputError: it is no key, or not one that may stand in an order.
    """
    path = key_path(key, "settings of the order")
    if path[0] not in _OPEN_SETTINGS or not all(map(_NAME.fullmatch, path)):
        raise InvalidInputError(
            f"The setting {shown(key)} may not stand in an order.",
            f"Allowed are keys under {', '.join(_OPEN_SETTINGS)}.",
        )
    return path


def _arguments(given: Order) -> CommandLine:
    return CommandLine(
        seat=tuple((seat, _seat_value(seat, who)) for seat, who in given.seats.items()),
        budget_usd=given.budget_usd,
        budget_tokens=given.budget_tokens,
        max_calls=given.max_calls,
        language=given.language,
        seed=given.seed,
        set=tuple((_setting_path(key), value) for key, value in given.settings.items()),
        tools=tuple((seat, tuple(words)) for seat, words in given.tools.items()),
        judges=given.judges,
        both_orders=given.both_orders or None,
        anonymous=given.anonymous or None,
        retest=given.retest or None,
        panel_method=given.panel_method,
        debaters=tuple(given.debaters) or None,
        options=tuple(given.options) or None,
        rounds=given.rounds,
        decision=given.decision,
        threshold=given.threshold,
        preset=given.preset,
        task_type=given.task_type,
        position=tuple(given.positions),
        personality=tuple(given.personality.items()),
        remote=True,
    )


def _with_ids_of_their_own(sources: list[Source], given: list[str | None]) -> list[Source]:
    """The sources with ids that differ; ids that were given stay."""
    from dataclasses import replace

    taken = {name for name in given if name}
    found = []
    for source, own in zip(sources, given, strict=True):
        name, number = source.source_id, 1
        while own is None and name in taken:
            number += 1
            name = f"{source.source_id}-{number}"
        taken.add(name)
        found.append(replace(source, source_id=name))
    return read_sources(found)


def kept_source(row: Mapping[str, Any]) -> Source:
    """The source that was read and kept as ``row``: its text is taken as it stands."""
    evidence = Evidence(str(row["source_id"]), str(row["title"]), str(row["text"]))
    return Source.of(evidence, SourceKind(str(row["kind"])))
