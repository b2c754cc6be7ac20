"""Notes after a result: what the small embedded model cannot do, and how to read or improve the debate."""

from __future__ import annotations

import shlex

from disputatio.participants.local_models import EMBEDDED_MODEL, LOCAL_MODELS, RECOMMENDED_MODEL
from disputatio.report.reading import DebateReport


def is_small(report: DebateReport) -> bool:
    """Whether any seat was taken by the small embedded model."""
    return any(row.provider == "embedded" and row.model == EMBEDDED_MODEL for row in report.seats)


def advice(report: DebateReport, store: str = "") -> tuple[str, ...]:
    """The notes after a result, in lines. ``store`` is the address that commands need to find the debate."""
    at = f" --store {shlex.quote(store)}" if store else ""
    again = (
        f"Read it again: disputatio show {report.id}{at}",
        f"As a page:     disputatio show {report.id} --as html --open{at}",
    )
    if not is_small(report):
        by_rules = sum(row.kind == "analyst" for row in report.seats)
        seated = ("Fixed rules took every seat. Models: --seat all=PROVIDER:MODEL, or one seat of them.",)
        return (*seated, *again) if by_rules and by_rules == len(report.seats) else again
    gigabytes = LOCAL_MODELS[RECOMMENDED_MODEL].size_bytes / 1e9
    return (
        "This model has 135 million parameters: the protocol is real, the arguments are weak, its scores tell nothing.",
        f'A better one:  disputatio debate "..." --seat all=embedded:{RECOMMENDED_MODEL}, or set OPENAI_API_KEY',
        f"               It is fetched once, {gigabytes:.1f} GB; `disputatio models embedded` lists what fits here.",
        *again,
    )


def more(report: DebateReport, store: str = "") -> tuple[str, ...]:
    """How to read what a short text leaves out."""
    at = f" --store {shlex.quote(store)}" if store else ""
    return (
        f"All of it:     disputatio show {report.id} --full{at}",
        f"As a page:     disputatio show {report.id} --as html --open{at}",
    )
