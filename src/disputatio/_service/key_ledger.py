"""What each key has spent. An order and each resumption is a run; its calls are booked on the days they were paid.

Rules:

- A run belongs to the key that caused it, and to the key that ordered its debate. It counts in both budgets.
- An unfinished run counts, in every period, with the most that it may still cost: the ceilings of its debate, less
  what the debate had cost before. A run that is over counts with what the record says of its calls.
- A run begins only where both budgets have room for it. The check and the entry are one transaction, which also
  enters the order or opens it again.
- A day in the future counts now: a clock that is set back gives no budget twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from disputatio._service.database import Database, stamp
from disputatio._service.keys import Key, key_of
from disputatio._service.problems import RefusedError, retry_after, unknown_key
from disputatio._service.tables import day_of, keys, runs, spending
from disputatio.ledger.ledger import Reservation
from disputatio.record.chain import Sealed
from disputatio.record.events import CallMade, CallSent
from disputatio.record.tables import orders
from disputatio.workers import JobState

if TYPE_CHECKING:
    from sqlalchemy import Connection

_SMALLEST_USD = Decimal("0.000000001")
"""Ceilings are whole numbers of this: so an order can always state one."""
_OVER = tuple(state.value for state in JobState if state.is_over)


@dataclass(frozen=True, slots=True)
class Room:
    """What a budget leaves, or what a run may cost: US dollars, and tokens. None has no limit."""

    usd: Decimal | None = None
    tokens: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing that costs anything can begin."""
        return (self.usd is not None and self.usd < _SMALLEST_USD) or (self.tokens is not None and self.tokens < 1)

    def holds(self, other: Room) -> bool:
        """Whether ``other`` fits into this."""
        return _fits(self.usd, other.usd) and _fits(self.tokens, other.tokens)

    def less(self, usd: Decimal, tokens: int) -> Room:
        """What is left of ceilings after this much was spent; nothing where they are passed."""
        return Room(
            None if self.usd is None else max(Decimal(0), self.usd - usd),
            None if self.tokens is None else max(0, self.tokens - tokens),
        )

    def within(self, other: Room) -> Room:
        """The smaller of the two, unit by unit."""
        return Room(_least(self.usd, other.usd), _least(self.tokens, other.tokens))


NO_LIMIT = Room()


@dataclass(frozen=True, slots=True)
class Paid:
    """One call as it counts: ``seq`` of the event with which it left, and when it was paid (UTC)."""

    seq: int
    at: str
    usd: Decimal
    tokens: int


@dataclass(frozen=True, slots=True)
class Run:
    """A run that has not been settled.

    Attributes:
        id: its number.
        debate: its debate.
        began_at: when it was entered, UTC.
        after: how many events the record had then.
        is_ordered: whether its debate is on order; only what older versions left is not.
    """

    id: int
    debate: str
    began_at: str
    after: int
    is_ordered: bool


def paid_calls(record: Iterable[Sealed]) -> list[Paid]:
    """Every call of a record. One that never came back, or has no price, counts with what was reserved for it.

    A call is paid when its answer comes; one that has none, when it left.
    """
    left: dict[str, tuple[int, str, Reservation]] = {}
    came: dict[str, tuple[str, CallMade]] = {}
    for row in record:
        if row.kind == CallSent.kind:
            sent: Any = row.event()
            left[sent.call] = row.seq, row.at, Reservation.from_json(sent.reserved)
        elif row.kind == CallMade.kind:
            made: Any = row.event()
            came[made.call] = row.at, made
    return [_paid(*call, *came.get(name, (None, None))) for name, call in left.items()]


def _paid(seq: int, left_at: str, held: Reservation, came_at: str | None, made: CallMade | None) -> Paid:
    if came_at is None or made is None:
        return Paid(seq, left_at, held.usd or Decimal(0), held.tokens)
    usd = (held.usd or Decimal(0)) if made.cost_usd is None else Decimal(made.cost_usd)
    return Paid(seq, came_at, usd, made.charged_tokens)


def total(calls: Iterable[Paid]) -> tuple[Decimal, int]:
    """What calls cost together, in US dollars and in tokens."""
    usd, tokens = Decimal(0), 0
    for call in calls:
        usd, tokens = usd + call.usd, tokens + call.tokens
    return usd, tokens


def floored(usd: Decimal) -> Decimal:
    """An amount as a ceiling can state it: not more, and in few enough digits."""
    return usd.quantize(_SMALLEST_USD, ROUND_FLOOR)


class KeyLedger:
    """The runs of a service, and what was spent in them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def room(self, *key_ids: str) -> Room:
        """What the budgets of these keys leave, the smallest of each unit; a key that is not known has no limit."""
        with self._database.reading() as connection:
            found = NO_LIMIT
            for key in self._keys(connection, key_ids):
                found = found.within(self._left(connection, key, self._database.now()))
            return found

    def begin(self, connection: Connection, debate: str, key: str, owner: str, held: Room, after: int = 0) -> None:
        """Enter a run that may cost ``held``, within a transaction that is alone.

        Args:
            connection: of the transaction.
            debate: whose run it is.
            key: the id of the key that causes it.
            owner: the id of the key that ordered the debate.
            held: the most that it may cost.
            after: how many events the record has.

        Raises:
            RefusedError: the key was revoked meanwhile, or one of the two budgets has no room.
        """
        now = self._database.now()
        for row in self._keys(connection, (key, owner)):
            if row.id == key and row.revoked_at:
                raise unknown_key()
            left = self._left(connection, row, now)
            if left.is_empty or not left.holds(held):
                raise budget_spent(row, left, now, is_owner=row.id != key)
        entered = {"debate": debate, "key": key, "owner": owner, "began_at": stamp(now), "after": after}
        connection.execute(runs.insert(), {**entered, "held_usd": held.usd, "held_tokens": held.tokens})

    def unsettled(self) -> Sequence[Run]:
        """The runs that are not settled; a debate has one at most."""
        with self._database.reading() as connection:
            return _unsettled(connection, sa.true())

    def over(self) -> Sequence[Run]:
        """The runs that are not settled though their order is over: nothing is spent in them any more."""
        with self._database.reading() as connection:
            return _unsettled(connection, orders.c.state.in_(_OVER) | orders.c.state.is_(None))

    def settle(self, run: Run, calls: Sequence[Paid]) -> None:
        """Book what a run that is over has spent; its ceilings no longer count. Safe to repeat.

        Args:
            run: the run.
            calls: those of its debate.
        """
        with self._database.writing() as connection:
            self._settle(connection, run, calls)

    def settle_all(self, connection: Connection, debate: str, calls: Sequence[Paid]) -> None:
        """The same for a debate that is over, within a transaction that is alone."""
        for run in _unsettled(connection, runs.c.debate == debate):
            self._settle(connection, run, calls)

    def _settle(self, connection: Connection, run: Run, calls: Sequence[Paid]) -> None:
        still_open = (runs.c.id == run.id) & runs.c.ended_at.is_(None)
        ended = runs.update().where(still_open).values(ended_at=self._database.stamped_now())
        if connection.execute(ended).rowcount:
            rows = [
                {"run": run.id, "day": day, "usd": usd, "tokens": tokens}
                for day, (usd, tokens) in _by_day(run, calls).items()
            ]
            if rows:
                connection.execute(spending.insert(), rows)

    def _keys(self, connection: Connection, key_ids: Iterable[str]) -> list[Key]:
        query = sa.select(keys).where(keys.c.id.in_(set(key_ids)))
        return [key_of(row) for row in connection.execute(query).mappings()]

    def _left(self, connection: Connection, key: Key, now: datetime) -> Room:
        """What the budget of ``key`` has left in the period of ``now``; less than nothing is nothing."""
        if not key.has_budget:
            return NO_LIMIT
        mine = (runs.c.key == key.id) | (runs.c.owner == key.id)
        first_day = day_of(stamp(key.period.began(now)))
        booked = mine & (spending.c.day >= first_day)
        held = mine & runs.c.ended_at.is_(None)
        # One statement sees one state: between two of them a run could be settled, and its cost would be in neither.
        sums = [
            sa.select(sa.func.sum(column)).select_from(source).where(rows).scalar_subquery()
            for column, source, rows in (
                (spending.c.usd, spending.join(runs), booked),
                (spending.c.tokens, spending.join(runs), booked),
                (runs.c.held_usd, runs, held),
                (runs.c.held_tokens, runs, held),
            )
        ]
        row = connection.execute(sa.select(*sums)).one()
        usd, tokens = (row[0] or Decimal(0)) + (row[2] or 0), int(row[1] or 0) + int(row[3] or 0)
        return Room(
            None if key.budget_usd is None else max(Decimal(0), key.budget_usd - usd),
            None if key.budget_tokens is None else max(0, key.budget_tokens - tokens),
        )


def budget_spent(key: Key, left: Room, now: datetime, *, is_owner: bool = False, needed: str = "") -> RefusedError:
    """The refusal of what the budget of ``key`` has no room for.

    Args:
        key: whose budget it is.
        left: what it has left.
        now: when it was looked at.
        is_owner: whether the caller has another key, and resumes a debate that this one ordered.
        needed: what it would take, where that is known.
    """
    ends = key.period.ends(now)
    whose = "the key that ordered this debate" if is_owner else "this key"
    usd = [] if left.usd is None else [f"{in_digits(left.usd)} USD"]
    tokens = [] if left.tokens is None else [f"{left.tokens} tokens"]
    lower = "Wait" if left.is_empty else "Give a lower ceiling (budget_usd, budget_tokens), or wait"
    return RefusedError(
        429,
        "budget-spent",
        f"The budget of {whose} has {' and '.join(usd + tokens)} left, with unfinished debates counted at their whole "
        f"ceilings{needed}.",
        f"{lower} until debates end{'' if ends is None else ' or the period does'}.",
        {} if ends is None else retry_after((ends - now).total_seconds()),
    )


def in_digits(usd: Decimal) -> str:
    """An amount in plain digits."""
    return f"{usd.normalize():f}"


def _unsettled(connection: Connection, which: Any) -> list[Run]:
    query = sa.select(runs.c.id, runs.c.debate, runs.c.began_at, runs.c.after, orders.c.state)
    query = query.outerjoin(orders, orders.c.debate == runs.c.debate).where(runs.c.ended_at.is_(None) & which)
    return [Run(*row[:4], row[4] is not None) for row in connection.execute(query.order_by(runs.c.id))]


def _by_day(run: Run, calls: Iterable[Paid]) -> Mapping[str, tuple[Decimal, int]]:
    """What the calls of ``run`` cost, by day. None is booked before the day of the budget that had room for it."""
    days: dict[str, tuple[Decimal, int]] = {}
    for call in calls:
        if call.seq > run.after:
            day = max(day_of(call.at), day_of(run.began_at))
            usd, tokens = days.get(day, (Decimal(0), 0))
            days[day] = usd + call.usd, tokens + call.tokens
    return {day: row for day, row in days.items() if any(row)}


def _fits(room: Decimal | int | None, held: Decimal | int | None) -> bool:
    return room is None or (held is not None and held <= room)


def _least(one: Any, other: Any) -> Any:
    return one if other is None else other if one is None else min(one, other)
