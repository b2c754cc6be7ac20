"""Formats of one seat: the single answer and the recognition probe.

The single answer
    1. The seat gives reasons, then one of the options, or a number where there are none.
    2. Samples are independent: none sees another. They are numbered from ``first``. At most sixteen run at once, since
       providers reject hundreds of parallel calls.
    3. The most frequent answer wins (self-consistency: Wang et al. 2023, "Self-Consistency Improves Chain of Thought
       Reasoning in Language Models"). In a tie the earliest answer wins, so an even number of samples is no handicap.
       Samples without an answer do not count.

It is the baseline of debates, at the cost of one answer and at the cost of a debate.

The recognition probe
    The seat reads a whole knowledge base and guesses its index and month, with clues. It must guess: an abstention
    would hide what the model remembers. A backtest runs the probe for each date, with and without names and dates, so
    that its reader can tell argument from memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from disputatio.formats.debate_context import DebateContext
from disputatio.formats.format import Format
from disputatio.formats.turns.answer import AnswerSpec, GivenAnswer, Recognised, RecognitionSpec
from disputatio.kernel import JsonObject, Limits, Phase, Rulebook, Seat, Task, ask, together

ANSWERER = Seat("answerer")
ANSWERING = Phase("answer")
AT_ONCE = 16
ONCE = Limits(max_tokens=1500, temperature=0.2)
SAMPLED = Limits(max_tokens=1500, temperature=0.7)


@dataclass(frozen=True, slots=True)
class SingleRules:
    """The rules of a single answer. Without ``options`` the answer is a number."""

    options: tuple[str, ...] = ()
    samples: int = 1
    first: int = 1
    answering: Limits = field(default=ONCE)


@dataclass(frozen=True, slots=True)
class SingleVerdict:
    """The answer of each sample, None where it abstained."""

    answers: tuple[GivenAnswer | None, ...]
    first: int

    def as_json(self) -> JsonObject:
        """Return the verdict as the record keeps it; the turns hold the reasons."""
        given = [row.answer if row else None for row in self.answers]
        return {
            "format": "single",
            "judged": any(row is not None for row in given),
            "first": self.first,
            "answers": given,
            "confidence": [row.confidence if row else None for row in self.answers],
            "tally": dict(Counter(row for row in given if row is not None)),
            "winner": pick_most_given(given),
        }


def pick_most_given(answers: Sequence[str | None]) -> str | None:
    """Return the most frequent answer, the earliest in a tie; None where there is none."""
    counts = Counter(row for row in answers if row is not None)
    # A Counter keeps the order of first appearance, and max returns the first of several.
    return max(counts, key=lambda row: counts[row]) if counts else None


def single(rules: SingleRules, _context: DebateContext) -> Rulebook[SingleVerdict]:
    """Ask for independent answers."""
    numbers = range(rules.first, rules.first + rules.samples)
    turns: list[object] = []
    for start in numbers[::AT_ONCE]:
        lot = numbers[start - rules.first :][:AT_ONCE]
        turns += yield from together(**{f"sample-{number}": _answer(rules) for number in lot})
    return SingleVerdict(tuple(row if isinstance(row, GivenAnswer) else None for row in turns), rules.first)


def _answer(rules: SingleRules) -> Rulebook[object]:
    task = Task("answer", {"options": ", ".join(rules.options) or "a number"})
    turn = yield from ask(ANSWERER, ANSWERING, spec=AnswerSpec(rules.options), task=task, limits=rules.answering)
    return turn


SINGLE = Format(
    "single",
    "one seat answers, once or several times; the baseline",
    (ANSWERER,),
    SingleRules,
    single,
    frozenset({ANSWERER}),
)


RECOGNISING = Phase("recognising")


@dataclass(frozen=True, slots=True)
class RecognitionRules:
    """What is asked: the index's name in the text, the indices to choose from, and the years to choose from."""

    asked: str = ""
    indices: tuple[str, ...] = ("another",)
    first_year: int = 1990
    last_year: int = 2030
    recognising: Limits = field(default=Limits(max_tokens=900, temperature=0.0))


@dataclass(frozen=True, slots=True)
class RecognitionVerdict:
    """The guess; None where the seat abstained."""

    guess: Recognised | None

    def as_json(self) -> JsonObject:
        """Return the guess as the record keeps it. It does not say whether the guess is right."""
        row = self.guess
        guess: JsonObject | None = None
        if row is not None:
            guess = {"index": row.index, "year": row.year, "month": row.month, "confidence": row.confidence}
        return {"format": "recognition", "judged": row is not None, "guess": guess}


def recognition(rules: RecognitionRules, _context: DebateContext) -> Rulebook[RecognitionVerdict]:
    """Ask for one guess."""
    years = tuple(str(year) for year in range(rules.first_year, rules.last_year + 1))
    values = {
        "asked": rules.asked,
        "indices": ", ".join(rules.indices),
        "first_year": str(rules.first_year),
        "last_year": str(rules.last_year),
    }
    turn = yield from ask(
        ANSWERER,
        RECOGNISING,
        spec=RecognitionSpec(rules.asked, rules.indices, years),
        task=Task("question", values),
        limits=rules.recognising,
    )
    return RecognitionVerdict(turn if isinstance(turn, Recognised) else None)


RECOGNITION = Format(
    "recognition",
    "one seat says which index and month a knowledge base is of; the probe of a backtest",
    (ANSWERER,),
    RecognitionRules,
    recognition,
    frozenset({ANSWERER}),
)
