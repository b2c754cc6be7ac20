"""Give seats their tools, call them, and replay recorded results.

Tools are opened when a debate starts and reopened unchanged when it resumes. Nothing is written before a tool is
called: tools only read. A call that was in flight when the process died is repeated; a recorded result never is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from disputatio.config import Settings
from disputatio.engine.journal import Journal
from disputatio.engine.ports import Clock
from disputatio.engine.seat_assignments import ModelSeat, SeatAssignments
from disputatio.errors import InvalidInputError, ResumeMismatchError
from disputatio.evidence.sources import Source, SourceSet
from disputatio.kernel import Ask, AskPath, JsonObject
from disputatio.motion import Evidence
from disputatio.record.events import DebateOpened, ToolCalled
from disputatio.record.text import canonical, digest
from disputatio.tools.protocol import OfferedTool, Toolbox, ToolFault, ToolLimits, ToolRequest, ToolResult
from disputatio.tools.toolset import Toolset, compare_tools, open_tools

Sources = Sequence[Evidence | Source]


async def open_debate_tools(settings: Settings, assignments: SeatAssignments, sources: Sources) -> Toolset:
    """Open the tools that ``settings`` give to the models in ``assignments``: start or contact their servers.

    Raises:
        InvalidInputError: a tool or server is missing. No server is left running.
    """
    words, warnings = name_tools(settings, assignments)
    used = {word.partition(".")[0] for row in words.values() for word in row}
    for name in settings.mcp_servers:
        if name not in used and f"mcp_servers.{name}" in settings.asked:
            warnings.append(f"The MCP server {name} is not used: no seat has one of its tools.")
    tools = await open_tools(words, SourceSet(sources if words else ()), settings.mcp_servers, settings.tool_limits)
    return replace(tools, warnings=(*warnings, *tools.warnings))


def name_tools(settings: Settings, assignments: SeatAssignments) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The names of each seat's tools, and warnings about seats that cannot have any."""
    words: dict[str, tuple[str, ...]] = {}
    warnings = []
    for seat, occupant in assignments.items():
        named = settings.tools.get(seat, ())
        if not named or not isinstance(occupant, ModelSeat):
            continue
        if occupant.seatings[0].piecewise:
            warnings.append(f"{seat} has no tools, because its small model is asked piece by piece.")
        else:
            words[seat] = named
    return words, warnings


async def reopen_tools(opened: DebateOpened, settings: Settings, sources: Sources) -> Toolset:
    """Open the tools that the record names, on the current servers.

    Raises:
        InvalidInputError: a recorded server is not named now, cannot be used, or has lost a tool.
        ResumeMismatchError: a tool has changed; names it.
    """
    body: Mapping[str, Any] = opened.tools
    rows: Sequence[Mapping[str, Any]] = body.get("offered", ())
    words: dict[str, tuple[str, ...]] = {}
    for row in rows:
        server = str(row["server"])
        if server and server not in settings.mcp_servers:
            raise InvalidInputError(
                f"This debate uses the tool {row['tool']} of the MCP server {server}, which is not configured now.",
                f"Name it as before: --mcp {server}=COMMAND or --mcp {server}=URL.",
            )
        for seat in row["seats"]:
            words[seat] = (*words.get(seat, ()), str(row["tool"]))
    limits = ToolLimits(**{name: body[name] for name in ToolLimits.__slots__}) if rows else ToolLimits()
    tools = await open_tools(words, SourceSet(sources if words else ()), settings.mcp_servers, limits)
    difference = compare_tools(rows, {tool.name: tool for seat in words for tool in tools.tools_for(seat)})
    if difference:
        await tools.aclose()
        raise ResumeMismatchError(
            f"The debate cannot go on: {difference}.", "Resume it with the server as it was, or start a new debate."
        )
    return tools


class PreviewTools:
    """Tools of typical size that call nothing, for previews."""

    def __init__(self, words: Mapping[str, tuple[str, ...]], limits: ToolLimits) -> None:
        self.limits, self.warnings = limits, ()
        self._words = words

    def tools_for(self, seat: str) -> tuple[OfferedTool, ...]:
        """One tool whose description is as long as those of all the seat's tools."""
        named = self._words.get(seat, ())
        return (OfferedTool("typical", "", _TYPICAL_DESCRIPTION * len(named), _TYPICAL_PARAMETERS),) if named else ()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:  # noqa: ARG002
        """A result half as long as allowed."""
        return ToolResult("typical " * (self.limits.result_chars // 16))

    async def aclose(self) -> None:
        """Do nothing."""


_TYPICAL_DESCRIPTION = "What a tool of typical length does, and what it needs for that. " * 3
_TYPICAL_PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
    "additionalProperties": False,
}


class ToolCalls:
    """The tool calls of one debate.

    Args:
        toolbox: its tools; None where no seat has any.
        journal: its record.
        clock: measures how long a tool takes.
        texts: the texts of a resumed debate's record, by hash.
    """

    def __init__(self, toolbox: Toolbox | None, *, journal: Journal, clock: Clock, texts: Mapping[str, str]) -> None:
        self._toolbox, self._journal, self._clock, self._texts = toolbox, journal, clock, texts

    @property
    def limits(self) -> ToolLimits:
        """How much a seat may look up in one turn."""
        return self._toolbox.limits if self._toolbox else ToolLimits()

    def tools_for(self, seat: str) -> tuple[OfferedTool, ...]:
        """The tools of a seat."""
        return self._toolbox.tools_for(seat) if self._toolbox else ()

    def recorded(self, path: AskPath) -> deque[ToolCalled]:
        """The recorded tool calls of the ask at ``path``."""
        return deque(self._journal.history.consulted.get(path, ()))

    async def consult(self, path: AskPath, ask: Ask, request: ToolRequest, recorded: deque[ToolCalled]) -> ToolResult:
        """Call the tool, or return the next of ``recorded`` results.

        Raises:
            ResumeMismatchError: the record has a different call here.
        """
        if recorded:
            return self._replay(path, request, recorded.popleft())
        # The tool may take long, so store earlier events first.
        self._journal.flush()
        started = self._clock.monotonic()
        result = await self._call(request)
        latency = round((self._clock.monotonic() - started) * 1000)
        self._write(path, ask, request, result, latency)
        return result

    async def _call(self, request: ToolRequest) -> ToolResult:
        if request.misuse:
            return ToolResult(request.misuse, ToolFault.MISUSED)
        assert self._toolbox is not None  # noqa: S101  (a seat without tools asks for none)
        return await self._toolbox.call(request.tool, request.arguments)

    def _write(self, path: AskPath, ask: Ask, request: ToolRequest, result: ToolResult, latency_ms: int) -> None:
        server, dot, _ = request.tool.partition(".")
        text_hash = digest(result.text)
        event = ToolCalled(
            path=path,
            seat=ask.seat,
            tool=request.tool,
            server=server if dot else "",
            arguments=request.arguments,
            result=text_hash,
            summary=result.summary,
            fault=result.fault.value if result.fault else "",
            left_out=result.left_out,
            latency_ms=latency_ms,
        )
        self._journal.write(event, texts={text_hash: result.text})
        self._journal.flush()

    def _replay(self, path: AskPath, request: ToolRequest, row: ToolCalled) -> ToolResult:
        if row.tool != request.tool or canonical(row.arguments) != canonical(request.arguments):
            raise ResumeMismatchError(
                f"The debate cannot go on at {path}: the record has a call of the tool {row.tool} with other arguments "
                "than this version would make.",
                "Resume it with the version and settings it was started with.",
            )
        return ToolResult(self._texts[row.result], ToolFault(row.fault) if row.fault else None, row.left_out)
