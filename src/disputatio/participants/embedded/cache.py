"""Where the embedded model keeps its weights and its server's address.

``DISPUTATIO_CACHE`` names another directory. Everything below it belongs to this user alone, because the
server's secret lies there. Deleting it is always safe: weights are fetched again, a server that finds its
address gone ends itself.
"""

from __future__ import annotations

import os
from pathlib import Path

from disputatio.participants.call import FaultKind
from disputatio.participants.embedded.unavailable import ModelUnavailableError

CACHE_VARIABLE = "DISPUTATIO_CACHE"


def directory(*names: str) -> Path:
    """The cache directory ``names`` of the embedded model, made if it is missing (mode 0700).

    Raises:
        ModelUnavailableError: it cannot be made or written.
    """
    path = place(*names)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise _unwritable(path, "permission denied")
    return path


def place(*names: str) -> Path:
    """Where ``names`` of the cache is, whether or not it is there."""
    return _root().joinpath("embedded", *names)


def _root() -> Path:
    chosen = os.environ.get(CACHE_VARIABLE, "").strip()
    if chosen:
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("disputatio"))


def _unwritable(path: Path, reason: str) -> ModelUnavailableError:
    return ModelUnavailableError(
        FaultKind.NOT_INSTALLED,
        f"The cache directory {path} cannot be written ({reason[:1].lower()}{reason[1:]}).",
        f"Set {CACHE_VARIABLE} to a directory you may write.",
    )
