"""Where records are stored: what an address may be, and the one that holds where nothing else is said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from disputatio.errors import InvalidInputError

VARIABLE = "DISPUTATIO_STORE"
_SCHEME = re.compile(r"(?:sqlite|postgresql)(?:\+[a-z0-9]+)?://", re.IGNORECASE)
_MAY_SAY_OTHERWISE = (".env", "disputatio.toml", "disputatio.yaml", "disputatio.yml")


def store_url(word: str, directory: Path) -> str | None:
    """The URL of a store; a plain path from ``directory`` becomes that of an SQLite file. None for another scheme."""
    if _SCHEME.match(word):
        return word
    return None if "://" in word else sqlite_url(directory / expanded(word))


def expanded(path: str) -> Path:
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


def plain_store(given: str | None, environ: Mapping[str, str], directory: Path) -> tuple[str, bool] | None:
    """The store, and whether it is the default, where no file needs to be read for it; else None.

    Reading configuration files and checking every option in them takes longer than listing a store.
    """
    named = given if given is not None else environ.get(VARIABLE)
    if any((directory / name).exists() for name in _MAY_SAY_OTHERWISE) or (named is not None and not named.strip()):
        return None
    if named is None:
        return default_store(), True
    found = store_url(named.strip(), directory) if named.isprintable() else None
    return None if found is None else (found, False)
