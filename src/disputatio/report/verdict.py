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
from disputatio.report.amounts import spoken
from disputatio.report.citations import citation_readings, counted_statuses
from disputatio.report.json_values import as_number, as_object, objects_in
from disputatio.report.judges import JuryReading
from disputatio.report.market import is_market
from disputatio.report.reading import DebateReport
from disputatio.report.review import is_review
from disputatio.report.turns.statement import natural

NOT_TRUTH = "quality of argument, not truth"


@dataclass(frozen=True, slots=True)
class FallacyLine:
    """A fallacy, or another breach, that the judge found.

    ``quoted``: whether its words were found in the debate. ``place`` names the statement that has them.
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

    ``has_questions`` tells whether responses ask questions and judges name fallacies; ``judge`` is who judged.
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
    has_questions: bool = True
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
        totals={side: as_number(total) for side, total in _sides_first(totals)},
        reading=str(outcome.get("reading", "")),
        rubric=str(outcome.get("rubric", "")),
        judged=bool(outcome.get("judged")),
        key_insight=str(outcome.get("key_insight") or ""),
        agreed=tuple(
            AgreedLine(str(row.get("id", "")), str(row.get("claim", "")), str(row.get("conceded_by", "")))
            for row in objects_in(outcome.get("agreed"))
        ),
        unresolved=_texts(outcome.get("unresolved_questions")),
        recommendation=str(outcome.get("recommendation") or ""),
        jury=JuryReading.of(outcome),
        has_questions=not (is_review(outcome) or is_market(outcome)),
        judge="moderator" if is_review(outcome) else "judge",
    )


def _texts(rows: Any) -> tuple[str, ...]:
    return tuple(str(row) for row in rows if row) if isinstance(rows, list | tuple) else ()


_SIDES = {"pro": 0, "proposer": 0, "bull": 0, "con": 1, "critic": 1, "bear": 1, "rebuttal": 2}


def _sides_first(totals: Any) -> list[tuple[str, Any]]:
    rows = totals if isinstance(totals, Mapping) else {}
    return sorted(rows.items(), key=lambda row: (_SIDES.get(row[0], 3), row[0]))


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
        drew=tuple(_drawn(drawn) for drawn in objects_in(row.get("drew"))),
        judged=str(row.get("found") or row.get("judged") or "") or None,
        computed=str(row.get("computed", "")),
        differs=bool(row.get("differs")),
        score=as_number(row.get("weighted")),
        criteria={key: criteria[key] for key in (*known, *sorted(set(criteria) - set(known)))},
        judged_reason=str(row.get("judged_reason") or ""),
        computed_reason=str(row.get("computed_reason") or ""),
        fallacies=tuple(_found_line(argument, "fallacy", found) for found in objects_in(row.get("fallacies"))),
        irregular=tuple(_found_line(argument, "breach", found) for found in objects_in(row.get("irregular"))),
        answers=tuple(
            (str(answer.get("id", "")), spoken(str(answer.get("mark", ""))))
            for drawn in objects_in(row.get("drew"))
            for answer in objects_in(drawn.get("answers"))
        ),
        strength=as_number(row.get("strength")),
        judges={str(judge): str(word) for judge, word in as_object(row.get("judges")).items()},
        void=str(row.get("void") or ""),
        voids=tuple(
            (f"{note.get('judge')} on {argument}", str(note["void"]))
            for note in objects_in(row.get("findings"))
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


def strength_words(row: TraceLine) -> str:
    """The computed strength, 0 to 1."""
    return "-" if row.strength is None else f"{row.strength:.2f}"


def drew_words(row: TraceLine) -> str:
    """The responses an argument drew."""
    return one_line(", ".join(row.drew), 40) or "nothing"
