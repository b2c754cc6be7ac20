"""What a debate is expected to take, before anything is spent: calls, tokens and cost, with their range."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from disputatio.engine.opening import Proposal
from disputatio.engine.output_modes import with_cheaper_modes
from disputatio.engine.preview import Courses, Preview, Stage, assumptions, early_ends, preview, preview_range
from disputatio.kernel import JsonObject


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate; no model was called for it.

    Attributes:
        expected: what the debate takes if it goes as debates usually go.
        least: what it takes at the least.
        most: what it takes at the most.
        ends: the phases at which it may end early, with the calls and tokens until then.
        assumed: what was assumed of answers, in a sentence.
        modes: how models are asked because it costs less, a sentence each.
    """

    expected: Preview
    least: Preview
    most: Preview
    ends: tuple[Stage, ...]
    assumed: str
    modes: tuple[str, ...] = ()

    @property
    def usd(self) -> Decimal | None:
        """US dollars that it is expected to cost; None where no price is known for a seat."""
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


async def estimate_of(proposal: Proposal) -> Estimate:
    """Estimate calls, tokens and cost of a debate. No model is called.

    Raises:
        InvalidInputError: it is too long to be estimated.
    """
    proposal, chosen = await with_cheaper_modes(proposal)
    courses = Courses(proposal)
    expected = await preview(proposal, courses)
    least, most = await preview_range(proposal, expected, courses)
    ends, modes = await early_ends(proposal, courses), tuple(row.sentence for row in chosen)
    return Estimate(expected, least, most, ends, assumptions(proposal), modes)
