"""Votes of single answers: as many samples as a debate cost, and the most frequent answer."""

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
    """One answer of a vote, with its number and cost."""

    number: int
    answer: str | None
    debate: str
    spent: Spending
    seconds: float

    @property
    def tokens(self) -> int:
        """Its tokens."""
        return self.spent.tokens


def read_samples(debate: str, history: History) -> list[Sample]:
    """Read the samples of one record, each with its own cost."""
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
    """Count how many of the first ``samples`` come nearest to ``target`` tokens; at least one.

    Where nothing costs anything, as with scripted seats, the answer is ``turns``.
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
    """Count how many more samples come nearer to ``target`` tokens, or to ``turns`` where nothing costs anything.

    ``usual`` is the expected cost of one sample before any was drawn. If it is 0 (unknown), one sample is drawn first.
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
    """Return ``settings`` with the sampling temperature, unless another one is configured."""
    limits = settings.limits
    temperature = {"answering": SAMPLED.temperature, **limits.temperature}
    return replace(settings, limits=limits.model_copy(update={"temperature": temperature}))


class Votes(Generic[Subject]):
    """Draws the samples of several votes in batches; each vote is about one subject."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._batches: dict[Subject, dict[str, int]] = {}

    def samples(self, subject: Subject) -> list[Sample]:
        """Return the samples about ``subject`` so far, in order."""
        rows = [self._experiment.finished.get(key) for key in self._batches.get(subject, ())]
        return [sample for row in rows if row is not None for sample in read_samples(row.debate, row.history)]

    def next_batch(
        self, subject: Subject, target: int, turns: int, usual: int, trial: Callable[[int, int], Trial]
    ) -> Trial | None:
        """Return a trial with the samples still wanted about ``subject``; None if none are, or if the last batch
        failed.

        Args:
            subject: what the vote is about.
            target: the tokens the vote should cost.
            turns: how many samples to draw where nothing costs anything.
            usual: the expected tokens of one sample; 0 if unknown.
            trial: makes a trial from the number of the first sample and the number of samples.
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
