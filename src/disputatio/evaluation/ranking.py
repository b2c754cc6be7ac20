"""The result of a tournament: every match with its outcome, the players in order, and the effect of sides.

A match is won by one side, drawn, or has no result. A match without a result is counted and named; it is never a loss.

    structured    the side whose total is higher by a point or more; less is a draw, as the reading of the scores says
                  (evenly matched); with several judges the winner of the panel
    competition   the team with more points per speech, if the match names a winner or a draw. The sums that decide the
                  match grow with every speech, so they would rank who speaks most often. Records of earlier versions
                  lack points per speech: there the winner they name
    own rules     the "winner" of their result: pro, con or draw
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from disputatio.evaluation.experiment import ExperimentResult, FinishedTrial, Spending
from disputatio.evaluation.statistics.intervals import Rate, rate
from disputatio.evaluation.statistics.strengths import (
    ELO,
    PRIOR,
    Game,
    Strength,
    Strengths,
    find_unbounded,
    find_unconnected,
    fit_strengths,
)
from disputatio.evaluation.tournament_plan import CON, PRO, Pairing, Tournament, name_format
from disputatio.judging.panel_verdict import PanelStatus
from disputatio.kernel import JsonObject
from disputatio.motion import one_line
from disputatio.record.history import History, Status
from disputatio.report.amounts import counted

DRAW, NO_RESULT = "draw", "no result"
POINTS = {PRO: 1.0, DRAW: 0.5, CON: 0.0}
DRAW_GAP = 1.0
"""In points; a smaller gap of a structured debate is a draw."""
DRAWS_ARE = "A draw counts as half a win for each."


@dataclass(frozen=True, slots=True)
class Match:
    """One match that ran: ``outcome`` is pro, con, draw or no result, and ``why`` says why there is none."""

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
        """The match in a report."""
        row = self.pairing
        return {
            "debate": self.debate,
            "pro": row.pro,
            "con": row.con,
            "topic": row.topic.name,
            "format": name_format(row.format),
            "repetition": row.number,
            "outcome": self.outcome,
            "winner": self.winner,
            "status": self.status,
            "why": self.why,
        }


def read_match_outcome(history: History) -> tuple[str, str]:
    """Return the outcome of a match, and why it has none."""
    closed = history.closed
    if closed is None:
        return NO_RESULT, "it was not finished"
    outcome: Mapping[str, Any] = closed.outcome
    if outcome.get("fault"):
        return NO_RESULT, one_line(str(outcome["fault"]), 200)
    named = _panel(outcome) if outcome.get("format") == "structured" else _by_speech(outcome)
    if named in POINTS:
        return str(named), ""
    if outcome.get("judged") is False:
        return NO_RESULT, "nothing was judged"
    why = str(outcome.get("reading") or "") if outcome.get("format") != "own" else "its rules named no winner"
    return NO_RESULT, one_line(why, 200) or history.status.value.lower()


def _by_speech(outcome: Mapping[str, Any]) -> str | None:
    """The winner of a competition by points per speech; in other formats the winner the record names."""
    winner, means = outcome.get("winner"), _means(outcome)
    if winner not in POINTS or len(means) != 2:
        return winner
    pro, con = means
    return PRO if pro > con else CON if con > pro else DRAW


def _means(outcome: Mapping[str, Any]) -> tuple[Fraction, ...]:
    """The exact points per speech of both teams; empty if the outcome lacks them."""
    teams = outcome.get("teams")
    if not isinstance(teams, Mapping):
        return ()
    rows = [teams.get(side) for side in (PRO, CON)]
    given = [row.get("mean_exact") for row in rows if isinstance(row, Mapping)]
    return tuple(Fraction(row) for row in given if isinstance(row, str))


def _panel(outcome: Mapping[str, Any]) -> str | None:
    """The winner of a structured debate."""
    panel = outcome.get("panel")
    if isinstance(panel, Mapping):
        status = panel.get("status")
        return DRAW if status == PanelStatus.TIED.value else panel.get("winner")
    gap = outcome.get("gap")
    if not isinstance(gap, int | float) or isinstance(gap, bool):
        return None
    # The reading comes from the exact gap; the recorded gap is rounded.
    if str(outcome.get("reading", "")).startswith("evenly matched") or abs(gap) < DRAW_GAP:
        return DRAW
    return PRO if gap > 0 else CON


@dataclass(frozen=True, slots=True)
class Standing:
    """A player with its matches; ``strength`` is None if no match of the tournament has a result."""

    player: str
    won: int
    drawn: int
    lost: int
    none: int
    places: tuple[int, int] | None
    strength: Strength | None

    @property
    def matches(self) -> int:
        """All matches of the player."""
        return self.won + self.drawn + self.lost + self.none

    def as_json(self) -> JsonObject:
        """The standing in a report."""
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
    spent: Spending
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
        """The players, strongest first; without strengths in the order they were named."""
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
        """Count the matches with this outcome."""
        return sum(row.outcome == outcome for row in self.matches)

    @property
    def pro_share(self) -> Rate:
        """The share of decided matches won by the side for the motion."""
        return rate(self.counted(PRO), self.counted(PRO) + self.counted(CON))

    def between(self, first: str, second: str) -> tuple[int, int, int]:
        """Wins of ``first``, draws, and wins of ``second`` in their matches with each other."""
        own = [row for row in self.matches if {row.pairing.pro, row.pairing.con} == {first, second}]
        won = sum(row.winner == first for row in own)
        lost = sum(row.winner == second for row in own)
        return won, sum(row.outcome == DRAW for row in own), lost

    def as_json(self) -> JsonObject:
        """The report as JSON."""
        players = self.tournament.players
        side = self.strengths.side if self.strengths else None
        return {
            "report": "tournament",
            "judge": self.tournament.judge,
            "models": list(players),
            "topics": [{"name": row.name, "motion": row.motion.text} for row in self.tournament.topics],
            "formats": [name_format(row) for row in self.tournament.formats],
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


def rank_players(tournament: Tournament, result: ExperimentResult) -> Ranking:
    """Rank the players by the matches that ran.

    Raises:
        InvalidInputError: the extra "statistics" is not installed.
    """
    held = {row.key: row for row in result.finished}
    matches = tuple(_match(row, held[row.key]) for row in tournament.pairings if row.key in held)
    found = Ranking(tournament, matches, len(result.missing), result.stopped, result.spent, None, ())
    fitted = fit_strengths(tournament.players, found.games)
    warnings = (*tournament.warnings(), *_limits_of(tournament.players, found.games, found))
    return Ranking(tournament, matches, len(result.missing), result.stopped, result.spent, fitted, warnings)


def _match(pairing: Pairing, held: FinishedTrial) -> Match:
    outcome, why = read_match_outcome(held.history)
    status = held.history.status
    if not why and status is not Status.COMPLETE:
        why = "a seat was silent"
    return Match(pairing, held.debate, outcome, status.value, why, _is_uneven(held.history))


def _is_uneven(history: History) -> bool:
    """Whether one team of a competition gave more speeches than the other."""
    teams: Any = history.closed.outcome.get("teams") if history.closed else None
    if not isinstance(teams, Mapping):
        return False
    return len({row.get("speeches") for row in teams.values() if isinstance(row, Mapping)}) > 1


def _limits_of(players: Sequence[str], games: Sequence[Game], found: Ranking) -> list[str]:
    """Say what the numbers cannot show."""
    if not games:
        return ["No match has a result: there is nothing to rank."]
    said = []
    winners, losers = find_unbounded(players, games)
    for names, word, end in ((winners, "won", "upper"), (losers, "lost", "lower")):
        if names:
            whose = "its" if len(names) == 1 else "their"
            said.append(
                f"{', '.join(names)} {word} every match: how far {'ahead' if word == 'won' else 'behind'} is unknown, "
                f"and the {end} end of {whose} interval comes from the prior alone."
            )
    groups = find_unconnected(players, games)
    if groups:
        named = " and ".join(", ".join(group) for group in groups)
        said.append(f"No result connects {named}: their strengths cannot be compared.")
    uneven = sum(row.uneven for row in found.matches)
    if uneven:
        one = counted(uneven, "match one team", "matches one team")
        said.append(f"In {one} gave more speeches than the other. Competitions are decided by points per speech.")
    if found.missing:
        held = counted(found.missing, "match was", "matches were")
        said.append(f"{held} not run, so the pairs are not balanced over sides and topics.")
    return said


_MOST_LISTED = 12


def render_ranking_lines(found: Ranking) -> list[str]:
    """Render the report as text, line by line; wide rows are not wrapped."""
    tournament = found.tournament
    formats = ", ".join(name_format(row) for row in tournament.formats)
    topics = ", ".join(row.name for row in tournament.topics)
    size = f"{counted(len(tournament.players), 'model')} in {counted(len(found.matches), 'match', 'matches')}"
    lines = [
        f"Tournament   {size}, each pair on both sides of each topic",
        f"Formats      {formats}",
        f"Topics       {one_line(topics, 300)}",
        f"Judge        {tournament.judge}",
        "",
        *_table(found.standings),
        "",
        *_sides(found),
    ]
    if len(tournament.players) > 2:
        lines += ["", *_pairs(found)]
    odd = [row for row in found.matches if row.why]
    if odd:
        lines += ["", "Irregular matches", *_odd(odd)]
    lines += ["", *(f"! {row}" for row in found.warnings)]
    lines += [_cost(found), *_method()]
    return lines


def _table(rows: Sequence[Standing]) -> list[str]:
    wide = max(5, *(len(row.player) for row in rows))
    head = f"{'place':5}  {'model':{wide}}  {'played':>6}  {'won':>4}  {'drawn':>5}  {'lost':>4}  {'none':>4}"
    lines = [f"{head}  {'strength':>8}  {'95 % interval':>15}  {'vs. the mean':>12}"]
    for row in rows:
        text = (
            f"{_place(row):5}  {row.player:{wide}}  {row.matches:6d}  {row.won:4d}  {row.drawn:5d}  {row.lost:4d}  "
            f"{row.none:4d}"
        )
        if row.strength is not None:
            low, high = round(row.strength.low * ELO), round(row.strength.high * ELO)
            span = f"{low:+d} to {high:+d}"
            text += f"  {round(row.strength.value * ELO):+8d}  {span:>15}  {row.strength.chance:12.0%}"
        lines.append(text)
    return lines


def _place(row: Standing) -> str:
    if row.places is None:
        return "-"
    first, last = row.places
    return str(first) if first == last else f"{first}-{last}"


def _sides(found: Ranking) -> list[str]:
    pro, con = found.counted(PRO), found.counted(CON)
    none = found.counted(NO_RESULT)
    first = f"Sides        pro won {pro}, con won {con}, {found.counted(DRAW)} drawn, {none} without a result"
    if not pro + con:
        return [first]
    lines = [first, f"             pro won {found.pro_share.text()} of the decided matches"]
    side = found.strengths.side if found.strengths else None
    if side is not None:
        leans = "pro" if side.low > 0 else "con" if side.high < 0 else ""
        verdict = f"the judge favours {leans}" if leans else "neither side is demonstrably favoured"
        lines.append(
            f"             speaking for the motion is worth {round(side.value * ELO):+d} "
            f"[{round(side.low * ELO):+d}, {round(side.high * ELO):+d}]: {verdict}"
        )
    return lines


def _pairs(found: Ranking) -> list[str]:
    names = [row.player for row in found.standings]
    wide = max(map(len, names))
    lines = ["Head to head (won-drawn-lost)"]
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            won, drawn, lost = found.between(first, second)
            lines.append(f"  {first:{wide}}  {won}-{drawn}-{lost}  {second}")
    return lines


def _odd(rows: Sequence[Match]) -> list[str]:
    lines = [
        f"  {row.debate}  {row.pairing.topic.name}, {row.pairing.pro} (pro) and {row.pairing.con} (con): "
        f"{row.outcome if row.outcome == NO_RESULT else f'{row.outcome} counted, {row.status}'}; {row.why}"
        for row in rows[:_MOST_LISTED]
    ]
    return lines + ([f"  and {len(rows) - _MOST_LISTED} more (--json lists all)"] if len(rows) > _MOST_LISTED else [])


def _cost(found: Ranking) -> str:
    spent = found.spent
    usd = "price unknown" if spent.usd is None else f"{spent.usd:.4f} USD"
    return f"Cost         {counted(spent.calls, 'call')}, {spent.tokens:,} tokens, {usd}"


def _method() -> list[str]:
    return [
        "Method       Bradley-Terry with a term for the side; strengths in Elo points around the mean of the field;",
        f"             95 % profile intervals; normal prior of {round(PRIOR * ELO)} points. {DRAWS_ARE}",
        "             Scores say how well a side argued in the judge's eyes, not who is right.",
    ]
