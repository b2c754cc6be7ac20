"""Run everything that is compared as one experiment, and estimate it.

Debates and single answers run first. The cost of each debate decides how many samples its vote has: as many as come
nearest to the same tokens. The first batch is estimated from the cost of the single answer. Further batches follow
until more samples would move away from the goal. Votes at the cost of several debates share their samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from disputatio.config import Settings
from disputatio.evaluation.estimates import EstimatedPart, estimate_part, estimate_vote
from disputatio.evaluation.experiment import Experiment, Spending, Trial, total_spending
from disputatio.evaluation.questions.arms import (
    NOT_RUN,
    SINGLE_ANSWER,
    VOTE,
    Arm,
    ArmAnswer,
    count_turns,
    make_samples_trial,
    make_trials,
    read_answer,
    read_vote,
)
from disputatio.evaluation.questions.items import Item, QuestionSet
from disputatio.evaluation.votes import Votes, count_nearest
from disputatio.record.history import History

_MOST_BATCHES = 12


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """The answer of each arm to each question, by arm and question."""

    given: Mapping[str, Mapping[str, ArmAnswer]]
    spent: Spending
    stopped: str = ""
    provider_failed: bool = False


class EvaluationRunner:
    """Runs all arms on all questions.

    Args:
        questions: the questions.
        arms: the ways of answering.
        settings: by way of answering; ``vote`` has its own.
        experiment: runs the debates.
        prompts: a folder of overrides.
    """

    def __init__(
        self,
        questions: QuestionSet,
        arms: Sequence[Arm],
        settings: Mapping[str, Settings],
        experiment: Experiment,
        prompts: Path | None = None,
    ) -> None:
        self._questions, self._arms, self._settings, self._prompts = questions, arms, settings, prompts
        self._experiment, self._votes = experiment, Votes[str](experiment)
        self._about: dict[tuple[str, str], list[tuple[str, str]]] = {}

    async def run(self) -> EvaluationResult:
        """Run what has no record yet, and read everything.

        Raises:
            ProviderError, InvalidInputError, asyncio.CancelledError: as ``Experiment.run``.
        """
        trials: list[Trial] = []
        for item in self._questions.items:
            for arm in self._arms:
                if arm.way != VOTE:
                    pairs = make_trials(arm, item, self._settings, self._prompts)
                    self._about[arm.name, item.id] = [(about, trial.key) for about, trial in pairs]
                    trials += [trial for _, trial in pairs]
        await self._experiment.run(trials)
        if any(arm.way == VOTE for arm in self._arms):
            await self._experiment.run_further(
                lambda: [row for item in self._questions.items if (row := self._next_samples(item)) is not None],
                _MOST_BATCHES,
            )
        given = {arm.name: {item.id: self._given(arm, item) for item in self._questions.items} for arm in self._arms}
        result = self._experiment.result
        spent = total_spending(row.history for row in result.finished)
        return EvaluationResult(given, spent, result.stopped, result.provider_failed)

    def _next_samples(self, item: Item) -> Trial | None:
        """The samples still wanted for the votes on ``item``; None if none are."""
        goal = self._goal(item)
        if goal is None:
            return None
        usual = total_spending(history for _, _, history in self._of("single", item)).tokens
        return self._votes.next_batch(
            item.id,
            *goal,
            usual,
            lambda first, count: make_samples_trial(item, first, count, self._settings, self._prompts),
        )

    def _goal(self, item: Item) -> tuple[int, int] | None:
        """The largest cost (tokens, turns) of a debate that a vote has to match; None if none ran."""
        found = [cost for arm in self._arms if arm.way == VOTE and (cost := self._cost(arm.of, item)) is not None]
        return max(found) if found else None

    def _cost(self, name: str, item: Item) -> tuple[int, int] | None:
        rows = self._of(name, item)
        if not rows:
            return None
        histories = [history for _, _, history in rows]
        return total_spending(histories).tokens, sum(map(count_turns, histories))

    def _of(self, name: str, item: Item) -> list[tuple[str, str, History]]:
        """The debates of one arm on one question if all of them ran; else nothing."""
        rows = self._about.get((name, item.id), [])
        finished = self._experiment.finished
        if not rows or any(key not in finished for _, key in rows):
            return []
        return [(about, finished[key].debate, finished[key].history) for about, key in rows]

    def _given(self, arm: Arm, item: Item) -> ArmAnswer:
        if arm.way != VOTE:
            rows = self._of(arm.name, item)
            return read_answer(arm, item, rows) if rows else NOT_RUN
        cost, samples = self._cost(arm.of, item), self._votes.samples(item.id)
        if cost is None or not samples:
            return NOT_RUN
        histories = {row.debate: row.history for row in self._experiment.finished.values()}
        return read_vote(item, samples[: count_nearest(samples, *cost)], histories)


async def estimate_evaluation(
    questions: QuestionSet,
    arms: Sequence[Arm],
    settings: Mapping[str, Settings],
    prompts: Path | None = None,
    *,
    batch: bool = False,
) -> tuple[EstimatedPart, ...]:
    """Estimate each arm. Votes at the cost of several debates share their samples, so only the dearest counts."""
    found: dict[str, EstimatedPart] = {}
    for arm in arms:
        if arm.way != VOTE:
            trials = [row for item in questions.items for _, row in make_trials(arm, item, settings, prompts)]
            found[arm.name] = await estimate_part(arm.name, [row.proposal for row in trials], batch=batch)
    paid = [found[arm.of] for arm in arms if arm.way == VOTE and arm.of in found]
    if paid:
        single = found.get(SINGLE_ANSWER)
        if single is None:
            rows = [make_samples_trial(item, 1, 1, settings, prompts).proposal for item in questions.items]
            single = await estimate_part(SINGLE_ANSWER, rows, batch=batch)
        found[VOTE] = estimate_vote(VOTE, max(paid, key=lambda row: row.tokens), single)
    return tuple(found.values())
