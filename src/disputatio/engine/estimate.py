"""Estimate calls, tokens and cost of a debate before anything is spent.

``Estimate`` is for users. ``estimate_for_record`` is what a record keeps, so that actual figures can be compared with
it later. Debates that differ only in their motion share one preview per process, since only the length of the motion
matters. ``expected_costs`` compares formats and models.
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
        expected: what the debate takes if it goes as debates usually go.
        least: the least it takes.
        most: the most it takes.
        ends: the phases at which it may end early, with the calls and tokens until then.
        assumed: what was assumed of answers, in a sentence.
    """

    expected: Preview
    least: Preview
    most: Preview
    ends: tuple[Stage, ...]
    assumed: str
    modes: tuple[str, ...] = ()

    @property
    def usd(self) -> Decimal | None:
        """Expected cost in US dollars; None where the price of a seat is unknown."""
        return self.expected.usd

    def as_json(self) -> JsonObject:
        """The estimate as JSON."""
        seen = self.expected
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
                for row in seen.seats
            ],
            **_spending(seen),
            "said_tokens": seen.said_tokens,
            "reasoning_tokens": seen.reasoning_tokens,
            "estimate": True,
            "assumed": self.assumed,
            "least": _spending(self.least),
            "most": _spending(self.most),
            "modes": list(self.modes),
            "ends": [{"phase": row.phase, "calls": row.calls, "tokens": row.tokens} for row in self.ends],
        }


def _spending(seen: Preview) -> JsonObject:
    usd = None if seen.usd is None else str(seen.usd)
    return {"calls": seen.calls, "input_tokens": seen.input_tokens, "output_tokens": seen.output_tokens, "usd": usd}


async def make_estimate(proposal: Proposal) -> Estimate:
    """Estimate calls, tokens and cost of a debate. No model is called.

    Raises:
        InvalidInputError: it is too long to be estimated.
    """
    proposal, chosen = await with_cheaper_modes(proposal)
    courses = Simulations(proposal)
    expected = await preview(proposal, courses)
    least, most = await preview_range(proposal, expected, courses)
    ends, modes = await early_ends(proposal, courses), tuple(row.sentence for row in chosen)
    return Estimate(expected, least, most, ends, describe_assumptions(proposal), modes)


_CACHE_SIZE = 64
_IRRELEVANT = frozenset({"motion", "seats", "budget", "software", "warnings", "estimate", "seed"})
_Cached: TypeAlias = tuple[int, JsonObject]
_CACHE: OrderedDict[str, _Cached] = OrderedDict()
_PREVIEWS: SharedWork[str, _Cached | None] = SharedWork()
"""Shares a preview among debates that start together."""


async def estimate_for_record(proposal: Proposal, opened: DebateOpened) -> JsonObject:
    """Estimate the debate that ``opened`` opens; empty where that is not possible.

    A missing estimate never stops a debate. There is none for very long debates, or for a user's own forms whose
    schemas have no typical answer.
    """
    told = [proposal.settings.estimate.characters, proposal.settings.estimate.share]
    told += [row.reasoning for row in seat_profiles(proposal).values()]
    matter = {name: value for name, value in encode(opened).items() if name not in _IRRELEVANT}
    # The address of a model does not change its prompts.
    seated = {seat: {**row, "base_url": None} for seat, row in opened.seats.items() if isinstance(row, Mapping)}
    key = canonical([told, matter, seated])
    if key not in _CACHE:
        seen = await _PREVIEWS.of(key, lambda: _make_preview(proposal))
        if seen is None:
            return {}
        _CACHE[key] = seen
        if len(_CACHE) > _CACHE_SIZE:
            _CACHE.popitem(last=False)
    _CACHE.move_to_end(key)
    before, body = _CACHE[key]
    size = _size(proposal)
    return body if size == before else _for_motion(body, size - before)


def _size(proposal: Proposal) -> int:
    return len(proposal.motion.text.encode())


async def _make_preview(proposal: Proposal) -> _Cached | None:
    """The preview as a record keeps it, with the size of its motion in bytes; None where there is none."""
    try:
        seen = await preview(proposal)
    except (LookupError, TypeError, ValueError, AttributeError, TooLongError):
        return None
    return _size(proposal), {
        "calls": seen.calls,
        "input_tokens": seen.input_tokens,
        "output_tokens": seen.output_tokens,
        "usd": None if seen.usd is None else str(seen.usd),
        **({"reasoning_tokens": seen.reasoning_tokens} if seen.reasoning_tokens else {}),
    }


def _for_motion(body: JsonObject, longer: int) -> JsonObject:
    """``body`` for a motion that is ``longer`` bytes longer."""
    tokens, calls = int(str(body["input_tokens"])), int(str(body["calls"]))
    return {**body, "input_tokens": max(0, tokens + round(calls * longer / TYPICAL_BYTES_PER_TOKEN))}


MOTION = "We should adopt the proposal that lies before us"
"""The motion of these previews, as long as a motion usually is."""


@dataclass(frozen=True, slots=True)
class ExpectedCost:
    """What one format takes with one model in every seat. ``usd`` is None where no price is known."""

    format: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: Decimal | None


async def expected_costs(models: Sequence[str]) -> tuple[ExpectedCost, ...]:
    """Estimate every format with each of ``models``, without evidence. No model is called.

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
