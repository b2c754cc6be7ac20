"""What a screen may show while people in seats look at it: only what all of them may see at that moment.

A screen for spectators shows everything. A person in a seat must not see what the rules hide from that seat, such as
the other team's directions, the judge's notes, or an opening that is written at the same time. They see it when the
rules allow it, or in the result.
"""

from __future__ import annotations

from dataclasses import dataclass

from disputatio.report.turns.registry import turn_kind


@dataclass(frozen=True, slots=True)
class Visibility:
    """The people who look at the screen: they are in ``seats`` of a debate. Without seats there are only spectators."""

    format_name: str = ""
    seats: frozenset[str] = frozenset()

    def shows_turn(self, seat: str, form: str) -> bool:
        """Whether the screen may show a turn of ``seat`` while it is written and when it is taken."""
        if not self.seats or self.seats == {seat}:
            return True
        hearers = turn_kind(form).heard_by
        if hearers == "judge":
            return self.seats == {"judge"}
        if hearers == "team":
            return all(who.partition("_")[0] == seat.partition("_")[0] for who in self.seats)
        # The rules say when seats may see other turns. Those are shown when it is the seat's own turn.
        return hearers == "all"

    @property
    def shows_scores(self) -> bool:
        """Whether the screen may show scores, penalties and votes when they are recorded."""
        return not self.seats or (self.format_name == "competition" and self.seats == {"judge"})


def describe_hidden(seat: str, form: str) -> str:
    """One line in place of a turn that may not be shown."""
    return f"{seat.upper()} {turn_kind(form).held_back}."
