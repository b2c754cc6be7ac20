"""What a debate of each format is expected to cost with each model: previews at the prices of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from disputatio.config import Arguments
from disputatio.config.process import settings_for
from disputatio.engine.opening import Proposal
from disputatio.engine.preview import preview
from disputatio.formats.registry import FORMATS
from disputatio.motion import read_motion

MOTION = "We should adopt the proposal that lies before us"
"""What the previews debate: as long as a motion usually is."""


@dataclass(frozen=True, slots=True)
class ExpectedCost:
    """What one format takes with one model in every seat; ``usd`` is None where no price is known."""

    format: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: Decimal | None


async def expected_costs(models: Sequence[str]) -> tuple[ExpectedCost, ...]:
    """The expected cost of every format with each of ``models``, without evidence; no model is called.

    Args:
        models: as seats are given, such as ``openai:gpt-5``.

    Raises:
        InvalidInputError: a model cannot be used.
    """
    rows = []
    for model in models:
        for form in FORMATS.values():
            settings = settings_for(form, Arguments().with_seats([("all", model)]))
            seen = await preview(Proposal(read_motion(MOTION, settings.language), form, settings))
            rows.append(ExpectedCost(form.name, model, seen.calls, seen.input_tokens, seen.output_tokens, seen.usd))
    return tuple(rows)
