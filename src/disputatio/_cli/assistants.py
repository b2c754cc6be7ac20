"""``disputatio mcp``: debates for assistants, over the Model Context Protocol."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from disputatio._cli.given import kept_store
from disputatio._cli.options import StoreOption


def mcp(
    http: Annotated[
        bool, typer.Option("--http", metavar="", help="Serve over HTTP at /mcp, not over standard input and output.")
    ] = False,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Where HTTP is served.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="0 takes a free one.")] = 8765,
    workers: Annotated[
        bool, typer.Option("--workers", metavar="", help="Leave debates to `disputatio worker`; needs PostgreSQL.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Offer debates to an assistant as tools: start, follow, read, list, verify, cancel, and whether one is worth it.

    Keys and models are those of this process's environment. Over HTTP, DISPUTATIO_MCP_TOKEN is the token that clients
    must send; without it only this machine is served.
    """
    from disputatio._mcp.serving import TOKEN_VARIABLE, check_installed, serve_http, serve_stdio
    from disputatio.record.sql import SqlStore

    check_installed()
    opened = SqlStore(kept_store(store))

    async def serve() -> None:
        try:
            if http:
                await serve_http(opened, host, port, os.environ.get(TOKEN_VARIABLE, ""), workers=workers)
            else:
                await serve_stdio(opened, workers=workers)
        finally:
            await opened.aclose()

    asyncio.run(serve())
