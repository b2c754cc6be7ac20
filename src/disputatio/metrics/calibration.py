"""Correct estimates by what debates of the same kind in the store took.

A preview cannot know how much a model writes, nor how often its answers are rejected. Debates with the same models show
both. The ratio of what they took to their estimate corrects the next estimate; its spread is the expected error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from disputatio.kernel import JsonObject
from disputatio.metrics.collecting import Selection, iterate_measures
from disputatio.metrics.measures import Measures
from disputatio.participants.reasoning import ReasoningStats
from disputatio.record.events import CallMade, CallSent, DebateOpened
from disputatio.record.store import Store

FEWEST = 3
"""The fewest debates that correct an estimate."""
MOST_READ = 100
"""How many of the newest debates are read, so that a preview stays quick with a large store."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What debates of one kind took per estimated token, without reasoning.

    How much a model reasons is learned for each model, so an estimate includes it already.

    Attributes:
        factor: all tokens taken over all tokens estimated.
        least, most: the smallest and the largest ratio of a single debate.
        debates: how many it rests on.
    """

    factor: float
    least: float
    most: float
    debates: int

    def tokens(self, estimated: int, reasoning: int = 0) -> int:
        """Correct an estimate; ``reasoning`` is the part that is not corrected."""
        return self._corrected(estimated, reasoning, self.factor)

    def _corrected(self, estimated: int, reasoning: int, factor: float) -> int:
        return round((estimated - reasoning) * factor) + reasoning

    def sentence(self, estimated: int, reasoning: int = 0) -> str:
        """What to expect, and how far off it may be."""
        least, most = (self._corrected(estimated, reasoning, factor) for factor in (self.least, self.most))
        return (
            f"The last {self.debates} debates like this in the store took {self.factor:.2f} times their estimate "
            f"({self.least:.2f} to {self.most:.2f}): expect about {self.tokens(estimated, reasoning):,} tokens, "
            f"between {least:,} and {most:,}."
        )

    def as_json(self, estimated: int, reasoning: int = 0) -> JsonObject:
        """The corrected estimate and what it rests on."""
        return {
            "factor": round(self.factor, 4),
            "least": round(self.least, 4),
            "most": round(self.most, 4),
            "debates": self.debates,
            "tokens": self.tokens(estimated, reasoning),
        }


def calibrate_by(rows: Iterable[Measures]) -> Calibration | None:
    """Compute the calibration of ``rows``; None if fewer than ``FEWEST`` are comparable."""
    pairs = [
        (row.tokens - row.reasoning_tokens, row.estimated_tokens - row.estimated_reasoning)
        for row in rows
        if row.ended and row.tokens and row.estimated_tokens
    ]
    if len(pairs) < FEWEST:
        return None
    ratios = [taken / expected for taken, expected in pairs]
    factor = sum(taken for taken, _ in pairs) / sum(expected for _, expected in pairs)
    return Calibration(factor, min(ratios), max(ratios), len(pairs))


def calibrate(store: Store, format_name: str, models: Iterable[str], *, sourced: bool) -> Calibration | None:
    """Calibrate by debates in ``store`` of this format with the same models, and equally with or without sources."""
    seated = frozenset(models)
    found = islice(iterate_measures(store, Selection(format=format_name), {}), MOST_READ)
    return calibrate_by(row for row in found if row.models == seated and row.sourced == sourced)


Model: TypeAlias = tuple[str, str, str]
"""A provider, its model and the effort, empty if none was chosen. The address does not matter."""

_MOST_COUNTED = 20
"""How many debates with one of the models are counted."""


def read_reasoning(store: Store, models: Collection[Model]) -> dict[Model, ReasoningStats]:
    """Read how much ``models`` reasoned in the newest debates of ``store``; models without data are missing.

    Of the ``MOST_READ`` newest debates, at most ``_MOST_COUNTED`` with one of the models are read.

    Raises:
        StoreError: the store cannot be read.
    """
    found: dict[Model, ReasoningStats] = {}
    counted = 0
    for row in islice(store.debates(), MOST_READ):
        seated: dict[tuple[str, str], Model] = {}
        asked: dict[str, tuple[str, str]] = {}
        for sealed in (event for part in store.parts(row.id) for event in part):
            if sealed.kind == DebateOpened.kind:
                seated = _seated(sealed.event(), models)  # type: ignore[arg-type]
            elif not seated:
                break
            elif sealed.kind == CallSent.kind:
                sent: Any = sealed.event()
                asked[sent.call] = (sent.seat, sent.model)
            elif sealed.kind == CallMade.kind:
                made: Any = sealed.event()
                tokens, model = made.usage.get("reasoning_tokens"), seated.get(asked.get(made.call, ("", "")))
                if isinstance(tokens, int) and model is not None:
                    found[model] = found.get(model, ReasoningStats()) + ReasoningStats(1, tokens, tokens)
        counted += bool(seated)
        if counted == _MOST_COUNTED:
            break
    return found


def _seated(opened: DebateOpened, models: Collection[Model]) -> dict[tuple[str, str], Model]:
    """Which of ``models`` sits in a seat of the debate, by the seat and the model's address in its record."""
    found: dict[tuple[str, str], Model] = {}
    for seat, first in opened.seats.items():
        row = first
        while isinstance(row, Mapping) and row.get("kind") == "model":
            effort = row.get("reasoning_effort")
            model = (str(row["provider"]), str(row["model"]), "" if effort is None else str(effort))
            if model in models:
                at = f" at {row['base_url']}" if row.get("base_url") else ""
                found[seat, f"{model[0]}:{model[1]}{at}"] = model
            row = row.get("fallback")
    return found
