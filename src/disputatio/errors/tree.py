"""The errors and the exit codes. The docstring of the package has an overview."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """The exit codes of the command line."""

    COMPLETE = 0
    INTERNAL = 1
    INVALID_INPUT = 2
    TRUNCATED = 3
    DEGRADED = 4
    PROVIDER = 5
    VERIFICATION = 6
    STORE = 7
    WORSE = 8
    ALERT = 9
    INTERRUPTED = 130


class DisputatioError(Exception):
    """A failure with a cause for people and a next step.

    Args:
        cause: one sentence that names what is wrong.
        next_step: what to do about it; may be empty if the cause says it.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.INTERNAL

    def __init__(self, cause: str, next_step: str = "") -> None:
        super().__init__(f"{cause} {next_step}".strip())
        self.cause = cause
        self.next_step = next_step


class InvalidInputError(DisputatioError):
    """A motion, option, file or setting that cannot be used."""

    exit_code = ExitCode.INVALID_INPUT


class ProviderError(DisputatioError):
    """No model answered, so there was no debate."""

    exit_code = ExitCode.PROVIDER


class RecordError(DisputatioError):
    """The record of a debate does not allow the operation."""


class VerificationError(RecordError):
    """The record was altered after it was written."""

    exit_code = ExitCode.VERIFICATION


class ResumeMismatchError(RecordError):
    """The resumed debate is not the one that was interrupted."""

    exit_code = ExitCode.INVALID_INPUT


class UnknownDebateError(RecordError):
    """No debate in the store has that id."""

    exit_code = ExitCode.INVALID_INPUT


class PersonLeftError(DisputatioError):
    """A person in a seat left. The debate stopped there, and can continue when they come back."""

    exit_code = ExitCode.INTERRUPTED


class StoreError(DisputatioError):
    """The store cannot be read or written."""

    exit_code = ExitCode.STORE


class HeldElsewhereError(StoreError):
    """Another live process runs the debate."""


class TakenOverError(StoreError):
    """Another process has taken over the debate, so this one must not write its record any more."""


class QueueFullError(StoreError):
    """Too many debates are waiting already."""
