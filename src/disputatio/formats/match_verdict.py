"""The result of a match: the totals, the winner, the best debater, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from disputatio.formats.competition_rules import CompetitionRules
from disputatio.formats.match import (
    CON,
    DEBATERS,
    PRO,
    TEAMS,
    Match,
    Total,
    debater,
    members,
    team_of,
    total_of_debater,
    total_of_team,
)
from disputatio.formats.turns.speech import SpeechKind
from disputatio.judging.scoring import round_half_up
from disputatio.kernel import JsonObject

DRAW = "draw"


@dataclass(frozen=True, slots=True)
class MatchVerdict:
    """The result of a match. Code computes everything from the speeches."""

    match: Match
    rules: CompetitionRules

    @property
    def teams(self) -> dict[str, Total]:
        """The team totals."""
        return {team: total_of_team(self.match, team) for team in TEAMS}

    @property
    def debaters(self) -> dict[str, Total]:
        """The individual totals."""
        return {seat: total_of_debater(self.match, seat) for seat in DEBATERS}

    @property
    def unscored(self) -> tuple[str, ...]:
        """The speeches that have no score."""
        return tuple(row.id for row in self.match.speeches if row.score is None)

    @property
    def judged(self) -> bool:
        """Whether the judge scored anything."""
        return len(self.unscored) < len(self.match.speeches)

    @property
    def winner(self) -> str | None:
        """``pro``, ``con`` or ``draw``; None where it cannot be decided."""
        if not self.match.finished or not self.judged:
            return None
        pro, con = self.teams[PRO], self.teams[CON]
        if pro.lowest > con.highest:
            return PRO
        if con.lowest > pro.highest:
            return CON
        return None if self.unscored else DRAW

    @property
    def best(self) -> tuple[str, ...]:
        """The debaters with the most points per speech; empty where it cannot be decided."""
        if not self.judged or not self.match.finished:
            return ()
        rows = [row for row in self.debaters.values() if row.points is not None]
        by_sum = self.rules.edition == 1
        ranges = {row.who: (row.lowest, row.highest) if by_sum else row.mean_range for row in rows}
        highest = max(low for low, _ in ranges.values())
        leading = [row for row in rows if ranges[row.who][1] >= highest]
        certain = len(leading) == 1 or not any(row.unscored for row in leading)
        return tuple(row.who for row in leading) if certain else ()

    @property
    def unspoken(self) -> tuple[str, ...]:
        """The debaters without a speech in the free debate, where everybody should speak."""
        heard = {row.seat for row in self.match.speeches if row.kind is SpeechKind.FREE}
        return tuple(seat for seat in DEBATERS if seat not in heard)

    @property
    def reading(self) -> str:
        """The result in one sentence."""
        return f"{self._result}{self._missing}{self._uneven}"

    @property
    def _result(self) -> str:
        pro, con = (self.teams[team].points for team in TEAMS)
        totals = f"{points_text(pro)} to {points_text(con)}"
        if not self.judged:
            return "no result: the judge scored no speech"
        if not self.match.finished:
            return f"no result: the match was not finished (PRO {points_text(pro)}, CON {points_text(con)} so far)"
        if self.winner == DRAW:
            return f"a draw, {totals}"
        if self.winner is None:
            return f"no winner can be told (PRO {points_text(pro)}, CON {points_text(con)} without the missing scores)"
        first, second = (pro, con) if self.winner == PRO else (con, pro)
        return f"{self.winner.upper()} wins, {points_text(first)} to {points_text(second)}"

    @property
    def _missing(self) -> str:
        if not self.unscored or not self.judged:
            return ""
        number = len(self.unscored)
        what = "speech has" if number == 1 else "speeches have"
        settled = "" if self.winner is None else ", which cannot change it"
        return f"; {number} {what} no score ({', '.join(self.unscored)}){settled}"

    @property
    def _uneven(self) -> str:
        """A warning where one team gave more speeches, since each brings points."""
        pro, con = (self.teams[team] for team in TEAMS)
        if not self.judged or pro.speeches == con.speeches:
            return ""
        means = f"per speech {points_text(pro.mean)} and {points_text(con.mean)}"
        return f"; the sums compare {pro.speeches} speeches with {con.speeches}: {means}"

    @property
    def best_text(self) -> str:
        """The best debater in a few words."""
        if not self.best:
            return "cannot be told"
        if self.rules.edition > 1:
            mean = f"{points_text(self.debaters[self.best[0]].mean)} points per speech"
            return f"{_listed([seat.upper() for seat in self.best])} ({mean})"
        points = points_text(self.debaters[self.best[0]].points)
        return f"{_listed([seat.upper() for seat in self.best])} ({points}{' each' if len(self.best) > 1 else ''})"

    def as_json(self) -> JsonObject:
        """Return the verdict as the record and the exports keep it."""
        match, rules = self.match, self.rules
        return {
            "format": "competition",
            "judged": self.judged,
            "finished": match.finished,
            "winner": self.winner,
            "reading": self.reading,
            "best_debaters": list(self.best),
            "best_debater_text": self.best_text,
            "rubric": rules.rubric.name,
            "free_mode": rules.free_mode,
            "words_a_minute": rules.words_a_minute,
            "captains": {team: debater(team, rules.captain) for team in TEAMS},
            "teams": {team: self._team(team) for team in TEAMS},
            "debaters": [self._debater(seat) for seat in DEBATERS],
            "speeches": [row.as_json() for row in match.speeches],
            "penalties": [row.as_json() for row in match.penalties],
            "silences": [row.as_json() for row in match.silences],
            "unscored": list(self.unscored),
            "unspoken": list(self.unspoken),
            "stages": [
                {"stage": stage, "given": said is not None, "points": dict(said.points) if said else {}}
                for stage, said in match.summaries
            ],
        }

    def _team(self, team: str) -> JsonObject:
        total = self.teams[team]
        free = [row for row in self.match.speeches if row.kind is SpeechKind.FREE and row.team == team]
        words = sum(row.words for row in free)
        four = {str(seat): points for seat in members(team) if (points := _shown(self.debaters[seat])) is not None}
        return {**_total(total), "debaters": four, "free_words": words, "free_words_allowed": self.rules.free_words}

    def _debater(self, seat: str) -> JsonObject:
        own = self.rules.cast.of(seat)
        words = sum(row.words for row in self.match.spoken_by(seat))
        name = own.name if own else None
        return {"seat": seat, "team": team_of(seat), "personality": name, "words": words, **_total(self.debaters[seat])}


def _total(total: Total) -> dict[str, bool | int | float | str | None]:
    return {
        "total": _shown(total),
        "exact": None if total.points is None else str(total.points),
        "mean": None if total.mean is None else round_half_up(total.mean),
        "mean_exact": None if total.mean is None else str(total.mean),
        "penalties": total.penalties,
        "speeches": total.speeches,
        "unscored": total.unscored,
    }


def _shown(total: Total) -> float | None:
    return None if total.points is None else round_half_up(total.points)


def points_text(points: Fraction | None) -> str:
    """Return points with two decimals, for display."""
    return "none" if points is None else f"{round_half_up(points):.2f}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
