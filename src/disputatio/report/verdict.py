"""What came of a debate, read from the outcome in its record.

The outcome is read as plain JSON: a verdict written by a later version with more in it is still shown. What the
outcome does not have is None here, and a surface says that it is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from disputatio.formats.turns.monologue import HEADINGS
from disputatio.motion import one_line
from disputatio.report.amounts import counted, listed, spoken
from disputatio.report.citations import checked_sentence, citation_readings, counted_statuses, unstated_sentence
from disputatio.report.custom_format import is_own_outcome
from disputatio.report.headings import in_phase
from disputatio.report.imported import imported_sureness
from disputatio.report.judges import JuryReading, how_judged, void_words
from disputatio.report.market import is_market, market_points, market_sureness
from disputatio.report.match import match_reading, match_sureness
from disputatio.report.panel import panel_reading, panel_sureness
from disputatio.report.reading import DebateReport, EntryState
from disputatio.report.review import is_review, review_points, review_sureness
from disputatio.report.turns.statement import natural

NOT_TRUTH = "quality of argument, not truth"


@dataclass(frozen=True, slots=True)
class FallacyLine:
    """A fallacy, or another breach, that the judge found.

    ``quoted`` tells whether its words were found in the debate, and ``place`` names what they stand in.
    """

    argument: str
    name: str
    words: str
    quoted: bool
    place: str = ""


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One argument in the argument trace table.

    ``score`` is its weighted score, 1 to 10, and ``judged`` the judges' standing, or SPLIT or VOID; None where nobody
    judged it. ``strength`` is the computed one, 0 to 1, and ``judges`` has each judge's own word; ``void`` says why a
    finding is void; ``cited`` is how its citations came out, such as ``1 verified and 1 unverified``.
    ``irregular`` are new arguments and cross-references; ``answers`` has the mark of each answer by its id.
    """

    id: str
    side: str
    claim: str
    drew: tuple[str, ...]
    judged: str | None
    computed: str
    differs: bool
    score: float | None
    criteria: Mapping[str, int]
    judged_reason: str
    computed_reason: str
    fallacies: tuple[FallacyLine, ...]
    strength: float | None = None
    judges: Mapping[str, str] = field(default_factory=dict)
    void: str = ""
    voids: tuple[tuple[str, str], ...] = ()
    cited: str = ""
    irregular: tuple[FallacyLine, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class AgreedLine:
    """A point that one side conceded and the other holds."""

    id: str
    claim: str
    conceded_by: str


@dataclass(frozen=True, slots=True)
class StructuredReading:
    """The verdict of a debate with an argument trace. ``totals`` maps a side to its total, None where it has none.

    ``points`` are the entries of the briefing where the format has its own; ``judge`` is who judged.
    """

    trace: tuple[TraceLine, ...]
    totals: Mapping[str, float | None]
    reading: str
    rubric: str
    judged: bool
    key_insight: str
    agreed: tuple[AgreedLine, ...]
    unresolved: tuple[str, ...]
    recommendation: str
    jury: JuryReading
    points: tuple[tuple[str, tuple[str, ...]], ...] = ()
    judge: str = "judge"

    @property
    def fallacies(self) -> tuple[FallacyLine, ...]:
        """Every fallacy found, in the order of the arguments."""
        return tuple(found for row in self.trace for found in row.fallacies)

    @property
    def irregular(self) -> tuple[FallacyLine, ...]:
        """Every new argument and cross-reference, in the order of the arguments."""
        return tuple(found for row in self.trace for found in row.irregular)

    @property
    def marks(self) -> Mapping[str, tuple[str, ...]]:
        """The answers by how far they meet their questions."""
        found: dict[str, tuple[str, ...]] = {}
        for row in self.trace:
            for answer, mark in row.answers:
                found[mark] = (*found.get(mark, ()), answer)
        return found

    @property
    def differing(self) -> tuple[str, ...]:
        """The arguments on which judge and computation part."""
        return tuple(row.id for row in self.trace if row.differs)


def structured_reading(report: DebateReport) -> StructuredReading | None:
    """The verdict of a structured debate; None where the outcome is none of that kind."""
    outcome: Mapping[str, Any] = report.outcome
    if not isinstance(outcome.get("trace"), list | tuple):
        return None
    rubric: Any = report.rules.get("rubric")
    order = [row["key"] for row in rubric["criteria"]] if isinstance(rubric, Mapping) else []
    totals = outcome.get("totals")
    return StructuredReading(
        trace=tuple(_trace_line(row, order) for row in outcome["trace"] if isinstance(row, Mapping)),
        totals={side: _number(total) for side, total in _sides_first(totals)},
        reading=str(outcome.get("reading", "")),
        rubric=str(outcome.get("rubric", "")),
        judged=bool(outcome.get("judged")),
        key_insight=str(outcome.get("key_insight") or ""),
        agreed=tuple(
            AgreedLine(str(row.get("id", "")), str(row.get("claim", "")), str(row.get("conceded_by", "")))
            for row in _objects(outcome.get("agreed"))
        ),
        unresolved=_texts(outcome.get("unresolved_questions")),
        recommendation=str(outcome.get("recommendation") or ""),
        jury=JuryReading.of(outcome),
        points=review_points(outcome) or market_points(outcome),
        judge="moderator" if is_review(outcome) else "judge",
    )


def _texts(rows: Any) -> tuple[str, ...]:
    return tuple(str(row) for row in rows if row) if isinstance(rows, list | tuple) else ()


_SIDES = {"pro": 0, "proposer": 0, "bull": 0, "con": 1, "critic": 1, "bear": 1, "rebuttal": 2}


def _sides_first(totals: Any) -> list[tuple[str, Any]]:
    rows = totals if isinstance(totals, Mapping) else {}
    return sorted(rows.items(), key=lambda row: (_SIDES.get(row[0], 3), row[0]))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _trace_line(row: Mapping[str, Any], order: list[str]) -> TraceLine:
    criteria = row.get("criteria")
    criteria = criteria if isinstance(criteria, Mapping) else {}
    known = [key for key in order if key in criteria]
    argument = str(row.get("id", ""))
    return TraceLine(
        cited=counted_statuses(citation_readings(row.get("citations"))),
        id=argument,
        side=str(row.get("side", "")),
        claim=str(row.get("claim", "")),
        drew=tuple(_drawn(drawn) for drawn in _objects(row.get("drew"))),
        judged=str(row.get("found") or row.get("judged") or "") or None,
        computed=str(row.get("computed", "")),
        differs=bool(row.get("differs")),
        score=_number(row.get("weighted")),
        criteria={key: criteria[key] for key in (*known, *sorted(set(criteria) - set(known)))},
        judged_reason=str(row.get("judged_reason") or ""),
        computed_reason=str(row.get("computed_reason") or ""),
        fallacies=tuple(_found_line(argument, "fallacy", found) for found in _objects(row.get("fallacies"))),
        irregular=tuple(_found_line(argument, "breach", found) for found in _objects(row.get("irregular"))),
        answers=tuple(
            (str(answer.get("id", "")), spoken(str(answer.get("mark", ""))))
            for drawn in _objects(row.get("drew"))
            for answer in _objects(drawn.get("answers"))
        ),
        strength=_number(row.get("strength")),
        judges={str(judge): str(word) for judge, word in _object(row.get("judges")).items()},
        void=str(row.get("void") or ""),
        voids=tuple(
            (f"{note.get('judge')} on {argument}", str(note["void"]))
            for note in _objects(row.get("findings"))
            if note.get("void")
        ),
    )


def _found_line(argument: str, kind: str, found: Mapping[str, Any]) -> FallacyLine:
    return FallacyLine(
        argument,
        spoken(str(found.get(kind))),
        str(found.get("words")),
        bool(found.get("quoted")),
        str(found.get("in") or ""),
    )


def _drawn(row: Mapping[str, Any]) -> str:
    """What an argument drew: the kind of a response, and which one it is where it has a number."""
    return " ".join(filter(None, (str(row.get("by") or ""), spoken(str(row.get("response", ""))))))


def five_headings(report: DebateReport) -> tuple[tuple[str, str], ...] | None:
    """The judge's headings of a free-form debate, as (title, text); None where the outcome has none."""
    found = report.outcome.get("headings")
    if not isinstance(found, Mapping):
        return None
    known = [key for key in HEADINGS if key in found]
    others = sorted((key for key in found if key not in HEADINGS), key=natural)
    return tuple((HEADINGS.get(key, spoken(key).capitalize()), str(found[key])) for key in (*known, *others))


def sureness(report: DebateReport) -> tuple[str, ...]:
    """How far the result can be trusted, in sentences: what was checked, and what was not."""
    if report.imported is not None:
        return (*imported_sureness(report), *_warnings(report))
    verdict, panel = structured_reading(report), panel_reading(report)
    match = match_reading(report)
    own = is_own_outcome(report.outcome)
    said = panel_sureness(panel) if panel is not None else [_OWN_RULES if own else _judging(report)]
    if match is not None:
        said = match_sureness(match)
    if verdict is not None and is_market(report.outcome):
        by_rules = any(row.seat == "judge" and row.kind == "analyst" for row in report.seats)
        said = [*market_sureness(report), *([] if by_rules else _standing(verdict))]
    elif verdict is not None and verdict.points:
        said = [*review_sureness(report), *_standing(verdict)]
    elif verdict is not None:
        said += verdict.jury.sureness() if verdict.judged else []
        said.append(void_words([void for row in verdict.trace for void in row.voids]))
        said += _standing(verdict)
        said += _answers(verdict)
        said.append(_fallacies(verdict))
    said += _conduct(report)
    said += _warnings(report)
    said.append(_evidence(report))
    return tuple(row for row in said if row)


def _warnings(report: DebateReport) -> list[str]:
    # An id at the beginning, such as C1.2, keeps its letter.
    return [(f"{row[:1].lower()}{row[1:]}" if row[1:2].islower() else row).rstrip(".") for row in report.warnings]


_OWN_RULES = "by rules of the user's own: what they count, and how, is theirs"


def _judging(report: DebateReport) -> str:
    findings = [row for row in report.turns if row.kind.concludes]
    return how_judged(JuryReading.of(report.outcome), len(findings))


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
    said = [f"{len(names)} {mark}" for mark in _MARKS if (names := marks.get(mark))]
    evaded = f" ({', '.join(marks['evaded'])})" if "evaded" in marks else ""
    return [f"the judge marked {counted(whole, 'answer', 'answers')}: {', '.join(said)}{evaded}"]


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


def _evidence(report: DebateReport) -> str:
    """How far what was said rests on the sources."""
    if is_market(report.outcome):
        return ""
    if report.citations or (report.evidence and structured_reading(report) is not None):
        loose = unstated_sentence(row for entry in report.turns for row in entry.unstated)
        return "; ".join(filter(None, (checked_sentence(report.citations), loose)))
    who = "debaters" if panel_reading(report) or match_reading(report) else "sides"
    return f"what the {who} state as evidence was not checked against any source"


def _conduct(report: DebateReport) -> list[str]:
    """What went not quite by the rules."""
    broken = [row for row in report.turns if row.violations]
    mended = sum(row.repaired for row in report.turns)
    silent = sum(row.state is EntryState.ABSTAINED for row in report.entries)
    said = []
    if broken:
        seats = listed(list(dict.fromkeys(one_line(f"{row.seat} in {in_phase(row.phase)}") for row in broken)))
        number = sum(len(row.violations) for row in broken)
        again = "" if match_reading(report) else " after asking again"
        said.append(f"{counted(number, 'broken rule')} accepted{again} ({seats})")
    if report.rejections:
        said.append(f"{counted(len(report.rejections), 'answer')} not accepted and asked again")
    if mended:
        said.append(f"the JSON of {counted(mended, 'turn')} had to be mended")
    if silent:
        said.append(counted(silent, "abstention"))
    return said


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list | tuple) else []
