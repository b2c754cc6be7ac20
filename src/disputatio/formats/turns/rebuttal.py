"""Rebuttal: an answer to every criticism by its number, on behalf of the position.

Source: the review pattern, rebuttal agent (address each argument of the critic specifically; concede where it is
stronger; new evidence or reasoning for contested points).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import NOTHING, Citing, unmarked
from disputatio.formats.turns.criticism import CounterArgument
from disputatio.formats.turns.proposition import NONE_STRUCK
from disputatio.formats.turns.striking import (
    Support,
    read_support,
    resting_on_reasoning,
    standing_of,
    struck_line,
    struck_of,
    support_breaches,
    support_fields,
    text_with_support,
)
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion.wording import same_words


class RebuttalKind(StrEnum):
    """What a rebuttal says of the criticism it answers."""

    REFUTE = "refute"
    """It is wrong, and here is the evidence or reasoning."""
    PARTIAL = "partial"
    """It is right in part; the rest is contested."""
    CONCEDE = "concede"
    """It is stronger than what was said for the position."""


@dataclass(frozen=True, slots=True)
class Rebuttal:
    """The answer to one criticism. ``id`` is that of the answer, ``target`` that of the criticism."""

    id: str
    target: str
    kind: RebuttalKind
    reasoning: str
    support: Support = field(default=Support())

    def text(self) -> str:
        """The answer as a reader sees it."""
        said = [f"{self.id} to {self.target}: {self.kind.value}", self.reasoning]
        return text_with_support(said, self.support)


@dataclass(frozen=True, slots=True)
class Rebuttals:
    """All answers, in the order of the criticisms, and where the position stands after them."""

    thesis: str
    answers: tuple[Rebuttal, ...]

    @property
    def cited(self) -> tuple[tuple[str, CheckedCitation], ...]:
        """What each answer cites, by the criticism it answers."""
        return tuple((row.target, cited) for row in self.answers for cited in row.support.citations)

    @property
    def struck(self) -> dict[str, str]:
        """The answers that are struck, each with the reason; what they answer counts as unanswered."""
        return struck_of(self.answers)

    @property
    def standing(self) -> tuple[Rebuttal, ...]:
        """The answers that are not struck."""
        return standing_of(self.answers)

    @property
    def concessions(self) -> tuple[Rebuttal, ...]:
        """The answers that concede, whole or in part."""
        return tuple(row for row in self.standing if row.kind is not RebuttalKind.REFUTE)

    def text(self) -> str:
        """All answers."""
        return self.shown(NONE_STRUCK)

    def shown(self, struck: Mapping[str, str]) -> str:
        """All answers, of those that are ``struck`` nothing but their ids and the reasons."""
        rows = [
            struck_line(f"{row.id} to {row.target}", struck[row.id]) if row.id in struck else row.text()
            for row in self.answers
        ]
        return "\n\n".join([*rows, unmarked(f"Thesis after the critique: {self.thesis}")])


@dataclass(frozen=True, slots=True)
class RebuttalSpec:
    """One answer for each of ``criticisms``; ``said`` are texts of the position that would be no new ground."""

    prefix: str
    position: str
    criticisms: tuple[CounterArgument, ...]
    said: tuple[str, ...] = ()
    citing: Citing = NOTHING
    name: str = "rebuttal"

    @property
    def schema(self) -> JsonObject:
        """A required key for every criticism."""
        answer = schema.record(
            {
                "reasoning": schema.prose(20, 90),
                "response": schema.one_of([row.value for row in RebuttalKind]),
                **support_fields(self.citing),
            }
        )
        answers = schema.record({row.id: answer for row in self.criticisms})
        return schema.record({"answers": answers, "thesis": schema.prose(10, 60)})

    def read(self, content: JsonObject) -> Rebuttals:
        """The answers; the one to ``CRIT-3`` is ``REB-3``."""
        body = cast("dict[str, Any]", content)
        return Rebuttals(
            body["thesis"],
            tuple(
                Rebuttal(
                    self._id(row.id),
                    row.id,
                    RebuttalKind(body["answers"][row.id]["response"]),
                    body["answers"][row.id]["reasoning"],
                    read_support(body["answers"][row.id], self.citing),
                )
                for row in self.criticisms
            ),
        )

    def _id(self, criticism: str) -> str:
        return f"{self.prefix}-{criticism.rpartition('-')[2]}"

    def violations(self, turn: Rebuttals) -> tuple[Violation, ...]:
        """Answers that bring nothing new, or whose evidence is not there."""
        found: list[Violation] = []
        for row in turn.answers:
            found += support_breaches(row.support, f"the answer to {row.target}", row.target)
            contested = row.kind is not RebuttalKind.CONCEDE
            if contested and any(place == len(self.said) for place, _ in same_words([*self.said, row.reasoning])):
                detail = f"the answer to {row.target} says again what was said before; bring new evidence or reasoning"
                found.append(Violation("nothing_new", detail, row.target))
        for later, first in same_words([row.reasoning for row in turn.answers]):
            target, earlier = turn.answers[later].target, turn.answers[first].target
            detail = f"the answer to {target} repeats the one to {earlier}; speak to what {target} says"
            found.append(Violation("repeated_response", detail, target))
        return tuple(found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """The answer to the next criticism, then the thesis after all of them."""
        if len(done) < len(self.criticisms):
            row = self.criticisms[len(done)]
            quotes = {"criticism": f"{row.claim} {row.reasoning}", "position": self.position}
            keys = {"reply": schema.begun_with(_BEGINNINGS, 20, 320), "new_reason": schema.text(20, 300)}
            return Part(row.id, schema.record(keys), Task("rebuttal-answer", {}, quotes), 260, temperature=0.5)
        if len(done) > len(self.criticisms):
            return None
        quotes = {"position": self.position, "replies": "\n".join(str(row["reply"]) for row in done)}
        keys = {"conclusion": schema.text(30, 300)}
        return Part("thesis", schema.record(keys), Task("rebuttal-thesis", {}, quotes), 120, temperature=0.3)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The answers keyed by the criticism they answer; how a reply begins says what kind it is."""
        *replies, last = cast("tuple[dict[str, str], ...]", done)
        answers = {
            criticism.id: {
                "reasoning": f"{row['reply']} {row['new_reason']}",
                "response": next(kind for words, kind in _BEGINNINGS.items() if row["reply"].startswith(words)).value,
                **resting_on_reasoning(self.citing),
            }
            for criticism, row in zip(self.criticisms, replies, strict=True)
        }
        return {"answers": answers, "thesis": last["conclusion"]}


_BEGINNINGS = {
    "No, because": RebuttalKind.REFUTE,
    "Partly, but": RebuttalKind.PARTIAL,
    "Yes, because": RebuttalKind.CONCEDE,
}
