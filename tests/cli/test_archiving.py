"""``archive`` takes finished debates out of the store, ``restore`` brings them back, and each file verifies."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from cli_commands import Call

from disputatio.record.sql import SqlStore
from record_makers import Pen, asked, closed, opened


@pytest.fixture
async def store(bare: Path) -> str:
    """A store with two finished debates, one from another year, one that still runs, and one that was altered."""
    path = str(bare / "archived.sqlite")
    kept = SqlStore(path)
    for debate, year, events in (
        ("aa01", 2024, (opened("Old?"), asked(), closed())),
        ("aa02", 2024, (opened("Stopped?"), asked())),
        ("aa03", 2026, (opened("New?"), asked(), closed())),
        ("aa04", 2024, (opened("Altered?"), asked(), closed())),
    ):
        await kept.append(Pen(debate).write(*events, at=f"{year}-01-31T12:00:00.000000Z"))
    await kept.aclose()
    _alter(path)
    return path


def _alter(path: str) -> None:
    import sqlite3

    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE events SET body = body || ' ' WHERE debate = 'aa04' AND seq = 2")
    connection.close()


def test_old_debates_leave_and_come_back_unchanged(call: Call, store: str, bare: Path) -> None:
    head = call("verify", "aa01", "--store", store).out.split()[-1]
    ended = call("archive", "old", "--before", "2025-01-01", "--store", store)
    assert ended.code == 6, "one of them was altered"
    assert "aa04" in ended.err
    assert "1 of 2 finished debates" in ended.out
    listed = json.loads(call("list", "--json", "--store", store).out)
    assert {row["id"] for row in listed} == {"aa02", "aa03", "aa04"}
    file = "old/2024-01/aa01.jsonl.gz"
    checked = call("restore", "--check", file, "--store", store)
    assert (checked.code, checked.out.split()[-1]) == (0, head)
    assert call("restore", file, "--store", store).code == 0
    assert call("verify", "aa01", "--head", head, "--store", store).code == 0
    assert "already" in call("restore", file, "--store", store).out


def test_a_copy_leaves_the_store_as_it_is(call: Call, store: str, bare: Path) -> None:
    before = call("list", "--json", "--store", store).out
    assert call("archive", "copies", "--before", "2025-01-01", "--keep", "--store", store).code == 6
    assert call("list", "--json", "--store", store).out == before
    assert [row.name for row in bare.glob("copies/*/*")] == ["aa01.jsonl.gz"]


def test_days_are_counted_back_from_today(call: Call, store: str, bare: Path) -> None:
    assert "0 of 0" in call("archive", "old", "--before", "3000d", "--store", store).out
    assert "aa01" in call("list", "--json", "--store", store).out


@pytest.mark.parametrize("day", ["", "soon", "2026-13-01", "2026-02-30", "0d", "999999d", "99999999999999d"])
def test_a_day_that_is_none_is_refused(call: Call, store: str, day: str) -> None:
    ended = call("archive", "old", "--before", day, "--store", store)
    assert ended.code == 2
    assert "--before" in ended.err


def test_nothing_is_restored_where_one_file_was_altered(call: Call, store: str, bare: Path) -> None:
    call("archive", "old", "--before", "2025-01-01", "--store", store)
    whole = bare / "old/2024-01/aa01.jsonl.gz"
    altered = bare / "altered.jsonl.gz"
    altered.write_bytes(gzip.compress(gzip.decompress(whole.read_bytes()).replace(b"Old?", b"New?")))
    ended = call("restore", str(whole), str(altered), "--store", store)
    assert ended.code == 6
    assert "altered" in ended.err
    assert "aa01" not in call("list", "--json", "--store", store).out


def test_a_folder_that_cannot_be_written_loses_nothing(call: Call, store: str, bare: Path) -> None:
    (bare / "blocked").write_text("in the way")
    ended = call("archive", "blocked", "--before", "2025-01-01", "--store", store)
    assert ended.code == 2
    assert "blocked" in ended.err
    assert "aa01" in call("list", "--json", "--store", store).out
