"""Describe an imported debate: what its transcript says, and what is unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from disputatio.motion import one_line
from disputatio.record.events import TranscriptImported
from disputatio.report.amounts import counted
from disputatio.report.reading import DebateReport

CLAIM_ID = re.compile(r"[A-Za-z]{1,12}[-.]?\d{1,4}(?:\.\d{1,4}){0,3}")
"""The id of a claim in a transcript: some letters, then a number that may have parts: ``P1.2``, ``CON-3``, ``C4``."""


def imported_sentence(imported: TranscriptImported) -> str:
    """Where it comes from, and what follows from that."""
    return (
        f"held elsewhere, and imported from the transcript {one_line(imported.file, 160)}; "
        "its rules were not kept here, and its calls and cost are unknown"
    )


def imported_facts(imported: TranscriptImported) -> list[tuple[str, str]]:
    """Facts that replace those on ceilings and cost: the file, the date, and what else the transcript states."""
    when = one_line(imported.held, 60) or "the transcript does not say when"
    stated = [f"{one_line(key, 60)} {one_line(str(value), 120)}" for key, value in imported.stated.items()]
    rows = [("ImportedTranscript", one_line(imported.file, 160)), ("Held", when)]
    return [*rows, *([("Stated", "; ".join(stated))] if stated else [])]


def imported_sureness(report: DebateReport) -> tuple[str, ...]:
    """How far the report can be trusted: it is as good as the transcript."""
    claims = [row for entry in report.turns for row in _claims(entry.content)]
    known = {row.get("id") for row in claims if row.get("id")}
    names = [name for row in claims for name in row.get("refers_to") or ()]
    lost = sum(name not in known for name in names)
    sentences = ["imported, not held here: whether its turns kept any rule was not checked"]
    if known:
        found = "all of them found" if not lost else f"{lost} of them to claims that the transcript does not have"
        references = f"{counted(len(names), 'reference')} to claims, {found}" if names else "no claim refers to another"
        sentences.append(f"{counted(len(known), 'numbered claim')}; {references}")
    judged = report.outcome.get("judgments")
    if isinstance(judged, list | tuple):
        sentences.append(f"{counted(len(judged), 'judgment')} as the transcript states them, none of them made here")
    return (*sentences, "what the sides state as evidence was not checked against any source")


def _claims(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    rows = content.get("claims")
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list | tuple) else []
