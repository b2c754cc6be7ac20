"""The single answer: one seat answers the question, once or several times, and nobody discusses anything.

The rules
    1. The answerer is asked for one of the options, or for a number where there are none, with its reasons first.
    2. Asked several times, it never sees an earlier answer: each is a sample of its own, numbered from ``first``.
       Sixteen are asked for at once at most, since providers turn away hundreds of calls in one moment.
    3. The answer given most often wins (self-consistency: Wang et al. 2023, "Self-Consistency Improves Chain of Thought
       Reasoning in Language Models"). Of answers that are level the one that was given first wins, so that an even
       number of samples is not held against this baseline. Samples without an answer do not vote.

It is here as the baseline that debates are compared with, once at the cost of one answer and once at theirs.
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
    """What may be set about the rules. Without ``options`` the answer is a number."""

    options: tuple[str, ...] = ()
    samples: int = 1
    first: int = 1
    answering: Limits = field(default=ONCE)


@dataclass(frozen=True, slots=True)
class SingleVerdict:
    """Every sample's answer, None where it abstained, and what they come to."""

    answers: tuple[GivenAnswer | None, ...]
    first: int

    def as_json(self) -> JsonObject:
        """The verdict as the record keeps it; the reasons are in the turns."""
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
    """The answer given most often; of those that are level the one given first; None where none was given."""
    counts = Counter(row for row in answers if row is not None)
    # A counter keeps the order of first appearance, and max takes the first of several.
    return max(counts, key=lambda row: counts[row]) if counts else None


def single(rules: SingleRules, _context: DebateContext) -> Rulebook[SingleVerdict]:
    """One answer, or several that know nothing of each other."""
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
    """What is asked: what the index is called in the text, the indices it may be, and the years that are offered."""

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
        """The guess as the record keeps it; right or wrong is for whoever knows."""
        row = self.guess
        guess: JsonObject | None = None
        if row is not None:
            guess = {"index": row.index, "year": row.year, "month": row.month, "confidence": row.confidence}
        return {"format": "recognition", "judged": row is not None, "guess": guess}


def recognition(rules: RecognitionRules, _context: DebateContext) -> Rulebook[RecognitionVerdict]:
    """One guess."""
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
