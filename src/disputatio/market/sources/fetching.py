"""Asking over the network: with patience, with a cache, and with what was fetched before where nothing new comes."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from disputatio.market.sources.faults import SourceError
from disputatio.market.sources.moments import written

TIME_TO_LIVE = 3_600.0
"""Seconds for which an answer is taken from the cache."""

ATTEMPTS = 4
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0


class BusyError(Exception):
    """The other side asks to wait; ``seconds`` is what it asks for, or None."""

    def __init__(self, cause: str, seconds: float | None = None) -> None:
        super().__init__(cause)
        self.seconds = seconds


@dataclass
class Fetcher:
    """Fetches, patiently.

    Attributes:
        folder: of the cache.
        time_to_live: seconds for which an answer counts as new.
        now: the time in seconds.
        pause: waits so many seconds.
        attempts: how often a busy side is asked.
    """

    folder: Path
    time_to_live: float = TIME_TO_LIVE
    now: Callable[[], float] = time.time
    pause: Callable[[float], None] = time.sleep
    attempts: int = ATTEMPTS
    _tired: dict[str, str] = field(default_factory=dict)

    def get(self, provider: str, query: Mapping[str, str], fetch: Callable[[], Any]) -> tuple[Any, tuple[str, ...]]:
        """The answer to ``query``: of the cache while it is new, else fetched, else of the cache with a warning.

        Args:
            provider: such as ``FRED``.
            query: what is asked, without secrets; it names the cache's file.
            fetch: asks; it raises `BusyError` to be asked again and `SourceError` when that is no use.

        Raises:
            SourceError: if nothing can be had.
        """
        path = self._path(provider, query)
        kept = _read(path)
        if kept is not None and 0 <= self.now() - kept["fetched_at"] < self.time_to_live:
            return kept["answer"], ()
        try:
            answer = self._asked(provider, fetch)
        except SourceError as error:
            if kept is None:
                raise
            when = written(int(kept["fetched_at"]))
            return kept["answer"], (f"{error}; what was fetched at {when} stands in.",)
        _write(path, {"fetched_at": self.now(), "query": dict(query), "answer": answer})
        return answer, ()

    def _asked(self, provider: str, fetch: Callable[[], Any]) -> Any:
        if provider in self._tired:
            # One series found out that waiting does not help; the others need not.
            raise SourceError(self._tired[provider])
        pause = _FIRST_PAUSE
        for attempt in range(1, self.attempts + 1):
            try:
                return fetch()
            except BusyError as error:
                if attempt == self.attempts:
                    self._tired[provider] = f"{error} (asked {attempt} times)"
                    raise SourceError(self._tired[provider]) from None
                self.pause(min(pause if error.seconds is None else error.seconds, _LONGEST_PAUSE))
                pause *= 2
        raise SourceError(f"{provider} was not asked")

    def _path(self, provider: str, query: Mapping[str, str]) -> Path:
        text = json.dumps([provider, dict(query)], sort_keys=True)
        return (
            self.folder / f"{provider.lower().replace(' ', '-')}-{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"
        )


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    sound = isinstance(found, dict) and isinstance(found.get("fetched_at"), int | float) and "answer" in found
    return found if sound else None


def _write(path: Path, content: dict[str, Any]) -> None:
    """Keep an answer; a cache that cannot be written is no cache, and no failure."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(content))
        part.replace(path)
    except OSError:
        return
