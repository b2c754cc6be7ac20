"""Which key sits in which seat that an order left to people, and what it is shown of the questions put to them.

A question shows what its seat has heard, so its seat belongs to one key: the first that takes it, by handing in a turn
or by asking for the seat. Until then a question is shown without what is not public. A key that sits on one side of a
debate with private channels takes no seat on another. Without any key the caller owns the machine, and has all seats.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from disputatio._service.problems import RefusedError, not_found
from disputatio._service.tables import keys, seats
from disputatio.formats.format import all_is_public
from disputatio.formats.registry import FORMATS
from disputatio.kernel import PUBLIC
from disputatio.record.events import DebateOpened

if TYPE_CHECKING:
    from disputatio._service.database import Database
    from disputatio._service.keys import Caller
    from disputatio._service.open_questions import OpenQuestions
    from disputatio.kernel import JsonObject
    from disputatio.participants.human.surface import PendingTurn
    from disputatio.record.store import Store


@dataclass(frozen=True, slots=True)
class PersonsSeat:
    """A seat that people take.

    Attributes:
        seat: its name.
        key_id: the id of the key that sits there; empty while it is free.
        name: what that key is called.
        mine: whether the caller sits there.
    """

    seat: str
    key_id: str = ""
    name: str = ""
    mine: bool = False

    @property
    def free(self) -> bool:
        """Whether the seat is free."""
        return not self.key_id and not self.mine


class Seating:
    """The seats of people in all debates.

    Args:
        database: keeps who sits where.
        store: where records are.
        floor: where people are asked.
    """

    def __init__(self, database: Database, store: Store, open_questions: OpenQuestions) -> None:
        self._database, self._store, self._floor = database, store, open_questions

    def seats(self, debate: str, caller: Caller) -> list[PersonsSeat]:
        """The seats of people in ``debate``, in the order of their names; none while it has no record. In a thread."""
        opened = self._opened(debate)
        if opened is None:
            return []
        with self._database.reading() as connection:
            held = self._held(connection, debate)
        own = caller.session == "keyless"
        names = sorted(seat for seat, row in _rows(opened) if row.get("kind") == "person")
        return [
            PersonsSeat(seat, *held.get(seat, ("", "")), mine=own or held.get(seat, ("",))[0] == caller.key.id)
            for seat in names
        ]

    def take(self, debate: str, seat: str, caller: Caller) -> None:
        """Give a free seat to the caller's key; nothing happens where it sits there. In a thread.

        Raises:
            RefusedError: another key sits there, this one sits on another side, or no person sits there.
        """
        opened = self._opened(debate)
        if opened is None or dict(_rows(opened)).get(seat, {}).get("kind") != "person":
            raise not_found(f"No seat {seat[:40]!r} of this debate was left to people.")
        if caller.session == "keyless":
            return
        with self._database.writing() as connection:
            held = self._held(connection, debate)
            key_id, name = held.get(seat, ("", ""))
            if key_id == caller.key.id:
                return
            if key_id:
                raise RefusedError(
                    403, "forbidden", f"Another key sits in the seat {seat}: {name}.", "Only that one speaks for it."
                )
            own = [other for other, (key, _) in held.items() if key == caller.key.id]
            across = next((other for other in own if not _one_side(opened.format, seat, other)), None)
            if across is not None:
                raise RefusedError(
                    403,
                    "forbidden",
                    f"This key sits in the seat {across}, which may not know what {seat} is told.",
                    "Let another key take that seat.",
                )
            # A key that was revoked sits nowhere any more.
            connection.execute(seats.delete().where((seats.c.debate == debate) & (seats.c.seat == seat)))
            row = {"debate": debate, "seat": seat, "key": caller.key.id, "taken_at": self._database.stamped_now()}
            connection.execute(seats.insert(), row)

    async def questions(self, debate: str, caller: Caller) -> list[PendingTurn]:
        """The open questions that the caller may see, without those to seats of other keys."""
        asked = await self._floor.asked(debate)
        if not asked:
            return []
        rows = {row.seat: row for row in await asyncio.to_thread(self.seats, debate, caller)}
        opened = await asyncio.to_thread(self._opened, debate)
        whole = opened is not None and _all_public(opened.format)
        return [
            question if rows[question.seat].mine or whole else _public_part(question)
            for question in asked
            if question.seat in rows and (rows[question.seat].mine or rows[question.seat].free)
        ]

    async def question(self, debate: str, path: str, caller: Caller) -> PendingTurn:
        """The open question at ``path``, whole.

        Raises:
            RefusedError: there is none, or the caller does not sit there and it shows what is not public.
        """
        asked = await self._floor.question(debate, path)
        row = next(row for row in await asyncio.to_thread(self.seats, debate, caller) if row.seat == asked.seat)
        opened = await asyncio.to_thread(self._opened, debate)
        if row.mine or (row.free and opened is not None and _all_public(opened.format)):
            return asked
        cause = f"Another key sits in the seat {row.seat}: {row.name}." if row.key_id else f"{row.seat} is a free seat."
        raise RefusedError(403, "forbidden", cause, "Only the key that sits there is shown what the seat has heard.")

    def _held(self, connection: sa.Connection, debate: str) -> dict[str, tuple[str, str]]:
        """The id and the name of the key in each seat that is taken."""
        query = sa.select(seats.c.seat, keys.c.id, keys.c.name).join(keys, keys.c.id == seats.c.key)
        query = query.where((seats.c.debate == debate) & (keys.c.revoked_at == ""))
        return {row.seat: (str(row.id), str(row.name)) for row in connection.execute(query)}

    def _opened(self, debate: str) -> DebateOpened | None:
        first = next(iter(self._store.parts(debate)), ())[:1]
        event = first[0].event() if first else None
        return event if isinstance(event, DebateOpened) else None


def _rows(opened: DebateOpened) -> list[tuple[str, Mapping[str, Any]]]:
    given: JsonObject = opened.seats
    return [(seat, row) for seat, row in given.items() if isinstance(row, Mapping)]


def _all_public(format_name: str) -> bool:
    return format_name in FORMATS and FORMATS[format_name].public is all_is_public


def _one_side(format_name: str, seat: str, other: str) -> bool:
    """Whether one key may sit in both: all is public, or they are of one team, or of one pair of analysts."""
    if _all_public(format_name):
        return True
    return format_name in FORMATS and seat.partition("_")[0] == other.partition("_")[0]


def _public_part(question: PendingTurn) -> PendingTurn:
    """A question to a free seat, without what only that seat may read."""
    heard = tuple(post for post in question.heard if post.channel == PUBLIC)
    situation = replace(question.situation, role="", task="", sources=())
    return replace(question, heard=heard, situation=situation, reasons=(), because="", last=None)
