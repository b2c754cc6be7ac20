"""What settings know of an MCP server; how it is started or reached is in ``servers``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
