"""What may be told on a screen that people in seats look at: only what all of them may hear at that moment.

A screen for spectators tells everything. Where a person sits in a seat of the debate it shows, it would tell them what
the rules keep from their seat: the other team's directions, the judge's notes, an opening that is written beside their
own. What is held back is heard when the rules let the seat hear it, or stands in the result.
"""

from __future__ import annotations

from dataclasses import dataclass

from disputatio.report.turns.registry import turn_kind


@dataclass(frozen=True, slots=True)
class Visibility:
    """Who looks at the screen: ``seats`` of a debate in the format called ``format_name``; nobody where it is empty."""

    format_name: str = ""
    seats: frozenset[str] = frozenset()

    def turn(self, seat: str, form: str) -> bool:
        """Whether a turn of ``seat`` may be told while it is written and as soon as it is taken."""
        if not self.seats or self.seats == {seat}:
            return True
        hearers = turn_kind(form).heard_by
        if hearers == "judge":
            return self.seats == {"judge"}
        if hearers == "team":
            return all(who.partition("_")[0] == seat.partition("_")[0] for who in self.seats)
        # Of other turns the rules say when the seats hear them: they are shown with the seat's own turns.
        return hearers == "all"

    @property
    def facts(self) -> bool:
        """Whether scores, penalties and votes may be told as they are established."""
        return not self.seats or (self.format_name == "competition" and self.seats == {"judge"})


def held_back(seat: str, form: str) -> str:
    """One line in the place of a turn that may not be told."""
    return f"{seat.upper()} {turn_kind(form).held_back}."
