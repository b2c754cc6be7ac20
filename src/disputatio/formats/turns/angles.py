"""From where a small model, asked for one argument at a time, is asked to look."""

from __future__ import annotations

ANGLES = ("the budget", "the people involved", "safety and risk", "the time it takes", "the years to come")
"""Nouns that can stand after "for"."""
