"""The interface of market sources: a source returns views, and a view shows nothing after its moment.

A source has a ``name``, a ``catalogue`` and ``at``. The source cuts its view; the builder checks it again and refuses
rows not yet known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from disputatio.market.sources.errors import SourceError

if TYPE_CHECKING:
    from disputatio.market.sources.rows import Rows


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The series that a source may have, by key and name for people.

    Attributes:
        subject: the key of the index under debate.
        indices: at most seven, the subject first.
        sectors: sector funds.
        global_markets: keys of the indices outside the United States.
    """

    subject: str
    indices: Mapping[str, str]
    sectors: Mapping[str, str]
    global_markets: tuple[str, ...]


class View(Protocol):
    """What a source knew at one moment."""

    def rows(self, key: str) -> Rows | None:
        """Return the rows of ``key`` up to the moment; None if the source does not have such a series.

        Raises:
            SourceError: if it should have them and failed.
        """
        ...


class MarketSources(Protocol):
    """Where market data come from."""

    @property
    def name(self) -> str:
        """Such as ``csv:market``."""
        ...

    @property
    def catalogue(self) -> Catalogue:
        """The series it may have."""
        ...

    def at(self, cut: int, day: str) -> View:
        """Return what was known at the UTC second ``cut``, which is on ``day`` in New York."""
        ...


@dataclass
class StoredSources:
    """Sources whose series are read once as a whole: files and packages.

    Attributes:
        name: of the sources.
        catalogue: the series there may be.
        readers: one for each series; a `SourceError` means failed.
    """

    name: str
    catalogue: Catalogue
    readers: Mapping[str, Callable[[], Rows]]
    _read: dict[str, Rows | SourceError] = field(default_factory=dict)

    def at(self, cut: int, day: str) -> View:  # noqa: ARG002  (the port's signature)
        """Return what was known at ``cut``."""
        return _StoredView(self, cut)

    def whole(self, key: str) -> Rows | None:
        """Return all rows of ``key``; only the view, which cuts them, calls this."""
        if key not in self._read:
            reader = self.readers.get(key)
            if reader is None:
                return None
            try:
                self._read[key] = reader()
            except SourceError as error:
                self._read[key] = error
        found = self._read[key]
        if isinstance(found, SourceError):
            raise found
        return found


@dataclass(frozen=True, slots=True)
class _StoredView:
    shelf: StoredSources
    cut: int

    def rows(self, key: str) -> Rows | None:
        whole = self.shelf.whole(key)
        return None if whole is None else whole.until(self.cut)


@dataclass(frozen=True)
class Fallback:
    """Uses ``second`` if ``first`` has nothing or fails, with a warning."""

    first: MarketSources
    second: MarketSources

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.first.name}+{self.second.name}"

    @property
    def catalogue(self) -> Catalogue:
        """The first's, or the second's if the first has no sectors."""
        return self.first.catalogue if self.first.catalogue.sectors else self.second.catalogue

    def at(self, cut: int, day: str) -> View:
        """Return what was known at ``cut``."""
        return _FallbackView(self, self.first.at(cut, day), self.second.at(cut, day))


@dataclass(frozen=True)
class _FallbackView:
    sources: Fallback
    first: View
    second: View

    def rows(self, key: str) -> Rows | None:
        try:
            found, reason = self.first.rows(key), ""
        except SourceError as error:
            found, reason = None, str(error)
        if found is not None and not found.is_empty:
            return found
        try:
            other = self.second.rows(key)
        except SourceError as error:
            raise SourceError(f"{reason}; {error}" if reason else str(error)) from None
        if other is None or other.is_empty:
            if reason:
                raise SourceError(reason)
            return found if other is None else other
        if not reason:
            return other
        warning = f"{key}: {self.sources.first.name} failed ({reason}); {self.sources.second.name} stands in."
        return replace(other, warnings=(*other.warnings, (0, warning)))
