"""The standard streams: reopen closed ones, write to them, and recognise their errors."""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import suppress
from typing import Any, TextIO, TypeGuard

_FAILURES = frozenset({errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG, errno.EDQUOT, errno.ENXIO})


def repair_streams() -> None:
    """Make the three streams usable: reopen closed ones, and replace characters that their encoding lacks."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            # This takes the lowest free number, which is this one. Otherwise a database file could get it.
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and (stream.encoding or "").lower() not in {"utf-8", "utf8"}:
            stream.reconfigure(errors="replace")
    columns = os.environ.get("COLUMNS", "")
    if columns and not (columns.isascii() and columns.isdigit() and int(columns)):
        # Rich would show nothing at a width of 0.
        del os.environ["COLUMNS"]


def tell(*sentences: str) -> None:
    """Print sentences on standard error, one on each line. A closed stream is no error."""
    from disputatio.motion import clean

    text = clean("\n".join(sentence for sentence in sentences if sentence))
    if text:
        with suppress(OSError, ValueError):
            print(text, file=sys.stderr, flush=True)


def print_lines(text: str) -> None:
    """Print text on standard output."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def print_json(value: Any) -> None:
    """Print JSON on standard output. Characters that its encoding lacks are escaped."""
    from disputatio.report.printing import printable_json

    text = printable_json(value)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    print_lines(text)


def is_about_output(error: BaseException) -> TypeGuard[OSError]:
    """Whether ``error`` is about a standard stream. Errors of other files name their file."""
    return isinstance(error, OSError) and error.filename is None and error.errno in _FAILURES


def is_pipe_closed(error: BaseException | None) -> bool:
    """Whether the reader of the output has closed its pipe. Libraries may wrap that error."""
    while error is not None:
        if isinstance(error, BrokenPipeError):
            return True
        error = error.__context__
    return False


def drop_output() -> None:
    """Discard the buffered output, so that the interpreter does not fail when it flushes it at exit."""
    _discard(sys.stdout)


def drop_unwritable() -> None:
    """Do the same for each stream that cannot be written any more, such as that of a closed terminal."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _discard(stream)


def _discard(stream: TextIO) -> None:
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
