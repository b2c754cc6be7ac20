"""The benchmark of decisions has a line for every point that was wrong, and all of them hold."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
POINTS = range(1, 27)


@pytest.mark.slow
def test_every_decision_that_was_wrong_holds_now() -> None:
    ran = subprocess.run(
        [sys.executable, "bench/decisions.py"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    held = [int(row[1]) for row in re.finditer(r"^ ?(\d+) holds  ", ran.stdout, re.MULTILINE)]
    assert sorted(set(held)) == list(POINTS)
    assert "FAILS" not in ran.stdout
