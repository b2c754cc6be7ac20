"""Count votes over a registered electorate, and read winners from polls, in exact numbers.

The rules
    1. Everybody on the register counts in the denominator, also those who abstain, fail or stay away.
    2. A rule is named before the vote. One that cannot be met is refused.
    3. No votes, no winner.
    4. Ties never pass. The options with equal top votes are named.
    5. An earlier vote stands until its voter votes again (see `select_latest_ballots`), and is marked carried.

What each rule needs, with N voters registered:

    plurality        more votes than any other option
    majority         more than N / 2
    super-majority   at least a stated share of N, 2/3 by default
    unanimity        N
    threshold        at least a stated number of votes, and more than any other option
    weighted         more than a stated share of the weight of all registered voters, half by default, and more than
                     any other option

Polls of an audience have two rules. By swing the side wins that gained the larger share (Intelligence Squared U.S.); by
the final vote the side with the larger share at the end. They often differ, so a winner is named with its rule.
Undecided listeners stay in the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.kernel import JsonObject

TWO_THIRDS, HALF = Fraction(2, 3), Fraction(1, 2)


class Rule(StrEnum):
    """What an option needs in order to win."""

    PLURALITY = "plurality"
    MAJORITY = "majority"
    SUPER_MAJORITY = "super-majority"
    UNANIMITY = "unanimity"
    THRESHOLD = "threshold"
    WEIGHTED = "weighted"


class Silence(StrEnum):
    """Why a registered voter has no vote."""

    ABSTAINED = "abstained"
    FAILED = "failed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Ballot:
    """What one voter did: a choice, or a silence with its reason. ``carried``: cast earlier and still standing."""

    voter: str
    choice: str | None = None
    silence: Silence | None = None
    reason: str = ""
    carried: bool = False

    @classmethod
    def cast(cls, voter: str, choice: str) -> Ballot:
        """Make a vote."""
        return cls(voter, choice)

    @classmethod
    def silent(cls, voter: str, silence: Silence = Silence.ABSTAINED, reason: str = "") -> Ballot:
        """Make an absence of a vote, with its reason."""
        return cls(voter, None, silence, reason)


@dataclass(frozen=True, slots=True)
class VotingRule:
    """A rule with its numbers; made by the constants and functions below.

    Raises:
        InvalidInputError: a number is missing, does not belong to this rule, or is out of range.
    """

    kind: Rule
    share: Fraction | None = None
    votes: int | None = None
    weights: Mapping[str, Fraction] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        needs = {Rule.SUPER_MAJORITY: (True, False), Rule.WEIGHTED: (True, False), Rule.THRESHOLD: (False, True)}
        if needs.get(self.kind, (False, False)) != (self.share is not None, self.votes is not None):
            raise InvalidInputError(f"The rule {self.kind} does not have the numbers it needs.", _SHAPES)
        if (self.kind is Rule.WEIGHTED) != (self.weights is not None):
            raise InvalidInputError(f"The rule {self.kind} and weights do not go together.", _SHAPES)
        if self.kind is Rule.SUPER_MAJORITY and not HALF < Fraction(self.share or 0) <= 1:
            raise InvalidInputError(
                f"A super-majority of {self.share} is none.", "Give a share above 1/2 and at most 1, such as 2/3."
            )
        if self.kind is Rule.WEIGHTED and not 0 <= Fraction(self.share or 0) < 1:
            raise InvalidInputError(
                f"No option can have more than {self.share} of the weight.", "Give a share from 0 to below 1."
            )
        if self.votes is not None and self.votes < 1:
            raise InvalidInputError(
                f"A threshold of {self.votes} votes would pass what nobody voted for.", "Give 1 or more."
            )

    def check(self, electorate: Sequence[str]) -> None:
        """Refuse this rule if ``electorate`` cannot meet it; call it before the vote.

        Raises:
            InvalidInputError: no voter is registered, one is registered twice, the threshold is above the number
                of voters, or the weights are not those of the voters, negative or all zero.
        """
        if not electorate:
            raise InvalidInputError("Nobody is registered to vote.", "Register at least one voter.")
        twice = sorted({voter for voter in electorate if electorate.count(voter) > 1})
        if twice:
            raise InvalidInputError(f"Registered twice: {', '.join(twice)}.", "Register each voter once.")
        if self.votes is not None and self.votes > len(electorate):
            raise InvalidInputError(
                f"{_count_text(self.votes)} cannot be reached by {len(electorate)} registered voters.",
                "Lower the threshold or register more voters.",
            )
        if self.weights is not None:
            self._check_weights(self.weights, electorate)

    @staticmethod
    def _check_weights(weights: Mapping[str, Fraction], electorate: Sequence[str]) -> None:
        astray = sorted(set(weights) ^ set(electorate))
        if astray:
            raise InvalidInputError(
                f"The weights and the register differ in: {', '.join(astray)}.", "Give each voter one weight."
            )
        if any(weight < 0 for weight in weights.values()) or not any(weights.values()):
            raise InvalidInputError(
                "A weight is negative, or all of them are zero.", "Give weights of 0 or more, one of them above 0."
            )

    def needed(self, electorate: Sequence[str]) -> int | Fraction:
        """Return the least number of votes, or for the weighted rule the weight to exceed."""
        size = len(electorate)
        match self.kind:
            case Rule.PLURALITY:
                return 1
            case Rule.MAJORITY:
                return size // 2 + 1
            case Rule.UNANIMITY:
                return size
            case Rule.THRESHOLD:
                return self.votes or 1
            case Rule.SUPER_MAJORITY:
                return -(-(self.share or HALF) * size // 1)
            case Rule.WEIGHTED:
                return (self.share or Fraction(0)) * sum((self.weights or {}).values(), Fraction(0))

    def text(self) -> str:
        """Describe the rule."""
        match self.kind:
            case Rule.PLURALITY:
                return "plurality (more votes than any other)"
            case Rule.MAJORITY:
                return "majority (more than half of all registered)"
            case Rule.UNANIMITY:
                return "unanimity (every registered voter)"
            case Rule.THRESHOLD:
                return f"threshold (at least {_count_text(self.votes or 1)})"
            case Rule.SUPER_MAJORITY:
                return f"super-majority (at least {self.share} of all registered)"
            case Rule.WEIGHTED:
                return f"weighted (more than {self.share} of the weight of all registered)"


_SHAPES = "Use PLURALITY, MAJORITY, UNANIMITY, super_majority(), threshold() or by_weight()."

PLURALITY = VotingRule(Rule.PLURALITY)
MAJORITY = VotingRule(Rule.MAJORITY)
UNANIMITY = VotingRule(Rule.UNANIMITY)


def super_majority(share: Fraction = TWO_THIRDS) -> VotingRule:
    """Require at least ``share`` of the electorate, above 1/2 and at most 1."""
    return VotingRule(Rule.SUPER_MAJORITY, share=share)


def threshold(votes: int) -> VotingRule:
    """Require at least ``votes`` votes, 1 or more, and more than any other option."""
    return VotingRule(Rule.THRESHOLD, votes=votes)


def by_weight(weights: Mapping[str, Fraction], share: Fraction = HALF) -> VotingRule:
    """Require more than ``share`` (0 to below 1) of the total of ``weights``; 0 is a weighted plurality."""
    return VotingRule(Rule.WEIGHTED, share=share, weights=dict(weights))


@dataclass(frozen=True, slots=True)
class VoteOutcome:
    """The result of a vote.

    Attributes:
        rule: by which it was counted.
        electorate: every registered voter, in order of registration.
        ballots: one for each of them, in that order.
        tally: votes for each option; all options if given, else those with votes.
        weighed: weight behind each option under the weighted rule, else None.
        needed: see `VotingRule.needed`.
        winner: the option that won, or None.
        tied: the options with equal top votes, else empty.
        reason: why, in one sentence.
    """

    rule: VotingRule
    electorate: tuple[str, ...]
    ballots: tuple[Ballot, ...]
    tally: Mapping[str, int]
    weighed: Mapping[str, Fraction] | None
    needed: int | Fraction
    winner: str | None
    tied: tuple[str, ...]
    reason: str

    def silent(self, silence: Silence) -> tuple[str, ...]:
        """Return the voters with this silence."""
        return tuple(ballot.voter for ballot in self.ballots if ballot.silence is silence)

    @property
    def carried(self) -> tuple[str, ...]:
        """The voters whose vote was cast earlier and still stands."""
        return tuple(ballot.voter for ballot in self.ballots if ballot.carried)

    def as_json(self) -> JsonObject:
        """Return the recorded form; fractions are text, so nothing is rounded."""
        return {
            "rule": self.rule.kind.value,
            "rule_text": self.rule.text(),
            "electorate": list(self.electorate),
            "tally": dict(self.tally),
            "weighed": None if self.weighed is None else {key: str(value) for key, value in self.weighed.items()},
            "needed": self.needed if isinstance(self.needed, int) else str(self.needed),
            "winner": self.winner,
            "tied": list(self.tied),
            "reason": self.reason,
            **{silence.value: list(self.silent(silence)) for silence in Silence},
            "carried": list(self.carried),
        }


def count_votes(
    rule: VotingRule, electorate: Sequence[str], ballots: Iterable[Ballot], options: Sequence[str] | None = None
) -> VoteOutcome:
    """Count ``ballots``; a registered voter without one is absent.

    Args:
        rule: what an option needs.
        electorate: the registered voters.
        ballots: at most one for each voter; for several phases, pass `select_latest_ballots`.
        options: the possible votes; None if any answer is allowed.

    Raises:
        InvalidInputError: the rule cannot be met (`VotingRule.check`), a ballot is of an unregistered voter or a second
            one, it holds both or neither of a choice and a silence, or its choice is not an option.
    """
    rule.check(electorate)
    cast = _order_ballots(electorate, ballots, options)
    register = tuple(cast.get(voter) or Ballot.silent(voter, Silence.ABSENT, "no ballot") for voter in electorate)
    chosen = [(ballot.voter, ballot.choice) for ballot in register if ballot.choice is not None]
    tally = dict.fromkeys(options or (), 0)
    for _, choice in chosen:
        tally[choice] = tally.get(choice, 0) + 1
    weighed: dict[str, Fraction] | None = None
    if rule.weights is not None:
        weighed = dict.fromkeys(tally, Fraction(0))
        for voter, choice in chosen:
            weighed[choice] += rule.weights[voter]
    strength: Mapping[str, int | Fraction] = tally if weighed is None else weighed
    top = max(strength.values(), default=0)
    leaders = tuple(option for option, value in strength.items() if value == top and top > 0)
    needed = rule.needed(electorate)
    reached = top > needed if rule.kind is Rule.WEIGHTED else top >= needed
    winner = leaders[0] if len(leaders) == 1 and reached else None
    return VoteOutcome(
        rule=rule,
        electorate=tuple(electorate),
        ballots=register,
        tally=tally,
        weighed=weighed,
        needed=needed,
        winner=winner,
        tied=leaders if len(leaders) > 1 else (),
        reason=_describe_result(rule, register, leaders, top, needed, winner),
    )


def select_latest_ballots(history: Iterable[Ballot]) -> tuple[Ballot, ...]:
    """Return the standing ballot of each voter after ``history``, which is in order of time.

    A silence after a vote keeps the vote, marked carried and with the silence's reason. Voters come in the order of
    their first ballot.
    """
    standing: dict[str, Ballot] = {}
    for ballot in history:
        before = standing.get(ballot.voter)
        if ballot.choice is None and before is not None and before.choice is not None:
            why = ballot.reason or (ballot.silence.value if ballot.silence else "")
            standing[ballot.voter] = replace(before, carried=True, reason=why)
        else:
            standing[ballot.voter] = ballot
    return tuple(standing.values())


def _order_ballots(
    electorate: Sequence[str], ballots: Iterable[Ballot], options: Sequence[str] | None
) -> dict[str, Ballot]:
    registered, cast = frozenset(electorate), {}
    for ballot in ballots:
        if ballot.voter not in registered:
            raise InvalidInputError(f"{ballot.voter} is not registered to vote.", "Register every voter first.")
        if ballot.voter in cast:
            raise InvalidInputError(f"{ballot.voter} has two ballots.", "Count the latest of each voter.")
        if (ballot.choice is None) == (ballot.silence is None):
            raise InvalidInputError(
                f"The ballot of {ballot.voter} must hold a choice or a silence, and not both.",
                "Make it with Ballot.cast or Ballot.silent.",
            )
        if options is not None and ballot.choice is not None and ballot.choice not in options:
            raise InvalidInputError(
                f"{ballot.voter} voted for {ballot.choice}, which is no option.", f"Choose of: {', '.join(options)}."
            )
        cast[ballot.voter] = ballot
    return cast


def _count_text(number: int) -> str:
    return f"{number} vote{'' if number == 1 else 's'}"


def _describe_result(
    rule: VotingRule,
    register: tuple[Ballot, ...],
    leaders: tuple[str, ...],
    top: int | Fraction,
    needed: int | Fraction,
    winner: str | None,
) -> str:
    silences = [(silence, sum(ballot.silence is silence for ballot in register)) for silence in Silence]
    silent = ", ".join(f"{number} {silence.value}" for silence, number in silences if number)
    tail = f" ({silent})" if silent else ""
    weighted = rule.weights is not None
    if not any(ballot.choice is not None for ballot in register):
        return f"nobody voted{tail}"
    if not leaders:
        return f"no option has a vote that carries weight{tail}"
    whole = sum(rule.weights.values(), Fraction(0)) if rule.weights is not None else len(register)
    unit = "of the weight" if weighted else "votes"
    if len(leaders) > 1:
        return f"{' and '.join(leaders)} are level at {top} of {whole} {unit}{tail}"
    if rule.kind is Rule.PLURALITY:
        return f"{leaders[0]} has the most votes, {top} of {whole}{tail}"
    demand = f"more than {needed} needed" if weighted else f"{needed} needed"
    verb = "has" if winner else "leads with only"
    return f"{leaders[0]} {verb} {top} of {whole} {unit}, {demand}{tail}"


class PollRule(StrEnum):
    """How polls give a winner."""

    SWING = "swing"
    FINAL_VOTE = "final vote"


@dataclass(frozen=True, slots=True)
class Poll:
    """Percent of the audience for each side, and undecided; together at most 100.

    Raises:
        InvalidInputError: there are fewer than two sides, a share is negative, or the sum is above 100.
    """

    shares: Mapping[str, Fraction]
    undecided: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        parts = [*self.shares.values(), self.undecided]
        if len(self.shares) < 2 or any(part < 0 for part in parts) or sum(parts) > 100:
            raise InvalidInputError(
                "A poll needs two or more sides with shares of 0 or more that come to at most 100 percent.",
                "Give each side its percentage of the whole audience.",
            )


@dataclass(frozen=True, slots=True)
class PollOutcome:
    """A winner and its rule. ``points`` are percentage points gained, or held at the end."""

    rule: PollRule
    points: Mapping[str, Fraction]
    winner: str | None
    tied: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        did = "gained" if self.rule is PollRule.SWING else "holds"
        rows = ", ".join(f"{side} {did} {float(points):g}" for side, points in self.points.items())
        end = f"{self.winner} wins" if self.winner else f"{' and '.join(self.tied)} are level"
        return f"by {self.rule.value}, in points: {rows}; {end}"

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        return {
            "rule": self.rule.value,
            "points": {side: float(points) for side, points in self.points.items()},
            "winner": self.winner,
            "tied": list(self.tied),
            "reason": self.reason,
        }


def find_swing_winner(before: Poll, after: Poll) -> PollOutcome:
    """Find the side that gained more between the polls.

    Raises:
        InvalidInputError: the two polls have different sides.
    """
    if set(before.shares) != set(after.shares):
        raise InvalidInputError("The two polls name different sides.", "Poll the same sides before and after.")
    gained = {side: after.shares[side] - share for side, share in before.shares.items()}
    return _find_outcome(PollRule.SWING, gained)


def find_final_vote_winner(after: Poll) -> PollOutcome:
    """Find the side with the larger share at the end, without the undecided."""
    return _find_outcome(PollRule.FINAL_VOTE, after.shares)


def _find_outcome(rule: PollRule, points: Mapping[str, Fraction]) -> PollOutcome:
    top = max(points.values())
    leaders = tuple(side for side, value in points.items() if value == top)
    return PollOutcome(rule, points, leaders[0] if len(leaders) == 1 else None, leaders if len(leaders) > 1 else ())
