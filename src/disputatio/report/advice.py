"""What is told beside a result: that the small embedded model is small, and how to read or better the debate."""

from __future__ import annotations

from disputatio.participants.local_models import BETTER_MODEL, EMBEDDED_MODEL, LOCAL_MODELS
from disputatio.report.reading import DebateReport


def is_small(report: DebateReport) -> bool:
    """Whether any seat was taken by the small embedded model."""
    return any(row.provider == "embedded" and row.model == EMBEDDED_MODEL for row in report.seats)


def advice(report: DebateReport) -> tuple[str, ...]:
    """What to tell, in lines."""
    again = (f"Read it again: disputatio show {report.id}", f"As Markdown:   disputatio show {report.id} --as md")
    if not is_small(report):
        by_rules = sum(row.kind == "analyst" for row in report.seats)
        seated = ("Fixed rules took every seat. Models: --seat all=PROVIDER:MODEL, or one seat of them.",)
        return (*seated, *again) if by_rules and by_rules == len(report.seats) else again
    gigabytes = LOCAL_MODELS[BETTER_MODEL].size_bytes / 1e9
    return (
        "This model has 135 million parameters: the protocol is real, the arguments are weak, its scores tell nothing.",
        f'A better one:  disputatio debate "..." --seat all=embedded:{BETTER_MODEL}, or set OPENAI_API_KEY',
        f"               It is fetched once, {gigabytes:.1f} GB; `disputatio models embedded` lists what fits here.",
        *again,
    )
