"""Errors of sources."""

from __future__ import annotations


class SourceError(Exception):
    """A source failed to give data; the message is a clause for people."""


class LookAheadError(ValueError):
    """A source gave data that was not yet known, so a base built on it would be worthless."""
