"""How long a whole backtest by rules takes, and what comes of it: `python bench/backtest.py [FOLDER]`.

With a folder of market data the plan `market` is run, else `packages` on what installed packages bring. Every debate
is held anew, in a store that is thrown away, by the command as a user has it, and the report is made again from the
records.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

GOAL_S = 60.0


def timed(folder: Path, arguments: list[str]) -> tuple[dict[str, Any], float, float]:
    """The report of a command, and its seconds by the clock and of all its processes together."""
    program = Path(sys.executable).with_name("disputatio")
    before, started = os.times(), time.perf_counter()
    done = subprocess.run(
        [str(program), "backtest", *arguments, "--store", str(folder / "records.sqlite"), "--json"],
        stdout=subprocess.PIPE,
        check=True,
    )
    wall, after = time.perf_counter() - started, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return json.loads(done.stdout), wall, used


def told(report: dict[str, Any]) -> list[str]:
    """The headline figures."""
    scores = {row["name"]: row for row in report["scores"]}
    blind, leaks = report["controls"]["blind"], report["leaks"]
    lines = [report["finding"], f"  {report['dates']} dates, {len(report['control_rows'])} controls"]
    for name in ("debate", "always_up", "average_200"):
        row = scores[name]
        accuracy, other = row["accuracy"]["value"], row["accuracy_on_balanced_label"]["value"]
        balanced = row["balanced_accuracy"]
        lines.append(f"  {name:12} accuracy {accuracy:.4f}, balanced {balanced:.4f}, on the balanced label {other:.4f}")
    brier = scores["debate"]["brier"]
    lines.append(f"  Brier of the debate {brier['score']:.4f}, skill against climatology {brier['skill']:+.4f}")
    if blind is not None:
        same = blind["same_forecast"]
        lines.append(f"  blind: the same forecast on {same['count']} of {same['of']}")
    if leaks is not None:
        lines.append(f"  leak controls {'hold' if leaks['holds'] else 'DO NOT HOLD'}")
    return lines


def main() -> int:
    """Run it, print, and say whether it was in time."""
    data = ["--data", sys.argv[1]] if len(sys.argv) > 1 else []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        report, wall, used = timed(folder, data)
        size = sum(path.stat().st_size for path in folder.glob("records.sqlite*"))
        again, wall_again, _ = timed(folder, [*data, "--from-records"])
    print("\n".join(told(report)))
    print(
        f"held and told in {wall:.1f} s, goal {GOAL_S:g} s; CPU {used:.1f} s of all processes, {os.cpu_count()} cores"
    )
    same = "the same report" if again == report else "ANOTHER REPORT"
    print(f"told again from the records in {wall_again:.1f} s: {same}")
    print(f"records: {size / 1e6:.1f} MB")
    return 0 if wall <= GOAL_S and again == report else 1


if __name__ == "__main__":
    raise SystemExit(main())
