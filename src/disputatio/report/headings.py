"""The heading of a result, the same on every surface.

The rule (requirement K8): a result that was reached with seats missing, or that was cut short, says so in its
heading. So every reader of a verdict also sees what the debate lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from disputatio.motion import one_line
from disputatio.participants.call import FaultKind
from disputatio.record.history import Status
from disputatio.report.amounts import counted, listed, spoken
from disputatio.report.imported import imported_sentence
from disputatio.report.reading import DebateReport, EntryState

_LONGEST_DETAIL = 200
_MOST_NAMED = 6
"""Turns that a sentence names before it counts the rest."""


@dataclass(frozen=True, slots=True)
class Heading:
    """``sentence`` is empty where nothing is missing; ``next_step`` where nothing can be done about it."""

    status: Status
    sentence: str
    next_step: str

    @property
    def text(self) -> str:
        """``COMPLETE``, or ``DEGRADED: con abstained in the closing (...).``"""
        return f"{self.status.value}: {self.sentence}" if self.sentence else self.status.value

    @property
    def whole(self) -> bool:
        """Whether the debate reached its end and every seat was heard."""
        return self.status is Status.COMPLETE


def heading(report: DebateReport) -> Heading:
    """The heading of ``report``."""
    return Heading(report.status, _sentence(report), _next_step(report))


def _sentence(report: DebateReport) -> str:
    if report.status is Status.COMPLETE:
        return ""
    if report.imported is not None and report.status is Status.IMPORTED:
        return f"{imported_sentence(report.imported)}."
    silent = _abstained(report)
    if report.status is Status.DEGRADED:
        parts = silent
    elif report.status is Status.FAILED:
        reason = report.reason or "no seat took a turn"
        parts = [reason.rstrip("."), *silent]
    elif report.status is Status.TRUNCATED:
        unheard = _not_asked(report)
        parts = [f"stopped at the ceiling: {report.reason}" if report.reason else "stopped at the ceiling"]
        parts += [f"not heard: {_first_of(unheard)}"] if unheard else []
        parts += silent
    elif report.status is Status.INTERRUPTED:
        parts = [f"stopped before its end, with {_so_far(report)}", *silent]
    else:
        parts = [f"the record has no end; it has {_so_far(report)}", *silent]
    if report.closed and report.outcome.get("judged") is False:
        parts.append("nothing was judged")
    return "; ".join(parts) + "."


def _so_far(report: DebateReport) -> str:
    return counted(len(report.turns), "turn") if report.turns else "no turn yet"


def _abstained(report: DebateReport) -> list[str]:
    """Every abstention in words, those with one cause together."""
    if report.closed:
        rows: list[Any] = [row for row in report.missing if row.get("reason") != "budget"]
        found = [(str(row["seat"]), str(row["phase"]), str(row.get("detail") or row.get("reason"))) for row in rows]
    else:
        found = [
            (row.seat, row.phase, row.detail or row.reason)
            for row in report.entries
            if row.state is EntryState.ABSTAINED
        ]
    together: dict[str, dict[str, list[str]]] = {}
    for seat, phase, cause in found:
        together.setdefault(cause, {}).setdefault(phase, []).append(seat)
    return [_abstained_in(phases, cause) for cause, phases in together.items()]


def _abstained_in(phases: dict[str, list[str]], cause: str) -> str:
    """Who abstained where for one cause, so that a cause is told once however many phases it spoilt."""
    groups: dict[str, list[str]] = {}
    for phase, silent in phases.items():
        groups.setdefault(listed(silent), []).append(in_phase(phase))
    (seats, first), *others = groups.items()
    parts = [f"{seats} abstained in {listed(first)}", *(f"{who} in {listed(where)}" for who, where in others)]
    return one_line(", ".join(parts)) + _because(cause)


def abstained(seat: str, phase: str, detail: str) -> str:
    """``con abstained in the closing (three answers did not fit the form ...)``."""
    return one_line(f"{seat} abstained in {in_phase(phase)}") + _because(detail)


def _because(detail: str) -> str:
    cause = one_line(detail, _LONGEST_DETAIL).rstrip(".")
    return f" ({cause})" if cause else ""


def in_phase(phase: str) -> str:
    """``the closing``, ``round 1``."""
    words = spoken(one_line(phase))
    return words if words[-1:].isdecimal() else f"the {words}"


def _first_of(turns: list[str]) -> str:
    """The first turns of a list, and how many more there are: a match may lack dozens."""
    more = len(turns) - _MOST_NAMED
    return listed([*turns[:_MOST_NAMED], counted(more, "more turn")] if more > 1 else turns)


def _not_asked(report: DebateReport) -> list[str]:
    return [
        one_line(f"{row['seat']} in {in_phase(str(row['phase']))}")
        for row in report.missing
        if row.get("reason") == "budget"
    ]


def _next_step(report: DebateReport) -> str:
    resume = f"disputatio resume {report.id}"
    if report.status is Status.TRUNCATED:
        return f"Continue with a higher ceiling: {resume} {_ceiling_option(report)}"
    if report.status is Status.INTERRUPTED:
        return f"Go on where it stopped: {resume}"
    if report.status is Status.RUNNING:
        return f"If no process is holding it any more, go on with: {resume}"
    if report.reopenable:
        silent = [row for row in report.entries if row.path in report.reopenable]
        seats = listed(sorted({row.seat for row in silent}))
        if all(row.reason == FaultKind.CONTEXT_TOO_LONG.value for row in silent):
            larger = f"Seat models with a larger window: {resume} --seat {silent[0].seat}=PROVIDER:MODEL"
            return f"{larger}. Or hold it anew with less of the sources in view: --set limits.evidence_chars=N"
        return f"Ask {seats} again, at no cost for the rest: {resume}"
    return ""


def _ceiling_option(report: DebateReport) -> str:
    options = {"usd": "--budget-usd X", "tokens": "--budget-tokens N", "calls": "--max-calls N"}
    limit = report.budget_reached[-1].limit if report.budget_reached else ""
    return options.get(limit, "--budget-tokens N")
