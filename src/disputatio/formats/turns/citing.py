"""Citations in turns: what may be cited, how it is asked for, and what the check of code says of it.

A seat names a source and either the words it quotes or a JSON pointer with the value that stands there. Whether the
source bears it out is found by code, from the sources alone, so a record that is read again comes out the same. An
unverified citation breaks a rule: the seat is asked again, and what it then insists on stands with its status.
Where a debate has no sources, no turn has a place for citations.
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
"""Of each kind, for one argument or one response."""

_QUOTE, _POINTER, _VALUE = 500, 300, 200
_UNQUOTABLE = re.compile(r"[\"\\]|([=*_#-])\1\1\1")
_MOST_LISTED = 60
"""Beyond this many sources the schema takes any id, because providers limit their enums; the check refuses the rest."""
_SHOWN_QUOTE = 120
_LONGEST_ID = 60


_OPEN, _CLOSE = "\u27e6", "\u27e7"
_UNMARKED = str.maketrans(_OPEN + _CLOSE, "[]")


def unmarked(text: str) -> str:
    """``text`` without the brackets in which code marks citations: a seat that could write them could forge a check."""
    return text if text.isascii() else text.translate(_UNMARKED)


@dataclass(frozen=True)
class Citing:
    """What the turns of a debate may cite. ``topic`` is what the debate is about, for choosing sentences."""

    sources: SourceSet = field(default_factory=SourceSet)
    topic: str = ""

    def fields(self) -> dict[str, JsonObject]:
        """The keys that a statement has for its citations; none where there is nothing to cite."""
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
        """The figures in ``texts`` that stand in no source; none in a debate without sources."""
        return self.sources.find_unstated_figures("\n".join(texts)) if len(self.sources) else ()

    def sentences(self, about: str, count: int) -> tuple[Sentence, ...]:
        """The ``count`` short sentences of the sources that fit the topic and ``about`` best, best first.

        None has a sign that JSON escapes: the grammar of the embedded model lets such a text end inside its quotation
        marks ("The term \\"Cover"), and then it is none of the sentences that there were to choose from. None has the
        ruled line of a heading in it.
        """
        found = self._retriever.sentences(f"{self.topic}\n{about}", 3 * count)
        return tuple(row for row in found if not _UNQUOTABLE.search(row.text))[:count]

    @cached_property
    def _retriever(self) -> Retriever:
        return Retriever(SourceSet(row for row in self.sources if row.kind is not SourceKind.JSON))


NOTHING = Citing()
"""What may be cited in a debate without sources."""


def unverified(cited: Iterable[CheckedCitation], who: str, part: str) -> list[Violation]:
    """A breach for each citation that its source does not bear out; ``who`` names the argument or response."""
    return [
        Violation("unverified_citation", f"{who} has an unverified citation of {_named(row)}", part)
        for row in cited
        if row.status is Status.UNVERIFIED
    ]


def citation_lines(cited: Iterable[CheckedCitation]) -> list[str]:
    """Citations as the other seats see them, a line each: the status, and the source's own words where it has them."""
    return [_line(row) for row in cited]


def unstated_lines(figures: Iterable[str]) -> list[str]:
    """Figures that stand in no source, as the other seats see them: one line, or none."""
    words = ", ".join(unmarked(one_line(row, 40)) for row in figures)
    return [f"{_OPEN}in no source{_CLOSE} {words}"] if words else []


def unstated_json(turn: object) -> tuple[JsonObject, ...]:
    """The figures of a turn that stand in no source, as the record keeps them, by the argument they are about."""
    rows: Iterable[tuple[str, tuple[str, ...]]] = getattr(turn, "unstated", ())
    return tuple({"about": about, "figures": list(figures)} for about, figures in rows if figures)


def cited_json(turn: object) -> tuple[JsonObject, ...]:
    """The citations of a turn as the record keeps them; ``about`` names the argument they support or answer.

    A turn that can cite has all of them in their order as ``cited``, each with that argument.
    """
    # Most turns cannot cite, and asking a protocol costs more than reading the whole turn from its record. The turn is
    # asked and not its type: a type does not know of fields without a default.
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
    """On what an argument says that it rests."""

    EVIDENCE = "evidence"
    REASONING = "reasoning"


@dataclass(frozen=True, slots=True)
class Support:
    """On what one argument rests. ``basis`` is None in a debate without sources."""

    basis: Basis | None = None
    citations: tuple[CheckedCitation, ...] = ()

    @property
    def struck_because(self) -> str:
        """Why the argument is struck, without any word of its seat; empty where it stands."""
        unsound = [row for row in self.citations if not row.is_sound]
        if unsound:
            return f"fabricated citation: {_told(unsound[0])}"
        if self.basis is Basis.EVIDENCE and not self.citations:
            return "uncited evidence: it says that it rests on evidence and cites none"
        return ""

    @property
    def cites_soundly(self) -> bool:
        """Whether at least one source bears it out."""
        return any(row.is_sound for row in self.citations)

    def text(self) -> str:
        """What it says that it rests on, for other seats; empty in a debate without sources."""
        return f"Rests on: {self.basis.value}" if self.basis else ""


def support_fields(citing: Citing) -> dict[str, JsonObject]:
    """The keys of an argument for what it rests on; none where there is nothing to cite."""
    cited = citing.fields()
    return {"rests_on": schema.one_of([row.value for row in Basis]), **cited} if cited else {}


def read_support(row: Mapping[str, Any], citing: Citing) -> Support:
    """On what the argument in ``row`` rests, each citation checked."""
    basis = row.get("rests_on")
    return Support(None if basis is None else Basis(basis), citing.read(row))


def resting_on_reasoning(citing: Citing) -> JsonObject:
    """The keys of an argument that openly cites nothing."""
    cited: dict[str, Any] = {key: [] for key in citing.fields()}
    return {"rests_on": Basis.REASONING.value, **cited} if cited else {}


def support_violations(support: Support, who: str, part: str) -> list[Violation]:
    """Citations that no source bears out, and evidence that is not cited."""
    found = unverified(support.citations, who, part)
    if support.basis is Basis.EVIDENCE and not support.citations:
        detail = (
            f"{who} says that it rests on evidence and cites none: cite the words, or say that it rests on reasoning"
        )
        found.append(Violation("uncited_evidence", detail, part))
    return found


class Supported(Protocol):
    """Part of a turn that rests on something: an argument, a criticism, an answer."""

    @property
    def id(self) -> str:
        """As code numbered it."""

    @property
    def support(self) -> Support:
        """On what it rests."""


SupportedT = TypeVar("SupportedT", bound=Supported)


def collect_struck(rows: Sequence[Supported]) -> dict[str, str]:
    """The ids of those that are struck, each with the reason."""
    return {row.id: row.support.struck_because for row in rows if row.support.struck_because}


def standing_of(rows: Sequence[SupportedT]) -> tuple[SupportedT, ...]:
    """Those that are not struck."""
    return tuple(row for row in rows if not row.support.struck_because)


def text_with_support(said: Sequence[str], support: Support) -> str:
    """The lines of a seat, on what they rest, and what code found of its citations."""
    rests = [support.text()] if support.basis else []
    return "\n".join([*map(unmarked, (*said, *rests)), *citation_lines(support.citations)])


def struck_line(name: str, because: str) -> str:
    """What other seats see of a struck argument."""
    return f"{name}: struck by the program ({because}). It counts for nothing; do not answer or use it."


def _told(row: CheckedCitation) -> str:
    if row.reason is Reason.NO_SUCH_SOURCE:
        return "it names a source that does not exist"
    return f"the source {one_line(row.source_id, 60)} does not say so ({row.reason.value})"


class Phrases:
    """A pattern of phrases, found in any case.

    Args:
        pattern: a regular expression in small letters.
    """

    def __init__(self, pattern: str) -> None:
        self._small = re.compile(pattern)
        self._any_case = re.compile(pattern, re.IGNORECASE)

    def first_in(self, text: str) -> str:
        """The first of them in ``text``, as it stands there; empty where there is none."""
        # Made small in one pass, a text is searched twice as fast as with every character folded on the way. Beyond
        # ASCII that is not the same: a letter may become two, or match one that is not its small form.
        found = self._small.search(text.lower()) if text.isascii() else self._any_case.search(text)
        return text[found.start() : found.end()] if found else ""
