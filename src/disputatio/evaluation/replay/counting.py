"""Every decision rule over every panel of the recorded voters.

    rules    plurality, majority, super-majority (2/3), unanimity, every threshold from 1 vote to all, and a vote
             weighted by how reliable the voters look from their agreement alone (Dawid and Skene 1979); where voters
             judged each other's answers, by peer rank too (Li, Patel and Du 2023)
    panels   all voters together under every rule; and every group of two or more of them under the majority rule
             (up to ``MOST_VOTERS`` voters)

A rule that gives no winner has not answered: coverage is how often it does, precision how often it is right then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from disputatio.evaluation.intervals import Rate, rate
from disputatio.evaluation.replay.recorded import RecordedSet
from disputatio.evaluation.statistics import Comparison, compare_all
from disputatio.judging.dawid_skene import JudgeLabel, reliability
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
"""A weighted mean closer to nought than this is a tie, as in the notebook of PRD's authors."""
MAJORITY_OF_ALL = "majority of all"


@dataclass(frozen=True, slots=True)
class RuleCount:
    """What one rule makes of one panel's votes, item by item (None: no winner)."""

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
    """One set, counted: voters alone, all together under each rule, groups under the majority rule."""

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


def replayed_sets(sets: Iterable[RecordedSet]) -> tuple[PanelCount, ...]:
    """Count every set."""
    return tuple(_counted(row) for row in sets)


def _counted(recorded: RecordedSet) -> PanelCount:
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
    """A vote weighted by reliability; None where the answers are too few or too free to estimate it from."""
    labels = [
        JudgeLabel(voter, item.id, choice)
        for item in recorded.items
        for voter in recorded.voters
        if (choice := item.ballot(voter).choice) is not None
    ]
    classes = {row.label for row in labels}
    if len(recorded.voters) < 3 or len(classes) < 2 or len(classes) > 10:
        return None
    weights = reliability(labels).weights()
    if set(weights.of) != set(recorded.voters):
        return None
    return by_weight(weights.of)


def _alone(recorded: RecordedSet, voter: str) -> RuleCount:
    answers = tuple(item.ballot(voter).choice for item in recorded.items)
    return RuleCount("alone", 1, (voter,), answers, tuple(item.known for item in recorded.items))


def _rule_count(recorded: RecordedSet, panel: Sequence[str], rule: VotingRule) -> RuleCount:
    # The same answers recur in item after item, and come to the same each time.
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
    """Where a tie is an answer: a majority whose failure to find a winner is one, and the sign of the mean verdict."""
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
    """Where voters judged each other: the sign of the mean verdict weighted by peer rank, as PRD counts it."""
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
