"""Who sits at the table of a running debate: seatings from the record joined to gateways that can carry calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from disputatio.formats.debate_context import Voice
from disputatio.kernel import JsonObject
from disputatio.participants.analyst.seated import Analyst
from disputatio.participants.call import ModelClient, OutputMode
from disputatio.participants.human import Participant
from disputatio.participants.model_seat import ModelSeating, Price
from disputatio.participants.providers import family

if TYPE_CHECKING:
    from disputatio.config import Settings
    from disputatio.formats.format import Format


@dataclass(frozen=True, slots=True)
class ModelSeat:
    """A model with its fallbacks. ``model_clients`` carry the calls of ``seatings``, in the same order."""

    seatings: tuple[ModelSeating, ...]
    model_clients: tuple[ModelClient, ...]

    def as_json(self) -> JsonObject:
        """How the record names who sits here."""
        return seating_json(self.seatings[0])

    @property
    def modes(self) -> tuple[tuple[OutputMode, ...], ...]:
        """The output modes to try with each seating, best first."""
        return tuple(
            (seating.mode,) if seating.mode else model_client.modes
            for seating, model_client in zip(self.seatings, self.model_clients, strict=True)
        )


Occupant: TypeAlias = ModelSeat | Participant | Analyst
Table: TypeAlias = Mapping[str, Occupant]


def seating_json(seating: ModelSeating) -> JsonObject:
    """A seating as the record keeps it; prices are strings."""
    body: dict[str, Any] = {row.name: getattr(seating, row.name) for row in fields(seating)}
    body["kind"] = "model"
    body["mode"] = seating.mode and seating.mode.value
    if seating.price:
        prices = {row.name: getattr(seating.price, row.name) for row in fields(seating.price)}
        body["price"] = {name: None if value is None else str(value) for name, value in prices.items()}
    body["fallback"] = seating.fallback and seating_json(seating.fallback)
    return body


def seating_from_json(body: Mapping[str, Any]) -> ModelSeating:
    """The seating a record keeps."""
    values = {name: value for name, value in body.items() if name != "kind"}
    values["mode"] = OutputMode(values["mode"]) if values["mode"] else None
    if values["price"]:
        values["price"] = Price(**{name: value and Decimal(value) for name, value in values["price"].items()})
    values["fallback"] = values["fallback"] and seating_from_json(values["fallback"])
    return ModelSeating(**values)


def chain_of(seating: ModelSeating) -> tuple[ModelSeating, ...]:
    """The seating and its fallbacks, in order."""
    rows = [seating]
    while rows[-1].fallback is not None:
        rows.append(rows[-1].fallback)
    return tuple(rows)


def voices_of(table: Table) -> tuple[Voice, ...]:
    """Whose voice each seat has that a model sits in."""
    return tuple(
        Voice(seat, first.address, family(first.model, first.provider), first.persona)
        for seat, occupant in table.items()
        if isinstance(occupant, ModelSeat)
        for first in occupant.seatings[:1]
    )


def gateways_of(table: Table) -> Iterable[ModelClient]:
    """Every gateway at the table, once."""
    seen: dict[int, ModelClient] = {}
    for occupant in table.values():
        if isinstance(occupant, ModelSeat):
            seen.update((id(model_client), model_client) for model_client in occupant.model_clients)
    return seen.values()


def split_seats(
    seats: Mapping[str, str | Participant],
) -> tuple[tuple[tuple[str, str], ...], dict[str, Participant], Participant | None]:
    """The seats of named models, those of participants, and the participant that takes every other seat."""
    named = tuple((seat, who) for seat, who in seats.items() if isinstance(who, str))
    scripted = {seat: who for seat, who in seats.items() if not isinstance(who, str)}
    for_all = scripted.pop("all", None)
    return named, scripted, for_all


def for_every_seat(
    for_all: Participant | None,
    form: Format,
    settings: Settings,
    named: Mapping[str, str],
    participants: Mapping[str, Participant],
) -> dict[str, Participant]:
    """``participants``, and ``for_all`` in each seat of the debate that the caller gave to nobody else.

    Which seats there are is known only when everything is resolved: positions, judges and debaters bring further ones.
    A model that is named for a team (``pro``) or for the first of several seats takes the others of it too.
    """
    if for_all is None:
        return dict(participants)
    taken = map(str, form.seats_named([*settings.seats, *participants]))
    free = [seat for seat in taken if not any(seat == name or seat.startswith(f"{name}_") for name in named)]
    return {**dict.fromkeys(free, for_all), **participants}
