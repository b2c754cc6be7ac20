"""A probability of up from a market debate, by formulas that a plan names beforehand. It never stands in a briefing.

    equal_weights   an argument weighs score x confidence x standing. Within each lens the log odds of up are the
                    difference of the two sides' mean weights over their sum; sides of equal weight give one half. The
                    forecast is the mean over the lenses

Scores are 1 to 10 and count as what they are above 1, over 9. Confidence is the adjusted one. A standing counts 1 where
UPHELD, one half where WEAKENED, a quarter where UNCERTAIN and 0 where REFUTED. An argument whose figures are not borne
out, or that nobody scored, does not count. Without an argument that counts there is no forecast: an abstention.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

STANDINGS = {"UPHELD": 1.0, "WEAKENED": 0.5, "UNCERTAIN": 0.25, "REFUTED": 0.0}
FORMULAS = ("equal_weights",)


def argument_weight(row: Mapping[str, Any]) -> float | None:
    """How much one argument of a market verdict's trace counts, 0 to 1; None where it does not."""
    score, confidence = row.get("weighted"), row.get("confidence_adjusted")
    standing = STANDINGS.get(str(row.get("judged")))
    if score is None or confidence is None or standing is None or row.get("not_borne_out"):
        return None
    return (float(score) - 1) / 9 * float(confidence) * standing


def lens_forecasts(outcome: Mapping[str, Any]) -> dict[str, float | None]:
    """The probability of up of each lens (``tech``, ``macro`` and so on); None where neither of its seats counts."""
    weights: dict[str, dict[str, list[float]]] = {}
    for row in outcome.get("trace") or ():
        lens, _, side = str(row["side"]).rpartition("_")
        weight = argument_weight(row)
        own = weights.setdefault(lens, {"bull": [], "bear": []})
        if weight is not None and side in own:
            own[side].append(weight)
    return {lens: _probability(own["bull"], own["bear"]) for lens, own in weights.items()}


def probability_up(outcome: Mapping[str, Any]) -> float | None:
    """The probability of up by ``equal_weights`` from a whole verdict; None where no argument counts."""
    known = [row for row in lens_forecasts(outcome).values() if row is not None]
    return math.fsum(known) / len(known) if known else None


def _probability(bull: list[float], bear: list[float]) -> float | None:
    """A logistic of the difference of the mean weights over their sum; a side without arguments weighs nothing."""
    if not bull and not bear:
        return None
    up = math.fsum(bull) / len(bull) if bull else 0.0
    down = math.fsum(bear) / len(bear) if bear else 0.0
    return 0.5 if up + down == 0 else 1 / (1 + math.exp(-(up - down) / (up + down)))
