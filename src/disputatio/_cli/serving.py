"""``disputatio serve`` and ``mcp``: debates over HTTP, and over the Model Context Protocol."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from disputatio._cli.given import command_line, kept_store, say_notes
from disputatio._cli.options import StoreOption
from disputatio._cli.streams import print_lines, tell
from disputatio.errors import InvalidInputError

_WHERE = "Where it listens"
_LIMITS = "Limits"


def serve(
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", rich_help_panel=_WHERE, help="Address.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", rich_help_panel=_WHERE, help="0 takes a free one.")
    ] = 8040,
    host_name: Annotated[
        list[str] | None,
        typer.Option(
            "--host-name",
            metavar="NAME",
            help="A name that requests may be sent to; repeatable, any where none is given.",
            rich_help_panel=_WHERE,
        ),
    ] = None,
    secure: Annotated[
        bool,
        typer.Option(
            "--secure",
            metavar="",
            help="Browsers reach it over TLS, through a proxy: cookies are sent over TLS alone.",
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
            help="Seconds that debates may go on for after SIGTERM; then they are put off to the next start.",
            rich_help_panel=_LIMITS,
        ),
    ] = 10.0,
    patience: Annotated[
        float,
        typer.Option(
            "--patience",
            metavar="S",
            min=0.1,
            help="Seconds that a client may take for the head of a request, and let its body rest; then 408.",
            rich_help_panel=_LIMITS,
        ),
    ] = 10.0,
    workers: Annotated[
        bool,
        typer.Option(
            "--workers",
            metavar="",
            help="Leave debates to `disputatio worker`, over a PostgreSQL store.",
            rich_help_panel=_LIMITS,
        ),
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="HOST",
            help="A host that evidence may be fetched from; repeatable, none where none is given.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Serve debates over HTTP: an API, live events and a web page.

    One process over SQLite needs nothing else. Debates that an earlier process left are taken up again. Without a key
    (`disputatio keys add NAME`) it listens to this machine only.
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
    settings = configured_store(command_line(store=store))
    say_notes(settings)
    service_choices = Choices(
        settings.store,
        keyless=_keyless(settings.store, host, loopback=is_loopback(host)),
        allow=frozenset(name.lower() for name in allow_host or ()),
        hosts=frozenset(name.lower() for name in host_name or ()),
        secure=secure,
        workers=workers,
    )
    listening = listener(host, port)
    at = listening.getsockname()[1]

    def ready() -> None:
        shown = f"[{host}]" if ":" in host else host
        print_lines(f"Disputatio serves http://{shown}:{at}  (store {settings.shown_store})")
        if service_choices.keyless:
            tell("There is no key, so it listens to this machine only. `disputatio keys add NAME` makes one.")
        tell("Ctrl-C stops it; debates go on at the next start.")

    async def running() -> None:
        tune_gc()
        await run_server(Service(service_choices, concurrency=concurrency), listening, drain, ready, patience)

    asyncio.run(running())


def _keyless(store: str, host: str, *, loopback: bool) -> bool:
    """Whether there is no key; then only this machine may be listened to.

    Raises:
        InvalidInputError: others could reach it.
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
            f"There is no key, and anybody who reaches {host} could spend on debates and read all of them.",
            "Make a key first: disputatio keys add NAME --scope run. Or leave --host out.",
        )
    return not keyed


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
