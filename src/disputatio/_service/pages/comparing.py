"""Two debates side by side: their set-up, results and costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from disputatio.report.amounts import dollars, duration, spoken
from disputatio.report.headings import heading
from disputatio.report.presenters.registry import sureness
from disputatio.report.reading import DebateReport
from disputatio.report.summary import result_sentence
from disputatio.report.verdict import structured_reading


@dataclass(frozen=True, slots=True)
class TraceRow:
    """An argument with what became of it."""

    id: str
    claim: str
    standing: str


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two."""

    id: str
    motion: str
    trace: tuple[TraceRow, ...]
    lines: dict[str, str]


def side_of(report: DebateReport) -> Side:
    """A debate in a comparison."""
    verdict = structured_reading(report)
    totals = report.totals
    tokens = None if totals.input_tokens is None else totals.input_tokens + (totals.output_tokens or 0)
    lines = {
        "Status": spoken(heading(report).status.value),
        "Format": spoken(report.format),
        "Language": report.language,
        "Result": result_sentence(report),
    }
    if verdict is not None:
        lines |= {
            f"Score of {side}": "none" if total is None else f"{total:.2f}" for side, total in verdict.totals.items()
        }
    lines |= {f"Seat {row.seat}": row.shown for row in report.seats}
    lines |= {
        "How sure": "; ".join(sureness(report)) or "nothing is said",
        "Missing turns": str(len(report.missing)),
        "Calls": str(totals.calls),
        "Tokens": "unknown" if tokens is None else f"{tokens:,}",
        "Cost": "unknown" if totals.usd is None else dollars(totals.usd),
        "Time": "unknown" if totals.seconds is None else duration(totals.seconds),
        "Sources": str(len(report.evidence)),
        "Software": report.software or "unknown",
        "Record": report.head[:16] if report.head else "unknown",
    }
    trace = tuple(
        TraceRow(row.id, row.claim, spoken(str(row.judged or row.computed or "no finding")))
        for row in (verdict.trace if verdict else ())
    )
    return Side(report.id, report.motion, trace, lines)


def compared(one: Side, other: Side) -> Sequence[tuple[str, str, str]]:
    """The rows of both, in the order of the first. A dash marks what only the other has."""
    labels = dict.fromkeys([*one.lines, *other.lines])
    seats = [label for label in labels if label.startswith(("Seat ", "Score of "))]
    rest = [label for label in labels if label not in seats]
    place = rest.index("Result") + 1
    ordered = [*rest[:place], *sorted(seats, key=lambda label: not label.startswith("Score")), *rest[place:]]
    return _together([(label, one.lines.get(label, "-"), other.lines.get(label, "-")) for label in ordered])


def _together(rows: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The rows, seats that are taken alike on both sides in one."""
    found: list[tuple[str, str, str]] = []
    for label, one, other in rows:
        before = found[-1] if found else ("", "", "")
        if label.startswith("Seat ") and before[0].startswith("Seat") and before[1:] == (one, other):
            names = before[0].partition(" ")[2]
            found[-1] = (f"Seats {names}, {label.removeprefix('Seat ')}", one, other)
        else:
            found.append((label, one, other))
    return found
