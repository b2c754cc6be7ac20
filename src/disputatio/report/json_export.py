"""A debate as JSON under a published, versioned schema (``export-schema.json`` beside this file).

Keys always come in the same order, amounts of money are strings, and unreported values are null. A reader that
accepts version 1 accepts every later export of version 1: keys may be added, none is taken away or changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from disputatio.kernel import JsonObject
from disputatio.record.events import AnswerRejected, Event, encode
from disputatio.report.addenda import Addendum
from disputatio.report.citations import CitationReading, status_counts
from disputatio.report.consultations import Consultation
from disputatio.report.doubts import doubts
from disputatio.report.headings import heading
from disputatio.report.presenters.registry import presenter_of, sureness
from disputatio.report.printing import printable_json
from disputatio.report.reading import DebateReport, Entry, EntryState, SeatReading
from disputatio.report.review import round_records
from disputatio.report.spending import CallReading, Totals
from disputatio.report.summary import FirstScreen, first_screen

EXPORT_SCHEMA = "disputatio-debate-1"


def export_json(report: DebateReport) -> dict[str, Any]:
    """Everything about the debate, as an object of plain JSON values."""
    head, questions = heading(report), report.questions
    return {
        "schema": EXPORT_SCHEMA,
        "id": report.id,
        "format": report.format,
        "motion": {"text": report.motion, "language": report.language},
        "status": report.status.value,
        "heading": head.text,
        "next_step": head.next_step,
        "verdict": _verdict(report),
        "decision": _decision(first_screen(report)),
        "doubts": [{"kind": row.kind.value, "text": row.text} for row in doubts(report)],
        "sureness": list(sureness(report)),
        "outcome": _plain(report.outcome),
        "rounds": [_ordered(row) for row in round_records(report)],
        "missing": _plain(report.missing),
        "scores": [{"about": row.about, **_plain_object(row.body)} for row in report.facts if row.kind == "ScoreGiven"],
        "facts": [{"kind": row.kind, "about": row.about, "body": _plain(row.body)} for row in report.facts],
        "escalations": [_plain(encode(row)) for row in report.escalations],
        "addenda": [_addendum(row) for row in report.addenda],
        "baselines": [row.as_json() for row in report.baselines],
        "seats": {seat.seat: _seat(seat) for seat in report.seats},
        "phases": [
            {"name": phase.name, "asks": [_entry(entry, questions) for entry in phase.entries]}
            for phase in report.phases
        ],
        "rejected": [_rejection(row) for row in report.rejections],
        "taken_back": [{"path": row.path, "seat": row.seat, "detail": row.detail} for row in report.taken_back],
        "calls": [_call(row) for row in report.calls],
        "totals": _totals(report.totals),
        "budget": _plain(report.budget),
        "estimate": _plain(report.estimate),
        "budget_reached": [_plain(encode(row)) for row in report.budget_reached],
        "rules": _plain(report.rules),
        "prompts": _plain(report.prompts),
        "evidence": _plain(report.evidence),
        "shares": _plain(report.shares),
        "citations": status_counts(report.citations),
        "tools": _plain(report.tools),
        "warnings": list(report.warnings),
        "seed": report.seed,
        "software": report.software,
        **{name: _plain(encode(row)) if row else None for name, row in _origins(report)},
        "record": _record(report),
    }


def _record(report: DebateReport) -> dict[str, Any]:
    return {
        "events": report.events,
        "head": report.head,
        "opened_at": report.opened_at,
        "last_at": report.last_at,
        "resumed": report.resumed,
    }


def _decision(screen: FirstScreen) -> dict[str, Any]:
    """The decision as the first screen says it."""
    return {
        "kind": screen.label,
        "text": screen.decision if screen.decided else None,
        "missing": "" if screen.decided else screen.decision,
        "rests_on": list(screen.rests_on),
        "open": list(screen.open),
        "notes": list(screen.notes),
    }


def _verdict(report: DebateReport) -> str:
    """What the rules came to in one sentence, as the first version of the export has it; ``decision`` says more."""
    return presenter_of(report).sentence(report)


def _origins(report: DebateReport) -> tuple[tuple[str, Event | None], ...]:
    """Where a debate comes from that did not begin here."""
    return ("imported", report.imported), ("forked", report.forked)


def render_json(report: DebateReport) -> str:
    """The export as text that is safe to print: what no reader sees is written as an escape, not left out."""
    return printable_json(export_json(report))


def export_schema() -> JsonObject:
    """The JSON Schema (draft 2020-12) of an export."""
    text = files("disputatio.report").joinpath("export-schema.json").read_text("utf-8")
    schema: JsonObject = json.loads(text)
    return schema


def _ordered(value: Any) -> Any:
    """``value`` as plain JSON with its keys in the order they are in."""
    if isinstance(value, Mapping):
        return {key: _ordered(row) for key, row in value.items()}
    return [_ordered(row) for row in value] if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _plain_object(value)
    if isinstance(value, list | tuple):
        return [_plain(row) for row in value]
    return value


def _plain_object(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(value[key]) for key in sorted(value)}


def _seat(seat: SeatReading) -> dict[str, Any]:
    return {
        "kind": seat.kind,
        "who": seat.who,
        "provider": seat.provider or None,
        "model": seat.model or None,
        "persona": seat.persona,
        "fallbacks": list(seat.fallbacks),
        "served_models": list(seat.served),
    }


def _citation(row: CitationReading) -> dict[str, Any]:
    return {
        "source_id": row.source,
        "pointer": row.pointer,
        "said": row.said,
        "words": row.words,
        "status": row.status,
        "why": row.why,
        "passage_id": row.passage,
        "spans": [list(span) for span in row.spans],
    }


def _entry(entry: Entry, questions: Mapping[str, str]) -> dict[str, Any]:
    was_taken = entry.state is EntryState.TAKEN
    statements = entry.statements(questions) if was_taken else ()
    return {
        "path": entry.path,
        "seat": entry.seat,
        "form": entry.form,
        "state": entry.state.value,
        "content": _plain(entry.content) if was_taken else None,
        "said": [
            {
                "mark": row.mark,
                "word": row.word,
                "text": row.lead,
                "points": [list(point) for point in row.points],
                "citations": [_citation(cited) for cited in row.citations],
            }
            for row in statements
        ],
        "violations": _plain(entry.violations),
        "repaired": entry.repaired,
        "asked": entry.asked,
        "rejected": [_rejection(row) for row in entry.rejections],
        "consultations": [_consultation(row) for row in entry.consultations],
        "served_models": list(entry.served),
        "reason": entry.reason,
        "detail": entry.detail,
        "mode": entry.mode,
        "prompt": entry.prompt,
    }


def _addendum(row: Addendum) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "at": row.at,
        "word": row.word,
        "by": row.by,
        "text": row.text,
        "note": row.note,
        "head": row.head,
        "overtaken": row.overtaken,
    }


def _rejection(row: AnswerRejected) -> dict[str, Any]:
    return {"path": row.path, "part": row.part, "because": row.because, "reasons": list(row.reasons)}


def _consultation(row: Consultation) -> dict[str, Any]:
    return {
        "tool": row.tool,
        "server": row.server,
        "arguments": _plain(row.arguments),
        "result": row.text,
        "result_hash": row.result,
        "left_out": row.left_out,
        "fault": row.fault,
        "latency_ms": row.latency_ms,
    }


_COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


def _call(row: CallReading) -> dict[str, Any]:
    sent, made = row.sent, row.made
    return {
        "call": sent.call,
        "path": sent.path,
        "part": sent.part,
        "seat": sent.seat,
        "model": sent.model,
        "mode": sent.mode,
        "temperature": sent.temperature,
        "max_tokens": sent.max_tokens,
        "reasoning_allowance": sent.reasoning_allowance,
        "prompt": [list(segment) for segment in row.prompt],
        "schema": sent.schema,
        "reserved": _plain(sent.reserved),
        "state": row.state,
        "fault": made.fault if made else "",
        "message": made.message if made else "",
        "text": made.text if made else "",
        "served_model": made.served_model if made else None,
        "finish": made.finish if made else "",
        "usage": {name: row.tokens(name) for name in _COUNTS},
        "cost_usd": made.cost_usd if made else None,
        "cost_basis": made.cost_basis if made else "",
        "charged_tokens": made.charged_tokens if made else None,
        "latency_ms": made.latency_ms if made else None,
    }


def _totals(totals: Totals) -> dict[str, Any]:
    def known(number: int) -> int | None:
        return None if totals.elsewhere else number

    return {
        "calls": known(totals.calls),
        "answered": known(totals.answered),
        "failed": known(totals.failed),
        "lost": known(totals.lost),
        "input_tokens": totals.input_tokens,
        "output_tokens": totals.output_tokens,
        "cached_tokens": totals.cached_tokens,
        "reasoning_tokens": totals.reasoning_tokens,
        "cached_share": totals.cached_share,
        "calls_without_token_counts": known(totals.uncounted),
        "usd": None if totals.usd is None else str(totals.usd),
        "calls_without_price": known(totals.unpriced),
        "seconds": None if totals.seconds is None else round(totals.seconds, 3),
        "text": totals.line,
    }
