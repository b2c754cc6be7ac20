"""A process that holds very many debates asks the system for as many connections as it may have."""

from __future__ import annotations

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="this system has no such limits")
CODE = """
import resource
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, min(hard, {hard}) if hard != resource.RLIM_INFINITY else {hard}))
from disputatio.engine.process_tuning import raise_file_limit
print(raise_file_limit(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def limits_with(hard: int) -> list[int]:
    done = subprocess.run([sys.executable, "-c", CODE.format(hard=hard)], capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


@pytest.mark.slow
def test_the_limit_of_open_files_is_raised_as_far() -> None:
    """The limit of open files is raised as far as the system lets it."""
    assert limits_with(1_000) == [1_000, 1_000, 1_000]
