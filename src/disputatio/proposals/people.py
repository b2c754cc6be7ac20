"""The seats that people take in an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from disputatio.config import Settings
from disputatio.errors import InvalidInputError
from disputatio.formats.format import Format
from disputatio.motion import one_line


def people_named(given: Sequence[str], form: Format, settings: Settings) -> tuple[str, ...]:
    """The seats that people take, in the order of the format; ``all`` and the name of a team cover several.

    Raises:
        InvalidInputError: there is no such seat.
    """
    seats = [str(seat) for seat in form.seats_named(settings.seats)]
    taken: set[str] = set()
    for entry in given:
        name = entry.strip() if form.free_seats else entry.strip().lower()
        team = [seat for seat in seats if seat.rpartition("_")[0] == name]
        found = seats if name == "all" else [name] if name in seats else team
        if not found:
            raise InvalidInputError(
                f"There is no seat {one_line(entry, 40)!r} for a person in this debate.",
                f"Its seats are: {', '.join(seats)}.",
            )
        taken.update(found)
    return tuple(seat for seat in seats if seat in taken)


def as_themselves(settings: Settings, people: Sequence[str]) -> Settings:
    """The settings with no personality for people: they argue as they do."""
    if not people:
        return settings
    members = tuple(row for row in settings.cast.members if row[0] not in people)
    return replace(settings, cast=replace(settings.cast, members=members))
