"""Framing and proposition of a review.

Source: the review pattern. Framing agent: thesis, scope, criteria for a good answer, key evidence. It takes no side and
has its own seat: a debater would frame for itself, and a moderator would judge by its own criteria. Proposer: a clear
thesis, arguments by priority, specific evidence, the strongest likely objections acknowledged. The number of arguments
is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import (
    NOTHING,
    Basis,
    Citing,
    Support,
    collect_struck,
    read_support,
    resting_on_reasoning,
    standing_of,
    struck_line,
    support_fields,
    support_violations,
    text_with_support,
    unmarked,
)
from disputatio.formats.turns.schema import ANGLES
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion.text import same_words

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
        return collect_struck(self.arguments)

    @property
    def standing(self) -> tuple[ReviewArgument, ...]:
        """The arguments that are not struck."""
        return standing_of(self.arguments)

    def text(self) -> str:
        """The whole case."""
        return self.shown(NONE_STRUCK)

    def shown(self, struck: Mapping[str, str]) -> str:
        """Return the case; of struck arguments only their ids and reasons."""
        rows = [struck_line(row.id, struck[row.id]) if row.id in struck else row.text() for row in self.arguments]
        met = [unmarked(f"Objection expected: {row.objection}\nAnswer: {row.answer}") for row in self.objections]
        return "\n\n".join([unmarked(f"Thesis: {self.thesis}"), *rows, *met])


@dataclass(frozen=True, slots=True)
class PropositionSpec:
    """``minimum`` to ``maximum`` arguments for ``position``, numbered ``PREFIX-1``, ... after ``before``.

    ``angles`` are for small models.
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
            found += support_violations(row.support, row.id, f"argument-{number}")
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
                # The quote comes first, so that the argument follows from it.
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
        """Join the parts. An argument without a quote of a small model rests on reasoning."""
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
        """Return sentences that a small model may quote next, with their sources, without repetitions."""
        if "quotations" not in self.citing.fields():
            return {}
        used = {row.get(_QUOTE_KEY) for row in done}
        fitting = self.citing.sentences(self._angle(len(done)), _QUOTABLE + len(used))
        return {row.text: row.source_id for row in fitting if row.text not in used}

    def _resting(self, done: tuple[JsonObject, ...], place: int) -> JsonObject:
        """Return what the argument at ``place`` rests on: the chosen sentence, or reasoning alone."""
        sentence = done[place].get(_QUOTE_KEY)
        resting = resting_on_reasoning(self.citing)
        if not isinstance(sentence, str):
            return resting
        quoted = [{"source": self._quotable(done[:place])[sentence], "quote": sentence}]
        return {**resting, "rests_on": Basis.EVIDENCE.value, "quotations": quoted}


_QUOTE_KEY = "the_text_says"
_QUOTABLE = 3
"""Sentences that a small model chooses from."""
_BEGINNINGS = ("It", "The proposal", "The plan")


MOST_SOURCES = 60
"""Providers limit enums; with more sources the framing names none."""


@dataclass(frozen=True, slots=True)
class KeyEvidence:
    """A source the answer depends on and why; without sources, what would have to be known."""

    source: str
    why: str


@dataclass(frozen=True, slots=True)
class Framing:
    """The question as it is debated. ``criteria`` begin with the given ones."""

    thesis: str
    scope: str
    criteria: tuple[str, ...]
    key_evidence: tuple[KeyEvidence, ...]
    positions: tuple[str, ...] = ()

    def text(self) -> str:
        """The framing as the other seats see it."""
        lines = [f"Thesis: {self.thesis}", f"Scope: {self.scope}", "Criteria for a good answer:"]
        lines += [f"- {row}" for row in self.criteria]
        lines += ["Key evidence:"] if self.key_evidence else []
        lines += [f"- {row.source}: {row.why}" if row.source else f"- {row.why}" for row in self.key_evidence]
        lines += [f"Position {number}: {row}" for number, row in enumerate(self.positions, start=1)]
        return unmarked("\n".join(lines))

    def as_json(self) -> JsonObject:
        """As the outcome keeps it."""
        return {
            "thesis": self.thesis,
            "scope": self.scope,
            "criteria": list(self.criteria),
            "key_evidence": [{"source": row.source, "why": row.why} for row in self.key_evidence],
            "positions": list(self.positions),
        }


@dataclass(frozen=True, slots=True)
class FramingSpec:
    """A framing.

    ``criteria`` are given and come before the framing's own. ``sources`` are the ids it may name. ``positions`` is how
    many positions it must find; 0 where they are given or there is one.
    """

    criteria: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    positions: int = 0
    name: str = "framing"

    @property
    def schema(self) -> JsonObject:
        """Key evidence names existing sources; without sources it says what would have to be known."""
        keys: dict[str, JsonObject] = {
            "thesis": schema.prose(10, 60),
            "scope": schema.prose(10, 60),
            "criteria": schema.several(schema.prose(8, 25), 1, 6),
        }
        if 0 < len(self.sources) <= MOST_SOURCES:
            row = schema.record({"source": schema.one_of(self.sources), "why": schema.prose(8, 30)})
            keys["key_evidence"] = schema.several(row, 0, 6)
        else:
            keys["evidence_wanted"] = schema.several(schema.prose(8, 30), 0, 6)
        if self.positions:
            keys["positions"] = schema.several(schema.prose(10, 30), self.positions, self.positions)
        return schema.record(keys)

    def read(self, content: JsonObject) -> Framing:
        """The framing, the given criteria first."""
        body = cast("dict[str, Any]", content)
        named = [KeyEvidence(row["source"], row["why"]) for row in body.get("key_evidence", ())]
        wanted = [KeyEvidence("", text) for text in body.get("evidence_wanted", ())]
        return Framing(
            body["thesis"],
            body["scope"],
            (*self.criteria, *body["criteria"]),
            (*named, *wanted),
            tuple(body.get("positions", ())),
        )

    def violations(self, turn: Framing) -> tuple[Violation, ...]:
        """A position that is given twice: there would be nothing to compare."""
        return tuple(
            Violation("repeated_position", f"position {later + 1} says the same as position {first + 1}", "positions")
            for later, first in same_words(turn.positions)
        )

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """The thesis and the scope, then the criteria, then the positions."""
        if not done:
            keys = {
                "it_claims": schema.begun_with(_CLAIMS, 20, 260),
                "it_is_about": schema.begun_with(_SCOPE, 20, 260),
            }
            return Part("thesis", schema.record(keys), Task("framing-thesis"), 200, temperature=0.3)
        if len(done) == 1:
            keys = {
                f"criterion_{number}": schema.begun_with((row,), 20, 240) for number, row in enumerate(_CRITERIA, 1)
            }
            return Part("criteria", schema.record(keys), Task("framing-criteria"), 220, temperature=0.3)
        if len(done) == 2 and self.positions:
            keys = {f"option_{number}": schema.text(20, 200) for number in range(1, self.positions + 1)}
            task = Task("framing-positions", {"number": str(self.positions)})
            return Part("positions", schema.record(keys), task, 80 * self.positions, temperature=0.5)
        return None

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The pieces as one framing; a small model names no key evidence."""
        first, criteria, *positions = cast("tuple[dict[str, str], ...]", done)
        known = "key_evidence" if 0 < len(self.sources) <= MOST_SOURCES else "evidence_wanted"
        whole: dict[str, Any] = {
            "thesis": first["it_claims"],
            "scope": first["it_is_about"],
            "criteria": list(criteria.values()),
            known: [],
        }
        if positions:
            whole["positions"] = [positions[0][f"option_{number}"] for number in range(1, self.positions + 1)]
        return whole


_CLAIMS = ("The proposal claims that", "The proposal says that")
_SCOPE = ("It is about", "It concerns")
_CRITERIA = ("A good answer shows", "A good answer compares", "A good answer explains")
