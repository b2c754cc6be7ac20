"""Presents debates with arguments, responses and one or several judges: structured debates, markets and reviews."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from disputatio.motion import one_line
from disputatio.report.amounts import capital, counted, seat_name
from disputatio.report.blocks import ArgumentTrace, Block, Bullets, Cell, Entry, Grid, Paragraph, Points, Section, grid
from disputatio.report.doubts import contradiction
from disputatio.report.json_values import as_object
from disputatio.report.judges import Opinion, void_words
from disputatio.report.market import MarketReading, market_points, market_reading, market_sureness
from disputatio.report.movement import Movement, movements, withdrawn_arguments
from disputatio.report.presenters.presenter import (
    DECISION,
    FEW,
    RECOMMENDATION,
    RESULT,
    Gist,
    IsStated,
    Presenter,
)
from disputatio.report.reading import DebateReport
from disputatio.report.review import CriticismOutcome, ReviewReading, review_points, review_reading, review_sureness
from disputatio.report.verdict import NOT_TRUTH, FallacyLine, StructuredReading, structured_reading

_MAYBE_STATED = frozenset({"Recommendation", "Synthesis", "Unresolved", "Key disagreement", "Uncertain"})


class StructuredPresenter(Presenter):
    """Presents structured debates."""

    has_trace = True

    def gist(self, report: DebateReport) -> Gist:
        """What the first screen needs."""
        verdict = _verdict(report)
        panel = verdict.jury.panel
        undecided = bool(panel) and panel.get("status") != "won"
        if undecided or not verdict.recommendation:
            label, decision = (DECISION if undecided else RESULT), f"{capital(verdict.reading)}."
        else:
            label, decision = RECOMMENDATION, verdict.recommendation
        found_by = [f"{capital(verdict.reading)}."] if panel and not undecided and decision != verdict.reading else []
        return Gist(
            label,
            decision if verdict.judged else "",
            (*found_by, survival(report, verdict), *moves(report)),
            verdict.unresolved,
            scores_line(report, verdict, reading=label == RECOMMENDATION),
        )

    def sections(self, report: DebateReport, is_stated: IsStated) -> tuple[Section, ...]:
        """What each judge found, the argument trace and the decision briefing."""
        verdict = _verdict(report)
        sections = []
        if verdict.judged and verdict.jury.panel:
            sections.append(Section("Verdict", _jury(verdict), key="jury"))
        if verdict.trace:
            sections.append(Section("Argument trace", (ArgumentTrace(verdict),), key="trace"))
        points = []
        for row in self.points(report, verdict):
            texts = tuple(text for text in row.texts if row.label not in _MAYBE_STATED or not is_stated(text))
            points += [Entry(row.label, texts, numbered=row.numbered)] if texts else []
        briefing = [Section("Decision briefing", (Points(tuple(points)),), key="briefing")] if points else []
        return (*sections, *briefing)

    def points(self, report: DebateReport, verdict: StructuredReading) -> list[Entry]:  # noqa: ARG002
        """The entries of the decision briefing; without a judge, none that only a judge could give."""
        agreed = tuple(f"{row.id} {row.claim} ({row.conceded_by} conceded it)" for row in verdict.agreed)
        points = [Entry("Agreed", agreed or ("nothing: no side conceded a point that the other still holds",))]
        if not verdict.trace:
            points = []
        if not verdict.judged:
            return points
        insight = _each(verdict, lambda row: row.key_insight) or (verdict.key_insight or "none was given",)
        advice = _each(verdict, lambda row: row.recommendation) or (verdict.recommendation or "none was given",)
        return [
            Entry("Key insight", insight),
            *points,
            Entry("Unresolved", verdict.unresolved or ("the judge named nothing",), numbered=True),
            Entry("Recommendation", advice),
            Entry("Fallacies", tuple(map(_fallacy_words, verdict.fallacies)) or ("none found",)),
            *([Entry("No credit", tuple(map(_fallacy_words, verdict.irregular)))] if verdict.irregular else []),
        ]

    def sureness(self, report: DebateReport) -> list[str]:
        """How far the result can be trusted, in sentences."""
        verdict = _verdict(report)
        return [
            *super().sureness(report),
            *(verdict.jury.sureness() if verdict.judged else []),
            void_words([void for row in verdict.trace for void in row.voids]),
            *_standing(verdict),
            *_answers(verdict),
            _fallacies(verdict),
        ]

    def sentence(self, report: DebateReport) -> str:
        """The totals in words."""
        return _verdict(report).reading


class MarketPresenter(StructuredPresenter):
    """Presents market debates. A result is no forecast, and says so."""

    checks_figures = True

    def gist(self, report: DebateReport) -> Gist:
        """What the first screen needs."""
        verdict, market = _verdict(report), _market(report)
        disagreement = as_object(report.outcome.get("synthesis")).get("key_disagreement")
        return Gist(
            RESULT,
            f"{capital(verdict.reading)}." if verdict.judged else "",
            (survival(report, verdict), *moves(report), f"{market.subject}, as known on {market.day}."),
            (*([str(disagreement)] if disagreement else []), *verdict.unresolved),
            scores_line(report, verdict, reading=False),
            tuple(market.disclaimers),
        )

    def sections(self, report: DebateReport, is_stated: IsStated) -> tuple[Section, ...]:
        """The analysts, then what every such debate has."""
        market = _market(report)
        about = f"{market.subject}, as known on {market.day}; sources: {market.sources or 'none named'}."
        stances = tuple(f"{row.seat}: {row.stance}" for row in market.analysts if row.stance)
        analysts = Section("By analyst", (Paragraph(about), _analysts(market)), key="analysts")
        final = [Section("Final stances", (Bullets(stances),), key="stances", is_detail=True)] if stances else []
        return (analysts, *super().sections(report, is_stated), *final)

    def points(self, report: DebateReport, verdict: StructuredReading) -> list[Entry]:
        """The entries of the decision briefing."""
        rows = market_points(report.outcome)
        return [Entry(label, texts, numbered=True) for label, texts in rows] or super().points(report, verdict)

    def sureness(self, report: DebateReport) -> list[str]:
        """How far the result can be trusted, in sentences."""
        by_rules = any(row.seat == "judge" and row.kind == "analyst" for row in report.seats)
        return [*market_sureness(report), *([] if by_rules else _standing(_verdict(report)))]

    def sentence(self, report: DebateReport) -> str:
        """The totals in words, with the notes that must accompany them."""
        return " ".join((f"{_verdict(report).reading}.", *_market(report).disclaimers))


class ReviewPresenter(StructuredPresenter):
    """Presents reviews: a proposition, its criticisms and what became of them."""

    def gist(self, report: DebateReport) -> Gist:
        """What the first screen needs."""
        verdict, review = _verdict(report), _review(report)
        upheld, met = review.ids(CriticismOutcome.UPHELD), review.ids(CriticismOutcome.MET)
        unsettled = [f"{row.id}: {row.because or row.claim}" for row in review.ended(CriticismOutcome.UNRESOLVED)]
        unseen = [f"{row.id}: {row.claim} (not moderated)" for row in review.ended(CriticismOutcome.NOT_MODERATED)]
        ends = [f"upheld {_few(upheld)}" if upheld else "", f"met {_few(met)}" if met else ""]
        ends += [f"unresolved {len(unsettled)}" if unsettled else "", f"not moderated {len(unseen)}" if unseen else ""]
        summary, number = ", ".join(filter(None, ends)) or "none was raised", len(review.criticisms)
        confidence, strength = one_line(review.confidence, 40), review.challenge_strength
        doubtful = ", but the challenge was weak" if review.weak_challenge else ""
        totals = [f"{seat_name(side)} {total:.2f}" for side, total in verdict.totals.items() if total is not None]
        sure = f"the moderator's confidence: {confidence}{doubtful}" if confidence and verdict.judged else ""
        return Gist(
            RECOMMENDATION,
            verdict.recommendation or review.synthesis,
            (
                f"Of {counted(number, 'criticism')}: {summary}." if number else "No criticism was raised.",
                f"The rebutter conceded {_few(review.conceded)}." if review.conceded else "",
                f"Challenge strength {strength} of 10." if strength is not None and not review.weak_challenge else "",
            ),
            (*unsettled, *unseen, *review.uncertainties),
            f"{capital(NOT_TRUTH)}: {'; '.join(filter(None, [', '.join(totals), sure]))}." if verdict.judged else "",
        )

    def points(self, report: DebateReport, verdict: StructuredReading) -> list[Entry]:  # noqa: ARG002
        """The entries of the decision briefing."""
        return [Entry(label, texts, numbered=True) for label, texts in review_points(report.outcome)]

    def sureness(self, report: DebateReport) -> list[str]:
        """How far the result can be trusted, in sentences."""
        return [*review_sureness(report), *_standing(_verdict(report))]


def _verdict(report: DebateReport) -> StructuredReading:
    verdict = structured_reading(report)
    assert verdict is not None  # noqa: S101  (the registry chose this presenter because it has one)
    return verdict


def _market(report: DebateReport) -> MarketReading:
    market = market_reading(report)
    assert market is not None  # noqa: S101  (the registry chose this presenter because it is one)
    return market


def _review(report: DebateReport) -> ReviewReading:
    review = review_reading(report)
    assert review is not None  # noqa: S101  (the registry chose this presenter because it is one)
    return review


def _analysts(market: MarketReading) -> Grid:
    rows = [
        (
            Cell(row.seat, mark=row.seat),
            row.shown_score,
            row.shown_confidence,
            row.conviction or "-",
            Cell(row.standings or "no argument", note=f"silent: {row.silent}" if row.silent else ""),
            row.figures or "-",
        )
        for row in market.analysts
    ]
    return grid(
        ("analyst", "score", "confidence", "conviction", "standings", "figures"), rows, numbers=(1, 2), names_rows=True
    )


def _jury(verdict: StructuredReading) -> tuple[Block, ...]:
    totals = ", ".join(
        f"{side} {'none' if total is None else f'{total:.2f}'}" for side, total in verdict.totals.items()
    )
    rows = [(Cell(judge, mark=judge), found, after or "-") for judge, found, after in verdict.jury.rows()]
    return (
        Paragraph(f"{verdict.reading}.", strong=True),
        Paragraph(f"Scores together: {totals} ({NOT_TRUTH})."),
        grid(("judge", "found", "swap"), rows, names_rows=True),
    )


def _each(verdict: StructuredReading, text: Callable[[Opinion], str]) -> tuple[str, ...]:
    """What each of several judges wrote; empty for one judge."""
    opinions = verdict.jury.opinions if verdict.jury.several else ()
    return tuple(f"{row.judge}: {text(row) or 'none was given'}" for row in opinions)


def _fallacy_words(found: FallacyLine) -> str:
    """A fallacy or another breach in words: its place, its kind, and whether its words were found."""
    doubt = "" if found.quoted else " (nobody said these words)"
    return f'{found.place or found.argument}, {found.name}: "{found.words}"{doubt}'


def scores_line(report: DebateReport, verdict: StructuredReading, *, reading: bool = True) -> str:
    """The totals with their reading, and what the debate says against them."""
    if not verdict.judged:
        return ""
    totals = ", ".join(
        f"{seat_name(side)} {'none' if total is None else f'{total:.2f}'}" for side, total in verdict.totals.items()
    )
    against = contradiction(report)
    parts = [verdict.reading if reading and not verdict.jury.panel else "", f"but {against}" if against else ""]
    read = "; ".join(filter(None, [f"{totals}; {parts[0]}" if parts[0] else totals, parts[1]]))
    return f"{capital(NOT_TRUTH)}: {read}."


_ENDS = (
    ("Upheld", {"UPHELD"}),
    ("In part", {"PARTIALLY_UPHELD", "WEAKENED"}),
    ("Refuted", {"REFUTED"}),
    ("Void", {"VOID"}),
    ("Judges split", {"SPLIT"}),
    ("Unsettled", {"UNCERTAIN"}),
)


def survival(report: DebateReport, verdict: StructuredReading) -> str:
    """The arguments upheld in the end. A withdrawn one is not, whatever the judge found."""
    if not verdict.trace:
        return "No argument was made."
    gone = withdrawn_arguments(report)
    agreed = {row.id: row.conceded_by for row in verdict.agreed}
    ends: dict[str, list[str]] = {}
    for row in verdict.trace:
        word = row.judged or row.computed
        label = next((label for label, words in _ENDS if word in words), "Unsettled")
        side = agreed.get(row.id)
        name = f"{row.id} ({seat_name(side)} conceded it)" if side and label == "Upheld" else row.id
        ends.setdefault("Withdrawn" if row.id in gone else label, []).append(name)
    order = [label for label in ("Upheld", "In part", "Withdrawn", *(label for label, _ in _ENDS[2:])) if label in ends]
    if len(verdict.trace) > 2 * FEW:
        parts = [f"{label.lower()} {len(ends[label])}" for label in order]
        return f"Of {counted(len(verdict.trace), 'argument')}: {', '.join(parts)}."
    by_code = "" if verdict.judged else " (computed, not judged)"
    return f"{'. '.join(f'{label}: ' + ', '.join(ends[label]) for label in order)}{by_code}."


def moves(report: DebateReport) -> list[str]:
    """How each side moved, in its own words: of one seat alone, or of the seats of a side together."""
    sides: dict[str, list[Movement]] = {}
    for row in movements(report):
        sides.setdefault(row.side, []).append(row)
    sentences = [_moved(side, rows) for side, rows in sides.items()]
    return [" ".join(sentences)] if sentences else []


def _moved(side: str, rows: Sequence[Movement]) -> str:
    shifts = [row.shift for row in rows if row.shift]
    if len(rows) == 1:
        word = shifts[0] if shifts else "no closing position"
    else:
        counts = {shift: shifts.count(shift) for shift in dict.fromkeys(shifts)}
        word = ", ".join(f"{number} {shift}" for shift, number in counts.items())
    withdrawn, own = sum(len(row.withdrawn) for row in rows), sum(row.own for row in rows)
    withdrawals = f", withdrew {'all' if withdrawn == own else withdrawn} of {own}" if withdrawn else ""
    return f"{seat_name(side)} moved: {word}{withdrawals}."


def _few(ids: Sequence[str]) -> str:
    return ", ".join(ids) if len(ids) <= FEW else str(len(ids))


def _standing(verdict: StructuredReading) -> list[str]:
    if not verdict.judged:
        return []
    both = [row for row in verdict.trace if row.judged not in {None, "VOID", "SPLIT"}]
    if not both:
        return []
    if not verdict.differing:
        if len(both) < len(verdict.trace):
            return [f"{verdict.judge} and computed standing agree on every argument where there are both"]
        return [f"{verdict.judge} and computed standing agree on every argument"]
    number = f"{len(verdict.differing)} of {len(verdict.trace)}"
    return [f"{verdict.judge} and computed standing differ on {number} arguments ({', '.join(verdict.differing)})"]


def _answers(verdict: StructuredReading) -> list[str]:
    """How many answers meet their questions; nothing where no question was answered, or in a record without marks."""
    marks = verdict.marks
    if not marks or not verdict.judged:
        return []
    whole = sum(map(len, marks.values()))
    counts = [f"{len(names)} {mark}" for mark in _MARKS if (names := marks.get(mark))]
    evaded = f" ({', '.join(marks['evaded'])})" if "evaded" in marks else ""
    return [f"the judge marked {counted(whole, 'answer', 'answers')}: {', '.join(counts)}{evaded}"]


_MARKS = ("met", "partly met", "evaded", "unmarked")


def _fallacies(verdict: StructuredReading) -> str:
    if not verdict.judged:
        return ""
    found = verdict.fallacies
    if not found:
        return "the judge found no fallacy"
    lost = sum(not row.quoted for row in found)
    doubt = f", {lost} of them with words that nobody said" if lost else ""
    return f"{counted(len(found), 'fallacy', 'fallacies')} found by the judge{doubt}"
