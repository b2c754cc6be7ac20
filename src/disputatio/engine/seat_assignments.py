"""The occupants of the seats: models with the clients that send their calls, participants and analysts.

Also learns from records and stores how many tokens those models need to reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from disputatio.formats.debate_context import Voice
from disputatio.kernel import JsonObject
from disputatio.ledger.prices import known_window
from disputatio.participants.analyst.participant import Analyst
from disputatio.participants.call import Fault, FaultKind, ModelClient, OutputMode, Reply, Usage
from disputatio.participants.human import Participant
from disputatio.participants.model_seat import ModelSeating, Price
from disputatio.participants.providers import family
from disputatio.participants.reasoning import Allowances
from disputatio.record.history import History
from disputatio.record.store import Store

if TYPE_CHECKING:
    from disputatio.config import Settings
    from disputatio.formats.format import Format


@dataclass(frozen=True, slots=True)
class ModelSeat:
    """A model with its fallbacks. ``model_clients`` send the calls of ``seatings``, in the same order."""

    seatings: tuple[ModelSeating, ...]
    model_clients: tuple[ModelClient, ...]

    def as_json(self) -> JsonObject:
        """The occupant as the record names it."""
        return encode_seating(self.seatings[0])

    @property
    def modes(self) -> tuple[tuple[OutputMode, ...], ...]:
        """The output modes to try with each seating, best first."""
        return tuple(
            (seating.mode,) if seating.mode else model_client.modes
            for seating, model_client in zip(self.seatings, self.model_clients, strict=True)
        )


Occupant: TypeAlias = ModelSeat | Participant | Analyst
SeatAssignments: TypeAlias = Mapping[str, Occupant]


def encode_seating(seating: ModelSeating) -> JsonObject:
    """A seating as the record keeps it; prices are strings."""
    body: dict[str, Any] = {row.name: getattr(seating, row.name) for row in fields(seating)}
    body["kind"] = "model"
    body["mode"] = seating.mode and seating.mode.value
    if seating.price:
        prices = {row.name: getattr(seating.price, row.name) for row in fields(seating.price)}
        body["price"] = {name: None if value is None else str(value) for name, value in prices.items()}
    body["fallback"] = seating.fallback and encode_seating(seating.fallback)
    return body


def decode_seating(body: Mapping[str, Any]) -> ModelSeating:
    """The seating in a record."""
    values = {name: value for name, value in body.items() if name != "kind"}
    values["mode"] = OutputMode(values["mode"]) if values["mode"] else None
    if values["price"]:
        values["price"] = Price(**{name: value and Decimal(value) for name, value in values["price"].items()})
    values["fallback"] = values["fallback"] and decode_seating(values["fallback"])
    return ModelSeating(**values)


def fallback_chain(seating: ModelSeating) -> tuple[ModelSeating, ...]:
    """The seating and its fallbacks, in order."""
    rows = [seating]
    while rows[-1].fallback is not None:
        rows.append(rows[-1].fallback)
    return tuple(rows)


def list_personas(assignments: SeatAssignments) -> dict[str, str]:
    """The personas of the models that have one, by seat."""
    return {
        str(seat): occupant.seatings[0].persona
        for seat, occupant in assignments.items()
        if isinstance(occupant, ModelSeat) and occupant.seatings[0].persona
    }


def list_voices(assignments: SeatAssignments) -> tuple[Voice, ...]:
    """The voice of each seat that a model takes."""
    return tuple(
        Voice(seat, first.address, family(first.model, first.provider), first.persona)
        for seat, occupant in assignments.items()
        if isinstance(occupant, ModelSeat)
        for first in occupant.seatings[:1]
    )


def fill_seats(
    for_all: Participant | None,
    form: Format,
    settings: Settings,
    named: Mapping[str, str],
    participants: Mapping[str, Participant],
) -> dict[str, Participant]:
    """``participants``, and ``for_all`` in every seat that the caller gave to no one else.

    The seats are known only after settings are resolved, because positions, judges and debaters add some. A model named
    for a team (``pro``), or for the first of several seats, takes all of them.
    """
    if for_all is None:
        return dict(participants)
    seats = map(str, form.seats_named([*settings.seats, *participants]))
    free = [seat for seat in seats if not any(seat == name or seat.startswith(f"{name}_") for name in named)]
    return {**dict.fromkeys(free, for_all), **participants}


PROCESS_ALLOWANCES: Final = Allowances(known_window)
"""What all debates of this process have learned about reasoning."""

_RESIZED = {kind.value for kind in (FaultKind.CUT_WHILE_REASONING, FaultKind.LIMIT_TOO_LARGE)}


def learn_from_history(allowances: Allowances, assignments: SeatAssignments, history: History) -> None:
    """Learn from the calls in ``history``, so that a resumed debate gives models the same room."""
    for sent in history.calls:
        made, occupant = history.made.get(sent.call), assignments.get(sent.seat)
        if made is None or not isinstance(occupant, ModelSeat):
            continue
        seating = next((row for row in occupant.seatings if row.address == sent.model), None)
        if seating is None:
            continue
        usage = Usage(**made.usage)  # type: ignore[arg-type]
        outcome: Reply | Fault = Reply(made.text, made.served_model, usage, made.finish)
        if made.fault in _RESIZED:
            outcome = Fault(FaultKind(made.fault), made.message, usage=usage, text=made.text)
        allowances.learn_from(seating, sent.max_tokens, sent.reasoning_allowance, outcome)


def list_seatings(assignments: SeatAssignments) -> list[ModelSeating]:
    """All models, fallbacks included."""
    return [row for occupant in assignments.values() if isinstance(occupant, ModelSeat) for row in occupant.seatings]


async def learn_from_store(allowances: Allowances, seatings: Iterable[ModelSeating], store: Store) -> None:
    """Learn from debates in ``store`` how much these models reason, once for each model.

    Raises:
        StoreError: the store cannot be read.
    """
    new = allowances.claim_lookups(seatings)
    if not new:
        return
    from disputatio.metrics.calibration import read_reasoning

    models = {(key[0], key[1], key[3]): row for key, row in new.items()}
    for model, seen in (await asyncio.to_thread(read_reasoning, store, models)).items():
        allowances.remember(models[model], seen)
