"""When an argument is struck: it says that it rests on evidence, and the evidence is not there.

The rules, where a debate has sources
    1. Every argument says on what it rests: evidence or reasoning.
    2. An argument that rests on evidence and cites none is struck: its evidence is uncited.
    3. An argument with a citation that no source bears out is struck, whatever it rests on: the evidence is fabricated.
    4. What is struck is read by no seat any more. Others see its id and the reason; readers of the record see all of
       it.

The seat is asked once more before that: an argument is struck only where its seat insists.
Without sources nothing can be cited, and nothing is struck.

Source: the review pattern, on fabricated evidence (a critical validation failure; the argument that relied on it is
discarded). Departure: code decides it, before the moderator reads, and an argument may openly rest on reasoning alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from disputatio.evidence.citations import CheckedCitation
from disputatio.evidence.findings import Reason
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import Citing, citation_lines, unmarked, unverified
from disputatio.kernel import JsonObject, Violation
from disputatio.motion import one_line


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


def support_breaches(support: Support, who: str, part: str) -> list[Violation]:
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


def struck_of(rows: Sequence[Supported]) -> dict[str, str]:
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
