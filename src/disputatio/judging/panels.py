"""Panels of judges: several judges, both orders of the sides, one verdict.

The rules
    1. The panel is registered. A judge without scores in every order is named with the reason and stays in the
       denominator; nothing replaces its scores.
    2. More than half of the panel (of its weight, if weighted) must be heard, else there is no verdict.
    3. Every judge sees the sides in both orders, and a win must survive the swap, else it is a tie. If judges vote,
       each judge's own win must survive. If scores are averaged, the average must favour the same side in both orders.
    4. Ties are reported as ties. No verdict is not a tie.

How the findings are combined
    mean            the mean of the judges' gaps between the sides
    median          the median of their gaps; of an even number, the mean of the middle two
    majority        each judge votes for a side or for a tie; more than half of the panel decides
    weighted mean   the mean of their gaps, weighted
    weighted vote   the vote, weighted: more than half of the weight of the panel decides

All numbers are exact fractions. A gap is the total of the first side less that of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.judging.blinding import both_orders
from disputatio.judging.consistency import Swap, combine_orders
from disputatio.judging.judge_scores import TIE, JudgeScores, find_leader
from disputatio.judging.panel_verdict import JudgeFinding, Orders, PanelMethod, PanelStatus, PanelVerdict
from disputatio.judging.votes import MAJORITY, Ballot, Silence, VoteOutcome, by_weight, count_votes
from disputatio.judging.weights import Weights

_VOTES = frozenset({PanelMethod.MAJORITY, PanelMethod.WEIGHTED_VOTE})
_WEIGHTED = frozenset({PanelMethod.WEIGHTED_MEAN, PanelMethod.WEIGHTED_VOTE})


@dataclass(frozen=True, slots=True)
class Panel:
    """Who judges, and how their findings are combined; registered before the debate.

    Attributes:
        judges: every registered judge.
        sides: the two sides; gaps are the first less the second.
        method: how the findings are combined.
        orders: whether each judge sees the sides in both orders, or in one only.
        weights: of the judges, only for the weighted methods.
        dead_zone: a gap smaller than this, in points, is a tie.

    Raises:
        InvalidInputError: there is no judge, one is registered twice, the sides are not two, weights do not fit the
            method, or the dead zone is negative.
    """

    judges: tuple[str, ...]
    sides: tuple[str, str]
    method: PanelMethod = PanelMethod.MEAN
    orders: Orders = Orders.BOTH
    weights: Weights | None = None
    dead_zone: Fraction = field(default=Fraction(0))

    def __post_init__(self) -> None:
        both_orders(self.sides)
        if not self.judges or len(set(self.judges)) < len(self.judges):
            raise InvalidInputError("A panel has no judge, or one of them twice.", "Register each judge once.")
        if (self.weights is not None) != (self.method in _WEIGHTED):
            raise InvalidInputError(
                f"The method {self.method} and weights do not go together.",
                "Give weights to a weighted method, and to no other.",
            )
        if self.weights is not None:
            self.weights.check(self.judges)
        if self.dead_zone < 0:
            raise InvalidInputError("The dead zone is negative.", "Give 0 points or more.")

    def verdict(self, scores: Sequence[JudgeScores]) -> PanelVerdict:
        """Combine ``scores`` into the verdict.

        Args:
            scores: one for each judge and order. A judge without scores has failed.

        Raises:
            InvalidInputError: a score is of another judge or other sides, or a judge has two for one order.
        """
        orders = self._orders(scores)
        findings = tuple(self._finding(judge, orders, scores) for judge in self.judges)
        if self.method in _VOTES:
            return self._by_vote(findings)
        return self._by_score(findings)

    def arguments(self, findings: Sequence[JudgeFinding]) -> dict[str, Fraction]:
        """Return the points of each argument by the method, over the heard judges that scored it.

        Under voting methods they are the (weighted) mean, as the totals are.
        """
        rows: dict[str, list[tuple[Fraction, Fraction]]] = {}
        for finding in findings:
            for argument, points in finding.arguments.items():
                rows.setdefault(argument, []).append((points, self._weight(finding.judge)))
        counted = {argument: known for argument, known in rows.items() if any(weight for _, weight in known)}
        return {argument: _SUMMARIES[self.method](known) for argument, known in counted.items()}

    def _orders(self, scores: Sequence[JudgeScores]) -> dict[tuple[str, tuple[str, str]], JudgeScores]:
        known: dict[tuple[str, tuple[str, str]], JudgeScores] = {}
        for row in scores:
            key = (row.judge, row.order)
            if row.judge not in self.judges or set(row.order) != set(self.sides) or key in known:
                raise InvalidInputError(
                    f"The scores of {row.judge} with {row.order[0]} shown first do not belong to this panel.",
                    "Give at most one for each judge and order; compare two of the same order as a retest.",
                )
            known[key] = row
        return known

    def _finding(
        self, judge: str, known: dict[tuple[str, tuple[str, str]], JudgeScores], scores: Sequence[JudgeScores]
    ) -> JudgeFinding:
        wanted: tuple[tuple[str, str], ...] = both_orders(self.sides)
        if self.orders is Orders.ONE:
            given = [row.order for row in scores if row.judge == judge]
            if len(given) > 1:
                raise InvalidInputError(
                    f"{judge} judged in both orders, and this panel takes one.", "Make a panel of both orders."
                )
            wanted = (given[0],) if given else wanted[:1]
        rows = tuple(
            known.get((judge, order)) or JudgeScores.failed(judge, order, "gave no scores") for order in wanted
        )
        failures = [f"{row.failure} (with {row.order[0]} shown first)" for row in rows if row.failure]
        verdicts = [row.verdict(self.dead_zone) for row in rows]
        if failures:
            swap = None if self.orders is Orders.ONE else combine_orders(verdicts[0], verdicts[1])[1]
            return JudgeFinding(judge, self.sides, rows, None, swap, "; ".join(failures))
        if self.orders is Orders.ONE:
            return JudgeFinding(judge, self.sides, rows, verdicts[0], None)
        verdict, swap = combine_orders(verdicts[0], verdicts[1])
        return JudgeFinding(judge, self.sides, rows, verdict, swap)

    def _weight(self, judge: str) -> Fraction:
        return self.weights.of[judge] if self.weights else Fraction(1)

    def _quorum(self, findings: tuple[JudgeFinding, ...]) -> str:
        """Explain why too few judges were heard; empty if enough were."""
        heard = [row.judge for row in findings if row.heard]
        if not heard:
            return "no judge was heard"
        whole = sum(map(self._weight, self.judges), Fraction(0))
        share = sum(map(self._weight, heard), Fraction(0)) / whole
        if share * 2 > 1:
            return ""
        what = f"{len(heard)} of {len(self.judges)} judges were heard"
        if self.weights:
            what += f", with {float(share):.0%} of the weight"
        return f"{what}; more than half is needed"

    def _by_vote(self, findings: tuple[JudgeFinding, ...]) -> PanelVerdict:
        ballots = [
            Ballot.silent(row.judge, Silence.FAILED, row.failure)
            if row.verdict is None
            else Ballot.cast(row.judge, row.verdict)
            for row in findings
        ]
        rule = by_weight(self.weights.of) if self.weights else MAJORITY
        vote = count_votes(rule, self.judges, ballots, (*self.sides, TIE))
        gap = self._gap(findings, None)
        short = self._quorum(findings)
        if short:
            return self._verdict(findings, PanelStatus.UNDECIDED, None, gap, short, vote)
        if vote.winner in self.sides:
            against = self._against(vote.winner, gap)
            if against:
                reason = f"{vote.reason}, but {against}"
                return self._verdict(findings, PanelStatus.TIED, None, gap, reason, vote)
            return self._verdict(findings, PanelStatus.WON, vote.winner, gap, vote.reason, vote)
        return self._verdict(findings, PanelStatus.TIED, None, gap, vote.reason, vote)

    def _by_score(self, findings: tuple[JudgeFinding, ...]) -> PanelVerdict:
        gap = self._gap(findings, None)
        short = self._quorum(findings)
        if short or gap is None:
            return self._verdict(findings, PanelStatus.UNDECIDED, None, gap, short, None)
        leads = {order: self._gap(findings, order) for order in both_orders(self.sides)}
        if self.orders is Orders.ONE:
            winner, swap = find_leader(gap, self.sides, self.dead_zone), None
        else:
            one, other = (
                None if lead is None else find_leader(lead, self.sides, self.dead_zone) for lead in leads.values()
            )
            found, swap = combine_orders(one, other)
            winner = found or TIE
        why = self._lead_text(gap)
        if swap is not None:
            why += f"; {swap.text()}"
        if swap in {Swap.REVERSED, Swap.LOST}:
            why += " (" + ", ".join(self._order_text(order, lead) for order, lead in leads.items()) + ")"
        totals = self._totals_of(findings)
        apart = totals[self.sides[0]] - totals[self.sides[1]]
        if winner != TIE and (against := self._against(winner, apart)):
            # Medians of totals and of gaps may contradict each other; then neither side won.
            return self._verdict(findings, PanelStatus.TIED, None, gap, f"{why}, but of the totals {against}", None)
        if winner == TIE:
            return self._verdict(findings, PanelStatus.TIED, None, gap, why, None)
        return self._verdict(findings, PanelStatus.WON, winner, gap, why, None)

    def _against(self, winner: str, gap: Fraction | None) -> str:
        """Explain why ``gap`` contradicts ``winner``; empty if it does not."""
        if gap is None or gap == 0 or find_leader(gap, self.sides) == winner:
            return ""
        return self._lead_text(gap)

    def _gap(self, findings: tuple[JudgeFinding, ...], order: tuple[str, str] | None) -> Fraction | None:
        """Return the gap in ``order``, over all orders the mean of the gaps in each; None if no judge was heard.

        The winner comes from the gaps in each order. The median of the judges' own means could put the loser ahead.
        """
        if order is None and self.orders is Orders.BOTH:
            leads = [self._gap(findings, each) for each in both_orders(self.sides)]
            found = [lead for lead in leads if lead is not None]
            return sum(found, Fraction(0)) / len(found) if found else None
        gaps = [(row.gap(order), self._weight(row.judge)) for row in findings if row.heard]
        known = [(gap, weight) for gap, weight in gaps if gap is not None]
        return _SUMMARIES[self.method](known) if known and any(weight for _, weight in known) else None

    def _lead_text(self, gap: Fraction) -> str:
        if gap == 0:
            return f"the {self.method.value} of the judges puts the sides level"
        ahead = self.sides[0] if gap > 0 else self.sides[1]
        zone = f", inside the dead zone of {float(self.dead_zone):g}" if abs(gap) < self.dead_zone else ""
        return f"the {self.method.value} of the judges puts {ahead} ahead by {float(abs(gap)):.2f} points{zone}"

    def _order_text(self, order: tuple[str, str], lead: Fraction | None) -> str:
        side = TIE if lead is None else find_leader(lead, self.sides)
        by = f"{side} by {float(abs(lead or 0)):.2f}" if side != TIE else "level"
        return f"{by} with {order[0]} shown first"

    def _verdict(
        self,
        findings: tuple[JudgeFinding, ...],
        status: PanelStatus,
        winner: str | None,
        gap: Fraction | None,
        reason: str,
        vote: VoteOutcome | None,
    ) -> PanelVerdict:
        return PanelVerdict(
            method=self.method,
            orders=self.orders,
            sides=self.sides,
            findings=findings,
            weights=self.weights,
            dead_zone=self.dead_zone,
            status=status,
            winner=winner,
            totals=self._totals_of(findings),
            gap=gap,
            vote=vote,
            reason=reason,
        )

    def _totals_of(self, findings: tuple[JudgeFinding, ...]) -> dict[str, Fraction]:
        """Return the points of each side by the method; empty if no judge with weight was heard."""
        return {side: _SUMMARIES[self.method](rows) for side in self.sides if (rows := self._totals(findings, side))}

    def _totals(self, findings: tuple[JudgeFinding, ...], side: str) -> list[tuple[Fraction, Fraction]]:
        rows = [(row.totals[side], self._weight(row.judge)) for row in findings if row.heard]
        return rows if any(weight for _, weight in rows) else []


def _mean(values: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    return sum((value for value, _ in values), Fraction(0)) / len(values)


def _weighted_mean(values: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    whole = sum((weight for _, weight in values), Fraction(0))
    return sum((value * weight for value, weight in values), Fraction(0)) / whole


def _median(values: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    ranked = sorted(value for value, _ in values)
    return (ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2


_SUMMARIES: dict[PanelMethod, Callable[[Sequence[tuple[Fraction, Fraction]]], Fraction]] = {
    PanelMethod.MEAN: _mean,
    PanelMethod.MEDIAN: _median,
    PanelMethod.MAJORITY: _mean,
    PanelMethod.WEIGHTED_MEAN: _weighted_mean,
    PanelMethod.WEIGHTED_VOTE: _weighted_mean,
}
