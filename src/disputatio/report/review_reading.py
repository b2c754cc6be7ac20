"""What a review came to, read from the outcome in its record: each criticism and what became of it.

Everything is read as plain JSON, so the record of a later version is still shown as far as it is understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from disputatio.report.reading import DebateReport
from disputatio.report.review import is_review


class CriticismOutcome(StrEnum):
    """What became of a criticism."""

    UPHELD = "upheld"
    """The moderator found for the critique."""
    MET = "met"
    """The moderator found for the proposition."""
    UNRESOLVED = "unresolved"
    """The moderator left it open."""
    NOT_MODERATED = "not moderated"
    """It stands, and the moderator did not speak of it."""


@dataclass(frozen=True, slots=True)
class CriticismReading:
    """A criticism of a review. ``because`` is the moderator's reason, empty where it gave none."""

    id: str
    claim: str
    outcome: CriticismOutcome
    because: str = ""


@dataclass(frozen=True, slots=True)
class ReviewReading:
    """The result of a review.

    Attributes:
        criticisms: every criticism that stands, the settled ones first.
        conceded: the criticisms that the rebutter conceded, by their ids.
        challenge_strength: how strong the challenge was, 0 to 10; None where nobody measured it.
        weak_challenge: whether the decision was hardly challenged, so that the review is no evidence for it.
        confidence: the moderator's own word for its confidence; empty where no round was moderated.
        uncertainties: what the moderator calls uncertain.
        synthesis: the moderator's result; empty where no round was moderated.
        rounds: how many rounds were held.
        stopped_by: the record's word for why there was no further round.
    """

    criticisms: tuple[CriticismReading, ...]
    conceded: tuple[str, ...]
    challenge_strength: int | None
    weak_challenge: bool
    confidence: str
    uncertainties: tuple[str, ...]
    synthesis: str
    rounds: int
    stopped_by: str

    def ended(self, outcome: CriticismOutcome) -> tuple[CriticismReading, ...]:
        """The criticisms that ended in this way."""
        return tuple(row for row in self.criticisms if row.outcome is outcome)

    def ids(self, outcome: CriticismOutcome) -> tuple[str, ...]:
        """Their ids."""
        return tuple(row.id for row in self.ended(outcome))


def review_reading(report: DebateReport) -> ReviewReading | None:
    """The result of a review; None where the outcome is that of another format."""
    outcome: Mapping[str, Any] = report.outcome
    if not is_review(outcome):
        return None
    strength, uncertain = outcome.get("challenge_strength"), outcome.get("uncertainties")
    rounds = outcome.get("rounds_run")
    return ReviewReading(
        criticisms=_criticisms(outcome),
        conceded=_conceded(outcome),
        challenge_strength=strength if isinstance(strength, int) else None,
        weak_challenge=is_weakly_challenged(outcome),
        confidence=str(outcome.get("confidence") or ""),
        uncertainties=tuple(map(str, uncertain)) if isinstance(uncertain, list | tuple) else (),
        synthesis=str(outcome.get("synthesis") or ""),
        rounds=rounds if isinstance(rounds, int) else len(_rows(outcome.get("rounds"))),
        stopped_by=str(outcome.get("stopped_by") or ""),
    )


def is_weakly_challenged(outcome: Mapping[str, Any]) -> bool:
    """Whether the outcome of a review says that it was hardly challenged."""
    return any(row.get("flag") in {"weak_challenge", "unchallenged"} for row in _rows(outcome.get("flags")))


_SETTLED = {
    "resolved_for_critique": CriticismOutcome.UPHELD,
    "resolved_for_proposition": CriticismOutcome.MET,
}


def _criticisms(outcome: Mapping[str, Any]) -> tuple[CriticismReading, ...]:
    settled = [
        _criticism(row, _SETTLED.get(str(row.get("outcome")), CriticismOutcome.UNRESOLVED))
        for row in _rows(outcome.get("resolved_points"))
    ]
    open_ = [_criticism(row, CriticismOutcome.UNRESOLVED) for row in _rows(outcome.get("unresolved_points"))]
    unseen = [_criticism(row, CriticismOutcome.NOT_MODERATED) for row in _rows(outcome.get("unmoderated_points"))]
    return (*settled, *open_, *unseen)


def _criticism(row: Mapping[str, Any], outcome: CriticismOutcome) -> CriticismReading:
    return CriticismReading(
        str(row.get("id") or ""), str(row.get("claim") or ""), outcome, str(row.get("because") or "")
    )


def _conceded(outcome: Mapping[str, Any]) -> tuple[str, ...]:
    """The criticisms that a rebuttal did not refute."""
    found = []
    for held in _rows(outcome.get("rounds")):
        for contest in _rows(held.get("contests")):
            rebuttals = contest.get("rebuttals")
            answers = _rows(rebuttals.get("answers")) if isinstance(rebuttals, Mapping) else []
            found += [str(row.get("target")) for row in answers if row.get("response") == "concede"]
    return tuple(found)


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list | tuple) else []
