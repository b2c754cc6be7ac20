"""The standard streams: there where a shell closed them, and told from other files where they fail."""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import suppress
from typing import Any, TextIO, TypeGuard

_FAILURES = frozenset({errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG, errno.EDQUOT, errno.ENXIO})


def standard_streams() -> None:
    """Make the three streams usable: closed ones take and give nothing, and no character stops the output."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            # It takes the lowest free number, this one. Else a database would get it, and messages with it.
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and (stream.encoding or "").lower() not in {"utf-8", "utf8"}:
            stream.reconfigure(errors="replace")
    columns = os.environ.get("COLUMNS", "")
    if columns and not (columns.isascii() and columns.isdigit() and int(columns)):
        # With a width of 0 nothing would be shown at all.
        del os.environ["COLUMNS"]


def tell(*sentences: str) -> None:
    """Say something on standard error, one line each; where nobody hears it, go on."""
    from disputatio.motion import clean

    text = clean("\n".join(sentence for sentence in sentences if sentence))
    if text:
        with suppress(OSError, ValueError):
            print(text, file=sys.stderr, flush=True)


def print_lines(text: str) -> None:
    """Text on standard output, as it is."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def print_json(value: Any) -> None:
    """JSON on standard output; what its encoding lacks is written as JSON's own escapes."""
    from disputatio.report.printing import printable_json

    text = printable_json(value)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    print_lines(text)


def is_about_output(error: BaseException) -> TypeGuard[OSError]:
    """Whether a stream could not be written; failures of other files name their file."""
    return isinstance(error, OSError) and error.filename is None and error.errno in _FAILURES


def reader_left(error: BaseException | None) -> bool:
    """Whether the output goes into a pipe that nobody reads any more; libraries turn that into exits of their own."""
    while error is not None:
        if isinstance(error, BrokenPipeError):
            return True
        error = error.__context__
    return False


def drop_output() -> None:
    """Send what standard output still holds back nowhere, so that the interpreter does not fail on it at its end."""
    _drop(sys.stdout)


def drop_unwritable() -> None:
    """The same for each stream that cannot be written any more, such as a terminal whose window was closed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _drop(stream)


def _drop(stream: TextIO) -> None:
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
