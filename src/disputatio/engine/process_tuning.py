"""How often Python looks for garbage in circles, in a process that holds debates.

A debate makes thousands of small objects that are kept to its end, and few circles of them. Python would look through
all of them again and again. That takes a third of the processor time of a hundred market debates at once; see
`docs/design/speed.md`.
"""

from __future__ import annotations

import gc
from contextlib import suppress
from typing import Final

GC_THRESHOLDS: Final = (200_000, 20, 20)
"""Objects made beyond those let go before the youngest are searched, and searches of the younger before one of the
older. A debate of dozens of calls keeps some thousands until it ends, and among those of a hundred there are hardly any
circles: to search for them takes about a microsecond each."""


def tune_gc() -> None:
    """Make this process one that holds debates: it has imported what it needs, and much of what it makes it keeps.

    From now on it looks for circles seldom, and never among what exists already. A library does not change its host:
    only what is a process of its own calls this, a command, a worker, a service.
    """
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


MOST = 65_536
"""More connections than one process will have calls under way."""


def raise_file_limit() -> int | None:
    """Let this process open as many files and connections as it may, up to ``MOST``; how many that are.

    Most systems begin with 1,024, and a debate has a connection for each call that is under way. None where the system
    has no such limit (Windows).
    """
    try:
        import resource
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        # Some systems allow less than they say.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
