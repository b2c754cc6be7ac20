"""The judge of a market debate: integers for every argument, its standing, and a synthesis.

The judge sees the whole knowledge base and the status of every figure. Code computes weighted scores, means and the
spread of the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.formats.turns.market_arguments import Challenge, MarketArgument
from disputatio.formats.turns.market_closing import RefinedClaim
from disputatio.formats.turns.market_figures import FigureChecker, WordsFinding, unsupported_words, words_lines
from disputatio.judging.scoring import HIGHEST, LOWEST, Rubric
from disputatio.kernel import JsonObject, Part, Task, Violation

SYNTHESIS = ("bull_case", "bear_case", "key_disagreement", "key_insight")


class MarketStanding(StrEnum):
    """Where an argument ended (market debate protocol, argument trace)."""

    UPHELD = "UPHELD"
    WEAKENED = "WEAKENED"
    REFUTED = "REFUTED"
    UNCERTAIN = "UNCERTAIN"


class MarketExhibit(NamedTuple):
    """One argument as the judge reads it: the argument, the responses, its final version.

    ``computed`` is the standing that follows from the exchange and the check of the figures; ``because`` says why.
    """

    argument: MarketArgument
    drew: tuple[Challenge, ...]
    refined: RefinedClaim | None
    computed: MarketStanding
    because: str


class MarketJudgement(NamedTuple):
    """The judge's finding on one argument. ``scores`` are integers 1 to 10, one for each criterion."""

    argument: str
    scores: dict[str, int]
    standing: MarketStanding
    reason: str


@dataclass(frozen=True, slots=True)
class MarketAdjudication:
    """The judge's whole finding. ``synthesis`` has a text for each of ``SYNTHESIS``."""

    judgements: tuple[MarketJudgement, ...]
    synthesis: dict[str, str]
    words: tuple[WordsFinding, ...] = ()

    def text(self) -> str:
        """The finding as a reader sees it."""
        lines = []
        for row in self.judgements:
            scores = ", ".join(f"{key} {score}" for key, score in row.scores.items())
            lines.append(f"{row.argument}: {row.standing.value}. {row.reason} ({scores})")
        lines += [f"{key.replace('_', ' ').capitalize()}: {text}" for key, text in self.synthesis.items()]
        return "\n".join([unmarked("\n".join(lines)), *words_lines(self.words)])


@dataclass(frozen=True, slots=True)
class MarketJudgingSpec:
    """A finding on each of ``exhibits`` under ``rubric``; the judge's ``checker`` has the whole base."""

    exhibits: tuple[MarketExhibit, ...]
    rubric: Rubric
    checker: FigureChecker
    name: str = "market_judging"

    @property
    def schema(self) -> JsonObject:
        """Requires every argument with an integer for every criterion, then the synthesis."""
        finding = schema.record(
            {
                "reason": schema.prose(10, 50),
                **{row.key: schema.whole(LOWEST, HIGHEST) for row in self.rubric.criteria},
                "standing": schema.one_of([row.value for row in MarketStanding]),
            }
        )
        findings = {row.argument.id: finding for row in self.exhibits}
        synthesis = {key: schema.prose(20, 100) for key in SYNTHESIS}
        return schema.record({"arguments": schema.record(findings), **synthesis})

    def read(self, content: JsonObject) -> MarketAdjudication:
        """The finding, in the order of the exhibits."""
        rows = cast("dict[str, dict[str, Any]]", content["arguments"])
        judgements = tuple(
            MarketJudgement(
                row.argument.id,
                {key: int(rows[row.argument.id][key]) for key in (each.key for each in self.rubric.criteria)},
                MarketStanding(rows[row.argument.id]["standing"]),
                rows[row.argument.id]["reason"],
            )
            for row in self.exhibits
        )
        synthesis = {key: cast("str", content[key]) for key in SYNTHESIS}
        return MarketAdjudication(judgements, synthesis, self._words(synthesis))

    def _words(self, synthesis: dict[str, str]) -> tuple[WordsFinding, ...]:
        """Numbers of the synthesis that nothing in the base bears out."""
        figures = [figure for row in self.exhibits for figure in row.argument.figures]
        figures += [figure for row in self.exhibits for each in row.drew for figure in each.figures]
        return tuple(found for text in synthesis.values() for found in self.checker.words(text, figures))

    def violations(self, turn: MarketAdjudication) -> tuple[Violation, ...]:
        """Numbers in the synthesis that nothing bears out."""
        return tuple(unsupported_words(turn.words, "the synthesis", "overall"))

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One argument at a time, then the synthesis."""
        words = schema.one_of(_WORDS)
        if len(done) < len(self.exhibits):
            exhibit = self.exhibits[len(done)]
            keys = {
                "verdict": schema.begun_with(_VERDICTS, 20, 260),
                **{row.key: words for row in self.rubric.criteria},
            }
            quotes = {
                "argument": "\n".join([exhibit.argument.claim, *(row.said for row in exhibit.argument.figures)]),
                "responses": "\n".join(row.reasoning for row in exhibit.drew),
            }
            task = Task(
                "market-judging-argument", {"criteria": self.criteria()}, {k: v for k, v in quotes.items() if v}
            )
            return Part(exhibit.argument.id, schema.record(keys), task, 240, temperature=0.7)
        if len(done) > len(self.exhibits):
            return None
        sides = {
            f"{side}s": "\n".join(row.argument.claim for row in self.exhibits if row.argument.seat.endswith(side))
            for side in ("bull", "bear")
        }
        keys = {key: schema.text(30, 280) for key in SYNTHESIS}
        task = Task("market-judging-overall", {}, {key: text or "nothing" for key, text in sides.items()})
        return Part("overall", schema.record(keys), task, 420, temperature=0.3)

    def criteria(self) -> str:
        """The criteria as a list for a prompt."""
        return "\n".join(f"- {row.key}: {row.question}" for row in self.rubric.criteria)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The findings keyed by argument, with the synthesis."""
        *findings, overall = done
        keyed = {
            row.argument.id: {
                "reason": part["verdict"],
                **{each.key: _WORDS[cast("str", part[each.key])] for each in self.rubric.criteria},
                "standing": _standing_of(cast("str", part["verdict"])).value,
            }
            for row, part in zip(self.exhibits, findings, strict=True)
        }
        return {"arguments": keyed, **overall}


# Asked for several numbers, a small model counts up; asked for words, it judges.
_WORDS = {"very weak": 1, "weak": 3, "fair": 5, "good": 7, "strong": 9}
_VERDICTS = {
    "The argument stands because": MarketStanding.UPHELD,
    "The argument is weaker now because": MarketStanding.WEAKENED,
    "The argument is refuted because": MarketStanding.REFUTED,
    "It stays open because": MarketStanding.UNCERTAIN,
}


def _standing_of(verdict: str) -> MarketStanding:
    return next(row for beginning, row in _VERDICTS.items() if verdict.startswith(beginning))
