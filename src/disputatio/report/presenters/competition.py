"""Presents the result of a competition: scoreboard, speeches, penalties and the judge's summaries."""

from __future__ import annotations

from disputatio.report.amounts import capital, counted, seat_name, spoken
from disputatio.report.blocks import Block, Bullets, Cell, Entry, Grid, Paragraph, Points, Section, Under, grid
from disputatio.report.match import MatchReading, match_reading, match_sureness, speeches_by_path
from disputatio.report.presenters.presenter import RESULT, Gist, IsStated, Presenter
from disputatio.report.reading import DebateReport


class CompetitionPresenter(Presenter):
    """Presents competitions."""

    speakers = "debaters"
    asks_again = False

    def gist(self, report: DebateReport) -> Gist:
        """What the first screen needs."""
        match = _match(report)
        each = [f"{seat_name(row.who)} {row.per_speech} a speech" for row in match.teams if row.mean is not None]
        fined = [f"{seat_name(row.who)} {row.penalties}" for row in match.teams if row.penalties]
        decisive = dict(match.final).get("decisive", "")
        return Gist(
            RESULT,
            f"{match.sentence.rstrip('.')}.",
            (
                f"The judge: {decisive}" if decisive else "",
                f"{capital(', '.join(each))}." if each else "",
                f"Penalties: {', '.join(fined)}." if fined else "No penalty was given.",
            ),
            match.notes,
            f"{', '.join(f'{seat_name(row.who)} {row.shown}' for row in match.teams)}. Best debater: {match.best}.",
        )

    def sections(self, report: DebateReport, is_stated: IsStated) -> tuple[Section, ...]:  # noqa: ARG002
        """The scoreboard, the speeches, what broke rules, and the judge's summaries."""
        match = _match(report)
        fouls = tuple(f"{row.id} {seat_name(row.seat)}: {text}" for row in match.speeches for text in row.fouls)
        penalties = tuple(row.sentence for row in match.penalties)
        proven = sum(len(row.proven) for row in match.speeches)
        blocks: list[Block] = [Paragraph(f"{match.sentence}.", strong=True), Paragraph(f"Best debater: {match.best}")]
        blocks += [*map(Paragraph, match.notes), _scoreboard(match), Under("Speeches"), _speeches(report, match)]
        if penalties or proven:
            counts = f"{counted(len(penalties), 'penalty', 'penalties')} and {counted(proven, 'violation')}."
            blocks.append(Paragraph(counts))
        lists = [
            Section(title, (Bullets(rows),), key=title.lower(), is_at_turns=True)
            for title, rows in (("Penalties", penalties), ("Violations", fouls))
            if rows
        ]
        summaries: list[Block] = []
        for stage, points in match.stages:
            title = "Final verdict" if stage == "verdict" else f"Summary of {spoken(stage)}"
            entries = tuple(Entry(label.capitalize(), (text,)) for label, text in points)
            summaries += [Under(title), Points(entries, brief=True)] if entries else []
        words = [Section("The judge's summaries", tuple(summaries), key="summaries")] if summaries else []
        return (Section("Scoreboard", tuple(blocks), key="scoreboard"), *lists, *words)

    def sureness(self, report: DebateReport) -> list[str]:
        """How far the result can be trusted, in sentences."""
        return match_sureness(_match(report))

    def sentence(self, report: DebateReport) -> str:
        """The result in one sentence, with the best debater."""
        match = _match(report)
        return f"{match.sentence}. Best debater: {match.best}."


def _scoreboard(match: MatchReading) -> Grid:
    rows = []
    for team in match.teams:
        debaters = [row for row in match.debaters if row.who.startswith(f"{team.who}_")]
        for peers in (match.teams, match.debaters):
            most = max((row.total for row in peers if row.total is not None), default=0)
            for row in (team,) if peers is match.teams else debaters:
                share = max(row.total / most, 0.0) if row.total is not None and most > 0 else None
                rows.append(
                    (
                        Cell(seat_name(row.who), mark=row.who),
                        row.style or ("team" if row is team else "-"),
                        f"{row.speeches}{f' ({row.unscored} unscored)' if row.unscored else ''}",
                        str(row.penalties or "-"),
                        Cell(row.shown, mark=row.who, share=share),
                        row.per_speech,
                    )
                )
    return grid(
        ("who", "argues", "speeches", "penalties", "total", "a speech"), rows, numbers=range(2, 6), names_rows=True
    )


def _speeches(report: DebateReport, match: MatchReading) -> Grid:
    turns = {speech.id: path for path, speech in speeches_by_path(report).items()}
    rows = [
        (
            Cell(row.id, turn=turns.get(row.id, "")),
            Cell(seat_name(row.seat), mark=row.seat),
            f"{row.kind}{' (captain)' if row.selected_by == 'captain' else ''}",
            row.clock,
            row.cost or "-",
            row.shown,
            row.selected_by,
            row.criteria,
        )
        for row in match.speeches
    ]
    head = ("speech", "speaker", "kind", "words / limit", "penalty", "score", "selected by", "criteria")
    return grid(head, rows, numbers=(3, 5), details=(6, 7), names_rows=True)


def _match(report: DebateReport) -> MatchReading:
    match = match_reading(report)
    assert match is not None  # noqa: S101  (the registry chose this presenter because it is one)
    return match
