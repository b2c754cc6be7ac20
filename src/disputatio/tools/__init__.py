"""Read-only tools that seats may use before they speak: search, a calculator, and MCP servers the user names."""

from typing import TYPE_CHECKING

from disputatio.tools._front import __dir__ as __dir__
from disputatio.tools._front import __getattr__ as __getattr__

if TYPE_CHECKING:
    from disputatio.tools.box import MOST_OFFERED, DebateTools, open_tools, tools_differ
    from disputatio.tools.choosing import (
        CHOICE_FORM,
        choice_part,
        choice_schema,
        described,
        is_choice,
        plain_arguments,
        read_choice,
    )
    from disputatio.tools.house import HOUSE_TOOLS, SEARCH
    from disputatio.tools.mcp_server import McpServer
    from disputatio.tools.offer import OfferedTool, Toolbox, ToolFault, ToolLimits, ToolRequest, ToolResult, offer_json
    from disputatio.tools.servers import AnnouncedTools, McpConnection

__all__ = [
    "CHOICE_FORM",
    "HOUSE_TOOLS",
    "MOST_OFFERED",
    "SEARCH",
    "AnnouncedTools",
    "DebateTools",
    "McpConnection",
    "McpServer",
    "OfferedTool",
    "ToolFault",
    "ToolLimits",
    "ToolRequest",
    "ToolResult",
    "Toolbox",
    "choice_part",
    "choice_schema",
    "described",
    "is_choice",
    "offer_json",
    "open_tools",
    "plain_arguments",
    "read_choice",
    "tools_differ",
]
