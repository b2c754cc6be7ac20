"""Alerts on figures past their thresholds, and the report as text.

The thresholds of the review pattern are set by default: a mean challenge strength below 6.5 (the critic is too soft),
more than 30 % of syntheses with LOW confidence (the questions are too ambiguous), more than 1.5 times the estimated
tokens of a task type (prompts run away). The others are unset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from disputatio.kernel import JsonObject
from disputatio.metrics.figures import EstimateRatio, Figures, FormatFigures, Mean, Share
from disputatio.motion import one_line
from disputatio.report.amounts import counted, dollars
from disputatio.request.configuration import Metrics


@dataclass(frozen=True, slots=True)
class Alert:
    """A figure past its threshold. ``of`` is its count; ``about`` a task type or format, or empty."""

    name: str
    about: str
    value: float
    threshold: float
    of: int
    below: bool

    @property
    def sentence(self) -> str:
        """The problem in a sentence."""
        about = f" of {self.about}" if self.about else ""
        side = "below" if self.below else "above"
        return f"{_WORDS[self.name]}{about} is {self.value:.2f}, {side} {self.threshold:g} (of {self.of})"

    def as_json(self) -> JsonObject:
        """The alert in a report."""
        return {
            "name": self.name,
            "about": self.about or None,
            "value": round(self.value, 4),
            "threshold": self.threshold,
            "of": self.of,
            "side": "below" if self.below else "above",
        }


_WORDS = {
    "challenge_strength": "The mean challenge strength",
    "low_confidence": "The share of LOW confidence",
    "cost_ratio": "Tokens taken over tokens estimated",
    "agreement": "The share that agrees with the first proposer",
    "one_conclusion": "The share in which all roles reach one conclusion",
    "tilt": "The mean tilt",
    "uncertainties": "Uncertainties a debate",
    "degraded": "The share of debates that are not whole",
}


def find_alerts(figures: Figures, thresholds: Metrics) -> tuple[Alert, ...]:
    """Return every figure that is past its threshold and rests on enough debates."""
    rows: list[tuple[str, str, float | None, float | None, int, bool]] = [
        ("challenge_strength", "", figures.strength.value, thresholds.challenge_strength, figures.strength.of, True),
        (
            "low_confidence",
            "",
            figures.low_confidence.value,
            thresholds.low_confidence,
            figures.low_confidence.of,
            False,
        ),
    ]
    rows += [
        ("cost_ratio", name, row.ratio, thresholds.cost_ratio, row.of, False)
        for name, row in sorted(figures.expected.items())
    ]
    tilt = figures.tilt.value
    rows += [
        ("agreement", "", figures.agreement.value, thresholds.agreement, figures.agreement.of, False),
        (
            "one_conclusion",
            "",
            figures.one_conclusion.value,
            thresholds.one_conclusion,
            figures.one_conclusion.of,
            False,
        ),
        ("tilt", "", None if tilt is None else abs(tilt), thresholds.tilt, figures.tilt.of, False),
    ]
    rows += [
        ("uncertainties", name, row.value, thresholds.uncertainties, row.of, False)
        for name, row in sorted(figures.uncertainties.items())
    ]
    rows += [
        ("degraded", name, row.degraded.value, thresholds.degraded, row.degraded.of, False)
        for name, row in sorted(figures.formats.items())
    ]
    return tuple(
        Alert(name, about, value, threshold, of, below)
        for name, about, value, threshold, of, below in rows
        if value is not None
        and threshold is not None
        and of >= thresholds.fewest
        and (value < threshold if below else value > threshold)
    )


_LABEL = 34


def render_figures(figures: Figures, alerts: Sequence[Alert]) -> list[str]:
    """Render the whole report as text."""
    lines = [f"{counted(figures.debates, 'debate')}"]
    lines += [f"  left out: {one_line(name, 40)}, {one_line(why, 200)}" for name, why in figures.left_out.items()]
    for name, row in sorted(figures.formats.items()):
        lines += ["", *_format_lines(name, row)]
    lines += ["", "Quality", *_quality_lines(figures)]
    if figures.expected:
        lines += ["", "Tokens taken against the estimate, by task type"]
        lines += [_labelled(name, _expected(row)) for name, row in sorted(figures.expected.items())]
    if figures.periods:
        lines += ["", "Reviews by month (tilt: above 0 for the proposition)"]
        lines += [
            _labelled(month, f"tilt {_mean(row.tilt, signed=True)}; challenge strength {_mean(row.strength)}")
            for month, row in sorted(figures.periods.items())
        ]
    lines += ["", *(f"ALERT: {row.sentence}." for row in alerts)] if alerts else ["", "No threshold is passed."]
    return lines


def _format_lines(name: str, row: FormatFigures) -> list[str]:
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(row.statuses.items()))
    lines = [
        f"{one_line(name, 40)}: {counted(row.debates, 'debate')}",
        _labelled("statuses", statuses),
        _labelled("not whole", _share(row.degraded)),
        _labelled("turns", f"{row.turns}, {row.abstentions} abstained"),
        _labelled("rules broken in turns", f"{row.violations}, and {counted(row.rejected, 'answer')} not accepted"),
        _labelled("calls a debate", f"{_mean(row.calls)}, {row.failed} failed or lost"),
        _labelled("tokens a debate", _mean(row.tokens)),
    ]
    cost = f"{dollars(row.usd)} ({counted(row.priced, 'debate')} with known prices)" if row.priced else "-"
    latency = "-"
    if row.latency is not None:
        latency = (
            f"{row.latency / 1000:.2f} s (longest {row.latency_most_ms / 1000:.2f} s, of {counted(row.timed, 'call')})"
        )
    if row.tilt.of:
        lines.append(_labelled("tilt towards the first side", _mean(row.tilt, signed=True)))
    return [*lines, _labelled("cost", cost), _labelled("latency of a call", latency)]


def _quality_lines(figures: Figures) -> list[str]:
    lines = [
        _labelled("challenge strength", f"{_mean(figures.strength)}; claimed {_mean(figures.claimed)}"),
        _labelled("LOW confidence", _share(figures.low_confidence)),
        *(
            _labelled(f"uncertainties, {one_line(name, 20)}", _mean(row))
            for name, row in sorted(figures.uncertainties.items())
        ),
        _labelled("agrees with the first proposer", _share(figures.agreement)),
        _labelled("all roles reach one conclusion", _share(figures.one_conclusion)),
    ]
    if figures.outcomes:
        found = ", ".join(f"{count} {name}" for name, count in sorted(figures.outcomes.items()))
        lines.append(_labelled("outcomes attached", found))
    if figures.sign_offs:
        found = ", ".join(f"{count} {name}" for name, count in sorted(figures.sign_offs.items()))
        lines.append(_labelled("signed off", found))
    return lines


def _labelled(label: str, text: str) -> str:
    return f"  {one_line(label, _LABEL):{_LABEL}} {text}"


def _mean(row: Mean, *, signed: bool = False) -> str:
    if row.value is None:
        return "-"
    sign = "+" if signed else ""
    return f"{row.value:{sign},.2f} (of {row.of})"


def _share(row: Share) -> str:
    return "-" if row.value is None else f"{row.value:.0%} ({row.count} of {row.of})"


def _expected(row: EstimateRatio) -> str:
    if row.ratio is None:
        return "-"
    money = ""
    if row.usd_ratio is not None:
        money = f"; {dollars(row.usd)} of {dollars(row.estimated_usd)}, {row.usd_ratio:.2f} times"
    return f"{row.ratio:.2f} times ({row.tokens:,} of {row.estimated_tokens:,}, {counted(row.of, 'debate')}){money}"
