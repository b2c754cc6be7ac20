"""Holds a debate by the rules of a user's own format, and keeps those rules in bounds.

The user's generator says who is asked what; everything else is the house's: what each seat hears, the record, the
order of side-by-side answers, the ceiling. Rules that fail are not a crash. The debate ends there, with the line of
the file and everything said until then in its record:

    raised       the generator raised an exception
    nonsense     it yielded something that is no ask, or returned something that is no result
    too_many     it asked more often than ``most_asks`` allows
    too_long     it ran very long without asking anybody
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from inspect import getgeneratorstate
from types import GeneratorType
from typing import Any, TypeAlias

from disputatio.errors import InvalidInputError
from disputatio.formats.custom_answer import CustomTurn, CustomTurnSpec, texts_of
from disputatio.formats.custom_format import Answer, Batcher, Request, Speaker
from disputatio.formats.debate_context import DebateContext
from disputatio.kernel import (
    PUBLIC,
    Channel,
    JsonObject,
    Limits,
    Message,
    Phase,
    Rulebook,
    Seat,
    Task,
    Transcript,
    ask,
    together,
)

OWN = "own"
"""The name of every such format in the record; which one it is stands in its rules."""
JUDGE = Seat("judge")
DRAW = "draw"
_SHORTEST_QUOTE = 20
_MOST_BRANCHES = 50
_MOST_RESULT = 20_000
_DEEPEST = 12


class TooLongError(Exception):
    """Rules ran for too many steps without asking anybody. Raised by whoever counts them."""


Step: TypeAlias = Callable[[Generator[Any, Any, Any], Any], Any]
"""Sends a value into a generator, as its ``send`` does; may count what that takes."""


@dataclass(frozen=True)
class CustomRules:
    """What may be set about the rules; a file adds its own settings.

    Attributes:
        file: the file of the format, as it was given.
        function: the generator function in it.
        sha256: of the file's text.
        seats: those of the function's parameters, in their order.
        most_asks: how often all seats together may be asked.
        answer: how an answer may be asked for.

    Raises:
        InvalidInputError: ``most_asks`` is no number from 1 to 1,000.
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
        """The file without its folders, for people."""
        return self.file.replace("\\", "/").rpartition("/")[2]


OF_THE_FILE = frozenset({"file", "function", "sha256", "seats"})
"""The rules that nobody sets."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why rules could not go on, in one sentence that names the line."""

    kind: str
    sentence: str


@dataclass(frozen=True, slots=True)
class CustomVerdict:
    """What an own format came to: what its function returned, or why it could not go on."""

    rules: CustomRules
    result: Mapping[str, Any]
    asks: int
    judged: bool
    stopped: Fault | None = None

    @property
    def fault(self) -> str:
        """The sentence that says why the rules could not go on; empty where they did."""
        return self.stopped.sentence if self.stopped else ""

    @property
    def reading(self) -> str:
        """The result in one sentence: the format's own, or who won."""
        if self.stopped:
            return "no result: the rules could not go on"
        told, winner = self.result.get("reading"), self.result.get("winner")
        if isinstance(told, str) and told.strip():
            return told
        if winner == DRAW:
            return "a draw"
        return f"{winner.upper()} wins" if isinstance(winner, str) and winner else ""

    def as_json(self) -> JsonObject:
        """The verdict as the record and the exports keep it."""
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
class _Room:
    """What a strand of rules may still do, and what was said before it. A value, so that branches cannot meddle."""

    transcript: Transcript
    asks_left: int
    said: tuple[str, ...] = ()
    used: int = 0
    judged: bool = True

    def after(self, *rooms: _Room) -> _Room:
        """This room when what happened in ``rooms`` is heard, in their order."""
        transcript, before = self.transcript, len(self.transcript.posts)
        for room in rooms:
            transcript = replace(transcript, readers=_joined(transcript.readers, room.transcript.readers))
            transcript = transcript.post(*room.transcript.posts[before:])
        used = sum(room.used for room in rooms)
        return _Room(
            transcript,
            self.asks_left - used,
            (*self.said, *(row for room in rooms for row in room.said[len(self.said) :])),
            self.used + used,
            self.judged and all(room.judged for room in rooms),
        )


def _joined(first: Any, second: Any) -> Any:
    return tuple(dict([*first, *second]).items())


Held: TypeAlias = "tuple[Any | Fault, _Room]"


def own_debate(
    make: Callable[..., Generator[Any, Any, Any]],
    seats: tuple[Seat, ...],
    step: Step,
    rules: Any,
    context: DebateContext,
) -> Rulebook[CustomVerdict]:
    """A debate by the generator that ``make`` makes of the motion, the speakers and the settings."""
    started = _begun(make, context.motion.text, [Speaker(seat) for seat in seats], rules)
    room = _Room(Transcript(), rules.most_asks)
    if isinstance(started, Fault):
        return _verdict(rules, started, room)
    result, room = yield from _strand(started, room, step, rules)
    return _verdict(rules, result, room)


def _begun(
    make: Callable[..., Generator[Any, Any, Any]], motion: str, speakers: list[Speaker], rules: CustomRules
) -> Generator[Any, Any, Any] | Fault:
    try:
        return make(motion, speakers, rules)
    except Exception as error:  # noqa: BLE001  (whatever a user's file does, its debate keeps a record)
        return _raised(error, rules)


def _strand(rulebook: Generator[Any, Any, Any], room: _Room, step: Step, rules: CustomRules) -> Rulebook[Held]:
    """One generator to its end: the rules themselves, or one branch of them."""
    brought: Any = None
    while True:
        try:
            request = step(rulebook, brought)
        except StopIteration as end:
            return end.value, room
        except TooLongError as error:
            return Fault("too_long", f"{_place(error, rules)} runs on without asking anybody, and was stopped."), room
        except Exception as error:  # noqa: BLE001
            return _raised(error, rules), room
        fault = _unusable(request, rulebook, room, rules)
        if fault is not None:
            rulebook.close()
            return fault, room
        if isinstance(request, Request):
            brought, room = yield from _asked(request, room, rules)
        else:
            brought, room = yield from _side_by_side(request, room, step, rules)
            if isinstance(brought, Fault):
                return brought, room


def _unusable(request: Any, rulebook: Generator[Any, Any, Any], room: _Room, rules: CustomRules) -> Fault | None:
    """Why what the rules yielded cannot be done; None where it can."""
    where = _at(rulebook, rules)
    if isinstance(request, Batcher):
        if len(request.branches) > _MOST_BRANCHES:
            return Fault("nonsense", f"{where} runs more than {_MOST_BRANCHES} branches together.")
        for _, branch in request.branches:
            if not isinstance(branch, Request | GeneratorType):
                return Fault("nonsense", f"{where} runs {_named(branch)} together, which is no ask and no generator.")
            if isinstance(branch, GeneratorType) and getgeneratorstate(branch) != "GEN_CREATED":
                return Fault("nonsense", f"{where} runs a generator together that was started already.")
        doubled = _doubled(request)
        if doubled:
            cure = "name the branches, as in together(first=..., second=...)"
            return Fault("nonsense", f"{where} asks {doubled} in two branches of one phase: {cure}.")
        # Each needs one ask at least, or a loop of empty branches would never end.
        if not request.branches or len(request.branches) <= room.asks_left:
            return None if request.branches else Fault("nonsense", f"{where} runs nothing together.")
    elif not isinstance(request, Request):
        return Fault("nonsense", f"{where} yields {_named(request)}; it must yield from an ask, or from together(...).")
    elif room.asks_left > 0:
        taken = next((row for row in room.said if len(row) >= _SHORTEST_QUOTE and row in request.instruction), None)
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


def _doubled(request: Batcher) -> str:
    seen: set[tuple[str, str, str]] = set()
    for name, branch in request.branches:
        if isinstance(branch, Request):
            key = (name, branch.phase, branch.seat)
            if key in seen:
                return str(branch.seat)
            seen.add(key)
    return ""


def _asked(request: Request, room: _Room, rules: CustomRules) -> Rulebook[tuple[Answer, _Room]]:
    """Put one ask; its answer is heard by whom it is for."""
    seat, phase = request.seat, Phase(request.phase)
    seen = room.transcript.seen_by(seat)
    form = CustomTurnSpec(request.kinds, request.instruction, request.about or (seen[-1].text if seen else ""))
    wanted = "\n".join(f"- {name}: {kind.words}" for name, kind in request.kinds)
    values = {"seat": seat.upper(), "instruction": request.instruction, "wanted": wanted}
    quotes = {"about": request.about} if request.about.strip() else {}
    turn = yield from ask(
        seat,
        phase,
        returns=form,
        task=Task("ask-about" if quotes else "ask", values, quotes),
        sees=seen,
        limits=rules.answer,
    )
    room = replace(room, asks_left=room.asks_left - 1, used=room.used + 1)
    if not isinstance(turn, CustomTurn):
        judged = room.judged and seat != JUDGE
        silent = dict.fromkeys(name for name, _ in request.kinds)
        return Answer(seat, silent, turn.detail or turn.reason or "silent"), replace(room, judged=judged)
    channel, transcript = _channel(request, room.transcript)
    transcript = transcript.post(Message(seat, phase, turn.text(), channel))
    return Answer(seat, dict(turn.values)), replace(
        room, transcript=transcript, said=(*room.said, *texts_of(turn.values))
    )


def _channel(request: Request, transcript: Transcript) -> tuple[Channel, Transcript]:
    """Where an answer is posted, with the rights of those who hear it."""
    if request.only_for is None:
        return PUBLIC, transcript
    hearers = frozenset({request.seat, *request.only_for})
    channel = Channel(f"only_{'_'.join(sorted(hearers))}")
    return channel, replace(transcript, readers=_joined(transcript.readers, ((channel, hearers),)))


def _side_by_side(
    request: Batcher, room: _Room, step: Step, rules: CustomRules
) -> Rulebook[tuple[tuple[Any, ...] | Fault, _Room]]:
    """Run branches that do not hear each other, each with its share of the asks that are left."""
    share = room.asks_left // len(request.branches)
    own = replace(room, asks_left=share, used=0)
    runs = [(name, _branch(branch, own, step, rules)) for name, branch in request.branches]
    plain = [run for name, run in runs if not name]
    held = yield from together(*plain, **{name: run for name, run in runs if name})
    rooms = [row for _, row in held]
    fault = next((result for result, _ in held if isinstance(result, Fault)), None)
    return fault or tuple(result for result, _ in held), room.after(*rooms)


def _branch(branch: Any, room: _Room, step: Step, rules: CustomRules) -> Rulebook[Held]:
    if isinstance(branch, Request):
        return _asked(branch, room, rules)
    return _strand(branch, room, step, rules)


def _verdict(rules: CustomRules, result: Any, room: _Room) -> CustomVerdict:
    if isinstance(result, Fault):
        return CustomVerdict(rules, {}, room.used, judged=room.judged, stopped=result)
    told = {"reading": result} if isinstance(result, str) else {} if result is None else result
    if not isinstance(told, Mapping) or not all(isinstance(key, str) for key in told) or not _is_json(told):
        sentence = f"{rules.where}: {rules.function} returns {_named(result)}; it must return a dict of plain values."
        return CustomVerdict(rules, {}, room.used, judged=room.judged, stopped=Fault("nonsense", sentence))
    return CustomVerdict(rules, told, room.used, judged=room.judged)


def _is_json(value: Any, depth: int = 0) -> bool:
    """Whether ``value`` can stand in a record: plain values, not nested without end."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, Mapping):
        rows = value.items()
        return len(rows) <= _MOST_RESULT and all(isinstance(key, str) and _is_json(row, depth + 1) for key, row in rows)
    if isinstance(value, list | tuple):
        return len(value) <= _MOST_RESULT and all(_is_json(row, depth + 1) for row in value)
    if isinstance(value, float):
        return value - value == 0  # neither infinite nor no number
    return value is None or isinstance(value, bool | int | str)


def _at(rulebook: Generator[Any, Any, Any], rules: CustomRules) -> str:
    """Where the rules stand: the innermost generator of the file that waits."""
    line = 0
    inner: Any = rulebook
    while inner is not None:
        frame = getattr(inner, "gi_frame", None)
        if frame is not None and frame.f_code.co_filename == rules.file:
            line = frame.f_lineno
        inner = getattr(inner, "gi_yieldfrom", None)
    return f"{rules.where}, line {line}" if line else rules.where


def _raised(error: Exception, rules: CustomRules) -> Fault:
    """An exception of the rules, with the last line of the file that it came through."""
    where = _place(error, rules)
    told = " ".join(str(error).split())[:300]
    return Fault("raised", f"{where}: {type(error).__name__}{f': {told}' if told else ''}.")


def _place(error: Exception, rules: CustomRules) -> str:
    """The last line of the file that an exception came through."""
    lines = [number for file, number in _passed(error) if file == rules.file]
    return f"{rules.where}, line {lines[-1]}" if lines else rules.where


def _passed(error: Exception) -> Iterator[tuple[str, int]]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next


def _named(value: object) -> str:
    kind = type(value).__name__
    return f"a {kind}" if kind[:1] not in "aeiou" else f"an {kind}"
