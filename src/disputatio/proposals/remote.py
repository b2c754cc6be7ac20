"""Read the request of a remote caller and make its debate; refuse whatever reaches beyond it.

Such a request comes from another process, maybe from a stranger. It names nothing of this machine: no file, no address,
no command, no key. The settings of the process that runs the debate supply what it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from disputatio.config import Settings, arguments_of
from disputatio.config.catalogue import motion_or_topic
from disputatio.config.process import settings_for
from disputatio.config.reach import IN_FILES, refused_address, refused_file, refused_option
from disputatio.engine.market_setup import default_question, knowledge_to_store, load_stored_knowledge
from disputatio.engine.opening import Proposal, make_rules
from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import quote
from disputatio.evidence.reading_process import SourceReader
from disputatio.evidence.source_files import read_source, read_sources
from disputatio.evidence.sources import Source
from disputatio.formats.format import Format
from disputatio.formats.options import Market
from disputatio.kernel import Json, JsonObject
from disputatio.motion import Evidence, one_line, read_motion
from disputatio.motion.motion import SourceKind
from disputatio.options import options_in
from disputatio.participants.local_models import LOCAL_MODELS
from disputatio.participants.providers import parse_seat_value
from disputatio.request.formats import known_formats, unknown_format
from disputatio.request.model import DebateRequest
from disputatio.request.remote import group_options

if TYPE_CHECKING:
    from disputatio.participants.human import Participant
    from disputatio.proposals.baselines import RunBaselines

MOST_EVIDENCE_CHARS = 4_000_000
"""Of all sources of a request together. They are searched and cut into words where other debates run too."""
_NAME = re.compile(r"[A-Za-z0-9_ -]{1,60}")
"""Of seats, and of the levels of keys."""


def request_of(body: Mapping[str, Any] | DebateRequest) -> DebateRequest:
    """The request that a remote caller sent, also in the words of earlier versions.

    Raises:
        InvalidInputError: it is none, or it names what only the user of the machine may name.
    """
    request = body if isinstance(body, DebateRequest) else DebateRequest.model_validate(group_options(body))
    check_names(request)
    return request


def read_request(
    body: Mapping[str, Any] | DebateRequest, *, sources: Sequence[Source] = (), reader: SourceReader | None = None
) -> JsonObject:
    """A request as it is stored: checked, its sources read, its people named seat by seat; it holds no key.

    The debate that it proposes is made once, so that what cannot run is refused now. No model is called.

    Args:
        body: the request as it was given.
        sources: what was read before, such as uploads; it follows the sources of the request and is not read again.
        reader: reads the sources that need a process of their own; one for this request where not given.

    Raises:
        InvalidInputError: something in it cannot be used; says what and what would do.
    """
    request = request_of(body)
    kept: dict[str, Any] = request.as_json()
    evidence = _evidence(request, sources, reader)
    if evidence:
        kept["evidence"] = evidence
    form, chosen = _format(request), request.format
    if isinstance(chosen, Market):
        knowledge = knowledge_to_store(form, chosen.knowledge, chosen.as_of)
        kept["format"] = {"name": "market"} if knowledge is None else {"name": "market", "knowledge": knowledge}
    proposal = proposal_of(kept, {}, people_missing=True)
    people = resolve_people(request.people, proposal.format, proposal.settings)
    if people:
        kept["people"] = list(people)
    make_rules(proposal.format, proposal.settings)
    baselines_for(request, proposal)
    return kept


def baselines_for(request: DebateRequest, proposal: Proposal) -> RunBaselines | None:
    """What runs the baselines that a remote caller asked for; None where none were.

    Raises:
        InvalidInputError: one of them is none, or its seats cannot be set.
    """
    if request.baseline is None:
        return None
    from disputatio.proposals.baselines import prepare_baselines

    return prepare_baselines(request.baseline, proposal, arguments_of(request, remote=True), apart=True)


def _evidence(request: DebateRequest, sources: Sequence[Source], reader: SourceReader | None) -> list[Json]:
    """The sources of a request as they are kept, each with an id of its own."""
    with nullcontext(reader) if reader is not None else SourceReader() as reading:
        given = [
            read_source(row.raw, row.title, kind=row.kind, source_id=row.source_id, reader=reading)
            for row in request.evidence
        ]
    ids = [row.source_id for row in request.evidence] + [None] * len(sources)
    found = _with_unique_ids([*given, *sources], ids)
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


def proposal_of(kept: JsonObject, participants: Mapping[str, Participant], *, people_missing: bool = False) -> Proposal:
    """The debate that a stored request proposes, under the settings of this process.

    Args:
        kept: what ``read_request`` gave, also in an earlier version.
        participants: who sits in the seats that ``kept["people"]`` names.
        people_missing: whether no person need be there for those yet.

    Raises:
        InvalidInputError: the settings of this process do not allow it, or a person's seat is empty.
    """
    given = request_of(kept)
    form = _format(given)
    settings = settings_for(form, arguments_of(given, remote=True))
    sources = tuple(stored_source(row) for row in kept.get("evidence", ()))  # type: ignore[union-attr, arg-type]
    rounds = {row.source_id: row.round for row in given.evidence if row.round and row.round > 1 and row.source_id}
    chosen = given.format
    base = load_stored_knowledge(form, chosen.knowledge if isinstance(chosen, Market) else None, len(sources))
    usual = default_question(base) if base is not None and given.topic is None else None
    motion = read_motion(motion_or_topic(given.motion or usual, given.topic), settings.language)
    absent = [] if people_missing else [seat for seat in given.people if seat not in participants]
    if absent:
        raise InvalidInputError(
            f"The seat {absent[0]} is for a person, and no person can be asked here.",
            "Run it where people are asked: disputatio serve.",
        )
    return Proposal(
        motion,
        form,
        without_personalities(settings, given.people),
        sources,
        {seat: participants[seat] for seat in given.people if seat in participants},
        introduced=rounds,
        knowledge=base,
    )


def _format(request: DebateRequest) -> Format:
    """The format of a request. A file of rules is a program, and none is read for a remote caller.

    Raises:
        InvalidInputError: there is no such format.
    """
    if request.format.name not in known_formats():
        raise unknown_format(request.format.name)
    return known_formats()[request.format.name]


def check_names(request: DebateRequest) -> None:
    """Check everything in a request that can be checked without the settings of this process.

    Raises:
        InvalidInputError: a name is none that a seat could have, or something only the machine's user may name.
    """
    groups = (request, request.format, request.judging, request.budget, request.limits, request.tools)
    for row in [row for group in groups for row in options_in(type(group)) if row.owner is type(group)]:
        group = next(each for each in groups if type(each) is row.owner)
        value = getattr(group, row.name)
        if row.local and row.name in group.model_fields_set and value not in (None, {}, ()):
            raise refused_option(row.place, row.local)
        if "<seat>" in row.key:
            for name in value or ():
                if not _NAME.fullmatch(name):
                    raise InvalidInputError(
                        f"{row.place} has the name {quote(name)}, which no seat can have.",
                        "Names of seats are of letters, digits, blanks, _ and -, such as judge, con_2 or all.",
                    )
    for seat, value in request.seats.items():
        _check_seat(seat, value)


def check_stored(kept: JsonObject) -> None:
    """Check a stored request, before its debate is resumed from a record.

    Raises:
        InvalidInputError: it names what a remote caller may not name.
    """
    request_of(kept)


def _check_seat(seat: str, value: str) -> None:
    """Check the model that a request names for ``seat``.

    Raises:
        InvalidInputError: it is none, or it is at an address, in a file or in a repository.
    """
    named = parse_seat_value(value, source=f"seats.{one_line(seat, 40)} of the request")
    if named.base_url is not None:
        raise refused_address(one_line(seat, 40))
    # The name of a local model is no file. Whether the configuration has it for this seat is checked as it is resolved.
    listed = named.provider == "embedded" and named.model in LOCAL_MODELS
    if named.provider in IN_FILES and not listed and named.model not in {None, IN_FILES[named.provider]}:
        raise refused_file(one_line(seat, 40), named.provider)


def _with_unique_ids(sources: list[Source], given: list[str | None]) -> list[Source]:
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


def stored_source(row: Mapping[str, Any]) -> Source:
    """The source that was read and kept as ``row``, with its text unchanged."""
    evidence = Evidence(str(row["source_id"]), str(row["title"]), str(row["text"]))
    return Source.of(evidence, SourceKind(str(row["kind"])))


def resolve_people(given: Sequence[str], form: Format, settings: Settings) -> tuple[str, ...]:
    """The seats that people take, in the order of the format; ``all`` and the name of a team cover several.

    Raises:
        InvalidInputError: there is no such seat.
    """
    seats = [str(seat) for seat in form.seats_named(settings.seats)]
    taken: set[str] = set()
    for entry in given:
        name = entry.strip() if form.free_seats else entry.strip().lower()
        team = [seat for seat in seats if seat.rpartition("_")[0] == name]
        found = seats if name == "all" else [name] if name in seats else team
        if not found:
            raise InvalidInputError(
                f"There is no seat {one_line(entry, 40)!r} for a person in this debate.",
                f"Its seats are: {', '.join(seats)}.",
            )
        taken.update(found)
    return tuple(seat for seat in seats if seat in taken)


def without_personalities(settings: Settings, people: Sequence[str]) -> Settings:
    """The settings with no personality for people: they argue as they do."""
    if not people:
        return settings
    members = tuple(row for row in settings.cast.members if row[0] not in people)
    return replace(settings, cast=replace(settings.cast, members=members))
