"""The tools of one debate, by seat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.evidence.sources import SourceSet
from disputatio.motion import one_line
from disputatio.tools.builtin import BUILTIN_TOOLS, SEARCH_TOOLS, BuiltinTools
from disputatio.tools.mcp_connection import AnnouncedTools, McpConnection
from disputatio.tools.protocol import McpServer, OfferedTool, ToolLimits, ToolResult

MAX_OFFERED = 16
"""For one seat: each takes space in every prompt, and models choose badly among many."""

Words = Mapping[str, tuple[str, ...]]
"""By seat, the user's words for tools: ``search``, ``calculate``, ``SERVER``, ``SERVER.TOOL``."""


@dataclass(frozen=True, slots=True)
class Toolset:
    """A ``Toolbox`` of the package's own tools and of MCP servers."""

    limits: ToolLimits
    warnings: tuple[str, ...]
    _offered: Mapping[str, tuple[OfferedTool, ...]]
    _runtime: BuiltinTools
    _connections: Mapping[str, McpConnection]

    def tools_for(self, seat: str) -> tuple[OfferedTool, ...]:
        """Return the tools of one seat."""
        return self._offered.get(seat, ())

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool that was offered."""
        server, dot, inner = tool.partition(".")
        if dot:
            return await self._connections[server].call(inner, arguments)
        return await self._runtime.call(tool, arguments)

    async def aclose(self) -> None:
        """Close all servers, even if one fails."""
        for connection in self._connections.values():
            await connection.aclose()


async def open_tools(words: Words, sources: SourceSet, servers: Mapping[str, McpServer], limits: ToolLimits) -> Toolset:
    """Start or reach all needed servers and return the tools that ``words`` name.

    Raises:
        InvalidInputError: a tool or server does not exist or cannot be used. No server is left running.
    """
    runtime, has_sources = BuiltinTools(sources, limits), len(sources) > 0
    connections: dict[str, McpConnection] = {}
    announced: dict[str, AnnouncedTools] = {}
    try:
        for name in _select_servers(words, servers):
            connections[name] = McpConnection(servers[name], limits)
            announced[name] = await connections[name].open()
        offered = {
            seat: _select_tools(seat, named, announced, with_sources=has_sources) for seat, named in words.items()
        }
        if any(tool.name in SEARCH_TOOLS for tools in offered.values() for tool in tools):
            runtime.check()
    except BaseException:
        for connection in connections.values():
            await connection.aclose()
        raise
    return Toolset(limits, _make_warnings(words, announced, with_sources=has_sources), offered, runtime, connections)


def _select_servers(words: Words, servers: Mapping[str, McpServer]) -> tuple[str, ...]:
    named: dict[str, None] = {}
    for seat, row in words.items():
        for word in row:
            server = word.partition(".")[0]
            if server in BUILTIN_TOOLS or server == "search":
                continue
            if server not in servers:
                known = ", ".join(["search", "calculate", *servers])
                raise InvalidInputError(
                    f"The seat {seat} is given the tool {one_line(word, 60)}, and there is no MCP server "
                    f"called {one_line(server, 40)}.",
                    f"Known are: {known}. Name a server with --mcp NAME=COMMAND or --mcp NAME=URL.",
                )
            named.setdefault(server)
    return tuple(named)


def _select_tools(
    seat: str, words: Sequence[str], announced: Mapping[str, AnnouncedTools], *, with_sources: bool
) -> tuple[OfferedTool, ...]:
    offered: dict[str, OfferedTool] = {}
    for word in words:
        for tool in _find_tools(word, announced):
            if with_sources or tool.name not in SEARCH_TOOLS:
                offered[tool.name] = tool
    if len(offered) > MAX_OFFERED:
        raise InvalidInputError(
            f"The seat {seat} would have {len(offered)} tools, and {MAX_OFFERED} are the most.",
            f"Name those it needs, such as --tools {seat}={next(name for name in offered if '.' in name)}.",
        )
    # By name, so that a resumed debate, which has only names, asks the same question.
    return tuple(offered[name] for name in sorted(offered))


def _find_tools(word: str, announced: Mapping[str, AnnouncedTools]) -> tuple[OfferedTool, ...]:
    if word == "search":
        return tuple(BUILTIN_TOOLS[name] for name in SEARCH_TOOLS)
    if word in BUILTIN_TOOLS:
        return (BUILTIN_TOOLS[word],)
    server, dot, inner = word.partition(".")
    found = announced[server]
    if dot:
        tool = found.read_only.get(inner) or found.others.get(inner)
        if tool is None:
            known = ", ".join(f"{server}.{name}" for name in sorted([*found.read_only, *found.others])[:12])
            why = next((row for row in found.unfit if row.startswith(f"{inner}: ")), "")
            if why:
                raise InvalidInputError(
                    f"The MCP server {server} has a tool that cannot be offered: {why}.",
                    f"It offers: {known or 'none'}.",
                )
            raise InvalidInputError(
                f"The MCP server {server} offers no tool {one_line(inner, 60)}.", f"It offers: {known or 'none'}."
            )
        return (tool,)
    if not found.read_only:
        others = ", ".join(f"{server}.{name}" for name in sorted(found.others)[:12])
        raise InvalidInputError(
            f"The MCP server {server} declares none of its tools read-only.",
            f"Name those that you know only read: {others}." if others else "Name another server.",
        )
    return tuple(found.read_only[name] for name in sorted(found.read_only))


def _make_warnings(words: Words, announced: Mapping[str, AnnouncedTools], *, with_sources: bool) -> tuple[str, ...]:
    said = []
    searching = [seat for seat, row in words.items() if {"search", *SEARCH_TOOLS} & set(row)]
    if searching and not with_sources:
        said.append("There are no sources to search, so search is not offered.")
    for server, found in announced.items():
        if found.unfit:
            count = len(found.unfit)
            said.append(
                f"The MCP server {server} has {count} {'tool' if count == 1 else 'tools'} that cannot be offered; "
                f"the first: {found.unfit[0]}."
            )
    return tuple(said)


def compare_tools(recorded: Sequence[Mapping[str, Any]], offered: Mapping[str, OfferedTool]) -> str:
    """Explain how ``offered`` differs from the tools in a record, in half a sentence; empty if equal."""
    for row in recorded:
        tool = offered.get(str(row["tool"]))
        if tool is None:
            return f"the tool {row['tool']} is not there any more"
        now = tool.as_json()
        for name, what in (("description", "description"), ("schema", "parameters")):
            if now[name] != row[name]:
                return f"the {what} of the tool {row['tool']} changed"
    return ""
