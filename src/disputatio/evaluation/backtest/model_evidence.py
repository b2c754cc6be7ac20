"""What a backtest shows about its language models, and how far that is evidence.

Debate, single agent and vote run on identical dates, with and without names and dates. Each is scored like the
benchmarks. The declared comparisons (the debate with each agent, each arm with its blind counterpart) are tested
together. Every forecaster is split at the training cut-off, and only dates after it count.

Before the cut-off the outcome may be in the training data, so being right there is no evidence of foresight. A date is
after it if it was decided after its last day; a month means its last day. The cut-off is the statement of the model's
maker, and no test can replace it. A backtest of models without a stated cut-off is refused, or it is declared unknown
and no date counts as evidence.

before, after   shares right with Wilson's intervals, their difference with Newcombe's interval for independent
                proportions (Newcombe 1998, method 10), and Fisher's exact test
evidence        the paired comparison with the benchmark, on the dates after alone; several forecasters are tested
                together (Holm)
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.agents import SINGLE_AGENT, VOTE, FinishedAgents
from disputatio.evaluation.backtest.cases import BLIND, PLAIN, Case
from disputatio.evaluation.backtest.forecasts import DateRecord, read_call
from disputatio.evaluation.backtest.labels import Label
from disputatio.evaluation.backtest.recognition import RecognitionReport
from disputatio.evaluation.backtest.scoring import BenchmarkScores, score_calls
from disputatio.evaluation.experiment import Spending
from disputatio.evaluation.questions.report import HARNESS
from disputatio.evaluation.statistics.intervals import ALPHA, Estimate, Rate, rate, require_statistics
from disputatio.evaluation.statistics.paired import PLANNED_GAIN, Comparison, compare_all, format_p
from disputatio.kernel import JsonObject
from disputatio.motion import one_line

UNKNOWN = "unknown"
_FORM = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")


def read_cutoff(text: str | None, models: Sequence[str]) -> date | None:
    """Read the last day of the training data of ``models``; None if it is declared unknown.

    Args:
        text: ``YYYY-MM`` or ``YYYY-MM-DD``, ``unknown``, or None if not given.
        models: the language models that take part; without any no cut-off is needed.

    Raises:
        InvalidInputError: models take part without a cut-off, or it is not a month.
    """
    if text is None:
        if not models:
            return None
        who = ", ".join(one_line(row, 60) for row in models)
        raise InvalidInputError(
            f"The end of the training data of {who} is not given, so foresight cannot be told from memory.",
            "Give --cutoff YYYY-MM as their makers state it, the last one of several models. With --cutoff unknown no "
            "date counts as evidence.",
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
            f"--cutoff {one_line(text, 30)!r} is not a month.", "Write it as 2023-10, or as unknown."
        ) from None


@dataclass(frozen=True, slots=True)
class CutoffSplit:
    """One forecaster before and after the cut-off. ``cutoff`` is None if unknown; then all dates are before.

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
        """What the split shows, in one sentence."""
        if self.cutoff is None:
            return "The training cut-off is unknown: no date counts as evidence."
        if self.evidence is None:
            return f"No date was decided after {self.cutoff}: no date counts as evidence."
        dates = "one date" if self.after.of == 1 else f"{self.after.of} dates"
        return f"On the {dates} after {self.cutoff}, which alone count: {self.evidence.verdict}."

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
        """The split as text."""
        found = [f"  {self.name}: before {self.before.text()}, after {self.after.text()}"]
        if self.p is not None:
            power = "-" if self.power is None else f"{self.power:.2f}"
            found.append(
                f"    after less before {self.difference.points_text(' points')}, "
                f"Fisher's exact p {format_p(self.p)} (power {power} for 10 points)"
            )
        return [*found, f"    {self.verdict}"]


def split_at_cutoff(
    days: Sequence[date],
    right: Mapping[str, Sequence[bool]],
    names: Sequence[str],
    against: str,
    cutoff: date | None,
    *,
    mid: bool = True,
) -> tuple[CutoffSplit, ...]:
    """Split each of ``names`` at ``cutoff``, and compare each with ``against`` on later dates, tested together.

    Args:
        days: decision dates.
        right: for each forecaster whether it was right, date by date; no forecast is not right.
        names: the forecasters to split.
        against: the benchmark of the plan.
        cutoff: the last day of the training data; None if unknown.
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
    with require_statistics():
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


DEBATE = "debate"
_AGENTS = (DEBATE, SINGLE_AGENT, VOTE)


def name_forecaster(agent: str, arm: str) -> str:
    """Name a forecaster: ``debate``, ``debate, blind``, ``vote`` and so on."""
    return agent if arm == PLAIN else f"{agent}, {arm}"


@dataclass(frozen=True, slots=True)
class ModelEvidence:
    """Everything about the models of a backtest.

    ``spent`` and ``given`` (dates with a forecast) are by forecaster; ``models`` are those that take part.
    """

    models: tuple[str, ...]
    dates: int
    scores: tuple[BenchmarkScores, ...]
    given: Mapping[str, int]
    comparisons: tuple[Comparison, ...]
    splits: tuple[CutoffSplit, ...]
    recognition: RecognitionReport | None
    spent: Mapping[str, Spending]
    cutoff: date | None
    harness: bool
    stopped: str = ""

    @property
    def verdict(self) -> str:
        """How far any of it is evidence, in one sentence."""
        return HARNESS if self.harness else next((row.verdict for row in self.splits), "Nothing ran.")

    def as_json(self) -> JsonObject:
        """All of it, including the guesses of the probe."""
        return {
            "models": list(self.models),
            "harness_test": self.harness,
            "verdict": self.verdict,
            "cutoff": None if self.cutoff is None else self.cutoff.isoformat(),
            "dates": self.dates,
            "scores": [{**row.as_json(), "dates_with_a_forecast": self.given[row.name]} for row in self.scores],
            "spent": {name: row.as_json() for name, row in self.spent.items()},
            "comparisons": [row.as_json() for row in self.comparisons],
            "cutoff_split": [row.as_json() for row in self.splits],
            "recognition": None if self.recognition is None else self.recognition.as_json(),
            "stopped": self.stopped,
        }

    def lines(self) -> list[str]:
        """All of it as text."""
        width = max(len(row.name) for row in self.scores) + 2 if self.scores else 2
        head = f"  {'':{width}}{'accuracy':24}{'Brier':>7}{'forecasts':>12}{'tokens':>13}"
        lines = [f"Language models: {', '.join(self.models)}", f"  {self.verdict}", "", head]
        lines += [self._score_line(row, width) for row in self.scores]
        if self.comparisons:
            lines += ["", "Declared comparisons, tested together (Holm); difference with Newcombe's 95 % interval"]
            lines += [line for row in self.comparisons for line in render_comparison_lines(row)]
        lines += ["", "Before and after the training cut-off; only dates after it count"]
        lines += [line for row in self.splits for line in row.lines()]
        if self.recognition is not None:
            lines += ["", *self.recognition.lines()]
        return lines

    def _score_line(self, row: BenchmarkScores, width: int) -> str:
        brier = "-" if row.brier is None else f"{row.brier.score:.4f}"
        given = f"{self.given[row.name]} of {self.dates}"
        share = row.accuracy.percent_text() if row.calls else "no call"
        return f"  {row.name:{width}}{share:24}{brier:>7}{given:>12}{self.spent[row.name].tokens:13,}"


def render_comparison_lines(row: Comparison) -> list[str]:
    """Render a comparison with its tests and their power."""
    return [
        (
            f"  {row.name}: {row.difference.points_text(' points')}; right alone: {row.counts.first} against "
            f"{row.counts.second}"
        ),
        (
            f"    McNemar exact p {format_p(row.exact_p)}, mid-p {format_p(row.mid_p)}, after Holm "
            f"{format_p(row.adjusted)}; power for {100 * row.gain:g} points at level {ALPHA:g}: {row.power:.2f}"
        ),
        f"    {row.verdict}",
    ]


def gather_model_evidence(
    labels: Sequence[Label],
    records: Sequence[DateRecord],
    agents: FinishedAgents | None,
    benchmark: tuple[str, Mapping[date, bool | None]],
    climatology: Mapping[date, float | None],
    *,
    models: Sequence[str],
    cutoff: date | None,
    mid: bool = True,
) -> ModelEvidence:
    """Score everything that models forecast, on the dates whose plain debate ran.

    Args:
        labels: with outcomes, by date; only those with a debate are used, and excluded ties are left out.
        records: the debates, of any arms.
        agents: the single agents and the probe; None for none.
        benchmark: the name of the plan's benchmark, and its call on each day.
        climatology: of each day, the reference of the skill.
        models: who takes part, for the report.
        cutoff: the last day of the training data; None if unknown.
        mid: the mid-p value decides, else the exact one.
    """
    by_case = {row.case: row for row in records}
    kept = [row for row in labels if row.up is not None and Case(row.decided, PLAIN) in by_case]
    days = [row.decided for row in kept]
    calls: dict[str, list[bool | None]] = {}
    p: dict[str, list[float | None]] = {}
    spent: dict[str, Spending] = {}
    for arm in (PLAIN, BLIND):
        for agent in _AGENTS:
            rows = [_said(agent, Case(day, arm), by_case, agents) for day in days]
            if all(row is None for row in rows):
                continue
            name, total = name_forecaster(agent, arm), Spending()
            calls[name] = [row[0] if row else None for row in rows]
            p[name] = [row[1] if row else None for row in rows]
            for row in rows:
                total = total.plus(row[2]) if row else total
            spent[name] = total
    reference = [climatology.get(day) for day in days]
    right = {name: [call == row.up for call, row in zip(said, kept, strict=True)] for name, said in calls.items()}
    against, says = benchmark
    right[against] = [says.get(row.decided) == row.up for row in kept]
    return ModelEvidence(
        tuple(models),
        len(kept),
        tuple(score_calls(name, kept, said, p[name], reference) for name, said in calls.items()),
        {name: sum(call is not None for call in said) for name, said in calls.items()},
        compare_all(right, declare_comparisons(tuple(calls)), mid=mid) if kept else (),
        split_at_cutoff(days, right, tuple(calls), against, cutoff, mid=mid) if kept else (),
        agents.recognition if agents else None,
        spent,
        cutoff,
        any(row.harness for row in records) or (agents is not None and agents.harness),
        agents.stopped if agents else "",
    )


def declare_comparisons(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Pair the debate with the agents within each arm, and each forecaster with its blind counterpart."""
    pairs = [
        (name_forecaster(DEBATE, arm), name_forecaster(agent, arm))
        for arm in (PLAIN, BLIND)
        for agent in (SINGLE_AGENT, VOTE)
    ]
    pairs += [(agent, name_forecaster(agent, BLIND)) for agent in _AGENTS]
    return tuple(row for row in pairs if row[0] in names and row[1] in names)


def _said(
    agent: str, case: Case, records: Mapping[Case, DateRecord], agents: FinishedAgents | None
) -> tuple[bool | None, float | None, Spending] | None:
    """The call, the probability of up and the cost; None if it did not run."""
    if agent == DEBATE:
        row = records.get(case)
        return None if row is None else (read_call(row.p), row.p, row.spent)
    held = agents.forecasts.get(agent, {}).get(case) if agents else None
    return None if held is None else (held.up, held.p, held.spent)
