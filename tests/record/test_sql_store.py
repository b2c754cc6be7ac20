"""What a store in a database adds: durability, other processes, files that cannot be used."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from disputatio.errors import ExitCode, InvalidInputError, StoreError
from disputatio.record.chain import find_fault
from disputatio.record.database import KNOWN_REVISIONS, REVISION, _migrate, open_database
from disputatio.record.sql import _ROWS_OF_A_STATEMENT, SqlStore
from disputatio.record.tables import metadata
from disputatio.record.text import digest
from record_makers import Pen, asked, closed, opened

pytestmark = pytest.mark.slow

Opening = Callable[[], SqlStore]


def check_sentence(error: StoreError | InvalidInputError) -> None:
    assert error.exit_code in {ExitCode.STORE, ExitCode.INVALID_INPUT}
    assert "\n" not in str(error)
    assert error.cause.endswith(".")
    assert error.next_step


def rows_of(url: str, query: str) -> list[tuple[Any, ...]]:
    engine = sa.create_engine(url if "://" in url else f"sqlite:///{url}", poolclass=sa.NullPool)
    with engine.begin() as connection:
        found = connection.exec_driver_sql(query)
        return [tuple(row) for row in found] if found.returns_rows else []


async def test_what_was_awaited_is_there_for_another_store(open_store: Opening) -> None:
    pen = Pen("d1")
    first = open_store()
    await first.append(pen.write(opened(), texts={digest("text"): "text"}))
    await first.append(pen.write(asked(1)))
    second = open_store()
    assert list(second.read("d1")) == pen.chain
    assert second.texts("d1") == {digest("text"): "text"}


async def test_more_rows_than_one_statement_takes_are_all_written(open_store: Opening) -> None:
    pen, rows = Pen("d1"), 3 * _ROWS_OF_A_STATEMENT + 1
    texts = {digest(f"text {number}"): f"text {number}" for number in range(rows)}
    store = open_store()
    await store.append(pen.write(opened(), *(asked(number) for number in range(1, rows)), texts=texts))
    assert list(store.read("d1")) == pen.chain
    assert len(pen.chain) == rows
    assert store.texts("d1") == texts


async def test_a_record_is_gone_on_with_by_another_store(open_store: Opening) -> None:
    pen = Pen("d1")
    first = open_store()
    await first.append(pen.write(opened(), texts={digest("text"): "text"}))
    await first.aclose()
    second = open_store()
    resumed = Pen("d1", second.read("d1"))
    await second.append(resumed.write(asked(1), texts={digest("text"): "text", digest("new"): "new"}))
    assert list(second.read("d1")) == resumed.chain
    assert set(second.texts("d1")) == {digest("text"), digest("new")}


async def test_a_text_is_stored_once_for_a_debate(open_store: Opening, store_url: str) -> None:
    """A text is stored once for a debate however often it is sent."""
    one, other = open_store(), open_store()
    pen = Pen("d1")
    await one.append(pen.write(opened(), texts={digest("history"): "history"}))
    for number in range(5):
        await one.append(
            pen.write(asked(number), texts={digest("history"): "history", digest(str(number)): str(number)})
        )
    await other.append(pen.write(asked(9), texts={digest("history"): "history"}))
    await other.append(Pen("d2").write(opened(), texts={digest("history"): "history"}))
    rows = rows_of(store_url, "SELECT debate, text FROM texts")
    assert sorted(rows) == [("d1", str(n)) for n in range(5)] + [("d1", "history"), ("d2", "history")]


async def test_two_writers_cannot_both_go_on_from_one_event(open_store: Opening) -> None:
    one, other = open_store(), open_store()
    pen = Pen("d1")
    await one.append(pen.write(opened()))
    rival = Pen("d1", other.read("d1"))
    results = await asyncio.gather(
        one.append(pen.write(asked(1))), other.append(rival.write(asked(2))), return_exceptions=True
    )
    assert [row for row in results if row is None] == [None]
    (refused,) = [row for row in results if row is not None]
    assert isinstance(refused, StoreError)
    check_sentence(refused)
    assert list(one.read("d1")) in (pen.chain, rival.chain)


async def test_a_failed_batch_forgets_no_text(open_store: Opening, store_url: str, tmp_path: Path) -> None:
    """Writings that came in while the writer was held up are written as one batch; one of them is bad."""
    if "://" in store_url:
        pytest.skip("the lock that holds the writer up is SQLite's")
    store = open_store()
    await store.append(Pen("d0").write(opened()))
    runner = sqlite3.connect(store_url, isolation_level=None)
    runner.execute("BEGIN IMMEDIATE")
    pens = [Pen(f"d{number}") for number in range(1, 4)]
    waiting = [store.append(Pen("blocked").write(opened()))]
    waiting += [store.append(pen.write(opened(), texts={digest(pen.debate): pen.debate})) for pen in pens[:2]]
    bad = store.append(Pen("d0").write(opened()))
    waiting.append(store.append(pens[2].write(opened(), texts={digest("d3"): "d3"})))
    runner.execute("ROLLBACK")
    runner.close()
    await asyncio.gather(*waiting)
    with pytest.raises(StoreError, match="Another process"):
        await bad
    for pen in pens:
        assert find_fault(store.read(pen.debate), store.texts(pen.debate)) is None
        assert store.texts(pen.debate) == {digest(pen.debate): pen.debate}


async def test_a_failure_that_no_rule_foresees_is_a_store_error(open_store: Opening) -> None:
    """A failure that no rule foresees is a store error and the writer lives on."""
    store = open_store()
    pen = Pen("d1")
    await store.append(pen.write(opened()))
    unwritable: Any = Pen("d2").write(opened(), texts={digest("x"): object()})  # type: ignore[dict-item]
    with pytest.raises(StoreError) as caught:
        await store.append(unwritable)
    check_sentence(caught.value)
    await store.append(pen.write(asked(1)))
    assert list(store.read("d1")) == pen.chain


def test_a_store_is_made_with_its_folders(tmp_path: Path) -> None:
    """A store is made with its folders and kept by a second opening."""
    path = tmp_path / "new" / "deeper" / "what?100%#1.sqlite"
    open_database(str(path)).dispose()
    assert path.exists()
    assert rows_of_sqlite(path, "SELECT version_num FROM alembic_version") == [(REVISION,)]
    open_database(str(path)).dispose()
    assert rows_of_sqlite(path, "PRAGMA journal_mode") == [("wal",)]
    assert [row.name for row in path.parent.iterdir() if not row.name.endswith(("-wal", "-shm"))] == [path.name]


def rows_of_sqlite(path: Path, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_a_store_that_must_exist_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no store at") as caught:
        SqlStore(str(tmp_path / "none.sqlite"), create=False)
    check_sentence(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_migrations_lead_to_the_tables(store_url: str) -> None:
    """Migrations lead to the tables that a new store is made with."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    if "://" not in store_url:
        Path(store_url).parent.mkdir(parents=True)
        store_url = f"sqlite:///{store_url}"
    engine = sa.create_engine(store_url, poolclass=sa.NullPool)
    _migrate(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == REVISION
    assert set(sa.inspect(engine).get_table_names()) == {*metadata.tables, "alembic_version"}
    open_database(store_url).dispose()


def test_a_store_of_the_first_version_keeps_its_records(store_url: str) -> None:
    """A store of the first version keeps its records and takes new ones."""
    url = store_url if "://" in store_url else f"sqlite:///{store_url}"
    if "://" not in store_url:
        Path(store_url).parent.mkdir(parents=True)
    _migrate(sa.create_engine(url, poolclass=sa.NullPool), KNOWN_REVISIONS[0])
    assert "claims" not in sa.inspect(sa.create_engine(url, poolclass=sa.NullPool)).get_table_names()
    pen = Pen("d1")
    pen.write(opened(), texts={digest("text"): "text"})
    rows = [
        {name: getattr(row, name) for name in ("debate", "seq", "at", "kind", "body", "previous", "hash")}
        for row in pen.chain
    ]
    head = {"id": "d1", "opened_at": pen.chain[0].at, "format": "structured", "motion": "m", "status": "RUNNING"}
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        connection.execute(metadata.tables["debates"].insert(), {**head, "events": 1, "head": pen.chain[0].hash})
        connection.execute(metadata.tables["events"].insert(), rows)
    # Two processes of the new version begin at once.
    stores: list[SqlStore] = []
    threads = [threading.Thread(target=lambda: stores.append(SqlStore(store_url))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = stores
    assert list(first.read("d1")) == pen.chain
    assert rows_of(store_url, "SELECT version_num FROM alembic_version") == [(REVISION,)]
    first.claim("d1")
    with pytest.raises(StoreError, match="held by another process"):
        second.claim("d1")
    for store in stores:
        asyncio.run(store.aclose())


def test_the_newest_migration_is_the_known_revision() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    import disputatio.record

    config = Config()
    config.set_main_option("script_location", str(Path(disputatio.record.__file__).parent / "migrations"))
    revisions = [row.revision for row in ScriptDirectory.from_config(config).walk_revisions()]
    assert revisions[0] == REVISION
    assert tuple(reversed(revisions)) == KNOWN_REVISIONS


def test_a_store_of_a_newer_version_is_refused_by_name(store_url: str) -> None:
    open_database(store_url).dispose()
    rows_of(store_url, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match=rf"newer version .*revision is 9999.* up to {REVISION}") as caught:
        SqlStore(store_url)
    check_sentence(caught.value)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    path.write_text("These are notes and no database, however long they go on. " * 50)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is not a database") as caught:
        SqlStore(str(path))
    check_sentence(caught.value)
    assert path.read_bytes() == before


async def damaged(path: Path) -> None:
    """A store with enough in it that its events fill pages of their own, and those pages overwritten."""
    store = SqlStore(str(path))
    pen = Pen("d1")
    await store.append(pen.write(opened()))
    await asyncio.gather(*(store.append(pen.write(asked(number))) for number in range(600)))
    await store.aclose()
    raw = bytearray(path.read_bytes())
    # The first pages hold the schema and the roots of the tables, which opening the store reads.
    assert len(raw) > 60 * 4096
    for page in range(48, len(raw) // 4096):
        raw[page * 4096 : (page + 1) * 4096] = b"\xa5" * 4096
    path.write_bytes(raw)


async def test_a_damaged_store_is_reported_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    await damaged(path)
    store = SqlStore(str(path))
    with pytest.raises(StoreError, match="is damaged") as caught:
        store.read("d1")
    check_sentence(caught.value)
    with pytest.raises(StoreError):
        await store.append(Pen("d1", ()).write(opened()))
    await store.aclose()


@pytest.mark.parametrize("kind", ["below a file", "a folder", "below a missing home"])
def test_a_place_where_no_file_can_be_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("x")
    place = {
        "below a file": tmp_path / "file" / "store.sqlite",
        "a folder": tmp_path,
        "below a missing home": Path("~nobody-of-this-name/store.sqlite"),
    }[kind]
    with pytest.raises((StoreError, InvalidInputError)) as caught:
        SqlStore(str(place))
    check_sentence(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "nosuch://user:hunter2@host/name",
        "nosuch://host/name?password=hunter2",
        "postgresql+nosuch://user:hunter2@host/name",
        "mysql+pymysql://user:hunter2@host/name",
        "://",
        "sqlite+nosuch:///folder/x",
        "sqlite+aiosqlite:///folder/x",
    ],
)
def test_an_address_that_cannot_be_used_is_refused(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that cannot be used is refused without its password, and nothing is made at its place."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError) as caught:
        SqlStore(url)
    check_sentence(caught.value)
    assert "hunter2" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_server_that_does_not_answer_is_a_store_error() -> None:
    """A server that does not answer is a store error without its password."""
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError) as caught:
        SqlStore("postgresql+psycopg://user:hunter2@127.0.0.1:1/name")
    check_sentence(caught.value)
    assert "hunter2" not in repr(caught.value.args)


def test_many_threads_make_one_store_at_once(store_url: str) -> None:
    failures: list[StoreError] = []
    ready = threading.Barrier(6)

    def make() -> None:
        ready.wait()
        try:
            open_database(store_url).dispose()
        except StoreError as error:
            failures.append(error)

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert rows_of(store_url, "SELECT version_num FROM alembic_version") == [(REVISION,)]


WRITER = """
import asyncio, sys
sys.path.insert(0, sys.argv[3])
from record_makers import Pen, asked, closed, opened
from disputatio.record.sql import SqlStore

async def main():
    store = SqlStore(sys.argv[1])
    async def held(number):
        pen = Pen(f"{sys.argv[2]}-{number}")
        await store.append(pen.write(opened()))
        await store.append(pen.write(asked(1)))
        await store.append(pen.write(closed()))
    sys.stdout.write("ready\\n"); sys.stdout.flush()
    sys.stdin.readline()
    await asyncio.gather(*map(held, range(20)))
    await store.aclose()

asyncio.run(main())
"""


@pytest.mark.slow
async def test_two_processes_make_and_fill_one_store_at_once(open_store: Opening, store_url: str) -> None:
    tests = str(Path(__file__).parents[1])
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WRITER, store_url, name, tests],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
    results = [process.communicate("go\n", timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], results
    store = open_store()
    assert len(store.debates()) == 40
    for row in store.debates():
        assert row.status == "COMPLETE"
        assert find_fault(store.read(row.id), {}) is None


READER = """
import asyncio, os, sys
sys.path.insert(0, sys.argv[3])
from record_makers import Pen, asked, opened
from disputatio.errors import StoreError
from disputatio.record.sql import SqlStore

async def main():
    # Root may do anything, so it becomes somebody else, once everything is imported.
    before = SqlStore(sys.argv[2])
    await before.append(Pen("d1").write(opened()))
    before.find("d")
    await before.aclose()
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    try:
        store = SqlStore(sys.argv[1])
        print(len(store.read("d1")), "events")
        await store.append(Pen("d1", store.read("d1")).write(asked(2)))
        print("written")
    except StoreError as error:
        print(error.cause)

asyncio.run(main())
"""


def as_somebody_else(path: Path) -> str:
    """What a process without rights to the file reports; root gives up its rights first."""
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", READER, str(path), f"{path.parents[1]}/own.sqlite", tests],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def open_tmp_path(tmp_path: Path) -> Path:
    """A temporary folder that any user can reach."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    return tmp_path


@pytest.mark.slow
async def test_a_store_that_may_only_be_read_is_reported_as_read_only(open_tmp_path: Path) -> None:
    path = open_tmp_path / "store.sqlite"
    store = SqlStore(str(path))
    await store.append(Pen("d1").write(opened()))
    await store.aclose()
    path.chmod(0o444)
    open_tmp_path.chmod(0o555)
    try:
        reported = as_somebody_else(path)
    finally:
        open_tmp_path.chmod(0o755)
    assert "is read-only" in reported
    assert "written" not in reported


@pytest.mark.slow
def test_a_folder_that_may_not_be_written_is_refused(open_tmp_path: Path) -> None:
    folder = open_tmp_path / "locked"
    folder.mkdir(mode=0o555)
    for path in (folder / "store.sqlite", folder / "deeper" / "store.sqlite"):
        reported = as_somebody_else(path)
        assert "cannot be" in reported
        assert str(folder) in reported


def test_closed_debates_need_no_memory(tmp_path: Path) -> None:
    async def held() -> dict[str, set[str]]:
        store = SqlStore(str(tmp_path / "store.sqlite"))
        for number in range(3):
            pen = Pen(f"d{number}")
            await store.append(pen.write(opened(), texts={digest("t"): "t"}))
            await store.append(pen.write(closed()))
        await store.aclose()
        return store._known_texts

    assert asyncio.run(held()) == {}


async def test_a_damaged_text_far_into_a_record_is_read(tmp_path: Path) -> None:
    """A damaged text far into a record is read and found damaged."""
    path, pen = tmp_path / "store.sqlite", Pen("d1")
    store = SqlStore(str(path))
    await store.append(pen.write(opened(), *map(asked, range(150))))
    rows_of(str(path), "UPDATE events SET body = CAST(X'41FF42' AS TEXT) WHERE seq = 100")
    rows = [row for part in store.parts("d1") for row in part]
    await store.aclose()
    assert rows[99].body == "A\\xffB"
    assert [row for row in rows if row.seq != 100] == [row for row in pen.chain if row.seq != 100]
    assert find_fault(rows, None) == f"{rows[99].place} was altered: its content does not match its hash"


def test_what_a_loop_wrote_in_its_last_step_is_written(tmp_path: Path) -> None:
    """What a loop wrote in its last step is written when another closes the store."""
    store, pen = SqlStore(str(tmp_path / "store.sqlite")), Pen("d1")

    async def leave() -> None:
        store.append(pen.write(opened(), asked(1)))

    loop = asyncio.new_event_loop()
    loop.run_until_complete(leave())
    loop.close()
    asyncio.run(store.aclose())
    with sqlite3.connect(tmp_path / "store.sqlite") as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (2,)
    connection.close()


async def test_a_store_that_closes_takes_nothing_more_in_and_ends(tmp_path: Path) -> None:
    store, pen = SqlStore(str(tmp_path / "store.sqlite")), Pen("d1")
    before = store.append(pen.write(opened()))
    closing = asyncio.create_task(store.aclose())
    await asyncio.sleep(0)
    with pytest.raises(StoreError, match="closed"):
        store.append(pen.write(asked(1)))
    await asyncio.wait_for(closing, 5)
    await before
    assert rows_of_sqlite(tmp_path / "store.sqlite", "SELECT kind FROM events") == [("DebateOpened",)]


def modes(folder: Path) -> dict[str, int]:
    """The permissions of every file below ``folder``."""
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
async def test_a_new_store_is_private_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    before = os.umask(mask)
    try:
        store = SqlStore(str(folder / "store.sqlite"))
        await store.append(Pen("d1").write(opened()))
        store.claim("d1")
        kept = modes(folder)
        await store.aclose()
    finally:
        os.umask(before)
    assert {"store.sqlite", "store.sqlite-wal", "store.sqlite-shm", "store.sqlite-writers"} <= kept.keys()
    # The file of locks holds nothing; a mask may also take it from its owner.
    assert {name: mode for name, mode in kept.items() if mode != 0o600} in ({}, {"store.sqlite-writers": 0})


async def test_a_store_that_others_may_read_goes_on_so(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    await SqlStore(str(path)).aclose()
    path.chmod(0o644)
    store = SqlStore(str(path))
    await store.append(Pen("d1").write(opened()))
    assert modes(tmp_path)["store.sqlite-wal"] == modes(tmp_path)["store.sqlite"] == 0o644
    await store.aclose()


async def test_a_store_behind_a_link_is_private_too(tmp_path: Path) -> None:
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "real.sqlite")
    await SqlStore(str(tmp_path / "link.sqlite")).aclose()
    assert modes(tmp_path)["real.sqlite"] == 0o600
