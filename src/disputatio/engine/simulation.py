"""Simulate a debate with made-up answers and count what each call would send and receive.

Rules, turns and checks of answers are real. Calls and tools are not, and nothing is recorded. For the history in a
prompt only the sizes are computed, once for each message. So the time grows with the number of turns, although the
prompts together grow with its square.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from math import ceil
from random import Random
from time import thread_time
from typing import Any, TypeVar

from disputatio.engine.debate_run import Plan
from disputatio.engine.seat_assignments import ModelSeat
from disputatio.errors import InvalidInputError
from disputatio.formats.turns.schema import beginnings_in
from disputatio.kernel import Abstention, Ask, AskPath, Driver, JsonObject, Message, Messages, Seat
from disputatio.ledger.budget import MESSAGE_OVERHEAD, TYPICAL_BYTES_PER_TOKEN
from disputatio.ledger.ledger import call_size
from disputatio.participants.answers import SchemaChecks
from disputatio.participants.call import Call, Reply, Segment, Usage
from disputatio.participants.human import Person
from disputatio.participants.length_profiles import LengthProfile
from disputatio.participants.turn_taking import Await, Consult, ModelTurn, Send, TurnResult, TurnTaking
from disputatio.prompts.compose import DebatePrompts, RenderMessage, compose_shared, compose_task
from disputatio.record.text import canonical
from disputatio.tools.protocol import ToolLimits, ToolResult
from disputatio.tools.tool_choice import CHOICE_SPEC

MOST_TURNS = 2_000
"""Turns of the longest simulated debate. They take about a second of CPU."""
LONGEST_S = 5.0
"""CPU seconds that a simulation may take. A user's own rules may compute for long between two turns."""

T = TypeVar("T")
_YIELD_EVERY = 16
"""Turns after which other tasks of the event loop may run."""
_CHECKS = SchemaChecks()


class TooLongError(InvalidInputError):
    """The debate is too long for an estimate; ``bound`` is the limit it exceeds."""

    def __init__(self, bound: str) -> None:
        super().__init__(
            f"This debate is too long for an estimate: it may take more than {bound}.",
            "Run it without one, under a ceiling such as --budget-tokens N, or ask for fewer seats or rounds.",
        )


@dataclass(frozen=True, slots=True)
class SimulatedCall:
    """One call of a simulation.

    Attributes:
        seat: the seat that makes it.
        phase: the phase of its turn.
        input_tokens: tokens of its prompt and schema.
        output_tokens: tokens of its answer, without reasoning.
        said_bytes: bytes of the prompt that repeat made-up answers.
    """

    seat: str
    phase: str
    input_tokens: int
    output_tokens: int
    said_bytes: int


@dataclass(frozen=True, slots=True)
class LaidOutCall:
    """The layout of the prompt of a simulated call, in tokens.

    Attributes:
        seat: the seat that makes it.
        wave: a number; calls of one wave are sent in parallel.
        shared: the prompt before the task, as pieces (a hash of the text, its tokens).
        task: the tokens after them.
        call: the call; its segments contain no history.
        output_tokens: the tokens of its answer, without reasoning.
    """

    seat: str
    wave: int
    shared: Sequence[tuple[int, int]]
    task: int
    call: Call
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _SizedHistory(Segment):
    """The history in a prompt as a segment without text whose sizes are known."""

    messages: int
    size: int
    made_up: int
    pieces: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class _SizedPrompts(DebatePrompts):
    """Prompts whose history is counted and not composed."""

    made_up: MadeUpTexts
    lays_out: bool = False
    shared: dict[Seat, Segment] = field(default_factory=dict)

    def whole(self, ask: Ask) -> tuple[Segment, ...]:
        shared = self.shared.get(ask.seat)
        if shared is None:
            shared = self.shared[ask.seat] = compose_shared(self.book, self.context, ask.seat)
        task = compose_task(self.book, self.context, ask)
        return (shared, self._history(ask.messages), task) if ask.messages else (shared, task)

    def _history(self, messages: Sequence[Message]) -> _SizedHistory:
        size, made_up = sum(self._each(self._size, messages)), sum(self._each(self._made_up_size, messages))
        pieces = self._each(self._piece, messages) if self.lays_out else ()
        return _SizedHistory("user", "", messages=len(messages), size=size, made_up=made_up, pieces=pieces)

    @staticmethod
    def _each(measure: Callable[[Message], T], messages: Sequence[Message]) -> list[T]:
        return messages.each(measure) if isinstance(messages, Messages) else [*map(measure, messages)]

    def _piece(self, message: Message) -> tuple[int, int]:
        """The hash of a message, and its tokens."""
        return hash(message), int(self._size(message) / TYPICAL_BYTES_PER_TOKEN)

    def _size(self, message: Message) -> int:
        """The bytes of a message in a prompt."""
        return len(RenderMessage(self.book)(message).text.encode("utf-8", "replace"))

    def _made_up_size(self, message: Message) -> int:
        """How many of those bytes are made up."""
        return self.made_up.bytes_in(message.text)


class Simulation:
    """One simulated debate.

    Args:
        plan: what is debated, how, and by whom. Its tools are those of a preview.
        profiles: how the model in each seat answers. Other occupants answer for themselves, without calls.
        number: distinguishes simulations with random choices.
        lays_out: whether to fill ``laid_out``.
    """

    def __init__(
        self, plan: Plan, profiles: Mapping[str, LengthProfile], number: int = 0, *, lays_out: bool = False
    ) -> None:
        self.plan, self._made_up = plan, MadeUpTexts()
        answers = {row: TypicalAnswers(row, number, self._made_up) for row in dict.fromkeys(profiles.values())}
        self._answers = {seat: answers[row] for seat, row in profiles.items()}
        self._tool_calls = dict.fromkeys(profiles, 0)
        self._prompts = _SizedPrompts(plan.book, plan.prompt_context, self._made_up, lays_out)
        self._wave = 0
        self.calls: list[SimulatedCall] = []
        self.laid_out: list[LaidOutCall] = []

    async def run(self) -> None:
        """Simulate to the end and fill ``calls`` in order.

        Raises:
            TooLongError: it takes more than ``MOST_TURNS`` turns, or more than ``LONGEST_S`` to compute.
        """
        started, elapsed, turns = thread_time(), 0.0, 0
        driver = Driver(self.plan.format.rulebook(self.plan.rules, self.plan.context))
        while not driver.finished:
            self._wave += 1
            for path, ask in driver.open_asks.items():
                turns += 1
                if turns > MOST_TURNS:
                    raise TooLongError(f"{MOST_TURNS:,} turns")
                result = await self._take_turn(ask, self._turn_taking(path, ask))
                driver.answer(path, result.turn if isinstance(result, TurnResult) else result)
                if elapsed + thread_time() - started > LONGEST_S:
                    raise TooLongError(f"{LONGEST_S:g} s to compute")
                if not turns % _YIELD_EVERY:
                    elapsed += thread_time() - started
                    await asyncio.sleep(0)
                    # Do not count the CPU time of other tasks.
                    started = thread_time()

    def _turn_taking(self, path: AskPath, ask: Ask) -> TurnTaking:
        occupant, tools = self.plan.assignments[ask.seat], self.plan.tools
        assert not isinstance(occupant, Person)  # noqa: S101  (a simulation replaces a person by a model)
        if not isinstance(occupant, ModelSeat):
            return occupant.take(path, ask, _CHECKS)
        return ModelTurn(
            path,
            ask,
            seatings=occupant.seatings,
            modes=occupant.modes,
            checks=_CHECKS,
            prompts=self._prompts,
            seed=self.plan.seed,
            tools=tools.tools_for(ask.seat) if tools else (),
            tool_limits=tools.limits if tools else ToolLimits(),
        ).take()

    async def _take_turn(self, ask: Ask, taking: TurnTaking) -> TurnResult | Abstention:
        """Carry out the steps of a turn, and return its result."""
        outcome: Reply | ToolResult | None = None
        while True:
            try:
                step = taking.send(outcome)
            except StopIteration as end:
                result: TurnResult | Abstention = end.value
                return result
            outcome = None
            if isinstance(step, Send):
                outcome = self._answer(ask, step.call)
            elif isinstance(step, Consult):
                assert self.plan.tools is not None  # noqa: S101  (a seat without tools asks for none)
                outcome = await self.plan.tools.call(step.request.tool, step.request.arguments)
            elif isinstance(step, Await):
                outcome = await step.work

    def _answer(self, ask: Ask, call: Call) -> Reply:
        size, said = self._size(call)
        if call.schema_name == CHOICE_SPEC:
            answer = self._choice(ask.seat)
        else:
            answer = self._answers[ask.seat].answer(call.schema or {"type": "string"})
        text = canonical(answer)
        output = ceil(len(text.encode()) / TYPICAL_BYTES_PER_TOKEN)
        self.calls.append(SimulatedCall(ask.seat, ask.phase, size, output, said))
        if self._prompts.lays_out:
            self.laid_out.append(self._lay_out(ask.seat, call, output))
        return Reply(text, None, Usage(size, output, 0))

    def _lay_out(self, seat: Seat, call: Call, output: int) -> LaidOutCall:
        """The layout of ``call``: the rules, the history and the task."""
        rules, *rest = call.segments
        shared, task = [(hash(rules.text), _tokens(rules))], 0
        for segment in rest:
            if isinstance(segment, _SizedHistory):
                shared += segment.pieces
            else:
                task += _tokens(segment)
        return LaidOutCall(seat, self._wave, shared, task, call, output)

    def _size(self, call: Call) -> tuple[int, int]:
        """Tokens of a call's prompt and schema, and how many of its bytes repeat made-up answers."""
        size, messages = call_size(call)
        said = 0
        for segment in call.segments:
            if isinstance(segment, _SizedHistory):
                # Two bytes for the blank line between segments, as in ``call_size``.
                size += segment.size + 2 * (segment.messages - 1)
                said += segment.made_up
            else:
                said += self._made_up.bytes_in(segment.text)
        return ceil(size / TYPICAL_BYTES_PER_TOKEN) + MESSAGE_OVERHEAD // 4 * messages, said

    def _choice(self, seat: Seat) -> JsonObject:
        """The most tool calls allowed, each different."""
        assert self.plan.tools is not None  # noqa: S101  (a seat without tools chooses none)
        first = self._tool_calls[seat]
        self._tool_calls[seat] += self.plan.tools.limits.calls
        numbers = range(first, self._tool_calls[seat])
        return {"calls": [{"tool": "typical", "arguments": {"query": f"typical {n}"}} for n in numbers]}


def _tokens(segment: Segment) -> int:
    return int(len(segment.text.encode("utf-8", "replace")) / TYPICAL_BYTES_PER_TOKEN)


_OPEN = "It stays open because"
_CONTESTED = {"no": "yes", "strong": "good", "unresolved": "unresolved", _OPEN: _OPEN}
"""The choice that keeps a debate going, by the last of the words to choose from."""
_SETTLED = {"no": "no", "yes": "no", "unresolved": "resolved_for_proposition"}
_NUMBER = re.compile("(?<![0-9])[0-9]++(?= )")
_FEWEST_CHARACTERS = 8
_DEFAULT_CHARACTERS = 400
"""Characters of a text whose schema sets no limit."""
_SYLLABLES = ("ba", "do", "fe", "gi", "ka", "lu", "mo", "ne", "pi", "ra", "so", "tu", "va", "wen", "zor")


class MadeUpTexts:
    """The made-up texts of one simulation. Each contains a unique number, by which it is found again."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, int]] = []

    @property
    def next_number(self) -> int:
        """The number of the next text."""
        return len(self._texts) + 1

    def add(self, text: str, place: int) -> None:
        """Add the text with ``next_number``, which is at offset ``place`` in it."""
        self._texts.append((text, place))

    def bytes_in(self, whole: str) -> int:
        """How many bytes of ``whole`` repeat earlier made-up texts, which are ASCII. Takes one pass over ``whole``."""
        size = 0
        for match in _NUMBER.finditer(whole):
            number = int(match[0])
            if 0 < number <= len(self._texts):
                text, place = self._texts[number - 1]
                if place <= match.start() and whole.startswith(text, match.start() - place):
                    size += len(text)
        return size


class TypicalAnswers:
    """Writes the answers of one seat; no text occurs twice.

    Args:
        profile: how the seat answers.
        number: distinguishes simulations with random choices.
        made_up: the texts of the simulation, shared with its other seats.
    """

    def __init__(self, profile: LengthProfile, number: int = 0, made_up: MadeUpTexts | None = None) -> None:
        self._profile = profile
        self._made_up = made_up or MadeUpTexts()
        self._choices: dict[str, Iterator[int]] = {}
        # Not secret; it only has to be reproducible.
        self._random = Random(f"course {number}")  # noqa: S311

    def answer(self, schema: Mapping[str, Any], field: str = "") -> Any:
        """An answer under ``schema``, as the forms of this package write schemas.

        Raises:
            LookupError, TypeError, ValueError: a schema of another kind.
        """
        if "enum" in schema:
            return self._choice(schema["enum"])
        match schema["type"]:
            case "object":
                return {name: self.answer(row, name) for name, row in schema["properties"].items()}
            case "array":
                return [self.answer(schema["items"], field) for _ in range(self._items(schema))]
            case "integer":
                return self._whole(schema["minimum"], schema["maximum"])
            case "number":
                return (schema["minimum"] + schema["maximum"]) / 2
        return self._text(schema, field)

    def _choice(self, words: Sequence[Any]) -> Any:
        """Choose as the profile says: at random, to end the debate, or in turn, so that something always stays open."""
        if self._profile.draws:
            return self._random.choice(words)
        if self._profile.settles:
            settled = _SETTLED.get(words[-1])
            return settled if settled in words else words[0]
        if _CONTESTED.get(words[-1]) in words:
            return _CONTESTED[words[-1]]
        return words[next(self._choices.setdefault(repr(words), count())) % len(words)]

    def _items(self, schema: Mapping[str, Any]) -> int:
        fewest: int = schema.get("minItems", 0)
        more = self._profile.more_items
        most: int = schema.get("maxItems", fewest + 2 * more)
        if not more:
            return fewest
        # Symmetric, so that the mean is that of the profile.
        more = self._random.randint(0, 2 * more) if self._profile.draws else more
        return min(max(fewest, 1) + more, most)

    def _whole(self, least: int, most: int) -> int:
        return self._random.randint(least, most) if self._profile.draws else (least + most + 1) // 2

    def _text(self, schema: Mapping[str, Any], field: str) -> str:
        least, most = schema.get("minLength", 0), schema.get("maxLength", _DEFAULT_CHARACTERS)
        length = min(max(least, self._profile.length(field, most), _FEWEST_CHARACTERS), most)
        beginning = beginnings_in(schema.get("pattern", ""))
        # A sentence of a small model: one of its beginnings, a minimum of characters, and a full stop.
        first, needed = (f"{self._choice(beginning.words)} ", beginning.minimum) if beginning else ("", 0)
        length = max(length, len(first) + needed + 1) - bool(beginning)
        text = (first + self._words(length))[:length].strip().ljust(least, ".")
        text = f"{text.ljust(len(first) + needed, 'x')}{beginning.end}" if beginning else text
        self._made_up.add(text, len(first))
        return text

    def _words(self, length: int) -> str:
        """Made-up words that occur in no other text, ``length`` characters or slightly more.

        The number and the denial make a criticism count; without the denial the seat would be asked again.
        """
        number = self._made_up.next_number
        head = f"{number} not " if self._profile.objects else f"{number} "
        line = _line(number)
        return head + line * (length // len(line) + 1)


# All simulations of a process number their texts from one.
@lru_cache(maxsize=16_384)
def _line(number: int) -> str:
    """Forty made-up words of one to four syllables, different for every number."""
    random = Random(number)  # noqa: S311
    bits, share, syllables = random.getrandbits, random.random, len(_SYLLABLES)
    line = []
    for _ in range(40):
        # Draws as ``randint(1, 4)`` and ``choices`` do, in a third of the time.
        more = bits(3)
        while more >= 4:
            more = bits(3)
        line += [_SYLLABLES[int(share() * syllables)] for _ in range(more + 1)]
        line.append(" ")
    return "".join(line)
