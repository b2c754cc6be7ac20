"""What can go wrong with a source."""

from __future__ import annotations


class SourceError(Exception):
    """A source did not give what it should have; the message is a clause for people."""


class LookAheadError(ValueError):
    """A source handed out what nobody could have known; building on it would be worth nothing."""
