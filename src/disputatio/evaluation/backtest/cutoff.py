"""The cut-off split: what a language model did on dates before its training data end, and on those after.

On a date before, the outcome may stand in what the model was trained on, and being right is no evidence of foresight.
Only dates after the cut-off are read as evidence. A date is after it when it was decided after the last day of the
cut-off; whoever gives a month means its last day. The cut-off is the model maker's statement, and no test can replace
it. So a backtest of models whose cut-off nobody states is refused; or it is said to be unknown, and nothing is
evidence.

before, after   shares right with Wilson's intervals, their difference with Newcombe's interval for independent
                proportions (Newcombe 1998, method 10), and Fisher's exact test
evidence        the paired comparison with the benchmark, on the dates after alone; those of several forecasters are
                judged together (Holm)
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from disputatio.errors import InvalidInputError
from disputatio.evaluation.intervals import ALPHA, Estimate, Rate, installed, rate
from disputatio.evaluation.statistics import Comparison, compare_all
from disputatio.evaluation.statistics.paired import PLANNED_GAIN, p_text
from disputatio.kernel import JsonObject
from disputatio.motion import one_line

UNKNOWN = "unknown"
_FORM = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")


def read_cutoff(text: str | None, models: Sequence[str]) -> date | None:
    """The last day of the training data of ``models``; None where it is said to be unknown.

    Args:
        text: ``YYYY-MM`` or ``YYYY-MM-DD``, ``unknown``, or None where nobody says anything.
        models: the language models that take part; without any there is nothing to know.

    Raises:
        InvalidInputError: models take part and nobody says when their training data end, or it is no month.
    """
    if text is None:
        if not models:
            return None
        who = ", ".join(one_line(row, 60) for row in models)
        raise InvalidInputError(
            f"Nobody says when the training data of {who} end, so foresight could not be told from memory.",
            "Give --cutoff YYYY-MM, the last of them where there are several, as their makers state it; or --cutoff "
            "unknown, and then no date counts as evidence.",
        )
    if text.strip().casefold() == UNKNOWN:
        return None
    found = _FORM.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError
        year, month = int(found[1]), int(found[2])
        return date(year, month, int(found[3]) if found[3] else monthrange(year, month)[1])
    except ValueError:
        raise InvalidInputError(
            f"--cutoff {one_line(text, 30)!r} is no month.", "Write it as 2023-10, or say unknown."
        ) from None


@dataclass(frozen=True, slots=True)
class CutoffSplit:
    """One forecaster before and after the cut-off. ``cutoff`` is None where it is unknown: then all is before.

    ``difference`` is the share right after less that before; ``power`` is of a difference of ten points.
    """

    name: str
    cutoff: date | None
    before: Rate
    after: Rate
    difference: Estimate
    p: float | None
    power: float | None
    evidence: Comparison | None

    @property
    def verdict(self) -> str:
        """What may be read off it, in one sentence."""
        if self.cutoff is None:
            return "The training cut-off is unknown: no date counts as evidence."
        if self.evidence is None:
            return f"No date was decided after {self.cutoff}: no date counts as evidence."
        dates = "one date" if self.after.of == 1 else f"{self.after.of} dates"
        return f"On the {dates} after {self.cutoff}, all that counts: {self.evidence.verdict}."

    def as_json(self) -> JsonObject:
        """Shares, their difference, the test and the evidence."""
        return {
            "forecaster": self.name,
            "cutoff": None if self.cutoff is None else self.cutoff.isoformat(),
            "before": self.before.as_json(),
            "after": self.after.as_json(),
            "difference": self.difference.as_json(),
            "interval": "Newcombe 1998, method 10 for independent proportions, 95 %",
            "fisher_p": None if self.p is None else round(self.p, 6),
            "power_for_ten_points": None if self.power is None else round(self.power, 4),
            "evidence_after": None if self.evidence is None else self.evidence.as_json(),
            "verdict": self.verdict,
        }

    def lines(self) -> list[str]:
        """The split for people."""
        found = [f"  {self.name}: before {self.before.text()}, after {self.after.text()}"]
        gap = self.difference
        if self.p is not None and gap.value is not None and gap.low is not None and gap.high is not None:
            power = "-" if self.power is None else f"{self.power:.2f}"
            found.append(
                f"    after less before {100 * gap.value:+.1f} points [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}], "
                f"Fisher's exact p {p_text(self.p)} (power {power} for 10 points)"
            )
        return [*found, f"    {self.verdict}"]


def cutoff_splits(
    days: Sequence[date],
    right: Mapping[str, Sequence[bool]],
    names: Sequence[str],
    against: str,
    cutoff: date | None,
    *,
    mid: bool = True,
) -> tuple[CutoffSplit, ...]:
    """Split each of ``names`` at ``cutoff``, and compare each with ``against`` on what lies after, judged together.

    Args:
        days: decision dates.
        right: for each forecaster whether it was right, date by date; no forecast is not right.
        names: whose splits they are.
        against: the benchmark of the plan.
        cutoff: the last day of the training data; None where it is unknown.
        mid: the mid-p value decides, else the exact one.
    """
    later = [cutoff is not None and day > cutoff for day in days]
    kept = {row: [hit for hit, late in zip(right[row], later, strict=True) if late] for row in (*names, against)}
    pairs = [(name, against) for name in names]
    evidence = compare_all(kept, pairs, mid=mid) if any(later) else (None,) * len(names)
    return tuple(
        _split(name, cutoff, list(zip(right[name], later, strict=True)), row)
        for name, row in zip(names, evidence, strict=True)
    )


def _split(
    name: str, cutoff: date | None, rows: Sequence[tuple[bool, bool]], evidence: Comparison | None
) -> CutoffSplit:
    parts = {side: [hit for hit, late in rows if late is side] for side in (False, True)}
    before, after = (rate(sum(parts[side]), len(parts[side])) for side in (False, True))
    if not before.of or not after.of:
        return CutoffSplit(name, cutoff, before, after, Estimate(None, None, None, len(rows)), None, None, evidence)
    gap, p, power = _independent(before, after)
    return CutoffSplit(name, cutoff, before, after, gap, p, power, evidence)


def _independent(before: Rate, after: Rate) -> tuple[Estimate, float, float]:
    """The difference of two independent shares with its interval, Fisher's p, and the power for ten points."""
    with installed():
        from scipy.stats import fisher_exact  # type: ignore[import-untyped]
        from statsmodels.stats.power import NormalIndPower  # type: ignore[import-untyped]
        from statsmodels.stats.proportion import (  # type: ignore[import-untyped]
            confint_proportions_2indep,
            proportion_effectsize,
        )
    low, high = confint_proportions_2indep(
        after.count, after.of, before.count, before.of, method="newcomb", alpha=ALPHA
    )
    table = [[after.count, after.of - after.count], [before.count, before.of - before.count]]
    gap = after.count / after.of - before.count / before.of
    share = before.count / before.of
    other = share - PLANNED_GAIN if share >= PLANNED_GAIN else share + PLANNED_GAIN
    power = NormalIndPower().power(
        proportion_effectsize(share, other), nobs1=before.of, alpha=ALPHA, ratio=after.of / before.of
    )
    estimate = Estimate(gap, float(low), float(high), before.of + after.of)
    return estimate, float(fisher_exact(table).pvalue), float(power)
