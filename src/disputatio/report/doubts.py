"""What speaks against a result, the worst first. Which doubt is worst is the order of ``DoubtKind`` and nothing else.

The order goes from "there is nothing to rely on" to "this holds for every debate". A kind that is found ranks above
every kind below it, whatever the numbers, so two people who read the same record name the same worst doubt.
``docs/reference/worst-doubt.md`` states the same list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from disputatio._version import VERSION
from disputatio.motion import one_line
from disputatio.participants.local_models import EMBEDDED_MODEL
from disputatio.record.history import Status
from disputatio.report.amounts import capital, counted, listed, seat_name
from disputatio.report.citations import unstated_sentence
from disputatio.report.custom_format import is_own_outcome
from disputatio.report.headings import heading
from disputatio.report.json_values import as_list, objects_in
from disputatio.report.judges import JuryReading
from disputatio.report.market import is_market, market_reading
from disputatio.report.match import MatchReading, match_reading
from disputatio.report.movement import movements, side_of
from disputatio.report.panel import PanelReading, panel_reading
from disputatio.report.reading import DebateReport
from disputatio.report.review import is_review, is_weakly_challenged
from disputatio.report.verdict import StructuredReading, structured_reading


class DoubtKind(StrEnum):
    """Why a result may be wrong, the worst kind first; the value says it in words."""

    NO_RESULT = "the debate has no result"
    IMPORTED = "the debate was not held here"
    UNJUDGED = "nobody judged it"
    ONE_SIDED = "one side was not heard"
    NO_WEIGHT = "the data are invented, or the model is too small to reason"
    FALSE_EVIDENCE = "at least half of the citations fail, or evidence was struck"
    CONTRADICTED = "the scores say something else than the course of the debate"
    ORDER = "the order of the sides decided"
    SPLIT = "those who decided disagree"
    UNCHALLENGED = "the result was hardly challenged"
    INCOMPLETE = "turns or scores are missing"
    DISPUTED = "judge and computed standing differ on at least half of the arguments"
    LOOSE_EVIDENCE = "some evidence fails its check"
    CONDUCT = "seats or judges did not keep to the rules, or one voice led all others"
    NARROW = "the scores do not tell the sides apart"
    UNCHECKED = "no evidence was checked"
    ALIKE = "seats share a model family"
    OTHER_VERSION = "another version wrote the record"
    ONCE = "it was judged once"
    REPEAT = "the same debate may end otherwise"


@dataclass(frozen=True, slots=True)
class Doubt:
    """One reason to doubt a result. ``text`` is a whole sentence."""

    kind: DoubtKind
    text: str


_RANK = {kind: rank for rank, kind in enumerate(DoubtKind)}


def doubts(report: DebateReport) -> tuple[Doubt, ...]:
    """Every doubt that the record supports, the worst first. There is always one."""
    found = [Doubt(kind, text) for find in _FINDERS for kind, text in find(report) if text]
    return tuple(sorted(dict.fromkeys(found), key=lambda row: _RANK[row.kind]))


_Found = Iterable[tuple[DoubtKind, str]]


def is_judged(report: DebateReport) -> bool:
    """Whether the debate was judged. Votes of a panel and results of custom rules count as judgements."""
    if panel_reading(report) is not None or is_own_outcome(report.outcome):
        return True
    judged = report.outcome.get("judged")
    return bool(judged) if judged is not None else bool(report.outcome)


def _ending(report: DebateReport) -> _Found:
    head = heading(report)
    if report.imported is not None and report.status is Status.IMPORTED:
        yield DoubtKind.IMPORTED, head.text
    elif not report.closed or report.status is Status.FAILED or not report.outcome:
        yield DoubtKind.NO_RESULT, head.text if not head.whole else "The record holds no outcome."
    elif not is_judged(report):
        yield DoubtKind.UNJUDGED, head.text if not head.whole else "Nobody judged this debate."
    elif not head.whole:
        yield DoubtKind.INCOMPLETE, head.text
    if report.outcome.get("fault"):
        yield DoubtKind.NO_RESULT, "The rules of the debate failed before they came to a result."


def _one_sided(report: DebateReport) -> _Found:
    verdict, match = structured_reading(report), match_reading(report)
    if verdict is not None and verdict.trace and not is_review(report.outcome):
        heard = {side_of(row.side) for row in verdict.trace}
        for side in verdict.totals:
            if side not in heard:
                yield DoubtKind.ONE_SIDED, f"{seat_name(side)} has no argument, so the other side was never answered."
    silent = [row.who for row in match.teams if not row.speeches] if match else []
    if silent:
        yield DoubtKind.ONE_SIDED, f"{listed([seat_name(row) for row in silent])} gave no speech."


def _weightless(report: DebateReport) -> _Found:
    market = market_reading(report)
    if market is not None and "synthetic" in market.subject:
        yield DoubtKind.NO_WEIGHT, "The knowledge base is synthetic: its values are invented."
    small = [seat.seat for seat in report.seats if seat.provider == "embedded" and seat.model == EMBEDDED_MODEL]
    if small:
        who = "Every seat" if len(small) == len(report.seats) else listed([seat_name(seat) for seat in small])
        yield (
            DoubtKind.NO_WEIGHT,
            f"{who} ran on the embedded model of 135 million parameters: what it says carries no weight.",
        )


def _evidence(report: DebateReport) -> _Found:
    struck = [str(row.get("about")) for row in objects_in(report.outcome.get("flags")) if row.get("critical")]
    if struck:
        yield (
            DoubtKind.FALSE_EVIDENCE,
            f"CRITICAL: {listed(struck)} {_was(struck)} struck, because the evidence is not there.",
        )
    known, bad = report.citations, [row for row in report.citations if not row.sound]
    where = "the knowledge base" if is_market(report.outcome) else "the sources"
    if bad:
        kind = DoubtKind.FALSE_EVIDENCE if 2 * len(bad) >= len(known) else DoubtKind.LOOSE_EVIDENCE
        noun = "figures" if is_market(report.outcome) else "citations"
        fail = "fails" if len(bad) == 1 else "fail"
        yield kind, f"{len(bad)} of {len(known)} {noun} {fail} the check against {where}."
    loose = unstated_sentence(row for entry in report.turns for row in entry.unstated)
    if loose:
        yield DoubtKind.LOOSE_EVIDENCE, f"{capital(loose)}."
    verdict = structured_reading(report)
    numbers = sum(len(as_list(row.get("not_borne_out"))) for row in objects_in(report.outcome.get("trace")))
    if numbers:
        yield DoubtKind.LOOSE_EVIDENCE, f"The base does not bear out {counted(numbers, 'number')} in claims."
    if not known and (report.turns or verdict):
        gap = "nothing was cited from the sources" if report.evidence else "the debate had no sources"
        yield DoubtKind.UNCHECKED, f"What was stated as evidence was not checked: {gap}."


def contradiction(report: DebateReport) -> str:
    """What the course of a debate says against its scores; empty where it says nothing against them."""
    verdict, match = structured_reading(report), match_reading(report)
    if match is not None:
        return _uneven(match)
    if verdict is None or not verdict.judged or is_review(report.outcome):
        return ""
    best = leader(verdict)
    arguments: dict[str, set[str]] = {}
    for row in verdict.trace:
        arguments.setdefault(side_of(row.side), set()).add(row.id)
    withdrawn: dict[str, set[str]] = {}
    conceded: dict[str, set[str]] = {}
    for moved in movements(report):
        withdrawn.setdefault(moved.side, set()).update(moved.withdrawn)
        conceded.setdefault(moved.side, set()).update(moved.conceded)
    for side, ids in arguments.items():
        others = set().union(*(rows for other, rows in arguments.items() if other != side))
        if best is not None and best != side:
            continue
        if ids <= withdrawn.get(side, set()):
            return f"{seat_name(side)} withdrew all {len(ids)} of its arguments"
        if others and others <= conceded.get(side, set()):
            return f"{seat_name(side)} conceded every argument of the other side"
    if all(row.judged in {"REFUTED", "VOID"} for row in verdict.trace):
        return "no argument of either side survived the judging"
    return ""


def leader(verdict: StructuredReading) -> str | None:
    """The side with the higher total; None where the reading calls the sides evenly matched, or has no totals."""
    rows = {side: total for side, total in verdict.totals.items() if total is not None}
    if len(rows) != 2 or "evenly matched" in verdict.reading or "a tie" in verdict.reading:
        return None
    return max(rows, key=lambda side: rows[side])


def _uneven(match: MatchReading) -> str:
    rows = [row for row in match.teams if row.total is not None and row.mean is not None]
    if len(rows) != 2:
        return ""
    first = max(rows, key=lambda row: row.total or 0)
    other = next(row for row in rows if row is not first)
    if (first.mean or 0) < (other.mean or 0):
        better = f"{seat_name(other.who)} has more points a speech"
        return f"{seat_name(first.who)} leads in total only because it spoke more often: {better}"
    return ""


def _contradicted(report: DebateReport) -> _Found:
    text = contradiction(report)
    if text:
        match = match_reading(report)
        rated = "the scores rate how arguments were made" if match is None else "compare the points a speech"
        yield DoubtKind.CONTRADICTED, f"{text}; {rated}."


def _jury(report: DebateReport) -> _Found:
    jury = JuryReading.of(report.outcome)
    decided = [seat_name(str(judge)) for judge in as_list(jury.panel.get("order_decided"))]
    if decided:
        yield DoubtKind.ORDER, f"The order of the sides decided what {listed(decided)} found."
    rows = [row for row in objects_in(jury.panel.get("judges")) if row.get("heard")]
    verdicts = {str(row.get("verdict")) for row in rows}
    if jury.several and len(verdicts) > 1:
        findings = listed([f"{seat_name(str(row.get('judge')))} {_found_for(str(row.get('verdict')))}" for row in rows])
        yield DoubtKind.SPLIT, f"The judges disagree: {findings}."
    lost = [seat_name(str(row.get("judge"))) for row in objects_in(jury.panel.get("failed"))]
    if lost:
        counts = "counts" if len(lost) == 1 else "count"
        yield DoubtKind.INCOMPLETE, f"{listed(lost)} {_was(lost)} not heard, and still {counts}."


def _found_for(verdict: str) -> str:
    return {"tie": "found a tie"}.get(verdict, f"found for {one_line(verdict, 30)}")


def _votes(report: DebateReport) -> _Found:
    panel = panel_reading(report)
    tally = _panel_tally(panel) if panel else report.outcome.get("tally")
    counts = (
        sorted((int(n) for n in tally.values() if isinstance(n, int) and n > 0), reverse=True)
        if isinstance(tally, Mapping)
        else []
    )
    options = tally if isinstance(tally, Mapping) else {}
    votes_in_words = ", ".join(f"{one_line(str(option), 40)} {number}" for option, number in options.items() if number)
    if panel is not None and not any(row.winner for row in panel.counts[-1:]):
        yield DoubtKind.SPLIT, f"The vote did not decide: {votes_in_words or 'nobody voted'}."
    elif len(counts) > 1 and (counts[0] - counts[1] <= 1 or 3 * counts[0] < 2 * sum(counts)):
        voters = "answers" if panel is None else "votes"
        yield DoubtKind.SPLIT, f"The {voters} are split: {votes_in_words}."
    if panel is not None:
        if panel.alike:
            yield DoubtKind.ALIKE, "All debaters are one model with one prompt: their votes are not independent."
        if panel.silences:
            yield DoubtKind.INCOMPLETE, f"{panel.silences[0].rstrip('.')}."
        silent = sorted({row.voter for count in panel.counts[-1:] for row in count.ballots if row.kept})
        if silent:
            who = listed(list(map(seat_name, silent)))
            yield DoubtKind.INCOMPLETE, f"{who} {_was(silent)} silent at the end; an earlier vote counts."
        if "no debater dominated" not in panel.dominance and panel.dominance:
            yield DoubtKind.CONDUCT, f"{capital(panel.dominance)}."


def _panel_tally(panel: PanelReading) -> Mapping[str, int]:
    return panel.counts[-1].tally if panel.counts else {}


def _challenge(report: DebateReport) -> _Found:
    verdict = structured_reading(report)
    if report.outcome.get("format") == "single":
        yield DoubtKind.UNCHALLENGED, "No debate took place: nobody challenged the answer."
    if is_weakly_challenged(report.outcome):
        strength = report.outcome.get("challenge_strength")
        rating = f" (strength {strength} of 10)" if isinstance(strength, int) else ""
        weak = f"The critic's challenge was weak or missing{rating}"
        yield DoubtKind.UNCHALLENGED, f"{weak}: this is no evidence that the decision was challenged."
    elif verdict is not None and verdict.trace and not any(row.drew for row in verdict.trace):
        yield DoubtKind.UNCHALLENGED, "No argument drew a response."


def _judging(report: DebateReport) -> _Found:
    verdict, match = structured_reading(report), match_reading(report)
    jury = JuryReading.of(report.outcome)
    if verdict is not None and verdict.judged:
        both = [row for row in verdict.trace if row.judged]
        if both and 2 * len(verdict.differing) >= len(both):
            number = f"{len(verdict.differing)} of {counted(len(verdict.trace), 'argument')}"
            yield DoubtKind.DISPUTED, f"The {verdict.judge} and the computed standing differ on {number}."
        if leader(verdict) is None and "evenly matched" in verdict.reading:
            yield DoubtKind.NARROW, "The scores do not tell the sides apart."
    if any(row.seat.startswith("judge") and row.kind == "analyst" for row in report.seats):
        yield DoubtKind.ONCE, "Fixed rules judged: their standings are the computed ones, by construction."
    elif is_judged(report) and not jury.panel and report.imported is None and not panel_reading(report):
        sentence = _judged_once(report, match)
        if sentence:
            yield DoubtKind.ONCE, sentence


def _judged_once(report: DebateReport, match: MatchReading | None) -> str:
    if match is not None:
        return "The scores are one judge's, given once."
    if is_review(report.outcome):
        return "One moderator judged, and no round twice."
    if any(row.form in {"adjudication", "summing"} for row in report.turns):
        return "One judge judged once, with the sides in one order."
    return ""


def _conduct(report: DebateReport) -> _Found:
    broken = sum(len(row.violations) for row in report.turns)
    if broken:
        yield DoubtKind.CONDUCT, f"{counted(broken, 'broken rule')} stood in accepted turns."
    verdict, match = structured_reading(report), match_reading(report)
    if verdict is not None and verdict.judged:
        void = sum(bool(row.void) for row in verdict.trace)
        if void and not is_review(report.outcome):
            yield DoubtKind.CONDUCT, f"{counted(void, 'finding')} of the judge {'is' if void == 1 else 'are'} void."
        inflated = [seat_name(judge) for judge, high, _ in verdict.jury.spreads if high]
        if inflated:
            yield DoubtKind.CONDUCT, f"The scores of {listed(inflated)} may be inflated."
    unscored = as_list(report.outcome.get("unscored")) if match is not None else ()
    if unscored:
        yield DoubtKind.INCOMPLETE, f"{counted(len(unscored), 'speech has', 'speeches have')} no score."


def _record(report: DebateReport) -> _Found:
    for row in (row for row in report.warnings if "family" in row):
        yield DoubtKind.ALIKE, f"{row.rstrip('.')}."
    if is_own_outcome(report.outcome):
        yield DoubtKind.ONCE, "A user's own rules counted: what they count, and how, is theirs."
    if other_version(report):
        yield (
            DoubtKind.OTHER_VERSION,
            f"{other_version(report)} wrote this record: what this version checks may not have been checked.",
        )
    if report.imported is not None:
        yield DoubtKind.REPEAT, "The report is as good as its transcript."
    elif report.seats and all(row.kind == "analyst" for row in report.seats):
        yield DoubtKind.REPEAT, "Fixed rules took every seat: they repeat a result, and do not confirm it."
    else:
        yield DoubtKind.REPEAT, "Held again, the same debate may end otherwise."


def other_version(report: DebateReport) -> str:
    """The program that wrote a record, where it was not this version; else empty."""
    return report.software if report.software and report.software != f"disputatio {VERSION}" else ""


_FINDERS: tuple[Callable[[DebateReport], _Found], ...] = (
    _ending,
    _one_sided,
    _weightless,
    _evidence,
    _contradicted,
    _jury,
    _votes,
    _challenge,
    _judging,
    _conduct,
    _record,
)


def _was(rows: list[str]) -> str:
    return "was" if len(rows) == 1 else "were"
