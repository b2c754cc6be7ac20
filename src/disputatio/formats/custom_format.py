"""The building blocks of a custom format.

A format is one generator function. Its parameters name the seats; a first parameter ``motion`` receives the question.
Parameters after a ``*`` are settings with defaults. Each seat is a ``Speaker``. To ask it, ``yield from`` its ``ask``,
which returns an ``Answer``::

    def rules(motion, pro, con, judge, *, words=80):
        case, reply = yield from together(
            pro.ask("Argue for the motion.", speech=text(words)),
            con.ask("Argue against the motion.", speech=text(words)),
        )
        ruling = yield from judge.ask("Who argued better?", why=text(60), winner=choice("pro", "con", "draw"))
        return {"winner": ruling.winner, "reading": ruling.why}

Everybody hears everything said before, except seats that are asked together. Nothing here calls a model. Requests are
values, and the engine decides who is called, what is paid and what is recorded.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.schema import CHARACTERS_PER_WORD
from disputatio.kernel import Json, JsonObject, Seat, Violation
from disputatio.motion import count_words

CustomRequest: TypeAlias = "Request | Batcher"
CustomRulebook: TypeAlias = Generator[Any, Any, Any]
_LONGEST_TEXT = 6_000
_RATINGS = ("very weak", "weak", "fair", "good", "strong")
RESERVED_NAMES = frozenset({"seat", "given", "silence", "phase", "about", "only_for"})
"""Illegal names of answers: ``Answer`` or ``ask`` already uses them."""


class AnswerKind(Protocol):
    """What one named answer of an ask may be."""

    @property
    def schema(self) -> JsonObject:
        """JSON Schema of the answer."""

    @property
    def small_schema(self) -> JsonObject:
        """The schema for a small model, which gives one answer at a time."""

    @property
    def words(self) -> str:
        """What is wanted, for a prompt: ``a text of at most 80 words``."""

    def expand_small(self, given: Json) -> Json:
        """Convert a small model's answer to what ``schema`` requires."""

    def violations(self, name: str, given: Json) -> Iterable[Violation]:
        """Return the broken rules that a schema cannot express."""


def _require(fits: bool, sentence: str) -> None:  # noqa: FBT001
    if not fits:
        raise ValueError(sentence)


def _has_type(value: object, kind: type) -> bool:
    """Whether a user's file gave what the signature asks for; nothing type-checks such a file."""
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


@dataclass(frozen=True, slots=True)
class Text:
    """A text of so many words at most; see ``text``."""

    limit: int

    @property
    def schema(self) -> JsonObject:
        """A string."""
        return schema.text(2, min(self.limit * CHARACTERS_PER_WORD, _LONGEST_TEXT))

    @property
    def small_schema(self) -> JsonObject:
        """A shorter one."""
        return schema.text(15, min(max(self.limit * 6, 80), 400))

    @property
    def words(self) -> str:
        """Its limit."""
        return f"a text of at most {self.limit} words"

    def expand_small(self, given: Json) -> Json:
        """The same."""
        return given

    def violations(self, name: str, given: Json) -> Iterable[Violation]:
        """More words than the limit."""
        found = count_words(str(given))
        if found > self.limit:
            yield Violation("word_limit", f"{name} has {found} words and {self.limit} are allowed", name)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several words; see ``choice``."""

    options: tuple[str, ...]

    @property
    def schema(self) -> JsonObject:
        """One of them."""
        return schema.one_of(self.options)

    @property
    def small_schema(self) -> JsonObject:
        """The same."""
        return self.schema

    @property
    def words(self) -> str:
        """The words there are."""
        return f"one of: {', '.join(self.options)}"

    def expand_small(self, given: Json) -> Json:
        """The same."""
        return given

    def violations(self, name: str, given: Json) -> Iterable[Violation]:  # noqa: ARG002
        """None: the schema carries it."""
        return ()


@dataclass(frozen=True, slots=True)
class Score:
    """A whole number; see ``score``."""

    lowest: int
    highest: int

    @property
    def schema(self) -> JsonObject:
        """An integer in the range."""
        return schema.whole(self.lowest, self.highest)

    @property
    def small_schema(self) -> JsonObject:
        """A word: asked for numbers one after the other, a small model counts."""
        return schema.one_of(_RATINGS)

    @property
    def words(self) -> str:
        """The range."""
        return f"a whole number from {self.lowest} to {self.highest}, the highest being the best"

    def expand_small(self, given: Json) -> Json:
        """The middle of the fifth of the range that the word stands for."""
        place = _RATINGS.index(str(given))
        return self.lowest + (self.highest - self.lowest) * (2 * place + 1) // 10

    def violations(self, name: str, given: Json) -> Iterable[Violation]:  # noqa: ARG002
        """None: the schema carries it."""
        return ()


@dataclass(frozen=True, slots=True)
class Several:
    """A list; see ``several``."""

    item: AnswerKind
    least: int
    most: int

    @property
    def schema(self) -> JsonObject:
        """A list of so many."""
        return schema.several(self.item.schema, self.least, self.most)

    @property
    def small_schema(self) -> JsonObject:
        """As few as there may be, at least one."""
        number = max(self.least, 1)
        return schema.several(self.item.small_schema, number, number)

    @property
    def words(self) -> str:
        """How many of what."""
        return f"a list of {self.least} to {self.most}, each {self.item.words}"

    def expand_small(self, given: Json) -> Json:
        """Each as the whole form has it."""
        return [self.item.expand_small(row) for row in cast("list[Json]", given)]

    def violations(self, name: str, given: Json) -> Iterable[Violation]:
        """Those of each."""
        for row in cast("list[Json]", given):
            yield from self.item.violations(name, row)


@dataclass(frozen=True, slots=True)
class Each:
    """An answer for each of several keys; see ``each``."""

    keys: tuple[str, ...]
    item: AnswerKind

    @property
    def schema(self) -> JsonObject:
        """An object that requires every key."""
        return schema.record(dict.fromkeys(self.keys, self.item.schema))

    @property
    def small_schema(self) -> JsonObject:
        """The same, shorter."""
        return schema.record(dict.fromkeys(self.keys, self.item.small_schema))

    @property
    def words(self) -> str:
        """The keys and what each wants."""
        return f"for each of {', '.join(self.keys)}: {self.item.words}"

    def expand_small(self, given: Json) -> Json:
        """Each as the whole form has it."""
        return {key: self.item.expand_small(row) for key, row in cast("dict[str, Json]", given).items()}

    def violations(self, name: str, given: Json) -> Iterable[Violation]:
        """Those of each."""
        for key, row in cast("dict[str, Json]", given).items():
            yield from self.item.violations(f"{name}, {key}", row)


def text(words: int = 150) -> Text:
    """A text of at most ``words`` words, 1 to 2,000. A longer one is asked for again once, then accepted with a
    violation.
    """
    _require(_has_type(words, int) and 1 <= words <= 2_000, "text takes a number of words from 1 to 2000")
    return Text(words)


def choice(*options: str) -> Choice:
    """One of two or more ``options``."""
    words = [row for row in options if _has_type(row, str) and row.strip()]
    _require(len(words) == len(options) and len(set(words)) >= 2, "choice takes two or more different words")
    _require(len(set(words)) == len(words), "choice takes each word once")
    return Choice(tuple(words))


def score(lowest: int = 1, highest: int = 10) -> Score:
    """A whole number from ``lowest`` to ``highest``, which is the best."""
    _require(_has_type(lowest, int) and _has_type(highest, int) and lowest < highest, "score takes two rising numbers")
    return Score(lowest, highest)


def several(item: AnswerKind, least: int = 1, most: int = 3) -> Several:
    """A list of ``least`` to ``most`` of ``item``."""
    _require(0 <= least <= most <= 50 and most > 0, "several takes a least and a most number, up to 50")
    return Several(item, least, most)


def each(keys: Iterable[str], item: AnswerKind) -> Each:
    """An ``item`` for each of ``keys``; all are required."""
    names = tuple(keys)
    _require(0 < len(names) == len(set(names)) <= 50, "each takes up to 50 different keys")
    _require(all(_has_type(row, str) and row for row in names), "each takes keys that are words")
    return Each(names, item)


@dataclass(frozen=True)
class Answer:
    """The answer of a seat, by the names of the ask: ``answer.speech``. All are None where it was silent.

    Attributes:
        seat: who was asked.
        silence: why there is no answer; empty where there is one. A silent answer is false: ``if not answer: ...``.
    """

    seat: str
    values: Mapping[str, Any] = field(default_factory=dict)
    silence: str = ""

    @property
    def given(self) -> bool:
        """Whether there is an answer."""
        return not self.silence

    def __bool__(self) -> bool:
        return self.given

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.values:
            known = ", ".join(self.values) or "nothing"
            raise AttributeError(f"{self.seat} was not asked for {name}; it was asked for {known}")
        return self.values[name]

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


@dataclass(frozen=True, slots=True)
class Request:
    """An ask that has not run; ``yield from`` runs it and returns the ``Answer``."""

    seat: Seat
    instruction: str
    kinds: tuple[tuple[str, AnswerKind], ...]
    phase: str
    about: str
    only_for: tuple[Seat, ...] | None

    def __iter__(self) -> Generator[Any, Any, Answer]:
        answer: Answer = yield self
        return answer

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name} is not known yet: the ask was not put; write answer = yield from ...ask(...)")


@dataclass(frozen=True, slots=True)
class Batcher:
    """Asks and rulebooks that run side by side."""

    branches: tuple[tuple[str, Any], ...]

    def __iter__(self) -> Generator[Any, Any, tuple[Any, ...]]:
        results: tuple[Any, ...] = yield self
        return results


def together(*branches: Any, **named: Any) -> Batcher:
    """Run several asks in parallel; none hears another. Returns their answers in the given order, named ones last.

    A branch may also be a generator of your own, which asks one after the other. Where two branches ask the same seat,
    name them: ``together(cost=examine(pro, "cost"), risk=examine(pro, "risk"))``.
    """
    return Batcher((*(("", row) for row in branches), *named.items()))


@dataclass(frozen=True, slots=True)
class Speaker:
    """A seat that can be asked. ``str`` of it is its name."""

    name: Seat

    def __str__(self) -> str:
        return self.name

    def ask(
        self,
        instruction: str,
        *,
        phase: str = "debate",
        about: object = "",
        only_for: Iterable[Speaker] | None = None,
        **answers: AnswerKind,
    ) -> Request:
        """Ask for one turn.

        Args:
            instruction: what the seat shall do, in your own words. Put words of another seat into ``about`` instead,
                where they can only be data.
            phase: the name of this part of the debate, in the record and on every surface.
            about: words of a seat that the instruction is about, such as a question to answer.
            only_for: who hears the answer; everybody by default. The speaker always does.
            answers: what to ask for, by name: ``speech=text(80), vote=choice("yes", "no")``. By default one text, as
                ``answer.text``.

        Raises:
            ValueError: an argument is illegal.
        """
        _require(_has_type(instruction, str) and bool(instruction.strip()), "ask takes an instruction in words")
        _require(len(instruction) <= _LONGEST_TEXT, f"an instruction has at most {_LONGEST_TEXT} characters")
        _require(_is_word(phase), f"a phase is a word of letters, digits, - and _: not {phase!r}")
        for name, kind in answers.items():
            _require(name not in RESERVED_NAMES and not name.startswith("_"), f"an answer cannot be called {name}")
            _require(hasattr(kind, "small_schema"), f"{name} is a text, choice, score, several or each: not {kind!r}")
        kinds = tuple(answers.items()) or (("text", Text(150)),)
        readers = None if only_for is None else tuple(row.name for row in only_for)
        return Request(self.name, instruction.strip(), kinds, phase, _to_text(about), readers)


def _is_word(phase: object) -> bool:
    return isinstance(phase, str) and 0 < len(phase) <= 40 and phase.replace("-", "").replace("_", "").isalnum()


def _to_text(about: object) -> str:
    """Return what an ask is about as text: words, a list of words, or an answer."""
    if isinstance(about, Answer):
        return "\n".join(answer_lines(about.values))
    if isinstance(about, list | tuple):
        return "\n".join(_to_text(row) for row in about)
    return "" if about is None else str(about)


def answer_lines(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield answers as readable lines; a single answer has no name before it."""
    for name, value in values.items():
        plain = _format_value(value)
        yield plain if len(values) == 1 else f"{name.replace('_', ' ')}: {plain}"


def _format_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_format_value(row)}" for key, row in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(map(_format_value, value))
    return str(value)
