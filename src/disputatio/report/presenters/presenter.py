"""Present the results of a format. A presenter knows its format and no surface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from disputatio.formats.registry import FORMATS
from disputatio.report.blocks import Entry, Points, Section
from disputatio.report.custom_format import outcome_statements
from disputatio.report.judges import JuryReading, how_judged
from disputatio.report.reading import DebateReport

RECOMMENDATION, DECISION, RESULT = "Recommendation", "Decision", "Result"
FEW = 8
IsStated = Callable[[str], bool]
"""Whether the first screen of the document already states a text in full."""


@dataclass(frozen=True, slots=True)
class Gist:
    """What the first screen needs of a result. An empty ``decision`` says that there is none."""

    label: str = RESULT
    decision: str = ""
    rests_on: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    scores: str = ""
    notes: tuple[str, ...] = ()


class Presenter:
    """Presents the result of a format that is not known here, entry by entry."""

    speakers = "sides"
    """What those who argue are called."""
    has_trace = False
    """Whether its arguments are traced, so that sources without citations are worth a sentence."""
    asks_again = True
    """Whether a seat that breaks a rule is asked again."""
    checks_figures = False
    """Whether its own sentences say how the evidence was checked."""

    def gist(self, report: DebateReport) -> Gist:
        """What the first screen needs."""
        outcome = report.outcome
        result = next(filter(None, map(outcome.get, ("recommendation", "reading", "decision", "winner"))), "")
        # A known format that left nothing to read has no result; what an unknown one left is shown below, by entry.
        many = 0 if report.format in FORMATS else len(outcome)
        noun = "entry" if many == 1 else "entries"
        return Gist(RESULT, str(result) or (f"See the outcome: {many:,} {noun}." if many else ""))

    def sections(self, report: DebateReport, is_stated: IsStated) -> tuple[Section, ...]:  # noqa: ARG002
        """The result in full, as sections; empty where there is none.

        Args:
            report: the debate.
            is_stated: tells which texts the reader already has in full.
        """
        if not report.closed:
            return ()
        rows = []
        for row in outcome_statements(report.outcome):
            points = (f"{label}: {text}" if label else text for label, text in row.points)
            rows.append(Entry(row.mark, (row.lead, *points)))
        return (Section("Outcome", (Points(tuple(rows)),), key="briefing"),) if rows else ()

    def sureness(self, report: DebateReport) -> list[str]:
        """How far the result can be trusted, in sentences."""
        findings = [row for row in report.turns if row.kind.concludes]
        return [how_judged(JuryReading.of(report.outcome), len(findings))]

    def sentence(self, report: DebateReport) -> str:
        """The result in one sentence, as the first version of the JSON export has it."""
        return str(report.outcome.get("recommendation") or report.outcome.get("reading") or "")
