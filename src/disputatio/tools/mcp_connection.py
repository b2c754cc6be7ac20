"""Connect to MCP servers that the user names: start or reach them, list their tools, and call those.

A server's descriptions are untrusted. Tools with unusual names are not offered, descriptions are cleaned and cut, and
schemas never reach a provider (see ``tool_choice``). A tool is offered if its server declares it read-only, or if the
user names it. That declaration cannot be enforced, so users should name only servers they trust.

Each connection has its own task: the client library ends the task that opened it when a server dies, and that must not
be the debate's.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from disputatio.errors import InvalidInputError
from disputatio.motion import clean, one_line
from disputatio.record.text import canonical
from disputatio.tools.mcp_limits import CONNECT_S, MAX_ANSWER_BYTES, ServerOutput, limit_time
from disputatio.tools.protocol import McpServer, OfferedTool, ToolFault, ToolLimits, ToolResult
from disputatio.tools.tool_choice import MAX_SHOWN_SCHEMA_CHARS, simplify_arguments

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool

    from mcp import Client

MAX_ANNOUNCED = 500
"""Of a server's list; the rest is ignored."""
MAX_DESCRIPTION_CHARS = 800
_CLOSE_S = 10.0
_TOOL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,63}")


@dataclass(frozen=True, slots=True)
class AnnouncedTools:
    """Tools that a server announced, and why some cannot be offered."""

    read_only: Mapping[str, OfferedTool]
    others: Mapping[str, OfferedTool]
    """Tools not declared read-only, offered only if the user names them."""
    unfit: tuple[str, ...]
    """One reason for each tool that cannot be offered."""


class McpConnection:
    """A connection to one server; call ``open`` first and ``aclose`` last."""

    def __init__(self, server: McpServer, limits: ToolLimits) -> None:
        self._server, self._limits = server, limits
        self._keeper: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._opening = asyncio.Lock()
        self._client: Client | None = None
        self._noise = ServerOutput()

    async def open(self) -> AnnouncedTools:
        """Start or reach the server and list its tools.

        Raises:
            InvalidInputError: it cannot be used; one sentence says why.
        """
        try:
            async with limit_time(CONNECT_S):
                client = await self._connected()
                announced = await _list_tools(client)
        except TimeoutError:
            await self.aclose()
            raise self._unusable(f"it gave no answer within {CONNECT_S:g} seconds") from None
        except Exception as failure:  # noqa: BLE001  (the library and the server may raise anything)
            await self.aclose()
            raise self._unusable(self._noise.stopped or _describe_failure(failure)) from None
        return _sort_tools(self._server.name, announced)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool of the server."""
        limit_s, name = self._limits.timeout_s, self._server.name
        try:
            async with limit_time(limit_s):
                client = await self._connected()
                result = await client.call_tool(tool, dict(arguments))
        except TimeoutError:
            return ToolResult(f"{name} took more than {limit_s:g} seconds.", ToolFault.TIMED_OUT)
        except Exception as failure:  # noqa: BLE001  (the library and the server may raise anything)
            # A server that writes too much is stopped; only the connection knows why.
            reason, lost = self._noise.stopped or _describe_failure(failure), self._client is None or _is_lost(failure)
            if lost:
                await self.aclose()
            fault = ToolFault.UNREACHABLE if lost else ToolFault.FAILED
            return ToolResult.of(f"{name}: {reason}", self._limits, fault)
        return ToolResult.of(_join_texts(result), self._limits, ToolFault.FAILED if result.is_error else None)

    async def aclose(self) -> None:
        """Stop or leave the server. Safe to repeat."""
        self._closing.set()
        keeper, self._keeper, self._client = self._keeper, None, None
        if keeper is None:
            return
        _, pending = await asyncio.wait([keeper], timeout=_CLOSE_S)
        for task in pending:
            task.cancel()
        await asyncio.gather(keeper, return_exceptions=True)

    async def _connected(self) -> Client:
        """Return the client; restart a server that ended."""
        async with self._opening:
            if self._keeper is not None and not self._keeper.done() and self._client is not None:
                return self._client
            ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
            self._closing = asyncio.Event()
            self._keeper = asyncio.create_task(self._keep(ready, self._closing))
            try:
                self._client = await ready
            except asyncio.CancelledError:
                self._keeper.cancel()
                raise
            return self._client

    async def _keep(self, ready: asyncio.Future[Client], closing: asyncio.Event) -> None:
        """Keep the connection open in this task until it is closed."""
        # Without logging set up, Python would print the library's messages to the terminal.
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        self._noise = noise = ServerOutput()
        try:
            async with _open_client(self._server, noise) as client:
                ready.set_result(client)
                await closing.wait()
        except asyncio.CancelledError:
            ready.cancel()
            raise
        except BaseException as failure:  # noqa: BLE001  (groups of anything; waiting callers get it)
            self._client = None
            if not ready.done():
                ready.set_exception(_StartError(noise.stopped or _describe_failure(failure), noise.last_line))

    def _unusable(self, reason: str) -> InvalidInputError:
        name = self._server.name
        return InvalidInputError(
            f"The MCP server {name} cannot be used: {reason}.",
            f"Nothing was spent. Correct --mcp {name}=..., or leave its tools out of --tools.",
        )


class _StartError(Exception):
    """The server did not start; ``complaint`` is the end of its standard error."""

    def __init__(self, reason: str, complaint: str) -> None:
        super().__init__(f"{reason} (it says: {complaint})" if complaint else reason)


@asynccontextmanager
async def _open_client(server: McpServer, noise: ServerOutput) -> AsyncIterator[Client]:
    try:
        from mcp.client.streamable_http import streamable_http_client

        from disputatio.tools.mcp_transport import McpHttpClient, start_server
        from mcp import Client
    except ImportError:
        raise RuntimeError("the library for it is not installed; run: pip install 'disputatio[mcp]'") from None
    if server.command:
        async with Client(start_server(server, noise), cache=None) as client:
            yield client
        return
    tokens = list(server.variables.values())
    headers = {"Authorization": f"Bearer {tokens[0]}"} if tokens else {}
    async with (
        McpHttpClient(headers=headers) as http,
        Client(
            streamable_http_client(server.url, http_client=http, max_sse_event_size=MAX_ANSWER_BYTES), cache=None
        ) as client,
    ):
        yield client


async def _list_tools(client: Client) -> list[Tool]:
    tools: list[Tool] = []
    cursor: str | None = None
    while len(tools) < MAX_ANNOUNCED:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return tools[:MAX_ANNOUNCED]


def _sort_tools(server: str, announced: list[Tool]) -> AnnouncedTools:
    read_only: dict[str, OfferedTool] = {}
    others: dict[str, OfferedTool] = {}
    unfit: list[str] = []
    for tool in announced:
        reason = _explain_unfitness(tool)
        if not reason and tool.name in {**read_only, **others}:
            reason = "a second tool has the same name"
        if reason:
            unfit.append(f"{one_line(tool.name, 60) or 'a tool without a name'}: {reason}")
            continue
        description = clean(tool.description or tool.title or "")[:MAX_DESCRIPTION_CHARS].strip()
        offered = OfferedTool(f"{server}.{tool.name}", server, description, tool.input_schema)
        hint = tool.annotations is not None and tool.annotations.read_only_hint is True
        (read_only if hint else others)[tool.name] = offered
    return AnnouncedTools(read_only, others, tuple(unfit))


def _explain_unfitness(tool: Tool) -> str:
    if not _TOOL_NAME.fullmatch(tool.name):
        return "its name is not made of letters, digits and . _ / - alone, or is too long"
    try:
        schema = canonical(tool.input_schema)
    except (ValueError, TypeError, RecursionError):
        return "its parameters cannot be read"
    if simplify_arguments(tool.input_schema) is None and len(schema) > MAX_SHOWN_SCHEMA_CHARS:
        return f"its parameters take {len(schema):,} characters to describe"
    return ""


def _join_texts(result: CallToolResult) -> str:
    """Join the texts of a result; other content is named."""
    pieces = []
    for block in result.content:
        if block.type == "text":
            pieces.append(block.text)
        elif block.type == "resource" and hasattr(block.resource, "text"):
            pieces.append(block.resource.text)
        else:
            pieces.append(f"[{block.type}, not shown]")
    if not pieces and result.structured_content is not None:
        pieces.append(canonical(result.structured_content))
    return "\n\n".join(pieces)


def _describe_failure(failure: BaseException) -> str:
    """Describe a failure for people."""
    while isinstance(failure, BaseExceptionGroup) and failure.exceptions:
        failure = failure.exceptions[0]
    if isinstance(failure, FileNotFoundError):
        return f"there is no program {one_line(str(failure.filename or ''), 80)}".rstrip()
    said = one_line(str(failure), 300).rstrip(".")
    # The library's messages for a server that ended, or never answered.
    return said.replace("Connection closed", "it ended or does not speak the protocol") or type(failure).__name__


def _is_lost(failure: BaseException) -> bool:
    return isinstance(failure, OSError) or "closed" in str(failure).lower()
