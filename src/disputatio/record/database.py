"""Open the database of a store: addresses, files, tables, migrations, and clear errors.

``list`` and ``show`` read a SQLite file of this version with Python's own driver (``read_file``), because importing
SQLAlchemy takes longer than the query. In every other case that returns None, and the store opens the database and
reports what is wrong.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from disputatio.errors import InvalidInputError, StoreError
from disputatio.record.store import DebateRow

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection, Engine
    from sqlalchemy.exc import DBAPIError

_BUSY_SECONDS = 30


def open_database(url: str, *, create: bool = True) -> Engine:
    """Open the database at ``url``, with this version's tables. A read-only file is opened for reading.

    Args:
        url: ``sqlite:///PATH``, a plain path, or another SQLAlchemy address.
        create: create the file and its folder where they are missing.

    Raises:
        InvalidInputError: the address cannot be understood, or its driver is not installed.
        StoreError: it cannot be opened, holds something else, or was written by a newer version.
    """
    import sqlalchemy as sa
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError
    from sqlalchemy.pool import QueuePool

    reading: Path | None = None
    try:
        # A plain path may contain a question mark or a percent sign.
        address = sa.make_url(url) if "://" in url else sa.URL.create("sqlite", database=str(expand_home(url)))
        if address.get_backend_name() == "sqlite":
            # A driver that is not there is refused before a file is made.
            address.get_dialect().import_dbapi()
            _check_file(address.database, create=create)
            options: dict[str, Any] = {"timeout": _BUSY_SECONDS, "check_same_thread": False}
            reading = _readable_only(address.database)
            opener = {"creator": lambda: _open_for_reading(reading, options)} if reading else {}
            engine = sa.create_engine(address, connect_args=options, poolclass=QueuePool, **opener)
            sa.event.listen(engine, "connect", _prepare_sqlite)
        else:
            # A server may have restarted since a connection was last used.
            engine = sa.create_engine(address, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        # Show no password, and no options, which may hold one.
        shown = url.rsplit("@", maxsplit=1)[-1].split("?", maxsplit=1)[0]
        raise InvalidInputError(
            f"The store address {shown!r} cannot be used: {_first_line(error)}.",
            "Give sqlite:///PATH or postgresql+psycopg://USER@HOST/NAME.",
        ) from None
    try:
        with store_errors(engine.url.render_as_string(hide_password=True)):
            _prepare_tables(engine, reading=reading)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _check_file(name: str | None, *, create: bool) -> None:
    if not name or name == ":memory:":
        return
    path = Path(name)
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        found = None
    except (OSError, ValueError) as error:
        raise StoreError(
            f"The store {str(path)[:200]} cannot be opened: {_reason(error)}.",
            "Choose another place with --store PATH.",
        ) from None
    if found is None and not create:
        raise StoreError(f"There is no store at {path}.", "Give its address with --store.")
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise StoreError(f"The store {path} is a folder.", "Give a file in it, such as --store FOLDER/debates.sqlite.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"The folder of the store, {path.parent}, cannot be made: {_reason(error)}.",
            "Choose another place with --store PATH.",
        ) from None
    if found is None:
        _make_private(path)


def _make_private(path: Path) -> None:
    """Create an empty file that only its owner can read and write, whatever the umask.

    SQLite gives its ``-wal``, ``-shm`` and ``-journal`` files the same permissions.
    """
    # Where it cannot be made, SQLite says why in a moment.
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(handle, 0o600)
        finally:
            os.close(handle)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileExistsError | NotADirectoryError):
        return "what stands at its place is no folder"
    return (getattr(error, "strerror", None) or str(error)).lower()


def _readable_only(name: str | None) -> Path | None:
    """The file, if neither it nor its folder can be written and it has no write-ahead log.

    A log may hold newer data and cannot be read without writing.
    """
    path = Path(name or "")
    if not name or not path.is_file() or Path(f"{name}-wal").exists():
        return None
    return None if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK) else path


def _open_for_reading(path: Path, options: dict[str, Any]) -> Any:
    import sqlite3

    # No process can write it, so read it without locks, which would need files in its folder.
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, **options)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # Read damaged text too, so that it is found damaged instead of stopping the query.
    connection.text_factory = decode_text
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def decode_text(raw: bytes) -> str:
    """Decode a stored text, with escapes where it is damaged."""
    return raw.decode("utf-8", "backslashreplace")


def fetch_rows(connection: Connection, query: str, values: Mapping[str, Any], at_once: int = 64) -> Iterator[list[Any]]:
    """The rows of ``query``, ``at_once`` at a time. Text passes through Python only where one is damaged."""
    import sqlite3

    import sqlalchemy as sa

    if connection.dialect.name != "sqlite":
        yield from map(list, connection.execute(sa.text(query), values).partitions(at_once))
        return
    driver: Any = connection.connection.driver_connection
    driver.text_factory, passed = str, 0
    try:
        # The driver's own rows need no conversion.
        cursor = driver.execute(query, values)
        while rows := cursor.fetchmany(at_once):
            yield rows
            passed += len(rows)
    except sqlite3.OperationalError as error:
        if "decode" not in str(error):
            raise
        driver.text_factory = decode_text
        if rest := list(islice(driver.execute(query, values), passed, None)):
            yield rest
    finally:
        driver.text_factory = decode_text


def _prepare_tables(engine: Engine, *, reading: Path | None) -> None:
    import sqlalchemy as sa

    from disputatio.record.database import KNOWN_REVISIONS, REVISION
    from disputatio.record.tables import metadata

    with engine.connect() as connection:
        found = _revision(connection)
        if found != REVISION:
            # In this order: another process may create the tables and the mark in between.
            tables = set(sa.inspect(connection).get_table_names())
            found = _revision(connection)
            if found != REVISION:
                _check_ours(engine, tables, found)
    if found == REVISION:
        return
    if found is not None and found not in KNOWN_REVISIONS:
        raise StoreError(
            f"The store {_shown(engine.url.render_as_string(hide_password=True))} was written by a newer version "
            f"(its revision is {found}; this version knows up to {REVISION}).",
            "Upgrade disputatio, or choose another store with --store.",
        )
    if found is not None:
        # Readers do not need what migrations add.
        if reading is None:
            _migrate(engine)
        return
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            # The driver opens no transaction for table definitions. Two processes creating a store wait here.
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        elif engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MAKING})")
        if _revision(connection) is None:
            metadata.create_all(connection)
            connection.execute(sa.text(_VERSION_TABLE))
            connection.execute(sa.text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": REVISION})


def _check_ours(engine: Engine, tables: set[str], found: str | None) -> None:
    """Refuse a database of another program. In PostgreSQL other tables may be present, in a file not."""
    marked_and_not_ours = found is not None and not tables.issuperset(_FIRST_TABLES)
    if marked_and_not_ours or (found is None and tables and engine.dialect.name == "sqlite"):
        raise StoreError(
            f"{_shown(engine.url.render_as_string(hide_password=True))} is a database, but no store of debates.",
            "Choose another place with --store PATH.",
        )


_FIRST_TABLES = ("debates", "events", "texts")
_MAKING = 0x64697370
"""The advisory lock under which tables are created in PostgreSQL; an arbitrary number of our own."""
_VERSION_TABLE = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"


def _revision(connection: Connection) -> str | None:
    import sqlalchemy as sa

    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return found


def _migrate(engine: Engine, revision: str = "head") -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    # A percent sign begins a substitution in Alembic's settings.
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    with engine.begin() as connection:
        # A second process waits here and finds nothing left to do.
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        elif engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MAKING})")
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(".") if lines else type(error).__name__


@contextmanager
def store_errors(place: str) -> Iterator[None]:
    """Turn database exceptions into a ``StoreError`` with cause and next step."""
    import sqlite3

    from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError

    try:
        yield
    except (IntegrityError, sqlite3.IntegrityError):
        raise StoreError(
            "Another process is writing this debate.", "Wait until it ends, or stop it, then resume."
        ) from None
    except (OperationalError, DBAPIError) as error:
        cause = _first_line(error.orig) if error.orig else _first_line(error)
        raise _explain(place, cause) from None
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise _explain(place, _first_line(error)) from None


def is_away(error: DBAPIError) -> bool:
    """Whether the server was stopped, is starting, or the connection broke: it may answer a moment later."""
    state = getattr(error.orig, "sqlstate", None)
    lost = type(error.orig).__module__.startswith("psycopg") and isinstance(error, _line_errors()) and state is None
    return bool(error.connection_invalidated or lost or (state and (state in _AWAY or state.startswith("08"))))


def _line_errors() -> tuple[type[Exception], ...]:
    from sqlalchemy.exc import InterfaceError, OperationalError

    return InterfaceError, OperationalError


_AWAY = frozenset({"57P01", "57P02", "57P03"})
"""PostgreSQL, Appendix A: shut down by an administrator, after a crash, or cannot connect now."""


def unexpected_error(place: str, error: BaseException) -> StoreError:
    """The ``StoreError`` for an unforeseen failure."""
    return StoreError(
        f"The store {_shown(place)} failed: {type(error).__name__}: {_first_line(error)}.",
        "Check the address given with --store.",
    )


def _explain(place: str, cause: str) -> StoreError:
    lower = cause.lower()
    for sign, (what, then) in _CAUSES.items():
        if sign in lower:
            return StoreError(f"The store {_shown(place)} {what}.", then)
    return StoreError(f"The store {_shown(place)} failed: {cause}.", "Check the address given with --store.")


def _shown(place: str) -> str:
    """A file by its path, as users gave it."""
    return place.removeprefix("sqlite:///")


_CAUSES = {
    "readonly": ("is read-only", "Make it writable, or choose another with --store PATH."),
    "read-only": ("is read-only", "Make it writable, or choose another with --store PATH."),
    "disk is full": (
        "cannot be written: the disk is full",
        "Free some space and resume; all that was recorded is kept.",
    ),
    "disk i/o error": (
        "cannot be written: the disk reported an error",
        "Check the disk and resume; all that was recorded is kept.",
    ),
    "unable to open": (
        "cannot be opened",
        "Check that the folder exists and may be written, or use --store PATH.",
    ),
    "not a database": ("is not a database", "Choose another file with --store PATH."),
    "malformed": ("is damaged", "Restore it from a backup, or choose another with --store PATH."),
    "locked": ("is locked by another process", "Wait until that process ends, then try again."),
}


REVISION = "0005"
"""The newest migration. A store at an unknown revision was written by another version."""

KNOWN_REVISIONS = ("0001", "0002", "0003", "0004", "0005")


_SQLITE_PREFIX = "sqlite:///"
_OF_AN_ADDRESS = frozenset("?%#")
"""Characters with a meaning in an address that may also be in a path."""
PARENT = (
    "(SELECT body FROM events WHERE events.debate = debates.id AND events.seq = 2 AND events.kind = 'DebateForked')"
)
"""The second event of a fork, which names its parent."""
ROWS = f"SELECT id, opened_at, format, motion, status, events, head, {PARENT} FROM debates"  # noqa: S608  (constants)
"""The list of debates as ``debate_row`` takes them; the store asks with the same words."""
NEWEST_FIRST = f"{ROWS} ORDER BY opened_at DESC, id"
Found = TypeVar("Found")


def list_file(url: str) -> Sequence[DebateRow] | None:
    """The debates of the SQLite file at ``url``, newest first, or None where the store has to be opened for them."""
    return read_file(url, lambda connection: [debate_row(row) for row in connection.execute(NEWEST_FIRST)])


def debate_row(row: Sequence[Any]) -> DebateRow:
    """A debate in a list, from what ``ROWS`` selects."""
    debate, opened_at, name, motion, status, events, head, forked = row
    try:
        parent = json.loads(forked)["parent"] if forked else ""
    except (ValueError, KeyError, TypeError):
        # Listing does not check chains. Reading the debate reports that it was altered.
        parent = ""
    return DebateRow(debate, opened_at, name, motion, status, events, head, str(parent))


def _is_usual(path: Path) -> bool:
    """Whether SQLite may write to the file and its folder, as it does for every reader."""
    try:
        return path.is_file() and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    except (OSError, ValueError):
        return False


def read_file(url: str, query: Callable[[sqlite3.Connection], Found | None]) -> Found | None:
    """Run ``query`` on a snapshot of the file; None where the store has to be opened."""
    path = Path(url.removeprefix(_SQLITE_PREFIX))
    if not url.startswith(_SQLITE_PREFIX) or _OF_AN_ADDRESS & set(url) or not _is_usual(path):
        return None
    import sqlite3

    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.text_factory = decode_text
            connection.execute("BEGIN")
            if connection.execute("SELECT version_num FROM alembic_version").fetchall() != [(REVISION,)]:
                return None
            return query(connection)
    except sqlite3.Error:
        return None


VARIABLE = "DISPUTATIO_STORE"
_SCHEME = re.compile(r"(?:sqlite|postgresql)(?:\+[a-z0-9]+)?://", re.IGNORECASE)
_MAY_SAY_OTHERWISE = (".env", "disputatio.toml", "disputatio.yaml", "disputatio.yml")


def store_url(word: str, directory: Path) -> str | None:
    """The URL of a store. A plain path from ``directory`` becomes an SQLite URL. None for another scheme."""
    if _SCHEME.match(word):
        return word
    return None if "://" in word else sqlite_url(directory / expand_home(word))


def expand_home(path: str) -> Path:
    """``path`` with its home folder.

    Raises:
        InvalidInputError: there is no such folder.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise InvalidInputError(
            f"The store path {path!r} names a home folder that does not exist.", "Give the whole path with --store."
        ) from None


def sqlite_url(path: Path) -> str:
    """The URL of an SQLite file. An absolute POSIX path gives four slashes, as SQLAlchemy wants it."""
    return f"sqlite:///{path.as_posix()}"


def default_store() -> str:
    """The SQLite file in the user's data folder."""
    from platformdirs import user_data_path

    return sqlite_url(user_data_path("disputatio", appauthor=False) / "debates.sqlite")


def find_plain_store(given: str | None, environ: Mapping[str, str], directory: Path) -> tuple[str, bool] | None:
    """The store, and whether it is the default, where no configuration file has to be read; else None.

    Reading configuration files and checking their options takes longer than listing a store.
    """
    named = given if given is not None else environ.get(VARIABLE)
    if any((directory / name).exists() for name in _MAY_SAY_OTHERWISE) or (named is not None and not named.strip()):
        return None
    if named is None:
        return default_store(), True
    found = store_url(named.strip(), directory) if named.isprintable() else None
    return None if found is None else (found, False)
