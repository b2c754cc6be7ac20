"""Chooses the presenter of a debate. What a foreign record holds under a known name is read as far as it goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from disputatio.motion import one_line
from disputatio.report.amounts import counted, listed
from disputatio.report.citations import checked_sentence, unstated_sentence
from disputatio.report.custom_format import is_own_outcome
from disputatio.report.headings import in_phase
from disputatio.report.market import is_market
from disputatio.report.match import match_reading
from disputatio.report.panel import panel_reading
from disputatio.report.presenters.competition import CompetitionPresenter
from disputatio.report.presenters.panel import PanelPresenter
from disputatio.report.presenters.presenter import Presenter
from disputatio.report.presenters.structured import MarketPresenter, ReviewPresenter, StructuredPresenter
from disputatio.report.presenters.texts import CustomPresenter, FreeformPresenter, ImportedPresenter, SinglePresenter
from disputatio.report.reading import DebateReport, EntryState
from disputatio.report.review import is_review
from disputatio.report.verdict import five_headings, structured_reading

_PRESENTERS: tuple[tuple[Callable[[DebateReport], Any], Presenter], ...] = (
    (lambda report: report.imported is not None, ImportedPresenter()),
    (lambda report: is_own_outcome(report.outcome), CustomPresenter()),
    (lambda report: is_market(report.outcome) and structured_reading(report), MarketPresenter()),
    (lambda report: is_review(report.outcome) and structured_reading(report), ReviewPresenter()),
    (structured_reading, StructuredPresenter()),
    (panel_reading, PanelPresenter()),
    (match_reading, CompetitionPresenter()),
    (five_headings, FreeformPresenter()),
    (lambda report: report.outcome.get("format") == "single", SinglePresenter()),
)
_OTHER = Presenter()


def presenter_of(report: DebateReport) -> Presenter:
    """The presenter of the format of ``report``; one that shows the outcome entry by entry where it is not known."""
    return next((presenter for fits, presenter in _PRESENTERS if fits(report)), _OTHER)


def sureness(report: DebateReport) -> tuple[str, ...]:
    """How far the result can be trusted, in sentences: what was checked, and what was not."""
    presenter = presenter_of(report)
    rows = presenter.sureness(report)
    if report.imported is not None:
        return (*rows, *_warnings(report))
    rows += [*_conduct(report, presenter), *_warnings(report), _evidence(report, presenter)]
    return tuple(row for row in rows if row)


def _warnings(report: DebateReport) -> list[str]:
    # An id at the beginning, such as C1.2, keeps its letter.
    return [(f"{row[:1].lower()}{row[1:]}" if row[1:2].islower() else row).rstrip(".") for row in report.warnings]


def _evidence(report: DebateReport, presenter: Presenter) -> str:
    """How far what was said rests on the sources."""
    if presenter.checks_figures:
        return ""
    if report.citations or (report.evidence and presenter.has_trace):
        loose = unstated_sentence(row for entry in report.turns for row in entry.unstated)
        return "; ".join(filter(None, (checked_sentence(report.citations), loose)))
    return f"what the {presenter.speakers} state as evidence was not checked against any source"


def _conduct(report: DebateReport, presenter: Presenter) -> list[str]:
    """What went not quite by the rules."""
    broken = [row for row in report.turns if row.violations]
    mended = sum(row.repaired for row in report.turns)
    silent = sum(row.state is EntryState.ABSTAINED for row in report.entries)
    rows = []
    if broken:
        seats = listed(list(dict.fromkeys(one_line(f"{row.seat} in {in_phase(row.phase)}") for row in broken)))
        number = sum(len(row.violations) for row in broken)
        again = " after asking again" if presenter.asks_again else ""
        rows.append(f"{counted(number, 'broken rule')} accepted{again} ({seats})")
    if report.rejections:
        rows.append(f"{counted(len(report.rejections), 'answer')} not accepted and asked again")
    if mended:
        rows.append(f"the JSON of {counted(mended, 'turn')} had to be mended")
    if silent:
        rows.append(counted(silent, "abstention"))
    return rows
