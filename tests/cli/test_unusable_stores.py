"""A store that cannot be opened, read or written: exit code 7, a sentence, and what is there stays as it is."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from cli_commands import Call, Commands, is_clear

from disputatio._cli.main import main
from disputatio.testing import FakeProvider

pytestmark = pytest.mark.slow

MOTION = "We should act"
EVERY_COMMAND = ("list", "show", "verify", "resume", "debate")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one debate in it."""
    path = tmp_path_factory.mktemp("whole") / "whole.sqlite"
    with FakeProvider() as provider, redirect_stdout(StringIO()):
        seat = ["--seat", "all=openai_compatible:fake", "--base-url", provider.base_url]
        with pytest.raises(SystemExit) as left:
            main(["debate", MOTION, *seat, "-f", "freeform", "--set", "rounds=1", "--store", str(path)])
    assert left.value.code == 0
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def id_in(path: Path) -> str:
    with closing(sqlite3.connect(path)) as database:
        return str(database.execute("SELECT id FROM debates").fetchone()[0])


def no_database(path: Path) -> None:
    path.write_bytes(b"These are notes and no database at all.\n" * 100)


def of_a_newer_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")


def of_another_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE debates (speaker TEXT)")
        database.execute("CREATE TABLE photos (name TEXT)")


def of_another_program_with_alembic(path: Path) -> None:
    of_another_program(path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE alembic_version (version_num TEXT)")
        database.execute("INSERT INTO alembic_version VALUES ('a1b2c3')")


def without_its_mark(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM alembic_version")


def cut_in_half(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def with_a_name_too_long(path: Path) -> None:
    path.unlink()


SPOILED: dict[Callable[[Path], None], str] = {
    no_database: "is not a database",
    of_a_newer_version: "was written by a newer version",
    of_another_program: "is a database, but no store of debates",
    of_another_program_with_alembic: "is a database, but no store of debates",
    without_its_mark: "is a database, but no store of debates",
    cut_in_half: "is damaged",
    a_folder: "is a folder",
    with_a_name_too_long: "cannot be opened: file name too long",
}


@pytest.mark.parametrize("command", EVERY_COMMAND)
@pytest.mark.parametrize("spoil", SPOILED, ids=lambda spoil: spoil.__name__)
def test_a_store_that_is_none_is_refused_and_left_alone(
    call: Call, seated: tuple[str, ...], whole: Path, tmp_path: Path, spoil: Callable[[Path], None], command: str
) -> None:
    debate, path = id_in(whole), tmp_path / "store.sqlite"
    shutil.copy(whole, path)
    spoil(path)
    if spoil is with_a_name_too_long:
        path = tmp_path / ("x" * 300)
    before = path.read_bytes() if spoil not in {a_folder, with_a_name_too_long} else b""
    ended = call(*arguments(command, debate, seated), "--store", str(path))
    assert ended.code == 7
    said = is_clear(ended.err)
    assert SPOILED[spoil] in said
    assert "sqlite:///" not in said
    assert len(said) < 500
    assert ended.out == ""
    if before:
        assert path.read_bytes() == before


def arguments(command: str, debate: str, seated: tuple[str, ...]) -> list[str]:
    options = {"list": [], "debate": [MOTION, *seated]}
    return [command, *options.get(command, [debate])]


@pytest.mark.parametrize("command", ["list", "show", "verify", "resume"])
def test_reading_makes_no_store(call: Call, bare: Path, command: str) -> None:
    ended = call(*arguments(command, "abcd", ()), "--store", "deeper/none.sqlite")
    assert ended.code == 7
    assert "There is no store at" in is_clear(ended.err)
    assert list(bare.iterdir()) == []


def test_an_empty_store_lists_nothing_without_failure(call: Call, bare: Path) -> None:
    ended = call("list")
    assert (ended.code, ended.err) == (0, "")
    assert "No debates yet" in ended.out
    assert call("list", "--json").out == "[]\n"
    for command in ("show", "verify"):
        shown = call(command, "abcd")
        assert "no debates yet" in shown.err
        assert "disputatio debate" in shown.err
    assert [path.name for path in bare.parent.iterdir()] == ["work"]


@pytest.mark.parametrize("address", ["sqlite://", "sqlite:///:memory:", ":memory:"])
@pytest.mark.parametrize("command", ["list", "debate"])
def test_a_store_in_memory_is_refused(call: Call, seated: tuple[str, ...], address: str, command: str) -> None:
    ended = call(*arguments(command, "", seated), "--store", address)
    assert ended.code == 2
    assert "gone when this command ends" in is_clear(ended.err)


@pytest.mark.parametrize("address", ["foo://x", "mysql://user:hunter2@host/x", "", "a\nb"])
def test_an_address_of_no_store_is_refused(call: Call, address: str) -> None:
    ended = call("list", "--store", address)
    assert ended.code == 2
    assert "Allowed is sqlite:///PATH" in is_clear(ended.err)
    assert "hunter2" not in ended.err


@pytest.mark.slow
def test_a_server_that_is_not_there_is_told_without_its_password(call: Call) -> None:
    pytest.importorskip("psycopg", reason="needs the PostgreSQL driver")
    ended = call("list", "--store", "postgresql+psycopg://me:hunter2@127.0.0.1:1/debates")
    assert ended.code == 7
    assert "127.0.0.1" in is_clear(ended.err)
    assert "hunter2" not in ended.err


def test_what_is_set_for_seats_is_not_in_the_way_of_reading(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "openai_compatible")
    assert call("debate", MOTION).code == 2
    assert call("list").code == 0


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """A disk of that size; skips where none can be mounted."""
    place.mkdir()
    if os.name != "posix" or os.geteuid() != 0 or not mounted(place, f"size={size}"):
        pytest.skip("mounting a small disk needs root on Linux")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def mounted(place: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def remounted(place: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True)


@pytest.fixture
def read_only(whole: Path, tmp_path: Path) -> Iterator[Path]:
    """A store in a folder that takes no writes."""
    place = tmp_path / "archive"
    if os.geteuid() == 0:
        with small_disk(place, "4m"):
            shutil.copy(whole, place / "store.sqlite")
            remounted(place, "ro")
            yield place / "store.sqlite"
        return
    place.mkdir()
    shutil.copy(whole, place / "store.sqlite")
    (place / "store.sqlite").chmod(0o444)
    place.chmod(0o555)
    yield place / "store.sqlite"
    place.chmod(0o755)


@pytest.mark.parametrize("command", ["list", "show", "verify"])
def test_a_read_only_store_is_read(call: Call, read_only: Path, command: str) -> None:
    ended = call(*arguments(command, id_in_archive(read_only), ()), "--store", str(read_only))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out


def id_in_archive(path: Path) -> str:
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as database:
        return str(database.execute("SELECT id FROM debates").fetchone()[0])


@pytest.mark.slow
def test_a_read_only_store_is_refused_before_spending(
    call: Call, seated: tuple[str, ...], provider: FakeProvider, read_only: Path
) -> None:
    for path, cause in (
        (read_only, "is read-only"),
        (read_only.with_name("new.sqlite"), "cannot be opened"),
        (read_only.parent / "folder" / "new.sqlite", "cannot be made"),
    ):
        ended = call("debate", MOTION, *seated, "--store", str(path))
        assert ended.code == 7
        assert cause in is_clear(ended.err)
    assert provider.arrived.count == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "format_name", "calls"),
    [(size, "freeform", 7 + 2) for size in ("16k", "96k", "128k", "200k")]
    # Two seats speak at once, and each has a writing on its way when the disk is full.
    + [(size, "structured", 8 + 4) for size in ("128k", "176k", "224k")],
)
def test_a_full_disk_is_reported_and_resumes_later(
    commands: Commands, provider: FakeProvider, tmp_path: Path, size: str, format_name: str, calls: int
) -> None:
    with small_disk(tmp_path / "disk", size) as disk:
        store = ["--store", str(disk / "store.sqlite")]
        # All three rounds are more than fits.
        commands.given.remove("rounds=1")
        commands.given.remove("--set")
        commands.given[commands.given.index("freeform")] = format_name
        ended = commands.debate(MOTION, *store)
        assert ended.code == 7
        said = is_clear(ended.err)
        assert "the disk" in said
        spent = provider.arrived.count
        remounted(disk, "size=16m")
        listed = commands.run("list", *store)
        assert listed.code == 0
        if "No debates yet" in listed.out:
            assert spent == 0
            return
        debate = listed.out.split("\t")[0]
        assert f"disputatio resume {debate}" in said
        assert commands.run("verify", debate, *store).code == 0
        resumed = commands.run("resume", debate, *store)
        assert resumed.code == 0, resumed.err
        assert provider.arrived.count <= calls, "at most the calls that the disk cut off are asked again"
        assert commands.run("verify", debate, *store).code == 0


def test_doctor_opens_the_store(call: Call, whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    shutil.copy(whole, path)
    fine = call("doctor", "--no-calls", "--store", str(path))
    assert fine.code == 0
    assert "1 debate" in fine.out
    cut_in_half(path)
    spoiled = call("doctor", "--no-calls", "--store", str(path))
    assert spoiled.code == 7
    assert "is damaged" in spoiled.out
