"""Estimate calls, tokens and cost of a debate before anything is spent.

``make_estimate`` is for users. ``estimate_for_record`` makes the estimate that a record keeps besides actual figures.
Debates that differ only in their motion share one preview per process, since only the length of the motion matters.
``expected_costs`` compares formats and models.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from disputatio.config import Arguments
from disputatio.config.process import settings_for
from disputatio.engine.opening import Proposal
from disputatio.engine.output_modes import with_cheaper_modes
from disputatio.engine.preview import (
    Preview,
    Simulations,
    Stage,
    describe_assumptions,
    early_ends,
    preview,
    preview_range,
    seat_profiles,
)
from disputatio.engine.simulation import TooLongError
from disputatio.formats.registry import FORMATS
from disputatio.kernel import JsonObject
from disputatio.ledger.budget import TYPICAL_BYTES_PER_TOKEN
from disputatio.motion import read_motion
from disputatio.participants.shared_work import SharedWork
from disputatio.record.events import DebateOpened, encode
from disputatio.record.text import canonical


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate. No model was called for it.

    Attributes:
        expected: what a usual course of the debate takes.
        least: the least it takes.
        most: the most it takes.
        ends: the phases after which it may end early, with the calls and tokens until then.
        assumed: the assumptions about answers, in a sentence.
        modes: a sentence for each model that is asked in another mode because that costs less.
    """

    expected: Preview
    least: Preview
    most: Preview
    ends: tuple[Stage, ...]
    assumed: str
    modes: tuple[str, ...] = ()

    @property
    def usd(self) -> Decimal | None:
        """Expected cost in US dollars; None if the price of a seat is unknown."""
        return self.expected.usd

    def as_json(self) -> JsonObject:
        """The estimate as JSON."""
        return {
            "seats": [
                {
                    "seat": row.seat,
                    "model": row.model,
                    "calls": row.calls,
                    "input_tokens": row.input_tokens,
                    "output_tokens": row.output_tokens,
                    "said_tokens": row.said_tokens,
                    "reasoning_tokens": row.reasoning_tokens,
                    "usd": None if row.usd is None else str(row.usd),
                }
                for row in self.expected.seats
            ],
            **_totals(self.expected),
            "said_tokens": self.expected.said_tokens,
            "reasoning_tokens": self.expected.reasoning_tokens,
            "estimate": True,
            "assumed": self.assumed,
            "least": _totals(self.least),
            "most": _totals(self.most),
            "modes": list(self.modes),
            "ends": [{"phase": row.phase, "calls": row.calls, "tokens": row.tokens} for row in self.ends],
        }


def _totals(row: Preview) -> JsonObject:
    usd = None if row.usd is None else str(row.usd)
    return {"calls": row.calls, "input_tokens": row.input_tokens, "output_tokens": row.output_tokens, "usd": usd}


async def make_estimate(proposal: Proposal) -> Estimate:
    """Estimate calls, tokens and cost of a debate. No model is called.

    Raises:
        InvalidInputError: the debate is too long for an estimate.
    """
    proposal, choices = await with_cheaper_modes(proposal)
    simulations = Simulations(proposal)
    expected = await preview(proposal, simulations)
    least, most = await preview_range(proposal, expected, simulations)
    ends, modes = await early_ends(proposal, simulations), tuple(row.sentence for row in choices)
    return Estimate(expected, least, most, ends, describe_assumptions(proposal), modes)


_CACHE_SIZE = 64
_IRRELEVANT = frozenset({"motion", "seats", "budget", "software", "warnings", "estimate", "seed"})
_Cached: TypeAlias = tuple[int, JsonObject]
_CACHE: OrderedDict[str, _Cached] = OrderedDict()
_PREVIEWS: SharedWork[str, _Cached | None] = SharedWork()
"""Shares a preview among debates that start together."""


async def estimate_for_record(proposal: Proposal, opened: DebateOpened) -> JsonObject:
    """Estimate the debate that ``opened`` opens; empty if that is not possible.

    A missing estimate never stops a debate. There is none for very long debates, or for a user's own forms whose
    schemas have no typical answer.
    """
    lengths = [proposal.settings.estimate.characters, proposal.settings.estimate.share]
    lengths += [row.reasoning for row in seat_profiles(proposal).values()]
    setup = {name: value for name, value in encode(opened).items() if name not in _IRRELEVANT}
    # The address of a model does not change its prompts.
    models = {seat: {**row, "base_url": None} for seat, row in opened.seats.items() if isinstance(row, Mapping)}
    key = canonical([lengths, setup, models])
    if key not in _CACHE:
        cached = await _PREVIEWS.of(key, lambda: _make_preview(proposal))
        if cached is None:
            return {}
        _CACHE[key] = cached
        if len(_CACHE) > _CACHE_SIZE:
            _CACHE.popitem(last=False)
    _CACHE.move_to_end(key)
    cached_size, body = _CACHE[key]
    size = _motion_size(proposal)
    return body if size == cached_size else _for_motion(body, size - cached_size)


def _motion_size(proposal: Proposal) -> int:
    return len(proposal.motion.text.encode())


async def _make_preview(proposal: Proposal) -> _Cached | None:
    """The size of the motion in bytes and the preview as a record keeps it; None if the debate has no preview."""
    try:
        row = await preview(proposal)
    except (LookupError, TypeError, ValueError, AttributeError, TooLongError):
        return None
    reasoning = {"reasoning_tokens": row.reasoning_tokens} if row.reasoning_tokens else {}
    return _motion_size(proposal), {**_totals(row), **reasoning}


def _for_motion(body: JsonObject, longer: int) -> JsonObject:
    """``body`` for a motion with ``longer`` more bytes."""
    tokens, calls = int(str(body["input_tokens"])), int(str(body["calls"]))
    return {**body, "input_tokens": max(0, tokens + round(calls * longer / TYPICAL_BYTES_PER_TOKEN))}


MOTION = "We should adopt the proposal that lies before us"
"""The motion of these previews, of usual length."""


@dataclass(frozen=True, slots=True)
class ExpectedCost:
    """What one format takes with one model in every seat. ``usd`` is None if no price is known."""

    format: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: Decimal | None


async def expected_costs(models: Sequence[str]) -> tuple[ExpectedCost, ...]:
    """Estimate every format with each of ``models``, without evidence. No model is called.

    Args:
        models: provider and model, such as ``openai:gpt-5``.

    Raises:
        InvalidInputError: a model cannot be used.
    """
    rows = []
    for model in models:
        for form in FORMATS.values():
            settings = settings_for(form, Arguments().with_seats([("all", model)]))
            row = await preview(Proposal(read_motion(MOTION, settings.language), form, settings))
            rows.append(ExpectedCost(form.name, model, row.calls, row.input_tokens, row.output_tokens, row.usd))
    return tuple(rows)
