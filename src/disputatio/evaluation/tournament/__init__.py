"""Tournaments: models against each other on both sides of every topic, and how sure the order is."""

from disputatio.evaluation.tournament.lines import ranking_lines
from disputatio.evaluation.tournament.pairing import Pairing, Topic, Tournament, check, check_ceiling, estimate
from disputatio.evaluation.tournament.standings import Match, Ranking, ranking
from disputatio.evaluation.tournament.strengths import Game, Strength, Strengths, strengths

__all__ = [
    "Game",
    "Match",
    "Pairing",
    "Ranking",
    "Strength",
    "Strengths",
    "Topic",
    "Tournament",
    "check",
    "check_ceiling",
    "estimate",
    "ranking",
    "ranking_lines",
    "strengths",
]
