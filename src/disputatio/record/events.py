"""What happened in a debate: past-tense facts, one class each. Its name is the kind in the record.

Events never read the clock: the time of an event is put on its envelope when it is sealed. Fields that hold
only time, such as ``latency_ms``, are named in ``CLOCK_FIELDS`` and are no part of a debate's meaning.
Prompts, schemas and evidence are kept once each as texts next to the events and are named here by their
SHA-256, so a history that every call sends again is stored once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, ClassVar

from disputatio.errors import StoreError
from disputatio.kernel import JsonObject

CLOCK_FIELDS = frozenset({"latency_ms"})
KINDS: dict[str, type[Event]] = {}
"""Every kind of event, by its name in the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. Each subclass is a kind of event, and is registered as one.

    Attributes:
        kind: the name of the class, which the record keeps. A class that is renamed cannot read its old events.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        cls.kind = cls.__name__
        KINDS[cls.kind] = cls


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateOpened(Event):
    """A debate was set up: everything that decides how it will go.

    ``seats`` maps a seat to who sits there (never a key); ``rules`` are the format's settings; ``prompts`` maps
    each prompt file to its SHA-256; ``evidence`` lists source ids, titles, kinds and the hash of each text. ``shares``
    are by seat how many characters of the evidence it is shown; empty where there is none. ``tools`` has the limits of
    consultation and what is ``offered``: each tool with its server (empty for the package's own), the seats that have
    it and the hashes of its description and of its parameters' schema; it is empty where no seat has any. ``estimate``
    is what it was expected to take: ``calls``, ``input_tokens``, ``output_tokens`` and ``usd`` (a string, null where a
    price is not known); empty without an estimate.
    """

    format: str
    motion: JsonObject
    seats: JsonObject
    rules: JsonObject
    prompts: JsonObject
    budget: JsonObject
    evidence: tuple[JsonObject, ...] = ()
    shares: JsonObject = field(default_factory=dict)
    seed: int | None = None
    software: str = ""
    warnings: tuple[str, ...] = ()
    tools: JsonObject = field(default_factory=dict)
    estimate: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateForked(Event):
    """The debate is a fork of its parent, without what was struck there; the second event of its record.

    ``head`` is the last hash of the parent's chain. ``struck`` are the names of what was struck, as
    `disputatio.formats.omission` has them. ``kept`` are the paths of the turns that were taken over: they follow as
    they are in the parent, without their calls.
    """

    parent: str
    head: str
    struck: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptImported(Event):
    """The debate took place elsewhere and was imported from a file.

    ``transcript`` is the SHA-256 of the file, whose text is kept; ``held`` says when it was held, in the file's words,
    and is empty where it does not say; ``stated`` is what else the file states.
    """

    file: str
    transcript: str
    held: str
    stated: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAsked(Event):
    """A seat was asked for a turn. ``prompt`` identifies the whole prompt it was first asked with.

    It is the SHA-256 of one line for each segment, of its role and the SHA-256 of its text.
    """

    path: str
    seat: str
    phase: str
    form: str
    mode: str
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSent(Event):
    """A call was about to leave; it is durable before it does.

    ``prompt`` is a list of [role, text hash]; ``schema`` a text hash or "". ``max_tokens`` is the limit that was sent,
    ``reasoning_allowance`` the part of it that was for reasoning. ``reserved`` has ``input_tokens``,
    ``output_tokens`` and ``usd`` (a string, or null where no price is known). A prompt that begins as that of an
    earlier call names it in ``begins``, with the number of segments they share, and lists only its others:
    `disputatio.record.history.History.prompts` has them whole. ``tier`` is ``BATCH`` where the call travels in a batch
    of the provider, else empty: such a call outlives the process that made it.
    """

    call: str
    path: str
    part: str
    seat: str
    model: str
    mode: str
    temperature: float | None
    max_tokens: int
    prompt: tuple[tuple[str, str], ...]
    schema: str
    reserved: JsonObject
    begins: tuple[str, int] | tuple[()] = ()
    reasoning_allowance: int = 0
    tier: str = ""


BATCH = "batch"
"""The tier of a call that travels in a batch."""
REPORTED_COST = "reported by the server"
"""The basis of a cost that came with the answer."""
FREE_OF_CHARGE = "free of charge at the provider"
"""The basis of the cost of a model that its provider gives away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMade(Event):
    """A call came back. ``fault`` is "" for an answer; ``text`` is the raw output, also of a discarded answer.

    ``usage`` has ``input_tokens``, ``output_tokens``, ``cached_tokens`` (null: not reported), and ``written_tokens``
    where the provider says how many of the input it put into its cache, ``reasoning_tokens`` where it says how many of
    the output were reasoning; these are included in ``output_tokens``. ``cost_usd`` is a string, null where no price is
    known; ``cost_basis`` says how it was found: ``REPORTED_COST``, ``FREE_OF_CHARGE``, or by which price.
    ``charged_tokens`` is what counts against a token ceiling.
    ``retry_after_s`` is the rest in seconds that the provider asked for: a long one makes the seat's second model take
    over, on replay too.
    """

    call: str
    path: str
    fault: str
    message: str
    text: str
    served_model: str | None
    finish: str
    usage: JsonObject
    cost_usd: str | None
    cost_basis: str
    charged_tokens: int
    latency_ms: int
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLost(Event):
    """A call was in flight when the process died. Whether it was billed is unknown: its reservation stays spent."""

    call: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRejected(Event):
    """An answer was not accepted and the seat is asked again. ``because`` is ``shape`` or ``rule``."""

    path: str
    part: str
    because: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(Event):
    """A seat consulted a tool before its turn, and this is what it brought.

    ``result`` is the hash of the text the seat was shown, ``summary`` its beginning on one line; ``left_out`` counts
    the characters that were cut off. ``fault`` is "" for a result; otherwise a fixed word, and the text says why.
    """

    path: str
    seat: str
    tool: str
    server: str
    arguments: JsonObject
    result: str
    summary: str
    fault: str
    left_out: int
    latency_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTaken(Event):
    """A seat took its turn. ``content`` is the accepted answer; ``repaired`` that its JSON had to be mended.

    ``asked`` is 0 for a turn of an imported debate.
    ``citations`` are those in it as code found them in the sources: ``about`` names the argument each belongs to, and
    ``status`` is verified, repaired or unverified. ``unstated`` has the figures in it that stand in no source, by the
    argument they are about; a debate without sources has none.
    """

    path: str
    seat: str
    phase: str
    form: str
    content: JsonObject
    violations: tuple[JsonObject, ...] = ()
    citations: tuple[JsonObject, ...] = ()
    unstated: tuple[JsonObject, ...] = ()
    repaired: bool = False
    asked: int = 1
    served_models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstained(Event):
    """A seat took no turn. ``reason`` is a fixed word, ``detail`` a sentence."""

    path: str
    seat: str
    phase: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreGiven(Event):
    """The score of one argument or speech, worked out by code from the judge's integers."""

    about: str
    body: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCounted(Event):
    """A count of votes under a named rule."""

    about: str
    body: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class PenaltyGiven(Event):
    """A penalty given by code."""

    about: str
    body: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetReached(Event):
    """A call was not made because it would have passed a ceiling. ``limit`` is usd, tokens or calls."""

    path: str
    limit: str
    ceiling: str
    spent: str
    needed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateClosed(Event):
    """The debate ended. A truncated one may be resumed, and then a later closing replaces this one."""

    status: str
    missing: tuple[JsonObject, ...]
    outcome: JsonObject
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionEscalated(Event):
    """The decision to escalate of a closed debate was handed over, or could not be.

    ``to`` is person, debate, callback or function; ``name`` says which, never a whole address. ``answer`` is what
    came back, ``debate`` the id of the debate that takes it over; ``failure`` says why it could not be handed over.
    """

    to: str
    name: str
    answer: str
    debate: str
    failure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeAttached(Event):
    """What happened later, or what a reviewer found, was attached to a closed debate; it changes nothing of it.

    ``verdict`` says how the debate's result looks in its light: right, wrong, mixed, or "" if that is not stated.
    ``by`` is the name given by the person who attached it; nothing proves it. ``head`` is the hash of the record's last
    event then.
    """

    text: str
    verdict: str
    by: str
    note: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedOff(Event):
    """Somebody approved, rejected or returned the result of a closed debate; it changes nothing of it.

    ``decision`` is approve, reject or return; ``by`` is the name that was given, which nothing proves. ``head`` is the
    hash of the record's last event then: what was signed off is the record up to there.
    """

    by: str
    decision: str
    comment: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineHeld(Event):
    """A baseline ran on the motion of a closed debate, or could not run. The debate does not change.

    ``baseline`` is single, vote or freeform; ``debates`` are the ids of its own records. ``answer`` is what it came to,
    ``tally`` the votes for each answer, ``samples`` how many answers were asked for, ``failure`` why there is none.
    ``tokens``, ``calls`` and ``usd`` (a string, null where a price is not known) are what it took, ``debate_tokens``
    what the debate had taken. ``head`` is the hash of the record's last event then.
    """

    baseline: str
    answer: str
    tally: JsonObject
    samples: int
    debates: tuple[str, ...]
    tokens: int
    calls: int
    usd: str | None
    debate_tokens: int
    failure: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateInterrupted(Event):
    """The debate was stopped from outside and can be resumed."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateResumed(Event):
    """The debate was resumed from its record, under a budget that may have changed.

    ``reopened`` are asks whose answer is taken back, so that the seat is asked again: abstentions of the last phase, or
    those of seats that could not be reached, with every turn that rests on a missing one.
    """

    budget: JsonObject
    software: str
    reopened: tuple[str, ...] = ()


@cache
def _names(kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of a kind of event, and those of them that hold tuples."""
    rows = fields(KINDS[kind])
    return tuple(row.name for row in rows), tuple(row.name for row in rows if str(row.type).startswith("tuple"))


def encode(event: Event) -> JsonObject:
    """The body of ``event`` as JSON, without its kind."""
    return {name: getattr(event, name) for name in _names(event.kind)[0]}


def decode(kind: str, body: Any) -> Event:
    """The event of ``kind`` in ``body``. Fields that came in later than the event was written get their defaults.

    Raises:
        StoreError: the kind or one of its fields is not known to this version, or a field is missing.
    """
    event = KINDS.get(kind)
    names, tuples = ((), ()) if event is None else _names(kind)
    if event is None or (isinstance(body, dict) and not body.keys() <= set(names)):
        raise StoreError(
            f"The record holds an event this version does not know ({kind}).",
            "Read it with the version that wrote it, or a newer one.",
        )
    try:
        values = {**body}
        for name in tuples:
            if name in values:
                values[name] = _tuple(values[name])
        return event(**values)
    except TypeError:
        raise StoreError(
            f"The record holds an event that lacks a part ({kind}).", "Read it with the version that wrote it."
        ) from None


def _tuple(rows: list[Any]) -> tuple[Any, ...]:
    return tuple([tuple(row) if isinstance(row, list) else row for row in rows])
