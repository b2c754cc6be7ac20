"""Finds or starts the shared model server, and keeps it alive with a lease.

The lease is taken first, so that a running server cannot end before it is used. The start lock is taken second, so that
two processes start only one server. The kernel frees both locks when a client is killed.

Each call takes one slot of the server: a file that it locks until it ends. Calls of one process take turns in order;
between processes the first to retry gets the slot.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from disputatio.participants.call import FaultKind, Segment
from disputatio.participants.embedded.cache import FileLock, ModelUnavailableError, wait_until
from disputatio.participants.embedded.server_spec import Address, ServerSpec

_START_S = 600.0
"""A large model on a slow disk takes minutes to load; a small one under a second."""
_SERVER = "disputatio.participants.embedded.server_process"


class Attachment:
    """A lease on a running server, held until ``close``.

    Attributes:
        address: where the server listens.
        slots: where calls are computed.
    """

    def __init__(self, spec: ServerSpec, lease: FileLock, address: Address) -> None:
        self.address = address
        self.slots = SlotPool(spec, address)
        self._spec = spec
        self._lease = lease

    def is_live(self) -> bool:
        """Whether the very server this was made for still runs."""
        return _running(self._spec) == self.address

    def close(self) -> None:
        """Give up the lease; the server ends by itself when it was the last. Safe to repeat."""
        self._lease.close()


async def attach(spec: ServerSpec, report: Callable[[str], None]) -> Attachment:
    """Take a lease on the server of ``spec``, starting it first where none runs.

    Raises:
        ModelUnavailableError: the server cannot be started; the message names why.
    """
    lease = FileLock(spec.file("lease.lock"))
    try:
        # Only a server that is ending holds it exclusively, for a moment.
        if not await wait_until(lease.try_shared, _START_S):
            raise ModelUnavailableError(
                FaultKind.SERVER_ERROR, "The embedded model's server is ending but does not come to its end."
            )
        return Attachment(spec, lease, _running(spec) or await _start(spec, report))
    except BaseException:
        lease.close()
        raise


def _running(spec: ServerSpec) -> Address | None:
    """The address of the server, if its process lives and it is ready."""
    return Address.read(spec.file("address.json")) if _is_serving(spec) else None


def _is_serving(spec: ServerSpec) -> bool:
    lock = FileLock(spec.file("serving.lock"))
    try:
        return not lock.try_shared()
    finally:
        lock.close()


async def _start(spec: ServerSpec, report: Callable[[str], None]) -> Address:
    report("Starting the embedded model")
    starting = FileLock(spec.file("starting.lock"))
    try:
        if not await wait_until(starting.try_exclusive, _START_S):
            raise ModelUnavailableError(
                FaultKind.SERVER_ERROR, "Another process has been starting the embedded model for ten minutes."
            )
        # A client that was killed while its server loaded has left a server that is ready soon.
        await wait_until(lambda: not _is_serving(spec) or _running(spec) is not None, _START_S)
        address = _running(spec)
        return address if address is not None else await _launch(spec)
    finally:
        starting.close()


async def _launch(spec: ServerSpec) -> Address:
    log = spec.file("server.log")
    # A killed server's address would pass for the new one's as soon as that holds its lock.
    spec.file("address.json").unlink(missing_ok=True)
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            _SERVER,
            spec.to_json(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            cwd=spec.directory,
            env=_environment(),
        )
    if process.stdout is None:
        raise AssertionError("standard output was asked for as a pipe")
    told = b""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_START_S):
            told = await process.stdout.readline()
            await process.wait()
    address = Address.read(spec.file("address.json"))
    if not told or address is None:
        raise _not_started(spec, log)
    return address


def _environment() -> dict[str, str]:
    """This process's environment, with this package on PYTHONPATH."""
    ours = str(Path(__file__).parents[3])
    theirs = os.environ.get("PYTHONPATH", "")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (ours, theirs)))}


def _not_started(spec: ServerSpec, log: Path) -> ModelUnavailableError:
    try:
        lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    except OSError:
        lines = []
    reason = next((line.split("error loading model: ", 1)[1] for line in lines if "error loading model: " in line), "")
    if not reason:
        reason = lines[-1] if lines else "it ended without a word, as it does when memory runs out"
    return ModelUnavailableError(
        FaultKind.NOT_INSTALLED,
        f"The model {spec.model} could not be served: {reason.rstrip('.')[:300]}.",
        f"All that the server said is in {log}.",
    )


_PAUSE_S = 0.01
_PROMPTS_IN_CACHE = 12
"""Prompts of a slot that its replica keeps, at some 200 tokens each (see ``server_process``)."""
Prompt: TypeAlias = tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class ServerSlot:
    """One slot: the address of its replica, and the secret to send there."""

    url: str
    secret: str

    def __repr__(self) -> str:
        return f"ServerSlot(url={self.url!r})"


class SlotPool:
    """The slots of the server of ``spec``, which listens at ``address``."""

    def __init__(self, spec: ServerSpec, address: Address) -> None:
        self._spec, self._address = spec, address
        self._turn = asyncio.Lock()
        self._prompts: dict[int, deque[Prompt]] = defaultdict(lambda: deque(maxlen=_PROMPTS_IN_CACHE))

    @asynccontextmanager
    async def take(self, timeout_s: float, prompt: Prompt = ()) -> AsyncIterator[ServerSlot]:
        """Wait for a free slot for ``prompt`` and keep it until the end of the block.

        Raises:
            ModelUnavailableError: no slot became free within ``timeout_s`` seconds, or a lock cannot be opened.
        """
        try:
            async with asyncio.timeout(timeout_s), self._turn:
                lock, slot = await self._first_free(prompt)
        except TimeoutError as error:
            message = f"The embedded model was busy with other calls for {timeout_s:g} seconds."
            raise ModelUnavailableError(FaultKind.TIMED_OUT, message) from error
        try:
            yield slot
        finally:
            lock.close()

    async def _first_free(self, prompt: Prompt) -> tuple[FileLock, ServerSlot]:
        while (found := self.take_idle(prompt)) is None:
            await asyncio.sleep(_PAUSE_S)
        return found

    def take_idle(self, prompt: Prompt) -> tuple[FileLock, ServerSlot] | None:
        """A free slot and the lock to close after its use; None if all are taken."""
        for number in sorted(range(self._spec.replicas * self._spec.slots), key=lambda row: self._is_new(row, prompt)):
            lock = FileLock(self._spec.file(f"place-{number}.lock"))
            if lock.try_exclusive():
                self._prompts[number].append(prompt)
                # Neighbouring numbers are different replicas, so that two calls have a core each.
                urls = self._address.urls
                return lock, ServerSlot(urls[number % len(urls)], self._address.secret)
            lock.close()
        return None

    def _is_new(self, number: int, prompt: Prompt) -> bool:
        """Whether the slot has not computed the beginning of ``prompt`` lately, as when an answer is corrected."""
        return not any(prompt[: len(row)] == row for row in self._prompts[number])
