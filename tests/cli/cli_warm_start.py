"""Starts the command line in processes that have imported it already; run as a program by ``cli_commands.py``.

Importing what a debate needs takes seconds, so it is done once, and each command runs in a fork. From the fork on
everything is real: its own process and session, its own standard streams or terminal, signals, and the whole end of
the interpreter, with what it does to buffered output.

Orders come over a socket, each with the streams as file descriptors; a keeper per command waits for its end.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import io
import json
import os
import signal
import socket
import sys
import termios
from typing import Any

HEAVY = (
    "disputatio._cli.app",
    "disputatio._cli.main",
    "disputatio._terminal",
    "disputatio.config.process",
    "disputatio.api",
    "disputatio.engine.runtime",
    "disputatio.tools.builtin",
    *(f"disputatio.formats.{name}" for name in ("competition", "freeform", "market", "panel", "review", "structured")),
    "disputatio.participants.analyst.turns",
    "disputatio.participants.remote.chat",
    "disputatio.participants.remote.models",
    "disputatio.participants.remote.faults",
    "disputatio.participants.remote.reply",
    "disputatio.participants.remote.probe",
    "disputatio.record.database",
    "disputatio.record.sql",
    "disputatio.record.tables",
    *(f"disputatio.report.{name}" for name in ("argdown", "json_export", "markdown", "page", "text")),
    "disputatio.tools.toolset",
    "dotenv.main",
    "genai_prices.data",
    "jsonschema_rs",
    "openai.resources.chat",
    "platformdirs",
    "pydantic_ai.direct",
    "pydantic_ai.models.openai",
    "pydantic_ai.providers.openai_compatible",
    "rich.live",
    "sqlalchemy.dialects.sqlite",
    "sqlite3",
    "typer.rich_utils",
)
STREAMS = 3


def wait_for_orders(orders: socket.socket) -> None:
    """Return in each process that is to run a command; end with the orders."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, given, _, _ = socket.recv_fds(orders, 1 << 22, STREAMS + 1)
        if not message:
            sys.exit(0)
        if os.fork() == 0:
            orders.close()
            keep(json.loads(message), given)
            return
        for each in given:
            os.close(each)


def keep(order: dict[str, Any], given: list[int]) -> None:
    """Fork once more: this process tells how the command ends, the other returns to run it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, report = given
    command = os.fork()
    if command == 0:
        os.close(report)
        take_on(order, streams)
        return
    for each in streams:
        os.close(each)
    os.write(report, f"{command}\n".encode())
    _, status = os.waitpid(command, 0)
    os.write(report, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def take_on(order: dict[str, Any], streams: list[int]) -> None:
    """Become the process that a shell would have started."""
    os.setsid()
    for place, each in enumerate(streams):
        os.dup2(each, place)
    for each in streams:
        os.close(each)
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in order["ignored"]:
        signal.signal(number, signal.SIG_IGN)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.argv = ["disputatio", *order["arguments"]]
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout, sys.stderr = opened(1), opened(2)


def opened(number: int) -> io.TextIOWrapper:
    """A standard stream as the interpreter would have opened it."""
    raw = io.BufferedWriter(io.FileIO(number, "w", closefd=False))
    whole_lines = number == 2 or os.isatty(number)
    errors = "backslashreplace" if number == 2 else "strict"
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, line_buffering=whole_lines)


if __name__ == "__main__":
    for name in HEAVY:
        importlib.import_module(name)
    # What was imported stays out of every fork's garbage collections, whose writes would copy all of it.
    gc.freeze()
    wait_for_orders(socket.socket(fileno=int(sys.argv[1])))
    from disputatio._cli.main import main

    main()
