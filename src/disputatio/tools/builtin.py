"""The tools of this package: search in the sources, reading a passage, a calculator.

They depend only on the sources and their arguments, so a recorded call can be replayed. A model's mistake (an unknown
passage, a bad expression, a missing argument) gives an ``error``.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disputatio.errors import DisputatioError, InvalidInputError
from disputatio.evidence.calculator import Calculation, calculate
from disputatio.evidence.retrieval import Retriever
from disputatio.evidence.sources import SourceSet
from disputatio.kernel import Json, JsonObject
from disputatio.record.text import canonical
from disputatio.tools.protocol import OfferedTool, ToolFault, ToolLimits, ToolResult

MAX_HITS = 10
MAX_ARGUMENT_CHARS = 1_000
"""Of a query or an id."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage as a tool returns it. ``before`` and ``after`` are the ids of its neighbours, empty at the ends."""

    passage_id: str
    source_id: str
    text: str
    score: float | None = None
    before: str = ""
    after: str = ""

    def as_json(self) -> JsonObject:
        """Return the form recorded and shown to the model."""
        shown: dict[str, Json] = {"passage_id": self.passage_id, "source_id": self.source_id, "text": self.text}
        if self.score is not None:
            shown["score"] = self.score
        shown |= {key: value for key, value in (("before", self.before), ("after", self.after)) if value}
        return shown


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The passages that fit a query, best first; may be empty."""

    query: str
    passages: tuple[FoundPassage, ...]

    def as_json(self) -> JsonObject:
        """Return the form recorded and shown to the model."""
        return {"query": self.query, "passages": [passage.as_json() for passage in self.passages]}


@dataclass(frozen=True, slots=True)
class ToolError:
    """Why a call could not be answered, in words for the model."""

    error: str

    def as_json(self) -> JsonObject:
        """Return the form recorded and shown to the model."""
        return {"error": self.error}


def search_sources(retriever: Retriever, query: str, k: int = 5) -> SearchResult | ToolError:
    """Return the ``k`` (1 to 10) passages that fit ``query`` best."""
    if not query.strip() or len(query) > MAX_ARGUMENT_CHARS:
        return ToolError(f"a query has 1 to {MAX_ARGUMENT_CHARS} characters")
    if not 1 <= k <= MAX_HITS:
        return ToolError(f"k is a number from 1 to {MAX_HITS}")
    hits = retriever.search(query, k)
    found = (FoundPassage(hit.passage.id, hit.passage.source_id, hit.passage.text, hit.score) for hit in hits)
    return SearchResult(query, tuple(found))


def read_passage(retriever: Retriever, passage_id: str) -> FoundPassage | ToolError:
    """Return the passage with this id, such as ``benchmark#3``."""
    sources = retriever.sources
    passage = sources.find_passage(passage_id.strip())
    if passage is None:
        source = sources.find(passage_id.strip().partition("#")[0])
        if source is None:
            return ToolError(f"there is no passage '{passage_id[:80]}'; sources are: {', '.join(sources.ids[:20])}")
        count = len(source.passages)
        return ToolError(f"{source.source_id} has the passages {source.source_id}#1 to {source.source_id}#{count}")
    neighbours = [f"{passage.source_id}#{passage.number + step}" for step in (-1, 1)]
    before, after = (neighbour if sources.find_passage(neighbour) else "" for neighbour in neighbours)
    return FoundPassage(passage.id, passage.source_id, passage.text, before=before, after=after)


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """A tool for a model; ``parameters`` is a JSON Schema."""

    name: str
    description: str
    parameters: JsonObject


def _parameters(**properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


TOOLS = (
    ToolDescription(
        "search_sources",
        "Finds the passages of the sources that fit a query best.",
        _parameters(
            query={"type": "string", "description": "words to look for"},
            k={"type": "integer", "minimum": 1, "maximum": MAX_HITS, "description": "how many passages"},
        ),
    ),
    ToolDescription(
        "read_passage",
        "Gives one passage of a source by its id, with the ids of its neighbours.",
        _parameters(passage_id={"type": "string", "description": "such as benchmark#3"}),
    ),
    ToolDescription(
        "calculate",
        "Computes exactly: + - * / ** %, parentheses, min, max, sum, mean, round, sqrt, percent_change(old, new).",
        _parameters(expression={"type": "string", "description": "such as percent_change(0.7, 3.8)"}),
    ),
)


def call_tool(retriever: Retriever, name: str, arguments: Mapping[str, object]) -> JsonObject:
    """Call the tool ``name`` with a model's arguments; safe on anything."""
    return _run_tool(retriever, name, arguments).as_json()


def _run_tool(
    retriever: Retriever, name: str, arguments: Mapping[str, object]
) -> SearchResult | FoundPassage | Calculation | ToolError:
    known = {tool.name: tool for tool in TOOLS}
    if name not in known:
        return ToolError(f"there is no tool '{name[:80]}'; there are: {', '.join(known)}")
    if name == "search_sources":
        query, k = arguments.get("query"), arguments.get("k", 5)
        if isinstance(query, str) and isinstance(k, int) and not isinstance(k, bool):
            return search_sources(retriever, query, k)
    elif name == "read_passage":
        passage_id = arguments.get("passage_id")
        if isinstance(passage_id, str):
            return read_passage(retriever, passage_id)
    else:
        expression = arguments.get("expression")
        if isinstance(expression, str):
            return calculate(expression)
    wanted = known[name].parameters["properties"]
    return ToolError(f"{name} takes {', '.join(wanted) if isinstance(wanted, Mapping) else ''} of the right kind")


SEARCH_TOOLS = ("search_sources", "read_passage")
"""The tools that the word ``search`` means."""

BUILTIN_TOOLS: Mapping[str, OfferedTool] = {
    row.name: OfferedTool(row.name, "", row.description, row.parameters) for row in TOOLS
}


class BuiltinTools:
    """The tools of this package over the sources of one debate."""

    def __init__(self, sources: SourceSet, limits: ToolLimits) -> None:
        self._retriever, self._limits = Retriever(sources), limits

    def check(self) -> None:
        """Check what would fail in the middle of a debate.

        Raises:
            InvalidInputError: the library that ranks passages is not installed.
        """
        if importlib.util.find_spec("bm25s") is None:
            raise InvalidInputError(
                "A seat is to search the sources, and the library that searches them is not installed.",
                "Install it with: pip install 'disputatio[evidence]', or leave search out of --tools.",
            )

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run the tool. A mistake of the seat is described in the result."""
        limit_s = self._limits.timeout_s
        try:
            # The first search builds the index, which takes seconds for long sources.
            async with asyncio.timeout(limit_s):
                answer = await asyncio.to_thread(call_tool, self._retriever, tool, arguments)
        except TimeoutError:
            return ToolResult(f"{tool} took more than {limit_s:g} seconds.", ToolFault.TIMED_OUT)
        except DisputatioError as failure:
            return ToolResult.of(failure.cause, self._limits, ToolFault.FAILED)
        error = answer.get("error")
        if isinstance(error, str) and error:
            return ToolResult.of(error, self._limits, ToolFault.FAILED)
        return ToolResult.of(render_answer(tool, answer), self._limits)


def render_answer(tool: str, answer: Mapping[str, Any]) -> str:
    """Render an answer as text; passages have their ids, so that a seat can quote them by source."""
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
