"""How long the program takes to say anything, against an interpreter that does nothing."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from measured import Figure

TITLE = "Starting"
ABOUT = "Each command in a process of its own, in turns with `python -c pass`; medians of the runs."
ROUNDS: Final = 5
PROGRAM: Final = str(Path(sys.executable).with_name("disputatio"))
COMMANDS: Final = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import disputatio": [sys.executable, "-c", "import disputatio"],
    "disputatio --help": [PROGRAM, "--help"],
    "disputatio --version": [PROGRAM, "--version"],
    "disputatio debate --help": [PROGRAM, "debate", "--help"],
    "disputatio debate --format market": [PROGRAM, "debate", "--format", "market"],
    "disputatio list": [PROGRAM, "list"],
}
MOST_S: Final = {"import disputatio": 0.3, "disputatio --help": 0.25, "disputatio debate --help": 0.25}


def figures() -> list[Figure]:
    """The rows of this part."""
    wall: dict[str, list[float]] = {name: [] for name in COMMANDS}
    cpu: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS + 1):
            for name, command in COMMANDS.items():
                taken = _run(command, folder)
                if number:
                    wall[name].append(taken[0])
                    cpu[name].append(taken[1])
    return list(_rows(wall, cpu))


def _run(command: list[str], folder: str) -> tuple[float, float]:
    """Seconds on the clock and of the processor."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {"HOME": folder, "XDG_DATA_HOME": folder, "PATH": "/usr/bin:/bin"}
    subprocess.run(command, check=True, capture_output=True, env=environment, cwd=folder)
    taken, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _rows(wall: dict[str, list[float]], cpu: dict[str, list[float]]) -> Iterator[Figure]:
    least = statistics.median(wall["python -c pass"])
    for name, seconds in wall.items():
        taken, worked = statistics.median(seconds), statistics.median(cpu[name])
        note = f"{taken / least:.1f} times python -c pass; {1000 * worked:.0f} ms of the processor"
        yield Figure(name=name, value=taken, unit="s", at_most=MOST_S.get(name), note=note)
