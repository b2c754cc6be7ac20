"""Proposition: the case for one position, its arguments in the order of their weight, objections met in advance.

Source: the review pattern, proposer (a clear thesis; arguments in priority order; specific evidence from the context;
the strongest likely objections acknowledged beforehand). The number of arguments is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.turns import schema
from disputatio.formats.turns.angles import ANGLES
from disputatio.formats.turns.citing import NOTHING, Citing, unmarked
from disputatio.formats.turns.striking import (
    Basis,
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

NONE_STRUCK: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ReviewArgument:
    """An argument of a proposer. The id is given by code."""

    id: str
    claim: str
    reasoning: str
    evidence: str
    support: Support = field(default=Support())

    def text(self) -> str:
        """The argument as a reader sees it."""
        said = [f"{self.id}: {self.claim}", f"Reasoning: {self.reasoning}", f"Evidence: {self.evidence}"]
        return text_with_support(said, self.support)


@dataclass(frozen=True, slots=True)
class MetObjection:
    """An objection that the proposer expects, and its answer."""

    objection: str
    answer: str


@dataclass(frozen=True, slots=True)
class Proposition:
    """The case for one position, its weightiest argument first."""

    thesis: str
    arguments: tuple[ReviewArgument, ...]
    objections: tuple[MetObjection, ...]

    @property
    def cited(self) -> tuple[tuple[str, CheckedCitation], ...]:
        """What each argument cites."""
        return tuple((row.id, cited) for row in self.arguments for cited in row.support.citations)

    @property
    def struck(self) -> dict[str, str]:
        """The arguments that are struck, each with the reason."""
        return struck_of(self.arguments)

    @property
    def standing(self) -> tuple[ReviewArgument, ...]:
        """The arguments that are not struck."""
        return standing_of(self.arguments)

    def text(self) -> str:
        """The whole case."""
        return self.shown(NONE_STRUCK)

    def shown(self, struck: Mapping[str, str]) -> str:
        """The case with nothing of the arguments that are ``struck`` but their ids and the reasons."""
        rows = [struck_line(row.id, struck[row.id]) if row.id in struck else row.text() for row in self.arguments]
        met = [unmarked(f"Objection expected: {row.objection}\nAnswer: {row.answer}") for row in self.objections]
        return "\n\n".join([unmarked(f"Thesis: {self.thesis}"), *rows, *met])


@dataclass(frozen=True, slots=True)
class PropositionSpec:
    """``minimum`` to ``maximum`` arguments, numbered ``PREFIX-1``, ... counted on from ``before``.

    ``position`` is what is argued for, in the words of whoever set it; ``angles`` are for small models.
    """

    prefix: str
    position: str
    minimum: int = 3
    maximum: int = 5
    before: int = 0
    citing: Citing = NOTHING
    angles: tuple[str, ...] = ANGLES
    name: str = "proposition"

    @property
    def schema(self) -> JsonObject:
        """Thesis, arguments, objections."""
        argument = schema.record(
            {
                "claim": schema.prose(10, 30),
                "reasoning": schema.prose(20, 90),
                "evidence": schema.prose(5, 50),
                **support_fields(self.citing),
            }
        )
        objection = schema.record({"objection": schema.prose(10, 30), "answer": schema.prose(10, 60)})
        return schema.record(
            {
                "thesis": schema.prose(10, 60),
                "arguments": schema.several(argument, self.minimum, self.maximum),
                "objections": schema.several(objection, 1, 3),
            }
        )

    def read(self, content: JsonObject) -> Proposition:
        """The case, with ids."""
        body = cast("dict[str, Any]", content)
        return Proposition(
            body["thesis"],
            tuple(
                ReviewArgument(
                    f"{self.prefix}-{self.before + number}",
                    row["claim"],
                    row["reasoning"],
                    row["evidence"],
                    read_support(row, self.citing),
                )
                for number, row in enumerate(body["arguments"], start=1)
            ),
            tuple(MetObjection(row["objection"], row["answer"]) for row in body["objections"]),
        )

    def violations(self, turn: Proposition) -> tuple[Violation, ...]:
        """Arguments that repeat an earlier one, or whose evidence is not there."""
        found: list[Violation] = []
        for number, row in enumerate(turn.arguments, start=1):
            found += support_breaches(row.support, row.id, f"argument-{number}")
        for later, first in same_words([row.claim for row in turn.arguments]):
            detail = f"{turn.arguments[later].id} makes the same claim as {turn.arguments[first].id}"
            found.append(Violation("repeated_argument", detail, f"argument-{later + 1}"))
        return tuple(found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One argument from each angle, then the conclusion with an objection and its answer."""
        if len(done) < self.minimum:
            keys = {
                "benefit": schema.begun_with(_BEGINNINGS, 20, 260),
                "because": schema.text(30, 400),
                "for_example": schema.text(20, 300),
            }
            angle = self._angle(len(done))
            choice = self._quotable(done)
            if choice:
                # What is quoted comes first, so that the argument is made of it and not the other way round.
                keys = {_QUOTE_KEY: schema.one_of(choice), **keys}
            task = Task("proposition-argument", {"angle": angle}, {"position": self.position})
            return Part(f"argument-{len(done) + 1}", schema.record(keys), task, 400 if choice else 320, temperature=0.3)
        if len(done) > self.minimum:
            return None
        keys = {
            "conclusion": schema.text(30, 280),
            "somebody_may_say": schema.begun_with(("Somebody may say that",), 20, 260),
            "our_answer": schema.text(20, 280),
        }
        quotes = {"position": self.position, "claims": "\n".join(str(row["benefit"]) for row in done)}
        return Part("thesis", schema.record(keys), Task("proposition-thesis", {}, quotes), 260, temperature=0.3)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The pieces as one case. Where a small model quoted nothing, its argument rests on reasoning and says so."""
        *arguments, last = done
        return {
            "thesis": last["conclusion"],
            "arguments": [
                {
                    "claim": row["benefit"],
                    "reasoning": row["because"],
                    "evidence": row["for_example"],
                    **self._resting(done, place),
                }
                for place, row in enumerate(arguments)
            ],
            "objections": [{"objection": last["somebody_may_say"], "answer": last["our_answer"]}],
        }

    def _angle(self, place: int) -> str:
        return self.angles[(self.before + place) % len(self.angles)]

    def _quotable(self, done: tuple[JsonObject, ...]) -> dict[str, str]:
        """Sentences from which a small model chooses the one to quote next, with their sources: none of them twice."""
        if "quotations" not in self.citing.fields():
            return {}
        used = {row.get(_QUOTE_KEY) for row in done}
        fitting = self.citing.sentences(self._angle(len(done)), _QUOTABLE + len(used))
        return {row.text: row.source_id for row in fitting if row.text not in used}

    def _resting(self, done: tuple[JsonObject, ...], place: int) -> JsonObject:
        """On what the argument at ``place`` rests: the sentence that was chosen for it, or reasoning alone."""
        sentence = done[place].get(_QUOTE_KEY)
        resting = resting_on_reasoning(self.citing)
        if not isinstance(sentence, str):
            return resting
        quoted = [{"source": self._quotable(done[:place])[sentence], "quote": sentence}]
        return {**resting, "rests_on": Basis.EVIDENCE.value, "quotations": quoted}


_QUOTE_KEY = "the_text_says"
_QUOTABLE = 3
"""How many sentences a small model chooses from."""
_BEGINNINGS = ("It", "The proposal", "The plan")
