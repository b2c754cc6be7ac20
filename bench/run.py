"""The benchmark: every part one after another, each in a process of its own, one table in the end.

Run: python bench/run.py            all parts; writes bench/results/latest.md and latest.json
     python bench/run.py PART...    only these, printed; nothing is written

What is measured, and why in this way: docs/design/speed.md. The exit code is 1 where a limit is passed or a part
failed, and 0 otherwise.
"""

from __future__ import annotations

import dataclasses
import datetime
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from measured import number

PARTS: Final = ("calls", "wall", "crowd", "record", "tokens", "start", "embedded")
HERE: Final = Path(__file__).parent
RESULTS: Final = HERE / "results"
PATIENCE_S: Final = 900
MARKS: Final = {True: "yes", False: "**no**", None: ""}


def main(arguments: list[str]) -> int:
    """Run what was asked for; the exit code."""
    if arguments[:1] == ["--part"]:
        return one_part(arguments[1])
    unknown = sorted(set(arguments) - set(PARTS))
    if unknown:
        sys.stderr.write(f"There is no part {unknown[0]!r}. Parts are: {', '.join(PARTS)}.\n")
        return 2
    about, begun = surroundings(), time.monotonic()
    parts = [measured(name) for name in (arguments or PARTS)]
    result = {"about": about, "took_s": round(time.monotonic() - begun), "parts": parts}
    text = as_markdown(result)
    print(text)
    if not arguments:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "latest.md").write_text(text, encoding="utf-8")
        (RESULTS / "latest.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(any(row["met"] is False for part in parts for row in part["figures"]) or any(p["failed"] for p in parts))


def one_part(name: str) -> int:
    """Measure one part in this process and print it as JSON."""
    # What a part prints must not get between the frame and its result.
    result, sys.stdout = sys.stdout, sys.stderr
    part: Any = importlib.import_module(f"parts.{name}")
    rows = [dataclasses.asdict(row) | {"met": row.met, "limit": row.limit} for row in part.figures()]
    result.write(json.dumps({"name": name, "title": part.TITLE, "about": part.ABOUT, "figures": rows, "failed": ""}))
    return 0


def measured(name: str) -> dict[str, Any]:
    """One part, measured in a process of its own: its memory and imports are not another's."""
    sys.stderr.write(f"{name} ...\n")
    begun = time.monotonic()
    # Nothing of the caller's set-up may move a figure.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LLM_", "DISPUTATIO_"))}
    command = [sys.executable, str(HERE / "run.py"), "--part", name]
    failed, told = "", ""
    try:
        run = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, env=environment, timeout=PATIENCE_S, check=False
        )
        told = run.stdout
        failed = f"it ended with exit code {run.returncode}" if run.returncode else ""
    except subprocess.TimeoutExpired:
        failed = f"it was not done after {PATIENCE_S} s"
    sys.stderr.write(f"{name}: {time.monotonic() - begun:.0f} s {failed}\n")
    if failed:
        return {"name": name, "title": name.capitalize(), "about": "", "figures": [], "failed": failed}
    part: dict[str, Any] = json.loads(told)
    return part


def surroundings() -> dict[str, Any]:
    """When and on what this was measured; nothing that names the machine."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "python": platform.python_version(),
        "system": platform.system(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "disputatio": version("disputatio"),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def as_markdown(result: dict[str, Any]) -> str:
    """The one table, with a heading for each part."""
    about = result["about"]
    rows = [row for part in result["parts"] for row in part["figures"]]
    judged = [row["met"] for row in rows if row["met"] is not None]
    head = (
        f"{about['date']}, Python {about['python']} on {about['system']}, {about['cores']} cores, disputatio "
        f"{about['disputatio']}; {result['took_s']} s for everything, on a machine with a load of {about['load']} "
        f"at the beginning. {sum(judged)} of {len(judged)} limits are kept."
    )
    lines = [
        "# Benchmark",
        "",
        "Made by `make bench`. What is measured and how: [speed](../../docs/design/speed.md).",
        "",
        head,
    ]
    for part in result["parts"]:
        lines += ["", f"## {part['title']}", ""]
        if part["failed"]:
            lines.append(f"Not measured: {part['failed']}.")
            continue
        lines += [part["about"], "", "| figure | value | limit | kept | |", "|---|---:|---|---|---|"]
        lines += [
            f"| {row['name']} | {shown(row)} | {row['limit']} | {MARKS[row['met']]} | {row['note']} |"
            for row in part["figures"]
        ]
    return "\n".join(lines) + "\n"


def shown(row: dict[str, Any]) -> str:
    """A row's value with its unit."""
    if row["value"] is None:
        return "not measured"
    unit = row["unit"]
    return number(row["value"]) + ("" if not unit else unit if unit in ("x", "%") else f" {unit}")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main(sys.argv[1:]))
