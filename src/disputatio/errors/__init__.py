"""The errors outside a debate, and the exit code of each.

::

    DisputatioError                 1  the base class; never raised itself
    +-- InvalidInputError           2  a motion, option, file or setting that cannot be used
    +-- ProviderError               5  no model answered, so there was no debate
    +-- RecordError
    |   +-- VerificationError       6  the record was altered
    |   +-- ResumeMismatchError     2  the debate is not the one that was interrupted
    |   +-- UnknownDebateError      2  no debate has that id
    +-- PersonLeftError           130  a person in a seat left, and the debate waits
    +-- StoreError                  7  the store cannot be read or written
        +-- HeldElsewhereError      7  another live process runs the debate
        +-- TakenOverError          7  another process runs the debate now
        +-- QueueFullError          7  too many debates are waiting

The message is one sentence for people that names the cause. ``next_step`` says what to do. A seat that fails inside a
debate raises no error: that is an event in the record.
"""

from disputatio.errors.tree import (
    DisputatioError,
    ExitCode,
    HeldElsewhereError,
    InvalidInputError,
    PersonLeftError,
    ProviderError,
    QueueFullError,
    RecordError,
    ResumeMismatchError,
    StoreError,
    TakenOverError,
    UnknownDebateError,
    VerificationError,
)

__all__ = [
    "DisputatioError",
    "ExitCode",
    "HeldElsewhereError",
    "InvalidInputError",
    "PersonLeftError",
    "ProviderError",
    "QueueFullError",
    "RecordError",
    "ResumeMismatchError",
    "StoreError",
    "TakenOverError",
    "UnknownDebateError",
    "VerificationError",
]
