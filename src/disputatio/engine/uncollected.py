"""Where Python need not look for garbage in circles, or seldom.

A debate makes thousands of small objects that are kept to its end, and few circles of them. Python would look through
all of them again and again, which takes a good part of the time.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SELDOM: Final = (200_000, 20, 20)
"""Objects made beyond those let go before the youngest are searched, and searches of the younger before one of the
older. A debate of dozens of calls keeps some thousands until it ends, and among those of a hundred there are hardly any
circles: to search for them takes about a microsecond each."""
SWITCH_SECONDS: Final = 0.001
"""How long a thread that waits lets another compute; five times as long is Python's own choice."""

_MANY: Final = 5_000
"""Objects. To count what is frozen takes longer than to look through fewer."""


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for circles while this lasts; also usable as a decorator. For the reading of a long record."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            # What was made here stays, so it need not be looked through even once: both together put it among what is
            # old. What somebody else has frozen must not be thawed by it.
            if gc.get_threshold() != SELDOM and gc.get_count()[0] > _MANY and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def settle_in() -> None:
    """Make this process one that holds debates: it has imported what it needs, and much of what it makes it keeps.

    From now on it looks for circles seldom, and never among what exists already; and the thread that writes the record
    waits less long for the event loop while that has much to do. A library does not change its host: only what is a
    process of its own calls this, a command, a worker, a service.
    """
    gc.freeze()
    gc.set_threshold(*SELDOM)
    sys.setswitchinterval(SWITCH_SECONDS)
