"""Any altered byte of a record is found: ``verify`` and ``resume`` refuse, ``show`` says that it cannot be trusted."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
from cli_commands import Call, is_clear

from disputatio._cli.main import main
from disputatio.record.tables import metadata
from disputatio.testing import FakeProvider

pytestmark = pytest.mark.slow

# What a record is made of; the other tables say who writes and what waits to be held.
RECORD = [metadata.tables[name] for name in ("debates", "events", "texts")]
COLUMNS = [(table.name, column.name) for table in RECORD for column in table.columns]
BYTES = 25


@dataclass(frozen=True, slots=True)
class Recorded:
    """A store with a complete debate and a truncated one, which could be resumed."""

    path: Path
    ids: dict[str, str]
    exports: dict[str, str]


def run(*arguments: str) -> tuple[int, str]:
    told = StringIO()
    with redirect_stdout(told), redirect_stderr(StringIO()), pytest.raises(SystemExit) as left:
        main(arguments)
    assert isinstance(left.value.code, int)
    return left.value.code, told.getvalue()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("recorded")
    path, source = folder / "store.sqlite", folder / "source.txt"
    source.write_text("The benchmark took 3.8 h against 0.7 h.")
    with FakeProvider() as provider:
        given = ["--seat", "all=openai_compatible:fake", "--base-url", provider.base_url, "-f", "freeform"]
        given += ["--set", "rounds=1", "--evidence", str(source), "--store", str(path)]
        assert run("debate", "Is this whole?", *given)[0] == 0
        assert run("debate", "Is this whole?", *given, "--max-calls", "2")[0] == 3
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ids = dict(database.execute("SELECT status, id FROM debates").fetchall())
    exports = {status: run("show", debate, "--as", "json", "--store", str(path))[1] for status, debate in ids.items()}
    assert set(ids) == {"COMPLETE", "DEBATE_TRUNCATED"}
    return Recorded(path, ids, exports)


@pytest.fixture
def copy(recorded: Recorded, tmp_path: Path) -> Path:
    path = tmp_path / "copy.sqlite"
    shutil.copy(recorded.path, path)
    return path


def test_an_unaltered_record_verifies(call: Call, recorded: Recorded) -> None:
    for debate in recorded.ids.values():
        ended = call("verify", debate, "--store", str(recorded.path))
        assert (ended.code, ended.err) == (0, "")
        assert "nothing altered" in ended.out
        head = ended.out.split()[-1]
        assert call("verify", debate, "--head", head.upper(), "--store", str(recorded.path)).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("status", ["COMPLETE", "DEBATE_TRUNCATED"])
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_one_altered_value_in_any_column_is_found(
    call: Call, recorded: Recorded, copy: Path, status: str, table: str, column: str
) -> None:
    debate = recorded.ids[status]
    alter(copy, table, column, debate)
    # The altered id is another debate's now: nothing is found under the old one.
    refused = 2 if (table, column) == ("debates", "id") else 6
    store = ("--store", str(copy))
    for command in (["verify", debate], ["resume", debate, "--max-calls", "50"], ["show", debate]):
        ended = call(*command, *store)
        if ended.code == 0 and status == "COMPLETE" and command[0] == "resume":
            pytest.fail("a finished debate that was altered was shown as if it were whole")
        assert ended.code == refused, command
        said = is_clear(ended.err)
        assert debate in said
        assert "Stopped" not in said
    assert call("list", *store).code == 0


def alter(path: Path, table: str, column: str, debate: str) -> None:
    """Change one bit of one value, in the middle of the debate's rows and of the value."""
    key = "id" if table == "debates" else "debate"
    with closing(sqlite3.connect(path)) as database, database:
        rows = database.execute(f"SELECT rowid, {column} FROM {table} WHERE {key} = ?", (debate,)).fetchall()  # noqa: S608
        row, value = rows[len(rows) // 2]
        if isinstance(value, int):
            changed: int | str = value + (1 if table == "debates" else 1_000)
        else:
            raw = bytearray(value.encode())
            raw[len(raw) // 2] ^= 1
            changed = raw.decode()
        database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (changed, row))  # noqa: S608


@pytest.mark.parametrize("table", ["events", "texts", "debates"])
def test_a_row_that_is_taken_out_is_found(call: Call, recorded: Recorded, copy: Path, table: str) -> None:
    debate = recorded.ids["COMPLETE"]
    with closing(sqlite3.connect(copy)) as database, database:
        key = "id" if table == "debates" else "debate"
        last = f"SELECT max(rowid) FROM {table} WHERE {key} = ?"  # noqa: S608
        database.execute(f"DELETE FROM {table} WHERE rowid = ({last})", (debate,))  # noqa: S608
    assert call("verify", debate, "--store", str(copy)).code == (2 if table == "debates" else 6)


def test_a_rewritten_record_is_found_with_the_head_that_was_kept(call: Call, recorded: Recorded) -> None:
    ended = call("verify", recorded.ids["COMPLETE"], "--head", "0" * 64, "--store", str(recorded.path))
    assert ended.code == 6
    assert "it was rewritten" in is_clear(ended.err)


@pytest.mark.parametrize("head", ["", "zz", "0" * 63, "\x1b[31m"])
def test_a_head_that_is_none_is_invalid_input(call: Call, recorded: Recorded, head: str) -> None:
    ended = call("verify", recorded.ids["COMPLETE"], "--head", head, "--store", str(recorded.path))
    assert ended.code == 2
    assert "64 hexadecimal digits" in is_clear(ended.err)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(BYTES))
def test_a_flipped_byte_is_found_or_changes_nothing(call: Call, recorded: Recorded, copy: Path, seed: int) -> None:
    content = bytearray(copy.read_bytes())
    place = random.Random(seed).randrange(len(content))
    content[place] ^= 0xFF
    copy.write_bytes(content)
    store = ("--store", str(copy))
    for status, debate in recorded.ids.items():
        verified = call("verify", debate, *store)
        assert "Traceback" not in verified.said
        if verified.code:
            assert verified.code in {2, 6, 7}
            is_clear(verified.err)
            continue
        shown = call("show", debate, "--as", "json", *store)
        assert shown.code == 0
        assert json.loads(shown.out) == json.loads(recorded.exports[status])
