"""The stores that every store test runs over: in memory, SQLite, and PostgreSQL where it can be started."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from disputatio.record.memory import MemoryStore
from disputatio.record.sql import SqlStore
from disputatio.record.store import Store


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database that does not exist yet, or is empty."""
    if request.param == "postgresql":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return str(tmp_path / "records" / "store.sqlite")


Opening = Callable[[], SqlStore]


@pytest.fixture
async def open_store(store_url: str) -> AsyncIterator[Opening]:
    """Opens the store of a test, as often as it is called; all are closed at its end."""
    opened: list[SqlStore] = []

    def opening() -> SqlStore:
        opened.append(SqlStore(store_url))
        return opened[-1]

    yield opening
    for store in opened:
        await store.aclose()


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store of each kind."""
    if request.param == "memory":
        yield MemoryStore()
        return
    url = tmp_path / "store.sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    opened = SqlStore(str(url))
    yield opened
    await opened.aclose()
