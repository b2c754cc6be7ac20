"""People in seats from the command line: ``--human SEAT``, and the same seats again on resume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio.failures import InvalidInputError

if TYPE_CHECKING:
    from disputatio._cli.screen import Screen
    from disputatio.config import Settings
    from disputatio.formats.format import Format
    from disputatio.participants.human import Participant
    from disputatio.record.chain import Sealed

HumanOption = Annotated[
    list[str] | None,
    typer.Option(
        "--human",
        metavar="SEAT",
        help="You take this seat, at this terminal: --human pro_2; repeatable, 'all' and 'pro' cover several.",
        rich_help_panel="Who debates",
    ),
]


def people_named(given: Sequence[str], form: Format, settings: Settings) -> tuple[tuple[str, ...], Settings]:
    """The seats that people take, in the order of the format, and the settings without personalities for them.

    Raises:
        InvalidInputError: there is no such seat.
    """
    seats = [str(seat) for seat in form.seats_named(settings.seats)]
    taken: set[str] = set()
    for entry in given:
        name = entry.strip().lower() if not form.free_seats else entry.strip()
        team = [seat for seat in seats if seat.rpartition("_")[0] == name]
        found = seats if name == "all" else [name] if name in seats else team
        if not found:
            raise InvalidInputError(
                f"There is no seat {entry.strip()[:40]!r} for a person in this debate.",
                f"Its seats are: {', '.join(seats)}.",
            )
        taken.update(found)
    people = tuple(seat for seat in seats if seat in taken)
    return people, _as_themselves(settings, people) if people else settings


def _as_themselves(settings: Settings, people: Sequence[str]) -> Settings:
    """The settings with no personality for people: they argue as they do."""
    members = tuple(row for row in settings.cast.members if row[0] not in people)
    return replace(settings, cast=replace(settings.cast, members=members))


def people_recorded(record: Sequence[Sealed]) -> tuple[str, ...]:
    """The seats that people took when the debate began."""
    from disputatio.participants.human import KIND
    from disputatio.record.events import DebateOpened

    opened = record[0].event()
    if not isinstance(opened, DebateOpened):
        return ()
    rows = opened.seats.items()
    return tuple(str(seat) for seat, row in rows if isinstance(row, dict) and row.get("kind") == KIND)


def seated(people: Sequence[str], format_name: str, store: str, screen: Screen) -> dict[str, Participant]:
    """A person in each of these seats, asked at the terminal of ``screen``."""
    from disputatio.participants.human import Person

    if not people:
        return {}
    surface = screen.surface(format_name, frozenset(people), _drafts(store))
    return {seat: Person(surface) for seat in people}


def _drafts(store: str) -> Path:
    """Beside the store where that is a file, so that a copied store keeps them; else among the user's data."""
    from platformdirs import user_data_path

    path = store.removeprefix("sqlite:///")
    if path != store and path:
        return Path(path).parent / "drafts"
    return user_data_path("disputatio", appauthor=False) / "drafts"
