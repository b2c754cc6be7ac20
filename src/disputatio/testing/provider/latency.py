"""How long a fake provider takes to answer, in seconds.

The drawn ones depend on the request and not on the order of arrival, so that two runs of one debate wait
equally long whichever of its requests comes first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TypeAlias

from disputatio.testing.instances.seeds import fraction, mixed, seed_of
from disputatio.testing.provider.received import ReceivedRequest

Latency: TypeAlias = Callable[[ReceivedRequest], float]


def uniform(low_s: float, high_s: float, seed: int = 0) -> Latency:
    """Equally likely anywhere from ``low_s`` to ``high_s``."""
    return lambda request: low_s + (high_s - low_s) * share(request, seed)


def lognormal(median_s: float, spread: float, seed: int = 0) -> Latency:
    """Around ``median_s`` with a long tail; ``spread`` is the deviation of the logarithm, 0.5 for a calm server."""
    normal = NormalDist()

    def draw(request: ReceivedRequest) -> float:
        # A share of exactly 0 has no quantile.
        return median_s * math.exp(spread * normal.inv_cdf(max(share(request, seed), 1e-9)))

    return draw


def share(request: ReceivedRequest, seed: int) -> float:
    """A number in [0, 1) that this attempt at this request always has under ``seed``."""
    return fraction(mixed(seed_of(f"{seed} {request.fingerprint} {request.attempt}")))
