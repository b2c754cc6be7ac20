"""Settings of a process that runs debates: garbage collection and the limit of open files.

A debate makes thousands of small objects that live to its end, with few reference cycles. Repeated searches for cycles
take a third of the CPU time of a hundred market debates; see `docs/design/speed.md`.
"""

from __future__ import annotations

import gc
from contextlib import suppress
from typing import Final

GC_THRESHOLDS: Final = (200_000, 20, 20)
"""Allocations before a search of the youngest objects, then searches before one of each older generation."""


def tune_gc() -> None:
    """Freeze what exists and search for reference cycles seldom.

    Only a process of our own calls this (command, worker, service): a library does not change its host.
    """
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


MOST_FILES = 65_536
"""More than the calls that one process has in flight."""


def raise_file_limit() -> int | None:
    """Raise the limit of open files and connections to at most ``MOST_FILES``, and return it.

    Most systems start with 1,024, and each call in flight has a connection. Return None on Windows, which has no such
    limit.
    """
    try:
        import resource
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < target:
        # Some systems allow less than they report.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
