"""The thresholds that figures are held to, and what passes them.

Those of the review pattern are set from the beginning: a mean challenge strength below 6.5 (the critic is too soft),
more than 30 % of syntheses with LOW confidence (the questions are too ambiguous), more than 1.5 times the estimated
tokens of a task type (prompts run away). The others watch nothing until somebody sets them.
"""

from __future__ import annotations

from dataclasses import dataclass

from disputatio.kernel import JsonObject
from disputatio.metrics.figures import Figures
from disputatio.request.configuration import Metrics


@dataclass(frozen=True, slots=True)
class Alert:
    """A figure past its threshold. ``of`` is what the figure rests on; ``about`` a task type or format, or empty."""

    name: str
    about: str
    value: float
    threshold: float
    of: int
    below: bool

    @property
    def sentence(self) -> str:
        """What is wrong, for people."""
        about = f" of {self.about}" if self.about else ""
        side = "below" if self.below else "above"
        return f"{_WORDS[self.name]}{about} is {self.value:.2f}, {side} {self.threshold:g} (of {self.of})"

    def as_json(self) -> JsonObject:
        """As the report keeps it."""
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


def alerts_of(figures: Figures, thresholds: Metrics) -> tuple[Alert, ...]:
    """Every figure that is past its threshold and rests on enough debates; what is missing passes none."""
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
