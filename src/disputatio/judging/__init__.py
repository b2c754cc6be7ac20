"""Judging of turns: rubrics, scores, fallacies, standings, panels, votes and agreement. Code does all arithmetic."""
