"""What can go wrong outside the debate itself, and the exit code each has.

::

    DisputatioError                 1  never raised itself
    +-- InvalidInputError           2  a motion, option, file or setting that cannot be used
    +-- ProviderError               5  no model answered: nothing could be debated
    +-- RecordError
    |   +-- VerificationError       6  the record was altered
    |   +-- ResumeMismatchError     2  the debate is not the one that was interrupted
    |   +-- UnknownDebateError      2  no debate has that id
    +-- StoreError                  7  the store cannot be read or written

Every message is one sentence for a person that names the cause; ``next_step`` says what to do.
A seat that fails inside a debate is not here: that is an event in the record.
"""

from disputatio.failures.tree import (
    DisputatioError,
    ExitCode,
    InvalidInputError,
    ProviderError,
    RecordError,
    ResumeMismatchError,
    StoreError,
    UnknownDebateError,
    VerificationError,
)

__all__ = [
    "DisputatioError",
    "ExitCode",
    "InvalidInputError",
    "ProviderError",
    "RecordError",
    "ResumeMismatchError",
    "StoreError",
    "UnknownDebateError",
    "VerificationError",
]
