"""What came of a market debate, read from the outcome in its record: by analyst, and the entries of its briefing.

Everything is read as plain JSON, so the record of a later version is still shown as far as it is understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disputatio.report.amounts import counted, listed, spoken
from disputatio.report.json_values import as_number, as_object, objects_in, short
from disputatio.report.reading import DebateReport
from disputatio.report.turns.market import SYNTHESIS


@dataclass(frozen=True, slots=True)
class AnalystLine:
    """One analyst in the table. Confidences are means over its arguments, 0 to 1; None where it has none."""

    seat: str
    side: str
    arguments: int
    score: float | None
    confidence: float | None
    adjusted: float | None
    standings: str
    figures: str
    conviction: str
    stance: str
    concessions: tuple[str, ...]
    silent: str

    @property
    def shown_score(self) -> str:
        """Its mean score, for people."""
        return "-" if self.score is None else f"{self.score:.2f}"

    @property
    def shown_confidence(self) -> str:
        """Its confidence at the beginning and at the end, in what it did not withdraw."""
        if self.confidence is None:
            return "-"
        return f"{self.confidence:.2f} -> {'withdrawn' if self.adjusted is None else f'{self.adjusted:.2f}'}"


@dataclass(frozen=True, slots=True)
class MarketReading:
    """A market debate by analyst, with its subject and data."""

    analysts: tuple[AnalystLine, ...]
    subject: str
    day: str
    sources: str
    lacks: tuple[str, ...]
    inflation: str
    inflated: bool
    disclaimers: tuple[str, ...]


def is_market(outcome: Mapping[str, Any]) -> bool:
    """Whether an outcome is that of a market debate."""
    return outcome.get("format") == "market"


def market_reading(report: DebateReport) -> MarketReading | None:
    """The market debate of a report; None where it is none, or has no end yet."""
    outcome: Mapping[str, Any] = report.outcome
    if not is_market(outcome):
        return None
    known, spread = as_object(outcome.get("knowledge")), as_object(outcome.get("inflation"))
    synthetic = ", synthetic" if known.get("synthetic") is True else ""
    # Every report asks whether it is of a market; the format's modules are for those that are.
    from disputatio.formats.market_verdict import DISCLAIMERS

    return MarketReading(
        analysts=tuple(map(_analyst, objects_in(outcome.get("analysts")))),
        subject=f"{short(known.get('subject_name'), 80)} ({short(known.get('subject'), 20)}{synthetic})",
        day=short(known.get("day"), 20) or "a day that is not told",
        sources=", ".join(short(row, 60) for row in known.get("data_sources") or ()),
        lacks=tuple(short(row, 300) for row in known.get("lacks") or ()),
        inflation=short(spread.get("text"), 300),
        inflated=bool(spread.get("findings")),
        disclaimers=DISCLAIMERS,
    )


def _analyst(row: Mapping[str, Any]) -> AnalystLine:
    standings = [str(word) for word in as_object(row.get("standings")).values()]
    counts = {word: standings.count(word) for word in dict.fromkeys(sorted(standings))}
    figures = as_object(row.get("figures"))
    conceded = [
        f"{short(each.get('target'), 60)}: {short(each.get('accepted'), 400)}"
        for each in objects_in(row.get("concessions"))
    ]
    silent = [short(each.get("detail") or each.get("reason"), 200) for each in objects_in(row.get("silent"))]
    return AnalystLine(
        seat=short(row.get("seat"), 40),
        side=short(row.get("side"), 20),
        arguments=len(row.get("arguments") or ()),
        score=as_number(row.get("score")),
        confidence=as_number(row.get("confidence")),
        adjusted=as_number(row.get("confidence_adjusted")),
        standings=", ".join(f"{number} {spoken(word).lower()}" for word, number in counts.items()),
        figures=", ".join(
            f"{number} {short(word, 20)}" for word, number in sorted(figures.items(), key=_verified_first)
        ),
        conviction=short(row.get("conviction"), 20),
        stance=str(row.get("stance") or ""),
        concessions=tuple(conceded),
        silent="; ".join(silent),
    )


def _verified_first(row: tuple[str, Any]) -> tuple[bool, str]:
    return row[0] != "verified", row[0]


def market_points(outcome: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The entries of the briefing of a market debate, in their order; empty for another outcome."""
    if not is_market(outcome):
        return ()
    synthesis = as_object(outcome.get("synthesis"))
    points: list[tuple[str, tuple[str, ...]]] = [
        (title, (str(synthesis[key]),)) for key, title in SYNTHESIS if synthesis.get(key)
    ]
    silent = [
        f"{short(row.get('seat'), 40)}: {short(each.get('detail') or each.get('reason'), 200)}"
        for row in objects_in(outcome.get("analysts"))
        for each in objects_in(row.get("silent"))
    ]
    points += [("Silent", tuple(silent))] if silent else []
    lacks = as_object(outcome.get("knowledge")).get("lacks") or ()
    points += [("Base lacks", tuple(short(row, 300) for row in lacks))] if lacks else []
    return tuple(points)


def market_sureness(report: DebateReport) -> list[str]:
    """How far the result can be trusted, in sentences."""
    outcome: Mapping[str, Any] = report.outcome
    reading = market_reading(report)
    sentences = []
    if not outcome.get("judged"):
        sentences.append("the arguments were not judged")
    elif reading is not None:
        sentences.append(
            f"the judge's integers: {reading.inflation}"
            if not reading.inflated
            else f"score inflation: {reading.inflation}"
        )
    if any(row.seat == "judge" and row.kind == "analyst" for row in report.seats):
        sentences.append("the judge is a table of rules: its standings are the computed ones, by construction")
    sentences += stated_rates(report)
    counts: dict[str, int] = {}
    for row in report.citations:
        counts[row.status] = counts.get(row.status, 0) + 1
    if counts:
        order = sorted(counts.items(), key=_verified_first)
        statuses = listed([f"{number} {status}" for status, number in order])
        sentences.append(f"{counted(sum(counts.values()), 'figure')} looked up in the knowledge base: {statuses}")
    loose = sum(len(row.get("not_borne_out") or ()) for row in objects_in(outcome.get("trace")))
    if loose:
        sentences.append(f"{counted(loose, 'number')} in claims that nothing in the base bears out")
    if reading is not None and "synthetic" in reading.subject:
        sentences.append("the knowledge base is synthetic: its values are invented")
    return sentences


def stated_rates(report: DebateReport) -> list[str]:
    """Why rule-based analysts of a side mostly state the same confidence: the usual one, how often, and its reason."""
    by_rules = {row.seat for row in report.seats if row.kind == "analyst"}
    outcome: Mapping[str, Any] = report.outcome
    parts = []
    for side in ("bull", "bear"):
        arguments = [row for row in objects_in(outcome.get("trace")) if str(row.get("side")).endswith(f"_{side}")]
        stated = [
            value for row in arguments if row.get("side") in by_rules if (value := as_number(row.get("confidence")))
        ]
        if stated:
            usual = max(dict.fromkeys(stated), key=stated.count)
            parts.append(f"{stated.count(usual)} of {len(stated)} {side} arguments by rules state {usual:.2f}")
    why = "rules state published rates; a signal without one has the share of months in which shares rose, or fell"
    return [f"{', '.join(parts)}: {why}"] if parts else []
