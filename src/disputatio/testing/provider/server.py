"""A fake provider: an OpenAI-compatible server on this machine, for tests, demonstrations and benchmarks."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Coroutine, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from disputatio.testing.provider.batch_serving import BatchJobs
from disputatio.testing.provider.behaviour import Behaviour, Reasoning
from disputatio.testing.provider.received import Inbox, ReceivedRequest
from disputatio.testing.provider.traffic import Bill, Traffic

if TYPE_CHECKING:
    from disputatio.testing.provider.http_service import Service


class FakeProvider(Behaviour):
    """Serves ``POST /v1/chat/completions`` and ``GET /v1/models`` on 127.0.0.1, as ``Behaviour`` says.

    It serves OpenAI's batches beside them, and Anthropic's and Google's single requests and batches at ``root_url``.

    A request with a JSON schema is answered by a valid instance, one with tools by a valid call, any other
    by prose; the same request always gets the same answer. Use it in one of three ways: ``async with`` runs
    it in the running event loop, ``with`` in a thread of its own, and ``python -m
    disputatio.testing.provider`` in a process of its own.

    Attributes:
        arrived: counts the requests as they come.
        answered: counts those whose answer was sent to its end.
        abandoned: counts those that got no whole answer: the client left, or a mishap cut the connection.
        models_asked: counts requests for the list of models.
        bill: what was charged, singly and in batches.
    """

    def __post_init__(self) -> None:
        """Set up what one provider keeps besides its settings."""
        super().__post_init__()
        self._inbox = Inbox(self.keep)
        self._traffic = traffic = Traffic()
        self.arrived, self.models_asked = traffic.arrived, traffic.models_asked
        self.answered, self.abandoned = traffic.answered, traffic.abandoned
        self.bill = Bill()
        self._jobs = BatchJobs(self, self.bill)
        self._service: Service | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        """The address clients are given, ending in ``/v1``.

        Raises:
            RuntimeError: the provider is not running.
        """
        if self._service is None:
            raise RuntimeError("the provider is not running: use it in a with block")
        return f"http://127.0.0.1:{self._service.port}/v1"

    @property
    def root_url(self) -> str:
        """The address without ``/v1``, as clients of Anthropic's and Google's protocols are given it."""
        return self.base_url.removesuffix("/v1")

    @property
    def batches(self) -> BatchJobs:
        """The batches so far, and the clock that they go by."""
        return self._jobs

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The requests for completions so far, in their order of arrival; a copy."""
        return self._inbox.requests

    @property
    def in_flight(self) -> int:
        """How many requests wait for their answer now."""
        return self._traffic.in_flight

    @property
    def peak_in_flight(self) -> int:
        """How many requests waited for their answers at once, at most."""
        return self._traffic.peak_in_flight

    def hold(self) -> None:
        """Keep all answers back from now on. Requests still arrive and are counted."""
        self._traffic.gate.shut()

    def release(self, *indexes: int) -> None:
        """Let the answers to these requests go; without an index all of them, and those that follow.

        Args:
            indexes: places in the order of arrival, from 0; also of requests that have yet to come.
        """
        self._traffic.gate.open(*indexes)

    @contextlib.contextmanager
    def refusing(self) -> Iterator[None]:
        """A stretch in which connections are refused and open ones dropped. For the threaded form."""
        self._in_thread(self._running.refuse())
        try:
            yield
        finally:
            self._in_thread(self._running.accept())

    async def refuse(self) -> None:
        """Refuse connections, and drop the open ones, until ``accept``. The port stays taken."""
        await self._where_it_runs(self._running.refuse())

    async def accept(self) -> None:
        """Listen again at the same address."""
        await self._where_it_runs(self._running.accept())

    async def start(self) -> None:
        """Start in the running event loop. ``async with`` does this."""
        from disputatio.testing.provider.http_service import Service

        service = Service(self, self._inbox, self._traffic, self._jobs, self.bill)
        await service.start()
        self._loop = asyncio.get_running_loop()
        self._service = service

    async def stop(self) -> None:
        """Stop, and drop every connection. Safe to repeat."""
        service, self._service = self._service, None
        if service is not None:
            await service.stop()

    async def __aenter__(self) -> FakeProvider:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def __enter__(self) -> FakeProvider:
        loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name="fake-provider", daemon=True)
        self._thread.start()
        self._loop = loop
        try:
            self._in_thread(self.start())
        except BaseException:
            self._end_thread()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._in_thread(self.stop())
        finally:
            self._end_thread()

    def _end_thread(self) -> None:
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    @property
    def _running(self) -> Service:
        if self._service is None:
            raise RuntimeError("the provider is not running: use it in a with block")
        return self._service

    def _in_thread(self, work: Coroutine[Any, Any, None]) -> None:
        if self._loop is None:
            work.close()
            raise RuntimeError("the provider does not run in a thread: use it in a plain with block")
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _where_it_runs(self, work: Coroutine[Any, Any, None]) -> None:
        if self._loop is None or self._loop is asyncio.get_running_loop():
            await work
        else:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))


def reasoning_provider(median: float, *, spread: float = 0.5, seed: int = 0, **settings: Any) -> FakeProvider:
    """A provider that behaves like OpenAI's gpt-5.

    It charges its reasoning to the limit, hides the reasoning text, refuses ``max_tokens`` (it takes
    ``max_completion_tokens``), a temperature other than 1 and the effort ``none``, and writes texts of realistic
    length.

    Args:
        median: reasoning tokens a call, 0 or more; see ``Reasoning`` for ``spread`` and ``seed``.
        settings: other settings of ``Behaviour``, which take precedence.

    Raises:
        InvalidInputError: a number is out of its range.
    """
    usual: dict[str, Any] = {
        "reasoning": Reasoning(median=median, spread=spread, seed=seed),
        "refuses": ("max_tokens", "temperature", "top_p"),
        "realistic_lengths": True,
    }
    return FakeProvider(**usual | settings)


@contextlib.contextmanager
def refused_base_url() -> Iterator[str]:
    """An address at which every connection is refused, for as long as the block lasts."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as held:
        # Bound but not listening, so no other process can take the port meanwhile.
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/v1"


_PATIENCE_S: Final = 10.0


@contextlib.contextmanager
def provider_process(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run ``python -m disputatio.testing.provider`` and give its base URL.

    The process ends with the block, and by itself if this process dies first: it watches its input.

    Args:
        arguments: command-line options, such as ``--latency 0.2``; ``--help`` lists them.
        environment: replaces the environment of the process; None hands on that of this one.

    Raises:
        RuntimeError: it ended without saying where it listens.
    """
    command = [sys.executable, "-m", "disputatio.testing.provider", "--until-input-ends", *arguments]
    process = subprocess.Popen(  # noqa: S603 - the command is this very Python and the caller's own options
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    with process:
        try:
            line = process.stdout.readline().strip() if process.stdout else ""
            if not line:
                raise RuntimeError("the provider's process ended before it listened")
            yield line
        finally:
            if process.stdin:
                process.stdin.close()
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
