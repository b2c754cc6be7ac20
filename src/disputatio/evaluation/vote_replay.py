"""Count recorded votes again, without a model, under every decision rule and over every panel of the voters.

    rules    plurality, majority, super-majority (2/3), unanimity, every threshold from 1 vote to all, and a vote
             weighted by how reliable the voters look from their agreement alone (Dawid and Skene 1979); where voters
             judged each other's answers, also by peer rank (Li, Patel and Du 2023)
    panels   all voters together under every rule, and every group of two or more of them under the majority rule
             (up to ``MOST_VOTERS`` voters)

A rule without a winner has not answered. Coverage is how often it answers, precision how often an answer is right. For
judges that judged in both orders, the replay also compares their verdicts, and published counts with its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

from disputatio.evaluation.recorded_votes import RecordedSet, read_recorded_votes
from disputatio.evaluation.statistics.intervals import Rate, rate
from disputatio.evaluation.statistics.paired import Comparison, compare_all, format_p
from disputatio.judging.consistency import Swap, SwapReport, report_swaps
from disputatio.judging.dawid_skene import JudgeLabel, estimate_reliability
from disputatio.judging.judge_scores import TIE
from disputatio.judging.votes import (
    MAJORITY,
    PLURALITY,
    UNANIMITY,
    VotingRule,
    by_weight,
    count_votes,
    super_majority,
    threshold,
)
from disputatio.judging.weights import rank_peers
from disputatio.kernel import JsonObject

MOST_VOTERS = 7
PEER_DEAD_ZONE = Fraction(1, 100)
"""A weighted mean closer to zero is a tie, as in the notebook of PRD's authors."""
MAJORITY_OF_ALL = "majority of all"


@dataclass(frozen=True, slots=True)
class RuleCount:
    """The result of one rule on one panel's votes, item by item (None: no winner)."""

    rule: str
    votes_needed: int | None
    panel: tuple[str, ...]
    answers: tuple[str | None, ...]
    known: tuple[str, ...]

    @property
    def right(self) -> tuple[bool, ...]:
        """Whether each item was answered right."""
        return tuple(one == other for one, other in zip(self.answers, self.known, strict=True))

    @property
    def coverage(self) -> Rate:
        """Items that were answered."""
        return rate(sum(row is not None for row in self.answers), len(self.answers))

    @property
    def precision(self) -> Rate:
        """Answers that are right."""
        return rate(sum(self.right), sum(row is not None for row in self.answers))

    @property
    def accuracy(self) -> Rate:
        """Items that were answered right."""
        return rate(sum(self.right), len(self.answers))

    def as_json(self) -> JsonObject:
        """Rule, panel, and the three shares."""
        return {
            "rule": self.rule,
            "votes_needed": self.votes_needed,
            "panel": list(self.panel),
            "coverage": self.coverage.as_json(),
            "precision": self.precision.as_json(),
            "accuracy": self.accuracy.as_json(),
        }


@dataclass(frozen=True, slots=True)
class PanelCount:
    """The counts of one set: each voter alone, all voters under each rule, groups under the majority rule."""

    set: str
    items: int
    alone: tuple[RuleCount, ...]
    rules: tuple[RuleCount, ...]
    groups: tuple[RuleCount, ...]
    against: tuple[Comparison, ...]
    without_gold: int = 0

    def as_json(self) -> JsonObject:
        """All counts."""
        return {
            "set": self.set,
            "items": self.items,
            "without_gold": self.without_gold,
            "alone": [row.as_json() for row in self.alone],
            "rules": [row.as_json() for row in self.rules],
            "groups_by_majority": [row.as_json() for row in self.groups],
            "majority_against_each_alone": [row.as_json() for row in self.against],
        }


def count_sets(sets: Iterable[RecordedSet]) -> tuple[PanelCount, ...]:
    """Count every set."""
    return tuple(_count_set(row) for row in sets)


def _count_set(recorded: RecordedSet) -> PanelCount:
    voters = recorded.voters
    alone = tuple(_alone(recorded, voter) for voter in voters)
    rules = tuple(_rule_count(recorded, voters, rule) for rule in _rules(recorded))
    groups: tuple[RuleCount, ...] = ()
    if 2 < len(voters) <= MOST_VOTERS:
        panels = [row for size in range(2, len(voters)) for row in combinations(voters, size)]
        groups = tuple(_rule_count(recorded, panel, MAJORITY) for panel in panels)
    majority = next(row for row in rules if row.rule == MAJORITY.text())
    rules = (*rules, *_with_ties(recorded, majority), *_peer_ranked(recorded))
    right = {MAJORITY_OF_ALL: majority.right, **{row.panel[0]: row.right for row in alone}}
    against = compare_all(right, [(MAJORITY_OF_ALL, row.panel[0]) for row in alone])
    return PanelCount(recorded.name, len(recorded.items), alone, rules, groups, against, recorded.without_gold)


def _rules(recorded: RecordedSet) -> list[VotingRule]:
    thresholds = [threshold(votes) for votes in range(1, len(recorded.voters) + 1)]
    weighted = _weighted(recorded)
    rules = [PLURALITY, MAJORITY, super_majority(), UNANIMITY, *thresholds]
    return [*rules, weighted] if weighted is not None else rules


def _weighted(recorded: RecordedSet) -> VotingRule | None:
    """A vote weighted by reliability; None if the answers are too few or too free to estimate it."""
    labels = [
        JudgeLabel(voter, item.id, choice)
        for item in recorded.items
        for voter in recorded.voters
        if (choice := item.ballot(voter).choice) is not None
    ]
    classes = {row.label for row in labels}
    if len(recorded.voters) < 3 or len(classes) < 2 or len(classes) > 10:
        return None
    weights = estimate_reliability(labels).weights()
    if set(weights.of) != set(recorded.voters):
        return None
    return by_weight(weights.of)


def _alone(recorded: RecordedSet, voter: str) -> RuleCount:
    answers = tuple(item.ballot(voter).choice for item in recorded.items)
    return RuleCount("alone", 1, (voter,), answers, tuple(item.known for item in recorded.items))


def _rule_count(recorded: RecordedSet, panel: Sequence[str], rule: VotingRule) -> RuleCount:
    # The same answers recur often, so each combination is counted once.
    counted: dict[tuple[str, ...], str | None] = {}
    answers = []
    for item in recorded.items:
        given = tuple(item.given.get(voter, "") for voter in panel)
        if given not in counted:
            counted[given] = count_votes(rule, panel, [item.ballot(voter) for voter in panel]).winner
        answers.append(counted[given])
    known = tuple(item.known for item in recorded.items)
    return RuleCount(_name(rule), rule.votes, tuple(panel), tuple(answers), known)


def _with_ties(recorded: RecordedSet, majority: RuleCount) -> list[RuleCount]:
    """For sets where a tie is an answer: a majority where no winner means a tie, and the sign of the mean verdict."""
    first_second = sorted({row.known for row in recorded.items} - {TIE})
    if TIE not in {row.known for row in recorded.items} or len(first_second) != 2:
        return []
    one, other = first_second
    signs = []
    for item in recorded.items:
        given = [item.given.get(voter, "") for voter in recorded.voters]
        lead = given.count(one) - given.count(other)
        signs.append(one if lead > 0 else other if lead < 0 else TIE)
    none_is_tie = tuple(row or TIE for row in majority.answers)
    return [
        RuleCount("majority, and a tie where there is none", None, recorded.voters, none_is_tie, majority.known),
        RuleCount("sign of the mean verdict, ties as 0", None, recorded.voters, tuple(signs), majority.known),
    ]


def _peer_ranked(recorded: RecordedSet) -> list[RuleCount]:
    """For sets where voters judged each other: the sign of the mean verdict weighted by peer rank, as PRD counts it."""
    if not recorded.reviews:
        return []
    weights = rank_peers(recorded.reviews).weights.of
    answers = []
    for item in recorded.items:
        given = {voter: _LEADS[row] for voter, row in item.given.items() if row in _LEADS and weights.get(voter)}
        whole = sum(weights[voter] for voter in given)
        mean = sum(weights[voter] * lead for voter, lead in given.items()) / whole if whole else Fraction(0)
        answers.append(TIE if abs(mean) < PEER_DEAD_ZONE else "first" if mean < 0 else "second")
    known = tuple(item.known for item in recorded.items)
    return [RuleCount("sign of the mean, weighted by peer rank (PRD)", None, recorded.voters, tuple(answers), known)]


_LEADS = {"first": -1, TIE: 0, "second": 1}


def _name(rule: VotingRule) -> str:
    return "weighted by reliability (Dawid-Skene)" if rule.weights is not None else rule.text()


PUBLISHED_FILE = "all_statistics.json"


@dataclass(frozen=True, slots=True)
class JudgeSwaps:
    """One judge on one set. ``as_published`` is None if nothing about it is published."""

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


def measure_swaps(sets: tuple[RecordedSet, ...], path: Path) -> tuple[JudgeSwaps, ...]:
    """Compare the verdicts of all judges that judged in both orders."""
    published = _published(path)
    found = []
    for row in sets:
        for judge, pairs in row.swaps.items():
            report = report_swaps(pairs)
            said = published.get((row.name.removeprefix("llmbar "), judge))
            found.append(JudgeSwaps(row.name, judge, report, None if said is None else _agrees(report, said)))
    return tuple(found)


def _published(path: Path) -> dict[tuple[str, str], Any]:
    """LLMBar's own statistics by subset and judge, if they lie beside the votes."""
    file = path / PUBLISHED_FILE
    if not path.is_dir() or not file.exists():
        return {}
    found = {}
    for row in json.loads(file.read_text("utf-8")):
        subset, _, rest = row["path"].partition("/evaluators/")
        evaluator, strategy, _ = rest.split("/")
        found[subset.removeprefix("LLMBar/"), f"{evaluator} / {strategy}"] = row
    return found


def _agrees(report: SwapReport, said: dict[str, str]) -> bool:
    """Whether counts and accuracy equal the published ones, which count two unreadable answers as equal."""
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


JSON_VERSION = 1
_BEST = 3
_MOST_SWAPS = 12


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The report of replaying one folder or file."""

    source: str
    panels: tuple[PanelCount, ...]
    swaps: tuple[JudgeSwaps, ...]

    def as_json(self) -> JsonObject:
        """The stable JSON form, version ``JSON_VERSION``."""
        return {
            "schema": "disputatio/replay",
            "version": JSON_VERSION,
            "source": self.source,
            "sets": [row.as_json() for row in self.panels],
            "swaps": [row.as_json() for row in self.swaps],
        }


def make_replay_report(path: Path) -> ReplayReport:
    """Read and count what is in ``path``.

    Raises:
        InvalidInputError: there are no recorded votes, or they cannot be read.
    """
    sets = read_recorded_votes(path)
    return ReplayReport(path.name, count_sets(sets), measure_swaps(sets, path))


def render_replay_lines(report: ReplayReport) -> list[str]:
    """Render the report as text."""
    lines = [f"Recorded votes of {report.source}, counted again; no model was asked"]
    for panel in report.panels:
        lines += ["", *_panel_lines(panel)]
    if report.swaps:
        lines += ["", *_swap_lines(report.swaps)]
    lines += [
        "",
        "Coverage: items with a winner; precision: winners that are right; accuracy: items that are right.",
        "Intervals in brackets are 95 % (Wilson). Failures and abstentions stay in every denominator.",
    ]
    return lines


def _panel_lines(panel: PanelCount) -> list[str]:
    head = f"{panel.set}: {panel.items:,} items, {len(panel.alone)} voters"
    columns = f"  {'rule':48} {'coverage':>23}  {'precision':>20}  {'accuracy':>20}"
    left_out = f"  {panel.without_gold:,} rows without a right answer are left out"
    lines = [head, *([left_out] if panel.without_gold else []), columns]
    lines += [_rule_line(row.rule, row) for row in panel.rules]
    lines += [_rule_line(f"{row.panel[0]} alone", row) for row in panel.alone]
    if panel.groups:
        best = sorted(panel.groups, key=lambda row: (-row.accuracy.count, row.panel))[:_BEST]
        lines.append(f"  best of {len(panel.groups)} smaller panels by majority (chosen after the fact, so too good):")
        lines += [_rule_line(" + ".join(row.panel), row) for row in best]
    lines.append("  the majority of all against each voter alone (McNemar, Holm over all of them):")
    lines += [
        (
            f"    {row.second[:28]:28} {_points(row.difference.value):>7} points "
            f"[{_points(row.difference.low)}, {_points(row.difference.high)}]  exact p {format_p(row.exact_p)}, mid-p "
            f"{format_p(row.mid_p)}, adjusted {format_p(row.adjusted)}: {row.verdict}"
        )
        for row in panel.against
    ]
    return lines


def _points(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:+.1f}"


def _rule_line(name: str, row: RuleCount) -> str:
    shown = name if len(name) <= 48 else name[:47] + "…"
    return (
        f"  {shown:48} {row.coverage.percent_text():>23}  {_decimal(row.precision):>20}  {_decimal(row.accuracy):>20}"
    )


def _decimal(row: Rate) -> str:
    if row.value is None or row.low is None or row.high is None:
        return "-"
    return f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}]"


def _swap_lines(swaps: Sequence[JudgeSwaps]) -> list[str]:
    lines = ["With the sides in either order"]
    checked = [row for row in swaps if row.as_published is not None]
    if checked:
        lines.append(
            f"  {sum(bool(row.as_published) for row in checked)} of {len(checked)} configurations are as published"
        )
    lines.append(f"  {'set':28} {'judge':40} {'accuracy':>8}  {'same verdict':>24}  order bias")
    ranked = sorted(swaps, key=lambda row: (-(row.report.accuracy or 0), row.set, row.judge))
    for row in ranked[:_MOST_SWAPS]:
        accuracy, bias = row.report.accuracy, row.report.order_bias
        lines.append(
            f"  {row.set[:28]:28} {row.judge[:40]:40} {_percent(accuracy):>8}  {row.survived.percent_text():>24}  "
            f"{'-' if bias is None else f'{float(bias):+.2f}'}"
        )
    if len(ranked) > _MOST_SWAPS:
        lines.append(f"  and {len(ranked) - _MOST_SWAPS} more, by accuracy; --json and the page have all")
    return lines


def _percent(value: Fraction | None) -> str:
    return "-" if value is None else f"{float(100 * value):.1f} %"
