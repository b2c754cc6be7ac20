"""Turns of debaters in a match: speeches, questions, answers, and directions of captains.

Source: the debate competition protocol (limits in words, at least three questions, a chosen opponent who answers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import NOTHING, Citing, citation_lines, unmarked
from disputatio.formats.turns.schema import ANGLES
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion import count_words


class SpeechKind(StrEnum):
    """What a speech is for. The rules differ by it."""

    OPENING = "opening"
    QUESTIONS = "questions"
    ANSWER = "answer"
    SUMMARY = "summary"
    FREE = "free"
    CLOSING = "closing"


_OVERTIME = 15
"""The most characters per allowed word. A longer speech is penalised, not refused, up to 2.5 times the limit."""
_SHORT = 1_000
"""The least character limit of a speech: two short reasons of a small model."""
_MOST_QUESTIONS = 12
_ENDS = "?\uff1f\u061f\u055e\u1367"
_CLOSERS = " \t\n\"'\u201d\u2019\u00bb)]\u300d\u300f"


def is_question(text: str) -> bool:
    """Whether ``text`` ends with a question mark of any script."""
    return text.rstrip(_CLOSERS).endswith(tuple(_ENDS))


@dataclass(frozen=True, slots=True)
class SpeechTurn:
    """What a debater said. ``questions`` and ``answerer`` belong to an attacker in cross-examination."""

    words_said: str
    questions: tuple[str, ...] = ()
    answerer: str = ""
    citations: tuple[CheckedCitation, ...] = ()

    @property
    def cited(self) -> tuple[tuple[str, CheckedCitation], ...]:
        """What the speech cites, checked by code."""
        return tuple(("speech", row) for row in self.citations)

    @property
    def words(self) -> int:
        """How many words it has, by the one rule for every script."""
        return count_words(self.words_said)

    def text(self) -> str:
        """The speech as the others hear it."""
        if not self.questions:
            return "\n".join([unmarked(self.words_said), *citation_lines(self.citations)])
        listed = "\n".join(f"{number}. {text}" for number, text in enumerate(self.questions, start=1))
        return unmarked(f"To {self.answerer}:\n{listed}")


@dataclass(frozen=True, slots=True)
class SpeechSpec:
    """A speech of at most ``limit`` words. More are a violation with a price; nothing is asked again.

    ``quotes`` are what small models see; ``number`` counts the team's speeches, so that each takes another angle.
    """

    kind: SpeechKind
    limit: int
    stance: str = ""
    number: int = 0
    quotes: Mapping[str, str] = field(default_factory=dict)
    citing: Citing = NOTHING
    name: str = "speech"

    @property
    def schema(self) -> JsonObject:
        """One text, and what it cites, which is no part of its words."""
        return schema.record({"speech": schema.text(2, max(self.limit * _OVERTIME, _SHORT)), **self.citing.fields()})

    def read(self, content: JsonObject) -> SpeechTurn:
        """The speech."""
        return SpeechTurn(cast("str", content["speech"]), citations=self.citing.read(content))

    def violations(self, turn: SpeechTurn) -> tuple[Violation, ...]:
        """What code can find: too many words, and a question where an answer was due."""
        found = _over(turn, self.limit)
        if self.kind is SpeechKind.ANSWER and is_question(turn.words_said):
            found += (Violation("counter_question", "the answer ends as a question"),)
        return found

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """A reason from an angle, or an answer to what was heard; for an opening two reasons.

        A beginning that names the side keeps a small model on it.
        """
        if len(done) >= (2 if self.kind is SpeechKind.OPENING else 1):
            return None
        point = "benefit" if self.stance == "for" else "problem"
        angle = ANGLES[(self.number + 2 * len(done)) % len(ANGLES)]
        values = {"stance": self.stance, "point": point, "angle": angle}
        # A small model repeats what it sees, so two of three free speeches make the team's own points.
        answers = self.kind is not SpeechKind.FREE or self.number // 2 % 3 == 2
        task = Task(f"competition-{self.kind if answers else 'point'}", values, self.quotes if answers else {})
        if self.kind is SpeechKind.OPENING:
            return Part(f"reason-{len(done) + 1}", schema.record({point: schema.text(30, 320)}), task, 200, 0.3)
        begun = _BEGUN.get(self.kind, f"We are {self.stance} this proposal because")
        return Part("speech", schema.record({"speech": schema.begun_with([begun], 30, 320)}), task, 200, 0.5)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The speech."""
        uncited: JsonObject = {key: [] for key in self.citing.fields()}
        return {"speech": " ".join(str(text) for part in done for text in part.values()), **uncited}


_BEGUN = {SpeechKind.ANSWER: "Our answer is that", SpeechKind.SUMMARY: "This does not convince us because"}
"""How a small model's sentence begins, where it does not depend on the side."""
_ASKED = ("What would happen if", "Who will have to", "How can you be sure that", "Why is it not better to")
"""How its questions begin; without them it repeats the same question."""


@dataclass(frozen=True, slots=True)
class QuestionsSpec:
    """Questions of at most ``limit`` words together, put to one of ``answerers``."""

    answerers: tuple[str, ...]
    limit: int
    least: int
    stance: str = ""
    number: int = 0
    quotes: Mapping[str, str] = field(default_factory=dict)
    name: str = "questions"

    @property
    def schema(self) -> JsonObject:
        """Who must answer, and the questions."""
        text = schema.prose(2, max(40, self.limit // 3))
        return schema.record(
            {"answerer": schema.one_of(self.answerers), "questions": schema.several(text, 1, _MOST_QUESTIONS)}
        )

    def read(self, content: JsonObject) -> SpeechTurn:
        """The questions, and whom they are put to."""
        questions = tuple(cast("list[str]", content["questions"]))
        return SpeechTurn("\n".join(questions), questions, cast("str", content["answerer"]))

    def violations(self, turn: SpeechTurn) -> tuple[Violation, ...]:
        """Too many words, or too few questions."""
        found = _over(turn, self.limit)
        asked = sum(is_question(row) for row in turn.questions)
        if asked < self.least:
            detail = f"{asked} of what was said are questions and at least {self.least} are due"
            found += (Violation("too_few_questions", detail),)
        return found

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One question at a time, each about something else; with the first, who must answer."""
        if len(done) >= max(self.least, 1):
            return None
        keys = {"question": schema.begun_with([_ASKED[len(done) % len(_ASKED)]], 10, 200, "?")}
        keys = keys if done else {"answerer": schema.one_of(self.answerers), **keys}
        angle = ANGLES[(self.number + len(done)) % len(ANGLES)]
        task = Task("competition-questions", {"stance": self.stance, "angle": angle}, self.quotes)
        return Part(f"question-{len(done) + 1}", schema.record(keys), task, 140, 0.5)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The questions."""
        return {"answerer": done[0]["answerer"], "questions": [part["question"] for part in done]}


def _over(turn: SpeechTurn, limit: int) -> tuple[Violation, ...]:
    if turn.words <= limit:
        return ()
    return (Violation("overtime", f"{turn.words} words were said and {limit} are allowed"),)


HIGHEST_BID = 10
_BIDS = {"not at all": 0, "a little": 3, "much": 6, "very much": 9}


@dataclass(frozen=True, slots=True)
class Direction:
    """The next speaker of a team, what to speak about, and the bid; 0 for none."""

    speaker: str
    direction: str
    bid: int = 0

    def text(self) -> str:
        """The direction as the team reads it."""
        return unmarked(f"To our team alone. Next: {self.speaker}. Direction: {self.direction}")


@dataclass(frozen=True, slots=True)
class DirectionSpec:
    """One of ``candidates`` and a direction; with a bid where teams bid."""

    candidates: tuple[str, ...]
    bids: bool = False
    stance: str = ""
    quotes: Mapping[str, str] = field(default_factory=dict)
    name: str = "direction"

    @property
    def schema(self) -> JsonObject:
        """The speaker is one of those who may speak."""
        bid = {"bid": schema.whole(0, HIGHEST_BID)} if self.bids else {}
        return schema.record(
            {"speaker": schema.one_of(self.candidates), "direction": schema.prose(2, 50), **bid},
        )

    def read(self, content: JsonObject) -> Direction:
        """The direction."""
        bid = content.get("bid", 0)
        return Direction(cast("str", content["speaker"]), cast("str", content["direction"]), int(cast("int", bid)))

    def violations(self, turn: Direction) -> tuple[Violation, ...]:  # noqa: ARG002  (the schema carries every rule)
        """None."""
        return ()

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """Everything at once; how much the floor is wanted in a word."""
        if done:
            return None
        bid = {"wanted": schema.one_of(_BIDS)} if self.bids else {}
        point = "benefit" if self.stance == "for" else "problem"
        direction = schema.begun_with([f"Say that one {point} is"], 15, 200)
        keys = {"speaker": schema.one_of(self.candidates), "direction": direction, **bid}
        task = Task("competition-direction", {"stance": self.stance, "point": point}, self.quotes)
        return Part("direction", schema.record(keys), task, 120, 0.5)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The direction, with the word as a number."""
        bid = {"bid": _BIDS[cast("str", done[0]["wanted"])]} if self.bids else {}
        return {"speaker": done[0]["speaker"], "direction": done[0]["direction"], **bid}
