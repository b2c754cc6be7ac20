"""Read-only tools for seats: search, a calculator, and MCP servers that the user names."""
