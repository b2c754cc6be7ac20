"""The verdict of a panel of judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from disputatio.judging.agreement import Agreement, Level, Ratings, kendall_w, krippendorff_alpha
from disputatio.judging.consistency import Swap
from disputatio.judging.judge_scores import JudgeScores
from disputatio.judging.scoring import Edge, classify_gap, format_gap, round_half_up
from disputatio.judging.votes import VoteOutcome
from disputatio.judging.weights import Weights
from disputatio.kernel import JsonObject


class PanelMethod(StrEnum):
    """How the judges' findings are combined."""

    MEAN = "mean"
    MEDIAN = "median"
    MAJORITY = "majority"
    WEIGHTED_MEAN = "weighted mean"
    WEIGHTED_VOTE = "weighted vote"


class Orders(StrEnum):
    """In how many orders each judge sees the sides."""

    BOTH = "both orders"
    ONE = "one order"


class PanelStatus(StrEnum):
    """How a panel ended. UNDECIDED, with too few judges heard, is not a tie."""

    WON = "won"
    TIED = "tied"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class JudgeFinding:
    """What one judge found over all orders it was shown.

    Attributes:
        judge: the judge's id.
        sides: the two sides; gaps are the first less the second.
        scores: one for each order.
        verdict: a side, "tie", or None if an order failed.
        swap: what became of its verdict when the sides changed places; None with one order.
        failure: why it was not heard, else empty.
    """

    judge: str
    sides: tuple[str, str]
    scores: tuple[JudgeScores, ...]
    verdict: str | None
    swap: Swap | None
    failure: str = ""

    @property
    def heard(self) -> bool:
        """Whether it gave scores in every order."""
        return not self.failure

    @property
    def totals(self) -> dict[str, Fraction]:
        """Mean points of each side over the orders; empty if not heard."""
        if not self.heard:
            return {}
        return {
            side: sum((row.totals[side] for row in self.scores), Fraction(0)) / len(self.scores) for side in self.sides
        }

    @property
    def arguments(self) -> dict[str, Fraction]:
        """Mean points of each argument scored in every order; empty if not heard."""
        if not self.heard:
            return {}
        rows = [{key: points for part in row.arguments.values() for key, points in part.items()} for row in self.scores]
        common = [key for key in rows[0] if all(key in row for row in rows)]
        return {key: sum((row[key] for row in rows), Fraction(0)) / len(rows) for key in common}

    def gap(self, order: tuple[str, str] | None = None) -> Fraction | None:
        """Return its gap in ``order``, or over all orders; None if it has none."""
        if not self.heard:
            return None
        if order is None:
            totals = self.totals
            return totals[self.sides[0]] - totals[self.sides[1]]
        return next((row.gap(*self.sides) for row in self.scores if row.order == order), None)

    @property
    def first_shown_gains(self) -> Fraction | None:
        """Points by which being shown first changes the gap; None without both orders."""
        gaps = [row.gap(*row.order) for row in self.scores]
        if len(gaps) < 2 or gaps[0] is None or gaps[1] is None:
            return None
        return (gaps[0] + gaps[1]) / 2

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        gains = self.first_shown_gains
        return {
            "judge": self.judge,
            "heard": self.heard,
            "failure": self.failure,
            "verdict": self.verdict,
            "swap": self.swap and self.swap.value,
            "totals": {side: round_half_up(total, 4) for side, total in self.totals.items()},
            "first_shown_gains": None if gains is None else round_half_up(gains, 4),
            "scores": [row.as_json() for row in self.scores],
        }


@dataclass(frozen=True, slots=True)
class PanelVerdict:
    """What a panel found.

    Attributes:
        method: how the findings were combined.
        orders: in how many orders they saw the sides.
        sides: the two sides; gaps are the first less the second.
        findings: of every registered judge, heard or not, in order of registration.
        weights: of the judges, under a weighted method.
        dead_zone: points below which a gap is a tie.
        status: won, tied or undecided.
        winner: the side that won, or None.
        totals: points of each side by the method; under voting methods the (weighted) mean, for information; empty
            if no judge with weight was heard.
        gap: the panel's gap by the method, in both orders the mean of the gap in each. Under the median it is the
            median of the judges' gaps, which may differ from the gap of the median totals; if either contradicts the
            winner, it is a tie. None if no judge with weight was heard.
        vote: the count, under voting methods.
        reason: why, in one sentence.
    """

    method: PanelMethod
    orders: Orders
    sides: tuple[str, str]
    findings: tuple[JudgeFinding, ...]
    weights: Weights | None
    dead_zone: Fraction
    status: PanelStatus
    winner: str | None
    totals: Mapping[str, Fraction] = field(hash=False)
    gap: Fraction | None
    vote: VoteOutcome | None
    reason: str

    @property
    def heard(self) -> tuple[str, ...]:
        """The judges with scores in every order."""
        return tuple(row.judge for row in self.findings if row.heard)

    @property
    def failed(self) -> tuple[tuple[str, str], ...]:
        """The judges that were not heard, with their reasons."""
        return tuple((row.judge, row.failure) for row in self.findings if not row.heard)

    @property
    def order_decided(self) -> tuple[str, ...]:
        """The judges whose winner changed with the order of the sides."""
        return tuple(row.judge for row in self.findings if row.swap is Swap.REVERSED)

    @property
    def degraded(self) -> bool:
        """Whether a registered judge was not heard; every heading then says so."""
        return bool(self.failed)

    @property
    def end(self) -> str:
        """The result in words. A side with an evenly matched gap is "narrowly ahead"."""
        if self.status is PanelStatus.WON:
            narrow = self.gap is not None and classify_gap(self.gap) is Edge.EVEN
            return f"{self.winner} is narrowly ahead" if narrow else f"{self.winner} wins"
        return "a tie" if self.status is PanelStatus.TIED else "no verdict"

    @property
    def heading(self) -> str:
        """The verdict in one line, with the number of judges heard."""
        number = len(self.findings)
        heard = f"{len(self.heard)} of {number} judge{'' if number == 1 else 's'} heard"
        return f"{self.end} ({self.method.value}, {self.orders.value}, {heard})"

    @property
    def reading(self) -> str:
        """The meaning of the gap's size, for totals of 1 to 10, or why there is none."""
        if self.gap is None:
            return "no comparison: no judge was heard"
        return f"{classify_gap(self.gap).value} (gap {format_gap(self.gap)})"

    def text(self) -> str:
        """Describe the verdict for a reader: heading, reason, and a line for each judge."""
        lines = [self.heading, f"Why: {self.reason}."]
        if self.weights is not None:
            whole = sum(self.weights.of.values(), Fraction(0))
            shares = ", ".join(f"{judge} {float(value / whole):.0%}" for judge, value in self.weights.of.items())
            note = f" ({self.weights.note})" if self.weights.note else ""
            lines.append(f"Weights, {self.weights.source}: {shares}{note}.")
        for row in self.findings:
            if not row.heard:
                lines.append(f"- {row.judge}: not heard. {row.failure}")
                continue
            totals = ", ".join(f"{side} {float(total):.2f}" for side, total in row.totals.items())
            swap = f"; {row.swap.text()}" if row.swap else ""
            lines.append(f"- {row.judge}: {row.verdict} ({totals}{swap})")
        if self.orders is Orders.ONE:
            lines.append("The sides were shown in one order only, so an effect of the order would not be seen.")
        return "\n".join(lines)

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        return {
            "method": self.method.value,
            "orders": self.orders.value,
            "sides": list(self.sides),
            "status": self.status.value,
            "winner": self.winner,
            "reason": self.reason,
            "heading": self.heading,
            "panel": [row.judge for row in self.findings],
            "heard": list(self.heard),
            "failed": [{"judge": judge, "reason": reason} for judge, reason in self.failed],
            "order_decided": list(self.order_decided),
            "degraded": self.degraded,
            "dead_zone": round_half_up(self.dead_zone, 4),
            "totals": {side: round_half_up(total, 4) for side, total in self.totals.items()},
            "gap": None if self.gap is None else round_half_up(self.gap, 4),
            "vote": None if self.vote is None else self.vote.as_json(),
            "weights": None if self.weights is None else self.weights.as_json(),
            "judges": [row.as_json() for row in self.findings],
        }


def collect_ratings(verdict: PanelVerdict) -> tuple[tuple[str, ...], Ratings]:
    """Return the rated items, and a row of points for each registered judge, with None for missing ones.

    The items are the arguments, or the two sides if no judge scored arguments. Points are means over the orders.
    """
    rows = [finding.arguments for finding in verdict.findings]
    if not any(rows):
        rows = [finding.totals for finding in verdict.findings]
    items = tuple(dict.fromkeys(item for row in rows for item in row))
    return items, [[row.get(item) for item in items] for row in rows]


def measure_agreement(verdict: PanelVerdict) -> tuple[Agreement, ...]:
    """Measure Krippendorff's alpha (interval) of the judges' points, and Kendall's W of their ranking.

    A strict and a generous judge may agree in their ranking (W) but not in their points (alpha).
    """
    _, ratings = collect_ratings(verdict)
    return krippendorff_alpha(ratings, Level.INTERVAL), kendall_w(ratings)
