"""What a backtest with language models shows beside its debates, and how far it may be read as evidence.

Debate, single agent and vote stand on identical dates, with names and dates and without. Each is scored as the
benchmarks are; the declared comparisons (the debate against each agent, and each arm with names against its blind twin)
are judged together. Every forecaster is split at the training cut-off, and only what lies after counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from disputatio.evaluation.backtest.agents import SINGLE_AGENT, VOTE, HeldAgents
from disputatio.evaluation.backtest.benchmarks import BenchmarkScores, benchmark_scores
from disputatio.evaluation.backtest.cases import BLIND, PLAIN, Case
from disputatio.evaluation.backtest.cutoff import CutoffSplit, cutoff_splits
from disputatio.evaluation.backtest.forecasting import call_of
from disputatio.evaluation.backtest.labels import Label
from disputatio.evaluation.backtest.reading import DateRecord
from disputatio.evaluation.backtest.recognition import RecognitionReport
from disputatio.evaluation.comparing.report import HARNESS
from disputatio.evaluation.experiment import Spent
from disputatio.evaluation.intervals import ALPHA, Rate
from disputatio.evaluation.statistics import Comparison, compare_all
from disputatio.evaluation.statistics.paired import p_text
from disputatio.kernel import JsonObject

DEBATE = "debate"
_AGENTS = (DEBATE, SINGLE_AGENT, VOTE)


def forecaster(agent: str, arm: str) -> str:
    """What a forecaster is called: ``debate``, ``debate, blind``, ``vote`` and so on."""
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
    spent: Mapping[str, Spent]
    cutoff: date | None
    harness: bool
    stopped: str = ""

    @property
    def verdict(self) -> str:
        """How far any of it is evidence, in one sentence."""
        return HARNESS if self.harness else next((row.verdict for row in self.splits), "Nothing was held.")

    def as_json(self) -> JsonObject:
        """All of it; the guesses of the probe included."""
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
        """All of it for people."""
        width = max(len(row.name) for row in self.scores) + 2 if self.scores else 2
        head = f"  {'':{width}}{'accuracy':24}{'Brier':>7}{'forecasts':>12}{'tokens':>13}"
        lines = [f"Language models: {', '.join(self.models)}", f"  {self.verdict}", "", head]
        lines += [self._score_line(row, width) for row in self.scores]
        if self.comparisons:
            lines += ["", "Declared comparisons, judged together (Holm); difference with Newcombe's 95 % interval"]
            lines += [line for row in self.comparisons for line in comparison_lines(row)]
        lines += ["", "Before and after the training cut-off; only what lies after counts"]
        lines += [line for row in self.splits for line in row.lines()]
        if self.recognition is not None:
            lines += ["", *self.recognition.lines()]
        return lines

    def _score_line(self, row: BenchmarkScores, width: int) -> str:
        brier = "-" if row.brier is None else f"{row.brier.score:.4f}"
        given = f"{self.given[row.name]} of {self.dates}"
        share = percent(row.accuracy) if row.calls else "no call"
        return f"  {row.name:{width}}{share:24}{brier:>7}{given:>12}{self.spent[row.name].tokens:13,}"


def percent(row: Rate) -> str:
    """A share in per cent with its interval."""
    if row.value is None or row.low is None or row.high is None:
        return "-"
    return f"{100 * row.value:.1f} % [{100 * row.low:.1f}, {100 * row.high:.1f}]"


def comparison_lines(row: Comparison) -> list[str]:
    """A comparison for people, with its tests and their power."""
    gap = row.difference
    shown = "-"
    if gap.value is not None and gap.low is not None and gap.high is not None:
        shown = f"{100 * gap.value:+.1f} points [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"
    return [
        f"  {row.name}: {shown}; right alone: {row.counts.first} against {row.counts.second}",
        (
            f"    McNemar exact p {p_text(row.exact_p)}, mid-p {p_text(row.mid_p)}, after Holm "
            f"{p_text(row.adjusted)}; power for {100 * row.gain:g} points at level {ALPHA:g}: {row.power:.2f}"
        ),
        f"    {row.verdict}",
    ]


def model_evidence(
    labels: Sequence[Label],
    records: Sequence[DateRecord],
    agents: HeldAgents | None,
    benchmark: tuple[str, Mapping[date, bool | None]],
    climatology: Mapping[date, float | None],
    *,
    models: Sequence[str],
    cutoff: date | None,
    mid: bool = True,
) -> ModelEvidence:
    """Score everything that models forecast, on the dates whose debate was held with names and dates.

    Args:
        labels: with outcomes, by date; only those with a debate are used, and ties that are excluded are left out.
        records: the debates, of any arms.
        agents: what was held beside them; None for nothing.
        benchmark: the name of the plan's benchmark, and what it says of each day.
        climatology: of each day, the reference of the skill.
        models: who takes part, for people.
        cutoff: the last day of the training data; None where it is unknown.
        mid: the mid-p value decides, else the exact one.
    """
    by_case = {row.case: row for row in records}
    kept = [row for row in labels if row.up is not None and Case(row.decided, PLAIN) in by_case]
    days = [row.decided for row in kept]
    calls: dict[str, list[bool | None]] = {}
    p: dict[str, list[float | None]] = {}
    spent: dict[str, Spent] = {}
    for arm in (PLAIN, BLIND):
        for agent in _AGENTS:
            rows = [_said(agent, Case(day, arm), by_case, agents) for day in days]
            if all(row is None for row in rows):
                continue
            name, total = forecaster(agent, arm), Spent()
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
        tuple(benchmark_scores(name, kept, said, p[name], reference) for name, said in calls.items()),
        {name: sum(call is not None for call in said) for name, said in calls.items()},
        compare_all(right, declared(tuple(calls)), mid=mid) if kept else (),
        cutoff_splits(days, right, tuple(calls), against, cutoff, mid=mid) if kept else (),
        agents.recognition if agents else None,
        spent,
        cutoff,
        any(row.harness for row in records) or (agents is not None and agents.harness),
        agents.stopped if agents else "",
    )


def declared(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The comparisons: within each arm the debate against the agents, and each forecaster against its blind twin."""
    pairs = [
        (forecaster(DEBATE, arm), forecaster(agent, arm)) for arm in (PLAIN, BLIND) for agent in (SINGLE_AGENT, VOTE)
    ]
    pairs += [(agent, forecaster(agent, BLIND)) for agent in _AGENTS]
    return tuple(row for row in pairs if row[0] in names and row[1] in names)


def _said(
    agent: str, case: Case, records: Mapping[Case, DateRecord], agents: HeldAgents | None
) -> tuple[bool | None, float | None, Spent] | None:
    """The call, the probability of up and the cost; None where nothing was held."""
    if agent == DEBATE:
        row = records.get(case)
        return None if row is None else (call_of(row.p), row.p, row.spent)
    held = agents.forecasts.get(agent, {}).get(case) if agents else None
    return None if held is None else (held.up, held.p, held.spent)
