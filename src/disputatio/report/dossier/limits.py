"""The limitations of one debate, worked out from its record: what happened, and what was not done, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disputatio.motion import one_line
from disputatio.participants.local_models import EMBEDDED_MODEL
from disputatio.participants.providers import family
from disputatio.report.amounts import capital, counted, listed
from disputatio.report.headings import heading
from disputatio.report.market import market_reading
from disputatio.report.reading import DebateReport, EntryState
from disputatio.report.verdict import structured_reading

FACTOR = 1.5
"""A debate that took more than this times its estimate is named."""


def limitations(report: DebateReport, fault: str | None) -> list[str]:
    """Every limitation that the record shows, then those that every debate has."""
    found = [f"The record does not verify: {fault}."] if fault else []
    market = market_reading(report)
    found += market.disclaimers if market else ()
    if not heading(report).whole:
        found.append(heading(report).text)
    found += [*_models(report), *_evidence(report), *_conduct(report), *_judging(report), *_numbers(report)]
    found += [row if row.endswith(".") else f"{row}." for row in report.warnings if row not in found]
    return list(dict.fromkeys([*found, *_ALWAYS]))


_ALWAYS = (
    "Models answer differently when asked again: the same debate held anew may end otherwise, also at temperature 0.",
    "Findings rate the quality of the argument. A well-argued result can be false.",
    "Times are those of the machine that held the debate; nobody else attests them.",
)


def _models(report: DebateReport) -> list[str]:
    found = []
    models = [seat for seat in report.seats if seat.kind == "model"]
    families = {family(seat.model, seat.provider) for seat in models}
    if len(models) > 1 and len(families) == 1 and not any("of one model family" in row for row in report.warnings):
        found.append(
            f"All models are of one family ({one_line(families.pop(), 40)}): they may share errors no seat can see."
        )
    small = [seat.seat for seat in models if seat.provider == "embedded" and seat.model == EMBEDDED_MODEL]
    if small:
        found.append(
            f"{capital(listed(small))} ran on the embedded model of 135 million parameters: the protocol is real, the "
            "content carries no weight."
        )
    others = [seat.seat for seat in report.seats if seat.kind not in {"model", ""}]
    if report.imported:
        found.append("Which models or people spoke is known from the transcript alone, where it says so.")
    elif others:
        found.append(
            f"{capital(listed(others))} {_was(others)} taken by no model, but by a script, a person or a recording."
        )
    silent = [
        seat.seat for seat in models if not seat.served and any(row.sent.seat == seat.seat for row in report.calls)
    ]
    if silent:
        found.append(f"Which model served {listed(silent)} was not reported by the provider.")
    moved = [seat.seat for seat in models if any(name != seat.model for name in seat.served)]
    if moved:
        found.append(f"The model that served {listed(moved)} has another name than the one asked for.")
    return found


def _evidence(report: DebateReport) -> list[str]:
    if not report.evidence:
        return ["No sources were given: nothing that was stated as evidence was checked."]
    bad = [row for row in report.citations if not row.sound]
    found = []
    if bad:
        found.append(f"{counted(len(bad), 'citation')} could not be found in the sources (section 4).")
    if not report.citations:
        found.append("Nothing was cited from the sources.")
    struck = [str(row.get("about")) for row in _flags(report) if row.get("critical")]
    if struck:
        found.append(f"Struck because their evidence is not there: {listed(struck)}.")
    return found


def _flags(report: DebateReport) -> list[Mapping[str, Any]]:
    outcome: Mapping[str, Any] = report.outcome
    return [row for row in outcome.get("flags") or () if isinstance(row, Mapping)]


def _conduct(report: DebateReport) -> list[str]:
    found = []
    silent = [row for row in report.entries if row.state is EntryState.ABSTAINED]
    if silent:
        where = listed(list(dict.fromkeys(f"{row.seat} in {row.phase}" for row in silent)))
        found.append(f"{counted(len(silent), 'abstention')}: {one_line(where, 300)}.")
    if report.rejections:
        found.append(f"{counted(len(report.rejections), 'answer')} had to be asked for again before one was accepted.")
    broken = sum(len(row.violations) for row in report.turns)
    if broken:
        found.append(f"{counted(broken, 'rule')} stayed broken in turns that were accepted after asking again.")
    found += [
        f"{capital(str(row.get('flag')).replace('_', ' '))}: {one_line(str(row.get('detail')), 300)}."
        for row in _flags(report)
        if not row.get("critical")
    ]
    if report.totals.lost:
        found.append(f"{counted(report.totals.lost, 'call')} never came back; whether it was billed is not known.")
    return found


def _judging(report: DebateReport) -> list[str]:
    verdict = structured_reading(report)
    rounds = [row for row in report.turns if row.form in {"moderation", "summing"}]
    if verdict is not None and verdict.judge == "moderator":
        return [
            f"One moderator judged, {counted(len(rounds), 'time')}, and no round twice: its steadiness is not known."
        ]
    judges = {row.seat for row in report.turns if row.form == "adjudication"}
    if verdict is not None and len(judges) == 1 and len([r for r in report.turns if r.form == "adjudication"]) == 1:
        return ["One judge judged once, with the sides in one order: neither its steadiness nor its lean is known."]
    if verdict is None and rounds:
        return ["One judge summed up once and gave no scores."]
    return []


def _numbers(report: DebateReport) -> list[str]:
    found = []
    totals, expected = report.totals, report.estimate
    if totals.unpriced:
        found.append(f"The cost of {counted(totals.unpriced, 'call')} is unknown, because no price is.")
    if totals.uncounted:
        found.append(f"{counted(totals.uncounted, 'call')} came without token counts.")
    foreseen = int(str(expected["input_tokens"])) + int(str(expected["output_tokens"])) if expected else 0
    tokens = (totals.input_tokens or 0) + (totals.output_tokens or 0)
    if foreseen and tokens > FACTOR * foreseen:
        found.append(f"It took {tokens / foreseen:.1f} times the tokens that were estimated.")
    return found


def _was(rows: list[str]) -> str:
    return "was" if len(rows) == 1 else "were"
