"""Trials that come in waves: what the first ones took says how many more are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from disputatio.evaluation.series import Held, Series, SeriesResult, Trial
from disputatio.ledger.budget import UNLIMITED, Budget
from disputatio.participants.gateways import OpenGateway
from disputatio.record.history import History
from disputatio.record.store import Store


class Waves:
    """Holds one wave of trials after another, all under one ceiling.

    Each wave is a series of everything so far: what has a record costs nothing, and counts against the ceiling.

    Args:
        store: where the records are.
        opener: the way to models.
        budget: the ceilings of all waves together.
        lanes: how many trials are held at a time.
        on_held: is told of each trial once, as it ends.
        on_wave: is told how many trials there are, whenever that is known anew.
        asks: whether what has no record is held; else only the records are read.
    """

    def __init__(
        self,
        store: Store,
        *,
        opener: OpenGateway,
        budget: Budget = UNLIMITED,
        lanes: int,
        on_held: Callable[[Held], None],
        on_wave: Callable[[int], None],
        asks: bool = True,
    ) -> None:
        self._store, self._opener, self._budget, self._lanes = store, opener, budget, lanes
        self._on_held, self._on_wave, self._asks = on_held, on_wave, asks
        self._trials: dict[str, Trial] = {}
        self._held: dict[str, Held] = {}
        self._result: SeriesResult | None = None

    @property
    def held(self) -> dict[str, Held]:
        """What was held so far, by key."""
        return self._held

    @property
    def histories(self) -> dict[str, History]:
        """The histories of what was held so far, by the id of the record."""
        return {row.debate: row.history for row in self._held.values()}

    @property
    def stopped(self) -> str:
        """Why not everything was held; empty where nothing stood in the way."""
        return self._result.stopped if self._result else ""

    @property
    def provider_failed(self) -> bool:
        """Whether a model that could not be reached is why."""
        return self._result is not None and self._result.provider_failed

    async def hold(self, trials: Iterable[Trial]) -> None:
        """Hold ``trials``, and what is left of earlier waves.

        Raises:
            ProviderError, InvalidInputError, asyncio.CancelledError: as ``Series.hold``.
        """
        self._trials |= {trial.key: trial for trial in trials}
        self._on_wave(len(self._trials))
        series = Series(
            list(self._trials.values()),
            store=self._store,
            opener=self._opener,
            budget=self._budget,
            lanes=self._lanes,
            on_held=self._take,
            shares_ceiling=True,
        )
        self._result = await series.hold() if self._asks else series.recorded()

    async def hold_further(self, wanted: Callable[[], Sequence[Trial]], most: int) -> None:
        """Hold what is ``wanted`` still, ``most`` times at most: until nothing is, or a wave brings nothing.

        Raises:
            ProviderError, InvalidInputError, asyncio.CancelledError: as ``Series.hold``.
        """
        for _ in range(most):
            trials, before = wanted(), len(self._held)
            if not trials or self.stopped:
                return
            await self.hold(trials)
            if len(self._held) == before:
                return

    def _take(self, row: Held) -> None:
        if row.key not in self._held:
            self._held[row.key] = row
            self._on_held(row)
