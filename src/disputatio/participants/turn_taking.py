"""Takes a seat's turn: ask, read, ask again with reasons, give up. Pure, and replayed on resume.

Taking a turn is a generator. It yields steps and receives their results:

- ``Send`` a call: a reply or a fault. On resume, recorded outcomes come first, so no call is paid for twice.
- ``Rest`` before the next call: no result. Skipped for recorded calls.
- ``Reject`` an answer, for the record: no result.
- ``Consult`` a tool: its result, which is data. On resume, recorded results come first.
- ``Await`` a coroutine of the program: what it returns.

The generator returns ``TurnResult`` or an ``Abstention``:

- An answer of the wrong shape is requested again with the reasons, as often as the limits allow. Then the seat
  abstains, unless the spec accepts the last answer with its fault (`disputatio.kernel.LenientTurnSpec`).
- An answer that breaks a rule is requested again once. Then it is accepted with its violations.
- A call that was cut while its model reasoned is repeated with the room learned meanwhile, like a transient fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

from disputatio.formats.turns.schema import MOST_TOKENS, Sized, fit_limits
from disputatio.kernel import Abstention, Ask, AskPath, JsonObject, Limits, Part, Turn, Violation
from disputatio.motion import clean
from disputatio.participants.answers import SchemaChecks, SchemaMismatch, ShapedAnswer, read_answer, read_leniently
from disputatio.participants.call import Call, Fault, FaultKind, OutputMode, Reply, Segment
from disputatio.participants.corrections import Correction, correction_of, place_of
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.reasoning import Allowances
from disputatio.record.text import canonical
from disputatio.tools.protocol import OfferedTool, ToolLimits, ToolRequest, ToolResult
from disputatio.tools.tool_choice import CHOICE_SPEC, build_choice_schema, name_choice_part, read_choice

FIRST_REST_S = 1.0
LONGEST_REST_S = 30.0
LONGEST_ASKED_REST_S = 120.0
"""A provider that asks for a longer wait counts as down."""
MOST_REFUSED = 12
"""Refused parameters that cost no attempt of a call: more than there are parameters to refuse."""
_COSTS_NO_ATTEMPT = frozenset({FaultKind.PARAMETER_REFUSED, FaultKind.BATCH_FAILED})
_ANY_OBJECT: JsonObject = {"type": "object"}
_CHOICE_TOKENS = 600
"""Limit of the answer that names tools to call."""
_USUAL_LIMITS = ToolLimits()
_MOST_FOLLOWING = 3
"""Calls that are announced with the one before: the embedded model computes four at a time at most."""
_MOST_SHOWN_BACK = 4_000
"""Characters of a rejected answer that are shown to the model."""


class Send(NamedTuple):
    """Make this call to this model."""

    call: Call
    seating: ModelSeating
    part: str


@dataclass(frozen=True, slots=True)
class Rest:
    """Wait before the next call."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reject:
    """An answer was rejected and the seat is asked again. ``because`` is ``shape`` or ``rule``."""

    part: str
    because: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consult:
    """Call a tool for the seat, before its turn."""

    request: ToolRequest


@dataclass(frozen=True, slots=True)
class Await:
    """Wait for a coroutine of the program."""

    work: Awaitable[Any]


class TurnResult(NamedTuple):
    """The turn. ``asked`` counts the requests to the seat for it or for parts of it."""

    turn: Turn
    content: JsonObject
    violations: tuple[Violation, ...] = ()
    repaired: bool = False
    asked: int = 1
    served_models: tuple[str, ...] = ()


TurnStep: TypeAlias = Send | Rest | Reject | Consult | Await
TurnTaking: TypeAlias = Generator[TurnStep, Any, TurnResult | Abstention]


class _Answer(NamedTuple):
    """An answer of the right shape; ``lenient`` if it fits only the lenient schema."""

    content: JsonObject
    repaired: bool
    raw: str
    lenient: bool = False


class _Shape(NamedTuple):
    """A schema with its canonical text, which the ledger, the record and the check all need.

    ``temperature`` overrides that of the phase, unless None. The schema of ``size`` is sent: it may allow shorter texts
    than the schema that the answer is checked against.
    """

    schema: JsonObject
    text: str
    size: Sized
    sent_text: str
    temperature: float | None
    name: str


class _OpenAnswerError(Exception):
    """A part of a turn depends on the answer to an earlier part."""


class _OpenAnswer(dict[str, Any]):
    """Stands for an answer that has not come. Reading it raises."""

    def _read(self, *_: object) -> Any:
        raise _OpenAnswerError

    __getitem__ = __iter__ = __contains__ = __len__ = _read
    get = keys = values = items = _read


_PartAsk: TypeAlias = tuple[Part, tuple[str, ...]]
"""A part of a turn, and the reasons why an earlier answer to it was rejected."""
_Following: TypeAlias = Callable[[], Sequence[_PartAsk]]
"""Finds the parts after the current one that do not depend on its answer."""


class Prompts(Protocol):
    """Port to the prompt layer."""

    def whole(self, ask: Ask) -> tuple[Segment, ...]:
        """The prompt for the whole turn."""

    def part(self, ask: Ask, part: Part) -> tuple[Segment, ...]:
        """The prompt for one part of it."""

    def reasons(self, because: str, reasons: tuple[str, ...]) -> Segment:
        """The reasons why an answer was rejected; ``because`` is ``shape`` or ``rule``."""

    def schema(self, schema: JsonObject) -> Segment:
        """The schema as text, for models without structured output."""

    def choosing(self, task: str, tools: Sequence[OfferedTool], calls: int) -> Segment:
        """The question which of ``tools`` to call before the turn whose prompt ends with ``task``."""

    def looked_up(self, request: ToolRequest, result: ToolResult) -> Segment:
        """A call of a tool and its result."""


class ModelTurn:
    """One turn of a model's seat.

    Args:
        path: the path of the ask; seeds are derived from it.
        ask: the ask.
        seatings: the model and its fallbacks, in order.
        modes: for each seating, the structured-output modes to try, best first.
        checks: compiled schemas.
        prompts: makes the segments of the prompt.
        seed: the debate's seed, or None to send none.
        tools: the tools that the seat may call before its turn.
        tool_limits: limits on these calls.
        allowances: tokens for reasoning of each model; what is learned counts from the next call on.
    """

    def __init__(
        self,
        path: AskPath,
        ask: Ask,
        *,
        seatings: Sequence[ModelSeating],
        modes: Sequence[Sequence[OutputMode]],
        checks: SchemaChecks,
        prompts: Prompts,
        seed: int | None,
        tools: Sequence[OfferedTool] = (),
        tool_limits: ToolLimits = _USUAL_LIMITS,
        allowances: Allowances | None = None,
    ) -> None:
        self._allowances = allowances or Allowances()
        self._grown: dict[str, int] = {}
        if (own := seatings[0].max_tokens) is not None:
            ask = replace(ask, limits=replace(ask.limits, max_tokens=own, fixed=True))
        self._path, self._ask = path, ask
        self._tools, self._tool_limits = tools, tool_limits
        self._seatings, self._modes = list(seatings), [list(row) for row in modes]
        self._checks, self._prompts, self._seed = checks, prompts, seed
        self._asked = 0
        self._following: _Following = tuple
        self._served: dict[str, None] = {}

    def take(self) -> TurnTaking:
        """Come to the turn."""
        if self._seatings[0].piecewise:
            return self._take_in_parts()
        return self._take_whole()

    def _take_whole(self) -> TurnTaking:
        limits = self._ask.limits
        shape = self._shape(self._ask.spec.schema, limits)
        prompt = self._prompts.whole(self._ask)
        if self._tools:
            found = yield from self._consultations(prompt)
            if isinstance(found, Abstention):
                return found
            # Placed before the task, where the history grows, so the prefix cache still serves what precedes it.
            prompt, self._asked = (*prompt[:-1], *found, prompt[-1]), 0
        answer = yield from self._ask_shape("", prompt, shape)
        if isinstance(answer, Abstention):
            return answer
        best = self._read(answer)
        for _ in range(limits.rule_asks):
            # A lenient answer was requested again often enough.
            if not best.violations or answer.lenient:
                break
            reasons = tuple(row.detail for row in best.violations)
            yield Reject("", "rule", reasons)
            places = [place_of(row.part, shape.schema) for row in best.violations]
            correction = correction_of(answer.content, places, shape.schema)
            raw, because = (answer.raw, "rule") if correction is None else (correction.excerpt, "rule-part")
            again = self._again(prompt, raw, because, reasons)
            second = yield from self._ask_shape("", again, shape, correction)
            if isinstance(second, Abstention):
                break
            read = self._read(second)
            if len(read.violations) <= len(best.violations):
                best, answer = read, second
        return self._finished(best)

    def _consultations(self, prompt: tuple[Segment, ...]) -> Generator[TurnStep, Any, tuple[Segment, ...] | Abstention]:
        """Let the seat call tools before its turn, round by round, until it is done or reaches its limits."""
        limits, task = self._tool_limits, prompt[-1]
        shape = self._shape(
            build_choice_schema(self._tools, limits.calls), self._limits(_CHOICE_TOKENS), name=CHOICE_SPEC
        )
        question = self._prompts.choosing(task.text, self._tools, limits.calls)
        found: list[Segment] = []
        called: set[str] = set()
        for number in range(1, limits.rounds + 1):
            asked = (*prompt[:-1], *found, question)
            answer = yield from self._ask_shape(name_choice_part(number), asked, shape)
            if isinstance(answer, Abstention):
                # A seat that cannot name tools can still take its turn. The record has the invalid answers.
                return tuple(found) if answer.reason == "misfit" else answer
            wanted = [row for row in read_choice(answer.content, self._tools, limits.calls) if row.key not in called]
            for request in wanted:
                called.add(request.key)
                result: ToolResult = yield Consult(request)
                found.append(self._prompts.looked_up(request, result))
            if not wanted:
                break
        return tuple(found)

    def _take_in_parts(self) -> TurnTaking:
        form = self._ask.spec
        done: list[_Answer] = []
        parts: list[Part] = []
        while part := form.next_part(tuple(row.content for row in done)):
            answer = yield from self._part((part, ()), partial(self._independent_parts, tuple(done)))
            if isinstance(answer, Abstention):
                return answer
            done.append(answer)
            parts.append(part)
        best = self._joined(done)
        for _ in range(self._ask.limits.rule_asks):
            reasons = [tuple(row.detail for row in best.violations if row.part == part.label) for part in parts]
            faulty = [place for place, why in enumerate(reasons) if why]
            for number, place in enumerate(faulty, start=1):
                yield Reject(parts[place].label, "rule", reasons[place])
                later = [(parts[row], reasons[row]) for row in faulty[number : number + _MOST_FOLLOWING]]
                answer = yield from self._part((parts[place], reasons[place]), partial(tuple, later))
                if not isinstance(answer, Abstention):
                    trial = [*done[:place], answer, *done[place + 1 :]]
                    if len(self._joined(trial).violations) <= len(best.violations):
                        done, best = trial, self._joined(trial)
        return self._finished(best)

    def _independent_parts(self, done: tuple[_Answer, ...]) -> list[_PartAsk]:
        """The parts after the next one, as far as they do not depend on answers that have not come."""
        answers: list[JsonObject] = [row.content for row in done]
        following: list[_PartAsk] = []
        with suppress(_OpenAnswerError):
            while len(following) < _MOST_FOLLOWING:
                answers.append(_OpenAnswer())
                part = self._ask.spec.next_part(tuple(answers))
                if part is None:
                    break
                following.append((part, ()))
        return following

    def _part(self, ask: _PartAsk, following: _Following) -> Generator[TurnStep, Any, _Answer | Abstention]:
        self._following = following
        return (yield from self._ask_shape(*self._part_request(ask)))

    def _part_request(self, ask: _PartAsk) -> tuple[str, tuple[Segment, ...], _Shape]:
        """The name of a part, its prompt and the shape of its answer."""
        part, reasons = ask
        prompt = self._prompts.part(self._ask, part)
        if reasons:
            prompt = (*prompt, self._prompts.reasons("rule", reasons))
        return part.label, prompt, self._shape(part.schema, self._limits(part.max_tokens), part.temperature)

    def _limits(self, max_tokens: int) -> Limits:
        """Limits of an answer that is not the turn, unless the seat sets a limit for all answers."""
        own = self._seatings[0].max_tokens
        return Limits(own or max_tokens, fixed=own is not None)

    def _joined(self, done: list[_Answer]) -> TurnResult:
        content = self._ask.spec.join(tuple(row.content for row in done))
        mismatch = self._checks.reasons(content, self._ask.spec.schema)
        if mismatch:
            raise AssertionError(f"the parts of {self._ask.spec.name} do not make a whole: {mismatch}")
        return self._read(_Answer(content, any(row.repaired for row in done), ""))

    def _read(self, answer: _Answer) -> TurnResult:
        turn = self._ask.spec.read(answer.content)
        return TurnResult(turn, answer.content, self._ask.spec.violations(turn), answer.repaired)

    def _finished(self, taken: TurnResult) -> TurnResult:
        return taken._replace(asked=self._asked, served_models=tuple(self._served))

    def _again(
        self, prompt: tuple[Segment, ...], raw: str, because: str, reasons: tuple[str, ...]
    ) -> tuple[Segment, ...]:
        shown = clean(raw if len(raw) <= _MOST_SHOWN_BACK else raw[:_MOST_SHOWN_BACK] + " ...")
        told = self._prompts.reasons(because, reasons)
        return (*prompt, Segment("assistant", shown), told) if shown.strip() else (*prompt, told)

    def _shape(self, schema: JsonObject, limits: Limits, temperature: float | None = None, name: str = "") -> _Shape:
        text, size = canonical(schema), fit_limits(schema, limits)
        sent_text = text if size.schema is schema else canonical(size.schema)
        return _Shape(schema, text, size, sent_text, temperature, name or self._ask.spec.name)

    def _ask_shape(
        self, part: str, prompt: tuple[Segment, ...], shape: _Shape, correction: Correction | None = None
    ) -> Generator[TurnStep, Any, _Answer | Abstention]:
        """Request an answer of the right shape, as often as the limits allow.

        Args:
            part: the requested part of the turn; empty for the whole.
            prompt: the first prompt.
            shape: what the whole answer must be.
            correction: the parts of an earlier answer that the prompt asks for; None for the whole answer.
        """
        current, asked = prompt, self._asked_for(shape, correction)
        # An answer that once exceeded its limit will do so again when a rule is the reason to ask.
        tokens = max(asked.size.tokens, self._grown.get(part, 0))
        mismatch, last = SchemaMismatch(()), ""
        for number in range(1 + self._ask.limits.shape_asks):
            reply = yield from self._reply(part, current, asked, tokens)
            if isinstance(reply, Abstention):
                return reply
            cut = reply.finish == "length"
            read = self._fitting(reply.text, shape, tokens if cut else None, correction)
            if isinstance(read, ShapedAnswer):
                return _Answer(read.content, read.repaired, canonical(read.content) if correction else reply.text)
            mismatch, last = read, "" if cut else canonical(read.content) if read.content else reply.text
            if cut:
                tokens = self._grown[part] = min(2 * tokens, max(tokens, MOST_TOKENS))
            if number < self._ask.limits.shape_asks:
                yield Reject(part, "shape", mismatch.reasons)
                if read.content and not part:
                    correction = correction_of(read.content, read.places, shape.schema)
                    asked = self._asked_for(shape, correction)
                    tokens = max(asked.size.tokens, self._grown.get(part, 0))
                raw = "" if cut or part else reply.text
                if correction is not None and (cut or read.content):
                    raw = correction.excerpt
                current = self._again(prompt, raw, "shape" if correction is None else "shape-part", mismatch.reasons)
        lenient = None if part or not last else read_leniently(last, self._ask.spec, self._checks)
        if lenient is not None:
            return _Answer(lenient.content, lenient.repaired, last, lenient=True)
        asks = 1 + self._ask.limits.shape_asks
        where = f" for {part}" if part else ""
        detail = f"{asks} answers{where} did not fit the form; the last: {mismatch.reasons[0]}"
        detail += f". {shape.size.note}" if shape.size.note and not last else ""
        return Abstention(self._ask.seat, "misfit", detail)

    def _asked_for(self, shape: _Shape, correction: Correction | None) -> _Shape:
        return shape if correction is None else self._shape(correction.schema, self._ask.limits)

    def _fitting(
        self, text: str, shape: _Shape, cut_off_at: int | None, correction: Correction | None
    ) -> ShapedAnswer | SchemaMismatch:
        """Read ``text`` as the whole answer, or as a correction merged into the earlier answer."""
        whole = read_answer(text, shape.schema, self._checks, cut_off_at=cut_off_at, schema_text=shape.text)
        # Some models repeat everything although only a part was requested.
        if correction is None or isinstance(whole, ShapedAnswer):
            return whole
        some = read_answer(text, _ANY_OBJECT, self._checks, cut_off_at=cut_off_at)
        if isinstance(some, SchemaMismatch):
            return some
        # Drop what was not requested: the rest of the earlier answer stays.
        given = correction.only(some.content)
        content = correction.merge(given)
        faults = self._checks.faults(content, shape.schema, shape.text)
        if faults:
            return SchemaMismatch(tuple(row.reason for row in faults), content, tuple(row.place for row in faults))
        reasons = self._checks.reasons(given, correction.schema)
        return SchemaMismatch(reasons) if reasons else ShapedAnswer(content, some.repaired)

    def _reply(
        self, part: str, prompt: tuple[Segment, ...], shape: _Shape, max_tokens: int
    ) -> Generator[TurnStep, Any, Reply | Abstention]:
        """Get a reply from the seat's model or, when its attempts are used up, from the next fallback."""
        self._asked += 1
        fault: Fault | None = None
        while self._seatings:
            reply = yield from self._attempts(part, prompt, shape, max_tokens)
            if isinstance(reply, Reply):
                self._served.setdefault(reply.served_model or self._seatings[0].model)
                return reply
            fault = reply
            if len(self._seatings) == 1:
                break
            self._seatings.pop(0)
            self._modes.pop(0)
        kind, message = (fault.kind.value, fault.message) if fault else ("unreachable", "")
        return Abstention(self._ask.seat, kind, message)

    def _attempts(
        self, part: str, prompt: tuple[Segment, ...], shape: _Shape, max_tokens: int
    ) -> Generator[TurnStep, Any, Reply | Fault]:
        seating, modes = self._seatings[0], self._modes[0]
        tried, refusals, rested = 0, 0, 0.0
        while True:
            call = self._call(part, prompt, shape, max_tokens, seating, modes[0], self._asked)
            if part:
                following = partial(self._following_calls, self._following, seating, modes[0], self._asked)
                call = replace(call, following=following)
            outcome: Reply | Fault = yield Send(call, seating, part)
            if isinstance(outcome, Reply):
                return outcome
            if outcome.kind is FaultKind.SCHEMA_UNSUPPORTED and len(modes) > 1:
                modes.pop(0)
                continue
            if outcome.kind in _COSTS_NO_ATTEMPT and refusals < MOST_REFUSED:
                refusals += 1
                continue
            tried += 1
            patient = (outcome.retry_after_s or 0) <= LONGEST_ASKED_REST_S
            again = outcome.kind.worth_retrying or (outcome.kind.worth_one_retry and tried < 2)
            if not (again and patient):
                return outcome
            rest = max(outcome.retry_after_s or 0.0, 0.0) or min(FIRST_REST_S * 2 ** (tried - 1), LONGEST_REST_S)
            if tried >= seating.attempts:
                # Without a fallback, wait for a rate limit beyond the attempts, unless only one attempt is allowed.
                rest = max(rest, min(FIRST_REST_S * 2 ** (tried - 1), LONGEST_REST_S))
                limited = outcome.kind is FaultKind.RATE_LIMITED and seating.attempts > 1
                if not limited or len(self._seatings) > 1 or rested + rest > LONGEST_ASKED_REST_S:
                    return outcome
            rested += rest
            yield Rest(rest)

    def _call(
        self,
        part: str,
        prompt: tuple[Segment, ...],
        shape: _Shape,
        max_tokens: int,
        seating: ModelSeating,
        mode: OutputMode,
        asked: int,
    ) -> Call:
        if mode in {OutputMode.PROMPTED, OutputMode.TEXT}:
            prompt, mode = _with_schema(prompt, self._prompts.schema(shape.size.schema)), OutputMode.PROMPTED
        fitting = self._ask.limits.temperature if shape.temperature is None else shape.temperature
        temperature = fitting if seating.temperature is None else seating.temperature
        # A limit that was raised after a cut answer does not shrink again.
        usual = shape.size.usual if max_tokens == shape.size.tokens else None
        answer, allowance = self._allowances.room(seating, max_tokens, usual or max_tokens, prompt)
        return Call(
            prompt,
            shape.size.schema,
            shape.name,
            mode,
            temperature,
            answer + allowance,
            seed=self._call_seed(part, asked),
            schema_text=shape.sent_text,
            reasoning_allowance=allowance,
            usual_tokens=usual,
            tells_schema=mode is OutputMode.PROMPTED,
        )

    def _following_calls(
        self, following: _Following, seating: ModelSeating, mode: OutputMode, asked: int
    ) -> tuple[Call, ...]:
        """The first calls for the parts that follow, if the answer to this one needs no second try."""
        requests = map(self._part_request, following())
        calls = [
            self._call(part, prompt, shape, shape.size.tokens, seating, mode, asked + number)
            for number, (part, prompt, shape) in enumerate(requests, start=1)
        ]
        return tuple(calls)

    def _call_seed(self, part: str, asked: int) -> int | None:
        """Derive a seed for this call: the same one whenever the debate is replayed."""
        if self._seed is None:
            return None
        text = f"{self._seed}\n{self._path}\n{part}\n{asked}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def _with_schema(prompt: tuple[Segment, ...], schema: Segment) -> tuple[Segment, ...]:
    """Append the schema to the task, in one segment: cache marks precede the last segment."""
    *before, task = prompt
    if task.role != schema.role:
        return (*prompt, schema)
    return (*before, Segment(task.role, f"{task.text}\n\n{schema.text}"))
