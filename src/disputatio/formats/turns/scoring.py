"""The judge's turns in a match: the score of a speech with its fouls, and summaries.

The judge gives whole numbers and sentences; code computes weighted scores, penalties and totals. Source: the debate
competition protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import unmarked
from disputatio.formats.turns.speech import SpeechKind
from disputatio.judging.fallacies import words_are_in
from disputatio.judging.scoring import HIGHEST, LOWEST, Rubric
from disputatio.kernel import JsonObject, Part, Task, Violation


class Foul(StrEnum):
    """What a debater must not do. Code finds the last three, the judge the others; both find counter-questions."""

    COUNTER_QUESTION = "counter_question"
    NOT_DIRECT_ANSWER = "not_direct_answer"
    ATTACKER_ANSWERED = "attacker_answered"
    OFF_TOPIC = "off_topic"
    SCRIPTED_SUMMARY = "scripted_summary"
    PERSONAL_ATTACK = "personal_attack"
    TOO_FEW_QUESTIONS = "too_few_questions"
    OVERTIME = "overtime"
    SAME_TEAM = "same_team"


ABOUT: dict[Foul, str] = {
    Foul.COUNTER_QUESTION: "the defender asks back instead of answering",
    Foul.NOT_DIRECT_ANSWER: "the defender does not answer what was asked",
    Foul.ATTACKER_ANSWERED: "the attacker answers or argues instead of asking",
    Foul.OFF_TOPIC: "the speech leaves the motion altogether",
    Foul.SCRIPTED_SUMMARY: "the summary was written beforehand: it takes up nothing of the cross-examination",
    Foul.PERSONAL_ATTACK: "it attacks persons instead of what they say",
    Foul.TOO_FEW_QUESTIONS: "fewer questions than the rules want",
    Foul.OVERTIME: "more words than the clock allows",
    Foul.SAME_TEAM: "the same team speaks twice running",
}
_ANYWHERE = (Foul.OFF_TOPIC, Foul.PERSONAL_ATTACK)
JUDGED: dict[SpeechKind, tuple[Foul, ...]] = {
    SpeechKind.OPENING: _ANYWHERE,
    SpeechKind.QUESTIONS: (Foul.ATTACKER_ANSWERED, *_ANYWHERE),
    SpeechKind.ANSWER: (Foul.COUNTER_QUESTION, Foul.NOT_DIRECT_ANSWER, *_ANYWHERE),
    SpeechKind.SUMMARY: (Foul.SCRIPTED_SUMMARY, *_ANYWHERE),
    SpeechKind.FREE: _ANYWHERE,
    SpeechKind.CLOSING: _ANYWHERE,
}
"""Fouls the judge may find, by kind of speech: an opening cannot be a counter-question."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A foul the judge found. ``said``: whether its words are in the speech; otherwise it does not count."""

    foul: Foul
    words: str
    said: bool


@dataclass(frozen=True, slots=True)
class Scoring:
    """The judge on one speech. ``scores`` are integers 1 to 10 by criterion."""

    scores: dict[str, int]
    comment: str
    findings: tuple[Finding, ...]

    def text(self) -> str:
        """The judge's own note."""
        numbers = ", ".join(f"{key} {score}" for key, score in self.scores.items())
        found = "".join(f'\n{row.foul}: "{row.words}"' for row in self.findings)
        return unmarked(f"{numbers}. {self.comment}{found}")


@dataclass(frozen=True, slots=True)
class ScoringSpec:
    """The scores of one ``speech`` of ``kind`` under ``rubric``."""

    kind: SpeechKind
    speech: str
    rubric: Rubric
    name: str = "scoring"

    @property
    def schema(self) -> JsonObject:
        """The comment first, so that the numbers follow from it; only fouls that this kind of speech can have."""
        found = schema.record({"violation": schema.one_of(JUDGED[self.kind]), "words": schema.prose(2, 30)})
        return schema.record(
            {
                "comment": schema.prose(5, 60),
                "violations": schema.several(found, 0, 6),
                **{row.key: schema.whole(LOWEST, HIGHEST) for row in self.rubric.criteria},
            }
        )

    def read(self, content: JsonObject) -> Scoring:
        """The scores, each foul marked by whether its words were said."""
        rows = cast("list[dict[str, Any]]", content["violations"])
        found = tuple(
            Finding(Foul(row["violation"]), row["words"], words_are_in(row["words"], self.speech)) for row in rows
        )
        scores = {row.key: int(cast("int", content[row.key])) for row in self.rubric.criteria}
        return Scoring(scores, cast("str", content["comment"]), found)

    def violations(self, turn: Scoring) -> tuple[Violation, ...]:
        """Fouls with quoted words that were not said: they do not count."""
        return tuple(
            Violation("unfound_words", f'the {row.foul.replace("_", " ")} quotes "{row.words}", which was not said')
            for row in turn.findings
            if not row.said
        )

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """A comment, and a word for each criterion; a small judge is not asked for fouls."""
        if done:
            return None
        words = {row.key: schema.one_of(_WORDS) for row in self.rubric.criteria}
        keys = {"comment": schema.text(15, 240), **words}
        task = Task("competition-score", {"criteria": criteria_list(self.rubric)}, {"speech": self.speech})
        return Part("score", schema.record(keys), task, 200, temperature=0.7)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The words as numbers."""
        scores = {row.key: _WORDS[cast("str", done[0][row.key])] for row in self.rubric.criteria}
        return {"comment": done[0]["comment"], "violations": [], **scores}


def criteria_list(rubric: Rubric) -> str:
    """The criteria as a list for a prompt."""
    return "\n".join(f"- {row.key}: {row.question}" for row in rubric.criteria)


# Asked for several numbers, a small model counts up; asked for words, it judges.
_WORDS = {"very weak": 1, "weak": 3, "fair": 5, "good": 7, "strong": 9}


@dataclass(frozen=True, slots=True)
class Summation:
    """The judge's summary of a stage or the match; ``points`` by key, in order."""

    points: dict[str, str]

    def text(self) -> str:
        """Point by point."""
        return unmarked("\n".join(f"{key.replace('_', ' ')}: {text}" for key, text in self.points.items()))


STAGE_POINTS = ("summary", "turning_point")
FINAL_POINTS = ("summary", "decisive", "advice_pro", "advice_con")


@dataclass(frozen=True, slots=True)
class SummationSpec:
    """A text for each of ``points``. ``said`` is what a small judge sees."""

    points: tuple[str, ...]
    said: str = ""
    name: str = "summation"

    @property
    def schema(self) -> JsonObject:
        """One text for each point."""
        return schema.record({key: schema.prose(5, 100) for key in self.points})

    def read(self, content: JsonObject) -> Summation:
        """The points in their order."""
        return Summation({key: cast("str", content[key]) for key in self.points})

    def violations(self, turn: Summation) -> tuple[Violation, ...]:  # noqa: ARG002  (the schema carries every rule)
        """None."""
        return ()

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """All points, shorter."""
        if done:
            return None
        task = Task(f"competition-summation-{len(self.points)}", {}, {"said": self.said})
        return Part(
            "summation", schema.record({key: schema.text(20, 240) for key in self.points}), task, 90 * len(self.points)
        )

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The points."""
        return done[0]
