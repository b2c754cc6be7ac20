"""The interface of tools for seats: offers, requests and results.

A seat's turn decides what to look up; a toolbox does it. Tools only read. A result is untrusted data: it is cleaned and
cut here, and fenced where it is shown.
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
    """Why a tool gave no result. The seat sees it."""

    FAILED = "failed"
    """The tool reports that it could not answer."""
    MISUSED = "misused"
    """The arguments could not be read."""
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    """The server is gone or does not speak the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLimits:
    """How much a seat may look up before one turn.

    Attributes:
        rounds: the most rounds of asking which tools to call.
        calls: the most calls in one round.
        result_chars: the most characters of a result shown to a seat, which is told how many were cut.
        timeout_s: seconds until a call has timed out.
    """

    rounds: int = 2
    calls: int = 3
    result_chars: int = 6_000
    timeout_s: float = 30.0

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool offered to a seat.

    Attributes:
        name: ``calculate``, or ``files.read_text`` for a tool of the server ``files``.
        server: the server's name; empty for a tool of this package.
        description: its maker's words, cleaned.
        parameters: its maker's JSON Schema of the arguments.
    """

    name: str
    server: str
    description: str
    parameters: JsonObject

    def as_json(self) -> JsonObject:
        """Return the recorded form, with SHA-256 in place of description and schema."""
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
    """A call that a seat wants. ``misuse`` says why its arguments could not be read; it is then not made."""

    tool: str
    arguments: JsonObject
    misuse: str = ""

    @property
    def key(self) -> str:
        """Equal for equal calls."""
        return canonical({"tool": self.tool, "arguments": self.arguments})


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call.

    Attributes:
        text: the result, or what went wrong; cleaned and within the limit.
        fault: why there is no result, or None.
        left_out: number of characters cut from the end.
    """

    text: str
    fault: ToolFault | None = None
    left_out: int = 0

    @classmethod
    def of(cls, text: str, limits: ToolLimits, fault: ToolFault | None = None) -> ToolResult:
        """Clean ``text`` and cut it to the limit."""
        # Cut most of a long text first: cleaning looks at each character.
        most = limits.result_chars
        shown = clean(text[: 4 * most]).strip()
        return cls(shown[:most], fault, max(0, len(text[4 * most :]) + len(shown) - most))

    @property
    def summary(self) -> str:
        """The beginning on one line, for people."""
        return one_line(self.text[: 4 * SUMMARY_CHARS], SUMMARY_CHARS)


class Toolbox(Protocol):
    """The tools of one debate."""

    @property
    def limits(self) -> ToolLimits:
        """How much a seat may look up."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about tools that were requested but are not offered."""

    def tools_for(self, seat: str) -> tuple[OfferedTool, ...]:
        """Return the tools of one seat, which may be none."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool. The result describes all failures; only cancellation is raised."""

    async def aclose(self) -> None:
        """Close all servers. Safe to repeat."""


def record_offer(toolbox: Toolbox, seats: tuple[str, ...]) -> tuple[JsonObject, dict[str, str]]:
    """Return the recorded offers to ``seats`` and the texts they name; empty without offers."""
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
    """A server as the user names it, without its state.

    Attributes:
        name: a short name; its tools are called ``NAME.TOOL``.
        command: program and arguments of a server to start, else empty.
        url: the streamable HTTP address of a server to reach, else empty.
        variables: environment variables of a started server. For a reached server, the value of the only one is its
            bearer token. They are never shown or recorded.
    """

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
