"""The stores that every store test runs over: in memory, SQLite, and PostgreSQL where it can be started."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from disputatio.record.memory import MemoryStore
from disputatio.record.sql import SqlStore
from disputatio.record.store import Store

PORTS = Path(__file__).parents[2] / "docs" / "reference" / "ports.md"


def documented_store() -> Store:
    """The store that the reference of the ports has as its example."""
    blocks = re.findall(r"^```python\n(.*?)^```", PORTS.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (program,) = (block for block in blocks if "class ListStore" in block)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(program.partition("\nstore: Store")[0], str(PORTS), "exec"), names)  # noqa: S102  (our own document)
    made: Store = names["ListStore"]()
    return made


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


@pytest.fixture(params=["memory", "documented", "sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store of each kind."""
    if request.param in {"memory", "documented"}:
        yield MemoryStore() if request.param == "memory" else documented_store()
        return
    url = tmp_path / "store.sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    opened = SqlStore(str(url))
    yield opened
    await opened.aclose()
