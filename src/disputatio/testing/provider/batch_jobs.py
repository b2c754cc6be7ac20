"""The batches of a fake provider: what becomes of each item, and when. Nothing here knows of HTTP.

The clock can leap: a batch that takes an hour takes no time where the client leaps an hour on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from disputatio.testing.provider.answers import Answer, Rejection, answer_to
from disputatio.testing.provider.batch_mishaps import CreationMishap, ItemMishap
from disputatio.testing.provider.bill import Bill
from disputatio.testing.provider.received import Body, ReceivedRequest, fingerprint_of
from disputatio.testing.provider.token_counts import PrefixIndex

if TYPE_CHECKING:
    from disputatio.testing.provider.behaviour import Behaviour

DAY_S: Final = 86_400.0


@dataclass(slots=True)
class Item:
    """One request of a batch, and what came of it."""

    custom_id: str
    request: ReceivedRequest
    answer: Answer | Rejection
    mishap: ItemMishap | None


@dataclass(slots=True)
class Job:
    """One batch. ``name`` is the client's; times are seconds since 1970."""

    provider_id: str
    name: str
    protocol: str
    created: float
    ends: float
    items: list[Item] = field(default_factory=list)
    failed: bool = False


class BatchJobs:
    """The batches of one fake provider.

    Args:
        behaviour: how it answers.
        bill: takes what is charged: an item that will be answered is charged when its batch is created.
    """

    def __init__(self, behaviour: Behaviour, bill: Bill) -> None:
        self._behaviour, self._bill = behaviour, bill
        self._prefixes = PrefixIndex(behaviour.keep)
        self._leapt = 0.0
        self.creations = 0
        self.jobs: dict[str, Job] = {}
        self.files: dict[str, bytes] = {}

    def now(self) -> float:
        """The time in seconds since 1970, with all leaps."""
        return time.time() + self._leapt

    def leap(self, seconds: float) -> None:
        """Move the clock on."""
        self._leapt += max(0.0, seconds)

    def next_creation(self) -> CreationMishap | None:
        """What happens to the next request that creates a batch."""
        number, self.creations = self.creations, self.creations + 1
        return self._behaviour.batch_creations(number)

    def create(
        self, protocol: str, name: str, requests: Sequence[tuple[str, Body]], mishap: CreationMishap | None
    ) -> Job:
        """Take a batch: what becomes of it is decided now, and seen when it has ended."""
        number, now = len(self.jobs), self.now()
        job = Job(f"{_PREFIXES[protocol]}{number:06d}", name, protocol, now, now + self._behaviour.batch_seconds)
        job.failed = mishap is CreationMishap.FAILED
        fates = [self._behaviour.batch_items(number, place) for place in range(len(requests))]
        # Google gives nothing back of a batch that has expired, and charges nothing.
        lost = job.failed or (protocol == "google" and ItemMishap.EXPIRED in fates)
        for place, (custom_id, body) in enumerate(requests):
            fate = fates[place]
            request = ReceivedRequest(place, 0, body, {}, fingerprint_of(body))
            answer = answer_to(request, self._behaviour, self._prefixes)
            answered = fate in (None, ItemMishap.MALFORMED, ItemMishap.MISSING) and not lost
            if answered and isinstance(answer, Answer):
                self._bill.charge(request.fingerprint, answer, batch=True)
            job.items.append(Item(custom_id, request, answer, fate))
        if ItemMishap.EXPIRED in fates:
            job.ends = now + DAY_S
        self.jobs[job.provider_id] = job
        return job

    def has_ended(self, job: Job) -> bool:
        """Whether its results are there."""
        return self.now() >= job.ends

    def listed(self, protocol: str) -> list[Job]:
        """The batches of one protocol, newest first."""
        return [job for job in reversed(self.jobs.values()) if job.protocol == protocol]


_PREFIXES: Final = {"openai": "batch_", "anthropic": "msgbatch_", "google": "batches/"}
