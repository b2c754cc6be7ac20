"""The gateway to a model behind a provider's API."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import quote
from disputatio.participants.bounds import AnswerBound
from disputatio.participants.call import Call, Fault, OnText, OutputMode, Reply
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import Kind
from disputatio.participants.remote.endpoint import Endpoint
from disputatio.participants.remote.thoughts import Unthinking
from disputatio.participants.shared_work import SharedWork

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent

    from disputatio.participants.remote.composing import ComposedRequest
    from disputatio.participants.remote.direct import Way
    from disputatio.participants.remote.models import Line
    from disputatio.participants.remote.transport import AiohttpTransport, RawResponse

_ALL: Final = (OutputMode.NATIVE, OutputMode.TOOL, OutputMode.PROMPTED)
_MODES: Final[dict[Kind, tuple[OutputMode, ...]]] = {
    # pydantic-ai does not put native schemas to Mistral.
    Kind.MISTRAL: (OutputMode.TOOL, OutputMode.PROMPTED),
}
CALLS_VARIABLE: Final = "DISPUTATIO_CALLS"
"""The environment variable that with ``library`` keeps every call on pydantic-ai's own way; ``direct`` is usual."""

_STRAIGHT: Final = frozenset({Kind.OPENAI, Kind.OPENAI_COMPATIBLE, Kind.AZURE})
_WAYS_KEPT: Final = 64
# Every debate opens gateways of its own; what the library does to a request of theirs is learned once for a process.
_WAYS: Final[dict[Endpoint, Way | None]] = {}
# Debates that begin together would each learn it otherwise.
_LEARNING: Final[SharedWork[Endpoint, Way | Fault | None]] = SharedWork()
_PROBING: Final[SharedWork[Endpoint, Fault | None]] = SharedWork()
_GOOD_S: Final = 1.0
"""So long nothing speaks against an endpoint because nothing did; what does is asked for anew each time."""
_GOOD_SINCE: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Endpoint, float]]] = WeakKeyDictionary()
"""For each event loop: what another one asked at the same address may have been another server."""


def open_client(seating: ModelSeating, api_key: str | None) -> RemoteClient:
    """The gateway for ``seating``. Nothing is imported or sent before the first call.

    Args:
        seating: provider, model, address, time limit and fixed mode are taken from it.
        api_key: the key, or None.

    Raises:
        InvalidInputError: the environment's ``DISPUTATIO_CALLS`` is neither ``direct`` nor ``library``.
    """
    way = os.environ.get(CALLS_VARIABLE, "").strip().lower() or "direct"
    if way not in ("direct", "library"):
        raise InvalidInputError(
            f"{CALLS_VARIABLE} is {quote(way)}, which is no way to make calls.", "Allowed is direct or library."
        )
    return RemoteClient(replace(Endpoint.of(seating, api_key), straight=way == "direct"))


class RemoteClient:
    """Carries calls to one model: one attempt a call, nothing raised.

    Whole answers of OpenAI's protocol are posted straight (``direct``), all else by pydantic-ai's direct requests.
    It may be used from many tasks at once; all gateways of an event loop share one pool of connections. The
    libraries are imported and the clients built at the first call or probe, in a thread.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._line: Line | Fault | None = None
        self._way: Way | None = None
        self._transport: AiohttpTransport | None = None
        self._opening = asyncio.Lock()

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        """The structured-output modes worth trying, best first.

        They follow from the kind of provider. A model that lacks one answers ``SCHEMA_UNSUPPORTED``, at once
        and without a request where the library knows it.
        """
        if self._endpoint.mode is not None:
            return (self._endpoint.mode,)
        return _MODES.get(self._endpoint.kind, _ALL)

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        """Make one request, once.

        Streams only if ``on_text`` is given and the server was not seen to refuse streams. In tool mode ``on_text``
        gets the tool's argument, which is the answer. What ``on_text`` raises is the caller's and is raised again;
        cancellation is passed on.
        """
        from disputatio.participants.remote.parameters import mode_name, refused_by

        refused = refused_by(self._endpoint)
        if mode_name(call.mode) in refused:
            from disputatio.participants.remote.faults import mode_refused

            return mode_refused(self._endpoint, call.mode)
        if on_text is None or "stream" not in refused:
            return await self._call(call, on_text, refused)
        outcome = await self._call(call, None, refused)
        if isinstance(outcome, Reply) and outcome.text:
            on_text(outcome.text)
        return outcome

    @property
    def kind(self) -> Kind:
        """The way the provider is spoken to."""
        return self._endpoint.kind

    @property
    def place(self) -> str:
        """The model and where it is, for people: no key, no password."""
        return self._endpoint.place

    async def compose(self, call: Call) -> ComposedRequest | Fault:
        """The request that ``call`` would be, for whoever sends it another way. Nothing is sent."""
        from disputatio.participants.remote.composing import ComposedRequest
        from disputatio.participants.remote.parameters import mode_name, refused_by

        refused = refused_by(self._endpoint)
        if mode_name(call.mode) in refused:
            from disputatio.participants.remote.faults import mode_refused

            return mode_refused(self._endpoint, call.mode)
        line = await self._open()
        if isinstance(line, Fault):
            return line
        from disputatio.participants.remote.transport import led

        failure: Exception = ValueError("the request could not be composed")
        with led(None, shows=True) as passage:
            try:
                await _asked(line, call, None, refused)
            except Exception as stop:  # noqa: BLE001  (it is stopped where it would send; what came before counts)
                failure = stop
        quote = passage.shown
        if quote is None:
            return self._fault(failure, call.mode, line.prompts.names(call, refused), refused, "")
        return ComposedRequest.of(quote.url, quote.headers.multi_items(), quote.content)

    async def interpret(self, call: Call, response: RawResponse) -> Reply | Fault:
        """What ``response`` means as the response to ``call``, by the rules of single calls. Nothing is sent."""
        from disputatio.participants.remote.parameters import refused_by
        from disputatio.participants.remote.transport import led

        line = await self._open()
        if isinstance(line, Fault):
            return line
        with led(response):
            return await self._call(call, None, refused_by(self._endpoint), line)

    async def _call(
        self, call: Call, on_text: OnText | None, refused: frozenset[str], line: Line | None = None
    ) -> Reply | Fault:
        """Make one request without what is ``refused``, streamed where somebody listens; over ``line`` if given."""
        path = line or (self._way or await self._find_way() if on_text is None else None) or await self._open()
        if isinstance(path, Fault):
            return path
        from disputatio.participants.remote.receiving import bound_schema
        from disputatio.participants.remote.transport import noted_headers

        heard: list[str] = []
        ear = None if on_text is None else _Ear(on_text, heard)
        limit = asyncio.timeout(self._endpoint.timeout_s)
        try:
            async with limit:
                with (
                    bound_schema(AnswerBound.of(call.max_tokens, streamed=ear is not None)),
                    noted_headers() as headers,
                ):
                    response = await self._made(path, call, ear, refused)
        except _ListenerError as error:
            raise error.raised from None
        except Exception as error:  # noqa: BLE001  - whatever the libraries raise becomes a fault
            if limit.expired():
                from disputatio.participants.remote.faults import timed_out

                return timed_out(self._endpoint, "".join(heard))
            sent = path.prompts.names(call, refused) | ({"stream", "stream_options"} if ear else frozenset())
            return self._fault(error, call.mode, sent, refused, "".join(heard))
        if isinstance(response, (Reply, Fault)):
            return response
        from disputatio.participants.remote.reply import reply_from
        from disputatio.participants.remote.tokens import with_cost

        streamed = on_text is not None
        reply = reply_from(response, self._endpoint, call.mode, streamed=streamed, limit=call.max_tokens)
        return with_cost(reply, headers) if isinstance(reply, Reply) and not streamed else reply

    def _fault(
        self, error: Exception, mode: OutputMode, sent: frozenset[str], refused: frozenset[str], text: str
    ) -> Fault:
        """The fault that ``error`` amounts to, after what it teaches about parameters was learned."""
        from disputatio.participants.remote.faults import fault_from, parameter_refused
        from disputatio.participants.remote.parameters import learn

        if names := learn(self._endpoint, error, mode, sent, refused):
            return parameter_refused(self._endpoint, error, names)
        return fault_from(error, self._endpoint, mode, text)

    async def _made(
        self, path: Line | Way, call: Call, ear: _Ear | None, refused: frozenset[str]
    ) -> Reply | Fault | ModelResponse:
        """What ``call`` brings over ``path``."""
        from disputatio.participants.remote.models import Line

        if isinstance(path, Line):
            return await _asked(path, call, ear, refused)
        return await self._straight(path, call, refused)

    @property
    def _is_straight(self) -> bool:
        return self._endpoint.straight and self._endpoint.kind in _STRAIGHT

    async def _find_way(self) -> Way | Fault | None:
        """The thin path to the model, None where there is none."""
        if not self._is_straight:
            return None
        if self._endpoint in _WAYS:
            self._way = _WAYS[self._endpoint]
            return self._way
        return await _LEARNING.of(self._endpoint, lambda: _learned_way(self._endpoint))

    async def _straight(self, way: Way, call: Call, refused: frozenset[str]) -> Reply | Fault | ModelResponse:
        """Post ``call``; where it brings anything but a plain reply, the library says what."""
        if self._transport is None:
            from disputatio.participants.remote.transport import AiohttpTransport

            self._transport = AiohttpTransport(keep_alive=self._endpoint.keep_alive)
        outcome = await way.post(call, self._transport, refused)
        if isinstance(outcome, Reply):
            return outcome
        from disputatio.participants.remote.transport import led

        line = await self._open()
        if isinstance(line, Fault):
            return line
        with led(outcome):
            return await _asked(line, call, None, refused)

    async def probe(self) -> Fault | None:
        """Ask for the provider's list of models, which costs nothing.

        None says that nothing speaks against calls, not that they will work: a provider without such a list
        is not asked. ``NO_SUCH_MODEL`` is said only of a list that was served and clearly lacks the model.
        """
        good_since = _GOOD_SINCE.get(asyncio.get_running_loop(), {})
        if time.monotonic() - good_since.get(self._endpoint, -_GOOD_S) < _GOOD_S:
            return None
        if not self._is_straight:
            # Its calls need the line too.
            line = await self._open()
            if isinstance(line, Fault):
                return line
        return await _PROBING.of(self._endpoint, lambda: _probed(self._endpoint, opens=self._is_straight))

    async def aclose(self) -> None:
        """Close the connections. Safe to repeat; a later call opens them anew."""
        line, self._line = self._line, None
        if line is not None and not isinstance(line, Fault):
            await line.close()
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()

    async def _open(self) -> Line | Fault:
        if self._line is not None:
            return self._line
        async with self._opening:
            if self._line is None:
                self._line = await asyncio.to_thread(_opened, self._endpoint)
            return self._line


def _opened(endpoint: Endpoint) -> Line | Fault:
    """The line to ``endpoint``, or why there is none. Imports for up to two seconds, so it runs in a thread."""
    from disputatio.participants.remote.faults import key_malformed, key_missing, unopened

    key = endpoint.api_key
    if key is None and endpoint.needs_key:
        return key_missing(endpoint)
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        return key_malformed(endpoint)
    try:
        from disputatio.participants.remote.efforts import EffortRefusedError, effort_refused
        from disputatio.participants.remote.models import open_line

        try:
            return open_line(endpoint)
        except EffortRefusedError as why:
            return effort_refused(endpoint, why)
    except Exception as error:  # noqa: BLE001  - a library may object to an address or a region in any way
        return unopened(error, endpoint)


async def _learned_way(endpoint: Endpoint) -> Way | Fault | None:
    """The thin path to ``endpoint``, by a line that serves for this alone; None where there is none."""
    line = await asyncio.to_thread(_opened, endpoint)
    if isinstance(line, Fault):
        return line
    from disputatio.participants.remote.direct import shown_way

    try:
        way = await shown_way(line)
    finally:
        await line.close()
    _WAYS[endpoint] = way
    while len(_WAYS) > _WAYS_KEPT:
        _WAYS.pop(next(iter(_WAYS)), None)
    return way


class _ListenerError(Exception):
    """What ``on_text`` raised, on its way through the libraries."""

    def __init__(self, raised: Exception) -> None:
        super().__init__()
        self.raised = raised


class _Ear:
    """Passes written text to ``on_text`` and keeps it."""

    def __init__(self, on_text: OnText, heard: list[str]) -> None:
        self._on_text = on_text
        self._heard = heard
        self._unthinking = Unthinking()

    def hear(self, text: str) -> None:
        text = self._unthinking.take(text)
        if not text:
            return
        self._heard.append(text)
        try:
            self._on_text(text)
        except Exception as error:
            raise _ListenerError(error) from error


async def _asked(line: Line, call: Call, ear: _Ear | None, refused: frozenset[str]) -> ModelResponse:
    """What the library makes of ``call``, streamed where somebody listens."""
    from pydantic_ai.direct import model_request, model_request_stream

    request = line.prompts.request(call, refused)
    given = (line.model, request.messages)
    settings: Any = {
        "model_settings": request.settings,
        "model_request_parameters": request.parameters,
        "instrument": False,
    }
    if ear is None:
        return await model_request(*given, **settings)
    async with model_request_stream(*given, **settings) as stream:
        async for event in stream:
            if text := _written(event, call.mode):
                ear.hear(text)
        return stream.get()


def _written(event: ModelResponseStreamEvent, mode: OutputMode) -> str:
    """The part of the answer that ``event`` brings: text, or in tool mode the tool's argument."""
    from pydantic_ai.messages import (
        PartDeltaEvent,
        PartStartEvent,
        TextPart,
        TextPartDelta,
        ToolCallPart,
        ToolCallPartDelta,
    )

    match event:
        case PartStartEvent(part=TextPart(content=text)) if mode is not OutputMode.TOOL:
            return text
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if mode is not OutputMode.TOOL:
            return text
        case PartStartEvent(part=ToolCallPart() as part) if mode is OutputMode.TOOL and part.args:
            return part.args if isinstance(part.args, str) else part.args_as_json_str()
        case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str(text))) if mode is OutputMode.TOOL:
            return text
        case _:
            return ""


async def _probed(endpoint: Endpoint, *, opens: bool) -> Fault | None:
    """What speaks against calls to ``endpoint``; with ``opens``, whether a line to it can be opened too."""
    if opens:
        line = await asyncio.to_thread(_opened, endpoint)
        if isinstance(line, Fault):
            return line
        await line.close()
    from disputatio.participants.remote.probe import probe

    asked_at = time.monotonic()
    fault = await probe(endpoint)
    if fault is None:
        good_since = _GOOD_SINCE.setdefault(asyncio.get_running_loop(), {})
        good_since[endpoint] = asked_at
        while len(good_since) > _WAYS_KEPT:
            good_since.pop(next(iter(good_since)), None)
    return fault
