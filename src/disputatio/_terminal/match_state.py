"""A match as far as it has come, for the screen: kinds and limits of speeches, clocks, totals. Pure bookkeeping.

Limits are those of the rules in the record; the clocks of the free debate are wound again by the format's own clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from disputatio.motion import count_words
from disputatio.record.events import Abstained, DebateOpened, Event, PenaltyGiven, ScoreGiven, TurnAsked, TurnTaken

if TYPE_CHECKING:
    from disputatio.formats.match import Clock

FREE = "free_debate"
TEAMS = ("pro", "con")
SPEECHES = frozenset({"speech", "questions"})


@dataclass(slots=True)
class MatchState:
    """What the screen knows of a match. ``totals`` are by debater and team; a debater without a score is missing.

    ``free_limit`` is the limit of the last speech of the free debate, when it began.
    """

    rules: Mapping[str, Any] = field(default_factory=dict)
    styles: Mapping[str, str] = field(default_factory=dict)
    totals: dict[str, float] = field(default_factory=dict)
    penalties: dict[str, int] = field(default_factory=dict)
    spoken: dict[str, int] = field(default_factory=dict)
    clocks: dict[str, Clock] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    free_limit: int | None = None
    speeches: int = 0

    @classmethod
    def of(cls, opened: DebateOpened) -> MatchState | None:
        """The state at the beginning; None where the debate is no match."""
        if opened.format != "competition":
            return None
        cast: Any = opened.rules.get("cast")
        rows = cast.get("personalities") if isinstance(cast, Mapping) else None
        named = rows.items() if isinstance(rows, Mapping) else ()
        styles = {str(seat): str(row.get("name", "")) for seat, row in named}
        return cls(opened.rules, styles, clocks={team: _clock_of(team, opened.rules) for team in TEAMS})

    def add(self, event: Event) -> None:
        """Take in one event."""
        match event:
            case TurnTaken() if event.form in SPEECHES:
                self.speeches += 1
                self.spoken[event.seat] = self.spoken.get(event.seat, 0) + 1
                if event.phase == FREE:
                    self._wind(event.seat, said_words(event.content))
            case TurnAsked() if event.form in SPEECHES and event.phase == FREE:
                self.asked.add(event.path)
            case Abstained() if event.path in self.asked:
                self._wind(event.seat, 0)
            case ScoreGiven():
                totals = event.body.get("totals")
                if isinstance(totals, Mapping):
                    self.totals |= {str(who): float(row) for who, row in totals.items() if isinstance(row, int | float)}
            case PenaltyGiven():
                who, points = event.body.get("who"), event.body.get("points")
                if isinstance(who, str) and isinstance(points, int):
                    self.penalties[who] = self.penalties.get(who, 0) + points
            case _:
                pass

    def _wind(self, seat: str, words: int) -> None:
        """The clock of a team after a speech of ``words`` in the free debate; without words it was none."""
        team = team_of(seat)
        if team in self.clocks:
            before = self.clocks[team]
            self.free_limit = before.limit
            self.clocks[team] = before.after(seat, words) if words else before.without(seat)

    def limit(self, seat: str, phase: str, form: str) -> int | None:
        """The most words of a speech that is due now; None where words are not counted."""
        if form not in SPEECHES:
            return None
        if phase == FREE:
            team = team_of(seat)
            return self.clocks[team].limit if team in self.clocks else None
        name = {"opening": "opening", "closing": "closing"}.get(phase)
        if phase == "cross-examination":
            name = "question" if form == "questions" else "summary" if seat.endswith("_1") else "answer"
        value = self.rules.get(f"{name}_words")
        return value if isinstance(value, int) else None

    def left(self, team: str) -> int:
        """The words a team has left in the free debate."""
        return self.clocks[team].words_left if team in self.clocks else 0

    def seconds(self, words: int) -> int:
        """How long so many words take by the match's clock."""
        pace = self.rules.get("words_a_minute")
        return words * 60 // (pace if isinstance(pace, int) and pace > 0 else 250)

    @staticmethod
    def kind(seat: str, phase: str, form: str) -> str:
        """What a speech is for, in a word or two."""
        if form == "questions":
            return "questions"
        if phase == "cross-examination":
            return "summary" if seat.endswith("_1") else "answer"
        return {"opening": "opening", FREE: "free speech", "closing": "closing"}.get(phase, "speech")


def _clock_of(team: str, rules: Mapping[str, Any]) -> Clock:
    """A team's clock under recorded rules; those of before the second edition had no limit for a speech."""
    # Every screen asks whether it shows a match; the format's modules are for those that do.
    from disputatio.formats.match import Clock

    names = ("free_words", "free_speeches", "free_speech_words")
    words, speeches, own = (rules[name] if isinstance(rules.get(name), int) else 0 for name in names)
    cap = own or max(words // max(speeches, 1), 1) if "edition" in rules else None
    return Clock(team, words, speeches, cap=cap)


def team_of(seat: str) -> str:
    """The team of a debater."""
    return seat.partition("_")[0]


def said_words(content: Mapping[str, Any]) -> int:
    """The words of a speech, or of questions together."""
    speech, questions = content.get("speech"), content.get("questions")
    if isinstance(speech, str):
        return count_words(speech)
    return count_words("\n".join(str(row) for row in questions)) if isinstance(questions, list | tuple) else 0


def clock(seconds: int) -> str:
    """``1:42``."""
    return f"{seconds // 60}:{seconds % 60:02d}"
