"""The state of a match for the screen: kinds and limits of speeches, clocks, totals.

Limits come from the recorded rules. The format's own clock computes the clocks of the free debate.
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
    """The state of a match. ``totals`` are by debater and team, without debaters that have no score.

    ``free_limit`` is the limit that the last free speech had when it began.
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
        """The state at the beginning; None if the debate is not a match."""
        if opened.format != "competition":
            return None
        cast: Any = opened.rules.get("cast")
        rows = cast.get("personalities") if isinstance(cast, Mapping) else None
        named = rows.items() if isinstance(rows, Mapping) else ()
        styles = {str(seat): str(row.get("name", "")) for seat, row in named}
        return cls(opened.rules, styles, clocks={team: _clock_of(team, opened.rules) for team in TEAMS})

    def add(self, event: Event) -> None:
        """Update the state with an event."""
        match event:
            case TurnTaken() if event.form in SPEECHES:
                self.speeches += 1
                self.spoken[event.seat] = self.spoken.get(event.seat, 0) + 1
                if event.phase == FREE:
                    self._update_clock(event.seat, count_content_words(event.content))
            case TurnAsked() if event.form in SPEECHES and event.phase == FREE:
                self.asked.add(event.path)
            case Abstained() if event.path in self.asked:
                self._update_clock(event.seat, 0)
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

    def _update_clock(self, seat: str, words: int) -> None:
        """Update a team's clock after a free speech of ``words``; 0 means that there was no speech."""
        team = team_of(seat)
        if team in self.clocks:
            before = self.clocks[team]
            self.free_limit = before.limit
            self.clocks[team] = before.after(seat, words) if words else before.without(seat)

    def limit(self, seat: str, phase: str, form: str) -> int | None:
        """The word limit of a speech that begins now; None if words are not counted."""
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

    def words_left(self, team: str) -> int:
        """The words that a team has left in the free debate."""
        return self.clocks[team].words_left if team in self.clocks else 0

    def seconds(self, words: int) -> int:
        """How many seconds ``words`` take at the pace of the match."""
        pace = self.rules.get("words_a_minute")
        return words * 60 // (pace if isinstance(pace, int) and pace > 0 else 250)

    @staticmethod
    def kind(seat: str, phase: str, form: str) -> str:
        """The kind of a speech, in a word or two."""
        if form == "questions":
            return "questions"
        if phase == "cross-examination":
            return "summary" if seat.endswith("_1") else "answer"
        return {"opening": "opening", FREE: "free speech", "closing": "closing"}.get(phase, "speech")


def _clock_of(team: str, rules: Mapping[str, Any]) -> Clock:
    """A team's clock under recorded rules. Before the second edition a speech had no limit."""
    # Imported here because every screen imports this module, and few show a match.
    from disputatio.formats.match import Clock

    names = ("free_words", "free_speeches", "free_speech_words")
    words, speeches, limit = (rules[name] if isinstance(rules.get(name), int) else 0 for name in names)
    cap = limit or max(words // max(speeches, 1), 1) if "edition" in rules else None
    return Clock(team, words, speeches, cap=cap)


def team_of(seat: str) -> str:
    """The team of a debater."""
    return seat.partition("_")[0]


def count_content_words(content: Mapping[str, Any]) -> int:
    """Count the words of a speech, or of all questions of a turn."""
    speech, questions = content.get("speech"), content.get("questions")
    if isinstance(speech, str):
        return count_words(speech)
    return count_words("\n".join(str(row) for row in questions)) if isinstance(questions, list | tuple) else 0


def format_clock(seconds: int) -> str:
    """Seconds as ``1:42``."""
    return f"{seconds // 60}:{seconds % 60:02d}"
