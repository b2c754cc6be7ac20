"""Opening: each side states independent arguments.

Source of the numbers: the structured debate protocol (3 to 5 arguments; claim of 10 characters or more, reasoning of
20, evidence of 5; independence of the arguments).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import (
    NOTHING,
    Citing,
    Phrases,
    citation_lines,
    unmarked,
    unstated_lines,
    unverified,
)
from disputatio.formats.turns.schema import ANGLES
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion.text import same_words

_QUOTABLE = 3
"""Sentences that a small model chooses from."""
_QUOTE_KEY = "the_text_says"

_LEANING = Phrases(
    r"\b(?:see|as (?:stated|argued|shown|noted|mentioned) in|per|from) (?:the )?(?:argument|point)s? (?:no\.? ?)?\d"
    r"|\b(?:my|our|the) (?:first|second|third|fourth|fifth|previous|next|other|above|earlier) (?:argument|point)\b"
    r"|\b(?:as|like) (?:i|we) (?:argued|said|stated|noted|explained) (?:above|before|earlier)\b"
    r"|\b(?:pro|con)-\d{1,2}\b"
)


@dataclass(frozen=True, slots=True)
class Argument:
    """A claim, its reasoning and its evidence. Code gives the id."""

    id: str
    claim: str
    reasoning: str
    evidence: str
    citations: tuple[CheckedCitation, ...] = ()
    unstated: tuple[str, ...] = ()

    def text(self) -> str:
        """The argument as a reader sees it."""
        said = [f"{self.id}: {self.claim}", f"Reasoning: {self.reasoning}", f"Evidence: {self.evidence}"]
        return "\n".join([*map(unmarked, said), *citation_lines(self.citations), *unstated_lines(self.unstated)])


@dataclass(frozen=True, slots=True)
class Opening:
    """One side's case."""

    arguments: tuple[Argument, ...]

    @property
    def cited(self) -> tuple[tuple[str, CheckedCitation], ...]:
        """What each argument cites."""
        return tuple((argument.id, row) for argument in self.arguments for row in argument.citations)

    @property
    def unstated(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The figures of each argument that no source has."""
        return tuple((argument.id, argument.unstated) for argument in self.arguments)

    def text(self) -> str:
        """All arguments, one after the other."""
        return "\n\n".join(argument.text() for argument in self.arguments)


@dataclass(frozen=True, slots=True)
class OpeningSpec:
    """``minimum`` to ``maximum`` arguments, numbered ``PREFIX-1``, ``PREFIX-2``, ..."""

    prefix: str
    minimum: int = 3
    maximum: int = 5
    citing: Citing = NOTHING
    name: str = "opening"

    @property
    def schema(self) -> JsonObject:
        """The arguments as a list."""
        argument = _argument(self.citing, claim=25, reasoning=80, evidence=42)
        return schema.record({"arguments": schema.several(argument, self.minimum, self.maximum)})

    def read(self, content: JsonObject) -> Opening:
        """The opening, with ids."""
        rows = cast("list[dict[str, Any]]", content["arguments"])
        return Opening(
            tuple(
                Argument(
                    f"{self.prefix}-{number}",
                    row["claim"],
                    row["reasoning"],
                    row["evidence"],
                    self.citing.read(row),
                    self.citing.find_unstated_figures(row["claim"], row["reasoning"], row["evidence"]),
                )
                for number, row in enumerate(rows, start=1)
            )
        )

    def violations(self, turn: Opening) -> tuple[Violation, ...]:
        """Arguments that rely on or repeat another one, and unverified citations."""
        found: list[Violation] = []
        repeats = dict(same_words([argument.claim for argument in turn.arguments]))
        for number, argument in enumerate(turn.arguments, start=1):
            part = f"argument-{number}"
            leaning = _LEANING.first_in(f"{argument.claim}\n{argument.reasoning}\n{argument.evidence}")
            if leaning:
                detail = f'{argument.id} leans on another argument ("{leaning}"); each must stand alone'
                found.append(Violation("dependent_argument", detail, part))
            if number - 1 in repeats:
                detail = f"{argument.id} makes the same claim as {turn.arguments[repeats[number - 1]].id}"
                found.append(Violation("repeated_argument", detail, part))
            found += unverified(argument.citations, argument.id, part)
        return tuple(found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One argument, from the next angle, until there are ``minimum``."""
        if len(done) >= self.minimum:
            return None
        point = "benefit" if self.prefix == "PRO" else "problem"
        keys = {point: schema.text(20, 240), "because": schema.text(30, 500), "for_example": schema.text(20, 300)}
        angle = ANGLES[len(done) % len(ANGLES)]
        choice = self._quotable(done)
        if choice:
            # The quote comes first, so that the argument follows from it.
            keys = {_QUOTE_KEY: schema.one_of(choice), **keys}
        task = Task("opening-argument", {"angle": angle})
        return Part(f"argument-{len(done) + 1}", schema.record(keys), task, 400 if choice else 320, temperature=0.3)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """Join the arguments. The benefit or problem that a small model names is the claim."""
        empty: JsonObject = {key: [] for key in self.citing.fields()}
        return {
            "arguments": [
                {
                    "claim": content.get("benefit") or content["problem"],
                    "reasoning": content["because"],
                    "evidence": content["for_example"],
                    **empty,
                    **self._quoted(done, place),
                }
                for place, content in enumerate(done)
            ]
        }

    def _quotable(self, done: tuple[JsonObject, ...]) -> dict[str, str]:
        """Return sentences that a small model may quote next, with their sources, without repetitions."""
        if "quotations" not in self.citing.fields():
            return {}
        used = {content.get(_QUOTE_KEY) for content in done}
        fitting = self.citing.sentences(ANGLES[len(done) % len(ANGLES)], _QUOTABLE + len(used))
        return {row.text: row.source_id for row in fitting if row.text not in used}

    def _quoted(self, done: tuple[JsonObject, ...], place: int) -> JsonObject:
        """Return the sentence that a small model chose at ``place``, as a quotation."""
        sentence = done[place].get(_QUOTE_KEY)
        if not isinstance(sentence, str):
            return {}
        return {"quotations": [{"source": self._quotable(done[:place])[sentence], "quote": sentence}]}


def _argument(citing: Citing, *, claim: int, reasoning: int, evidence: int) -> JsonObject:
    keys: dict[str, Any] = {
        "claim": schema.prose(10, claim),
        "reasoning": schema.prose(20, reasoning),
        "evidence": schema.prose(5, evidence),
        **citing.fields(),
    }
    return schema.record(keys)
