"""Measure the debates of a store, from the summaries it keeps or from the records.

A record is read once and its chain is checked; an altered record is left out and named. Its measures are kept with the
hash of its last event, so it is read again only after it grew. Later alterations are for ``verify``, and for a reading
without summaries. Texts beside the events are not read, since nothing in them is counted. One record is in memory at a
time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from disputatio.errors import InvalidInputError, StoreError
from disputatio.formats.registry import FORMATS
from disputatio.judging.gate import DebateMultiple, VerifiedOutcome, estimate_multiple
from disputatio.metrics.figures import Figures
from disputatio.metrics.measures import MEASURES_VERSION, Measures, make_summary, measure_debate, read_summary
from disputatio.motion import one_line
from disputatio.record.chain import find_fault
from disputatio.record.history import History
from disputatio.record.store import SUMMARIES_AT_ONCE, DebateRow, Store, Summaries, Summary

_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which debates are counted; None is all of them.

    Attributes:
        since: the first day, such as ``2026-01-31``, UTC.
        format: the name of a format.
        task_type: the kind of decision of a review; the format's name for other debates.

    Raises:
        InvalidInputError: ``since`` is not a day.
    """

    since: str | None = None
    format: str | None = None
    task_type: str | None = None

    def __post_init__(self) -> None:
        if self.since is not None and not _DAY.fullmatch(self.since):
            raise InvalidInputError(
                f"{one_line(repr(self.since), 40)} is not a day.", "Give one such as 2026-01-31 with --since."
            )

    def takes(self, row: DebateRow) -> bool:
        """Whether the list of debates alone already selects a record."""
        return (self.since is None or row.opened_at >= self.since) and self.format in {None, row.format}


def collect(store: Store, selection: Selection, *, rereads: bool = False) -> Figures:
    """Compute the figures over the selected debates of ``store``.

    Args:
        store: holds the records.
        selection: which debates are counted.
        rereads: read every record and check its chain, whatever the store keeps.

    Raises:
        InvalidInputError: no debate has that format, and no format has that name.
        StoreError: the store cannot be read.
    """
    figures = Figures()
    for row in iterate_measures(store, selection, figures.left_out, rereads=rereads):
        figures.add(row)
    return figures


def iterate_measures(
    store: Store, selection: Selection, left_out: dict[str, str], *, rereads: bool = False
) -> Iterator[Measures]:
    """Yield the measures of each debate; ``left_out`` collects records that do not verify, with the reason."""
    listed = store.debates()
    known = {*FORMATS, *(row.format for row in listed)}
    if selection.format is not None and selection.format not in known:
        raise InvalidInputError(
            f"There is no format called {one_line(repr(selection.format), 40)}.",
            f"Formats are: {', '.join(sorted(known))}.",
        )
    table: Summaries | None = getattr(store, "summaries", None)
    wanted = filter(selection.takes, listed)
    while rows := list(islice(wanted, SUMMARIES_AT_ONCE)):
        kept = table.current([row.id for row in rows], MEASURES_VERSION) if table and not rereads else {}
        read: list[Summary] = []
        for row in rows:
            found = read_summary(kept[row.id], row) if row.id in kept else None
            found = found or _measures(store, row, left_out, read)
            if found is not None and selection.task_type in {None, found.task_type}:
                yield found
        if table is not None:
            table.keep(read)


def _measures(store: Store, row: DebateRow, left_out: dict[str, str], read: list[Summary]) -> Measures | None:
    """Measure a record; ``read`` collects the summary of one that was read whole."""
    events = store.read(row.id)
    try:
        fault = find_fault(events, None)
        if fault is None:
            measures = measure_debate(row.id, row.opened_at, History.of(sealed.event() for sealed in events))
            read += [make_summary(measures, events[-1].hash)] if events else []
            return measures
    except StoreError as error:
        # Written by a newer version, or damaged JSON.
        fault = error.cause
    left_out[row.id] = fault
    return None


def compute_multiple(store: Store, selection: Selection = Selection()) -> DebateMultiple:
    """How many times its cost the downside must be for a debate to pay, from the outcomes attached in ``store``.

    Only outcomes with a verdict count, of debates whose conclusion is comparable with the first proposer's output.
    """
    rows = [
        VerifiedOutcome(row.verdict, row.agrees)
        for row in iterate_measures(store, selection, {})
        if row.verdict and row.agrees is not None
    ]
    return estimate_multiple(rows)
