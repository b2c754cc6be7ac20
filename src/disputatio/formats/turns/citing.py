"""Citations in turns, what code finds in them, and when an argument is struck.

A seat names a source with a quote, or with a JSON pointer and the value there. Code checks it against the sources
alone, so a replay finds the same. An unverified citation breaks a rule: the seat is asked again, and what it then
repeats stands with its status. In a debate without sources, turns have no citations.

Striking, where a debate has sources
    1. Every argument says on what it rests: evidence or reasoning.
    2. An argument that rests on evidence and cites none is struck: its evidence is uncited.
    3. An argument with a citation that no source supports is struck, whatever it rests on: the evidence is fabricated.
    4. Other seats see only the id and the reason of what is struck; readers of the record see all of it.

The seat is asked once more before. Without sources nothing is struck.

Source: the review pattern, on fabricated evidence (a critical validation failure; the argument that relied on it is
discarded). Departure: code decides before the moderator reads, and an argument may openly rest on reasoning alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol, TypeVar

from disputatio.evidence.citations import CheckedCitation, Citation, Quotation, Reading, check_citation
from disputatio.evidence.findings import Reason, Status
from disputatio.evidence.retrieval import Retriever, Sentence
from disputatio.evidence.sources import SourceSet
from disputatio.formats.turns import schema
from disputatio.kernel import JsonObject, Violation
from disputatio.motion import one_line
from disputatio.motion.motion import SourceKind

MOST_CITATIONS = 3
"""For one argument or response, of each kind."""

_QUOTE, _POINTER, _VALUE = 500, 300, 200
_UNQUOTABLE = re.compile(r"[\"\\]|([=*_#-])\1\1\1")
_MOST_LISTED = 60
"""Above this number the schema allows any id, because providers limit enums; the check refuses unknown ids."""
_SHOWN_QUOTE = 120
_LONGEST_ID = 60


_OPEN, _CLOSE = "\u27e6", "\u27e7"
_UNMARKED = str.maketrans(_OPEN + _CLOSE, "[]")


def unmarked(text: str) -> str:
    """Return ``text`` without the brackets in which code marks citations, so that a seat cannot forge a check."""
    return text if text.isascii() else text.translate(_UNMARKED)


@dataclass(frozen=True)
class Citing:
    """What turns may cite. ``topic`` is the subject of the debate, for choosing sentences."""

    sources: SourceSet = field(default_factory=SourceSet)
    topic: str = ""

    def fields(self) -> dict[str, JsonObject]:
        """Return the schema keys for citations; none without sources."""
        texts = [row.source_id for row in self.sources if row.kind is not SourceKind.JSON]
        values = [row.source_id for row in self.sources if row.kind is SourceKind.JSON]
        keys: dict[str, JsonObject] = {}
        if texts:
            quotation = schema.record({"source": _ids(texts), "quote": schema.text(1, _QUOTE)})
            keys["quotations"] = schema.several(quotation, 0, MOST_CITATIONS)
        if values:
            pointer, value = schema.text(0, _POINTER), schema.text(1, _VALUE)
            reading = schema.record({"source": _ids(values), "pointer": pointer, "value": value})
            keys["readings"] = schema.several(reading, 0, MOST_CITATIONS)
        return keys

    def read(self, row: Mapping[str, Any]) -> tuple[CheckedCitation, ...]:
        """The citations of one statement, each checked against its source."""
        found: list[Citation] = [Quotation(each["source"], each["quote"]) for each in row.get("quotations", ())]
        found += [Reading(each["source"], each["pointer"], each["value"]) for each in row.get("readings", ())]
        return tuple(check_citation(self.sources, citation) for citation in found)

    def find_unstated_figures(self, *texts: str) -> tuple[str, ...]:
        """The figures in ``texts`` that no source has; none in a debate without sources."""
        return self.sources.find_unstated_figures("\n".join(texts)) if len(self.sources) else ()

    def sentences(self, about: str, count: int) -> tuple[Sentence, ...]:
        """Return the ``count`` short sentences of the sources that fit the topic and ``about`` best, best first.

        None contains a character that JSON escapes: the grammar of the embedded model would let such a text end inside
        its quotation marks ("The term \\"Cover"), and it would match no sentence. None contains the ruled line of a
        heading.
        """
        found = self._retriever.sentences(f"{self.topic}\n{about}", 3 * count)
        return tuple(row for row in found if not _UNQUOTABLE.search(row.text))[:count]

    @cached_property
    def _retriever(self) -> Retriever:
        return Retriever(SourceSet(row for row in self.sources if row.kind is not SourceKind.JSON))


NOTHING = Citing()
"""What may be cited in a debate without sources."""


def unverified(cited: Iterable[CheckedCitation], who: str, part: str) -> list[Violation]:
    """Return a violation for each unverified citation; ``who`` names the argument or response."""
    return [
        Violation("unverified_citation", f"{who} has an unverified citation of {_named(row)}", part)
        for row in cited
        if row.status is Status.UNVERIFIED
    ]


def citation_lines(cited: Iterable[CheckedCitation]) -> list[str]:
    """Return citations as other seats see them, a line each: the status, and the source's words where it has them."""
    return [_line(row) for row in cited]


def unstated_lines(figures: Iterable[str]) -> list[str]:
    """Return the figures that no source states as other seats see them: one line, or none."""
    words = ", ".join(unmarked(one_line(row, 40)) for row in figures)
    return [f"{_OPEN}in no source{_CLOSE} {words}"] if words else []


def unstated_json(turn: object) -> tuple[JsonObject, ...]:
    """Return the recorded figures of a turn that no source states, by the argument they are about."""
    rows: Iterable[tuple[str, tuple[str, ...]]] = getattr(turn, "unstated", ())
    return tuple({"about": about, "figures": list(figures)} for about, figures in rows if figures)


def cited_json(turn: object) -> tuple[JsonObject, ...]:
    """Return the recorded citations of a turn; ``about`` names the argument they support or answer.

    A turn that can cite has the property ``cited``: pairs of argument and citation, in order.
    """
    # Most turns cannot cite, and a protocol check costs more than reading the turn from its record. Check the
    # instance, not its type: a type lacks fields without a default.
    cited: Iterable[tuple[str, Any]] = getattr(turn, "cited", ())
    return tuple([{"about": about, **row.as_json()} for about, row in cited])


def _ids(known: list[str]) -> JsonObject:
    return schema.one_of(known) if len(known) <= _MOST_LISTED else schema.text(1, _LONGEST_ID)


def _named(row: CheckedCitation) -> str:
    source, said = one_line(row.source_id, _LONGEST_ID), row.citation
    why = row.detail or row.reason.value
    if isinstance(said, Quotation):
        return f'{source} ({why}): "{one_line(said.quote, _SHOWN_QUOTE)}"'
    pointer = one_line(said.pointer, _SHOWN_QUOTE) or "the top"
    return f"{source} at {pointer} ({why}): {one_line(str(said.value), _SHOWN_QUOTE)}"


def _line(row: CheckedCitation) -> str:
    source, said = one_line(row.source_id, _LONGEST_ID), row.citation
    status = row.describe()
    if row.status is Status.REPAIRED:
        status = "repaired: these are the source's own words"
    if isinstance(said, Reading):
        words = f"{source} at {one_line(said.pointer, _POINTER) or 'the top'}: {one_line(str(said.value))}"
    else:
        words = f'{row.passage_id or source}: "{one_line(row.words if row.is_sound else said.quote)}"'
    return f"{_OPEN}{unmarked(one_line(status))}{_CLOSE} {unmarked(words)}"


class Basis(StrEnum):
    """What an argument says it rests on."""

    EVIDENCE = "evidence"
    REASONING = "reasoning"


@dataclass(frozen=True, slots=True)
class Support:
    """What one argument rests on. ``basis`` is None in a debate without sources."""

    basis: Basis | None = None
    citations: tuple[CheckedCitation, ...] = ()

    @property
    def struck_because(self) -> str:
        """Why the argument is struck, without words of its seat; empty where it stands."""
        unsound = [row for row in self.citations if not row.is_sound]
        if unsound:
            return f"fabricated citation: {_told(unsound[0])}"
        if self.basis is Basis.EVIDENCE and not self.citations:
            return "uncited evidence: it says that it rests on evidence and cites none"
        return ""

    @property
    def cites_soundly(self) -> bool:
        """Whether at least one source supports it."""
        return any(row.is_sound for row in self.citations)

    def text(self) -> str:
        """Return its basis, for other seats; empty in a debate without sources."""
        return f"Rests on: {self.basis.value}" if self.basis else ""


def support_fields(citing: Citing) -> dict[str, JsonObject]:
    """Return the schema keys for what an argument rests on; none without sources."""
    cited = citing.fields()
    return {"rests_on": schema.one_of([row.value for row in Basis]), **cited} if cited else {}


def read_support(row: Mapping[str, Any], citing: Citing) -> Support:
    """Return what the argument in ``row`` rests on, with checked citations."""
    basis = row.get("rests_on")
    return Support(None if basis is None else Basis(basis), citing.read(row))


def resting_on_reasoning(citing: Citing) -> JsonObject:
    """Return the values of an argument that cites nothing."""
    cited: dict[str, Any] = {key: [] for key in citing.fields()}
    return {"rests_on": Basis.REASONING.value, **cited} if cited else {}


def support_violations(support: Support, who: str, part: str) -> list[Violation]:
    """Return unverified citations, and evidence without citations."""
    found = unverified(support.citations, who, part)
    if support.basis is Basis.EVIDENCE and not support.citations:
        detail = (
            f"{who} says that it rests on evidence and cites none: cite the words, or say that it rests on reasoning"
        )
        found.append(Violation("uncited_evidence", detail, part))
    return found


class Supported(Protocol):
    """Part of a turn with support: an argument, a criticism, an answer."""

    @property
    def id(self) -> str:
        """The id that code gave it."""

    @property
    def support(self) -> Support:
        """On what it rests."""


SupportedT = TypeVar("SupportedT", bound=Supported)


def collect_struck(rows: Sequence[Supported]) -> dict[str, str]:
    """Return the ids of struck rows, each with the reason."""
    return {row.id: row.support.struck_because for row in rows if row.support.struck_because}


def standing_of(rows: Sequence[SupportedT]) -> tuple[SupportedT, ...]:
    """Return the rows that are not struck."""
    return tuple(row for row in rows if not row.support.struck_because)


def text_with_support(said: Sequence[str], support: Support) -> str:
    """Return the lines of a seat, its basis, and the status of its citations."""
    rests = [support.text()] if support.basis else []
    return "\n".join([*map(unmarked, (*said, *rests)), *citation_lines(support.citations)])


def struck_line(name: str, because: str) -> str:
    """Return what other seats see of a struck argument."""
    return f"{name}: struck by the program ({because}). It counts for nothing; do not answer or use it."


def _told(row: CheckedCitation) -> str:
    if row.reason is Reason.NO_SUCH_SOURCE:
        return "it names a source that does not exist"
    return f"the source {one_line(row.source_id, 60)} does not say so ({row.reason.value})"


class Phrases:
    """A pattern of phrases, matched in any case.

    Args:
        pattern: a regular expression in small letters.
    """

    def __init__(self, pattern: str) -> None:
        self._small = re.compile(pattern)
        self._any_case = re.compile(pattern, re.IGNORECASE)

    def first_in(self, text: str) -> str:
        """Return the first match in ``text``, with its original letters; empty without one."""
        # Lowering the text first makes the search twice as fast as IGNORECASE. Not for other scripts, where a
        # letter may become two, or match one that is not its small form.
        found = self._small.search(text.lower()) if text.isascii() else self._any_case.search(text)
        return text[found.start() : found.end()] if found else ""
