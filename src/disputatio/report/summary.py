"""The first screen of a result: what was decided, what it rests on, its worst doubt, what is open, and the cost.

It is worked out here once, for every format and every ending. Surfaces render its blocks and add nothing to them, so
none of them can comfort a reader with what another one doubts. Scores come last: they rate arguments, not decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from disputatio.motion import one_line
from disputatio.record.history import Status
from disputatio.report.amounts import counted, listed
from disputatio.report.blocks import Block, Bullets, Entries, Entry, Section, Title, Tone
from disputatio.report.doubts import Doubt, DoubtKind, doubts, is_judged
from disputatio.report.headings import heading
from disputatio.report.presenters.presenter import DECISION, FEW, IsStated
from disputatio.report.presenters.registry import presenter_of, sureness
from disputatio.report.reading import DebateReport

_MOST = 600


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
        notes: what every result of the format must be shown with, such as that it is no forecast.
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


def first_screen(report: DebateReport) -> FirstScreen:
    """The first screen of ``report``, whatever its format and however it ended."""
    head, found = heading(report), doubts(report)
    gist = presenter_of(report).gist(report)
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

    It is the decision, or why there is none, with the worst doubt and the notes that accompany every result. A
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
    """Why there is no decision, in a few words. The worst doubt gives the cause in full."""
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


def result_sections(report: DebateReport, *, cut: bool = False) -> list[Section]:
    """The result below the first screen, in full.

    Args:
        report: the debate.
        cut: whether the surface cuts long texts of the first screen, so that they must be repeated here.
    """
    return list(presenter_of(report).sections(report, _stated(report, cut=cut)))


def sections_with_sureness(report: DebateReport, *, cut: bool = False) -> list[Section]:
    """As ``result_sections``, and how sure the result is, where there is any."""
    sections = result_sections(report, cut=cut)
    if sections or report.closed:
        sections.append(Section("How sure", (Bullets(sureness(report)),), key="sureness"))
    return sections


def _stated(report: DebateReport, *, cut: bool) -> IsStated:
    """Tells which texts the first screen states in full, so that they are not repeated below."""
    screen = cache(partial(first_screen, report))

    def is_stated(text: str) -> bool:
        line, decision = one_line(text), screen().decision
        if cut and len(line) > (_SHORT_DECISION if line == decision else _SHORT_QUESTION):
            return False
        return line in {decision, *screen().open[:FEW]}

    return is_stated


_SHORT_DECISION, _SHORT_QUESTION = 160, 100
"""The characters that surely fit into the lines of a decision and of an open question, at 80 columns."""


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
        Entry("Open", screen.open[:FEW] + _left(screen.open), most_lines=2, numbered=True),
        Entry("Cost", (screen.cost,), Tone.QUIET, place="record"),
        Entry("Scores", (screen.scores,), Tone.QUIET),
    ]
    facts = (f"{screen.kind}", screen.id, screen.status.value)
    return Title(screen.title, facts, "Motion"), Entries(tuple(row for row in rows if any(row.texts)))


def _fork(report: DebateReport) -> str:
    """The parent of a fork and what was struck from it; empty if the debate is no fork."""
    row = report.forked
    if row is None:
        return ""
    again = len({each.path for each in report.entries} - set(row.kept))
    without = listed([one_line(name, 40) for name in row.struck])
    turns = f"{counted(len(row.kept), 'turn')} kept, {counted(again, 'turn')} asked again"
    return f"A fork of {one_line(row.parent, 40)} without {without}: {turns}."


_PLACES = {
    DoubtKind.DISPUTED: "trace",
    DoubtKind.CONTRADICTED: "map",
    DoubtKind.UNCHALLENGED: "map",
    DoubtKind.FALSE_EVIDENCE: "sources",
    DoubtKind.LOOSE_EVIDENCE: "sources",
    DoubtKind.INCOMPLETE: "transcript",
}
"""The section that shows what a doubt is about; the others are explained under "How sure, and why"."""


def _step(screen: FirstScreen, worst: Doubt) -> tuple[str, ...]:
    """What can be done about a doubt."""
    return (screen.next_step,) if screen.next_step and not screen.missing and worst.kind in _ABOUT_THE_END else ()


_ABOUT_THE_END = frozenset({DoubtKind.NO_RESULT, DoubtKind.UNJUDGED, DoubtKind.INCOMPLETE, DoubtKind.IMPORTED})


def _further(worst: Doubt, others: Sequence[Doubt]) -> tuple[str, ...]:
    """The other doubts by kind. Each is explained in full in its own section."""
    mentioned = {worst.kind, DoubtKind.REPEAT}
    kinds = list(dict.fromkeys(row.kind.value for row in others if row.kind not in mentioned))
    return (f"{'; '.join(kinds)}.",) if kinds else ()


def _left(rows: Sequence[str]) -> tuple[str, ...]:
    return (f"and {len(rows) - FEW} more",) if len(rows) > FEW else ()
