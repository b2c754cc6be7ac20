"""Holds propositions with known flaws before the configured critic and measures what it does with them.

Each case is a review with a record of its own in which the proposition is given, the configured model is the critic,
asked once more where its critique is weak as in any review, and nobody else speaks. What is measured:

    strength     of the critique that counts, by the rule of ``judging.challenge``: the lower of what the critic claims
                 and what code finds. Its mean over the cases is wanted above 7.
    catch        whether a criticism that stands names the known flaw, by the rule of ``CriticCase.names_flaw``
    fair         whether a criticism aims at an argument with which nothing is wrong. A critic may attack those too; one
                 that attacks nothing else has found nothing.
    softening    phrases that take back what was said (``judging.softening``), over all criticisms that were accepted

The words of a flaw are a short list: a critic that names it in other words is counted as missing it, so the share of
flaws caught is a lower bound. Strength tells how aimed and definite a critique is; catches tell whether it is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from disputatio.config import Settings
from disputatio.engine.opening import Proposal, book_of
from disputatio.evaluation.critic_cases import CriticCase
from disputatio.evaluation.experiment import ExperimentResult, Trial
from disputatio.evaluation.intervals import Estimate, Rate, mean_estimate, rate
from disputatio.formats.registry import find_format
from disputatio.judging.critic_language import softening_in
from disputatio.kernel import Abstention, Ask, AskPath, JsonObject
from disputatio.motion import Motion
from disputatio.participants.local_models import EMBEDDED_MODEL
from disputatio.participants.scripted import Scripted
from disputatio.record.history import History

JSON_VERSION = 1
WANTED = 7.0
"""The mean strength that the review pattern asks for before a critic is put to use."""
FEWEST = 20


def critic_trials(cases: Sequence[CriticCase], settings: Settings, prompts: Path | None = None) -> list[Trial]:
    """One review for each case, in which only the critic is a model."""
    form = find_format("review")
    return [
        Trial(
            case.id,
            Proposal(
                Motion(case.motion, settings.language),
                form,
                replace(settings, format=settings.format.model_copy(update={"rounds": 1})),
                (),
                {seat: _silent(seat) for seat in ("framer", "rebutter", "moderator")} | {"proposer": _proposer(case)},
                prompts,
            ),
        )
        for case in cases
    ]


def _proposer(case: CriticCase) -> Scripted:
    def said(_ask: Ask, _path: AskPath, _reasons: tuple[str, ...]) -> JsonObject:
        return case.proposition

    return Scripted(said, f"case {case.id} {case.digest[:12]}")


def _silent(seat: str) -> Scripted:
    def said(ask: Ask, _path: AskPath, _reasons: tuple[str, ...]) -> Abstention:
        return Abstention(ask.seat, "not_asked", "only the critic is checked")

    return Scripted(said, f"no {seat}")


@dataclass(frozen=True, slots=True)
class CriticReading:
    """What the critic did with one case. ``failure`` is why there is no critique; empty where there is one.

    Attributes:
        key: the case.
        strength: the strength that counts; 0 without a critique.
        claimed: what the critic says of it.
        first: the strength before it was asked again; None where it was not.
        caught: whether it names the flaw.
        criticisms: how many stand.
        at_fair: how many of them aim at a fair argument.
        softening: phrases that soften.
    """

    key: str
    strength: int = 0
    claimed: int = 0
    first: int | None = None
    caught: bool = False
    criticisms: int = 0
    at_fair: int = 0
    softening: tuple[str, ...] = ()
    failure: str = ""


def read_critique(case: CriticCase, history: History | None) -> CriticReading:
    """What the record of a case says."""
    if history is None or history.closed is None:
        return CriticReading(case.id, failure="not held")
    outcome: Mapping[str, Any] = history.closed.outcome
    held = [row for each in outcome.get("rounds") or () for row in each["contests"]]
    criticism = held[0]["criticism"] if held else None
    if criticism is None:
        silent = [row for path, row in history.answered.items() if path.startswith("critique")]
        reason = str(getattr(silent[0], "reason", "")) if silent else ""
        return CriticReading(case.id, failure=reason or "no critique")
    rows = [row for row in criticism["arguments"] if not row["struck"]]
    texts = [(_number(row["target"]), f"{row['claim']} {row['reasoning']}") for row in rows]
    first = criticism["first_challenge"]
    return CriticReading(
        case.id,
        int(criticism["challenge"]["strength"]),
        int(criticism["challenge"]["claimed"]),
        None if first is None else int(first["strength"]),
        any(case.names_flaw(target, text) for target, text in texts),
        len(rows),
        sum(target in case.fair for target, _ in texts),
        tuple(words for _, text in texts for words in softening_in(text)),
    )


def _number(target: str) -> int | None:
    """The number of an argument; None of the whole proposition."""
    last = target.rpartition("-")[2]
    return int(last) if last.isdigit() else None


@dataclass(frozen=True, slots=True)
class CriticReport:
    """What ``check-critic`` reports. ``prompts`` are the hashes of the files the critic was asked with."""

    critic: str
    small: bool
    cases: tuple[CriticCase, ...]
    readings: tuple[CriticReading, ...]
    strength: Estimate
    claimed: Estimate
    caught: Rate
    asked_again: Rate
    only_fair: Rate
    softened: Rate
    prompts: Mapping[str, str] = field(repr=False)
    result: ExperimentResult = field(repr=False)

    @property
    def heard(self) -> tuple[CriticReading, ...]:
        """The cases with a critique."""
        return tuple(row for row in self.readings if not row.failure)

    @property
    def failures(self) -> dict[str, int]:
        """Why there is no critique, with how often."""
        found: dict[str, int] = {}
        for row in self.readings:
            if row.failure:
                found[row.failure] = found.get(row.failure, 0) + 1
        return found

    @property
    def good_enough(self) -> bool:
        """Whether the mean strength is above what is wanted, and at least one known flaw was named.

        A critic can be aimed and definite and find nothing: strength alone does not pass.
        """
        return self.strength.value is not None and self.strength.value > WANTED and self.caught.count > 0

    def as_json(self) -> JsonObject:
        """The stable JSON form, version ``JSON_VERSION``."""
        return {
            "schema": "disputatio/critic-check",
            "version": JSON_VERSION,
            "critic": self.critic,
            "wanted_above": WANTED,
            "good_enough": self.good_enough,
            "cases": {case.id: case.digest for case in self.cases},
            "prompts": dict(self.prompts),
            "critiques": len(self.heard),
            "failures": dict(self.failures),
            "strength": self.strength.as_json(),
            "claimed": self.claimed.as_json(),
            "caught": self.caught.as_json(),
            "asked_again": self.asked_again.as_json(),
            "attacked_fair_points_only": self.only_fair.as_json(),
            "softened": self.softened.as_json(),
            "by_case": {
                row.key: {
                    "strength": row.strength or None,
                    "claimed": row.claimed or None,
                    "first_strength": row.first,
                    "caught": row.caught if not row.failure else None,
                    "criticisms": row.criticisms,
                    "at_fair_points": row.at_fair,
                    "softening": list(row.softening),
                    "failure": row.failure,
                }
                for row in self.readings
            },
            **self.result.as_json(),
        }


def critic_report(
    cases: Sequence[CriticCase], settings: Settings, result: ExperimentResult, prompts: Path | None = None
) -> CriticReport:
    """Work out the report from what the series brought; cases that were not held stay in the counts."""
    histories = {row.key: row.history for row in result.finished}
    readings = tuple(read_critique(case, histories.get(case.id)) for case in cases)
    heard = [row for row in readings if not row.failure]
    critic = settings.seats["critic"]
    return CriticReport(
        critic.address,
        critic.provider == "embedded" and critic.model == EMBEDDED_MODEL,
        tuple(cases),
        readings,
        mean_estimate([float(row.strength) for row in heard]),
        mean_estimate([float(row.claimed) for row in heard]),
        rate(sum(row.caught for row in heard), len(heard)),
        rate(sum(row.first is not None for row in heard), len(heard)),
        rate(sum(bool(row.criticisms) and row.at_fair == row.criticisms for row in heard), len(heard)),
        rate(sum(bool(row.softening) for row in heard), len(heard)),
        book_of(prompts).hashes("review", small=critic.piecewise),
        result,
    )


def report_lines(report: CriticReport) -> list[str]:
    """The report for people."""
    failed = "".join(f", {count} {reason.replace('_', ' ')}" for reason, count in report.failures.items())
    lines = [
        f"The critic {report.critic} before {len(report.cases)} propositions with a known flaw",
        f"{len(report.heard)} of {len(report.cases)} criticised{failed}",
        "",
        f"Strength that counts   {report.strength.text()}  (mean, 95 % interval; wanted above {WANTED:g})",
        f"Strength claimed       {report.claimed.text()}",
        f"Flaw named             {report.caught.text()}  (a lower bound: other words are not seen)",
        f"Asked again as weak    {report.asked_again.text()}",
        f"Only fair points hit   {report.only_fair.text()}",
        f"Softened itself        {report.softened.text()}",
        "",
    ]
    lines += [f"  {row.key:20} {_case_words(row)}" for row in report.readings]
    lines.append("")
    if report.strength.value is None:
        lines.append("There is no critique to judge by.")
    else:
        word = "above" if report.strength.value > WANTED else "not above"
        lines.append(f"The mean strength is {word} {WANTED:g}.")
        if not report.caught.count:
            lines.append("Not one known flaw was named: strength alone does not pass.")
    if len(report.heard) < FEWEST:
        lines.append(f"This rests on {len(report.heard)} critiques; the pattern asks for {FEWEST} and more.")
    if report.small:
        lines.append(
            "The embedded model of 135 million parameters is asked piece by piece, and code chooses what it attacks "
            "and how: its strength is the form's and not its own. Look at the flaws named."
        )
    return lines + report.result.lines()


def _case_words(row: CriticReading) -> str:
    if row.failure:
        return f"no critique: {row.failure.replace('_', ' ')}"
    again = f", {row.first} at first" if row.first is not None else ""
    return f"strength {row.strength}{again}, flaw {'named' if row.caught else 'not named'}"
