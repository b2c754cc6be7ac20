"""What results say today, beside what they said before: one line a point, from scripted participants.

What was said before was measured on an earlier version and is quoted. What is said now is worked out when this runs:
each point holds a debate with scripted participants, or asks the function that decides, and tells what came of it and
whether that holds.

Run: .venv/bin/python bench/decisions.py        (exit code 1 where a point does not hold)
"""

from __future__ import annotations

import sys

from decisions import competition, market, review, structured
from decisions.point import Point

POINTS: tuple[Point, ...] = (*structured.POINTS, *review.POINTS, *competition.POINTS, *market.POINTS)
"""In the order of their numbers; a subject adds its own here."""


def main() -> int:
    """Print every point; 1 where one does not hold."""
    failed = 0
    for point in sorted(POINTS, key=lambda row: row.number):
        now, holds = point.measure()
        failed += not holds
        print(f"{point.number:>2} {'holds' if holds else 'FAILS'}  {point.about}: {point.before} -> {now}")
    print(f"{len(POINTS) - failed} of {len(POINTS)} hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
