"""Cross-examination between the two analysts of one lens: one response to every argument of the other.

At least half of the responses must challenge: refute, or question the evidence. An analyst that concedes more is asked
once more, and then it stands with the breach. New figures come from the slice that both of them know; here nothing can
be inferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.formats.turns.market_figures import (
    Desk,
    Figure,
    WordsFinding,
    figure_lines,
    unsupported,
    unsupported_words,
    words_lines,
)
from disputatio.formats.turns.market_opening import MarketArgument
from disputatio.kernel import JsonObject, Part, Task, Violation


class ChallengeType(StrEnum):
    """What a response does to the argument."""

    REFUTE = "refute"
    QUESTION_EVIDENCE = "question_evidence"
    CONCEDE = "concede"
    PARTIAL = "partial"


CHALLENGING = frozenset({ChallengeType.REFUTE, ChallengeType.QUESTION_EVIDENCE})


class Challenge(NamedTuple):
    """One response: what it does, why, and the figures it brings."""

    target: str
    by: str
    kind: ChallengeType
    reasoning: str
    figures: tuple[Figure, ...] = ()
    words: tuple[WordsFinding, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether it brings nothing that the base does not bear out."""
        return all(row.is_sound for row in self.figures)

    def text(self) -> str:
        """The response as a reader sees it."""
        head = f"{self.by} on {self.target} ({self.kind.value}): {unmarked(self.reasoning)}"
        return "\n".join([head, *figure_lines(self.figures), *words_lines(self.words)])


@dataclass(frozen=True, slots=True)
class MarketExamination:
    """One analyst's responses, in the order of the opposing arguments."""

    challenges: tuple[Challenge, ...]

    @property
    def cited(self) -> tuple[tuple[str, Figure], ...]:
        """Every new figure with the argument it is brought against."""
        return tuple((row.target, figure) for row in self.challenges for figure in row.figures)

    def text(self) -> str:
        """All responses, one after the other."""
        return "\n\n".join(row.text() for row in self.challenges)


@dataclass(frozen=True, slots=True)
class MarketExaminationSpec:
    """One response of ``seat`` for each of ``opposing``; ``own`` are its own arguments, for those who want them."""

    seat: str
    opposing: tuple[MarketArgument, ...]
    own: tuple[MarketArgument, ...]
    desk: Desk
    name: str = "market_examination"

    @property
    def schema(self) -> JsonObject:
        """An object with one required key for every opposing argument."""
        response = schema.record(
            {
                "reasoning": schema.prose(20, 80),
                "challenge_type": schema.one_of([kind.value for kind in ChallengeType]),
                "new_evidence": schema.several(self.desk.schema(inferred=False), 0, 3),
            }
        )
        return schema.record({row.id: response for row in self.opposing})

    def read(self, content: JsonObject) -> MarketExamination:
        """The responses, every new figure looked up."""
        found = []
        for argument in self.opposing:
            row = cast("dict[str, Any]", content[argument.id])
            kind = ChallengeType(row["challenge_type"])
            reasoning = row["reasoning"]
            figures = self.desk.read(row["new_evidence"], reasoning)
            words = self.desk.words(reasoning, (*figures, *argument.figures))
            found.append(Challenge(argument.id, self.seat, kind, reasoning, figures, words))
        return MarketExamination(tuple(found))

    def violations(self, turn: MarketExamination) -> tuple[Violation, ...]:
        """Too few challenges, one reasoning for several arguments, and figures that the base does not have."""
        found: list[Violation] = []
        challenging = sum(row.kind in CHALLENGING for row in turn.challenges)
        if 2 * challenging < len(turn.challenges):
            detail = f"{challenging} of {len(turn.challenges)} responses challenge, and at least half must"
            found.append(Violation("too_few_challenges", detail))
        seen: dict[str, str] = {}
        for row in turn.challenges:
            if row.reasoning in seen:
                detail = f"the response to {row.target} repeats the one to {seen[row.reasoning]} word for word"
                found.append(Violation("repeated_response", detail, row.target))
            seen.setdefault(row.reasoning, row.target)
            found += unsupported(row.figures, f"the response to {row.target}", row.target)
            found += unsupported_words(row.words, f"the response to {row.target}", row.target)
        return tuple(found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """The response to the next argument."""
        if len(done) >= len(self.opposing):
            return None
        argument = self.opposing[len(done)]
        quotes = {"claim": argument.claim, "evidence": "\n".join(row.said for row in argument.figures)}
        keys = {"reply": schema.begun_with(_BEGINNINGS, 20, 300)}
        return Part(argument.id, schema.record(keys), Task("market-response", {}, quotes), 200, temperature=0.4)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The responses by the argument they answer; how a reply begins says what kind it is."""
        return {
            argument.id: {
                "reasoning": part["reply"],
                "challenge_type": _kind_of(cast("str", part["reply"])).value,
                "new_evidence": [],
            }
            for argument, part in zip(self.opposing, done, strict=True)
        }


_BEGINNINGS = {
    "No, because": ChallengeType.REFUTE,
    "This figure is not enough because": ChallengeType.QUESTION_EVIDENCE,
    "Partly, but": ChallengeType.PARTIAL,
    "Yes, because": ChallengeType.CONCEDE,
}


def _kind_of(reply: str) -> ChallengeType:
    return next(kind for beginning, kind in _BEGINNINGS.items() if reply.startswith(beginning))
