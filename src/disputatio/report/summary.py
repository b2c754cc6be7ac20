"""The first screen of a result: what was decided, what it rests on, its worst doubt, what is open, and the cost.

It is worked out here once, for every format and every ending. Surfaces render its blocks and add nothing to them, so
none of them can comfort a reader with what another one doubts. Scores come last: they rate arguments, not decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from disputatio.formats.registry import FORMATS
from disputatio.formats.turns.monologue import HEADINGS
from disputatio.motion import one_line
from disputatio.record.history import Status
from disputatio.report.amounts import counted, listed, spoken
from disputatio.report.blocks import Block, Entries, Entry, Title, Tone
from disputatio.report.custom_format import is_own_outcome
from disputatio.report.doubts import Doubt, DoubtKind, contradiction, doubts, is_judged
from disputatio.report.headings import heading
from disputatio.report.market import is_market, market_reading
from disputatio.report.match import match_reading
from disputatio.report.movement import Movement, movements, withdrawn_arguments
from disputatio.report.names import seat_name
from disputatio.report.panel import escalation_sentences, panel_reading, tally_words
from disputatio.report.reading import DebateReport
from disputatio.report.review import is_review
from disputatio.report.review_reading import CriticismOutcome, review_reading
from disputatio.report.verdict import NOT_TRUTH, StructuredReading, five_headings, structured_reading

RECOMMENDATION, DECISION, RESULT = "Recommendation", "Decision", "Result"
_MOST = 600
_FEW = 8


@dataclass(frozen=True, slots=True)
class FirstScreen:
    """What a reader must know before anything else.

    Attributes:
        title: the motion.
        kind: the format, for people.
        status: how the debate ended.
        label: what ``decision`` is: a recommendation, a decision or a result.
        decision: the decision in words; of a debate without one, that there is none and why.
        decided: whether there is a decision.
        rests_on: what it rests on, in short sentences.
        doubts: what speaks against it, the worst first; never empty.
        missing: the heading of a debate that lacks something, where the worst doubt does not state it; else empty.
        open: the questions that stay open.
        next_step: what can be done about what is missing; may be empty.
        cost: calls, tokens, money and time.
        scores: how the sides argued; empty where there are no scores.
        notes: what must stand beside every result of the format, such as that it is no forecast.
    """

    title: str
    id: str
    kind: str
    status: Status
    label: str
    decision: str
    decided: bool
    rests_on: tuple[str, ...]
    doubts: tuple[Doubt, ...]
    missing: str
    open: tuple[str, ...]
    next_step: str
    cost: str
    scores: str
    notes: tuple[str, ...]

    @property
    def worst_doubt(self) -> Doubt:
        """The doubt that ranks first."""
        return self.doubts[0]


@dataclass(frozen=True, slots=True)
class Gist:
    """What a format says of its own result. An empty ``decision`` says that there is none."""

    label: str = RESULT
    decision: str = ""
    rests_on: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    scores: str = ""
    notes: tuple[str, ...] = ()


def first_screen(report: DebateReport) -> FirstScreen:
    """The first screen of ``report``, whatever its format and however it ended."""
    head, found = heading(report), doubts(report)
    gist = _gist(report)
    decided = bool(gist.decision) and is_judged(report)
    said_worst = found[0].text == head.text
    return FirstScreen(
        title=report.motion or "A debate",
        id=report.id,
        kind=report.kind,
        status=report.status,
        label=gist.label if decided else DECISION,
        decision=one_line(gist.decision) if decided else _none(report),
        decided=decided,
        rests_on=tuple(one_line(row, _MOST) for row in gist.rests_on if row),
        doubts=found,
        missing="" if head.whole or said_worst else head.text,
        open=tuple(one_line(row) for row in gist.open if row),
        next_step=head.next_step,
        cost=report.totals.line,
        scores=one_line(gist.scores, _MOST),
        notes=gist.notes,
    )


def result_sentence(report: DebateReport) -> str:
    """The result where there is room for a sentence or two, as in a list; made of the first screen and nothing else.

    It is the decision, or why there is none, with the worst doubt and the notes that must stand beside the result. A
    doubt that holds for every debate is left out.
    """
    screen = first_screen(report)
    decision = one_line(screen.decision, _MOST)
    decision = decision if decision.endswith((".", "!", "?", "…")) else f"{decision}."
    worst = screen.worst_doubt
    doubt = "" if worst.kind in _OF_EVERY_DEBATE else f"Worst doubt: {worst.text}"
    return " ".join(filter(None, (decision, doubt, *screen.notes)))


_OF_EVERY_DEBATE = frozenset({DoubtKind.ONCE, DoubtKind.REPEAT})


def decided_sentence(report: DebateReport) -> str:
    """As ``result_sentence``; empty where there is no decision."""
    return result_sentence(report) if first_screen(report).decided else ""


def _none(report: DebateReport) -> str:
    """Why there is no decision, in a few words; the doubt beside it gives the cause in full."""
    if report.status is Status.RUNNING:
        return "None yet: the debate has no end."
    if report.status is Status.INTERRUPTED:
        return "None yet: the debate was stopped before its end."
    if report.outcome.get("fault"):
        return "None: the rules of the debate failed."
    if report.status is Status.FAILED:
        return "None: the debate failed." if report.turns else "None: no seat took a turn."
    if report.imported is not None:
        return "None: the transcript states no result."
    if not is_judged(report):
        ceiling = report.status is Status.TRUNCATED
        return "None: the ceiling was reached before anybody judged." if ceiling else "None: nobody judged."
    return "None: the record names no result."


def _gist(report: DebateReport) -> Gist:
    """What the format of the debate says; what a foreign record holds under a known name is read as far as it goes."""
    for fits, present in _PRESENTERS:
        if fits(report):
            return present(report)
    return _other(report)


def _structured(report: DebateReport) -> Gist:
    verdict = structured_reading(report)
    assert verdict is not None  # noqa: S101  (it fits)
    panel = verdict.jury.panel
    undecided = bool(panel) and panel.get("status") != "won"
    if undecided or not verdict.recommendation:
        label, decision = (DECISION if undecided else RESULT), f"{_capital(verdict.reading)}."
    else:
        label, decision = RECOMMENDATION, verdict.recommendation
    found_by = [f"{_capital(verdict.reading)}."] if panel and not undecided and decision != verdict.reading else []
    return Gist(
        label,
        decision if verdict.judged else "",
        (*found_by, survival(report, verdict), *moves(report)),
        verdict.unresolved,
        scores_line(report, verdict, reading=label == RECOMMENDATION),
    )


def scores_line(report: DebateReport, verdict: StructuredReading, *, reading: bool = True) -> str:
    """The totals with their reading, and what the debate says against them."""
    if not verdict.judged:
        return ""
    totals = ", ".join(
        f"{seat_name(side)} {'none' if total is None else f'{total:.2f}'}" for side, total in verdict.totals.items()
    )
    against = contradiction(report)
    told = [verdict.reading if reading and not verdict.jury.panel else "", f"but {against}" if against else ""]
    read = "; ".join(filter(None, [f"{totals}; {told[0]}" if told[0] else totals, told[1]]))
    return f"{_capital(NOT_TRUTH)}: {read}."


_ENDS = (
    ("Upheld", {"UPHELD"}),
    ("In part", {"PARTIALLY_UPHELD", "WEAKENED"}),
    ("Refuted", {"REFUTED"}),
    ("Void", {"VOID"}),
    ("Judges split", {"SPLIT"}),
    ("Unsettled", {"UNCERTAIN"}),
)


def survival(report: DebateReport, verdict: StructuredReading) -> str:
    """Which arguments stand in the end. One that its own side withdrew does not, whatever the judge found."""
    if not verdict.trace:
        return "No argument was made."
    gone = withdrawn_arguments(report)
    agreed = {row.id: row.conceded_by for row in verdict.agreed}
    ends: dict[str, list[str]] = {}
    for row in verdict.trace:
        word = row.judged or row.computed
        label = next((label for label, words in _ENDS if word in words), "Unsettled")
        side = agreed.get(row.id)
        told = f"{row.id} ({seat_name(side)} conceded it)" if side and label == "Upheld" else row.id
        ends.setdefault("Withdrawn" if row.id in gone else label, []).append(told)
    order = [label for label in ("Upheld", "In part", "Withdrawn", *(label for label, _ in _ENDS[2:])) if label in ends]
    if len(verdict.trace) > 2 * _FEW:
        parts = [f"{label.lower()} {len(ends[label])}" for label in order]
        return f"Of {counted(len(verdict.trace), 'argument')}: {', '.join(parts)}."
    by_code = "" if verdict.judged else " (computed, not judged)"
    return f"{'. '.join(f'{label}: ' + ', '.join(ends[label]) for label in order)}{by_code}."


def moves(report: DebateReport) -> list[str]:
    """How each side moved, in its own words: of one seat alone, or of the seats of a side together."""
    sides: dict[str, list[Movement]] = {}
    for row in movements(report):
        sides.setdefault(row.side, []).append(row)
    told = [_moved(side, rows) for side, rows in sides.items()]
    return [" ".join(told)] if told else []


def _moved(side: str, rows: Sequence[Movement]) -> str:
    shifts = [row.shift for row in rows if row.shift]
    if len(rows) == 1:
        word = shifts[0] if shifts else "no closing position"
    else:
        counts = {shift: shifts.count(shift) for shift in dict.fromkeys(shifts)}
        word = ", ".join(f"{number} {shift}" for shift, number in counts.items())
    withdrawn, own = sum(len(row.withdrawn) for row in rows), sum(row.own for row in rows)
    taken = f", withdrew {'all' if withdrawn == own else withdrawn} of {own}" if withdrawn else ""
    return f"{seat_name(side)} moved: {word}{taken}."


def _market(report: DebateReport) -> Gist:
    verdict, market = structured_reading(report), market_reading(report)
    assert verdict is not None and market is not None  # noqa: S101, PT018  (it fits)
    said: Any = report.outcome.get("synthesis")
    said = said if isinstance(said, Mapping) else {}
    open_points = [str(said["key_disagreement"])] if said.get("key_disagreement") else []
    open_points += list(verdict.unresolved)
    return Gist(
        RESULT,
        f"{_capital(verdict.reading)}." if verdict.judged else "",
        (survival(report, verdict), *moves(report), f"{market.subject}, as known on {market.day}."),
        tuple(open_points),
        scores_line(report, verdict, reading=False),
        tuple(market.disclaimers),
    )


def _review(report: DebateReport) -> Gist:
    verdict, review = structured_reading(report), review_reading(report)
    assert verdict is not None and review is not None  # noqa: S101, PT018  (it fits)
    upheld, met = review.ids(CriticismOutcome.UPHELD), review.ids(CriticismOutcome.MET)
    unsettled = [f"{row.id}: {row.because or row.claim}" for row in review.ended(CriticismOutcome.UNRESOLVED)]
    unseen = [f"{row.id}: {row.claim} (not moderated)" for row in review.ended(CriticismOutcome.NOT_MODERATED)]
    told = [f"upheld {_few(upheld)}" if upheld else "", f"met {_few(met)}" if met else ""]
    told += [f"unresolved {len(unsettled)}" if unsettled else "", f"not moderated {len(unseen)}" if unseen else ""]
    said, number = ", ".join(filter(None, told)) or "none was raised", len(review.criticisms)
    confidence, strength = one_line(review.confidence, 40), review.challenge_strength
    doubtful = ", but the challenge was weak" if review.weak_challenge else ""
    totals = [f"{seat_name(side)} {total:.2f}" for side, total in verdict.totals.items() if total is not None]
    sure = f"the moderator's confidence: {confidence}{doubtful}" if confidence and verdict.judged else ""
    return Gist(
        RECOMMENDATION,
        verdict.recommendation or review.synthesis,
        (
            f"Of {counted(number, 'criticism')}: {said}." if number else "No criticism was raised.",
            f"The rebutter conceded {_few(review.conceded)}." if review.conceded else "",
            f"Challenge strength {strength} of 10." if strength is not None and not review.weak_challenge else "",
        ),
        (*unsettled, *unseen, *review.uncertainties),
        f"{_capital(NOT_TRUTH)}: {'; '.join(filter(None, [', '.join(totals), sure]))}." if verdict.judged else "",
    )


def _few(ids: Sequence[str]) -> str:
    return ", ".join(ids) if len(ids) <= _FEW else str(len(ids))


TOLD_HEADINGS = frozenset({HEADINGS["recommendation"], HEADINGS["uncertain_areas"]})
"""The headings of a free-form debate that its first screen states in full."""


def is_told(report: DebateReport, text: str, *, in_lines: bool = False) -> bool:
    """Whether the first screen states ``text`` in full, so that it is not repeated below.

    ``in_lines`` is for a surface that cuts long texts of the first screen.
    """
    screen = first_screen(report)
    said = one_line(text)
    if in_lines and len(said) > (_SHORT_DECISION if said == screen.decision else _SHORT_QUESTION):
        return False
    return said in {screen.decision, *screen.open[:_FEW]}


_SHORT_DECISION, _SHORT_QUESTION = 160, 100
"""The characters that surely fit into the lines of a decision and of an open question, at 80 columns."""


def _panel(report: DebateReport) -> Gist:
    panel = panel_reading(report)
    assert panel is not None  # noqa: S101  (it fits)
    moved = [seat_name(row.name) for row in panel.debaters if row.changed]
    kept = [seat_name(row.name) for row in panel.debaters if not row.changed]
    body = report.outcome.get("report")
    rule = str(body.get("decision_rule") or "") if isinstance(body, Mapping) else ""
    told = [f"{listed(moved)} changed {'its' if len(moved) == 1 else 'their'} vote" if moved else ""]
    told += [f"{listed(kept)} never did" if moved and kept else "" if moved else "nobody changed a vote"]
    dissent = [
        f"{seat_name(row.voter)} votes {row.vote}"
        for row in (panel.counts[-1].ballots if panel.counts else ())
        if row.vote and panel.decision and row.vote != panel.decision
    ]
    return Gist(
        DECISION,
        _capital(f"{panel.sentence.rstrip('.')}.").replace(rule, spoken(rule)) if rule else panel.sentence,
        (f"Votes at the end: {tally_words(panel)}.", _capital(f"{'; '.join(filter(None, told))}.")),
        (*escalation_sentences(report), *(f"{row}." for row in dissent)),
    )


def _match(report: DebateReport) -> Gist:
    match = match_reading(report)
    assert match is not None  # noqa: S101  (it fits)
    each = [f"{seat_name(row.who)} {row.per_speech} a speech" for row in match.teams if row.mean is not None]
    fined = [f"{seat_name(row.who)} {row.penalties}" for row in match.teams if row.penalties]
    decisive = dict(match.final).get("decisive", "")
    return Gist(
        RESULT,
        f"{match.sentence.rstrip('.')}.",
        (
            f"The judge: {decisive}" if decisive else "",
            f"{_capital(', '.join(each))}." if each else "",
            f"Penalties: {', '.join(fined)}." if fined else "No penalty was given.",
        ),
        match.notes,
        f"{', '.join(f'{seat_name(row.who)} {row.shown}' for row in match.teams)}. Best debater: {match.best}.",
    )


def _freeform(report: DebateReport) -> Gist:
    found = report.outcome.get("headings")
    headings = found if isinstance(found, Mapping) else {}
    texts = {key: str(value) for key, value in headings.items() if value}
    named = (("Pro", "pro_strengths"), ("Con", "con_strengths"))
    sides = [f"{side}: {texts[key]}" for side, key in named if key in texts]
    agreed = texts.get("areas_of_agreement", "")
    return Gist(
        RECOMMENDATION,
        texts.get("recommendation") or str(report.outcome.get("recommendation") or ""),
        (*([f"Agreed: {agreed}"] if agreed else []), *sides),
        tuple(filter(None, [texts.get("uncertain_areas", "")])),
    )


def _single(report: DebateReport) -> Gist:
    winner, tally = report.outcome.get("winner"), report.outcome.get("tally")
    counts = {str(key): value for key, value in tally.items()} if isinstance(tally, Mapping) else {}
    total = sum(value for value in counts.values() if isinstance(value, int))
    given = ", ".join(f"{one_line(key, 60)} {value} of {total}" for key, value in counts.items())
    sure: Any = report.outcome.get("confidence")
    known = [str(row) for row in sure if isinstance(row, int | float)] if isinstance(sure, list | tuple) else []
    return Gist(
        "Answer",
        "" if winner is None else str(winner),
        (
            f"Answers: {given}." if given else "",
            f"Its own confidence: {', '.join(known[:_FEW])} of 100." if known else "",
        ),
    )


def _own(report: DebateReport) -> Gist:
    winner, reading = report.outcome.get("winner"), report.outcome.get("reading")
    told = f"{_capital(str(reading).rstrip('.'))}." if reading else f"Winner: {winner}." if winner else ""
    result = report.outcome.get("result")
    keys = (
        [f"{key}: {value}" for key, value in result.items() if isinstance(value, str | int | float)]
        if isinstance(result, Mapping)
        else []
    )
    return Gist(RESULT, told or one_line("; ".join(keys), _MOST), (f"Winner: {winner}." if winner and reading else "",))


def _imported(report: DebateReport) -> Gist:
    judged = report.outcome.get("judgments")
    number = len(judged) if isinstance(judged, list | tuple) else 0
    # Without judgments the record has a sentence that says so, which is no result.
    names = ("recommendation", "reading", *(("judgment",) if number else ()))
    told = next(filter(None, map(report.outcome.get, names)), "")
    return Gist(
        "Stated result",
        str(told),
        (
            f"{counted(len(report.turns), 'turn')} of a transcript.",
            f"{counted(number, 'judgment')}, as the transcript states them." if number else "",
        ),
    )


def _other(report: DebateReport) -> Gist:
    told = next(filter(None, map(report.outcome.get, ("recommendation", "reading", "decision", "winner"))), "")
    # A known format that left nothing to read has no result; what an unknown one left is shown below, entry by entry.
    many = 0 if report.format in FORMATS else len(report.outcome)
    return Gist(RESULT, str(told) or (f"See the outcome: {counted(many, 'entry', 'entries')}." if many else ""))


_PRESENTERS: tuple[tuple[Callable[[DebateReport], Any], Callable[[DebateReport], Gist]], ...] = (
    (lambda report: report.imported is not None, _imported),
    (lambda report: is_own_outcome(report.outcome), _own),
    (lambda report: is_market(report.outcome) and structured_reading(report), _market),
    (lambda report: is_review(report.outcome) and structured_reading(report), _review),
    (structured_reading, _structured),
    (panel_reading, _panel),
    (match_reading, _match),
    (five_headings, _freeform),
    (lambda report: report.outcome.get("format") == "single", _single),
)


def first_blocks(report: DebateReport) -> tuple[Block, ...]:
    """The first screen as blocks, in the order in which every surface shows them."""
    screen = first_screen(report)
    worst, others = screen.worst_doubt, screen.doubts[1:]
    rows = [
        Entry(screen.label, (screen.decision,), Tone.DECISION if screen.decided else Tone.WARNING, most_lines=3),
        Entry("Rests on", (" ".join(screen.rests_on),), most_lines=3, place="map"),
        Entry("Worst doubt", (worst.text, *_step(screen, worst)), Tone.DOUBT, place=_PLACES.get(worst.kind, "grounds")),
        Entry("Fork", (_fork(report),), Tone.QUIET, most_lines=2, place="record"),
        Entry("Note", (" ".join(screen.notes),), Tone.QUIET),
        Entry("Missing", (screen.missing, *((screen.next_step,) if screen.missing else ())), Tone.WARNING),
        Entry("Also doubtful", _further(worst, others), Tone.QUIET, place="grounds"),
        Entry("Open", screen.open[:_FEW] + _left(screen.open), most_lines=2, numbered=True),
        Entry("Cost", (screen.cost,), Tone.QUIET, place="record"),
        Entry("Scores", (screen.scores,), Tone.QUIET),
    ]
    facts = (f"{screen.kind}", screen.id, screen.status.value)
    return Title(screen.title, facts, "Motion"), Entries(tuple(row for row in rows if any(row.texts)))


def _fork(report: DebateReport) -> str:
    """Which debate this one goes on from, without what; empty where it is no fork."""
    row = report.forked
    if row is None:
        return ""
    again = len({each.path for each in report.entries} - set(row.kept))
    without = listed([one_line(name, 40) for name in row.struck])
    kept = counted(len(row.kept), "turn")
    return f"A fork of {one_line(row.parent, 40)} without {without}: {kept} kept, {counted(again, 'turn')} asked again."


_PLACES = {
    DoubtKind.DISPUTED: "trace",
    DoubtKind.CONTRADICTED: "map",
    DoubtKind.UNCHALLENGED: "map",
    DoubtKind.FALSE_EVIDENCE: "sources",
    DoubtKind.LOOSE_EVIDENCE: "sources",
    DoubtKind.INCOMPLETE: "transcript",
}
"""The section that shows what a doubt is about; the others are told under "How sure, and why"."""


def _step(screen: FirstScreen, worst: Doubt) -> tuple[str, ...]:
    """What can be done, beside the doubt that it answers."""
    return (screen.next_step,) if screen.next_step and not screen.missing and worst.kind in _ABOUT_THE_END else ()


_ABOUT_THE_END = frozenset({DoubtKind.NO_RESULT, DoubtKind.UNJUDGED, DoubtKind.INCOMPLETE, DoubtKind.IMPORTED})


def _further(worst: Doubt, others: Sequence[Doubt]) -> tuple[str, ...]:
    """The other doubts by their kinds; each is told in full where it happened."""
    told = {worst.kind, DoubtKind.REPEAT}
    kinds = list(dict.fromkeys(row.kind.value for row in others if row.kind not in told))
    return (f"{'; '.join(kinds)}.",) if kinds else ()


def _left(rows: Sequence[str]) -> tuple[str, ...]:
    return (f"and {len(rows) - _FEW} more",) if len(rows) > _FEW else ()


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list | tuple) else []


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
