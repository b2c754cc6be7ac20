"""The closing of a market analyst: what is left of each argument, its concessions, and its final stance."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.formats.turns.cross_examination import ArgumentStatus
from disputatio.formats.turns.market_arguments import Challenge, ChallengeType, MarketArgument
from disputatio.formats.turns.market_figures import FigureChecker, WordsFinding, unsupported_words, words_lines
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion import count_words

FEWEST_WORDS, MOST_WORDS = 50, 100


class Conviction(StrEnum):
    """How an analyst's conviction moved."""

    STRENGTHENED = "strengthened"
    WEAKENED = "weakened"
    UNCHANGED = "unchanged"


class RefinedClaim(NamedTuple):
    """What is left of one argument. ``confidence`` is the adjusted one, 0 to 1."""

    argument: str
    original: str
    hold: ArgumentStatus
    refinement: str
    confidence: float


class MarketConcession(NamedTuple):
    """What an analyst accepts: an argument of the other, or a challenge to one of its own."""

    target: str
    accepted: str


@dataclass(frozen=True, slots=True)
class MarketClosing:
    """One analyst's closing."""

    claims: tuple[RefinedClaim, ...]
    concessions: tuple[MarketConcession, ...]
    final_stance: str
    conviction: Conviction
    words: tuple[WordsFinding, ...] = ()

    def text(self) -> str:
        """The closing as a reader sees it."""
        lines = [f"{row.argument} {row.hold.value}: {row.refinement} ({row.confidence:.2f})" for row in self.claims]
        lines += [f"Concedes {row.target}: {row.accepted}" for row in self.concessions]
        said = unmarked("\n".join([*lines, f"Final stance ({self.conviction.value}): {self.final_stance}"]))
        return "\n".join([said, *words_lines(self.words)])


@dataclass(frozen=True, slots=True)
class MarketClosingSpec:
    """The closing of the analyst with arguments ``own``, received challenges ``drew`` and own challenges ``made``."""

    seat: str
    own: tuple[MarketArgument, ...]
    drew: tuple[Challenge, ...]
    made: tuple[Challenge, ...]
    checker: FigureChecker
    fewest_words: int = FEWEST_WORDS
    most_words: int = MOST_WORDS
    name: str = "market_closing"

    @property
    def conceded(self) -> tuple[str, ...]:
        """The opposing arguments it accepted in cross-examination, in whole or in part."""
        accepting = {ChallengeType.CONCEDE, ChallengeType.PARTIAL}
        return tuple(row.target for row in self.made if row.kind in accepting)

    @property
    def targets(self) -> tuple[str, ...]:
        """What can be conceded: the other's arguments, and the challenges to its own."""
        return (*(row.target for row in self.made), *(row.target for row in self.drew))

    @property
    def schema(self) -> JsonObject:
        """A key for every own argument; concessions name what exists."""
        claim = schema.record(
            {
                "refinement": schema.prose(10, 40),
                "status": schema.one_of([hold.value for hold in ArgumentStatus]),
                "confidence_adjusted": schema.share(),
            }
        )
        keys: dict[str, JsonObject] = {"refined_claims": schema.record({row.id: claim for row in self.own})}
        if self.targets:
            concession = schema.record({"target": schema.one_of(self.targets), "accepted": schema.prose(5, 30)})
            keys["concessions"] = schema.several(concession, 0, 8)
        keys["final_stance"] = schema.prose(20, max(self.most_words, 70))
        keys["conviction_change"] = schema.one_of([row.value for row in Conviction])
        return schema.record(keys)

    def read(self, content: JsonObject) -> MarketClosing:
        """The closing, its claims in the order of the arguments."""
        rows = cast("dict[str, dict[str, Any]]", content["refined_claims"])
        conceded = cast("list[dict[str, str]]", content.get("concessions", []))
        return MarketClosing(
            tuple(
                RefinedClaim(
                    row.id,
                    row.claim,
                    ArgumentStatus(rows[row.id]["status"]),
                    rows[row.id]["refinement"],
                    float(rows[row.id]["confidence_adjusted"]),
                )
                for row in self.own
            ),
            tuple(MarketConcession(row["target"], row["accepted"]) for row in conceded),
            cast("str", content["final_stance"]),
            Conviction(cast("str", content["conviction_change"])),
            self._words(rows, cast("str", content["final_stance"])),
        )

    def _words(self, rows: dict[str, dict[str, Any]], stance: str) -> tuple[WordsFinding, ...]:
        """Return numbers that neither the slice nor a figure of the debate supports; confidences are allowed."""
        figures = [figure for row in self.own for figure in row.figures]
        figures += [figure for row in self.drew for figure in row.figures]
        texts = [*(rows[row.id]["refinement"] for row in self.own), stance]
        return tuple(found for text in texts for found in self.checker.words(text, figures))

    def violations(self, turn: MarketClosing) -> tuple[Violation, ...]:
        """A stance of too few or too many words; a lost concession of the cross-examination."""
        found: list[Violation] = []
        words = count_words(turn.final_stance)
        if not self.fewest_words <= words <= self.most_words:
            detail = f"the final stance has {words} words; {self.fewest_words} to {self.most_words} are allowed"
            found.append(Violation("word_limit", detail, "stance"))
        found += unsupported_words(turn.words, "the closing", "stance")
        named = {row.target for row in turn.concessions}
        found += [
            Violation("lost_concession", f"{target} was accepted in cross-examination and is not conceded now", target)
            for target in self.conceded
            if target not in named
        ]
        return tuple(found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One own argument at a time, then what it accepted, then the stance."""
        place = len(done)
        if place < len(self.own):
            return self._own_part(self.own[place])
        place -= len(self.own)
        if place < len(self.conceded):
            target = self.conceded[place]
            said = next((row.reasoning for row in self.made if row.target == target), "")
            keys = {"accepted": schema.text(20, 240)}
            return Part(target, schema.record(keys), Task("market-concession", {}, {"response": said}), 120)
        if place > len(self.conceded):
            return None
        keys = {
            "final_stance": schema.text(280, 620),
            "conviction_change": schema.one_of([row.value for row in Conviction]),
        }
        quotes = {"claims": "\n".join(row.claim for row in self.own)}
        return Part("stance", schema.record(keys), Task("market-stance", {}, quotes), 260, temperature=0.5)

    def _own_part(self, argument: MarketArgument) -> Part:
        drew = "\n".join(row.reasoning for row in self.drew if row.target == argument.id)
        keys = {"my_point": schema.begun_with(_BEGINNINGS, 15, 260)}
        quotes = {"claim": argument.claim, **({"responses": drew} if drew else {})}
        task = Task("market-refinement", {}, quotes)
        return Part(argument.id, schema.record(keys), task, 160, temperature=0.3)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """Join the parts into the groups of the schema. A narrowed claim keeps half of its distance from 0.5."""
        claims = {
            row.id: {
                "refinement": part["my_point"],
                "status": _hold_of(cast("str", part["my_point"])).value,
                "confidence_adjusted": _adjusted(row.confidence, _hold_of(cast("str", part["my_point"]))),
            }
            for row, part in zip(self.own, done, strict=False)
        }
        accepted = done[len(self.own) : -1]
        conceded = [
            {"target": target, "accepted": part["accepted"]}
            for target, part in zip(self.conceded, accepted, strict=True)
        ]
        last = done[-1]
        return {
            "refined_claims": claims,
            **({"concessions": conceded} if self.targets else {}),
            "final_stance": last["final_stance"],
            "conviction_change": last["conviction_change"],
        }


_BEGINNINGS = {
    "It still stands because": ArgumentStatus.STANDS,
    "It holds only in part because": ArgumentStatus.NARROWED,
    "I give it up because": ArgumentStatus.WITHDRAWN,
}


def _hold_of(point: str) -> ArgumentStatus:
    return next(hold for beginning, hold in _BEGINNINGS.items() if point.startswith(beginning))


def _adjusted(confidence: float, hold: ArgumentStatus) -> float:
    if hold is ArgumentStatus.STANDS:
        return confidence
    return 0.5 if hold is ArgumentStatus.WITHDRAWN else round((confidence + 0.5) / 2, 4)
