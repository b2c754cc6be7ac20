"""Two checkouts beside each other: what a change costs.

Run: python bench/compare.py OTHER_CHECKOUT [calls] [market] [resume] [start]

Each part runs the same work with the code of either checkout, in turns, in processes of their own and with the
interpreter and the libraries that run this command. It prints the median of each, and the median of the ratios of the
turns: 1.10 means that this checkout takes a tenth longer than the other.

    calls    processor time of a call of a panel, of the gateway's thin path alone, and of the library's way alone
    market   seconds and processor time of a hundred market debates at once at a one-second model
    resume   processor time until a stopped debate of a thousand turns makes its next call
    start    processor time of commands, and of importing the package
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from disputatio.record.sql import SqlStore
from disputatio.testing import provider_process

HERE = Path(__file__).resolve().parent.parent
RESUME = """
import pathlib, sys
from parts.record import _resumed
print(next(_resumed(pathlib.Path(sys.argv[1]), 1000)).value)
"""
TurnResult = Iterator[tuple[str, Callable[[Path], float]]]
"""What is measured, and how long it takes with a checkout's code."""


def environment(checkout: Path) -> dict[str, str]:
    """The environment of a process that runs the code of ``checkout``."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LLM_", "DISPUTATIO_"))}
    return kept | {"PYTHONPATH": str(checkout / "src")}


def calls(checkouts: tuple[Path, ...], stack: contextlib.ExitStack) -> TurnResult:
    """Processor milliseconds of a call."""
    url = stack.enter_context(provider_process("--no-prefix-cache"))

    def running(what: str, checkout: Path) -> subprocess.Popen[str]:
        command = [sys.executable, str(checkout / "bench" / "peers" / "panel.py"), url, what]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        return stack.enter_context(subprocess.Popen(command, env=environment(checkout), **pipes))

    for what in ("debate", "model_client", "library"):
        processes = {checkout: running(what, checkout) for checkout in checkouts}

        def block(checkout: Path, processes: dict[Path, Any] = processes) -> float:
            said = json.loads(_asked(processes[checkout], "10"))
            return 1000 * float(said["cpu_s"]) / int(said["calls"])

        yield f"{what}, ms of the processor for a call", block


def market(_: tuple[Path, ...], stack: contextlib.ExitStack) -> TurnResult:
    """Seconds of a hundred market debates."""
    at_once = stack.enter_context(provider_process())
    slow = stack.enter_context(provider_process("--latency", "1"))

    def crowd(checkout: Path) -> float:
        command = [sys.executable, "-m", "parts.wall", "market", at_once, slow, "100"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=checkout / "bench", env=environment(checkout), **pipes) as process:
            process.stdout.readline()
            return float(_asked(process, "begin"))

    yield "100 market debates, s", crowd


def resume(*_: object) -> TurnResult:
    """Processor milliseconds until the next call."""

    def resumed(checkout: Path) -> float:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", RESUME, folder]
            given: dict[str, Any] = {"cwd": checkout / "bench", "env": environment(checkout)}
            return float(subprocess.run(command, check=True, capture_output=True, text=True, **given).stdout)

    yield "resume 1,000 turns, ms of the processor", resumed


def start(_: tuple[Path, ...], stack: contextlib.ExitStack) -> TurnResult:
    """Processor milliseconds of a command, over a store with one debate."""
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    places = {"HOME": folder, "XDG_DATA_HOME": folder, "DISPUTATIO_STORE": f"{folder}/one.sqlite"}
    program = [sys.executable, "-m", "disputatio"]
    # The market's analysts argue by rules: no model is asked.
    held = [*program, "debate", "--format", "market"]
    subprocess.run(held, check=True, capture_output=True, env=environment(HERE) | places, cwd=folder)
    (debate,) = SqlStore(places["DISPUTATIO_STORE"]).debates()
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import disputatio": [sys.executable, "-c", "import disputatio"],
        "import disputatio, and its debate": [sys.executable, "-c", "import disputatio; disputatio.debate"],
        "disputatio --help": [*program, "--help"],
        "disputatio list": [*program, "list"],
        "disputatio show": [*program, "show", debate.id],
    }
    for name, words in commands.items():

        def command(checkout: Path, words: list[str] = words) -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            given: dict[str, Any] = {"env": environment(checkout) | places, "cwd": folder}
            subprocess.run(words, check=True, capture_output=True, **given)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

        yield f"{name}, ms of the processor", command


def _asked(process: Any, line: str) -> str:
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    return str(process.stdout.readline())


PARTS = {"calls": (calls, 11), "market": (market, 5), "resume": (resume, 5), "start": (start, 11)}
"""Each part, and how many turns each checkout gets after one to warm up."""


def main(arguments: list[str]) -> int:
    """Measure what was asked for and print it; the exit code."""
    if not arguments or not (Path(arguments[0]) / "src" / "disputatio").is_dir() or set(arguments[1:]) - set(PARTS):
        sys.stderr.write(f"Give the folder of another checkout, and parts of {', '.join(PARTS)}.\n")
        return 2
    other = Path(arguments[0]).resolve()
    print("| figure | other | this | this over other |\n|---|---:|---:|---:|")
    for part, turns in (PARTS[name] for name in (arguments[1:] or PARTS)):
        with contextlib.ExitStack() as stack:
            for name, measure in part((other, HERE), stack):
                taken = [(measure(other), measure(HERE)) for _ in range(turns + 1)][1:]
                medians = [statistics.median(row[place] for row in taken) for place in (0, 1)]
                ratio = statistics.median(new / old for old, new in taken)
                print(f"| {name} | {medians[0]:.3g} | {medians[1]:.3g} | {ratio:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
