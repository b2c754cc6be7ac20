"""A list read from a file without a database library says what the store says, or leaves it to the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from disputatio.record.database import list_file
from disputatio.record.memory import load_from_file
from disputatio.record.sql import SqlStore
from record_makers import Pen, asked, closed, opened


@pytest.fixture
async def held(tmp_path: Path) -> Path:
    """A store with three debates, one of them over; its folder's name has a space and a letter that is not ASCII."""
    folder = tmp_path / "día 1"
    folder.mkdir()
    store = SqlStore(str(folder / "debates.sqlite"))
    for name in ("d1", "d3", "d2"):
        pen = Pen(name)
        await store.append(pen.write(opened()))
        await store.append(pen.write(asked(1), *([closed()] if name == "d2" else [])))
    await store.aclose()
    return folder / "debates.sqlite"


def changed(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)


async def test_it_lists_what_the_store_lists_in_its_order(held: Path) -> None:
    store = SqlStore(str(held), create=False)
    rows = store.debates()
    assert len(rows) == 3
    assert list_file(f"sqlite:///{held}") == rows, "while the store is open"
    await store.aclose()
    assert list_file(f"sqlite:///{held}") == rows
    assert [path.name for path in held.parent.iterdir()] == [held.name], "nothing is left beside the file"


async def test_a_damaged_text_is_listed_as_the_store_lists_it(held: Path) -> None:
    changed(held, "UPDATE debates SET motion = CAST(X'41FF42' AS TEXT) WHERE id = 'd1'")
    store = SqlStore(str(held), create=False)
    rows = store.debates()
    await store.aclose()
    assert list_file(f"sqlite:///{held}") == rows
    assert "A\\xffB" in {row.motion for row in rows}


@pytest.mark.parametrize("damage", ["", "UPDATE events SET body = CAST(X'41FF42' AS TEXT)", "DELETE FROM texts"])
async def test_a_debate_is_read_as_the_store_reads_it(held: Path, damage: str) -> None:
    changed(held, damage)
    store = SqlStore(str(held), create=False)
    for debate in ("d1", "d2", "d3"):
        filed = load_from_file(f"sqlite:///{held}", debate)
        assert filed is not None
        assert filed.row(debate) == store.row(debate)
        assert list(filed.read(debate)) == list(store.read(debate))
        assert filed.texts(debate) == store.texts(debate)
        assert filed.find("d") == [debate]
        assert filed.row("d") is None
    await store.aclose()


@pytest.mark.parametrize("prefix", ["", "d", "D1", "d4"])
async def test_no_debate_or_several_are_left_to_the_store(held: Path, prefix: str) -> None:
    assert load_from_file(f"sqlite:///{held}", prefix) is None


def spoilt(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:100] + b"\0" * 5_000)


def emptied(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda file: changed(file, "UPDATE alembic_version SET version_num = '0001'"), id="older tables"),
        pytest.param(lambda file: changed(file, "UPDATE alembic_version SET version_num = '9999'"), id="newer tables"),
        pytest.param(lambda file: changed(file, "DROP TABLE debates"), id="no debates"),
        pytest.param(lambda file: changed(file, "DROP TABLE alembic_version"), id="another program's"),
        pytest.param(spoilt, id="damaged"),
        pytest.param(emptied, id="empty"),
        pytest.param(Path.unlink, id="not there"),
    ],
)
async def test_what_is_not_in_order_is_left_to_the_store(held: Path, damage: Callable[[Path], None]) -> None:
    damage(held)
    assert list_file(f"sqlite:///{held}") is None
    assert load_from_file(f"sqlite:///{held}", "d1") is None


@pytest.mark.parametrize("sign", ["?", "#", "%"])
async def test_an_address_with_signs_that_mean_something_is_left(held: Path, sign: str) -> None:
    """An address with signs that mean something is left to the store."""
    odd = held.rename(held.with_name(f"a{sign}b.sqlite"))
    assert list_file(f"sqlite:///{odd}") is None


@pytest.mark.parametrize(
    "address",
    [
        *("sqlite://", "sqlite:///", "sqlite:///:memory:", "postgresql://x@nowhere/y"),
        *("sqlite:////tmp", f"sqlite:////{'n' * 5_000}", "sqlite:////nul\0"),
    ],
)
def test_other_addresses_are_left_to_the_store(address: str) -> None:
    assert list_file(address) is None
