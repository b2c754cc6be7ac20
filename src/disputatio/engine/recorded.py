"""What a recorded debate was held by and with: its format, and today's settings for its seats."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from disputatio.config import CommandLine, Settings, resolve
from disputatio.config.format_options import format_options
from disputatio.engine.debates import refuse_imported
from disputatio.engine.own_files import format_recorded
from disputatio.engine.table import seating_from_json
from disputatio.failures import ResumeMismatchError, UnknownDebateError
from disputatio.formats.format import Format
from disputatio.participants.providers import SeatValue
from disputatio.record.chain import Sealed
from disputatio.record.events import DebateOpened


def recorded_opening(debate_id: str, record: Sequence[Sealed]) -> DebateOpened:
    """How a debate that was held here began.

    Raises:
        ResumeMismatchError: it was held elsewhere.
        UnknownDebateError: its record has no opening.
    """
    refuse_imported(record)
    opened = record[0].event()
    if not isinstance(opened, DebateOpened):
        raise UnknownDebateError(f"The record of {debate_id} has no opening.", "`disputatio list` shows all.")
    return opened


def recorded_form(debate_id: str, record: Sequence[Sealed], rules_file: str | None = None) -> Format:
    """The format of a recorded debate; ``rules_file`` says where the file of its own rules is now.

    Raises:
        ResumeMismatchError: it was held elsewhere, or the file is not what it was.
    """
    return format_recorded(recorded_opening(debate_id, record), rules_file)


def recorded_settings(
    debate_id: str, record: Sequence[Sealed], arguments: CommandLine, rules_file: str | None = None
) -> Settings:
    """Today's settings for a recorded debate, with its own models in the seats that ``arguments`` do not name.

    They bring the keys. What seats the environment would give to a new debate does not matter here.

    Args:
        debate_id: its id.
        record: its record, which verifies.
        arguments: the command line of today.
        rules_file: where the file of its own rules is now, if it was moved.

    Raises:
        InvalidInputError: the debate was held elsewhere.
        ResumeMismatchError: an address is given that is not the recorded one.
    """
    opened = recorded_opening(debate_id, record)
    seats: Mapping[str, Any] = opened.seats
    if not arguments.seat:
        _check_address(seats, arguments.base_url)
        arguments = replace(arguments, base_url=None)
    named = {seat.strip().lower() for seat, _ in arguments.seat}
    recorded = tuple(
        (seat, _recorded_model(row))
        for seat, row in seats.items()
        if row["kind"] == "model" and not named & {"all", seat, seat.rpartition("_")[0]}
    )
    arguments = replace(arguments, seat=(*recorded, *arguments.seat))
    form = format_recorded(opened, rules_file)
    if form.free_seats:
        # Who sits there is known from the record alone, whatever the environment calls its debaters.
        arguments = replace(arguments, debaters=tuple(seats))
    return resolve(
        format_name=form.name,
        seats=tuple(form.seats),
        environ=os.environ,
        directory=Path.cwd(),
        arguments=arguments,
        options=format_options(form),
    )


def _recorded_model(row: Mapping[str, Any]) -> SeatValue:
    seating = seating_from_json(row)
    return SeatValue(seating.provider, seating.model, seating.base_url)


def _check_address(seats: Mapping[str, Any], base_url: str | None) -> None:
    for seat, row in seats.items():
        if base_url is not None and row["kind"] == "model" and row["base_url"] != base_url.rstrip("/"):
            raise ResumeMismatchError(
                f"The seat {seat} was taken by {seating_from_json(row).address}; "
                "its address cannot become another one on resume.",
                "Leave --base-url out, or start a new debate.",
            )
