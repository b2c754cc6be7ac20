"""The hash chain: each event carries the hash of the one before it.

The hash of an event is the SHA-256 of seven lines joined by line feeds: ``disputatio-1``, the debate's id, the
sequence number, the time, the kind, the body as canonical JSON, and the hash of the previous event (64 zeros
for the first). Anybody can recompute it with a few lines of any language.

What a chain can tell: whether any byte of any event, or any text an event names, was altered, dropped in the
middle or reordered. What it cannot: whether somebody with write access rewrote the whole chain, or cut off
its end. For that, keep the head hash that ``verify`` prints and give it back to ``verify`` later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from disputatio.record.events import Event, decode, encode
from disputatio.record.text import canonical, digest, read_json

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Sealed:
    """An event in its envelope, as it is stored. ``at`` is UTC, ``2026-01-31T12:00:00.000000Z``."""

    debate: str
    seq: int
    at: str
    kind: str
    body: str
    previous: str
    hash: str

    def event(self) -> Event:
        """The event inside."""
        return decode(self.kind, read_json(self.body))

    def computed_hash(self) -> str:
        """The hash its content ought to have."""
        parts = ("disputatio-1", self.debate, str(self.seq), self.at, self.kind, self.body, self.previous)
        return digest("\n".join(parts))


def seal(event: Event, *, debate: str, seq: int, at: str, previous: str) -> Sealed:
    """Put ``event`` into its envelope, chained to ``previous``."""
    body = canonical(encode(event))
    draft = Sealed(debate, seq, at, event.kind, body, previous, "")
    return Sealed(debate, seq, at, event.kind, body, previous, draft.computed_hash())


def text_hashes(event: Mapping[str, Any]) -> list[str]:
    """The hashes of all texts that an event body names."""
    named = [row[1] for row in event.get("prompt", ()) if isinstance(row, list)]
    named += [row["text"] for row in event.get("evidence", ())]
    for tool in event.get("tools", {}).get("offered", ()):
        named += [tool["description"], tool["schema"]]
    return [*named, *(event[name] for name in ("schema", "result", "transcript") if event.get(name))]


def broken_link(events: Iterable[Sealed], texts: Mapping[str, str] | None) -> str | None:
    """The first fault of a chain in one sentence, or None when it is whole.

    ``texts`` maps hash to text for every text the events name; None leaves texts unchecked.
    """
    previous, expected = GENESIS, 1
    for sealed in events:
        place = f"event {sealed.seq} ({sealed.kind})"
        if sealed.seq != expected:
            return f"event {expected} is missing: the next one found is {sealed.seq}"
        if sealed.previous != previous:
            return f"{place} does not follow the event before it"
        if sealed.computed_hash() != sealed.hash:
            return f"{place} was altered: its content does not match its hash"
        for name in () if texts is None else text_hashes(read_json(sealed.body)):
            assert texts is not None  # noqa: S101  (no names otherwise)
            if name not in texts:
                return f"{place} names a text that is missing ({name[:12]})"
            if digest(texts[name]) != name:
                return f"a text of {place} was altered ({name[:12]})"
        previous, expected = sealed.hash, expected + 1
    return None
