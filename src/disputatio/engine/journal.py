"""Writes one debate's events: seals them, chains them, and hands them to the store in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping

from disputatio.engine.ports import Clock, Observer
from disputatio.record.chain import GENESIS, Sealed, seal
from disputatio.record.events import DebateClosed, DebateInterrupted, Event
from disputatio.record.history import History
from disputatio.record.store import Store, Summary, Writing

_ENDS = frozenset({DebateClosed.kind, DebateInterrupted.kind})


class Journal:
    """The writing end of one record.

    Args:
        debate: the debate's id.
        store: where events go.
        clock: stamps them.
        watcher: is told of each.
        written: the events that are already there, when a debate is resumed; only the last where ``history`` is given.
        history: what they tell, where it is known already; the journal goes on with it.
    """

    def __init__(
        self,
        debate: str,
        *,
        store: Store,
        clock: Clock,
        observer: Observer,
        written: tuple[Sealed, ...] = (),
        history: History | None = None,
    ) -> None:
        self.debate = debate
        self.history = history or History.of(sealed.event() for sealed in written)
        self._store, self._clock, self._observer = store, clock, observer
        self._seq = written[-1].seq if written else 0
        self._head = written[-1].hash if written else GENESIS
        self._kept: list[Sealed] = []
        self._texts: dict[str, str] = {}
        self._handed_over: deque[asyncio.Future[None]] = deque()

    def write(self, *events: Event, texts: Mapping[str, str] | None = None) -> None:
        """Seal events and keep them for the next writing, which the same step of the debate brings about.

        An answer, the turn it became and the call that follows thus reach the store in one writing. Whoever goes on
        to wait for something else hands them over first, with ``hand_over``.
        """
        now = self._clock.now()
        for event in events:
            self._seq += 1
            row = seal(event, debate=self.debate, seq=self._seq, at=now, previous=self._head)
            self._head = row.hash
            self._kept.append(row)
            self.history.add(event)
            self._observer.on_event(event, row)
        if texts:
            self._texts.update(texts)

    def hand_over(self) -> None:
        """Give what is kept to the store."""
        if self._kept:
            summary = self._summary() if any(row.kind in _ENDS for row in self._kept) else None
            writing = Writing(self.debate, tuple(self._kept), self._texts, summary)
            self._handed_over.append(self._store.append(writing))
            self._kept, self._texts = [], {}

    def _summary(self) -> Summary:
        """What the record comes to, so that metrics need not read it."""
        from disputatio.metrics.measures import make_summary, measure_debate

        # The list of debates knows the time of opening; a summary does not hold it.
        return make_summary(measure_debate(self.debate, "", self.history), self._head)

    async def durable(self) -> None:
        """Wait until all that was written is durable; a store writes in order, and nothing after a failure.

        Raises:
            StoreError: some of it could not be written; says why the first of it could not.
        """
        self.hand_over()
        if not self._handed_over:
            return
        last = self._handed_over[-1]
        if not last.done():
            # As asyncio.shield does, in fewer steps: who waits may be cancelled, the writing must not be with them.
            ended: asyncio.Future[None] = last.get_loop().create_future()
            last.add_done_callback(lambda _: None if ended.done() else ended.set_result(None))
            await ended
        while self._handed_over and self._handed_over[0].done():
            # The first failure stays: those of later writings only say that an earlier one failed.
            self._handed_over[0].result()
            self._handed_over.popleft()
        last.result()
