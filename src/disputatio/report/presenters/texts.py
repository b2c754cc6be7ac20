"""Presents results that are texts: of free-form debates, single answers, own formats and imported transcripts."""

from __future__ import annotations

from disputatio.formats.turns.monologue import HEADINGS
from disputatio.motion import one_line
from disputatio.report.amounts import capital, counted
from disputatio.report.blocks import Entry, Points, Section
from disputatio.report.imported import imported_sureness
from disputatio.report.json_values import as_list, as_object
from disputatio.report.presenters.presenter import FEW, RECOMMENDATION, RESULT, Gist, IsStated, Presenter
from disputatio.report.reading import DebateReport
from disputatio.report.verdict import five_headings

_MOST = 600
_ON_FIRST_SCREEN = frozenset({HEADINGS["recommendation"], HEADINGS["uncertain_areas"]})


class FreeformPresenter(Presenter):
    """The judge's five headings of a free-form debate."""

    def gist(self, report: DebateReport) -> Gist:
        """What the first screen needs."""
        texts = {key: str(value) for key, value in as_object(report.outcome.get("headings")).items() if value}
        named = (("Pro", "pro_strengths"), ("Con", "con_strengths"))
        sides = [f"{side}: {texts[key]}" for side, key in named if key in texts]
        agreed = texts.get("areas_of_agreement", "")
        return Gist(
            RECOMMENDATION,
            texts.get("recommendation") or str(report.outcome.get("recommendation") or ""),
            (*([f"Agreed: {agreed}"] if agreed else []), *sides),
            tuple(filter(None, [texts.get("uncertain_areas", "")])),
        )

    def sections(self, report: DebateReport, is_stated: IsStated) -> tuple[Section, ...]:
        """The headings that the first screen does not state."""
        rows = [
            Entry(title, (text,))
            for title, text in five_headings(report) or ()
            if not (title in _ON_FIRST_SCREEN and is_stated(text))
        ]
        return (Section("Judge's finding", (Points(tuple(rows)),), key="briefing"),) if rows else ()


class SinglePresenter(Presenter):
    """The answer that most samples gave."""

    def gist(self, report: DebateReport) -> Gist:
        """What the first screen needs."""
        winner = report.outcome.get("winner")
        counts = {str(key): value for key, value in as_object(report.outcome.get("tally")).items()}
        total = sum(value for value in counts.values() if isinstance(value, int))
        scores = ", ".join(f"{one_line(key, 60)} {value} of {total}" for key, value in counts.items())
        known = [str(row) for row in as_list(report.outcome.get("confidence")) if isinstance(row, int | float)]
        return Gist(
            "Answer",
            "" if winner is None else str(winner),
            (
                f"Answers: {scores}." if scores else "",
                f"Its own confidence: {', '.join(known[:FEW])} of 100." if known else "",
            ),
        )


class CustomPresenter(Presenter):
    """What rules of the user's own returned."""

    def gist(self, report: DebateReport) -> Gist:
        """What the first screen needs."""
        winner, reading = report.outcome.get("winner"), report.outcome.get("reading")
        result = f"{capital(str(reading).rstrip('.'))}." if reading else f"Winner: {winner}." if winner else ""
        values = as_object(report.outcome.get("result")).items()
        keys = [f"{key}: {value}" for key, value in values if isinstance(value, str | int | float)]
        rests_on = (f"Winner: {winner}." if winner and reading else "",)
        return Gist(RESULT, result or one_line("; ".join(keys), _MOST), rests_on)

    def sureness(self, report: DebateReport) -> list[str]:  # noqa: ARG002
        """How far the result can be trusted, in sentences."""
        return ["by rules of the user's own: what they count, and how, is theirs"]


class ImportedPresenter(Presenter):
    """What the transcript of an imported debate states as its result."""

    def gist(self, report: DebateReport) -> Gist:
        """What the first screen needs."""
        number = len(as_list(report.outcome.get("judgments")))
        # Without judgments the record has a sentence that says so, which is no result.
        names = ("recommendation", "reading", *(("judgment",) if number else ()))
        return Gist(
            "Stated result",
            str(next(filter(None, map(report.outcome.get, names)), "")),
            (
                f"{counted(len(report.turns), 'turn')} of a transcript.",
                f"{counted(number, 'judgment')}, as the transcript states them." if number else "",
            ),
        )

    def sureness(self, report: DebateReport) -> list[str]:
        """How far the result can be trusted, in sentences."""
        return list(imported_sureness(report))
