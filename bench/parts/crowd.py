"""Very many debates at once in one process, over a provider that takes a second."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import thousand
from measured import Figure

from disputatio.testing import provider_process

TITLE = "Many debates at once in one process"
ABOUT = (
    "Free-form debates that begin together, over a server that takes one second for an answer; record on, each number "
    "in a process of its own. *Used* is the least time that its own processor time allows, over the time it took: all "
    "of that and of the waiting for a free core; or, where answers take longer than computing, what its event loop "
    "computed until the last debate's first call had left, and then that debate's calls. It is beyond 100 % where the "
    "thread that writes the record computed beside the loop on another core."
)
MOST: Final = max(thousand.SIZES)


def figures() -> list[Figure]:
    """The rows of this part."""
    with provider_process("--latency", str(thousand.LATENCY_S)) as url:
        os.environ |= {"LLM_PROVIDER": "openai_compatible", "LLM_MODEL": "fake", "LLM_BASE_URL": url}
        return [row for debates in thousand.SIZES for row in _rows(thousand.apart(debates))]


def _rows(held: thousand.Held) -> Iterator[Figure]:
    if held.complete != held.debates:
        raise RuntimeError(f"{held.complete} of {held.debates} debates were held to their end")
    name, most = f"{held.debates:,} at once", held.debates == MOST
    yield Figure(name=f"{name}: calls", value=held.calls / held.seconds, unit="calls/s")
    yield Figure(name=f"{name}: time over that of one debate's calls", value=held.seconds / held.least_s, unit="x")
    yield Figure(name=f"{name}: used", value=100 * held.used, unit="%", at_least=90.0 if most else None)
    yield Figure(name=f"{name}: memory", value=held.peak_mb, unit="MB", at_most=500.0 if most else None)
    yield Figure(name=f"{name}: processor time of a call", value=1000 * held.cpu_s / held.calls, unit="ms")
