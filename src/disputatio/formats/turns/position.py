"""A position: a panel debater's stance, its rationale, and its vote.

Source: the debate orchestration pattern (every turn has a stance, a rationale and a vote for one of the options).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import NOTHING, Citing, citation_lines, unmarked, unverified
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion import count_words

_BEGINNINGS: dict[str, tuple[str, ...]] = {
    "proposal": ("The proposal", "It"),
    "critique": ("That is wrong because", "That is only partly right because", "That is right because"),
}
"""How a small model's view begins, by stage; without it, the model leaves the subject."""
_QUOTED: dict[str, tuple[str, ...]] = {
    "proposal": (),
    "critique": ("other",),
    "revision": ("own", "other"),
    "consensus": ("own", "other"),
}


@dataclass(frozen=True, slots=True)
class Position:
    """The stance of one debater and its vote for an option; ``citations`` are checked."""

    stance: str
    rationale: str
    vote: str
    citations: tuple[CheckedCitation, ...] = ()

    @property
    def cited(self) -> tuple[tuple[str, CheckedCitation], ...]:
        """What the position cites."""
        return tuple(("position", row) for row in self.citations)

    @property
    def words(self) -> int:
        """The words of stance and rationale."""
        return count_words(self.stance) + count_words(self.rationale)

    def text(self) -> str:
        """The position as the others hear it."""
        said = unmarked(f"{self.stance}\nRationale: {self.rationale}\nVote: {self.vote}")
        return "\n".join([said, *citation_lines(self.citations)])


@dataclass(frozen=True, slots=True)
class PositionSpec:
    """A position of at most ``limit`` words with a vote for one of ``options``.

    The other fields are for small models: the phase (``stage``), the ``angle`` to argue from, whether at a benefit or a
    problem (``point``), what another debater said last (``other``) and what they said themselves (``own``). The last
    two may be empty.
    """

    options: tuple[str, ...]
    limit: int
    stage: str
    angle: str
    point: str = "benefit"
    other: str = ""
    own: str = ""
    citing: Citing = NOTHING
    name: str = "position"

    @property
    def schema(self) -> JsonObject:
        """Stance and rationale before the vote, so that the vote follows from them.

        Both may be short: refusing a brief turn would lose its vote.
        """
        return schema.record(
            {
                "stance": schema.prose(1, 45),
                "rationale": schema.prose(1, max(self.limit, 30)),
                "vote": schema.one_of(self.options),
                **self.citing.fields(),
            }
        )

    def read(self, content: JsonObject) -> Position:
        """The position."""
        stance, rationale, vote = (cast("str", content[key]) for key in ("stance", "rationale", "vote"))
        return Position(stance, rationale, vote, self.citing.read(content))

    def violations(self, turn: Position) -> tuple[Violation, ...]:
        """More words than the limit, and citations that no source bears out."""
        found = tuple(unverified(turn.citations, "the position", "position"))
        if turn.words <= self.limit:
            return found
        detail = f"stance and rationale have {turn.words} words and {self.limit} are allowed"
        return (Violation("word_limit", detail, "position"), *found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One short view, and a sentence whose beginning is the vote."""
        if done:
            return None
        # Without another speaker there is nothing to examine.
        stage = "proposal" if not self.other else self.stage if self.own else "critique"
        quotes = {"other": self.other, "own": self.own}
        task = Task(
            f"panel-{stage}",
            {"angle": self.angle, "point": self.point, "options": ", ".join(self.options)},
            {name: quotes[name] for name in _QUOTED[stage]},
        )
        begun = _BEGINNINGS.get(stage)
        view = schema.begun_with(begun, 15, 240) if begun else schema.text(20, 240)
        # The name of a key steers a small model as much as the prompt does.
        key = {"proposal": self.point, "critique": "reply"}.get(stage, "conclusion")
        keys = {key: view, "my_vote": schema.begun_with(self._beginnings(), 20, 260)}
        return Part("position", schema.record(keys), task, 240, temperature=0.5)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """Join the parts: the view is the stance, the sentence with the vote the rationale."""
        sentence = cast("str", done[0]["my_vote"])
        beginnings = self._beginnings()
        # One option may begin with the words of another; the longest match is meant.
        begun = max((row for row in beginnings if sentence.startswith(row)), key=len)
        stance = next(text for key, text in done[0].items() if key != "my_vote")
        uncited: JsonObject = {key: [] for key in self.citing.fields()}
        return {"stance": stance, "rationale": sentence, "vote": beginnings[begun], **uncited}

    def _beginnings(self) -> dict[str, str]:
        return {f"My vote is {option} because": option for option in self.options}
