"""Votes of single answers: so many samples as cost what a debate cost, and the answer that is given most often."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Generic, TypeVar

from disputatio.config import Settings
from disputatio.evaluation.experiment import Experiment, Spending, Trial, read_outcome
from disputatio.formats.single import SAMPLED
from disputatio.record.history import History

Subject = TypeVar("Subject", bound=Hashable)
MOST_SAMPLES = 1024


@dataclass(frozen=True, slots=True)
class Sample:
    """One single answer of a vote: its number, its answer, and what it cost."""

    number: int
    answer: str | None
    debate: str
    spent: Spending
    seconds: float

    @property
    def tokens(self) -> int:
        """What it cost, in tokens."""
        return self.spent.tokens


def read_samples(debate: str, history: History) -> list[Sample]:
    """The samples of one record, each with its own cost."""
    outcome = read_outcome(history)
    first = int(outcome.get("first", 1))
    found = []
    for number, answer in enumerate(outcome.get("answers") or (), start=first):
        sent = [row for row in history.calls if f"/sample-{number}/" in f"/{row.path}/"]
        own = [history.made[row.call] for row in sent if row.call in history.made]
        costs = [row.cost_usd for row in own]
        usd = None if None in costs else sum((Decimal(str(row)) for row in costs), Decimal(0))
        spent = Spending(len(sent), sum(row.charged_tokens for row in own), usd)
        found.append(Sample(number, answer, debate, spent, sum(row.latency_ms for row in own) / 1000))
    return found


def count_nearest(samples: Sequence[Sample], target: int, turns: int) -> int:
    """How many of ``samples``, from the first on, come nearest to ``target`` tokens; at least one.

    Where nothing cost anything, as with scripted seats, as many as the debate had ``turns``.
    """
    if not target or not any(row.tokens for row in samples):
        return min(len(samples), max(1, turns))
    total, best, distance = 0, 1, None
    for place, row in enumerate(samples, start=1):
        total += row.tokens
        if distance is None or abs(total - target) < distance:
            best, distance = place, abs(total - target)
    return best


def count_more_samples(samples: Sequence[Sample], target: int, turns: int, usual: int = 0) -> int:
    """How many more samples lead nearer to ``target`` tokens, or to ``turns`` where nothing cost anything.

    ``usual`` is the expected cost of one sample before any was drawn. It is 0 where that is unknown, and one sample
    is drawn to see.
    """
    total = sum(row.tokens for row in samples)
    if not target:
        return turns - len(samples)
    if not samples:
        return max(1, min(round(target / usual), MOST_SAMPLES)) if usual else 1
    if not total:
        return 0
    return min(round((target - total) * len(samples) / total), MOST_SAMPLES - len(samples))


def with_sampling(settings: Settings) -> Settings:
    """``settings`` of single answers at the temperature of samples, unless another one is configured."""
    limits = settings.limits
    temperature = {"answering": SAMPLED.temperature, **limits.temperature}
    return replace(settings, limits=limits.model_copy(update={"temperature": temperature}))


class Votes(Generic[Subject]):
    """The samples of several votes in one experiment, drawn in batches; each vote is about one subject."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._batches: dict[Subject, dict[str, int]] = {}

    def samples(self, subject: Subject) -> list[Sample]:
        """The samples about ``subject`` so far, in their order."""
        rows = [self._experiment.finished.get(key) for key in self._batches.get(subject, ())]
        return [sample for row in rows if row is not None for sample in read_samples(row.debate, row.history)]

    def next_batch(
        self, subject: Subject, target: int, turns: int, usual: int, trial: Callable[[int, int], Trial]
    ) -> Trial | None:
        """The samples that are still wanted about ``subject``; None where none are, or the last batch failed.

        Args:
            subject: what the vote is about.
            target: the tokens that the vote is to cost.
            turns: the samples it is to have where nothing costs anything.
            usual: the expected tokens of one sample; 0 where that is unknown.
            trial: makes the trial from the number of the first sample, and how many samples there are.
        """
        batches, samples = self._batches.setdefault(subject, {}), self.samples(subject)
        drawn = sum(batches.values())
        if drawn > len(samples):
            return None
        wanted = max(count_more_samples(samples, target, turns, usual), 0 if drawn else 1)
        wanted = min(wanted, MOST_SAMPLES - drawn)
        if wanted <= 0:
            return None
        made = trial(drawn + 1, wanted)
        batches[made.key] = wanted
        return made
