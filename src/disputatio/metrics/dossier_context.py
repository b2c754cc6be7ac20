"""What a dossier says beside its own record: the figures of similar debates in the store, and the prompt files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.metrics.collecting import Selection, collect
from disputatio.metrics.figures import Figures
from disputatio.prompts import PromptBook
from disputatio.record.store import Store
from disputatio.report.dossier import Surroundings
from disputatio.report.reading import DebateReport


def gather_surroundings(
    store: Store, report: DebateReport, place: str, fault: str | None, prompts: Path | None = None
) -> Surroundings:
    """Gather what the dossier of ``report`` needs besides the record.

    Args:
        store: holds the debate and others.
        report: the debate.
        place: the store's address, without a password.
        fault: why the record does not verify; None if it does.
        prompts: the folder of overrides of the debate, so that the dossier can include their texts.
    """
    brief: Any = report.rules.get("brief")
    stated = brief.get("task_type") if isinstance(brief, Mapping) else None
    kind = str(report.outcome.get("task_type") or stated or report.format)
    return Surroundings(fault, place, kind, _experience(collect(store, Selection(task_type=kind))), _files(prompts))


def _files(prompts: Path | None) -> dict[str, tuple[str, str]]:
    try:
        return dict(PromptBook(prompts).kept())
    except InvalidInputError:
        # An altered installation must not block reading old debates.
        return {}


def _experience(figures: Figures) -> tuple[tuple[str, str], ...]:
    rows = [("Debates", str(figures.debates))]
    statuses: dict[str, int] = {}
    for row in figures.formats.values():
        for name, count in row.statuses.items():
            statuses[name] = statuses.get(name, 0) + count
    rows.append(("Statuses", ", ".join(f"{count} {name}" for name, count in sorted(statuses.items()))))
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(figures.outcomes.items()))
    rows.append(("Outcomes attached later", outcomes or "none"))
    if figures.strength.value is not None:
        rows.append(("Mean challenge strength", f"{figures.strength.value:.2f} (of {figures.strength.of})"))
    if figures.low_confidence.value is not None:
        low = figures.low_confidence
        rows.append(("LOW confidence", f"{low.count} of {low.of}"))
    for name, each in figures.expected.items():
        if each.ratio is not None:
            rows.append((f"Tokens against estimate, {name}", f"{each.ratio:.2f} times (of {each.of})"))
    return tuple(rows)
