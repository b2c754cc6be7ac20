"""What a result is made of, as typed values: the decision, arguments, scores, citations, votes, turns, calls, the cost.

Missing, zero, failed and unknown are different here. A number that was not given or reported is None, never 0. If
None can have several reasons, a state says which it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum


class DecisionKind(StrEnum):
    """What the text of a decision is."""

    RECOMMENDATION = "Recommendation"
    DECISION = "Decision"
    RESULT = "Result"
    ANSWER = "Answer"
    STATED = "Stated result"
    """The result that the transcript of an imported debate states."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a debate came to, as its first screen says it. It is false where there is no decision.

    Attributes:
        kind: what ``text`` is; ``Decision`` where there is none.
        text: the decision in words; None where there is none.
        missing: why there is none, in a sentence; empty where there is one.
        rests_on: what it rests on, in short sentences.
        open: the questions that stay open.
        notes: what every result of the format must be shown with, such as that it is no forecast.
    """

    kind: DecisionKind
    text: str | None
    missing: str
    rests_on: tuple[str, ...]
    open: tuple[str, ...]
    notes: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.text is not None

    def __str__(self) -> str:
        return self.missing if self.text is None else self.text


@dataclass(frozen=True, slots=True)
class Response:
    """What a seat answered to an argument. ``kind`` is a word of the rules: ``refute``, ``challenge``, ``concede``."""

    seat: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Fallacy:
    """A fallacy that a judge found. ``quoted`` is whether its words were said, as code found out."""

    name: str
    words: str
    quoted: bool


class ScoreState(StrEnum):
    """Why a score is there, or why it is not."""

    GIVEN = "given"
    MISSING = "missing"
    """Somebody judged the debate, and this has no score: the judge was silent on it, or there was nothing to score."""
    VOID = "void"
    """The judge's finding does not count."""
    NOT_JUDGED = "not judged"
    """The debate was not judged, or not yet."""
    UNKNOWN = "unknown"
    """The debate took place elsewhere, and its transcript does not say."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument, or one claim of an imported transcript, and what became of it.

    Attributes:
        id: such as ``PRO-1``.
        seat: who made it.
        side: the side it speaks for: ``pro``, or ``bull`` of ``tech_bull``.
        turn: the path of the turn it was made in; empty where the record has only its verdict.
        claim: its claim.
        case: its reasoning and evidence, as labels and texts.
        owner: what its own side says of it in the end: ``stands``, ``narrowed`` or ``withdrawn``; else None.
        judged: the judges' standing, such as ``UPHELD``, or ``SPLIT`` or ``VOID``; None if it was not judged.
        computed: the standing that code computed from the exchange; None where there is none.
        strength: the computed strength, 0 to 1; None where there is none.
        score: the weighted score, 1 to 10; None where there is none, and ``score_state`` says why.
        score_state: why there is a score, or why not.
        criteria: the points by criterion, 1 to 10.
        conceded_by: the side that conceded it while the other holds it; None if neither did.
        responses: what it drew.
        fallacies: what the judges found wrong with it.
        void: why a finding about it does not count; empty where it counts.
    """

    id: str
    seat: str
    side: str
    turn: str
    claim: str
    case: tuple[tuple[str, str], ...]
    owner: str | None
    judged: str | None
    computed: str | None
    strength: float | None
    score: float | None
    score_state: ScoreState
    criteria: Mapping[str, int]
    conceded_by: str | None
    responses: tuple[Response, ...]
    fallacies: tuple[Fallacy, ...]
    void: str

    @property
    def differs(self) -> bool:
        """Whether the judges' standing and the computed one part; a split or void one does not count."""
        both = self.judged not in {None, "SPLIT", "VOID"} and self.computed is not None
        return both and self.judged != self.computed


class ScoreOf(StrEnum):
    """What a score rates."""

    SIDE = "side"
    """A side or team: the total, on the scale of the rubric; of a competition a sum of points less penalties."""
    ARGUMENT = "argument"
    """An argument: the weighted score, 1 to 10."""
    CRITERION = "criterion"
    """An argument under one criterion, 1 to 10."""
    SPEECH = "speech"
    """A speech of a competition."""
    DEBATER = "debater"
    """A debater of a competition, or an analyst of a market debate: a total, or a mean."""


@dataclass(frozen=True, slots=True)
class Score:
    """One score. ``value`` is None unless it was given; ``criterion`` is empty unless it rates one."""

    of: ScoreOf
    about: str
    side: str
    criterion: str
    value: float | None
    state: ScoreState


@dataclass(frozen=True, slots=True)
class Citation:
    """What a seat cited, and how code found it in the sources.

    Attributes:
        turn: the path of its turn.
        seat: who cited.
        about: the argument it supports or answers; empty where the turn does not say.
        source: the id of the source it names.
        pointer: the JSON pointer of a cited value; None where words are quoted.
        said: the words or the value as the seat gave them.
        words: the source's own words; empty where it has none.
        status: ``verified``, ``repaired`` or ``unverified``.
        why: why it is not verified; empty where it is.
    """

    turn: str
    seat: str
    about: str
    source: str
    pointer: str | None
    said: str
    words: str
    status: str
    why: str

    @property
    def sound(self) -> bool:
        """Whether the source bears it out."""
        return self.status in {"verified", "repaired"}


class VoteState(StrEnum):
    """Whether there was a vote."""

    CAST = "cast"
    KEPT = "kept"
    """The voter was silent, and an earlier vote counts."""
    MISSING = "missing"
    """The voter has no vote, and still counts as a registered voter."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One vote: of a debater of a panel after a phase, or of one of several judges on the whole debate.

    Attributes:
        body: ``panel`` or ``jury``.
        count: the number of the count, from 1; 1 for a jury.
        after: the phase before the count, such as ``round 1 proposal``; empty for a jury.
        voter: the seat.
        option: what it voted for; None where it has no vote. A jury votes for a side or ``tie``.
        state: whether it voted.
        reason: why, or why it has no vote.
        last: whether it belongs to the last count.
    """

    body: str
    count: int
    after: str
    voter: str
    option: str | None
    state: VoteState
    reason: str
    last: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """What a debate took. All numbers are None for an imported debate.

    Attributes:
        calls: calls to models that left, failed and lost ones included.
        answered: calls that brought an answer.
        failed: calls that brought a fault.
        lost: calls that were under way when the process died.
        input_tokens: those that were reported; None where no call reported any.
        output_tokens: the same of the output; reasoning is included.
        cached_tokens: the part of the input that came from a cache.
        reasoning_tokens: the part of the output that was reasoning.
        tokens_complete: whether every call that answered reported its tokens; else the sums are lower bounds.
        usd: the known costs in US dollars, exact. 0 is certainly nothing; None is unknown.
        usd_complete: whether the cost of every call is known; else ``usd`` is a lower bound.
        seconds: the time it took, pauses apart; None where the record has no times.
        text: all of this in a line.
    """

    calls: int | None
    answered: int | None
    failed: int | None
    lost: int | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    tokens_complete: bool
    usd: Decimal | None
    usd_complete: bool
    seconds: float | None
    text: str

    @property
    def tokens(self) -> int | None:
        """Input and output together; None where nothing was reported."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)

    def __str__(self) -> str:
        return self.text


class TurnState(StrEnum):
    """What came of asking a seat for a turn."""

    TAKEN = "taken"
    ABSTAINED = "abstained"
    OPEN = "open"
    """The seat was asked, and the record does not have what came of it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn, or one that was asked for and did not come.

    Attributes:
        number: its place in the debate, from 1.
        path: its name in the record.
        seat: who was asked.
        phase: the phase of the debate.
        form: what kind of turn it is, such as ``opening``.
        state: what came of it.
        text: what was said, a statement on each line; None where no turn came.
        asked: how often the seat was asked until the turn was accepted; 0 in an imported debate.
        rejected: how many of its answers were not accepted.
        violations: the rules that the accepted turn breaks.
        citations: how many citations it has.
        repaired: whether its JSON had to be mended.
        reason: why there is no turn, in a word of the record; empty where there is one.
        detail: the same in a sentence.
    """

    number: int
    path: str
    seat: str
    phase: str
    form: str
    state: TurnState
    text: str | None
    asked: int
    rejected: int
    violations: tuple[str, ...]
    citations: int
    repaired: bool
    reason: str
    detail: str


class CallState(StrEnum):
    """What came of a call to a model."""

    ANSWERED = "answered"
    FAILED = "failed"
    LOST = "lost"
    """The process died before an answer came. Whether it was billed is unknown, so its reservation stays spent."""
    IN_FLIGHT = "in flight"


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a model.

    Attributes:
        id: its name in the record.
        turn: the path of the turn it was made for.
        part: the part of the turn it asked for; empty where it asked for all of it.
        seat: who was asked.
        model: the model that was asked for.
        served_model: the model that the provider says it used; None where it does not say.
        mode: how the answer's structure was asked for: ``native``, ``tool``, ``prompted`` or ``text``.
        state: what came of it.
        fault: why there is no answer, in a word of the record; empty where there is one.
        input_tokens: None where the provider did not report them, as below.
        output_tokens: those of the output.
        cached_tokens: the part of the input that came from a cache.
        reasoning_tokens: the part of the output that was reasoning.
        usd: what it cost, or for a lost call what stays reserved; None where no price is known.
        usd_basis: how the cost was found.
        latency_ms: milliseconds until the answer; None where none came.
    """

    id: str
    turn: str
    part: str
    seat: str
    model: str
    served_model: str | None
    mode: str
    state: CallState
    fault: str
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    usd: Decimal | None
    usd_basis: str
    latency_ms: int | None
