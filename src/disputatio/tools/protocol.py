"""What a tool is to a seat: what is offered, what is asked of it, and what it brings.

This is the narrow waist between the turn of a seat, which decides what is looked up, and whoever carries it out. A
tool only reads. Its result is data, whoever wrote it: it is cleaned and cut here, and fenced where it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from disputatio.kernel import JsonObject
from disputatio.motion import clean, one_line
from disputatio.record.text import canonical, digest

SUMMARY_CHARS = 160


class ToolFault(StrEnum):
    """Why a tool brought nothing. Each of them is a result that the seat sees."""

    FAILED = "failed"
    """The tool itself says that it could not answer."""
    MISUSED = "misused"
    """The arguments could not be read."""
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    """The server is gone or does not speak the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLimits:
    """How much a seat may look up before one turn.

    Attributes:
        rounds: how often it is asked which tools to call, at most.
        calls: the most calls in one round.
        result_chars: the most characters of a result that a seat is shown; the rest is left out, and that is said.
        timeout_s: seconds until a call of a tool counts as timed out.
    """

    rounds: int = 2
    calls: int = 3
    result_chars: int = 6_000
    timeout_s: float = 30.0

    def as_json(self) -> JsonObject:
        """The limits as a record keeps them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as a seat is told of it.

    Attributes:
        name: what seats call it: ``calculate``, or ``files.read_text`` for a tool of the server ``files``.
        server: the server's name; empty for a tool of this package.
        description: what it does, in its maker's words, cleaned.
        parameters: JSON Schema of its arguments, as its maker gave it.
    """

    name: str
    server: str
    description: str
    parameters: JsonObject

    def as_json(self) -> JsonObject:
        """The tool as a record names it; the description and the schema are named by their SHA-256."""
        return {
            "tool": self.name,
            "server": self.server,
            "description": digest(self.description),
            "schema": digest(canonical(self.parameters)),
        }

    @property
    def texts(self) -> dict[str, str]:
        """The texts that ``as_json`` names, by hash."""
        return {digest(text): text for text in (self.description, canonical(self.parameters))}


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call that a seat wants made. ``misuse`` says why its arguments could not be read; then none is made."""

    tool: str
    arguments: JsonObject
    misuse: str = ""

    @property
    def key(self) -> str:
        """The same for the same call."""
        return canonical({"tool": self.tool, "arguments": self.arguments})


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call of a tool brought.

    Attributes:
        text: the result, or what went wrong in a sentence; cleaned, and never longer than the limit.
        fault: why there is no result; None where there is one.
        left_out: how many characters were cut from the end of the text.
    """

    text: str
    fault: ToolFault | None = None
    left_out: int = 0

    @classmethod
    def of(cls, text: str, limits: ToolLimits, fault: ToolFault | None = None) -> ToolResult:
        """``text`` cleaned and cut to the limit."""
        # Cleaning looks at each character: what certainly goes is cut before it.
        most = limits.result_chars
        shown = clean(text[: 4 * most]).strip()
        return cls(shown[:most], fault, max(0, len(text[4 * most :]) + len(shown) - most))

    @property
    def summary(self) -> str:
        """Its beginning on one line, for people."""
        return one_line(self.text[: 4 * SUMMARY_CHARS], SUMMARY_CHARS)


class Toolbox(Protocol):
    """The tools of one debate."""

    @property
    def limits(self) -> ToolLimits:
        """How much a seat may look up."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was asked for and is not offered, in sentences."""

    def tools_for(self, seat: str) -> tuple[OfferedTool, ...]:
        """The tools of one seat; none where it has none."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool. Everything that can go wrong is in the result; only cancellation is passed on."""

    async def aclose(self) -> None:
        """Let go of servers. Safe to repeat."""


def record_offer(toolbox: Toolbox, seats: tuple[str, ...]) -> tuple[JsonObject, dict[str, str]]:
    """What a record keeps of the tools that ``seats`` are offered, with the texts it names; empty where none are."""
    offered: dict[str, OfferedTool] = {}
    users: dict[str, list[str]] = {}
    for seat in seats:
        for tool in toolbox.tools_for(seat):
            offered[tool.name] = tool
            users.setdefault(tool.name, []).append(seat)
    if not offered:
        return {}, {}
    rows = [{**tool.as_json(), "seats": users[name]} for name, tool in sorted(offered.items())]
    texts = {name: text for tool in offered.values() for name, text in tool.texts.items()}
    return {**toolbox.limits.as_json(), "offered": rows}, texts


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server as the user names it.

    Attributes:
        name: a short name; its tools are called ``NAME.TOOL``.
        command: the program and its arguments, for a server that is started; empty for one that is reached.
        url: the address of a server that is reached over streamable HTTP.
        variables: environment variables that a started server is given, with their values; the value of the only
            one is the bearer token of a server that is reached. They are never shown or recorded.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
