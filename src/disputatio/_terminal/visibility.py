"""What may be told on a screen that people in seats look at: only what all of them may hear at that moment.

A screen for spectators tells everything. Where a person sits in a seat of the debate it shows, it would tell them what
the rules keep from their seat: the other team's directions, the judge's notes, an opening that is written beside their
own. What is held back is heard when the rules let the seat hear it, or stands in the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_PUBLIC = frozenset({"speech", "questions"})
_OF_THE_JUDGE = frozenset({"scoring", "summation"})


@dataclass(frozen=True, slots=True)
class Visibility:
    """Who looks at the screen: ``seats`` of a debate in the format called ``format_name``; nobody where it is empty."""

    format_name: str = ""
    seats: frozenset[str] = frozenset()

    def turn(self, seat: str, form: str) -> bool:
        """Whether a turn of ``seat`` may be told while it is written and as soon as it is taken."""
        if not self.seats or self.seats == {seat}:
            return True
        if self.format_name != "competition":
            # When the others hear it is for the rules to say: they are shown it with their own turns.
            return False
        if form in _PUBLIC:
            return True
        if form in _OF_THE_JUDGE:
            return self.seats == {"judge"}
        return all(who.partition("_")[0] == seat.partition("_")[0] for who in self.seats)

    @property
    def facts(self) -> bool:
        """Whether scores, penalties and votes may be told as they are established."""
        return not self.seats or (self.format_name == "competition" and self.seats == {"judge"})


def held_back(seat: str, form: str) -> str:
    """One line in the place of a turn that may not be told."""
    said: dict[str, Any] = {
        "scoring": "has noted a score; the scores are told at the end",
        "summation": "has summed up; that is told at the end",
        "direction": "has told its team who speaks next",
    }
    return f"{seat.upper()} {said.get(form, 'has taken its turn')}."
