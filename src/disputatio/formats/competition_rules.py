"""The numbers of a match: clocks, prices and weights. Each can be set.

Source: the debate competition protocol gives every default except the cap on rule compliance, and the number and length
of free speeches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar

from disputatio.errors import InvalidInputError
from disputatio.formats.rule_values import Cast
from disputatio.formats.turns.scoring import Foul
from disputatio.formats.turns.speech import SpeechKind
from disputatio.judging.scoring import Criterion, Rubric
from disputatio.kernel import Limits

SEQUENTIAL, CONCURRENT = "sequential", "concurrent"

MATCH_RUBRIC = Rubric(
    "competition",
    (
        Criterion("logic", Fraction(25, 100), "Do the conclusions follow, and does it meet what the other team said?"),
        Criterion("persuasion", Fraction(25, 100), "Would it move an undecided listener?"),
        Criterion("expression", Fraction(20, 100), "Is it clear, ordered and good to hear?"),
        Criterion("teamwork", Fraction(15, 100), "Does it build on what the team said, and fit the speaker's place?"),
        Criterion("rule_compliance", Fraction(15, 100), "Does it keep the rules of its stage?"),
    ),
)

_NEVER_AGAIN = 0
"""In a match a broken rule has its penalty and is never asked again."""


def _limits(max_tokens: int, temperature: float) -> Limits:
    return Limits(max_tokens=max_tokens, temperature=temperature, rule_asks=_NEVER_AGAIN)


@dataclass(frozen=True, slots=True)
class CompetitionRules:
    """The rules of a competition. Limits are in words; penalties are points, given as positive numbers.

    Attributes:
        opening_words: of an opening statement (3 minutes).
        question_words: of all questions of one cross-examination together (half a minute).
        least_questions: the fewest questions.
        answer_words: of an answer (1 minute).
        summary_words: of a summary of the cross-examination (2 minutes).
        free_words: of a team in the whole free debate (4 minutes).
        closing_words: of a closing statement (3 minutes).
        words_a_minute: converts words to time, for display.
        free_speeches: the most speeches of a team in the free debate.
        free_speech_words: of one free speech; 0 is an equal share of ``free_words``, so that long speakers speak as
            often as brief ones.
        free_mode: ``sequential``, where teams alternate, or ``concurrent``, where they bid.
        captain: the place of both teams' captains, 1 to 4.
        overtime_team: price of too many words for the team.
        overtime_individual: price of too many words for the speaker.
        counter_question: price for a defender who asks back in cross-examination.
        attacker_answered: price for an attacker who answers in cross-examination.
        same_team: price for a team that speaks twice in a row.
        compliance_cap: the highest rule compliance of a speech with a violation that has no price.
        rubric: what the judge scores, with the weights.
        cast: the personalities.
        edition: of the rules; recorded and not set. ``ABSENT`` is its value for records without one.

    Raises:
        InvalidInputError: a number is out of its range, or the mode is unknown.
    """

    ABSENT: ClassVar[Mapping[str, Any]] = {"edition": 1}

    opening_words: int = 750
    question_words: int = 125
    least_questions: int = 3
    answer_words: int = 250
    summary_words: int = 500
    free_words: int = 1000
    closing_words: int = 750
    words_a_minute: int = 250
    free_speeches: int = 8
    free_speech_words: int = 0
    free_mode: str = SEQUENTIAL
    captain: int = 1
    overtime_team: int = 3
    overtime_individual: int = 2
    counter_question: int = 2
    attacker_answered: int = 2
    same_team: int = 3
    compliance_cap: int = 6
    rubric: Rubric = MATCH_RUBRIC
    cast: Cast = field(default=Cast())
    edition: int = 2
    opening: Limits = field(default=_limits(2500, 0.7))
    cross_examination: Limits = field(default=_limits(1500, 0.5))
    summary: Limits = field(default=_limits(1800, 0.5))
    free_debate: Limits = field(default=_limits(1500, 0.7))
    direction: Limits = field(default=_limits(500, 0.4))
    closing: Limits = field(default=_limits(2500, 0.6))
    judging: Limits = field(default=_limits(3000, 0.2))

    def __post_init__(self) -> None:
        for row in fields(self):
            value = getattr(self, row.name)
            if isinstance(value, int) and not _RANGES[row.name][0] <= value <= _RANGES[row.name][1]:
                least, most = _RANGES[row.name]
                raise InvalidInputError(
                    f"rules.{row.name} is {value}, which cannot be used.",
                    f"Allowed is a whole number from {least} to {most}.",
                )
        if self.free_mode not in {SEQUENTIAL, CONCURRENT}:
            raise InvalidInputError(
                f"rules.free_mode is {self.free_mode[:40]!r}, which cannot be used.",
                f"Allowed is {SEQUENTIAL} or {CONCURRENT}.",
            )

    def words(self, kind: SpeechKind) -> int:
        """Return the most words of a speech of ``kind``; for the free debate those of a whole team."""
        return {
            SpeechKind.OPENING: self.opening_words,
            SpeechKind.QUESTIONS: self.question_words,
            SpeechKind.ANSWER: self.answer_words,
            SpeechKind.SUMMARY: self.summary_words,
            SpeechKind.FREE: self.free_words,
            SpeechKind.CLOSING: self.closing_words,
        }[kind]

    @property
    def free_cap(self) -> int | None:
        """The most words of one free speech; None under the first edition, which had no limit."""
        if self.edition == 1:
            return None
        return self.free_speech_words or max(self.free_words // self.free_speeches, 1)

    def own_price(self, foul: Foul) -> int:
        """Return what ``foul`` costs its speaker; 0 for no price."""
        return {
            Foul.OVERTIME: self.overtime_individual,
            Foul.COUNTER_QUESTION: self.counter_question,
            Foul.ATTACKER_ANSWERED: self.attacker_answered,
        }.get(foul, 0)

    def team_price(self, foul: Foul) -> int:
        """Return what ``foul`` costs the speaker's team; 0 for no price."""
        return {Foul.OVERTIME: self.overtime_team, Foul.SAME_TEAM: self.same_team}.get(foul, 0)


PRICED = frozenset({Foul.OVERTIME, Foul.COUNTER_QUESTION, Foul.ATTACKER_ANSWERED, Foul.SAME_TEAM})
"""The fouls with a price. The others only lower rule compliance."""

_WORDS, _POINTS = (1, 100_000), (0, 1_000)
_RANGES: dict[str, tuple[int, int]] = {
    **dict.fromkeys(
        ("opening_words", "question_words", "answer_words", "summary_words", "free_words", "closing_words"), _WORDS
    ),
    **dict.fromkeys(
        ("overtime_team", "overtime_individual", "counter_question", "attacker_answered", "same_team"), _POINTS
    ),
    "least_questions": (0, 12),
    "words_a_minute": (1, 10_000),
    "free_speeches": (1, 200),
    "free_speech_words": (0, 100_000),
    "edition": (1, 2),
    "captain": (1, 4),
    "compliance_cap": (1, 10),
}
