"""Read from a record what a debate was run with: opening, format, and settings that bring today's keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from disputatio.config import Arguments, Settings
from disputatio.config.process import settings_for
from disputatio.engine.custom_format_files import load_recorded_format
from disputatio.engine.runtime import refuse_imported
from disputatio.engine.seat_assignments import decode_seating
from disputatio.errors import ResumeMismatchError, UnknownDebateError
from disputatio.formats.format import Format
from disputatio.participants.providers import SeatValue
from disputatio.record.chain import Sealed
from disputatio.record.events import DebateOpened


def recorded_opening(debate_id: str, record: Sequence[Sealed]) -> DebateOpened:
    """The first event of a debate that was run here.

    Raises:
        ResumeMismatchError: it was imported.
        UnknownDebateError: its record has no opening.
    """
    refuse_imported(record)
    opened = record[0].event()
    if not isinstance(opened, DebateOpened):
        raise UnknownDebateError(f"The record of {debate_id} has no opening.", "`disputatio list` shows all.")
    return opened


def recorded_format(debate_id: str, record: Sequence[Sealed], rules_file: str | None = None) -> Format:
    """The format of a recorded debate.

    Args:
        debate_id: its id.
        record: its record.
        rules_file: the current path of its own rules, where they are in a file.

    Raises:
        ResumeMismatchError: the debate was imported, or the file has changed.
    """
    return load_recorded_format(recorded_opening(debate_id, record), rules_file)


def recorded_settings(
    debate_id: str, record: Sequence[Sealed], arguments: Arguments, rules_file: str | None = None
) -> Settings:
    """Resolve today's settings with the recorded models in the seats that ``arguments`` do not name.

    The settings bring the keys. The environment does not choose models here.

    Args:
        debate_id: its id.
        record: its record, which verifies.
        arguments: today's command line.
        rules_file: the current path of its own rules, if they were moved.

    Raises:
        ResumeMismatchError: the debate was imported, or the given address differs from the recorded one.
    """
    return settings_of_opening(recorded_opening(debate_id, record), arguments, rules_file)


def settings_of_opening(opened: DebateOpened, arguments: Arguments, rules_file: str | None = None) -> Settings:
    """The same for a record whose opening was read already."""
    seats: Mapping[str, Any] = opened.seats
    if not arguments.seated():
        _check_address(seats, arguments.base_url)
        arguments = replace(arguments, base_url=None)
    named = {seat.strip().lower() for seat, _ in arguments.seated()}
    recorded = tuple(
        (seat, _recorded_model(row))
        for seat, row in seats.items()
        if row["kind"] == "model" and not named & {"all", seat, seat.rpartition("_")[0]}
    )
    arguments = arguments.with_seats((*recorded, *arguments.seated()))
    form = load_recorded_format(opened, rules_file)
    if form.free_seats:
        # Who sits there is known from the record alone, whatever the environment calls its debaters.
        arguments = arguments.with_values({("debaters",): list(seats)})
    return settings_for(form, arguments)


def _recorded_model(row: Mapping[str, Any]) -> SeatValue:
    seating = decode_seating(row)
    return SeatValue(seating.provider, seating.model, seating.base_url)


def _check_address(seats: Mapping[str, Any], base_url: str | None) -> None:
    for seat, row in seats.items():
        if base_url is not None and row["kind"] == "model" and row["base_url"] != base_url.rstrip("/"):
            raise ResumeMismatchError(
                f"The seat {seat} was taken by {decode_seating(row).address}; "
                "its address cannot become another one on resume.",
                "Leave --base-url out, or start a new debate.",
            )
