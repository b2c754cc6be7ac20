"""The baselines of a debate, as every surface shows them: the answer of each, and its cost.

The first row is the debate itself. Agreement with a baseline proves nothing, and neither does the lack of it: one
motion shows what a debate adds in this case at this price, and `disputatio eval` whether it adds anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from disputatio.kernel import JsonObject
from disputatio.motion import one_line
from disputatio.record.events import BaselineHeld
from disputatio.report.amounts import counted, dollars
from disputatio.report.spending import Totals
from disputatio.report.text_spans import Line, Role, Span, flow, span

HEADS = ("", "came to", "tokens", "of the debate's", "cost", "calls", "record")
_NAMES = {"single": "Single answer", "vote": "Vote of single answers", "freeform": "Free-form debate"}
_MOST_ANSWER = 600
MEANING = (
    "A vote has as many single answers as come nearest to the tokens of the debate. That a debate and its baselines "
    "agree, or do not, shows nothing on one motion; the command eval measures it on many."
)


class Shown(Protocol):
    """What is needed of a report for the table."""

    @property
    def id(self) -> str:
        """The debate's id."""

    @property
    def baselines(self) -> tuple[BaselineReading, ...]:
        """The baselines."""

    @property
    def totals(self) -> Totals:
        """What it took."""


@dataclass(frozen=True, slots=True)
class BaselineReading:
    """One baseline. ``share`` is its tokens over those of the debate; None where the debate's are not known."""

    name: str
    answer: str
    votes: str
    samples: int
    tokens: int
    calls: int
    usd: Decimal | None
    share: float | None
    debates: tuple[str, ...]
    failure: str

    @classmethod
    def of(cls, event: BaselineHeld) -> BaselineReading:
        """The baseline that ``event`` records."""
        tally = sorted(event.tally.items(), key=lambda row: -int(str(row[1])))
        return cls(
            event.baseline,
            one_line(event.answer, _MOST_ANSWER),
            ", ".join(f"{one_line(answer, 60)} {votes}" for answer, votes in tally),
            event.samples,
            event.tokens,
            event.calls,
            None if event.usd is None else Decimal(event.usd),
            event.tokens / event.debate_tokens if event.debate_tokens else None,
            tuple(one_line(row, 80) for row in event.debates),
            one_line(event.failure, 400),
        )

    @property
    def title(self) -> str:
        """Its name."""
        return _NAMES.get(self.name, self.name)

    @property
    def came_to(self) -> str:
        """Its answer, with the votes where there were several, or why there is none."""
        if not self.answer:
            return f"no answer: {self.failure or 'nobody answered'}"
        return f"{self.answer} ({self.votes})" if self.name == "vote" and self.votes else self.answer

    @property
    def cells(self) -> tuple[str, ...]:
        """Its row of the table, by ``HEADS``."""
        share = "" if self.share is None else f"{100 * self.share:.0f} %"
        usd = "price unknown" if self.usd is None else dollars(self.usd)
        records = ", ".join(self.debates[:3]) + (f" and {len(self.debates) - 3} more" if len(self.debates) > 3 else "")
        return (self.title, self.came_to, f"{self.tokens:,}", share, usd, str(self.calls), records)

    def as_json(self) -> JsonObject:
        """The baseline as the export has it."""
        return {
            "baseline": self.name,
            "answer": self.answer,
            "votes": self.votes,
            "samples": self.samples,
            "tokens": self.tokens,
            "of_the_debates_tokens": None if self.share is None else round(self.share, 4),
            "usd": None if self.usd is None else str(self.usd),
            "calls": self.calls,
            "debates": list(self.debates),
            "failure": self.failure,
        }


def table_of(report: Shown, verdict: str) -> tuple[tuple[str, ...], ...]:
    """The debate and its baselines, by ``HEADS``; empty without baselines."""
    if not report.baselines:
        return ()
    spent = report.totals
    tokens = (spent.input_tokens or 0) + (spent.output_tokens or 0)
    debate_row = debate_cells(verdict, tokens, None if spent.unpriced else spent.usd, spent.calls, report.id)
    return (debate_row, *(row.cells for row in report.baselines))


def debate_cells(verdict: str, tokens: int, usd: Decimal | None, calls: int, debate: str) -> tuple[str, ...]:
    """The debate's own row of the table."""
    cost = "price unknown" if usd is None else dollars(usd)
    return ("This debate", verdict, f"{tokens:,}", "", cost, str(calls), debate)


def baseline_lines(rows: Iterable[tuple[str, ...]], width: int) -> list[Line]:
    """The table as lines for narrow screens: what each came to, then what it took; nothing without baselines."""
    found = list(rows)
    if len(found) < 2:
        return []
    measure = min(width, 100)
    lines: list[Line] = [(), (Span("Baselines", Role.TITLE),)]
    for title, came_to, tokens, share, usd, calls, record in found:
        took = f"{tokens} tokens{f' ({share} of the debate)' if share else ''}, {usd}, {counted(int(calls), 'call')}"
        lines += flow([span(f"{title}: ", Role.LEAD), span(came_to)], measure, first=(Span("  "),), hang=4)
        lines += flow([span(f"{took}; {record}", Role.QUIET)], measure, first=(Span("    "),), hang=4)
    return [*lines, *flow([span(MEANING, Role.QUIET)], measure, first=(Span("  "),), hang=2)]
