"""Settings of a whole process that runs debates: garbage collection and the limit of open files.

A debate makes thousands of small objects that live to its end, with few reference cycles. Searching them again and
again takes a third of the CPU time of a hundred market debates; see `docs/design/speed.md`.
"""

from __future__ import annotations

import gc
from contextlib import suppress
from typing import Final

GC_THRESHOLDS: Final = (200_000, 20, 20)
"""Allocations before the youngest objects are searched, and searches before the next older generation is."""


def tune_gc() -> None:
    """Freeze what exists and search for reference cycles seldom.

    Only a process of our own calls this (command, worker, service): a library does not change its host.
    """
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


MOST = 65_536
"""More connections than one process will have calls in flight."""


def raise_file_limit() -> int | None:
    """Raise the limit of open files and connections, up to ``MOST``, and return it.

    Most systems start with 1,024, and each call in flight has a connection. Returns None where there is no such limit
    (Windows).
    """
    try:
        import resource
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        # Some systems allow less than they report.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
