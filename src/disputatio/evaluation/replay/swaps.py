"""How each judge did with the sides in either order, and whether a published count of the same says so too."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disputatio.evaluation.intervals import Rate, rate
from disputatio.evaluation.replay.recorded import RecordedSet
from disputatio.judging.consistency import Swap, SwapReport, swap_report
from disputatio.kernel import JsonObject

PUBLISHED = "all_statistics.json"


@dataclass(frozen=True, slots=True)
class JudgeSwaps:
    """One judge on one set. ``as_published`` is None where nothing is published of it."""

    set: str
    judge: str
    report: SwapReport
    as_published: bool | None = None

    @property
    def survived(self) -> Rate:
        """Items with the same verdict in both orders, with its interval."""
        counts = self.report.counts
        return rate(counts[Swap.SURVIVED] + counts[Swap.TIED], self.report.pairs)

    def as_json(self) -> JsonObject:
        """The judge and its report."""
        body = {"set": self.set, "judge": self.judge, **self.report.as_json(), "as_published": self.as_published}
        return {**body, "consistency_interval": self.survived.as_json()}


def swaps_of(sets: tuple[RecordedSet, ...], path: Path) -> tuple[JudgeSwaps, ...]:
    """The reports of all judges that judged in both orders."""
    published = _published(path)
    found = []
    for row in sets:
        for judge, pairs in row.swaps.items():
            report = swap_report(pairs)
            said = published.get((row.name.removeprefix("llmbar "), judge))
            found.append(JudgeSwaps(row.name, judge, report, None if said is None else _agrees(report, said)))
    return tuple(found)


def _published(path: Path) -> dict[tuple[str, str], Any]:
    """LLMBar's own statistics by subset and judge, where they lie beside the votes."""
    file = path / PUBLISHED
    if not path.is_dir() or not file.exists():
        return {}
    found = {}
    for row in json.loads(file.read_text("utf-8")):
        subset, _, rest = row["path"].partition("/evaluators/")
        evaluator, strategy, _ = rest.split("/")
        found[subset.removeprefix("LLMBar/"), f"{evaluator} / {strategy}"] = row
    return found


def _agrees(report: SwapReport, said: dict[str, str]) -> bool:
    """Whether counts and accuracy are the published ones, which take two unreadable answers for equal ones."""
    counts = report.counts
    same = counts[Swap.SURVIVED] + counts[Swap.TIED] + counts[Swap.FAILED]
    ours = {
        "correct_False": report.right_shown,
        "correct_True": report.right_swapped,
        "correct_both": report.right_both,
        "equal": same,
    }
    counted = all(said[key].split(" = ")[0] == f"{count} / {report.pairs}" for key, count in ours.items())
    average = float(said["correct_average"].rstrip("%"))
    return counted and report.accuracy is not None and abs(float(100 * report.accuracy) - average) < 1e-9
