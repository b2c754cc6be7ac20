"""Compose the HTTP request of a call without sending it, for batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

_OF_ONE_REQUEST: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "x-server-timeout",
    }
)


@dataclass(frozen=True, slots=True)
class ComposedRequest:
    """One request, ready to be sent by POST. Its headers hold a key, so they are in no representation."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @classmethod
    def of(cls, url: object, headers: Iterable[tuple[str, str]], body: bytes) -> ComposedRequest:
        """The request with these parts."""
        return cls(str(url), dict(headers), body)

    def credentials(self) -> dict[str, str]:
        """The headers that any request to the same provider needs: the key, and versions of its protocol."""
        return {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in _OF_ONE_REQUEST and not name.lower().startswith("x-stainless")
        }
