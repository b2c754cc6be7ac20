"""Presents the decision of a panel: the votes after every phase, the debaters, the findings and the report."""

from __future__ import annotations

from disputatio.report.amounts import capital, listed, seat_name, spoken
from disputatio.report.blocks import Block, Cell, Grid, Paragraph, Preformatted, Said, Section, Under, grid
from disputatio.report.json_values import as_object
from disputatio.report.panel import PanelReading, escalation_sentences, panel_reading, panel_sureness, tally_words
from disputatio.report.presenters.presenter import DECISION, Gist, IsStated, Presenter
from disputatio.report.reading import DebateReport


class PanelPresenter(Presenter):
    """Presents panels."""

    speakers = "debaters"

    def gist(self, report: DebateReport) -> Gist:
        """What the first screen needs."""
        panel = _panel(report)
        moved = [seat_name(row.name) for row in panel.debaters if row.changed]
        unmoved = [seat_name(row.name) for row in panel.debaters if not row.changed]
        rule = str(as_object(report.outcome.get("report")).get("decision_rule") or "")
        changes = [f"{listed(moved)} changed {'its' if len(moved) == 1 else 'their'} vote" if moved else ""]
        changes += [f"{listed(unmoved)} never did" if moved and unmoved else "" if moved else "no vote changed"]
        dissent = [
            f"{seat_name(row.voter)} votes {row.vote}"
            for row in (panel.counts[-1].ballots if panel.counts else ())
            if row.vote and panel.decision and row.vote != panel.decision
        ]
        return Gist(
            DECISION,
            capital(f"{panel.sentence.rstrip('.')}.").replace(rule, spoken(rule)) if rule else panel.sentence,
            (f"Votes at the end: {tally_words(panel)}.", capital(f"{'; '.join(filter(None, changes))}.")),
            (*escalation_sentences(report), *(f"{row}." for row in dissent)),
        )

    def sections(self, report: DebateReport, is_stated: IsStated) -> tuple[Section, ...]:  # noqa: ARG002
        """The votes, the debaters, the findings for the author and the report."""
        panel = _panel(report)
        head = ("after", *panel.options, *(row.name for row in panel.debaters), "result")
        rows: list[tuple[Cell | str, ...]] = [
            (
                count.after,
                *(count.votes_for(option) for option in panel.options),
                *(Cell(ballot.shown, note="" if ballot.vote else ballot.why) for ballot in count.ballots),
                count.result,
            )
            for count in panel.counts
        ]
        options, debaters = len(panel.options), len(panel.debaters)
        votes = grid(
            head,
            rows,
            numbers=range(1, options + 1),
            details=range(options + 1, options + debaters + 1),
            names_rows=True,
        )
        blocks: list[Block] = [Paragraph(panel.sentence, strong=True)]
        blocks += [*map(Paragraph, escalation_sentences(report)), Paragraph(panel.rule_text)]
        blocks += [votes, *map(Paragraph, panel.notes)]
        blocks += [Under("Debaters"), _debaters(panel)]
        if panel.findings:
            findings = (Said(f"{name}: {stance}", (rationale,)) for name, stance, rationale in panel.findings)
            blocks += [Under("Findings for the author"), *findings]
        blocks += [Under("Report"), Preformatted(panel.report_text)]
        return (Section("Votes after each phase", tuple(blocks), key="votes"),)

    def sureness(self, report: DebateReport) -> list[str]:
        """How far the decision can be trusted, in sentences."""
        return panel_sureness(_panel(report))

    def sentence(self, report: DebateReport) -> str:
        """The decision in one sentence."""
        return _panel(report).sentence


def _debaters(panel: PanelReading) -> Grid:
    rows = [
        (
            Cell(row.name, mark=row.name),
            ", ".join(row.votes) or "-",
            str(row.changed),
            f"{row.words} ({row.share})",
            f"{row.model or 'not a model'}{', with a persona' if row.persona else ''}",
        )
        for row in panel.debaters
    ]
    return grid(
        ("debater", "votes in order", "changed", "words", "model"), rows, numbers=(2, 3), details=(4,), names_rows=True
    )


def _panel(report: DebateReport) -> PanelReading:
    panel = panel_reading(report)
    assert panel is not None  # noqa: S101  (the registry chose this presenter because it is one)
    return panel
