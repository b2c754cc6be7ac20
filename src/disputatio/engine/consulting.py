"""Carries out what seats look up before their turns: recorded results are fed again, new ones written down.

Nothing is written before a tool is called. A tool only reads, so one that was under way when the process died is
called again on resume; one whose result is in the record never is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from disputatio.engine.journal import Journal
from disputatio.engine.ports import Clock
from disputatio.errors import ResumeMismatchError
from disputatio.kernel import Ask, AskPath
from disputatio.record.events import ToolCalled
from disputatio.record.text import canonical, digest
from disputatio.tools.protocol import OfferedTool, Toolbox, ToolFault, ToolLimits, ToolRequest, ToolResult


class Consulting:
    """The consultations of one debate.

    Args:
        toolbox: its tools; None where no seat has any.
        journal: its record.
        clock: measures how long a tool takes.
        texts: the texts of the record, by hash, for a debate that is resumed.
    """

    def __init__(self, toolbox: Toolbox | None, *, journal: Journal, clock: Clock, texts: Mapping[str, str]) -> None:
        self._toolbox, self._journal, self._clock, self._texts = toolbox, journal, clock, texts

    @property
    def limits(self) -> ToolLimits:
        """How much a seat may look up."""
        return self._toolbox.limits if self._toolbox else ToolLimits()

    def offered(self, seat: str) -> tuple[OfferedTool, ...]:
        """The tools of a seat."""
        return self._toolbox.offered(seat) if self._toolbox else ()

    def recorded(self, path: AskPath) -> deque[ToolCalled]:
        """What was looked up for the ask at ``path`` before the debate was resumed."""
        return deque(self._journal.history.consulted.get(path, ()))

    async def consult(self, path: AskPath, ask: Ask, request: ToolRequest, recorded: deque[ToolCalled]) -> ToolResult:
        """What the tool brings; the next of ``recorded`` where there is one.

        Raises:
            ResumeMismatchError: the record has another call in this place.
        """
        if recorded:
            return self._again(path, request, recorded.popleft())
        # It may take long: what was said before is on disk meanwhile.
        self._journal.hand_over()
        started = self._clock.monotonic()
        result = await self._called(request)
        latency = round((self._clock.monotonic() - started) * 1000)
        self._write(path, ask, request, result, latency)
        return result

    async def _called(self, request: ToolRequest) -> ToolResult:
        if request.misuse:
            return ToolResult(request.misuse, ToolFault.MISUSED)
        assert self._toolbox is not None  # noqa: S101  (a seat without tools asks for none)
        return await self._toolbox.call(request.tool, request.arguments)

    def _write(self, path: AskPath, ask: Ask, request: ToolRequest, result: ToolResult, latency_ms: int) -> None:
        server, dot, _ = request.tool.partition(".")
        name = digest(result.text)
        event = ToolCalled(
            path=path,
            seat=ask.seat,
            tool=request.tool,
            server=server if dot else "",
            arguments=request.arguments,
            result=name,
            summary=result.summary,
            fault=result.fault.value if result.fault else "",
            left_out=result.left_out,
            latency_ms=latency_ms,
        )
        self._journal.write(event, texts={name: result.text})
        self._journal.hand_over()

    def _again(self, path: AskPath, request: ToolRequest, row: ToolCalled) -> ToolResult:
        if row.tool != request.tool or canonical(row.arguments) != canonical(request.arguments):
            raise ResumeMismatchError(
                f"The debate cannot go on at {path}: the record has a call of the tool {row.tool} with other arguments "
                "than this version would make.",
                "Resume it with the version and settings it was started with.",
            )
        return ToolResult(self._texts[row.result], ToolFault(row.fault) if row.fault else None, row.left_out)
