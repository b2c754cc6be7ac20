"""A debate and its result, and the debates of a store: one by its id, or all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio.errors import DisputatioError, ExitCode, InvalidInputError
from disputatio.errors.quoting import quote

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

    from disputatio.record.chain import Sealed
    from disputatio.record.events import Event
    from disputatio.record.store import Store
    from disputatio.report.reading import DebateReport
    from disputatio.results import (
        Argument,
        Call,
        Citation,
        Cost,
        Decision,
        Doubt,
        Result,
        Score,
        Turn,
        Verdict,
        Vote,
    )
    from disputatio.results.tables import TableName


@dataclass(frozen=True, repr=False)
class Debate:
    """A debate, read from its record.

    The result is a set of typed values: ``decision``, ``doubts``, ``arguments`` and so on, see `disputatio.results`.
    They exist for every format and every ending. Each is computed at its first use.

    Attributes:
        id: its id in the store.
        record: all events in order, as they are stored: in their envelopes.
        texts: the prompts, schemas and evidence that events refer to, by SHA-256.
    """

    id: str
    record: tuple[Sealed, ...]
    texts: Mapping[str, str]

    @property
    def events(self) -> tuple[Event, ...]:
        """All events in order."""
        return tuple(sealed.event() for sealed in self.record)

    @property
    def status(self) -> str:
        """``COMPLETE``, ``DEGRADED``, ``DEBATE_TRUNCATED``, ``FAILED``, ``INTERRUPTED`` or ``IMPORTED``."""
        from disputatio.record.history import History

        return History.of(self.events).status.value

    @property
    def outcome(self) -> Mapping[str, Any]:
        """The outcome of the rules; empty until the debate is closed."""
        from disputatio.record.history import History

        closed = History.of(self.events).closed
        return closed.outcome if closed else {}

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that the command line returns for it."""
        if self.outcome.get("fault"):
            return ExitCode.INVALID_INPUT
        return _EXIT_CODES.get(self.status, ExitCode.INTERRUPTED)

    @property
    def decision(self) -> Decision:
        """The decision, as on the first screen. It is false if there is none."""
        return self.result.decision

    @property
    def recommendation(self) -> str | None:
        """The recommendation; None if the decision is of another kind or missing."""
        return self.result.recommendation

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """The doubts about the result, the worst first. There is always one."""
        return self.result.doubts

    @property
    def verdict(self) -> Verdict | None:
        """The verdict, whose type depends on the format; None if there is none."""
        return self.result.verdict

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Every argument and its standing; empty in formats without arguments."""
        return self.result.arguments

    @property
    def scores(self) -> tuple[Score, ...]:
        """Every score, including missing ones. The state of each says why."""
        return self.result.scores

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Every citation, and how code found it in the sources."""
        return self.result.citations

    @property
    def votes(self) -> tuple[Vote, ...]:
        """Every vote of a panel after each phase, and every vote of several judges."""
        return self.result.votes

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Every turn that was asked for, including missing ones."""
        return self.result.turns

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call to a model."""
        return self.result.calls

    @property
    def cost(self) -> Cost:
        """The calls, tokens, money and time that it took."""
        return self.result.cost

    @cached_property
    def result(self) -> Result:
        """All of these values in one object, which needs neither store nor record."""
        from disputatio.results import Result

        return Result(self.report())

    def to_frame(self, table: TableName = "arguments") -> DataFrame:
        """A table of the debate as a pandas data frame, with the columns of ``docs/reference/tables.md``.

        Args:
            table: ``debates``, ``turns``, ``arguments``, ``scores``, ``votes``, ``citations``, ``doubts`` or
                ``calls``. A debate that has no such rows gives an empty frame with all columns.

        Raises:
            InvalidInputError: there is no such table, or pandas is not installed.
        """
        from disputatio.results.frames import frame_of

        return frame_of([self.result], table)

    def __repr__(self) -> str:
        from disputatio.results.shown import short_text

        try:
            return short_text(self.result)
        except DisputatioError as error:
            return f"<Debate {self.id}: {error.cause}>"

    def _repr_html_(self) -> str:
        """The first screen and the argument map, for notebooks."""
        from disputatio.results.shown import notebook_html

        return notebook_html(self.result)

    def text(self, width: int = 100) -> str:
        """The debate as plain text, ``width`` columns wide."""
        from disputatio.report.text import render_text

        return render_text(self.report(), width)

    def markdown(self) -> str:
        """The debate as Markdown."""
        from disputatio.report.markdown import render_markdown

        return render_markdown(self.report())

    def html(self) -> str:
        """The debate as one HTML page with its argument map, which needs no network."""
        from disputatio.report.page import render_page

        return render_page(self.report())

    def argdown(self) -> str:
        """The argument map in Argdown, for tools that draw and edit such maps."""
        from disputatio.report.argdown import render_argdown

        return render_argdown(self.report())

    def as_json(self) -> Mapping[str, Any]:
        """The debate under the published, versioned export schema."""
        from disputatio.report.json_export import export_json

        return export_json(self.report())

    def for_audience(self) -> Debate:
        """What may be shown to everybody: the whole debate, unless people take part in it and it is not over.

        See `disputatio.report.audience`. The store itself has the whole debate.
        """
        from disputatio.report.audience import for_audience

        visible = for_audience(self.record)
        if visible is None:
            return self
        # Prompts repeat what their seat may see. Everybody sees the sources. Each seat sees a part of a knowledge base.
        evidence = [row for sealed in self.record[:1] for row in getattr(sealed.event(), "evidence", ())]
        sources = {str(row.get("text")) for row in evidence if row.get("kind") != "knowledge"}
        return replace(self, record=visible, texts={key: text for key, text in self.texts.items() if key in sources})

    def report(self) -> DebateReport:
        """The report from which every surface is made."""
        from disputatio.report.reading import DebateReport

        return DebateReport.of(self.id, self.record, self.texts)


_EXIT_CODES = {
    "COMPLETE": ExitCode.COMPLETE,
    "IMPORTED": ExitCode.COMPLETE,
    "DEGRADED": ExitCode.DEGRADED,
    "DEBATE_TRUNCATED": ExitCode.TRUNCATED,
    "FAILED": ExitCode.PROVIDER,
}


def open_store(url: str | Path | None = None, *, create: bool = True) -> Store:
    """Open the store at ``url``, or the configured one, which is SQLite in the user's data folder by default.

    Raises:
        StoreError: it cannot be opened, or was written by a newer version.
    """
    from disputatio.record.sql import SqlStore

    check_store(url)
    return SqlStore(usual_store() if url is None else str(url), create=create)


def usual_store() -> str:
    """The configured address of the store."""
    from disputatio.config import Arguments
    from disputatio.config.process import configured_store

    return configured_store(Arguments()).store


def check_store(store: object) -> None:
    """Refuse a value that is neither a store nor an address, before anything is spent.

    Raises:
        InvalidInputError: it is something else.
    """
    if not (store is None or isinstance(store, str | Path) or hasattr(store, "claim")):
        raise InvalidInputError(
            f"store is {quote(store)}, which cannot be used.",
            "Give the address of a store, the path of a file, or a store such as MemoryStore().",
        )


def read_debate(store: Store, debate_id: str) -> Debate:
    """Read a debate without checking its chain, which ``verify`` does."""
    return Debate(debate_id, tuple(store.read(debate_id)), store.texts(debate_id))


def load(debate_id: str, *, store: Store | str | Path | None = None) -> Debate:
    """Load a debate from a store, whether or not it has ended, and verify its record.

    Args:
        debate_id: its id, or the beginning of it.
        store: where its record is; the configured store by default.

    Raises:
        UnknownDebateError: no debate or several debates of the store fit.
        VerificationError: its record was altered.
        StoreError: the store cannot be read.
    """
    with _reading(store) as opened:
        return _verified(opened, debate_id)


def load_all(
    *,
    since: str | None = None,
    format: str | None = None,  # noqa: A002  (the word users know)
    store: Store | str | Path | None = None,
) -> Iterator[Debate]:
    """Load the debates of a store one by one, the newest first, and verify the record of each.

    Args:
        since: the first day in UTC, such as ``2026-01-31``; all debates by default.
        format: only debates of this format.
        store: where the records are; the configured store by default.

    Raises:
        InvalidInputError: ``since`` is not a day.
        VerificationError: a record was altered.
        StoreError: the store cannot be read.
    """
    from disputatio.metrics.collecting import Selection

    selection = Selection(since, format)
    with _reading(store) as opened:
        for row in filter(selection.takes, opened.debates()):
            yield _verified(opened, row.id)


def _verified(store: Store, debate_id: str) -> Debate:
    from disputatio.record.verified import find_debate, read_verified

    found = find_debate(store, debate_id)
    return Debate(found, tuple(read_verified(store, found)), store.texts(found))


@contextmanager
def _reading(store: Store | str | Path | None) -> Iterator[Store]:
    """The given store, or the store at an address, which is closed at the end."""
    from disputatio.record.sql import SqlStore

    check_store(store)
    if store is not None and not isinstance(store, str | Path):
        yield store
        return
    opened = SqlStore(usual_store() if store is None else str(store), create=False)
    try:
        yield opened
    finally:
        opened.close()
