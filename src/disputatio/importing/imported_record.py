"""Store a transcript as a record that says it was imported.

The whole file is stored under its hash. The id of the record is the beginning of that hash, so the same file is
recognised. The record has nothing that the file does not say: no calls, prompts, costs or times of turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from disputatio.engine.journal import Journal
from disputatio.engine.ports import Clock, NullObserver, SystemClock
from disputatio.engine.runtime import software
from disputatio.errors import StoreError
from disputatio.importing.transcript import ImportedTranscript, Judgment, SpokenTurn, normalise_seat_name
from disputatio.kernel import JsonObject
from disputatio.record.events import DebateClosed, DebateOpened, TranscriptImported, TurnTaken, VoteCounted
from disputatio.record.history import History, Status
from disputatio.record.store import Store
from disputatio.record.text import digest
from disputatio.record.verified import read_verified
from disputatio.report.amounts import counted, listed

FORMAT = "imported"
"""The recorded format. It has no rules here, so such a record can be read but not resumed."""
_ID_DIGITS = 8
_MAX_WARNINGS = 5


@dataclass(frozen=True, slots=True)
class Imported:
    """A transcript in a store. ``known`` means that the store had it already."""

    id: str
    known: bool


async def import_transcript(transcript: ImportedTranscript, store: Store, clock: Clock | None = None) -> Imported:
    """Write the record of ``transcript``, or find the one already there. Safe to repeat.

    Raises:
        StoreError: the record could not be written.
        VerificationError: the existing record was altered.
    """
    whole = digest(transcript.text)
    for length in (_ID_DIGITS, 16, 32, 64):
        debate = whole[:length]
        if not store.find(debate):
            break
        if debate in store.find(debate) and _find_hash(store, debate) == whole:
            return Imported(debate, known=True)
    else:
        raise StoreError(f"The store has another debate under the id {whole}.", "Import it into another store.")
    journal = Journal(debate, store=store, clock=clock or SystemClock(), observer=NullObserver())
    store.claim(debate)
    try:
        journal.write(*_make_events(transcript, whole), texts={whole: transcript.text})
        await journal.wait_until_durable()
    finally:
        store.release(debate)
    return Imported(debate, known=False)


def _find_hash(store: Store, debate: str) -> str:
    imported = History.of(row.event() for row in read_verified(store, debate)).imported
    return imported.transcript if imported else ""


def _make_events(
    transcript: ImportedTranscript, whole: str
) -> Iterator[DebateOpened | TranscriptImported | TurnTaken | VoteCounted | DebateClosed]:
    yield DebateOpened(
        format=FORMAT,
        motion={"text": transcript.motion, "language": transcript.language},
        seats={seat: {"kind": "transcript", "name": name or "not named"} for seat, name in transcript.seats.items()},
        rules={},
        prompts={},
        budget={},
        software=software(),
        warnings=_make_warnings(transcript),
    )
    yield TranscriptImported(
        file=transcript.file, transcript=whole, held=transcript.held, stated=dict(transcript.stated)
    )
    phases, referring = _assign_phases(transcript.turns), _collect_references(transcript)
    for turn, phase in zip(transcript.turns, phases, strict=True):
        yield TurnTaken(
            path=f"{phase.replace(' ', '-').replace('/', '-')}/{turn.seat}",
            seat=turn.seat,
            phase=phase,
            form="transcript",
            content=_turn_content(turn, referring),
            asked=0,
        )
    votes = _count_votes(transcript)
    if votes:
        yield VoteCounted(about="winner", body=votes)
    judgments: JsonObject = {"judgments": [_judgment_to_json(row) for row in transcript.judgments]} if votes else {}
    outcome: JsonObject = {"judgment": _describe_finding(votes), **judgments}
    yield DebateClosed(status=Status.IMPORTED.value, missing=(), outcome=outcome)


def _make_warnings(transcript: ImportedTranscript) -> tuple[str, ...]:
    """List dangling references, up to a few."""
    dangling = transcript.dangling
    warnings = [
        f"{claim or 'a passage without an id'} refers to {name}, which the transcript does not have"
        for claim, name in dangling[:_MAX_WARNINGS]
    ]
    more = len(dangling) - len(warnings)
    return (
        *warnings,
        *([f"{counted(more, 'more reference')} to claims that the transcript does not have"] if more else []),
    )


def _assign_phases(turns: tuple[SpokenTurn, ...]) -> list[str]:
    """Assign a phase to each turn, so that phases are contiguous and no seat speaks twice in one."""
    phases: list[str] = []
    last, number, spoken = "", Counter[str](), set[str]()
    for turn in turns:
        name = turn.phase or "round"
        if name != last or turn.seat in spoken:
            number[name] += 1
            last, spoken = name, set()
        spoken.add(turn.seat)
        phases.append(name if number[name] == 1 and turn.phase else f"{name} {number[name]}")
    return phases


def _collect_references(transcript: ImportedTranscript) -> dict[str, list[str]]:
    """Map each claim id to the ids of claims that refer to it."""
    found: dict[str, list[str]] = {}
    for claim in transcript.claims:
        for name in claim.references:
            if claim.id:
                found.setdefault(name, []).append(claim.id)
    return found


def _turn_content(turn: SpokenTurn, referring: Mapping[str, Sequence[str]]) -> JsonObject:
    claims: list[JsonObject] = [
        {
            "id": row.id,
            "text": row.text,
            "refers_to": list(row.references),
            "referred_to_by": list(referring.get(row.id, ())),
        }
        for row in turn.claims
    ]
    at: JsonObject = {"at": turn.at} if turn.at else {}
    stated: JsonObject = {"stated": dict(turn.stated)} if turn.stated else {}
    return {"claims": claims, **at, **stated}


def _count_votes(transcript: ImportedTranscript) -> JsonObject:
    """Collect the judgments and count the named winners; empty without judgments."""
    if not transcript.judgments:
        return {}
    named = Counter(_find_winner(transcript, row) for row in transcript.judgments if row.winner)
    return {
        "rule": "as the transcript states them; counted, not decided",
        "judges": [{"judge": row.judge, "winner": row.winner or None, **row.stated} for row in transcript.judgments],
        "named": dict(named.most_common()),
        "without_winner": sum(not row.winner for row in transcript.judgments),
    }


def _find_winner(transcript: ImportedTranscript, row: Judgment) -> str:
    """Return the seat that a judge named, by seat or by name; other words unchanged."""
    seat = normalise_seat_name(row.winner)
    if seat in transcript.seats:
        return seat
    by_name = [seat for seat, name in transcript.seats.items() if name.lower() == row.winner.lower()]
    return by_name[0] if len(by_name) == 1 else row.winner


def _describe_finding(votes: JsonObject) -> str:
    if not votes:
        return "The transcript has no judgment."
    named, judges = votes["named"], votes["judges"]
    assert isinstance(named, dict)  # noqa: S101  (made above)
    assert isinstance(judges, list)  # noqa: S101  (made above)
    parts = [f"{number} named {winner}" for winner, number in named.items()]
    parts += [f"{votes['without_winner']} named no winner"] if votes["without_winner"] else []
    return f"Of {counted(len(judges), 'judge')} in the transcript {listed(parts)}."


def _judgment_to_json(row: Judgment) -> str:
    more = ", ".join(f"{key} {value}" for key, value in row.stated.items())
    return f"{row.judge}: {row.winner or 'no winner'}{f' ({more})' if more else ''}"
