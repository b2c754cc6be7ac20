"""Whether the judges of one panel agree on one debate."""

from __future__ import annotations

from disputatio.judging.agreement import Agreement, Level, Ratings, kendall_w, krippendorff_alpha
from disputatio.judging.panel_verdict import PanelVerdict


def panel_ratings(verdict: PanelVerdict) -> tuple[tuple[str, ...], Ratings]:
    """What the judges rated, and a row of points for each registered judge; None where it gave none.

    The items are the arguments; where no judge scored arguments, the two sides. A judge's points are the mean over
    the orders it was shown.
    """
    rows = [finding.arguments for finding in verdict.findings]
    if not any(rows):
        rows = [finding.totals for finding in verdict.findings]
    items = tuple(dict.fromkeys(item for row in rows for item in row))
    return items, [[row.get(item) for item in items] for row in rows]


def panel_agreement(verdict: PanelVerdict) -> tuple[Agreement, ...]:
    """Krippendorff's alpha (interval) of the judges' points, and Kendall's W of their ranking.

    Alpha asks whether they gave the same points, W whether they put the arguments in the same order: a strict and a
    generous judge can agree in the second alone.
    """
    _, ratings = panel_ratings(verdict)
    return krippendorff_alpha(ratings, Level.INTERVAL), kendall_w(ratings)
