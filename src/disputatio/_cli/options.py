"""The options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_WHO = "Who debates"
_WHAT = "What is debated"
_PANEL = "How a panel decides"
_LIMITS = "Ceilings"
_TOOLS = "What seats may look up"
_OUTPUT = "Output"

SeatOption = Annotated[
    list[str] | None,
    typer.Option(
        "--seat",
        metavar="SEAT=PROVIDER:MODEL",
        help="Who sits where; repeatable. 'all' covers every seat: --seat all=ollama:qwen3:8b",
        rich_help_panel=_WHO,
    ),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Address of an OpenAI-compatible server.", rich_help_panel=_WHO),
]
ConfigOption = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Settings in TOML or YAML.", rich_help_panel=_WHO),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any key of the configuration file, such as limits.closing_words=150; repeatable.",
        rich_help_panel=_WHO,
    ),
]
ToolsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="SEAT=TOOL,TOOL",
        help="What a seat may look up before it speaks: search, calculate, an MCP server or SERVER.TOOL; repeatable.",
        rich_help_panel=_TOOLS,
    ),
]
McpOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mcp",
        metavar="NAME=COMMAND",
        help="An MCP server: the command that starts it, or its address (http://...); repeatable.",
        rich_help_panel=_TOOLS,
    ),
]
PromptsOption = Annotated[
    Path | None,
    typer.Option("--prompts", metavar="FOLDER", help="Your own prompt files; recorded.", rich_help_panel=_WHAT),
]
BudgetUsdOption = Annotated[
    str | None,
    typer.Option("--budget-usd", metavar="X", help="Ceiling in US dollars.", rich_help_panel=_LIMITS),
]
BudgetTokensOption = Annotated[
    str | None,
    typer.Option("--budget-tokens", metavar="N", help="Ceiling in tokens, input and output.", rich_help_panel=_LIMITS),
]
MaxCallsOption = Annotated[
    str | None,
    typer.Option("--max-calls", metavar="N", help="Ceiling in calls, repeated ones included.", rich_help_panel=_LIMITS),
]
StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="Where records are kept: a path or a database URL."),
]
DebatersOption = Annotated[
    str | None,
    typer.Option(
        "--debaters",
        metavar="NAMES",
        help="The debaters of a panel between commas, in the order in which they speak; else those --seat names.",
        rich_help_panel=_WHO,
    ),
]
RoundsOption = Annotated[
    str | None,
    typer.Option("--rounds", metavar="N", help="Most rounds, where a format has several.", rich_help_panel=_WHAT),
]
OptionsOption = Annotated[
    str | None,
    typer.Option(
        "--options",
        metavar="WORDS",
        help="What a panel votes on, between commas: release,revise,escalate unless said otherwise.",
        rich_help_panel=_PANEL,
    ),
]
DecisionOption = Annotated[
    str | None,
    typer.Option(
        "--decision",
        metavar="RULE",
        help="threshold_vote, majority, super-majority, unanimity or weighted.",
        rich_help_panel=_PANEL,
    ),
]
ThresholdOption = Annotated[
    str | None,
    typer.Option(
        "--threshold",
        metavar="N",
        help="Votes that threshold_vote needs; more than half of the debaters unless said otherwise.",
        rich_help_panel=_PANEL,
    ),
]
EscalateOption = Annotated[
    str | None,
    typer.Option(
        "--escalate",
        metavar="WHERE",
        help="Who takes an escalated decision: person, a format such as structured, or the address of a callback.",
        rich_help_panel=_PANEL,
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", metavar="", help="Print the record as JSON.", rich_help_panel=_OUTPUT)
]
PlainOption = Annotated[
    bool, typer.Option("--plain", metavar="", help="Plain lines: no colours, nothing redrawn.", rich_help_panel=_OUTPUT)
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", metavar="", help="Estimate calls, tokens and cost. Call no model."),
]
