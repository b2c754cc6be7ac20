"""Holds everything that is compared, over a store: what is recorded already is read and not asked for again.

Debates and single answers come first. What each debate cost says how many samples its vote has: as many as come nearest
to the same tokens. The first lot is reckoned from what the single answer cost, and further ones are drawn until the
next would lead away from the goal. Votes at the cost of several debates share their samples, from the first on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from disputatio.config import Settings
from disputatio.evaluation.comparing.arms import VOTE, Arm, samples_trial, trials_of
from disputatio.evaluation.comparing.reading import (
    NOT_HELD,
    Given,
    Sample,
    nearest,
    outcome_of,
    read,
    read_vote,
    samples_in,
    total_spent,
    turns_of,
)
from disputatio.evaluation.questions.items import Item, QuestionSet
from disputatio.evaluation.series import Held as HeldTrial
from disputatio.evaluation.series import Spent, Trial
from disputatio.evaluation.waves import Waves
from disputatio.ledger.budget import UNLIMITED, Budget
from disputatio.participants.gateways import OpenGateway
from disputatio.record.history import History
from disputatio.record.store import Store

MOST_SAMPLES = 1024
_MOST_WAVES = 12


@dataclass(frozen=True, slots=True)
class Held:
    """What came of all of it: for each arm what it made of each question, by arm and question."""

    given: Mapping[str, Mapping[str, Given]]
    spent: Spent
    stopped: str = ""
    provider_failed: bool = False


@dataclass(slots=True)
class Comparing:
    """Questions, the arms that answer them, and where all of it is held.

    Args:
        questions: what is asked.
        arms: who answers.
        settings: by way of answering; ``vote`` has its own.
        store: where the records are.
        opener: the way to models.
        budget: the ceilings of everything together.
        lanes: how many debates run at a time.
        prompts: a folder of overrides.
        on_held: is told of each debate as it ends.
        on_wave: is told how many debates there are, whenever that is known anew.
    """

    questions: QuestionSet
    arms: Sequence[Arm]
    settings: Mapping[str, Settings]
    store: Store
    opener: OpenGateway
    budget: Budget = UNLIMITED
    lanes: int = 4
    prompts: Path | None = None
    on_held: Callable[[HeldTrial], None] = lambda _: None
    on_wave: Callable[[int], None] = lambda _: None
    asks: bool = True
    """Whether what has no record is held; else only the records are read."""
    _waves: Waves = field(init=False)
    _about: dict[tuple[str, str], list[tuple[str, str]]] = field(default_factory=dict)
    _lots: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._waves = Waves(
            self.store,
            opener=self.opener,
            budget=self.budget,
            lanes=self.lanes,
            on_held=self.on_held,
            on_wave=self.on_wave,
            asks=self.asks,
        )

    async def hold(self) -> Held:
        """Hold what has no record yet, and read everything.

        Raises:
            ProviderError: the model certainly cannot answer; nothing was spent.
            InvalidInputError: a key or a price is missing; nothing was spent.
            asyncio.CancelledError: stopped from outside; what was held has its records.
        """
        trials: list[Trial] = []
        for item in self.questions.items:
            for arm in self.arms:
                if arm.way != VOTE:
                    pairs = trials_of(arm, item, self.settings, self.prompts)
                    self._about[arm.name, item.id] = [(about, trial.key) for about, trial in pairs]
                    trials += [trial for _, trial in pairs]
        await self._waves.hold(trials)
        if any(arm.way == VOTE for arm in self.arms):
            await self._waves.hold_further(
                lambda: [lot for item in self.questions.items if (lot := self._next_lot(item)) is not None], _MOST_WAVES
            )
        given = {arm.name: {item.id: self._given(arm, item) for item in self.questions.items} for arm in self.arms}
        spent = total_spent(list(self._waves.histories.values()))
        return Held(given, spent, self._waves.stopped, self._waves.provider_failed)

    def _next_lot(self, item: Item) -> Trial | None:
        """The samples that are still wanted for the votes on ``item``; None where none are."""
        goal = self._goal(item)
        if goal is None:
            return None
        target, turns = goal
        samples = self._samples(item)
        drawn = sum(int(key.rpartition("+")[2]) for key in self._lots.get(item.id, ()))
        if drawn > len(samples):
            return None
        total = sum(row.tokens for row in samples)
        mean = total / len(samples) if total else float(self._single_tokens(item))
        if not target:
            wanted = turns - drawn
        elif not mean:
            # Nobody knows yet what a sample costs.
            wanted = 0 if drawn else 1
        else:
            wanted = round((target - total) / mean)
        wanted = min(max(wanted, 0 if drawn else 1), MOST_SAMPLES - drawn)
        if wanted <= 0:
            return None
        lot = samples_trial(item, drawn + 1, wanted, self.settings, self.prompts)
        self._lots.setdefault(item.id, []).append(lot.key)
        return lot

    def _goal(self, item: Item) -> tuple[int, int] | None:
        """The most tokens, and turns, that a debate took whose cost a vote has; None where none was held."""
        found = [cost for arm in self.arms if arm.way == VOTE and (cost := self._cost(arm.of, item)) is not None]
        return max(found) if found else None

    def _cost(self, name: str, item: Item) -> tuple[int, int] | None:
        rows = self._of(name, item)
        if not rows:
            return None
        histories = [history for _, _, history in rows]
        return total_spent(histories).tokens, sum(map(turns_of, histories))

    def _single_tokens(self, item: Item) -> int:
        rows = self._of("single", item)
        return total_spent([history for _, _, history in rows]).tokens if rows else 0

    def _of(self, name: str, item: Item) -> list[tuple[str, str, History]]:
        """The debates of one arm on one question, where all of them were held; else nothing."""
        rows = self._about.get((name, item.id), [])
        if not rows or any(key not in self._waves.held for _, key in rows):
            return []
        return [(about, self._waves.held[key].debate, self._waves.held[key].history) for about, key in rows]

    def _samples(self, item: Item) -> list[Sample]:
        found: list[Sample] = []
        for key in self._lots.get(item.id, ()):
            row = self._waves.held.get(key)
            if row is not None and outcome_of(row.history):
                found += samples_in(row.debate, row.history)
        return found

    def _given(self, arm: Arm, item: Item) -> Given:
        if arm.way != VOTE:
            rows = self._of(arm.name, item)
            return read(arm, item, rows) if rows else NOT_HELD
        cost, samples = self._cost(arm.of, item), self._samples(item)
        if cost is None or not samples:
            return NOT_HELD
        return read_vote(item, samples[: nearest(samples, *cost)], self._waves.histories)
