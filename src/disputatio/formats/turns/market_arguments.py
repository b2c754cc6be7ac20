"""Opening and cross-examination of market analysts.

An opening has two to four claims with figures. The analyst says where each figure is, or how it follows from
others; code looks it up in the knowledge base. A figure outside the analyst's slice must be marked as inferred. A claim
that is too long, or says more than the base does, is asked for again, and then stands with its faults.

In cross-examination each analyst responds to every argument of the other analyst of its lens. At least half of the
responses must refute or question the evidence. An analyst that concedes more is asked once more, and then the turn
stands with the violation. New figures come from the slice both know; none may be inferred.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.formats.turns.market_figures import (
    INFERRED,
    Figure,
    FigureChecker,
    WordsFinding,
    figure_lines,
    unsupported,
    unsupported_words,
    words_lines,
)
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion.text import same_words

LONGEST_CLAIM = 99
"""In characters: under 100."""
_LENIENT_CLAIM = 600
SURE: dict[str, float] = {"doubtful": 0.3, "even": 0.5, "likely": 0.65, "sure": 0.8}
"""Confidence of a small model in words; asked for a number it counts up."""


class MarketArgument(NamedTuple):
    """One argument of an analyst.

    Attributes:
        id: such as ``tech_bull_arg_0``; counts from 0, as the protocol does.
        seat: its analyst.
        claim: one falsifiable proposition.
        figures: its evidence, each figure checked against the knowledge base.
        confidence: 0 to 1, as the analyst states it.
        counterpoints: what the analyst itself sees against it.
        assumptions: what it assumes.
        words: numbers and words of direction in the claim that the base does not support.
    """

    id: str
    seat: str
    claim: str
    figures: tuple[Figure, ...]
    confidence: float
    counterpoints: tuple[str, ...]
    assumptions: tuple[str, ...]
    words: tuple[WordsFinding, ...] = ()

    def text(self) -> str:
        """The argument as a reader, or another seat's prompt, sees it."""
        lines = [f"{self.id}: {unmarked(self.claim)} (confidence {self.confidence:.2f})"]
        lines += figure_lines(self.figures)
        lines += words_lines(self.words)
        lines += [f"Counterpoint: {unmarked(text)}" for text in self.counterpoints]
        return "\n".join([*lines, *(f"Assumes: {unmarked(text)}" for text in self.assumptions)])


_INFERENCE: JsonObject = {"basis": "", "value": "no figure is known", "unit": "", "source": INFERRED}


@dataclass(frozen=True, slots=True)
class MarketOpening:
    """The arguments of one analyst, in the order given."""

    arguments: tuple[MarketArgument, ...]

    @property
    def cited(self) -> tuple[tuple[str, Figure], ...]:
        """Every figure with the argument it supports."""
        return tuple((row.id, figure) for row in self.arguments for figure in row.figures)

    def text(self) -> str:
        """All arguments, one after the other."""
        return "\n\n".join(row.text() for row in self.arguments)


@dataclass(frozen=True, slots=True)
class MarketOpeningSpec:
    """``minimum`` to ``maximum`` arguments of ``seat``, with figures of its ``checker``."""

    seat: str
    checker: FigureChecker
    minimum: int = 2
    maximum: int = 4
    name: str = "market_opening"
    bullish: bool = field(default=True)

    @property
    def schema(self) -> JsonObject:
        """The arguments as a list."""
        return self._schema(LONGEST_CLAIM)

    @property
    def lenient_schema(self) -> JsonObject:
        """``schema`` with longer claims: an analyst that cannot be brief keeps its turn, with a violation."""
        return self._schema(_LENIENT_CLAIM)

    def _schema(self, claim: int) -> JsonObject:
        argument = schema.record(
            {
                "claim": schema.text(10, claim),
                "evidence": schema.several(self.checker.schema(inferred=True), 1, 5),
                "confidence": schema.share(),
                "counterpoints": schema.several(schema.prose(5, 25), 1, 3),
                "assumptions": schema.several(schema.prose(5, 25), 1, 3),
            }
        )
        return schema.record({"arguments": schema.several(argument, self.minimum, self.maximum)})

    def read(self, content: JsonObject) -> MarketOpening:
        """The opening with its ids, every figure looked up."""
        rows = cast("list[dict[str, Any]]", content["arguments"])
        return MarketOpening(tuple(self._argument(number, row) for number, row in enumerate(rows)))

    def _argument(self, number: int, row: dict[str, Any]) -> MarketArgument:
        figures = self.checker.read(row["evidence"], row["claim"])
        return MarketArgument(
            id=f"{self.seat}_arg_{number}",
            seat=self.seat,
            claim=row["claim"],
            figures=figures,
            confidence=float(row["confidence"]),
            counterpoints=tuple(row["counterpoints"]),
            assumptions=tuple(row["assumptions"]),
            words=self.checker.words(row["claim"], figures),
        )

    def violations(self, turn: MarketOpening) -> tuple[Violation, ...]:
        """Claims that are too long, repeated or unsupported, and figures that the base lacks."""
        found: list[Violation] = []
        repeats = dict(same_words([row.claim for row in turn.arguments]))
        for number, row in enumerate(turn.arguments):
            part = f"argument-{number + 1}"
            if len(row.claim) > LONGEST_CLAIM:
                detail = f"the claim of {row.id} has {len(row.claim)} characters, and under 100 are allowed"
                found.append(Violation("claim_length", detail, part))
            if number in repeats:
                detail = f"{row.id} makes the same claim as {turn.arguments[repeats[number]].id}"
                found.append(Violation("repeated_argument", detail, part))
            found += unsupported(row.figures, row.id, part)
            found += unsupported_words(row.words, f"the claim of {row.id}", part)
        return tuple(found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One figure at a time, chosen from a list, and what follows from it; the minimum number."""
        lines = self._choice(done)
        if len(done) >= self.minimum or not lines:
            return None
        keys = {
            "figure": schema.one_of(list(lines)),
            "claim": schema.text(20, LONGEST_CLAIM),
            "but": schema.text(15, 200),
            "if": schema.text(15, 200),
            "how_sure": schema.one_of(list(SURE)),
        }
        way = "rise" if self.bullish else "fall"
        task = Task("market-opening-argument", {"way": way}, {"figures": "\n".join(lines)})
        return Part(f"argument-{len(done) + 1}", schema.record(keys), task, 300, temperature=0.5)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """Join the chosen figures as evidence in the base's own words: a small model cannot misquote them."""
        # A retried part may have taken the figure of a later one.
        lines = self._lines()
        return {
            "arguments": [
                {
                    "claim": part["claim"],
                    "evidence": [lines[cast("str", part["figure"])]],
                    "confidence": SURE[cast("str", part["how_sure"])],
                    "counterpoints": [part["but"]],
                    "assumptions": [part["if"]],
                }
                for part in done
            ]
        }

    def _choice(self, done: tuple[JsonObject, ...]) -> dict[str, JsonObject]:
        """Return the lines a small model may choose from, each with its evidence, without repetitions."""
        used = {part.get("figure") for part in done}
        return {line: item for line, item in self._lines().items() if line not in used}

    def _lines(self) -> dict[str, JsonObject]:
        """Return all lines. Where the slice has too few, the others are marked as inferences."""
        known = self.checker.lines()
        inferred = {f"no figure is known ({number})": _INFERENCE for number in range(1, self.minimum - len(known) + 1)}
        return {**known, **inferred}


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
    """One response of ``seat`` for each of ``opposing``; ``own`` are its own arguments, for rule-based analysts."""

    seat: str
    opposing: tuple[MarketArgument, ...]
    own: tuple[MarketArgument, ...]
    checker: FigureChecker
    name: str = "market_examination"

    @property
    def schema(self) -> JsonObject:
        """An object with one required key for every opposing argument."""
        response = schema.record(
            {
                "reasoning": schema.prose(20, 80),
                "challenge_type": schema.one_of([kind.value for kind in ChallengeType]),
                "new_evidence": schema.several(self.checker.schema(inferred=False), 0, 3),
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
            figures = self.checker.read(row["new_evidence"], reasoning)
            words = self.checker.words(reasoning, (*figures, *argument.figures))
            found.append(Challenge(argument.id, self.seat, kind, reasoning, figures, words))
        return MarketExamination(tuple(found))

    def violations(self, turn: MarketExamination) -> tuple[Violation, ...]:
        """Too few challenges, repeated reasoning, and figures that the base lacks."""
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
        """Join the responses by argument; the beginning of a reply gives its kind."""
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
