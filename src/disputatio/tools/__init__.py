"""Read-only tools that seats may use before they speak: search, a calculator, and MCP servers the user names."""
