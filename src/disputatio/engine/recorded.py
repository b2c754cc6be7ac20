"""Resolve the settings of a recorded debate: its models, with the current keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from disputatio.config import Arguments, Settings
from disputatio.config.process import settings_for
from disputatio.engine.custom_format_files import load_recorded_format
from disputatio.engine.seat_assignments import decode_seating
from disputatio.errors import ResumeMismatchError
from disputatio.participants.providers import SeatValue
from disputatio.record.events import DebateOpened


def recorded_settings(opened: DebateOpened, arguments: Arguments, rules_file: str | None = None) -> Settings:
    """Resolve the current settings, with the recorded models in the seats that ``arguments`` do not name.

    The settings supply the keys. The environment does not choose models here.

    Args:
        opened: the opening of a verified record.
        arguments: the current command line.
        rules_file: the current path of the file of rules, if it was moved.

    Raises:
        ResumeMismatchError: the given address differs from the recorded one.
    """
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
        # The record alone says which debaters there are.
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
