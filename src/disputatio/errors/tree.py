"""The error tree and the exit codes; drawn in the package's docstring."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What the command line returns."""

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
        next_step: what to do about it; may be empty where the cause says it.
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
    """No model answered, so nothing could be debated."""

    exit_code = ExitCode.PROVIDER


class RecordError(DisputatioError):
    """The record of a debate does not allow what was asked."""


class VerificationError(RecordError):
    """The record was altered after it was written."""

    exit_code = ExitCode.VERIFICATION


class ResumeMismatchError(RecordError):
    """The debate asked to go on is not the one that was interrupted."""

    exit_code = ExitCode.INVALID_INPUT


class UnknownDebateError(RecordError):
    """No debate in the store has that id."""

    exit_code = ExitCode.INVALID_INPUT


class PersonLeftError(DisputatioError):
    """A person in a seat left; the debate stopped there, and goes on when they come back."""

    exit_code = ExitCode.INTERRUPTED


class StoreError(DisputatioError):
    """The store cannot be read or written."""

    exit_code = ExitCode.STORE


class HeldElsewhereError(StoreError):
    """Another process that lives holds the debate."""


class TakenOverError(StoreError):
    """Another process has taken the debate over from this one, which must write no more of it."""


class QueueFullError(StoreError):
    """So many debates are waiting already that no more are taken."""
