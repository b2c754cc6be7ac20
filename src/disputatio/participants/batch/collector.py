"""Gathers the calls of many debates, sends them as batches when all debates wait, and brings each its answer.

The debates do not know of it: a call waits longer, that is all. A batch leaves when every debate that runs waits for a
call (``quiet_s`` later, so that calls of the same moment go together), or when ``linger_s`` pass in which nothing new
comes. Each model has its own batches, split at the provider's limits.

What is about to be sent is written down first (`disputatio.record.batches`). A call that a batch has already is asked
for there and never sent again.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from disputatio.participants.batch.following import POLL_FIRST_S, BatchClock, Following, Waiting
from disputatio.participants.call import Call, Fault, ModelClient, OnText, OutputMode, Reply
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import PROVIDERS, Kind
from disputatio.participants.shared_clients import ClientFactory, SharedClients, open_client
from disputatio.record.batches import BatchBook, BatchRow, Identity, Membership

if TYPE_CHECKING:
    from disputatio.participants.batch.api import BatchApi, Limits
    from disputatio.participants.remote.client import RemoteClient

BATCHED_KINDS: Final = frozenset({Kind.OPENAI, Kind.ANTHROPIC, Kind.GOOGLE})
"""The providers whose batch interface is known here."""
QUIET_S: Final = 0.25
LINGER_S: Final = 30.0
_NAME_BYTES: Final = 10


def is_batched(seating: ModelSeating) -> bool:
    """Whether calls to ``seating`` can go in batches.

    A model that is asked piece by piece needs one batch for each piece, so it is called singly.
    """
    return PROVIDERS[seating.provider].kind in BATCHED_KINDS and not seating.piecewise


class BatchCollector:
    """The batches of one process.

    Args:
        book: where batches are written down.
        client_factory: opens model clients.
        clock: time between two looks at a batch.
        quiet_s: seconds without a new call after which a batch leaves, once all debates wait.
        linger_s: the same where some debate does something else.
        limits: the most that one batch may hold, in place of the provider's own, for tests.
        on_note: called with a sentence on each batch that was sent and on what goes wrong.
    """

    def __init__(
        self,
        book: BatchBook,
        client_factory: ClientFactory = open_client,
        *,
        clock: BatchClock,
        quiet_s: float = QUIET_S,
        linger_s: float = LINGER_S,
        limits: Limits | None = None,
        poll_first_s: float = POLL_FIRST_S,
        on_note: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._book, self._clock, self._on_note = book, clock, on_note
        self._quiet_s, self._linger_s, self._limits, self._poll_first_s = quiet_s, linger_s, limits, poll_first_s
        self._shared = SharedClients(client_factory)
        self._running: Counter[str] = Counter()
        self._blocked: Counter[str] = Counter()
        self._known: dict[str, dict[str, Membership]] = {}
        self._pending: list[Waiting] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._delivering = 0
        self._apis: dict[RemoteClient, BatchApi] = {}

    def open(self, seating: ModelSeating, api_key: str | None) -> ModelClient:
        """The way to a model: calls that have an identity go in batches, all others at once."""
        return _BatchedClient(self, self._shared.get(seating, api_key))

    def takes(self, seating: ModelSeating) -> bool:
        """Whether calls to ``seating`` can go in batches."""
        return is_batched(seating)

    @contextmanager
    def running(self, debate: str) -> Iterator[None]:
        """A debate runs while this lasts: no batch leaves before it waits too."""
        self._running[debate] += 1
        try:
            yield
        finally:
            self._running[debate] -= 1
            if not self._running[debate]:
                del self._running[debate]
                self._known.pop(debate, None)
            self._changed()

    async def recall(self, debate: str) -> None:
        """Learn which calls of a resumed debate were handed to a batch.

        Raises:
            StoreError: the store could not be read.
        """
        self._known[debate] = dict(await self._book.calls_of(debate))

    @contextmanager
    def waiting(self, debate: str) -> Iterator[None]:
        """A part of a debate waits for what only an answer can bring."""
        self._blocked[debate] += 1
        self._changed()
        try:
            yield
        finally:
            self._blocked[debate] -= 1
            if not self._blocked[debate]:
                del self._blocked[debate]

    @contextmanager
    def delivering(self) -> Iterator[None]:
        """Answers are given to debates while this lasts: no batch leaves without their next calls."""
        self._delivering += 1
        try:
            yield
        finally:
            self._delivering -= 1
            self._changed()

    async def answer(self, identity: Identity, call: Call, model_client: RemoteClient) -> Reply | Fault:
        """What a call brings, once its batch has ended."""
        waiting = Waiting(identity, call, model_client, asyncio.get_running_loop().create_future())
        self._pending.append(waiting)
        with self.waiting(identity[0]):
            return await waiting.answer

    def _changed(self) -> None:
        """Look again when the next batch leaves."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pending:
            # Only debates that run can wait. Those whose answers are being read are about to go on.
            quiet = len(self._blocked) >= len(self._running) and not self._delivering
            delay = self._quiet_s if quiet else self._linger_s
            self._timer = asyncio.get_running_loop().call_later(delay, self._send_pending)

    def _send_pending(self) -> None:
        self._timer = None
        pending, self._pending = [row for row in self._pending if not row.answer.done()], []
        known: dict[str, list[Waiting]] = {}
        new: dict[RemoteClient, list[Waiting]] = {}
        for row in pending:
            member = self._member(row)
            if member is not None:
                known.setdefault(member.batch, []).append(row)
            else:
                new.setdefault(row.model_client, []).append(row)
        for name, rows in known.items():
            self._spawn(self._rejoin(name, rows), rows)
        for model_client, rows in new.items():
            self._spawn(self._send_all(model_client, rows), rows)

    def _spawn(self, work: Coroutine[None, None, None], rows: Sequence[Waiting]) -> None:
        """Run ``work`` in the background. What it raises reaches the callers that wait for it."""

        async def guarded() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001  (a debate must not wait for ever)
                for row in rows:
                    if not row.answer.done():
                        row.answer.set_exception(error)

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _rejoin(self, name: str, rows: Sequence[Waiting]) -> None:
        """Bring answers from a batch of an earlier process; what it never created goes into the next one."""
        row = await self._book.row(name)
        api = await self._api(rows)
        if api is None:
            return
        following = self._following(api)
        if row is not None and row.provider_id is None:
            provider_id = await following.recover(row)
            if provider_id is None:
                await self._book.drop(name)
                row = None
            else:
                await self._book.confirm(name, provider_id)
                row = replace(row, provider_id=provider_id)
        if row is None:
            for waiting in rows:
                self._known.get(waiting.identity[0], {}).pop(waiting.identity[1], None)
            self._pending += rows
            self._changed()
            return
        self._on_note(f"{len(rows):,} calls to {row.place} wait for the batch {row.provider_id} of an earlier run.")
        members = {member.position: waiting for waiting in rows if (member := self._member(waiting)) is not None}
        await following.deliver(row, members)

    def _member(self, waiting: Waiting) -> Membership | None:
        """The batch of an earlier process that has the call already."""
        debate, call = waiting.identity
        return self._known.get(debate, {}).get(call)

    async def _send_all(self, model_client: RemoteClient, rows: Sequence[Waiting]) -> None:
        """Send calls to one model, in as many batches as the provider's limits ask for."""
        api = await self._api(rows)
        if api is None:
            return
        limits = self._limits or api.limits
        name, items, chunk, size = _new_name(), list[bytes](), list[Waiting](), 0
        for waiting in rows:
            composed = await model_client.compose(waiting.call)
            if isinstance(composed, Fault):
                waiting.settle(composed)
                continue
            item = api.item(custom_id(name, len(items)), composed.body)
            if items and (len(items) >= limits.requests or size + len(item) > limits.size):
                await self._send(api, model_client, name, items, chunk)
                name, items, chunk, size = _new_name(), [], [], 0
                item = api.item(custom_id(name, 0), composed.body)
            items.append(item)
            chunk.append(waiting)
            size += len(item) + 1
        if items:
            await self._send(api, model_client, name, items, chunk)

    async def _send(
        self, api: BatchApi, model_client: RemoteClient, name: str, items: Sequence[bytes], chunk: Sequence[Waiting]
    ) -> None:
        """Store a batch, create it, and follow it in the background."""
        row = BatchRow(name, model_client.place, self._seconds(), len(items))
        await self._book.intend(row, [waiting.identity for waiting in chunk])
        provider_id = await self._following(api).create(row, items)
        if isinstance(provider_id, Fault):
            await self._book.drop(name)
            self._on_note(f"The batch to {row.place} was not taken: {provider_id.message} Its calls are made singly.")
            for waiting in chunk:
                waiting.settle(provider_id)
            return
        await self._book.confirm(name, provider_id)
        self._on_note(f"{len(items):,} calls to {row.place} are in the batch {provider_id}.")
        members = dict(enumerate(chunk))
        self._spawn(self._following(api).deliver(replace(row, provider_id=provider_id), members), chunk)

    async def _api(self, rows: Sequence[Waiting]) -> BatchApi | None:
        """The batch interface for calls to one model; None where none of them can be composed: each knows why then."""
        model_client = rows[0].model_client
        if model_client not in self._apis:
            composed = await model_client.compose(rows[0].call)
            if isinstance(composed, Fault):
                for waiting in rows:
                    waiting.settle(composed)
                return None
            self._apis[model_client] = _api_of(model_client.kind)(composed)
        return self._apis[model_client]

    def _following(self, api: BatchApi) -> Following:
        return Following(
            api, self._book, self._clock, self._seconds, self._on_note, self._poll_first_s, self.delivering
        )

    def _seconds(self) -> float:
        return datetime.fromisoformat(self._clock.now()).timestamp()

    async def aclose(self) -> None:
        """Stop waiting; batches that were sent go on at the provider. Safe to repeat."""
        if self._timer is not None:
            self._timer.cancel()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        while self._apis:
            _, api = self._apis.popitem()
            with suppress(Exception):
                await api.aclose()
        await self._shared.aclose()


class _BatchedClient:
    """A way to a model whose calls may travel in batches. Its debates cannot close it."""

    def __init__(self, collector: BatchCollector, model_client: ModelClient) -> None:
        self._collector, self._model_client = collector, model_client

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        return self._model_client.modes

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        from disputatio.participants.remote.client import RemoteClient

        if call.identity is None or not isinstance(self._model_client, RemoteClient):
            return await self._model_client.call(call, on_text)
        return await self._collector.answer(call.identity, call, self._model_client)

    async def probe(self) -> Fault | None:
        return await self._model_client.probe()

    async def aclose(self) -> None:
        return None


def custom_id(name: str, position: int) -> str:
    """How an item of a batch is called: 64 characters of ``[a-zA-Z0-9_-]`` at most."""
    return f"{name}-{position}"


def _new_name() -> str:
    return f"disputatio-{secrets.token_hex(_NAME_BYTES)}"


def _api_of(kind: Kind) -> Callable[..., BatchApi]:
    from disputatio.participants.batch.anthropic import AnthropicBatches
    from disputatio.participants.batch.google import GoogleBatches
    from disputatio.participants.batch.openai import OpenAiBatches

    interfaces: dict[Kind, Callable[..., BatchApi]] = {
        Kind.OPENAI: OpenAiBatches,
        Kind.ANTHROPIC: AnthropicBatches,
        Kind.GOOGLE: GoogleBatches,
    }
    return interfaces[kind]
