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

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return f"event {self.seq} ({self.kind})"

    def event(self) -> Event:
        """The event inside."""
        return decode(self.kind, read_json(self.body))

    def computed_hash(self) -> str:
        """The hash its content ought to have."""
        return digest(f"disputatio-1\n{self.debate}\n{self.seq}\n{self.at}\n{self.kind}\n{self.body}\n{self.previous}")


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


_NAMING = frozenset({"DebateOpened", "TranscriptImported", "CallSent", "ToolCalled"})
"""The kinds of events that name texts."""


def broken_link(
    events: Iterable[Sealed], texts: Mapping[str, str] | None, told: list[Event] | None = None
) -> str | None:
    """The first fault of a chain in one sentence, or None when it is whole.

    ``texts`` maps hash to text for every text the events name; None leaves texts unchecked. ``told`` is given each
    event that was found whole, so that a record need not be read twice.
    """
    previous, expected = GENESIS, 1
    whole: set[str] = set()
    for sealed in events:
        if sealed.seq != expected:
            return f"event {expected} is missing: the next one found is {sealed.seq}"
        if sealed.previous != previous:
            return f"{sealed.place} does not follow the event before it"
        if sealed.computed_hash() != sealed.hash:
            return f"{sealed.place} was altered: its content does not match its hash"
        names = texts is not None and sealed.kind in _NAMING
        body = read_json(sealed.body) if names or told is not None else {}
        for name in text_hashes(body) if names else ():
            assert texts is not None  # noqa: S101  (no names otherwise)
            if name in whole:
                continue
            if name not in texts:
                return f"{sealed.place} names a text that is missing ({name[:12]})"
            if digest(texts[name]) != name:
                return f"a text of {sealed.place} was altered ({name[:12]})"
            whole.add(name)
        if told is not None:
            told.append(decode(sealed.kind, body))
        previous, expected = sealed.hash, expected + 1
    return None
