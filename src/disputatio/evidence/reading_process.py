"""Read files in a separate process with limits on time and memory.

A small file can make the libraries for PDF, HTML and Markdown use any time and memory. So a process with low priority
reads such files and is killed at a limit. It gets no keys and no other part of the environment. It is this module,
started as a program: it imports nothing of the caller's ``__main__``, so callers need no guard.

One process reads file after file for its ``SourceReader``. Both sides send a line of JSON with the number of bytes that
follow, then those bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Final

from disputatio.errors import InvalidInputError
from disputatio.evidence.html_text import ExtractedText
from disputatio.motion import LONGEST_RAW_EVIDENCE
from disputatio.motion.motion import SourceKind

_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from disputatio.evidence.reading_process import serve; serve(sys.argv[2])"
)
_PASSED_VARIABLES: Final = (
    "PATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "PYTHONHOME",
    "SYSTEMROOT",
    "TMPDIR",
    "TEMP",
    "TMP",
)
"""Environment variables that a process needs to find libraries. The others may hold keys."""
_NAMES: Final = {SourceKind.PDF: "PDF", SourceKind.HTML: "HTML", SourceKind.MARKDOWN: "Markdown"}
_OUT_OF_MEMORY: Final = 86
_MAX_HEAD_CHARS: Final = 10_000
_NICENESS: Final = 10
_NEXT_STEP: Final = "Give its text, or the part that bears on the motion."


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one file: processor seconds, elapsed seconds, and bytes of memory.

    On systems without such limits (Windows), only elapsed seconds apply.
    """

    cpu_s: int = 30
    wall_s: float = 60.0
    memory_bytes: int = 1 << 30


class SourceReader:
    """Reads files in one process, started for the first file.

    Use it as a context manager in one thread. Another thread may call ``stop``.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False
        self._starting = threading.Lock()

    def __enter__(self) -> SourceReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def extract(self, raw: str | bytes, kind: SourceKind, what: str) -> ExtractedText:
        """Extract title and text, as ``extraction.extract`` does.

        Raises:
            InvalidInputError: the file cannot be read, or not within the limits; ``what`` names it.
        """
        process = self._running(what)
        assert process.stdin is not None  # noqa: S101  (it was started with both)
        assert process.stdout is not None  # noqa: S101
        content = raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass")
        head = {"length": len(content), "text": isinstance(raw, str), "kind": kind.value, "what": what}
        overdue = threading.Event()

        def stop() -> None:
            overdue.set()
            process.kill()

        timer = threading.Timer(self._limits.wall_s, stop)
        timer.daemon = True
        timer.start()
        answer: dict[str, Any] | None = None
        try:
            with contextlib.suppress(BrokenPipeError):
                _send(process.stdin, head, content)
            answer = _receive(process.stdout)
        finally:
            timer.cancel()
            if answer is None:
                self._end()
        if answer is None:
            raise self._ended(process.wait(), kind, what, overdue=overdue.is_set())
        if "cause" in answer:
            raise InvalidInputError(answer["cause"], answer["next_step"])
        return ExtractedText(answer["title"], answer["text"])

    def stop(self) -> None:
        """Refuse the file being read and all later ones. Safe to repeat."""
        with self._starting:
            self._is_stopped = True
            if self._process is not None:
                self._process.kill()

    def _running(self, what: str) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._is_stopped:
                raise _stopped_error(what)
            if self._process is None:
                self._process = _start_process(self._limits, what)
            return self._process

    def _end(self) -> None:
        with self._starting:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()

    def _ended(self, code: int, kind: SourceKind, what: str, *, overdue: bool) -> InvalidInputError:
        """Explain why the process ended without an answer."""
        limits = self._limits
        if self._is_stopped:
            return _stopped_error(what)
        if overdue or code == -_signal_number("SIGALRM"):
            return InvalidInputError(f"{what} cannot be read within {limits.wall_s:g} s.", _NEXT_STEP)
        if code == -_signal_number("SIGXCPU"):
            return InvalidInputError(f"{what} cannot be read within {limits.cpu_s} s of processor time.", _NEXT_STEP)
        if code == _OUT_OF_MEMORY:
            return InvalidInputError(
                f"{what} cannot be read within {limits.memory_bytes // 2**20:,} MB of memory.", _NEXT_STEP
            )
        return InvalidInputError(
            f"{what} cannot be read as {_NAMES[kind]}: the process that read it ended with {code}.", _NEXT_STEP
        )


def serve(limits: str) -> None:
    """Run the process: read files from standard input until it ends. ``limits`` is JSON."""
    given = Limits(**json.loads(limits))
    # Ctrl-C reaches all processes of a terminal; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, out = sys.stdin.buffer, sys.stdout.buffer
    # Keep what a library prints out of the answers.
    sys.stdout = sys.stderr
    with contextlib.suppress(AttributeError, OSError):
        os.nice(_NICENESS)
    _limit_memory(given)
    while True:
        head = _read_head(source)
        if head is None:
            return
        _limit_time(given)
        try:
            content = source.read(head["length"])
            answer = _build_answer(head, content)
        except MemoryError:
            os._exit(_OUT_OF_MEMORY)
        _send(out, {"length": len(answer)}, answer)


def _build_answer(head: dict[str, Any], content: bytes) -> bytes:
    from disputatio.evidence.extraction import extract

    raw = content.decode("utf-8", "surrogatepass") if head["text"] else content
    what = head["what"]
    try:
        page = extract(raw, SourceKind(head["kind"]), what)
        if len(page.text) > LONGEST_RAW_EVIDENCE:
            raise InvalidInputError(f"{what} is too long: it has {len(page.text):,} characters of text.", _NEXT_STEP)
        found = {"title": page.title[:_MAX_HEAD_CHARS], "text": page.text}
    except InvalidInputError as refused:
        found = {"cause": refused.cause, "next_step": refused.next_step}
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever a library makes of a hostile file is the file's fault)
        why = f"the library that reads it gave up ({type(error).__name__})"
        found = {
            "cause": f"{what} cannot be read as {_NAMES[SourceKind(head['kind'])]}: {why}.",
            "next_step": _NEXT_STEP,
        }
    return json.dumps(found).encode("ascii")


def _start_process(limits: Limits, what: str) -> subprocess.Popen[bytes]:
    # Embedding programs name their interpreter by `multiprocessing.set_executable`.
    spawning = sys.modules.get("multiprocessing.spawn")
    program = spawning.get_executable() if spawning is not None else sys.executable
    given = {"cpu_s": limits.cpu_s, "wall_s": limits.wall_s, "memory_bytes": limits.memory_bytes}
    command = [os.fsdecode(program or sys.executable or "python"), "-P", "-c", _START]
    try:
        return subprocess.Popen(  # noqa: S603  (no text of a caller is in the command)
            [*command, json.dumps(list(map(str, sys.path))), json.dumps(given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ},
        )
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidInputError(
            f"{what} cannot be read: no process could be started for it ({reason}).", "Give its text."
        ) from None


def _limit_memory(limits: Limits) -> None:
    try:
        import resource
    except ImportError:
        return
    for name, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, limits.memory_bytes)):
        with contextlib.suppress(ValueError, OSError):  # a lower limit is set already, or the system has none
            resource.setrlimit(name, (most, most))


def _limit_time(limits: Limits) -> None:
    """Let the system kill this process if the next file takes too long, even without a parent."""
    try:
        import resource
    except ImportError:
        return
    signal.setitimer(signal.ITIMER_REAL, limits.wall_s + 1)
    with contextlib.suppress(ValueError, OSError):
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + limits.cpu_s, hard))


def _send(pipe: IO[bytes], head: dict[str, Any], content: bytes) -> None:
    pipe.write(json.dumps(head).encode("ascii") + b"\n")
    pipe.write(content)
    pipe.flush()


def _read_head(pipe: IO[bytes]) -> dict[str, Any] | None:
    line = pipe.readline(_MAX_HEAD_CHARS)
    found: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
    return found


def _receive(pipe: IO[bytes]) -> dict[str, Any] | None:
    """Read the answer; None if the process ended before sending all of it."""
    head = _read_head(pipe)
    content = b"" if head is None else pipe.read(head["length"])
    found: dict[str, Any] | None = json.loads(content) if head is not None and len(content) == head["length"] else None
    return found


def _signal_number(name: str) -> int:
    """Return the number of a signal, 0 if the system lacks it."""
    return int(getattr(signal, name, 0))


def _stopped_error(what: str) -> InvalidInputError:
    return InvalidInputError(f"{what} was not read: its reading was stopped.", "Give it again.")
