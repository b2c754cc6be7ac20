"""Runs a custom format and keeps its rules in bounds.

The user's generator decides who is asked what. This module decides what each seat hears, what is recorded, the order of
parallel answers, and the limits. Failing rules do not crash the program. The debate ends with an error that names the
line of the file, and the record keeps everything said until then:

    raised       the generator raised an exception
    nonsense     it yielded something that is no ask, or returned something that is no result
    too_many     it asked more often than ``most_asks`` allows
    too_long     it ran very long without an ask
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from functools import partial
from inspect import getgeneratorstate
from types import GeneratorType
from typing import Any, TypeAlias

from disputatio.errors import InvalidInputError
from disputatio.formats.custom_format import Answer, AnswerKind, Batcher, Request, Speaker, Text, answer_lines
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.format import Format
from disputatio.formats.options import FormatOptions
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.kernel import (
    PUBLIC,
    Channel,
    JsonObject,
    Limits,
    Message,
    Part,
    Phase,
    Rulebook,
    Seat,
    Task,
    Transcript,
    Violation,
    ask,
    together,
)

OWN = "own"
"""The recorded name of every custom format; its rules say which one it is."""
JUDGE = Seat("judge")
DRAW = "draw"
_SHORTEST_QUOTE = 20
_MOST_BRANCHES = 50
_MOST_RESULT = 20_000
_DEEPEST = 12


class TooLongError(Exception):
    """The rules ran for too many steps without an ask. The ``Step`` that counts them raises it."""


Step: TypeAlias = Callable[[Generator[Any, Any, Any], Any], Any]
"""Sends a value into a generator, like ``send``; may count steps."""


@dataclass(frozen=True)
class CustomRules:
    """The rules of a custom format; its file adds its own.

    Attributes:
        file: the rules file, as given.
        function: the generator function in it.
        sha256: of the file's text.
        seats: the seats, in order of the function's parameters.
        most_asks: the most asks of all seats together.
        answer: the limits of an answer.

    Raises:
        InvalidInputError: ``most_asks`` is not from 1 to 1,000.
    """

    file: str = ""
    function: str = ""
    sha256: str = ""
    seats: tuple[str, ...] = ()
    most_asks: int = 200
    answer: Limits = field(default=Limits(max_tokens=1500, temperature=0.6))

    def __post_init__(self) -> None:
        if not 1 <= self.most_asks <= 1_000:
            raise InvalidInputError(
                f"rules.most_asks is {self.most_asks}, which cannot be used.",
                "Allowed is a whole number from 1 to 1000.",
            )

    @property
    def where(self) -> str:
        """The file name without folders, for display."""
        return self.file.replace("\\", "/").rpartition("/")[2]


FILE_RULES = frozenset({"file", "function", "sha256", "seats"})
"""Rules that cannot be set."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why the rules stopped, in one sentence that names the line."""

    kind: str
    sentence: str


@dataclass(frozen=True, slots=True)
class CustomVerdict:
    """What the function returned, or why it stopped."""

    rules: CustomRules
    result: Mapping[str, Any]
    asks: int
    judged: bool
    stopped: Fault | None = None

    @property
    def fault(self) -> str:
        """Why the rules stopped; empty where they finished."""
        return self.stopped.sentence if self.stopped else ""

    @property
    def reading(self) -> str:
        """The result in one sentence: the format's own, or the winner."""
        if self.stopped:
            return "no result: the rules could not go on"
        told, winner = self.result.get("reading"), self.result.get("winner")
        if isinstance(told, str) and told.strip():
            return told
        if winner == DRAW:
            return "a draw"
        return f"{winner.upper()} wins" if isinstance(winner, str) and winner else ""

    def as_json(self) -> JsonObject:
        """Return the verdict as the record and the exports keep it."""
        known = ("winner", "reading")
        return {
            "format": OWN,
            "rules": f"{self.rules.where}:{self.rules.function}",
            "judged": self.judged,
            "reading": self.reading,
            "winner": self.result.get("winner"),
            "result": {key: value for key, value in self.result.items() if key not in known},
            "asks": self.asks,
            "fault": self.fault,
        }


@dataclass(frozen=True, slots=True)
class _StrandState:
    """What a strand may still ask, and what was said before. A value, so that parallel branches cannot interfere."""

    transcript: Transcript
    asks_left: int
    said: tuple[str, ...] = ()
    used: int = 0
    judged: bool = True

    def after(self, *states: _StrandState) -> _StrandState:
        """Return the state once the messages of ``states`` are heard, in order."""
        transcript, before = self.transcript, len(self.transcript.messages)
        for state in states:
            transcript = replace(transcript, readers=_merge_readers(transcript.readers, state.transcript.readers))
            transcript = transcript.add(*state.transcript.messages[before:])
        used = sum(state.used for state in states)
        return _StrandState(
            transcript,
            self.asks_left - used,
            (*self.said, *(row for state in states for row in state.said[len(self.said) :])),
            self.used + used,
            self.judged and all(state.judged for state in states),
        )


def _merge_readers(first: Any, second: Any) -> Any:
    return tuple(dict([*first, *second]).items())


StrandResult: TypeAlias = "tuple[Any | Fault, _StrandState]"


def run_custom_rules(
    make: Callable[..., Generator[Any, Any, Any]],
    seats: tuple[Seat, ...],
    step: Step,
    rules: Any,
    context: DebateContext,
) -> Rulebook[CustomVerdict]:
    """Run the generator that ``make`` returns for the motion, the speakers and the rules."""
    started = _start_rules(make, context.motion.text, [Speaker(seat) for seat in seats], rules)
    state = _StrandState(Transcript(), rules.most_asks)
    if isinstance(started, Fault):
        return _build_verdict(rules, started, state)
    result, state = yield from _run_strand(started, state, step, rules)
    return _build_verdict(rules, result, state)


def _start_rules(
    make: Callable[..., Generator[Any, Any, Any]], motion: str, speakers: list[Speaker], rules: CustomRules
) -> Generator[Any, Any, Any] | Fault:
    try:
        return make(motion, speakers, rules)
    except Exception as error:  # noqa: BLE001  (whatever a user's file does, its debate keeps a record)
        return _fault_of(error, rules)


def _run_strand(
    rulebook: Generator[Any, Any, Any], state: _StrandState, step: Step, rules: CustomRules
) -> Rulebook[StrandResult]:
    """Run one generator to its end: the rules or one branch."""
    answer: Any = None
    while True:
        try:
            request = step(rulebook, answer)
        except StopIteration as end:
            return end.value, state
        except TooLongError as error:
            return Fault(
                "too_long", f"{_locate_error(error, rules)} runs on without asking anybody, and was stopped."
            ), state
        except Exception as error:  # noqa: BLE001
            return _fault_of(error, rules), state
        fault = _find_fault(request, rulebook, state, rules)
        if fault is not None:
            rulebook.close()
            return fault, state
        if isinstance(request, Request):
            answer, state = yield from _ask_seat(request, state, rules)
        else:
            answer, state = yield from _run_branches(request, state, step, rules)
            if isinstance(answer, Fault):
                return answer, state


def _find_fault(
    request: Any, rulebook: Generator[Any, Any, Any], state: _StrandState, rules: CustomRules
) -> Fault | None:
    """Return why a yielded request cannot be run; None where it can."""
    where = _locate_generator(rulebook, rules)
    if isinstance(request, Batcher):
        if len(request.branches) > _MOST_BRANCHES:
            return Fault("nonsense", f"{where} runs more than {_MOST_BRANCHES} branches together.")
        for _, branch in request.branches:
            if not isinstance(branch, Request | GeneratorType):
                return Fault(
                    "nonsense", f"{where} runs {_describe_type(branch)} together, which is no ask and no generator."
                )
            if isinstance(branch, GeneratorType) and getgeneratorstate(branch) != "GEN_CREATED":
                return Fault("nonsense", f"{where} runs a generator together that was started already.")
        doubled = _find_doubled_seat(request)
        if doubled:
            cure = "name the branches, as in together(first=..., second=...)"
            return Fault("nonsense", f"{where} asks {doubled} in two branches of one phase: {cure}.")
        # Each branch needs at least one ask, or a loop of empty branches would never end.
        if not request.branches or len(request.branches) <= state.asks_left:
            return None if request.branches else Fault("nonsense", f"{where} runs nothing together.")
    elif not isinstance(request, Request):
        return Fault(
            "nonsense", f"{where} yields {_describe_type(request)}; it must yield from an ask, or from together(...)."
        )
    elif state.asks_left > 0:
        taken = next((row for row in state.said if len(row) >= _SHORTEST_QUOTE and row in request.instruction), None)
        if taken is None:
            return None
        return Fault(
            "nonsense",
            f"{where} puts words of a seat into an instruction, where they would be an order; "
            "give them as about=..., where they are words.",
        )
    return Fault(
        "too_many", f"{where} asks once more, and the rules may ask {rules.most_asks} times (rules.most_asks)."
    )


def _find_doubled_seat(request: Batcher) -> str:
    seen: set[tuple[str, str, str]] = set()
    for name, branch in request.branches:
        if isinstance(branch, Request):
            key = (name, branch.phase, branch.seat)
            if key in seen:
                return str(branch.seat)
            seen.add(key)
    return ""


def _ask_seat(request: Request, state: _StrandState, rules: CustomRules) -> Rulebook[tuple[Answer, _StrandState]]:
    """Run one ask and add the answer for those who may hear it."""
    seat, phase = request.seat, Phase(request.phase)
    seen = state.transcript.visible_to(seat)
    form = CustomTurnSpec(request.kinds, request.instruction, request.about or (seen[-1].text if seen else ""))
    wanted = "\n".join(f"- {name}: {kind.words}" for name, kind in request.kinds)
    values = {"seat": seat.upper(), "instruction": request.instruction, "wanted": wanted}
    quotes = {"about": request.about} if request.about.strip() else {}
    turn = yield from ask(
        seat,
        phase,
        spec=form,
        task=Task("ask-about" if quotes else "ask", values, quotes),
        messages=seen,
        limits=rules.answer,
    )
    state = replace(state, asks_left=state.asks_left - 1, used=state.used + 1)
    if not isinstance(turn, CustomTurn):
        judged = state.judged and seat != JUDGE
        silent = dict.fromkeys(name for name, _ in request.kinds)
        return Answer(seat, silent, turn.detail or turn.reason or "silent"), replace(state, judged=judged)
    channel, transcript = _open_channel(request, state.transcript)
    transcript = transcript.add(Message(seat, phase, turn.text(), channel))
    return Answer(seat, dict(turn.values)), replace(
        state, transcript=transcript, said=(*state.said, *iter_texts(turn.values))
    )


def _open_channel(request: Request, transcript: Transcript) -> tuple[Channel, Transcript]:
    """Return the channel of an answer, and the transcript with the rights of its readers."""
    if request.only_for is None:
        return PUBLIC, transcript
    hearers = frozenset({request.seat, *request.only_for})
    channel = Channel(f"only_{'_'.join(sorted(hearers))}")
    return channel, replace(transcript, readers=_merge_readers(transcript.readers, ((channel, hearers),)))


def _run_branches(
    request: Batcher, state: _StrandState, step: Step, rules: CustomRules
) -> Rulebook[tuple[tuple[Any, ...] | Fault, _StrandState]]:
    """Run branches that do not hear each other, each with an equal share of the asks left."""
    share = state.asks_left // len(request.branches)
    own = replace(state, asks_left=share, used=0)
    runs = [(name, _run_branch(branch, own, step, rules)) for name, branch in request.branches]
    plain = [run for name, run in runs if not name]
    results = yield from together(*plain, **{name: run for name, run in runs if name})
    states = [row for _, row in results]
    fault = next((result for result, _ in results if isinstance(result, Fault)), None)
    return fault or tuple(result for result, _ in results), state.after(*states)


def _run_branch(branch: Any, state: _StrandState, step: Step, rules: CustomRules) -> Rulebook[StrandResult]:
    if isinstance(branch, Request):
        return _ask_seat(branch, state, rules)
    return _run_strand(branch, state, step, rules)


def _build_verdict(rules: CustomRules, result: Any, state: _StrandState) -> CustomVerdict:
    if isinstance(result, Fault):
        return CustomVerdict(rules, {}, state.used, judged=state.judged, stopped=result)
    told = {"reading": result} if isinstance(result, str) else {} if result is None else result
    if not isinstance(told, Mapping) or not all(isinstance(key, str) for key in told) or not _is_json(told):
        sentence = (
            f"{rules.where}: {rules.function} returns {_describe_type(result)}; it must return a dict of plain values."
        )
        return CustomVerdict(rules, {}, state.used, judged=state.judged, stopped=Fault("nonsense", sentence))
    return CustomVerdict(rules, told, state.used, judged=state.judged)


def _is_json(value: Any, depth: int = 0) -> bool:
    """Whether ``value`` can be recorded: plain values, limited nesting."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, Mapping):
        rows = value.items()
        return len(rows) <= _MOST_RESULT and all(isinstance(key, str) and _is_json(row, depth + 1) for key, row in rows)
    if isinstance(value, list | tuple):
        return len(value) <= _MOST_RESULT and all(_is_json(row, depth + 1) for row in value)
    if isinstance(value, float):
        return value - value == 0  # finite
    return value is None or isinstance(value, bool | int | str)


def _locate_generator(rulebook: Generator[Any, Any, Any], rules: CustomRules) -> str:
    """Return the file and line at which the rules wait."""
    line = 0
    inner: Any = rulebook
    while inner is not None:
        frame = getattr(inner, "gi_frame", None)
        if frame is not None and frame.f_code.co_filename == rules.file:
            line = frame.f_lineno
        inner = getattr(inner, "gi_yieldfrom", None)
    return f"{rules.where}, line {line}" if line else rules.where


def _fault_of(error: Exception, rules: CustomRules) -> Fault:
    """Return the fault for an exception, with the last line of the file in its traceback."""
    where = _locate_error(error, rules)
    told = " ".join(str(error).split())[:300]
    return Fault("raised", f"{where}: {type(error).__name__}{f': {told}' if told else ''}.")


def _locate_error(error: Exception, rules: CustomRules) -> str:
    """Return the last line of the file in the traceback of an exception."""
    lines = [number for file, number in _traceback_lines(error) if file == rules.file]
    return f"{rules.where}, line {lines[-1]}" if lines else rules.where


def _traceback_lines(error: Exception) -> Iterator[tuple[str, int]]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next


def _describe_type(value: object) -> str:
    kind = type(value).__name__
    return f"a {kind}" if kind[:1] not in "aeiou" else f"an {kind}"


@dataclass(frozen=True, slots=True)
class CustomTurn:
    """The answers of a seat, in the order of the questions."""

    values: Mapping[str, Any]

    def text(self) -> str:
        """Return the answers, each after its name where there are several."""
        return unmarked("\n".join(answer_lines(self.values)))


@dataclass(frozen=True, slots=True)
class CustomTurnSpec:
    """The spec of one ask of a custom format.

    Attributes:
        kinds: the kind of each answer, by name.
        instruction: the instruction to the seat.
        heard: what a small model sees: what the ask is about, or else the last message.
    """

    kinds: tuple[tuple[str, AnswerKind], ...]
    instruction: str
    heard: str = ""
    name: str = "own_answer"

    @property
    def schema(self) -> JsonObject:
        """An object with every answer."""
        return schema.record({name: kind.schema for name, kind in self.kinds})

    def read(self, content: JsonObject) -> CustomTurn:
        """The answers."""
        return CustomTurn({name: content[name] for name, _ in self.kinds})

    def violations(self, turn: CustomTurn) -> tuple[Violation, ...]:
        """Texts with too many words."""
        return tuple(row for name, kind in self.kinds for row in kind.violations(name, turn.values[name]))

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One answer at a time; from the second on with what the seat has said itself."""
        if len(done) >= len(self.kinds):
            return None
        name, kind = self.kinds[len(done)]
        own = " ".join(str(row) for part in done for row in part.values() if isinstance(row, str))
        form = "Answer in two or three sentences." if isinstance(kind, Text) else f"Answer with {kind.words}."
        values = {"instruction": self.instruction, "name": name.replace("_", " "), "form": form}
        if done:
            task = Task("own-further", values, {"said": own})
        else:
            task = Task("own-answer-to", values, {"heard": self.heard}) if self.heard else Task("own-answer", values)
        return Part(name, schema.record({name: kind.small_schema}), task, 220)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """Join the answers."""
        return {name: kind.expand_small(part[name]) for (name, kind), part in zip(self.kinds, done, strict=True)}


def iter_texts(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield every text in ``values``, at any depth."""
    for value in values.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from iter_texts(value)
        elif isinstance(value, list | tuple):
            yield from iter_texts(dict(enumerate(value)))  # type: ignore[arg-type]


def make_format(function: Callable[..., Generator[Any, Any, Any]], options: type[FormatOptions]) -> Format:
    """Return the format of a rules function. A package registers it as an entry point of ``disputatio.formats``.

    Args:
        function: a generator function as in a rules file. Its parameters are an optional ``motion``, then the seats;
            those after a ``*`` are rules with defaults.
        options: the options of the format. ``name`` is what people type; lists show the first line of the docstring. An
            option and a rule of the same name are the same.

    Raises:
        InvalidInputError: the options have no name, or a rule has no default.
    """
    name = options.model_fields["name"].default
    rows = list(inspect.signature(function).parameters.values())
    rules = [row for row in rows if row.kind is row.KEYWORD_ONLY]
    without = next((row.name for row in rules if row.default is row.empty), None)
    if not name or without is not None:
        what = f"the rule {without} has no default" if name else f"{options.__name__} has no default for its name"
        raise InvalidInputError(f"The format of {function.__module__} cannot be used: {what}.", "Give it one.")
    names = [row.name for row in rows if row.kind is not row.KEYWORD_ONLY]
    wants_motion = names[:1] == ["motion"]
    seats = tuple(Seat(row) for row in names[wants_motion:])
    own = {"file": function.__module__, "function": function.__name__, "seats": tuple(map(str, seats))}
    settings = {row.name: row.default for row in rules}
    body = [(key, type(value), field(default=value)) for key, value in {**settings, **own}.items()]

    def make(motion: str, speakers: list[Any], rules: Any) -> Generator[Any, Any, Any]:
        given = [motion, *speakers] if wants_motion else speakers
        return function(*given, **{key: getattr(rules, key) for key in settings})

    return Format(
        name=name,
        about=(options.__doc__ or name).strip().partition("\n")[0],
        seats=seats,
        rules=make_dataclass("InstalledRules", body, bases=(CustomRules,), frozen=True),
        rulebook=partial(run_custom_rules, make, seats, _send),
        judges=frozenset({JUDGE} & set(seats)),
        options=options,
        prompts=OWN,
    )


def _send(rulebook: Generator[Any, Any, Any], answer: Any) -> Any:
    return rulebook.send(answer)
