"""Find the store of a command, open it, and find a debate in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from disputatio._cli.arguments import make_arguments
from disputatio.errors import InvalidInputError, StoreError, UnknownDebateError

if TYPE_CHECKING:
    from disputatio.config import Arguments, Settings
    from disputatio.record.sql import SqlStore
    from disputatio.record.store import Store


def configured_address(arguments: Arguments) -> str:
    """The address of the store that ``arguments``, the environment or the configuration file name."""
    from disputatio.config.process import configured_store

    settings = configured_store(arguments)
    refuse_memory_store(settings.store)
    return settings.store


def store_address(store: str | None) -> str:
    """The address of the store of a command that runs no debate."""
    return locate_store(store)[0]


def locate_store(store: str | None) -> tuple[str, bool]:
    """The address of the store, and whether it is the default one.

    Settings are resolved only if a configuration file may name the store. That takes as long as the rest of a list.
    """
    from disputatio.record.database import find_plain_store

    found = find_plain_store(store, os.environ, Path.cwd())
    if found is None:
        from disputatio.config.process import configured_store

        settings = configured_store(make_arguments(store=store))
        found = settings.store, settings.sources.get("store") == "default"
    refuse_memory_store(found[0])
    return found


def refuse_memory_store(address: str) -> None:
    """Refuse a store that would be gone with this process.

    Raises:
        InvalidInputError: the store is in memory.
    """
    if address in {"sqlite://", "sqlite:///"} or address.endswith(":memory:"):
        raise InvalidInputError(
            "A store in memory is gone when this command ends, and the debate with it.", "Give a file: --store PATH."
        )


def with_separate_store(settings: Settings, arguments: Arguments, file: str) -> Settings:
    """``settings`` with a store file of its own, which keeps experiments out of the list of debates.

    It lies next to the usual store. A store that ``--store`` names, and a database server, stay.
    """
    from dataclasses import replace

    if arguments.value("store") is None and settings.store.startswith("sqlite:///"):
        settings = replace(settings, store=f"{settings.store.rpartition('/')[0]}/{file}")
    refuse_memory_store(settings.store)
    return settings


@contextmanager
def open_store(address: str) -> Iterator[SqlStore]:
    """Open a store for reading. Closing it lets SQLite remove the files that it has next to its database."""
    import asyncio

    from disputatio.record.sql import SqlStore

    store = SqlStore(address, create=False)
    try:
        yield store
    finally:
        asyncio.run(store.aclose())


@contextmanager
def open_debate(address: str, prefix: str) -> Iterator[tuple[Store, str]]:
    """Open a store that has the one debate whose id begins with ``prefix``, and find that id.

    Raises:
        UnknownDebateError: no debate or several fit, or the debate that fits still waits for a worker.
    """
    from disputatio.record.memory import load_from_file

    loaded = load_from_file(address, prefix)
    if loaded is not None:
        yield loaded, loaded.listed.id
        return
    with open_store(address) as store:
        yield store, find_debate_id(store, prefix)


def find_debate_id(store: SqlStore, prefix: str) -> str:
    """The id of the one recorded debate whose id begins with ``prefix``.

    Raises:
        UnknownDebateError: no debate or several fit, or the debate that fits still waits for a worker.
    """
    from disputatio.record.verified import find_debate

    try:
        return find_debate(store, prefix)
    except UnknownDebateError as unknown:
        failure = unknown
    if prefix and not store.find(prefix):
        from disputatio.workers.job_table import JobTable
        from disputatio.workers.port import not_started

        # Reading the job table takes a lock, which fails in a store that is read-only. Such a store has no jobs.
        with suppress(StoreError):
            waiting = JobTable(store).without_record(prefix)
            failure = not_started(waiting[0]) if len(waiting) == 1 else failure
    raise failure
