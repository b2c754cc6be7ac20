"""What happened in a debate: past-tense facts, one type each, in one tagged union.

Events never read the clock: the time of an event is put on its envelope when it is sealed. Fields that hold
only time, such as ``latency_ms``, are named in ``CLOCK_FIELDS`` and are no part of a debate's meaning.
Prompts, schemas and evidence are kept once each as texts beside the events and are named here by their
SHA-256, so a history that every call sends again is stored once.

Events have no slots: one that is made or read takes its fields over at once, and a long record has thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from disputatio.failures import StoreError
from disputatio.kernel import JsonObject

CLOCK_FIELDS = frozenset({"latency_ms"})


@dataclass(frozen=True, kw_only=True)
class DebateOpened:
    """A debate was set up: everything that decides how it will go.

    ``seats`` maps a seat to who sits there (never a key); ``rules`` are the format's settings; ``prompts`` maps
    each prompt file to its SHA-256; ``evidence`` lists source ids, titles, kinds and the hash of each text. ``shares``
    are by seat how many characters of the evidence it is shown; empty where there is none. ``tools`` has the limits of
    consultation and what is ``offered``: each tool with its server (empty for the package's own), the seats that have
    it and the hashes of its description and of its parameters' schema; it is empty where no seat has any. ``estimate``
    is what it was expected to take: ``calls``, ``input_tokens``, ``output_tokens`` and ``usd`` (a string, null where a
    price is not known); empty where nobody estimated.
    """

    kind: ClassVar[str] = "DebateOpened"
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


@dataclass(frozen=True, kw_only=True)
class TranscriptImported:
    """The debate was held elsewhere, and was taken in from a file.

    ``transcript`` is the SHA-256 of the file, whose text is kept; ``held`` says when it was held, in the file's words,
    and is empty where it does not say; ``stated`` is what else the file states.
    """

    kind: ClassVar[str] = "TranscriptImported"
    file: str
    transcript: str
    held: str
    stated: JsonObject


@dataclass(frozen=True, kw_only=True)
class TurnAsked:
    """A seat was asked for a turn. ``prompt`` identifies the whole prompt it was first asked with.

    It is the SHA-256 of one line for each segment, of its role and the SHA-256 of its text.
    """

    kind: ClassVar[str] = "TurnAsked"
    path: str
    seat: str
    phase: str
    form: str
    mode: str
    prompt: str


@dataclass(frozen=True, kw_only=True)
class CallSent:
    """A call was about to leave; it is durable before it does.

    ``prompt`` is a list of [role, text hash]; ``schema`` a text hash or "". ``max_tokens`` is the limit that was sent,
    ``reasoning_allowance`` the part of it that was for reasoning. ``reserved`` has ``input_tokens``,
    ``output_tokens`` and ``usd`` (a string, or null where no price is known). A prompt that begins as that of an
    earlier call names it in ``begins``, with the number of segments they share, and lists only its others:
    `disputatio.record.history.History.prompts` has them whole.
    """

    kind: ClassVar[str] = "CallSent"
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


REPORTED_COST = "reported by the server"
"""The basis of a cost that came with the answer."""
FREE_OF_CHARGE = "free of charge at the provider"
"""The basis of the cost of a model that its provider gives away."""


@dataclass(frozen=True, kw_only=True)
class CallMade:
    """A call came back. ``fault`` is "" for an answer; ``text`` is the raw output, also of a discarded answer.

    ``usage`` has ``input_tokens``, ``output_tokens``, ``cached_tokens`` (null: not reported), and ``written_tokens``
    where the provider says how many of the input it put into its cache, ``reasoning_tokens`` where it says how many of
    the output were reasoning; these are included in ``output_tokens``. ``cost_usd`` is a string, null where no price is
    known; ``cost_basis`` says how it was found: ``REPORTED_COST``, ``FREE_OF_CHARGE``, or by which price.
    ``charged_tokens`` is what counts against a token ceiling.
    ``retry_after_s`` is the rest in seconds that the provider asked for: a long one makes the seat's second model take
    over, on replay too.
    """

    kind: ClassVar[str] = "CallMade"
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


@dataclass(frozen=True, kw_only=True)
class CallLost:
    """A call was in flight when the process died. Whether it was billed is unknown: its reservation stays spent."""

    kind: ClassVar[str] = "CallLost"
    call: str
    path: str


@dataclass(frozen=True, kw_only=True)
class AnswerRejected:
    """An answer was not accepted and the seat is asked again. ``because`` is ``shape`` or ``rule``."""

    kind: ClassVar[str] = "AnswerRejected"
    path: str
    part: str
    because: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ToolCalled:
    """A seat consulted a tool before its turn, and this is what it brought.

    ``result`` is the hash of the text the seat was shown, ``summary`` its beginning on one line; ``left_out`` counts
    the characters that were cut off. ``fault`` is "" for a result; otherwise a fixed word, and the text says why.
    """

    kind: ClassVar[str] = "ToolCalled"
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


@dataclass(frozen=True, kw_only=True)
class TurnTaken:
    """A seat took its turn. ``content`` is the accepted answer; ``repaired`` that its JSON had to be mended.

    ``asked`` is 0 for a turn of an imported debate: nobody here asked for it.
    ``citations`` are those in it as code found them in the sources: ``about`` names the argument each belongs to, and
    ``status`` is verified, repaired or unverified. ``unstated`` has the figures in it that stand in no source, by the
    argument they are about; a debate without sources has none.
    """

    kind: ClassVar[str] = "TurnTaken"
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


@dataclass(frozen=True, kw_only=True)
class Abstained:
    """A seat took no turn. ``reason`` is a fixed word, ``detail`` a sentence."""

    kind: ClassVar[str] = "Abstained"
    path: str
    seat: str
    phase: str
    reason: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class ScoreGiven:
    """The score of one argument or speech, worked out by code from the judge's integers."""

    kind: ClassVar[str] = "ScoreGiven"
    about: str
    body: JsonObject


@dataclass(frozen=True, kw_only=True)
class VoteCounted:
    """A count of votes under a named rule."""

    kind: ClassVar[str] = "VoteCounted"
    about: str
    body: JsonObject


@dataclass(frozen=True, kw_only=True)
class PenaltyGiven:
    """A penalty given by code."""

    kind: ClassVar[str] = "PenaltyGiven"
    about: str
    body: JsonObject


@dataclass(frozen=True, kw_only=True)
class BudgetReached:
    """A call was not made because it would have passed a ceiling. ``limit`` is usd, tokens or calls."""

    kind: ClassVar[str] = "BudgetReached"
    path: str
    limit: str
    ceiling: str
    spent: str
    needed: str


@dataclass(frozen=True, kw_only=True)
class DebateClosed:
    """The debate ended. A truncated one may be resumed, and then a later closing replaces this one."""

    kind: ClassVar[str] = "DebateClosed"
    status: str
    missing: tuple[JsonObject, ...]
    outcome: JsonObject
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class DecisionEscalated:
    """The decision to escalate of a closed debate was handed over, or could not be.

    ``to`` is person, debate, callback or function; ``name`` says which, never a whole address. ``answer`` is what
    came back, ``debate`` the id of the debate that goes on with it; ``failure`` says why it could not be handed over.
    """

    kind: ClassVar[str] = "DecisionEscalated"
    to: str
    name: str
    answer: str
    debate: str
    failure: str


@dataclass(frozen=True, kw_only=True)
class OutcomeAttached:
    """What happened later, or what a reviewer found, was attached to a closed debate; it changes nothing of it.

    ``verdict`` says how the debate's result looks in its light: right, wrong, mixed, or "" where nobody says. ``by`` is
    the name that whoever attached it gave; nothing proves it. ``head`` is the hash of the record's last event then.
    """

    kind: ClassVar[str] = "OutcomeAttached"
    text: str
    verdict: str
    by: str
    note: str
    head: str


@dataclass(frozen=True, kw_only=True)
class SignedOff:
    """Somebody approved, rejected or returned the result of a closed debate; it changes nothing of it.

    ``decision`` is approve, reject or return; ``by`` is the name that was given, which nothing proves. ``head`` is the
    hash of the record's last event then: what was signed off is the record up to there.
    """

    kind: ClassVar[str] = "SignedOff"
    by: str
    decision: str
    comment: str
    head: str


@dataclass(frozen=True, kw_only=True)
class BaselineHeld:
    """A baseline was held on the same motion beside a closed debate, or could not be; it changes nothing of it.

    ``baseline`` is single, vote or freeform; ``debates`` are the ids of its own records. ``answer`` is what it came to,
    ``tally`` the votes for each answer, ``samples`` how many answers were asked for, ``failure`` why there is none.
    ``tokens``, ``calls`` and ``usd`` (a string, null where a price is not known) are what it took, ``debate_tokens``
    what the debate had taken. ``head`` is the hash of the record's last event then.
    """

    kind: ClassVar[str] = "BaselineHeld"
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


@dataclass(frozen=True, kw_only=True)
class DebateInterrupted:
    """The debate was stopped from outside and can be resumed."""

    kind: ClassVar[str] = "DebateInterrupted"
    reason: str


@dataclass(frozen=True, kw_only=True)
class DebateResumed:
    """The debate goes on from its record, under a budget that may have been changed.

    ``reopened`` are asks whose answer is taken back, so that the seat is asked again: abstentions of the last phase, or
    those of seats that could not be reached, with every turn that rests on a missing one.
    """

    kind: ClassVar[str] = "DebateResumed"
    budget: JsonObject
    software: str
    reopened: tuple[str, ...] = ()


Event: TypeAlias = (
    DebateOpened
    | TranscriptImported
    | TurnAsked
    | CallSent
    | CallMade
    | CallLost
    | AnswerRejected
    | ToolCalled
    | TurnTaken
    | Abstained
    | ScoreGiven
    | VoteCounted
    | PenaltyGiven
    | BudgetReached
    | DebateClosed
    | DecisionEscalated
    | OutcomeAttached
    | SignedOff
    | BaselineHeld
    | DebateInterrupted
    | DebateResumed
)

KINDS: dict[str, type[Event]] = {
    row.kind: row
    for row in (
        DebateOpened,
        TranscriptImported,
        TurnAsked,
        CallSent,
        CallMade,
        CallLost,
        AnswerRejected,
        ToolCalled,
        TurnTaken,
        Abstained,
        ScoreGiven,
        VoteCounted,
        PenaltyGiven,
        BudgetReached,
        DebateClosed,
        DecisionEscalated,
        OutcomeAttached,
        SignedOff,
        BaselineHeld,
        DebateInterrupted,
        DebateResumed,
    )
}


def _taking_over(event: type[Event]) -> Callable[..., None]:
    """A constructor of ``event``: that of a frozen dataclass sets one field after the other, each by a call."""
    rows = fields(event)
    names = frozenset(row.name for row in rows)
    defaults = {row.name: row.default for row in rows if row.default is not MISSING}
    makers = {row.name: row.default_factory for row in rows if row.default_factory is not MISSING}

    def __init__(self: Event, **body: Any) -> None:  # noqa: N807  (it becomes the method)
        if body.keys() != names:
            body = {**defaults, **{name: make() for name, make in makers.items()}, **body}
            if odd := body.keys() ^ names:
                raise TypeError(f"{event.kind} lacks, or does not know, {', '.join(sorted(odd))}")
        object.__setattr__(self, "__dict__", body)

    return __init__


for _kind in KINDS.values():
    _kind.__init__ = _taking_over(_kind)  # type: ignore[method-assign]

_FIELDS = {kind: tuple(row.name for row in fields(event)) for kind, event in KINDS.items()}
_LISTS = {
    kind: tuple(row.name for row in fields(event) if str(row.type).startswith("tuple")) for kind, event in KINDS.items()
}
# Canonical JSON has its keys sorted.
_SHAPES = {kind: (event, tuple(sorted(_FIELDS[kind])), _LISTS[kind]) for kind, event in KINDS.items()}


def encode(event: Event) -> JsonObject:
    """The body of ``event`` as JSON, without its kind."""
    return {name: getattr(event, name) for name in _FIELDS[event.kind]}


def decode(kind: str, body: JsonObject) -> Event:
    """The event of ``kind`` in ``body``, which becomes the event's own.

    Raises:
        StoreError: the kind or one of its fields is not known to this version.
    """
    shape = _SHAPES.get(kind)
    if shape is None or type(body) is not dict or tuple(body) != shape[1]:
        return _constructed(kind, body)
    for name in shape[2]:
        rows = body[name]
        if not rows:
            body[name] = ()
        elif type(rows) is list:
            body[name] = _frozen(rows)
        else:
            return _constructed(kind, body)
    # What its constructor does, without another copy of the fields.
    event: Event = _empty(shape[0])
    _fill(event, "__dict__", body)
    return event


_empty, _fill = object.__new__, object.__setattr__


def _constructed(kind: str, body: Any) -> Event:
    """The event of a body that lacks fields which came in later, or that is refused."""
    try:
        values: dict[str, Any] = {**body}
        for name in _LISTS[kind]:
            if name in values:
                values[name] = _frozen(values[name]) if values[name] else ()
        return KINDS[kind](**values)
    except (KeyError, TypeError):
        if kind not in KINDS or (isinstance(body, Mapping) and not body.keys() <= set(_FIELDS[kind])):
            raise StoreError(
                f"The record holds an event this version does not know ({kind}).",
                "Read it with the version that wrote it, or a newer one.",
            ) from None
        raise StoreError(
            f"The record holds an event that lacks a part ({kind}).", "Read it with the version that wrote it."
        ) from None


def _frozen(rows: Any) -> tuple[Any, ...]:
    if list in map(type, rows):
        return tuple([tuple(row) if type(row) is list else row for row in rows])
    return tuple(rows)
