"""What seats looked up before their turns, as people read it: one line for each call, and the whole result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from disputatio.kernel import JsonObject
from disputatio.motion import clean, one_line
from disputatio.record.events import ToolCalled
from disputatio.record.text import canonical
from disputatio.report.amounts import spoken

_ARGUMENT_CHARS = 80


def offered(tools: JsonObject) -> str:
    """Which seats may use which tools, on one line, from what the record keeps of them; empty where none may."""
    rows: Any = tools.get("offered", ())
    by_seats: dict[str, list[str]] = {}
    for row in rows:
        seats = ", ".join(one_line(str(seat), 40) for seat in row.get("seats", ()))
        by_seats.setdefault(seats, []).append(one_line(str(row.get("tool")), 80))
    return "; ".join(f"{seats}: {', '.join(names)}" for seats, names in by_seats.items())


@dataclass(frozen=True, slots=True)
class Consultation:
    """One call of a tool.

    Attributes:
        tool: its name; ``server`` is the MCP server's, empty for a tool of this package.
        arguments: what the seat called it with.
        summary: the beginning of the result on one line.
        fault: why it brought nothing, as a fixed word; empty where it did.
        left_out: characters that were cut from the end of the result.
        latency_ms: how long it took.
        result: the SHA-256 of the result's text.
        text: the result as the seat was shown it; None where the texts of the record are not at hand.
    """

    tool: str
    server: str
    arguments: JsonObject
    summary: str
    fault: str
    left_out: int
    latency_ms: int
    result: str
    text: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, event: ToolCalled, texts: Mapping[str, str]) -> Consultation:
        """The consultation in ``event``, with the text it names."""
        text = texts.get(event.result)
        return cls(
            tool=one_line(event.tool),
            server=one_line(event.server),
            arguments=event.arguments,
            summary=one_line(event.summary),
            fault=one_line(event.fault),
            left_out=event.left_out,
            latency_ms=event.latency_ms,
            result=event.result,
            text=None if text is None else clean(text),
        )

    @property
    def call(self) -> str:
        """The tool with its arguments, such as ``calculate(expression="3.8 - 0.7")``."""
        arguments = ", ".join(
            f"{one_line(name, 40)}={one_line(canonical(value), _ARGUMENT_CHARS)}"
            for name, value in self.arguments.items()
        )
        return f"{self.tool}({arguments})"

    @property
    def line(self) -> str:
        """The call and the beginning of what came of it."""
        cut = f" ({self.left_out:,} more characters were not shown to it)" if self.left_out else ""
        if self.fault:
            return f"{self.call}: no result, {spoken(self.fault)}: {self.summary}{cut}"
        return f"{self.call}: {self.summary or 'an empty result'}{cut}"
