"""Opening: each side states its arguments, each of them standing alone.

Source of the numbers: the structured debate protocol (3 to 5 arguments; claim of 10 characters or more,
reasoning of 20, evidence of 5; independence of the arguments).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, cast

from disputatio.formats.turns import schema
from disputatio.kernel import JsonObject, Part, Task, Violation

ANGLES = ("the budget", "the people involved", "safety and risk", "the time it takes", "the years to come")

_LEANING = re.compile(
    r"\b(?:see|as (?:stated|argued|shown|noted|mentioned) in|per|from) (?:the )?(?:argument|point)s? (?:no\.? ?)?\d"
    r"|\b(?:my|our|the) (?:first|second|third|fourth|fifth|previous|next|other|above|earlier) (?:argument|point)\b"
    r"|\b(?:as|like) (?:i|we) (?:argued|said|stated|noted|explained) (?:above|before|earlier)\b"
    r"|\b(?:PRO|CON)-\d{1,2}\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Argument:
    """A claim, why it should be believed, and what it rests on. The id is given by code."""

    id: str
    claim: str
    reasoning: str
    evidence: str

    def text(self) -> str:
        """The argument as a reader sees it."""
        return f"{self.id}: {self.claim}\nReasoning: {self.reasoning}\nEvidence: {self.evidence}"


@dataclass(frozen=True, slots=True)
class Opening:
    """One side's case."""

    arguments: tuple[Argument, ...]

    def text(self) -> str:
        """All arguments, one after the other."""
        return "\n\n".join(argument.text() for argument in self.arguments)


@dataclass(frozen=True, slots=True)
class OpeningForm:
    """``minimum`` to ``maximum`` arguments, numbered ``PREFIX-1``, ``PREFIX-2`` in the order given."""

    prefix: str
    minimum: int = 3
    maximum: int = 5
    name: str = "opening"

    @property
    def schema(self) -> JsonObject:
        """The arguments as a list."""
        argument = _argument(claim=400, reasoning=3000, evidence=2000)
        return schema.record({"arguments": schema.several(argument, self.minimum, self.maximum)})

    def read(self, content: JsonObject) -> Opening:
        """The opening, with ids."""
        rows = cast("list[dict[str, str]]", content["arguments"])
        return Opening(
            tuple(
                Argument(f"{self.prefix}-{number}", row["claim"], row["reasoning"], row["evidence"])
                for number, row in enumerate(rows, start=1)
            )
        )

    def breaches(self, turn: Opening) -> tuple[Violation, ...]:
        """Arguments that lean on another one, or say the same as an earlier one."""
        found: list[Violation] = []
        claims: dict[str, str] = {}
        for number, argument in enumerate(turn.arguments, start=1):
            part = f"argument-{number}"
            leaning = _LEANING.search(f"{argument.claim}\n{argument.reasoning}\n{argument.evidence}")
            if leaning:
                detail = f'{argument.id} leans on another argument ("{leaning.group()}"); each must stand alone'
                found.append(Violation("dependent_argument", detail, part))
            same = "".join(filter(str.isalnum, argument.claim.casefold()))
            if same in claims:
                detail = f"{argument.id} makes the same claim as {claims[same]}"
                found.append(Violation("repeated_argument", detail, part))
            claims.setdefault(same, argument.id)
        return tuple(found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One argument, from the next angle, until there are ``minimum``."""
        if len(done) >= self.minimum:
            return None
        point = "benefit" if self.prefix == "PRO" else "problem"
        keys = {point: schema.text(20, 240), "because": schema.text(30, 500), "for_example": schema.text(20, 300)}
        task = Task("opening-argument", {"angle": ANGLES[len(done) % len(ANGLES)]})
        return Part(f"argument-{len(done) + 1}", schema.record(keys), task, 320, temperature=0.3)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The arguments as one list. What is asked of a small model as a benefit or a problem is its claim."""
        return {
            "arguments": [
                {
                    "claim": content.get("benefit") or content["problem"],
                    "reasoning": content["because"],
                    "evidence": content["for_example"],
                }
                for content in done
            ]
        }


def _argument(*, claim: int, reasoning: int, evidence: int) -> JsonObject:
    keys: dict[str, Any] = {
        "claim": schema.text(10, claim),
        "reasoning": schema.text(20, reasoning),
        "evidence": schema.text(5, evidence),
    }
    return schema.record(keys)
