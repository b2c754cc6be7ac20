"""The recognition probe: one seat is shown a knowledge base and says which index and which month it is of.

The rules
    1. The seat sees the whole knowledge base as one text and is asked for clues, an index, a year and a month.
    2. It has to guess: not to answer would hide what it remembers.

It is no debate. A backtest puts it beside each date, once as the base is and once without names and dates, so that its
reader can tell argument from memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from disputatio.formats.debate_context import DebateContext
from disputatio.formats.format import Format
from disputatio.formats.single import ANSWERER
from disputatio.formats.turns.recognition import Recognised, RecognitionSpec
from disputatio.kernel import JsonObject, Limits, Phase, Rulebook, Task, ask

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
        returns=RecognitionSpec(rules.asked, rules.indices, years),
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
