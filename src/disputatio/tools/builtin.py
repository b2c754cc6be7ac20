"""The tools of this package: search in the debate's sources, reading a passage, a calculator.

They are functions of the sources and their arguments alone.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Mapping
from typing import Any

from disputatio.errors import DisputatioError, InvalidInputError
from disputatio.evidence.retrieval import Retriever
from disputatio.evidence.source_set import SourceSet
from disputatio.evidence.tools import TOOLS, call_tool
from disputatio.record.text import canonical
from disputatio.tools.protocol import OfferedTool, ToolFault, ToolLimits, ToolResult

SEARCH = ("search_sources", "read_passage")
"""What the word ``search`` stands for."""

BUILTIN_TOOLS: Mapping[str, OfferedTool] = {
    row.name: OfferedTool(row.name, "", row.description, row.parameters) for row in TOOLS
}


class BuiltinTools:
    """The tools of this package over the sources of one debate."""

    def __init__(self, sources: SourceSet, limits: ToolLimits) -> None:
        self._retriever, self._limits = Retriever(sources), limits

    def check(self) -> None:
        """Refuse what would fail in the middle of a debate.

        Raises:
            InvalidInputError: the library that ranks passages is not installed.
        """
        if importlib.util.find_spec("bm25s") is None:
            raise InvalidInputError(
                "A seat is to search the sources, and the library that searches them is not installed.",
                "Install it with: pip install 'disputatio[evidence]', or leave search out of --tools.",
            )

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """What the tool answers; a mistake of the seat is in its words."""
        limit_s = self._limits.timeout_s
        try:
            # The first search builds the index, which takes seconds where the sources are long.
            async with asyncio.timeout(limit_s):
                answer = await asyncio.to_thread(call_tool, self._retriever, tool, arguments)
        except TimeoutError:
            return ToolResult(f"{tool} took more than {limit_s:g} seconds.", ToolFault.TIMED_OUT)
        except DisputatioError as failure:
            return ToolResult.of(failure.cause, self._limits, ToolFault.FAILED)
        error = answer.get("error")
        if isinstance(error, str) and error:
            return ToolResult.of(error, self._limits, ToolFault.FAILED)
        return ToolResult.of(shown(tool, answer), self._limits)


def shown(tool: str, answer: Mapping[str, Any]) -> str:
    """An answer in words; passages stand under their ids, so that a seat can quote them by source."""
    if tool == "calculate":
        exact = "" if answer.get("exact") else " (rounded)"
        return f"{answer.get('expression')} = {answer.get('value')}{exact}"
    if tool == "search_sources":
        rows = answer.get("passages") or ()
        if not rows:
            return "No passage has a word of this query."
        return "\n\n".join(f"[{row['passage_id']}]\n{row['text']}" for row in rows)
    if tool == "read_passage":
        beside = [f"{name} it: {answer[name]}" for name in ("before", "after") if answer.get(name)]
        return "\n".join([f"[{answer['passage_id']}]", str(answer["text"]), *beside])
    return canonical(answer)
