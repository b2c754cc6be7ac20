"""The hash chain: each event carries the hash of the one before it.

The hash of an event is the SHA-256 of seven lines joined by line feeds: ``disputatio-1``, the debate's id, the sequence
number, the time, the kind, the body as canonical JSON, and the hash of the previous event (64 zeros for the first). A
few lines of any language recompute it.

A chain shows whether any byte of an event, or of a text it names, was altered, removed from the middle or reordered. It
cannot show whether someone with write access rewrote the whole chain or cut off its end. For that, keep the head hash
that ``verify`` prints and give it to ``verify`` later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple

from disputatio.record.events import Event, decode, encode
from disputatio.record.text import canonical, digest, json_reader, read_json

GENESIS = "0" * 64


class Sealed(NamedTuple):
    """An event in its envelope, as it is stored. ``at`` is UTC, ``2026-01-31T12:00:00.000000Z``.

    The fields are those of a database row, so that long records are read without conversion.
    """

    debate: str
    seq: int
    at: str
    kind: str
    body: str
    previous: str
    hash: str

    @property
    def place(self) -> str:
        """Its position, for people."""
        return f"event {self.seq} ({self.kind})"

    def event(self) -> Event:
        """Decode the event."""
        return decode(self.kind, read_json(self.body))

    def computed_hash(self) -> str:
        """The hash its content should have."""
        return _hash_of(self.debate, self.seq, self.at, self.kind, self.body, self.previous)


def _hash_of(debate: str, seq: int, at: str, kind: str, body: str, previous: str) -> str:
    lines = f"disputatio-1\n{debate}\n{seq}\n{at}\n{kind}\n{body}\n{previous}"
    try:
        return sha256(lines.encode()).hexdigest()
    except UnicodeEncodeError:
        return digest(lines)


def seal(event: Event, *, debate: str, seq: int, at: str, previous: str) -> Sealed:
    """Put ``event`` into its envelope, chained to ``previous``."""
    body = canonical(encode(event))
    own = _hash_of(debate, seq, at, event.kind, body, previous)
    return Sealed(debate, seq, at, event.kind, body, previous, own)


def text_hashes(event: Mapping[str, Any]) -> list[str]:
    """The hashes of all texts that an event body names."""
    named = [row[1] for row in event.get("prompt", ()) if isinstance(row, list)]
    if evidence := event.get("evidence"):
        named += [row["text"] for row in evidence]
    if tools := event.get("tools"):
        for tool in tools.get("offered", ()):
            named += [tool["description"], tool["schema"]]
    for name in ("schema", "result", "transcript"):
        if text := event.get(name):
            named.append(text)
    return named


_NAMING = frozenset({"DebateOpened", "TranscriptImported", "CallSent", "ToolCalled"})
"""The kinds of events that name texts."""
AT_ONCE = 64
"""Events read at once: few enough to stay in the CPU cache until they are processed."""


def split_events(events: Iterable[Sealed]) -> Iterator[Sequence[Sealed]]:
    """``events`` in parts of the size that is fastest to check."""
    waiting = iter(events)
    while part := list(islice(waiting, AT_ONCE)):
        yield part


def find_fault(
    events: Iterable[Sealed], texts: Mapping[str, str] | None, told: list[Event] | None = None
) -> str | None:
    """The first fault of a chain in one sentence, or None when it is intact.

    ``texts`` maps hash to text for every text the events name; None leaves texts unchecked. Each valid event is
    appended to ``told``, so that a record need not be read twice.
    """
    links = ChainChecker(texts, told)
    return next((fault for part in split_events(events) if (fault := links.find_fault(part))), None)


class ChainChecker:
    """Checks a chain part by part.

    Args:
        texts: every text that its events name, by hash; None leaves texts unchecked.
        told: receives each valid event.
    """

    def __init__(self, texts: Mapping[str, str] | None, told: list[Event] | None = None) -> None:
        self._texts, self._told = texts, told
        self._head, self._number = GENESIS, 0
        self._whole: set[str] = set()

    def find_fault(self, part: Sequence[Sealed]) -> str | None:
        """The first fault of the next events, in one sentence; None where they are valid."""
        linked, fault = self._linked(part)
        if self._texts is not None or self._told is not None:
            return self._faulty_body(part[:linked], self._texts or {}) or fault
        return fault

    def _linked(self, part: Sequence[Sealed]) -> tuple[int, str | None]:
        """How many events continue the chain, and what is wrong with the next one."""
        head, number = self._head, self._number
        for debate, seq, at, kind, body, previous, own in part:
            number += 1
            if seq != number or previous != head or _hash_of(debate, seq, at, kind, body, previous) != own:
                place = number - self._number - 1
                return place, _fault(part[place], number, head)
            head = own
        self._head, self._number = head, number
        return len(part), None

    def _faulty_body(self, part: Sequence[Sealed], texts: Mapping[str, str]) -> str | None:
        """The first text that a body names and that is missing or altered."""
        told, whole, naming = self._told, self._whole, _NAMING if self._texts is not None else ()
        read = json_reader([row[4] for row in part])
        for sealed in part:
            kind = sealed[3]
            if told is None and kind not in naming:
                continue
            body = read(sealed[4])
            if kind in naming:
                for name in text_hashes(body):
                    if name in whole:
                        continue
                    if name not in texts:
                        return f"{sealed.place} names a text that is missing ({name[:12]})"
                    if digest(texts[name]) != name:
                        return f"a text of {sealed.place} was altered ({name[:12]})"
                    whole.add(name)
            if told is not None:
                told.append(decode(kind, body))
        return None


def _fault(sealed: Sealed, number: int, head: str) -> str:
    """What is wrong with an event that should have ``number`` and follow ``head``."""
    if sealed.seq != number:
        return f"event {number} is missing: the next one found is {sealed.seq}"
    if sealed.previous != head:
        return f"{sealed.place} does not follow the event before it"
    return f"{sealed.place} was altered: its content does not match its hash"
