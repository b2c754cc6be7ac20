"""The HTTP client under the MCP library: every exchange ends with the call that it is made for.

This module imports httpx2 when it is imported, so import it only where a server is about to be reached.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import httpx2

from disputatio._http_client import LimitedClient
from disputatio._intake import SizeBound
from disputatio.tools.mcp_limits import CONNECT_S, LARGEST_ANSWER, MOST_LINES, end_now

_FAREWELL_S: Final = 1.0
"""Seconds for what is still sent when a call or a connection is over: that it is."""
_RESUMES: Final = "last-event-id"


class McpHttpClient(LimitedClient):
    """Limits each exchange by the time of its call, and by ``LARGEST_ANSWER`` and ``MOST_LINES``.

    The library gives up a call without closing its connection, and resumes streams that ended. So the end of the call
    is known here too, and nothing is resumed after it. The stream of messages that a server begins of its own accord
    is not asked for, because nothing here would read them.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(SizeBound(LARGEST_ANSWER, "an answer of an MCP server", MOST_LINES), CONNECT_S, **options)

    def end_of(self, request: httpx2.Request) -> float:
        """The end of the call; a little later for what is sent because it is over."""
        now, end = asyncio.get_running_loop().time(), end_now()
        if request.method == "DELETE":
            return now + _FAREWELL_S
        if end is None:
            return super().end_of(request)
        return end if request.method == "GET" else max(end, now + _FAREWELL_S)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send ``request``; a stream of the server's own messages is refused without asking."""
        if request.method == "GET" and _RESUMES not in request.headers:
            return httpx2.Response(405, request=request)
        return await super().send(request, **options)
