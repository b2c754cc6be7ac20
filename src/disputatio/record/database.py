"""Opens the database of a store and brings it to this version's tables."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio.failures import InvalidInputError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

_BUSY_SECONDS = 30


def open_database(url: str, *, create: bool = True) -> Engine:
    """An engine over the database at ``url``, with this version's tables in it.

    Args:
        url: ``sqlite:///PATH``, a plain path, or another SQLAlchemy address.
        create: make the file and its folder where they are missing.

    Raises:
        InvalidInputError: the address cannot be understood or its driver is not installed.
        StoreError: it cannot be opened, or was written by a newer version.
    """
    import sqlalchemy as sa
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError
    from sqlalchemy.pool import QueuePool

    try:
        # A plain path is not read as an address: it may hold a question mark or a percent sign.
        address = sa.make_url(url) if "://" in url else sa.URL.create("sqlite", database=_path_of(url))
        if address.get_backend_name() == "sqlite":
            _check_file(address.database, create=create)
            engine = sa.create_engine(
                address,
                connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
                poolclass=QueuePool,
            )
            sa.event.listen(engine, "connect", _prepare_sqlite)
        else:
            engine = sa.create_engine(address)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        # Neither a password nor options, which may hold one.
        shown = url.rsplit("@", maxsplit=1)[-1].split("?", maxsplit=1)[0]
        raise InvalidInputError(
            f"The store address {shown!r} cannot be used: {_first_line(error)}.",
            "Give sqlite:///PATH or postgresql+psycopg://USER@HOST/NAME.",
        ) from None
    try:
        with store_failures(engine.url.render_as_string(hide_password=True)):
            _bring_up(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _path_of(text: str) -> str:
    try:
        return str(Path(text).expanduser())
    except RuntimeError:
        raise InvalidInputError(
            f"The store path {text!r} names a home folder that does not exist.", "Give the whole path with --store."
        ) from None


def _check_file(name: str | None, *, create: bool) -> None:
    if not name or name == ":memory:":
        return
    path = Path(name)
    if not path.exists() and not create:
        raise StoreError(f"There is no store at {path}.", "Give its address with --store.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder of the store, {path.parent}, cannot be made: {error.strerror}.",
            "Choose another place with --store PATH.",
        ) from None


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _bring_up(engine: Engine) -> None:
    import sqlalchemy as sa

    from disputatio.record.tables import KNOWN_REVISIONS, REVISION, metadata

    with engine.connect() as connection:
        found = _revision(connection)
    if found == REVISION:
        return
    if found is not None and found not in KNOWN_REVISIONS:
        raise StoreError(
            f"The store {engine.url.render_as_string(hide_password=True)} was written by a newer version "
            f"(its revision is {found}; this version knows up to {REVISION}).",
            "Upgrade disputatio, or choose another store with --store.",
        )
    if found is not None:
        _migrate(engine)
        return
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            # The driver opens no transaction for table definitions; two processes making one store wait here.
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        elif engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MAKING})")
        if _revision(connection) is None:
            metadata.create_all(connection)
            connection.execute(sa.text(_VERSION_TABLE))
            connection.execute(sa.text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": REVISION})


_MAKING = 0x64697370
"""The key of the lock that a process holds while it makes the tables in PostgreSQL; any number of its own."""
_VERSION_TABLE = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"


def _revision(connection: Connection) -> str | None:
    import sqlalchemy as sa

    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return found


def _migrate(engine: Engine) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    # A percent sign begins a substitution in Alembic's settings.
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


@contextmanager
def store_failures(place: str) -> Iterator[None]:
    """Turns what the database raises into a ``StoreError`` that names the cause and the next step."""
    from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError

    try:
        yield
    except IntegrityError:
        raise StoreError(
            "Another process is writing this debate.", "Wait until it ends, or stop it, then resume."
        ) from None
    except (OperationalError, DBAPIError) as error:
        cause = _first_line(error.orig) if error.orig else _first_line(error)
        raise _explained(place, cause) from None
    except (SQLAlchemyError, OSError) as error:
        raise _explained(place, _first_line(error)) from None


def unexpected(place: str, error: BaseException) -> StoreError:
    """A failure that no rule here foresees, as a ``StoreError``."""
    return StoreError(
        f"The store {place} failed: {type(error).__name__}: {_first_line(error)}.",
        "Check the address given with --store.",
    )


def _explained(place: str, cause: str) -> StoreError:
    lower = cause.lower()
    for sign, (what, then) in _CAUSES.items():
        if sign in lower:
            return StoreError(f"The store {place} {what}.", then)
    return StoreError(f"The store {place} failed: {cause}.", "Check the address given with --store.")


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
