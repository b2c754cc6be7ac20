"""An MCP server made with the official library. Usage: python library_server.py [PORT]; without one, over stdio."""

from __future__ import annotations

import sys
from typing import Literal

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("library")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def population(town: str, year: Literal["2020", "2024"] = "2024", per_day: int | None = None) -> str:
    """Counts the people of a town."""
    return f"{town} had 1,200 people in {year}" + (f", {per_day} a day" if per_day else "")


@server.tool()
def rename(town: str) -> str:
    """Gives a town another name."""
    return town


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
