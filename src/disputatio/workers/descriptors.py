"""Room for connections: what a process that holds many debates at once has to ask the system for."""

from __future__ import annotations

from contextlib import suppress

MOST = 65_536
"""More connections than one process will have calls under way."""


def allow_connections() -> int | None:
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
