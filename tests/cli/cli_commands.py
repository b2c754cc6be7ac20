"""Runs commands of the command line as real processes and tells what came of them. Nothing here sleeps."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyte

PATIENCE_S = 60.0
BOXES = re.compile("[\u2500-\u257f]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str
    raw: bytes

    @property
    def said(self) -> str:
        """Everything it wrote."""
        return self.out + self.err


Call = Callable[..., Ended]
"""Runs one command in this process; see the fixture ``call``."""


def is_clear(err: str, *, lines: int = 4) -> str:
    """Assert that ``err`` is a sentence with its cause and a next step, and nothing else; returns it on one line."""
    said = err.strip().splitlines()
    assert 2 <= len(said) <= lines, err
    assert "Traceback" not in err, err
    assert not CONTROL.search(err), repr(err)
    assert not BOXES.search(err), err
    assert "went wrong inside" not in err, err
    assert said[0].endswith((".", "?")), err
    return " ".join(said)


class _Heard:
    """Reads one stream to its end in a thread, so that no command ever waits for its reader."""

    def __init__(self, number: int) -> None:
        self.data = bytearray()
        self.ended = False
        self.news = threading.Condition()
        self._number = number
        self._told, self._tell = os.pipe()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def leave(self) -> None:
        """Close the stream, as somebody who has read enough."""
        with contextlib.suppress(OSError):
            os.write(self._tell, b".")
        self.thread.join(PATIENCE_S)

    def _read(self) -> None:
        while True:
            ready, _, _ = select.select([self._number, self._told], [], [])
            try:
                piece = b"" if self._told in ready else os.read(self._number, 65536)
            except OSError:  # a terminal whose other side is closed
                piece = b""
            with self.news:
                self.data += piece
                self.ended = not piece
                self.news.notify_all()
            if not piece:
                for each in (self._number, self._told, self._tell):
                    os.close(each)
                return


class _Emulated(pyte.Screen):
    """What a terminal of 80 by 24 shows; its reports are typed into the program."""

    def __init__(self, keyboard: int | None) -> None:
        super().__init__(80, 24)
        self._keyboard, self._seen, self._stream = keyboard, 0, pyte.ByteStream(self)

    def write_process_input(self, data: str) -> None:
        """Answer a question of the program about its terminal."""
        if self._keyboard is not None:
            os.write(self._keyboard, data.encode())

    def shows(self, data: bytes) -> list[str]:
        """The lines after all of ``data``, of which the beginning is known."""
        self._stream.feed(data[self._seen :])
        self._seen = len(data)
        return list(self.display)


class Command:
    """A command that runs."""

    def __init__(self, out: int, err: int | None, typed: int | None, report: socket.socket) -> None:
        self._out = _Heard(out)
        self._err = None if err is None else _Heard(err)
        self._typed = typed
        self._emulated: _Emulated | None = None
        self._report = report.makefile("r")
        self._socket = report
        self.pid = int(self._report.readline())

    def until(self, text: str) -> str:
        """Wait until it has written ``text``; returns all that it wrote."""
        wanted, heard = text.encode(), self._out
        end = time.monotonic() + PATIENCE_S
        with heard.news:
            while wanted not in heard.data:
                left = end - time.monotonic()
                if heard.ended or left <= 0 or not heard.news.wait(left):
                    raise AssertionError(f"{text!r} was never written; this was:\n{bytes(heard.data).decode()}")
            return bytes(heard.data).decode("utf-8", "replace")

    def until_shown(self, text: str) -> list[str]:
        """Wait until its terminal shows ``text``; returns what it shows then, line by line.

        From the first call on the terminal answers where its cursor is, as real ones do.
        """
        heard = self._out
        if self._emulated is None:
            self._emulated = _Emulated(self._typed)
        end = time.monotonic() + PATIENCE_S
        with heard.news:
            while True:
                shown = self._emulated.shows(bytes(heard.data))
                if any(text in row for row in shown):
                    return shown
                left = end - time.monotonic()
                if heard.ended or left <= 0 or not heard.news.wait(left):
                    raise AssertionError(f"{text!r} was never shown; this was:\n" + "\n".join(shown))

    def signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def type(self, text: str) -> None:
        """Write to its terminal, as its user would."""
        assert self._typed is not None
        os.write(self._typed, text.encode())

    def leave(self) -> None:
        """Close the reading end of its output; of a terminal both ends, as when its window is closed."""
        if self._typed is not None:
            os.close(self._typed)
            self._typed = None
        self._out.leave()

    def ended(self) -> Ended:
        """Wait for its end."""
        ready, _, _ = select.select([self._socket], [], [], PATIENCE_S)
        if not ready:
            os.kill(self.pid, signal.SIGKILL)
            raise AssertionError(f"it did not end; it wrote:\n{bytes(self._out.data).decode('utf-8', 'replace')}")
        code = int(self._report.readline())
        self._report.close()
        self._socket.close()
        for heard in (self._out, self._err):
            if heard is not None:
                heard.thread.join(PATIENCE_S)
        if self._typed is not None:
            os.close(self._typed)
        err = b"" if self._err is None else bytes(self._err.data)
        raw = bytes(self._out.data)
        return Ended(code, raw.decode("utf-8", "replace"), err.decode("utf-8", "replace"), raw)


class Commands:
    """Starts commands in one folder, with a home and a store of their own and none of the user's environment."""

    def __init__(self, orders: socket.socket, folder: Path) -> None:
        self._orders = orders
        self.folder = folder
        self.store = folder / "data" / "disputatio" / "debates.sqlite"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "LANG": "C.UTF-8",
        }
        self.given: list[str] = []
        """Options that every debate and resumption gets."""

    def start(
        self,
        *arguments: str,
        typed: bytes | None = b"",
        terminal: tuple[int, int] | None = None,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        out: int | None = None,
        ignored: Sequence[int] = (),
    ) -> Command:
        """Start ``disputatio`` with ``arguments``.

        Args:
            arguments: the command line.
            typed: what stands in standard input.
            terminal: columns and lines of a terminal that all three streams are connected to.
            environment: variables to add.
            folder: the working directory.
            out: where standard output goes, in place of a pipe that is read.
            ignored: signals that it ignores from the start, as under nohup.
        """
        order = {
            "arguments": list(arguments),
            "environment": {**self.environment, **(environment or {})},
            "folder": str(folder or self.folder),
            "ignored": list(ignored),
        }
        report, theirs = socket.socketpair()
        with contextlib.ExitStack() as closing:
            closing.callback(theirs.close)

            def handed(number: int) -> int:
                closing.callback(os.close, number)
                return number

            if terminal is not None:
                here, there = os.openpty()
                fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", terminal[1], terminal[0], 0, 0))
                streams = [handed(there)] * 3
                heard, err, keyboard = here, None, os.dup(here)
            else:
                stdin, writing = os.pipe()
                with os.fdopen(writing, "wb") as file:
                    if len(typed or b"") > 60_000:
                        threading.Thread(target=_pour, args=(os.dup(writing), typed), daemon=True).start()
                    else:
                        file.write(typed or b"")
                heard, writes = os.pipe()
                err, complains = os.pipe()
                streams = [handed(stdin), handed(writes), handed(complains)]
                if out is not None:
                    streams[1] = out
                keyboard = None
            message = json.dumps(order).encode()
            socket.send_fds(self._orders, [message], [*streams, theirs.fileno()])
        return Command(heard, err, keyboard, report)

    def run(self, *arguments: str, **more: object) -> Ended:
        """Run ``disputatio`` with ``arguments`` to its end."""
        return self.start(*arguments, **more).ended()  # type: ignore[arg-type]

    def debate(self, *arguments: str, **more: object) -> Ended:
        """Hold a debate with the options that were given for every debate."""
        return self.run("debate", *arguments, *self.given, **more)


def _pour(number: int, data: bytes | None) -> None:
    with contextlib.suppress(BrokenPipeError), os.fdopen(number, "wb") as file:
        file.write(data or b"")


@contextlib.contextmanager
def warm_starter() -> Iterator[socket.socket]:
    """The process that starts commands; ends with the block."""
    # A sequenced-packet socket keeps orders apart.
    orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for each in (orders, theirs):
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
    program = Path(__file__).with_name("cli_warm_start.py")
    process = subprocess.Popen(
        [sys.executable, str(program), str(theirs.fileno())], pass_fds=[theirs.fileno()], env={**os.environ}
    )
    theirs.close()
    try:
        yield orders
    finally:
        orders.close()
        process.wait(PATIENCE_S)


def executable() -> Path:
    """The installed command."""
    return Path(sys.executable).with_name("disputatio")


def run_installed(arguments: Sequence[str], environment: Mapping[str, str], folder: Path, **more: object) -> Ended:
    """Run the installed command in a fresh interpreter."""
    done = subprocess.run(  # type: ignore[call-overload]
        [str(executable()), *arguments],
        env=dict(environment),
        cwd=folder,
        capture_output=True,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
        check=False,
        **more,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode(), done.stdout)
