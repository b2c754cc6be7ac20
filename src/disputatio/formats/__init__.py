"""Debate formats, one rulebook a module. This package exports what a custom format is written with."""

from disputatio.formats.custom_format import Answer, Speaker, choice, each, score, several, text, together

__all__ = ["Answer", "Speaker", "choice", "each", "score", "several", "text", "together"]
