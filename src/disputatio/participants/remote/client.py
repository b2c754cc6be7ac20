"""The client for a model behind a provider's API."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import quote
from disputatio.participants.call import AnswerBound, Call, Fault, OnText, OutputMode, Reply
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import Kind
from disputatio.participants.remote.endpoint import Endpoint
from disputatio.participants.remote.response import ReasoningFilter
from disputatio.participants.shared_work import SharedWork

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent

    from disputatio.participants.remote.composing import ComposedRequest
    from disputatio.participants.remote.direct import Route
    from disputatio.participants.remote.models import ModelConnection
    from disputatio.participants.remote.transport import AiohttpTransport, RawResponse

_ALL: Final = (OutputMode.NATIVE, OutputMode.TOOL, OutputMode.PROMPTED)
_MODES: Final[dict[Kind, tuple[OutputMode, ...]]] = {
    # pydantic-ai does not put native schemas to Mistral.
    Kind.MISTRAL: (OutputMode.TOOL, OutputMode.PROMPTED),
}
CALLS_VARIABLE: Final = "DISPUTATIO_CALLS"
"""Environment variable: ``library`` sends every call through pydantic-ai; ``direct`` is the default."""

_DIRECT_KINDS: Final = frozenset({Kind.OPENAI, Kind.OPENAI_COMPATIBLE, Kind.AZURE})
_MOST_KEPT: Final = 64
# Each debate opens its own clients, but a route is learned once in a process.
_ROUTES: Final[dict[Endpoint, Route | None]] = {}
# Debates that start together share this work.
_LEARNING: Final[SharedWork[Endpoint, Route | Fault | None]] = SharedWork()
_PROBING: Final[SharedWork[Endpoint, Fault | None]] = SharedWork()
_PROBE_TRUSTED_S: Final = 1.0
"""How long a successful probe is trusted. Failures are never cached."""
_PROBED_AT: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Endpoint, float]]] = WeakKeyDictionary()
"""By event loop: the same address may have been another server in another loop."""


def open_client(seating: ModelSeating, api_key: str | None) -> RemoteClient:
    """Make the client for ``seating``. It imports and sends nothing before the first call.

    Args:
        seating: gives provider, model, address, time limit and fixed mode.
        api_key: the key, or None.

    Raises:
        InvalidInputError: the environment's ``DISPUTATIO_CALLS`` is neither ``direct`` nor ``library``.
    """
    route = os.environ.get(CALLS_VARIABLE, "").strip().lower() or "direct"
    if route not in ("direct", "library"):
        raise InvalidInputError(
            f"{CALLS_VARIABLE} is {quote(route)}, which is not a known value.", "Allowed is direct or library."
        )
    return RemoteClient(replace(Endpoint.of(seating, api_key), direct=route == "direct"))


class RemoteClient:
    """Carries calls to one model: one attempt a call, nothing raised.

    Calls without streaming in OpenAI's protocol take the thin path (``direct``), others pydantic-ai's direct requests.
    Many tasks may use a client at once; all clients of an event loop share one pool of connections. The libraries are
    imported at the first call or probe, in a thread.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._connection: ModelConnection | Fault | None = None
        self._route: Route | None = None
        self._transport: AiohttpTransport | None = None
        self._opening = asyncio.Lock()

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        """The structured-output modes worth trying, best first.

        They follow from the kind of provider. A model that lacks one answers ``SCHEMA_UNSUPPORTED``.
        """
        if self._endpoint.mode is not None:
            return (self._endpoint.mode,)
        return _MODES.get(self._endpoint.kind, _ALL)

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        """Make one request, once.

        Streams only if ``on_text`` is given and the server has not refused streams. In tool mode ``on_text`` gets the
        tool's argument, which is the answer. Exceptions of ``on_text`` and cancellation are raised to the caller.
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
        """The request for ``call``, to be sent by other means, such as a batch. Nothing is sent."""
        from disputatio.participants.remote.composing import ComposedRequest
        from disputatio.participants.remote.parameters import mode_name, refused_by

        refused = refused_by(self._endpoint)
        if mode_name(call.mode) in refused:
            from disputatio.participants.remote.faults import mode_refused

            return mode_refused(self._endpoint, call.mode)
        connection = await self._open()
        if isinstance(connection, Fault):
            return connection
        from disputatio.participants.remote.transport import replay_exchange

        failure: Exception = ValueError("the request could not be composed")
        with replay_exchange(None, shows=True) as exchange:
            try:
                await _request(connection, call, None, refused)
            except Exception as stop:  # noqa: BLE001  (it is stopped where it would send; what came before counts)
                failure = stop
        quote = exchange.request
        if quote is None:
            return self._fault(failure, call.mode, connection.prompts.names(call, refused), refused, "")
        return ComposedRequest.of(quote.url, quote.headers.multi_items(), quote.content)

    async def interpret(self, call: Call, response: RawResponse) -> Reply | Fault:
        """What ``response`` means as the response to ``call``, by the rules of single calls. Nothing is sent."""
        from disputatio.participants.remote.parameters import refused_by
        from disputatio.participants.remote.transport import replay_exchange

        connection = await self._open()
        if isinstance(connection, Fault):
            return connection
        with replay_exchange(response):
            return await self._call(call, None, refused_by(self._endpoint), connection)

    async def _call(
        self, call: Call, on_text: OnText | None, refused: frozenset[str], connection: ModelConnection | None = None
    ) -> Reply | Fault:
        """Make one request without what is ``refused``, streamed if there is a listener; over ``connection`` if
        given."""
        path = (
            connection or (self._route or await self._find_route() if on_text is None else None) or await self._open()
        )
        if isinstance(path, Fault):
            return path
        from disputatio.participants.remote.transport import bound_schema, collect_headers

        written: list[str] = []
        listener = None if on_text is None else _TextListener(on_text, written)
        limit = asyncio.timeout(self._endpoint.timeout_s)
        try:
            async with limit:
                with (
                    bound_schema(AnswerBound.of(call.max_tokens, streamed=listener is not None)),
                    collect_headers() as headers,
                ):
                    response = await self._exchange(path, call, listener, refused)
        except _ListenerError as error:
            raise error.raised from None
        except Exception as error:  # noqa: BLE001  - whatever the libraries raise becomes a fault
            if limit.expired():
                from disputatio.participants.remote.faults import timed_out

                return timed_out(self._endpoint, "".join(written))
            sent = path.prompts.names(call, refused) | ({"stream", "stream_options"} if listener else frozenset())
            return self._fault(error, call.mode, sent, refused, "".join(written))
        if isinstance(response, (Reply, Fault)):
            return response
        from disputatio.participants.remote.reply import reply_from
        from disputatio.participants.remote.response import with_cost

        streamed = on_text is not None
        reply = reply_from(response, self._endpoint, call.mode, streamed=streamed, limit=call.max_tokens)
        return with_cost(reply, headers) if isinstance(reply, Reply) and not streamed else reply

    def _fault(
        self, error: Exception, mode: OutputMode, sent: frozenset[str], refused: frozenset[str], text: str
    ) -> Fault:
        """Learn refused parameters from ``error`` and return it as a fault."""
        from disputatio.participants.remote.faults import fault_from, parameter_refused
        from disputatio.participants.remote.parameters import learn

        if names := learn(self._endpoint, error, mode, sent, refused):
            return parameter_refused(self._endpoint, error, names)
        return fault_from(error, self._endpoint, mode, text)

    async def _exchange(
        self, path: ModelConnection | Route, call: Call, listener: _TextListener | None, refused: frozenset[str]
    ) -> Reply | Fault | ModelResponse:
        """What ``call`` brings over ``path``."""
        from disputatio.participants.remote.models import ModelConnection

        if isinstance(path, ModelConnection):
            return await _request(path, call, listener, refused)
        return await self._post_directly(path, call, refused)

    @property
    def _is_direct(self) -> bool:
        return self._endpoint.direct and self._endpoint.kind in _DIRECT_KINDS

    async def _find_route(self) -> Route | Fault | None:
        """Find the thin path to the model; None if there is none."""
        if not self._is_direct:
            return None
        if self._endpoint in _ROUTES:
            self._route = _ROUTES[self._endpoint]
            return self._route
        return await _LEARNING.of(self._endpoint, lambda: _learn_route(self._endpoint))

    async def _post_directly(self, route: Route, call: Call, refused: frozenset[str]) -> Reply | Fault | ModelResponse:
        """Post ``call``; the library reads any outcome but a plain reply."""
        if self._transport is None:
            from disputatio.participants.remote.transport import AiohttpTransport

            self._transport = AiohttpTransport(keep_alive=self._endpoint.keep_alive)
        outcome = await route.post(call, self._transport, refused)
        if isinstance(outcome, Reply):
            return outcome
        from disputatio.participants.remote.transport import replay_exchange

        connection = await self._open()
        if isinstance(connection, Fault):
            return connection
        with replay_exchange(outcome):
            return await _request(connection, call, None, refused)

    async def probe(self) -> Fault | None:
        """Request the provider's list of models, which costs nothing.

        None means that no problem was found, not that calls will work: some providers have no such list.
        ``NO_SUCH_MODEL`` is returned only if a list was served and clearly lacks the model.
        """
        probed_at = _PROBED_AT.get(asyncio.get_running_loop(), {})
        if time.monotonic() - probed_at.get(self._endpoint, -_PROBE_TRUSTED_S) < _PROBE_TRUSTED_S:
            return None
        if not self._is_direct:
            # Its calls need the connection too.
            connection = await self._open()
            if isinstance(connection, Fault):
                return connection
        return await _PROBING.of(self._endpoint, lambda: _probe_endpoint(self._endpoint, opens=self._is_direct))

    async def aclose(self) -> None:
        """Close the connections. Safe to repeat; a later call opens them again."""
        connection, self._connection = self._connection, None
        if connection is not None and not isinstance(connection, Fault):
            await connection.close()
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()

    async def _open(self) -> ModelConnection | Fault:
        if self._connection is not None:
            return self._connection
        async with self._opening:
            if self._connection is None:
                self._connection = await asyncio.to_thread(_open_connection, self._endpoint)
            return self._connection


def _open_connection(endpoint: Endpoint) -> ModelConnection | Fault:
    """Build the connection to ``endpoint``. Importing takes up to two seconds, so run it in a thread."""
    from disputatio.participants.remote.faults import connection_fault, key_malformed, key_missing

    key = endpoint.api_key
    if key is None and endpoint.needs_key:
        return key_missing(endpoint)
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        return key_malformed(endpoint)
    try:
        from disputatio.participants.remote.efforts import EffortRefusedError, effort_refused
        from disputatio.participants.remote.models import build_connection

        try:
            return build_connection(endpoint)
        except EffortRefusedError as why:
            return effort_refused(endpoint, why)
    except Exception as error:  # noqa: BLE001  - a library may object to an address or a region in any way
        return connection_fault(error, endpoint)


async def _learn_route(endpoint: Endpoint) -> Route | Fault | None:
    """The thin path to ``endpoint``, by a line that serves for this alone; None where there is none."""
    connection = await asyncio.to_thread(_open_connection, endpoint)
    if isinstance(connection, Fault):
        return connection
    from disputatio.participants.remote.direct import learn_route

    try:
        route = await learn_route(connection)
    finally:
        await connection.close()
    _ROUTES[endpoint] = route
    while len(_ROUTES) > _MOST_KEPT:
        _ROUTES.pop(next(iter(_ROUTES)), None)
    return route


class _ListenerError(Exception):
    """Carries an exception of ``on_text`` through the libraries."""

    def __init__(self, raised: Exception) -> None:
        super().__init__()
        self.raised = raised


class _TextListener:
    """Passes written text to ``on_text`` and keeps it."""

    def __init__(self, on_text: OnText, written: list[str]) -> None:
        self._on_text = on_text
        self._answer_text = written
        self._reasoning_filter = ReasoningFilter()

    def pass_on(self, text: str) -> None:
        text = self._reasoning_filter.take(text)
        if not text:
            return
        self._answer_text.append(text)
        try:
            self._on_text(text)
        except Exception as error:
            raise _ListenerError(error) from error


async def _request(
    connection: ModelConnection, call: Call, listener: _TextListener | None, refused: frozenset[str]
) -> ModelResponse:
    """Send ``call`` through the library, streamed if there is a listener."""
    from pydantic_ai.direct import model_request, model_request_stream

    request = connection.prompts.request(call, refused)
    given = (connection.model, request.messages)
    settings: Any = {
        "model_settings": request.settings,
        "model_request_parameters": request.parameters,
        "instrument": False,
    }
    if listener is None:
        return await model_request(*given, **settings)
    async with model_request_stream(*given, **settings) as stream:
        async for event in stream:
            if text := _answer_text(event, call.mode):
                listener.pass_on(text)
        return stream.get()


def _answer_text(event: ModelResponseStreamEvent, mode: OutputMode) -> str:
    """The part of the answer in ``event``: text, or in tool mode the tool's argument."""
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


async def _probe_endpoint(endpoint: Endpoint, *, opens: bool) -> Fault | None:
    """Probe ``endpoint``; with ``opens``, check first that a connection can be built."""
    if opens:
        connection = await asyncio.to_thread(_open_connection, endpoint)
        if isinstance(connection, Fault):
            return connection
        await connection.close()
    from disputatio.participants.remote.probe import probe

    asked_at = time.monotonic()
    fault = await probe(endpoint)
    if fault is None:
        probed_at = _PROBED_AT.setdefault(asyncio.get_running_loop(), {})
        probed_at[endpoint] = asked_at
        while len(probed_at) > _MOST_KEPT:
            probed_at.pop(next(iter(probed_at)), None)
    return fault
