"""Citations as every surface shows them: what was cited, what the source says, and how the check came out.

They are read as plain JSON from the record; whatever one lacks is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from disputatio.motion import one_line
from disputatio.report.amounts import counted, listed
from disputatio.report.json_values import as_list

STATUSES = ("verified", "repaired", "unverified")


@dataclass(frozen=True, slots=True)
class CitationReading:
    """One citation.

    Attributes:
        about: the argument it supports or answers.
        source: the id of the source it names.
        pointer: the JSON pointer of a cited value; None where words are quoted.
        said: the words or the value as the seat gave them.
        words: the source's own words; empty where it has none.
        status: ``verified``, ``repaired`` or ``unverified``.
        why: why it is not verified; empty where it is.
        passage: the id of the passage that has the words; empty if none has.
        spans: their offsets in the source's text; for an unverified citation, the nearest words.
    """

    about: str
    source: str
    pointer: str | None
    said: str
    words: str
    status: str
    why: str
    passage: str
    spans: tuple[tuple[int, int], ...]

    @property
    def place(self) -> str:
        """The cited place: ``report#2``, ``figures at /release/hours``."""
        if self.pointer is not None:
            return f"{self.source} at {self.pointer or 'the top'}"
        return self.passage or self.source

    @property
    def sound(self) -> bool:
        """Whether the source bears it out."""
        return self.status in {"verified", "repaired"}

    @property
    def shown(self) -> str:
        """The cited words: the source's own if it supports the citation, else the seat's."""
        if self.pointer is not None:
            return self.said
        return f'"{self.words if self.sound and self.words else self.said}"'

    @property
    def note(self) -> str:
        """A remark on the status; may be empty."""
        if self.status == "repaired":
            return f'the source\'s own words; the seat wrote "{self.said}"'
        return "" if self.sound else self.why

    @property
    def sentence(self) -> str:
        """What is shown, with its note behind it."""
        return f"{self.shown} ({self.note})" if self.note else self.shown


def citation_readings(rows: Any) -> tuple[CitationReading, ...]:
    """The citations in ``rows``, as a record or an outcome keeps them."""
    return tuple(_reading(row) for row in as_list(rows) if isinstance(row, Mapping))


def unstated_readings(rows: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The figures that no source has, by what they are about."""
    return tuple(
        (
            one_line(str(row.get("about") or ""), 80),
            tuple(one_line(str(each), 40) for each in as_list(row.get("figures"))),
        )
        for row in as_list(rows)
        if isinstance(row, Mapping)
    )


def unstated_sentence(rows: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """A sentence on the figures that no source has; empty if there are none."""
    entries = list(rows)
    number = sum(len(figures) for _, figures in entries)
    if not number:
        return ""
    places = "; ".join(f"{about}: {', '.join(figures)}" for about, figures in entries[:_MOST_PLACES] if figures)
    more = " and more" if len(entries) > _MOST_PLACES else ""
    return f"{counted(number, 'figure')} in no source ({places}{more})"


_MOST_PLACES = 6


def _reading(row: Mapping[str, Any]) -> CitationReading:
    pointer = row.get("pointer")
    quoted = str(row.get("quote") or "") if pointer is None else _written(row.get("value"))
    why = str(row.get("detail") or row.get("reason") or "")
    return CitationReading(
        about=one_line(str(row.get("about") or ""), 80),
        source=one_line(str(row.get("source_id") or ""), 80),
        pointer=None if pointer is None else one_line(str(pointer), 300),
        said=one_line(quoted),
        words=one_line(str(row.get("words") or "")),
        status=one_line(str(row.get("status") or ""), 40),
        why=one_line(why, 300),
        passage=one_line(str(row.get("passage_id") or ""), 80),
        spans=tuple((span[0], span[1]) for span in as_list(row.get("spans")) if _is_span(span)),
    )


def _written(value: Any) -> str:
    """A JSON value as JSON writes it, a text without quotation marks."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def _is_span(value: Any) -> bool:
    return len(as_list(value)) == 2 and all(type(offset) is int for offset in value)


def status_counts(rows: Iterable[CitationReading]) -> dict[str, int]:
    """How many citations have each status; every status is there."""
    found = dict.fromkeys(STATUSES, 0)
    for row in rows:
        found[row.status] = found.get(row.status, 0) + 1
    return found


def counted_statuses(rows: Iterable[CitationReading]) -> str:
    """``5 verified, 1 repaired and 1 unverified``; empty where there are none."""
    return listed([f"{number} {status}" for status, number in status_counts(rows).items() if number])


def checked_sentence(rows: tuple[CitationReading, ...]) -> str:
    """How the citations of a debate with sources came out."""
    if not rows:
        return "nothing was cited from the sources; what the sides state as evidence was not checked"
    unsound = list(dict.fromkeys(row.about for row in rows if not row.sound and row.about))
    beside = f" (at {listed(unsound)})" if unsound else ""
    return (
        f"{counted(len(rows), 'citation')} checked against the sources: {counted_statuses(rows)}{beside}; "
        "evidence that is stated without a citation was not checked"
    )
