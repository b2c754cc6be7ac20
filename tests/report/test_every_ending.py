"""The decision and its worst doubt stand first, whatever the format and however a debate ended."""

from __future__ import annotations

import pytest
from ended_debates import ENDED, ended

from disputatio.report.summary import first_screen
from disputatio.report.text import render_text


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(("name", "ending"), ENDED)
def test_decision_and_doubt_stand_in_the_first_twelve_lines(name: str, ending: str, width: int) -> None:
    report = ended(name, ending)
    lines, screen = render_text(report, width).splitlines()[:12], first_screen(report)
    assert any(line.startswith(screen.label) for line in lines)
    found = next(line for line in lines if line.startswith("Worst doubt"))
    assert screen.worst_doubt.text[:20] in found
    assert ending == "complete" or report.status.value in render_text(report, width).splitlines()[0]
