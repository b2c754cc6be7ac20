"""What came of a tournament: every match with its outcome, the players in their order, and the sides.

A match is won by one side, drawn, or without a result; what has no result is counted and named, and never a loss.

    structured    the side whose total is higher by a point or more; less is a draw, as the reading of the scores says
                  (evenly matched); of several judges the winner of the panel
    competition   the team with more points per speech, where the match names a winner or a draw; the sums that decide
                  the match itself grow with every speech, so they would rank who speaks most often. Records of earlier
                  versions do not tell points per speech: the winner that they name
    own rules     the "winner" of their result: pro, con or draw
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from disputatio.evaluation.experiment import ExperimentResult, FinishedTrial, Spent
from disputatio.evaluation.intervals import Rate, rate
from disputatio.evaluation.tournament.pairing import CON, PRO, Pairing, Tournament, format_name
from disputatio.evaluation.tournament.strengths import (
    ELO,
    PRIOR,
    Game,
    Strength,
    Strengths,
    strengths,
    unbounded,
    unconnected,
)
from disputatio.judging.panel_verdict import PanelStatus
from disputatio.kernel import JsonObject
from disputatio.motion import one_line
from disputatio.record.history import History, Status
from disputatio.report.amounts import counted

DRAW, NO_RESULT = "draw", "no result"
POINTS = {PRO: 1.0, DRAW: 0.5, CON: 0.0}
DRAW_GAP = 1.0
"""Points; a smaller gap of a structured debate is a draw."""
DRAWS_ARE = "A draw counts as half a win for each."


@dataclass(frozen=True, slots=True)
class Match:
    """One match that was held: ``outcome`` is pro, con, draw or no result, and ``why`` says why there is none."""

    pairing: Pairing
    debate: str
    outcome: str
    status: str
    why: str = ""
    uneven: bool = False

    @property
    def winner(self) -> str | None:
        """The model that won."""
        return {PRO: self.pairing.pro, CON: self.pairing.con}.get(self.outcome)

    def as_json(self) -> JsonObject:
        """As the report keeps it."""
        row = self.pairing
        return {
            "debate": self.debate,
            "pro": row.pro,
            "con": row.con,
            "topic": row.topic.name,
            "format": format_name(row.format),
            "repetition": row.number,
            "outcome": self.outcome,
            "winner": self.winner,
            "status": self.status,
            "why": self.why,
        }


def outcome_of(history: History) -> tuple[str, str]:
    """The outcome of a match, and why it has none."""
    closed = history.closed
    if closed is None:
        return NO_RESULT, "it was not finished"
    told: Mapping[str, Any] = closed.outcome
    if told.get("fault"):
        return NO_RESULT, one_line(str(told["fault"]), 200)
    named = _panel(told) if told.get("format") == "structured" else _by_speech(told)
    if named in POINTS:
        return str(named), ""
    if told.get("judged") is False:
        return NO_RESULT, "nothing was judged"
    why = str(told.get("reading") or "") if told.get("format") != "own" else "its rules named no winner"
    return NO_RESULT, one_line(why, 200) or history.status.value.lower()


def _by_speech(told: Mapping[str, Any]) -> str | None:
    """Who won a competition by points per speech; who won by its own word in any other format."""
    winner, means = told.get("winner"), _means(told)
    if winner not in POINTS or len(means) != 2:
        return winner
    pro, con = means
    return PRO if pro > con else CON if con > pro else DRAW


def _means(told: Mapping[str, Any]) -> tuple[Fraction, ...]:
    """The exact points per speech of both teams; empty where the outcome does not tell them."""
    teams = told.get("teams")
    if not isinstance(teams, Mapping):
        return ()
    rows = [teams.get(side) for side in (PRO, CON)]
    given = [row.get("mean_exact") for row in rows if isinstance(row, Mapping)]
    return tuple(Fraction(row) for row in given if isinstance(row, str))


def _panel(told: Mapping[str, Any]) -> str | None:
    """Who won a structured debate."""
    panel = told.get("panel")
    if isinstance(panel, Mapping):
        status = panel.get("status")
        return DRAW if status == PanelStatus.TIED.value else panel.get("winner")
    gap = told.get("gap")
    if not isinstance(gap, int | float) or isinstance(gap, bool):
        return None
    # The reading is made of the exact gap; the gap beside it is rounded.
    if str(told.get("reading", "")).startswith("evenly matched") or abs(gap) < DRAW_GAP:
        return DRAW
    return PRO if gap > 0 else CON


@dataclass(frozen=True, slots=True)
class Standing:
    """A player with its matches; ``strength`` is None where no match of the tournament has a result."""

    player: str
    won: int
    drawn: int
    lost: int
    none: int
    places: tuple[int, int] | None
    strength: Strength | None

    @property
    def matches(self) -> int:
        """All matches it played."""
        return self.won + self.drawn + self.lost + self.none

    def as_json(self) -> JsonObject:
        """As the report keeps it."""
        strength = self.strength
        return {
            "model": self.player,
            "matches": self.matches,
            "won": self.won,
            "drawn": self.drawn,
            "lost": self.lost,
            "no_result": self.none,
            "best_place": self.places[0] if self.places else None,
            "worst_place": self.places[1] if self.places else None,
            "strength": None if strength is None else strength.as_json(),
        }


@dataclass(frozen=True, slots=True)
class Ranking:
    """The whole result."""

    tournament: Tournament
    matches: tuple[Match, ...]
    missing: int
    stopped: str
    spent: Spent
    strengths: Strengths | None
    warnings: tuple[str, ...]

    @property
    def games(self) -> tuple[Game, ...]:
        """The matches with a result."""
        return tuple(
            Game(row.pairing.pro, row.pairing.con, POINTS[row.outcome]) for row in self.matches if row.outcome in POINTS
        )

    @property
    def standings(self) -> tuple[Standing, ...]:
        """The players, strongest first; without strengths in the order in which they were named."""
        if self.strengths is None:
            return tuple(self._standing(name, None) for name in self.tournament.players)
        return tuple(self._standing(name, row) for name, row in self.strengths.players)

    def _standing(self, player: str, strength: Strength | None) -> Standing:
        own = [row for row in self.matches if player in {row.pairing.pro, row.pairing.con}]
        won = sum(row.winner == player for row in own)
        drawn = sum(row.outcome == DRAW for row in own)
        none = sum(row.outcome == NO_RESULT for row in own)
        places = self.strengths.places(player) if self.strengths else None
        return Standing(player, won, drawn, len(own) - won - drawn - none, none, places, strength)

    def counted(self, outcome: str) -> int:
        """How many matches came out so."""
        return sum(row.outcome == outcome for row in self.matches)

    @property
    def pro_share(self) -> Rate:
        """How many of the matches that somebody won were won by the side for the motion."""
        return rate(self.counted(PRO), self.counted(PRO) + self.counted(CON))

    def between(self, first: str, second: str) -> tuple[int, int, int]:
        """Won by ``first``, drawn, and won by ``second`` of their matches with each other."""
        own = [row for row in self.matches if {row.pairing.pro, row.pairing.con} == {first, second}]
        won = sum(row.winner == first for row in own)
        lost = sum(row.winner == second for row in own)
        return won, sum(row.outcome == DRAW for row in own), lost

    def as_json(self) -> JsonObject:
        """The report for programs."""
        players = self.tournament.players
        side = self.strengths.side if self.strengths else None
        return {
            "report": "tournament",
            "judge": self.tournament.judge,
            "models": list(players),
            "topics": [{"name": row.name, "motion": row.motion.text} for row in self.tournament.topics],
            "formats": [format_name(row) for row in self.tournament.formats],
            "repeats": self.tournament.repeats,
            "standings": [row.as_json() for row in self.standings],
            "between": [
                {"first": first, "second": second, "won": won, "drawn": drawn, "lost": lost}
                for place, first in enumerate(players)
                for second in players[place + 1 :]
                for won, drawn, lost in [self.between(first, second)]
            ],
            "sides": {
                "pro_won": self.counted(PRO),
                "con_won": self.counted(CON),
                "drawn": self.counted(DRAW),
                "no_result": self.counted(NO_RESULT),
                "pro_share_of_wins": self.pro_share.as_json(),
                "pro_advantage": None if side is None else side.as_json(),
            },
            "matches": [row.as_json() for row in self.matches],
            "missing": self.missing,
            "stopped": self.stopped,
            "spent": self.spent.as_json(),
            "warnings": list(self.warnings),
            "method": {
                "model": "Bradley-Terry with a term for the side",
                "draws": DRAWS_ARE,
                "prior": f"normal, mean 0, deviation {PRIOR} in log-odds",
                "interval": "95 % profile likelihood",
                "draw_gap_structured": DRAW_GAP,
                "elo_per_log_odds": round(ELO, 4),
            },
        }


def ranking(tournament: Tournament, result: ExperimentResult) -> Ranking:
    """The result of the matches that were held.

    Raises:
        InvalidInputError: the extra "statistics" is not installed.
    """
    held = {row.key: row for row in result.finished}
    matches = tuple(_match(row, held[row.key]) for row in tournament.pairings if row.key in held)
    found = Ranking(tournament, matches, len(result.missing), result.stopped, result.spent, None, ())
    fitted = strengths(tournament.players, found.games)
    warnings = (*tournament.warnings(), *_limits_of(tournament.players, found.games, found))
    return Ranking(tournament, matches, len(result.missing), result.stopped, result.spent, fitted, warnings)


def _match(pairing: Pairing, held: FinishedTrial) -> Match:
    outcome, why = outcome_of(held.history)
    status = held.history.status
    if not why and status is not Status.COMPLETE:
        why = "somebody was silent"
    return Match(pairing, held.debate, outcome, status.value, why, _is_uneven(held.history))


def _is_uneven(history: History) -> bool:
    """Whether one team of a competition gave more speeches than the other."""
    teams: Any = history.closed.outcome.get("teams") if history.closed else None
    if not isinstance(teams, Mapping):
        return False
    return len({row.get("speeches") for row in teams.values() if isinstance(row, Mapping)}) > 1


def _limits_of(players: Sequence[str], games: Sequence[Game], found: Ranking) -> list[str]:
    """What the numbers cannot say."""
    if not games:
        return ["No match has a result: there is nothing to rank."]
    said = []
    winners, losers = unbounded(players, games)
    for names, word, end in ((winners, "won", "upper"), (losers, "lost", "lower")):
        if names:
            whose = "its" if len(names) == 1 else "their"
            said.append(
                f"{', '.join(names)} {word} every match: how far {'ahead' if word == 'won' else 'behind'} cannot be "
                f"told, and the {end} end of {whose} interval comes from the prior alone."
            )
    groups = unconnected(players, games)
    if groups:
        told = " and ".join(", ".join(group) for group in groups)
        said.append(f"No result connects {told}: their strengths cannot be compared.")
    uneven = sum(row.uneven for row in found.matches)
    if uneven:
        one = counted(uneven, "match one team", "matches one team")
        said.append(f"In {one} gave more speeches than the other. Competitions are decided by points per speech.")
    if found.missing:
        held = counted(found.missing, "match was", "matches were")
        said.append(f"{held} not held: the pairs are not balanced over sides and topics.")
    return said
