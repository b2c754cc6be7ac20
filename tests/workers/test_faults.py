"""Whatever happens to machines: nothing is lost, nothing paid is asked again, every debate ends, chains verify."""

from __future__ import annotations

import os
from typing import Any

import pytest
from faults import SCENARIOS, Play, everything, play, stalled
from fleet_stage import Ground

pytestmark = pytest.mark.slow
FULL = os.environ.get("DISPUTATIO_TESTS") == "full"


def test_debates_survive_kills_crashes_cuts_and_jumping_clocks(fleet_ground: Ground) -> None:
    found = play(fleet_ground, everything, 24, {"latency": 0.2})
    assert found.faults == 0, found
    assert found.ended == 24
    # One in four has a ceiling that leaves no room for a lost call.
    assert set(found.statuses) <= {"COMPLETE", "DEGRADED", "DEBATE_TRUNCATED"}
    # Something was interrupted, or nothing would have been shown.
    assert found.resumed > 0


def test_what_a_stalled_worker_held_is_taken_over(fleet_ground: Ground) -> None:
    """What a stalled worker held is taken over and it cannot write any more."""
    found = play(fleet_ground, stalled, 4, {"latency": 0.05})
    assert found.faults == 0, found
    # The one whose ceiling is just what it needs lost a call.
    assert found.statuses == {"COMPLETE": 3, "DEBATE_TRUNCATED": 1}
    assert found.resumed == 4


@pytest.mark.skipif(not FULL, reason="each fault by itself: in full runs, and in bench/faults.py")
@pytest.mark.parametrize(
    ("scenario", "provider", "part"), [row[1:] for row in SCENARIOS], ids=[r[0] for r in SCENARIOS]
)
def test_debates_survive(fleet_ground: Ground, scenario: Play, provider: dict[str, Any], part: float) -> None:
    found = play(fleet_ground, scenario, max(5, round(200 * part)), provider)
    assert found.faults == 0, found
    assert found.ended == found.ordered
