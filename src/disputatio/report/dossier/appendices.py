"""The appendices of a dossier: what is long and has to be there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disputatio.motion import clean
from disputatio.report.amounts import dollars
from disputatio.report.blocks import Section, Verbatim, grid
from disputatio.report.reading import DebateReport


def number_words(value: Any) -> str:
    """A number with thousands set apart; ``unknown`` where there is none."""
    return "unknown" if value is None else f"{int(value):,}"


def appendices(report: DebateReport, files: Mapping[str, tuple[str, str]]) -> list[Section]:
    """The prompt files, the prompts as sent, and every call. Empty appendices are left out."""
    sections = [
        Verbatim(name, str(digest), clean(files[name][1]))
        for name, digest in sorted(report.prompts.items())
        if files.get(name, ("",))[0] == digest
    ]
    seen: dict[str, str] = {}
    for row in report.calls:
        for role, digest in row.sent.prompt:
            seen.setdefault(digest, f"{role}, first sent to {row.sent.seat} at {row.sent.path}")
    sent = [
        Verbatim(title, digest, clean(report.texts.get(digest, "(the record does not hold this text)")))
        for digest, title in seen.items()
    ]
    found = []
    if sections:
        found.append(Section("Prompt files", tuple(sections), appendix=True))
    if sent:
        found.append(Section("Prompts as sent", tuple(sent), appendix=True))
    names = ("input", "output", *(("reasoning",) if report.totals.reasoning_tokens is not None else ()))
    calls = [
        (
            row.sent.path + (f" {row.sent.part}" if row.sent.part else ""),
            row.sent.model,
            (row.made.served_model or "not reported") if row.made else "-",
            row.state,
            "/".join(number_words(row.tokens(f"{name}_tokens")) for name in names),
            "unknown" if row.usd is None else dollars(row.usd),
            "-" if row.made is None else f"{row.made.latency_ms / 1000:.1f} s",
        )
        for row in report.calls
    ]
    if calls:
        head = ("ask", "model asked", "model served", "state", f"tokens {'/'.join(names)}", "cost", "time")
        found.append(Section("Every call", (grid(head, calls, {3, 4, 5, 6}),), appendix=True))
    return found
