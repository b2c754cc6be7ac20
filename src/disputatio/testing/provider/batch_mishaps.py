"""What may go wrong with the batches of a fake provider."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class ItemMishap(StrEnum):
    """What may happen to an item of a batch."""

    EXPIRED = "expired"
    """The day was over before it was processed; it is not charged."""
    CANCELED = "canceled"
    ERRORED = "errored"
    """The server failed on it; it is not charged."""
    MALFORMED = "malformed"
    """It is charged, and what stands in the results is no response."""
    MISSING = "missing"
    """It is charged, and the results do not mention it."""


class CreationMishap(StrEnum):
    """What may happen to the request that creates a batch."""

    LOST_AFTER = "lost_after"
    """The batch is created, and the connection is dropped before the answer."""
    ERROR_AFTER = "error_after"
    """The batch is created, and the answer is a status 500."""
    ERROR_BEFORE = "error_before"
    """Nothing is created, and the answer is a status 500."""
    REFUSED = "refused"
    """Nothing is created, and the answer is a status 400."""
    FAILED = "failed"
    """The batch is created, and fails as a whole when it is processed."""


ItemScript = Callable[[int, int], "ItemMishap | None"]
"""What happens to an item, by the number of its batch and its place there, both from 0."""
