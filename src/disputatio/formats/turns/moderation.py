"""Moderation: the quality of every argument, what is resolved, and a synthesis with its confidence.

The moderator gives whole numbers and sentences. Code computes means, lists of points and rankings. The moderator judges
arguments, not positions: words that judge a position are a violation.

Source: the review pattern, moderator (logical validity, evidence quality, completeness, internal consistency; resolved
and contested points; whether another round would help; synthesis, confidence, explicit uncertainties). Its four
criteria have no weights there, so they weigh the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.kernel import JsonObject, Part, Task, Violation

CRITERIA: Mapping[str, str] = {
    "validity": "Does it follow from what it rests on?",
    "evidence_quality": "Is what it rests on there, is it read correctly, and does it carry the claim?",
    "completeness": "Does it speak to all that matters for it?",
    "consistency": "Is it free of contradiction?",
}


class Resolution(StrEnum):
    """How the exchange on one criticism ended."""

    PROPOSITION = "resolved_for_proposition"
    CRITIQUE = "resolved_for_critique"
    UNRESOLVED = "unresolved"


class Confidence(StrEnum):
    """How sure the moderator is of its synthesis."""

    HIGH = "HIGH"
    MODERATE = "MODERATE"
    LOW = "LOW"


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One argument as the moderator reads it. ``about`` is what it answers or what was said against it.

    ``contested``: whether a criticism was answered and not conceded. Only then can it be met.
    """

    id: str
    text: str
    about: str = ""
    contested: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """The quality of one argument: whole numbers 1 to 10 by criterion, and why."""

    argument: str
    scores: dict[str, int]
    reason: str


@dataclass(frozen=True, slots=True)
class Point:
    """What became of one criticism."""

    criticism: str
    resolution: Resolution
    because: str


@dataclass(frozen=True, slots=True)
class Backing:
    """How far the debate supports one of several positions, 1 to 10."""

    position: str
    support: int
    because: str


@dataclass(frozen=True, slots=True)
class Moderation:
    """What the moderator finds after a round."""

    findings: tuple[Finding, ...]
    points: tuple[Point, ...]
    synthesis: str
    confidence: Confidence
    uncertainties: tuple[str, ...]
    another_round: bool
    backings: tuple[Backing, ...] = ()

    @property
    def unresolved(self) -> tuple[Point, ...]:
        """The points that are still contested."""
        return tuple(row for row in self.points if row.resolution is Resolution.UNRESOLVED)

    @property
    def resolved(self) -> tuple[Point, ...]:
        """The points that are settled, either way."""
        return tuple(row for row in self.points if row.resolution is not Resolution.UNRESOLVED)

    def text(self) -> str:
        """The finding as a reader, and the seats of a further round, see it."""
        lines = []
        for row in self.findings:
            scores = ", ".join(f"{key.replace('_', ' ')} {score}" for key, score in row.scores.items())
            lines.append(f"{row.argument}: {row.reason} ({scores})")
        lines += [f"{row.criticism} is {row.resolution.value.replace('_', ' ')}: {row.because}" for row in self.points]
        lines += [f"{row.position}: support {row.support} of 10. {row.because}" for row in self.backings]
        lines.append(f"Synthesis ({self.confidence.value} confidence): {self.synthesis}")
        lines += [f"Uncertain: {row}" for row in self.uncertainties]
        lines.append(f"Another round would help: {'yes' if self.another_round else 'no'}")
        return unmarked("\n".join(lines))


@dataclass(frozen=True, slots=True)
class ModerationSpec:
    """A finding on each of ``exhibits`` and a resolution of each of ``criticisms``.

    The criticisms are ids among ``exhibits`` or ``carried``: those still open from earlier rounds, which have a finding
    already. ``positions`` are the ids of several positions; with one there is nothing to rank. ``thesis`` is what is
    debated.
    """

    exhibits: tuple[Exhibit, ...]
    criticisms: tuple[str, ...]
    positions: tuple[str, ...] = ()
    thesis: str = ""
    carried: tuple[Exhibit, ...] = ()
    name: str = "moderation"

    @property
    def schema(self) -> JsonObject:
        """Requires every argument and every criticism.

        A conceded or unanswered criticism cannot be resolved for the proposition.
        """
        scores = {key: schema.whole(1, 10) for key in CRITERIA}
        finding = schema.record({"reason": schema.prose(10, 50), **scores})
        backing = schema.record({"because": schema.prose(10, 50), "support": schema.whole(1, 10)})
        keys: dict[str, JsonObject] = {}
        if self.exhibits:
            keys["findings"] = schema.record({row.id: finding for row in self.exhibits})
        if self.criticisms:
            keys["points"] = schema.record({name: _point(self._resolutions(name)) for name in self.criticisms})
        if self.positions:
            keys["positions"] = schema.record(dict.fromkeys(self.positions, backing))
        return schema.record(keys | _overall(150, 6))

    def _resolutions(self, criticism: str) -> list[Resolution]:
        """What can have become of a criticism."""
        contested = next(row.contested for row in (*self.exhibits, *self.carried) if row.id == criticism)
        return [row for row in Resolution if contested or row is not Resolution.PROPOSITION]

    def read(self, content: JsonObject) -> Moderation:
        """The finding, every group in the order of the debate."""
        body = cast("dict[str, Any]", content)
        findings, points = body.get("findings", {}), body.get("points", {})
        backings = body.get("positions", {})
        return Moderation(
            tuple(
                Finding(row.id, {key: int(findings[row.id][key]) for key in CRITERIA}, findings[row.id]["reason"])
                for row in self.exhibits
            ),
            tuple(Point(row, Resolution(points[row]["outcome"]), points[row]["because"]) for row in self.criticisms),
            body["synthesis"],
            Confidence(body["confidence"]),
            tuple(body["uncertainties"]),
            body["another_round_would_help"] == "yes",
            tuple(Backing(row, int(backings[row]["support"]), backings[row]["because"]) for row in self.positions),
        )

    def violations(self, turn: Moderation) -> tuple[Violation, ...]:
        """Words that judge a position, a further round without an open point, and one text for everything."""
        found: list[Violation] = []
        told = [(row.argument, row.reason) for row in turn.findings]
        told += [(row.criticism, row.because) for row in turn.points]
        told += [("overall", turn.synthesis)]
        for part, text in told:
            judged = _POSITION_JUDGED.search(text)
            if judged:
                detail = f'what is said of {part} judges a position ("{judged.group()}"); judge the argument'
                found.append(Violation("position_judged", detail, part))
        if turn.another_round and self.criticisms and not turn.unresolved:
            detail = "another round would help, it says, and yet no point is unresolved; say which is, or end it"
            found.append(Violation("round_over_nothing", detail, "overall"))
        return tuple(found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One argument at a time, the carried criticisms, then each position, then the whole."""
        place, rows = len(done), (*self.exhibits, *self.carried)
        if place < len(rows):
            return self._argument_part(rows[place])
        place -= len(rows)
        if place < len(self.positions):
            keys = {"reason": schema.text(20, 260), "support": schema.one_of(_WORDS)}
            name = self.positions[place]
            return Part(name, schema.record(keys), Task("moderation-position", {"position": name}), 140, 0.5)
        if place > len(self.positions):
            return None
        quotes = {"thesis": self.thesis, "said": "\n".join(_first_sentence(row.text) for row in self.exhibits)}
        overall = {
            "synthesis": schema.text(30, 400),
            "uncertainty": schema.begun_with(("It is uncertain whether", "It is not known whether"), 20, 260),
            "confidence": schema.one_of([row.value for row in Confidence]),
            "another_round_would_help": schema.one_of(("yes", "no") if self._open_after(done) else ("no",)),
        }
        return Part("overall", schema.record(overall), Task("moderation-overall", {}, quotes), 280, temperature=0.3)

    def _open_after(self, done: tuple[JsonObject, ...]) -> bool:
        """Whether another round could help after a small moderator's findings: a point is open, or there was none."""
        verdicts = [_resolution(cast("str", row["verdict"])) for row in done if "verdict" in row]
        return not self.criticisms or Resolution.UNRESOLVED in verdicts

    def _argument_part(self, row: Exhibit) -> Part:
        scores = {key: schema.one_of(_WORDS) for key in CRITERIA}
        quotes = {"said": row.text, "answer": row.about, "thesis": self.thesis}
        quotes = {name: text for name, text in quotes.items() if text}
        if row.id in self.criticisms:
            possible = self._resolutions(row.id)
            verdicts = [beginning for beginning, found in _VERDICTS.items() if found in possible]
            keys = {"verdict": schema.begun_with(verdicts, 20, 320), **({} if row in self.carried else scores)}
            return Part(row.id, schema.record(keys), Task("moderation-criticism", {}, quotes), 240, temperature=0.7)
        keys = {"remark": schema.begun_with(_REMARKS, 20, 280), **scores}
        return Part(row.id, schema.record(keys), Task("moderation-argument", {}, quotes), 200, temperature=0.7)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """Join the parts; the beginning of a verdict gives the resolution of a criticism."""
        rows = cast("tuple[dict[str, str], ...]", done)
        overall = rows[-1]
        whole: dict[str, Any] = {}
        heard = dict(zip((row.id for row in (*self.exhibits, *self.carried)), rows, strict=False))
        if self.exhibits:
            whole["findings"] = {
                name: {
                    "reason": row.get("verdict") or row["remark"],
                    **{key: _WORDS[row[key]] for key in CRITERIA},
                }
                for name, row in ((each.id, heard[each.id]) for each in self.exhibits)
            }
        if self.criticisms:
            whole["points"] = {
                name: {"because": heard[name]["verdict"], "outcome": _resolution(heard[name]["verdict"]).value}
                for name in self.criticisms
            }
        if self.positions:
            backings = zip(self.positions, rows[len(heard) :], strict=False)
            whole["positions"] = {
                name: {"because": row["reason"], "support": _WORDS[row["support"]]} for name, row in backings
            }
        return {
            **whole,
            "synthesis": overall["synthesis"],
            "confidence": overall["confidence"],
            "uncertainties": [overall["uncertainty"]],
            "another_round_would_help": overall["another_round_would_help"],
        }


def criteria_text() -> str:
    """The criteria as a prompt lists them."""
    return "\n".join(f"- {key}: {question}" for key, question in CRITERIA.items())


_WORDS = {"very weak": 1, "weak": 3, "fair": 5, "good": 7, "strong": 9}
_VERDICTS = {
    "The critic is right because": Resolution.CRITIQUE,
    "The answer is right because": Resolution.PROPOSITION,
    "It stays open because": Resolution.UNRESOLVED,
}
_REMARKS = ("It follows because", "It does not follow because", "It is incomplete because", "It is clear because")
# Source: the review pattern names the first two groups as judgements of a position; the others are common variants.
_POSITION_JUDGED = re.compile(
    r"\b(?:sounds?|seems?|feels?) (?:more |most )?reasonable\b"
    r"|\b(?:aligns?|is in line|in accordance|consistent) with (?:the )?(?:industry )?best practices?\b"
    r"|\b(?:is|are) (?:industry )?best practice\b"
    r"|\bI (?:personally )?(?:prefer|favou?r|support|agree with) (?:the|this) (?:position|proposition|proposal|critic)",
    re.IGNORECASE,
)


def _point(possible: Sequence[Resolution]) -> JsonObject:
    outcome = schema.one_of([row.value for row in possible])
    return schema.record({"because": schema.prose(10, 50), "outcome": outcome})


def _resolution(verdict: str) -> Resolution:
    return next(row for beginning, row in _VERDICTS.items() if verdict.startswith(beginning))


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]


def _overall(synthesis: int, most: int) -> dict[str, JsonObject]:
    return {
        "synthesis": schema.prose(20, synthesis),
        "confidence": schema.one_of([row.value for row in Confidence]),
        "uncertainties": schema.several(schema.prose(8, 30), 1, most),
        "another_round_would_help": schema.one_of(("yes", "no")),
    }


def ids(exhibits: Sequence[Exhibit]) -> str:
    """The ids of ``exhibits`` as a list for people."""
    return ", ".join(row.id for row in exhibits)
