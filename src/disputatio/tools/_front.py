"""The modules of this package and the names in each; see ``disputatio._rooms``."""

from __future__ import annotations

from typing import Final

from disputatio._rooms import front

_ROOMS: Final = {
    "box": ("MOST_OFFERED", "DebateTools", "open_tools", "tools_differ"),
    "choosing": (
        "CHOICE_FORM",
        "choice_part",
        "choice_schema",
        "described",
        "is_choice",
        "plain_arguments",
        "read_choice",
    ),
    "house": ("HOUSE_TOOLS", "SEARCH"),
    "mcp_server": ("McpServer",),
    "offer": ("OfferedTool", "Toolbox", "ToolFault", "ToolLimits", "ToolRequest", "ToolResult", "offer_json"),
    "servers": ("AnnouncedTools", "McpConnection"),
}

__getattr__, __dir__ = front("disputatio.tools", _ROOMS)
