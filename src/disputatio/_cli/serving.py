"""``disputatio serve`` and ``mcp``: serve debates over HTTP and over the Model Context Protocol."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from typing import Annotated

import typer

from disputatio._cli.arguments import make_arguments, print_notes
from disputatio._cli.options import StoreOption
from disputatio._cli.stores import store_address
from disputatio._cli.streams import print_lines, tell
from disputatio.errors import InvalidInputError

_WHERE = "Address"
_LIMITS = "Limits"


def serve(
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", rich_help_panel=_WHERE, help="The address to listen at.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option("--port", metavar="N", rich_help_panel=_WHERE, help="The port to listen at. 0 takes a free one."),
    ] = 8040,
    host_name: Annotated[
        list[str] | None,
        typer.Option(
            "--host-name",
            metavar="NAME",
            help="Accept only requests that are sent to this host name. Repeatable.",
            rich_help_panel=_WHERE,
        ),
    ] = None,
    secure: Annotated[
        bool,
        typer.Option(
            "--secure",
            metavar="",
            help="Browsers use TLS through a proxy, so cookies are sent over TLS only.",
            rich_help_panel=_WHERE,
        ),
    ] = False,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, help="Most debates at once.", rich_help_panel=_LIMITS)
    ] = 50,
    drain: Annotated[
        float,
        typer.Option(
            "--drain",
            metavar="S",
            min=0,
            help="Seconds that debates may continue after SIGTERM. Then they wait for the next start.",
            rich_help_panel=_LIMITS,
        ),
    ] = 10.0,
    patience: Annotated[
        float,
        typer.Option(
            "--patience",
            metavar="S",
            min=0.1,
            help="Seconds to wait for the head of a request, and for the next part of its body. Then 408.",
            rich_help_panel=_LIMITS,
        ),
    ] = 10.0,
    workers: Annotated[
        bool,
        typer.Option(
            "--workers",
            metavar="",
            help="Let `disputatio worker` run the debates. Needs PostgreSQL.",
            rich_help_panel=_LIMITS,
        ),
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="HOST",
            help="A host from which evidence may be fetched. Repeatable. By default there is none.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Serve debates over HTTP: an API, live events and a web page.

    One process over SQLite needs nothing else. It continues debates that an earlier process did not finish. Without a
    key (`disputatio keys add NAME`) it serves this machine only.
    """
    try:
        from disputatio._service.running import is_loopback, listener
        from disputatio._service.running import serve as run_server
        from disputatio._service.service import Choices, Service
    except ImportError as missing:
        raise InvalidInputError(
            f"A library of the service is not installed ({missing.name}).", "pip install 'disputatio[service]'"
        ) from None
    from disputatio.config.process import configured_store
    from disputatio.engine.process_tuning import raise_file_limit, tune_gc

    raise_file_limit()
    settings = configured_store(make_arguments(store=store))
    print_notes(settings)
    service_choices = Choices(
        settings.store,
        keyless=_keyless(settings.store, host, loopback=is_loopback(host)),
        allow=frozenset(name.lower() for name in allow_host or ()),
        hosts=frozenset(name.lower() for name in host_name or ()),
        secure=secure,
        workers=workers,
    )
    socket = listener(host, port)

    def ready() -> None:
        shown = f"[{host}]" if ":" in host else host
        print_lines(f"Disputatio serves http://{shown}:{socket.getsockname()[1]}  (store {settings.shown_store})")
        if service_choices.keyless:
            tell("There is no key, so it serves this machine only. `disputatio keys add NAME` makes one.")
        tell("Ctrl-C stops it. Debates continue at the next start.")

    async def running() -> None:
        tune_gc()
        await run_server(Service(service_choices, concurrency=concurrency), socket, drain, ready, patience)

    asyncio.run(running())


def _keyless(store: str, host: str, *, loopback: bool) -> bool:
    """Whether there is no key, so that only this machine is served.

    Raises:
        InvalidInputError: there is no key, and other machines could reach the service.
    """
    from disputatio._service.database import Database
    from disputatio._service.key_book import KeyBook

    database = Database(store)
    try:
        keyed = KeyBook(database).any()
    finally:
        database.close()
    if not keyed and not loopback:
        raise InvalidInputError(
            f"There is no key, so anybody who reaches {host} could spend money on debates and read all of them.",
            "Make a key first: disputatio keys add NAME --scope run. Or leave --host out.",
        )
    return not keyed


def mcp(
    http: Annotated[
        bool, typer.Option("--http", metavar="", help="Serve over HTTP at /mcp, instead of standard input and output.")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="The address to listen at, with --http.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="N", help="The port to listen at. 0 takes a free one.")
    ] = 8765,
    workers: Annotated[
        bool, typer.Option("--workers", metavar="", help="Let `disputatio worker` run the debates. Needs PostgreSQL.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Offer tools to an assistant: start, follow, read, list, verify and cancel debates, or ask whether to run one.

    Keys and models come from this process's environment. Over HTTP, clients must send the token in
    DISPUTATIO_MCP_TOKEN. Without a token only this machine is served.
    """
    from disputatio._mcp.serving import TOKEN_VARIABLE, check_installed, serve_http, serve_stdio
    from disputatio.record.sql import SqlStore

    check_installed()

    async def serve() -> None:
        async with aclosing(SqlStore(store_address(store))) as opened:
            if http:
                await serve_http(opened, host, port, os.environ.get(TOKEN_VARIABLE, ""), workers=workers)
            else:
                await serve_stdio(opened, workers=workers)

    asyncio.run(serve())
