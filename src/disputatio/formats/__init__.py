"""The rulebooks: each file reads as the rules of one kind of debate. Here are the words for a format of your own."""

from disputatio.formats.custom_format import Answer, Speaker, choice, each, score, several, text, together

__all__ = ["Answer", "Speaker", "choice", "each", "score", "several", "text", "together"]
