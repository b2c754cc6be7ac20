"""A fake provider in a process of its own."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Final

_PATIENCE_S: Final = 10.0


@contextlib.contextmanager
def provider_process(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run ``python -m disputatio.testing.provider`` and give its base URL.

    The process ends with the block, and by itself if this process dies first: it watches its input.

    Args:
        arguments: command-line options, such as ``--latency 0.2``; ``--help`` lists them.
        environment: replaces the environment of the process; None hands on that of this one.

    Raises:
        RuntimeError: it ended without saying where it listens.
    """
    command = [sys.executable, "-m", "disputatio.testing.provider", "--until-input-ends", *arguments]
    process = subprocess.Popen(  # noqa: S603 - the command is this very Python and the caller's own options
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    with process:
        try:
            line = process.stdout.readline().strip() if process.stdout else ""
            if not line:
                raise RuntimeError("the provider's process ended before it listened")
            yield line
        finally:
            if process.stdin:
                process.stdin.close()
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
