"""Give the configured judge the variants of cases and report what it caught, missed and favoured.

Each variant is a structured debate with its own record. Both sides say what the case scripts. The judge is the
configured model and gets the same prompts and schemas as in any debate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from disputatio.config import Settings
from disputatio.engine.opening import Proposal, make_rules, open_prompts
from disputatio.errors import InvalidInputError
from disputatio.evaluation.cases import SIDES, CaseDebate
from disputatio.evaluation.drift import Baseline, Drift
from disputatio.evaluation.experiment import ExperimentResult, Trial
from disputatio.evaluation.injected_flaws import (
    FLAWS,
    CaseVariant,
    Variant,
    inject_flaw,
    keep_unchanged,
    pad_side,
    swap_sides,
)
from disputatio.evaluation.judge_scores import JudgeMeasures, measure_judge, read_variant
from disputatio.evaluation.statistics.intervals import detectable_share, fewest_detectable_losses
from disputatio.formats.registry import find_format
from disputatio.judging.scoring import Rubric
from disputatio.kernel import JsonObject
from disputatio.motion import Evidence, Motion
from disputatio.participants.providers import family

JSON_VERSION = 1
PROBES = ("flaws", "order", "length", "retest")


def make_variants(cases: Sequence[CaseDebate], seed: int, probes: Sequence[str] = PROBES) -> list[CaseVariant]:
    """Make every variant the probes need, the clean one of each case first. Flaws that have no place are left out.

    Raises:
        InvalidInputError: there is no such probe.
    """
    unknown = next((name for name in probes if name not in (*PROBES, *FLAWS)), None)
    if unknown is not None:
        raise InvalidInputError(
            f"There is no probe called {unknown[:40]!r}.",
            f"Probes are: {', '.join(PROBES)}; or a flaw: {', '.join(FLAWS)}.",
        )
    flaws = [kind for kind in FLAWS if "flaws" in probes or kind in probes]
    twins = []
    for case in cases:
        twins.append(keep_unchanged(case))
        twins += [twin for kind in flaws if (twin := inject_flaw(case, kind, seed)) is not None]
        twins += [keep_unchanged(case, Variant.AGAIN)] if "retest" in probes else []
        twins += [swap_sides(case)] if "order" in probes else []
        twins += [pad_side(case, seed)] if "length" in probes else []
    return twins


def make_judge_trials(twins: Sequence[CaseVariant], settings: Settings, prompts: Path | None = None) -> list[Trial]:
    """Make one structured debate with scripted sides for each variant."""
    form = find_format("structured")
    limits = settings.limits.model_copy(update={"minimum_arguments": 1, "maximum_arguments": 5})
    trials = []
    for twin in twins:
        body = twin.debate.body
        again = ", judged again" if twin.kind == Variant.AGAIN else ""
        trials.append(
            Trial(
                twin.key,
                Proposal(
                    Motion(twin.debate.motion, settings.language),
                    form,
                    replace(settings, limits=limits),
                    tuple(Evidence(row["id"], row["title"], row["text"]) for row in body["sources"]),
                    {side: twin.debate.speaker(side, f"{twin.kind}{again}") for side in SIDES},
                    prompts,
                ),
            )
        )
    return trials


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """The report of ``check-judge``. ``prompts`` are the hashes of the judge's prompt files."""

    judge: str
    seed: int
    cases: tuple[CaseDebate, ...]
    measures: JudgeMeasures
    prompts: Mapping[str, str] = field(repr=False)
    result: ExperimentResult = field(repr=False)
    drift: Drift | None = None

    def as_json(self) -> JsonObject:
        """The stable JSON form, version ``JSON_VERSION``."""
        rows = self.measures
        return {
            "schema": "disputatio/judge-check",
            "version": JSON_VERSION,
            "judge": self.judge,
            "seed": self.seed,
            "cases": {case.id: case.digest for case in self.cases},
            "prompts": dict(self.prompts),
            "debates": rows.debates,
            "judged": rows.judged,
            "failures": dict(rows.failures),
            "void_findings": rows.void,
            "caught": rows.caught.as_json(),
            "caught_by_flaw": {kind: row.as_json() for kind, row in rows.rates.items()},
            "flaws": {
                row.key: {"caught": row.caught, "failure": row.failure, "named_otherwise": row.otherwise}
                for row in rows.catches
            },
            "no_place_for": dict(rows.unplanted),
            "falls_by_chance": {name: row.as_json() for name, row in rows.falls_by_chance.items()},
            "false_alarms": rows.false_alarms.as_json(),
            "clean_arguments": dict(rows.alarms),
            "order": {**rows.order.as_json(), "points_for_first_place": rows.first_place.as_json()},
            "length": {
                "points_for_padding": rows.length.as_json(),
                "scored_higher": rows.longer_scored_higher.as_json(),
                "scored_lower": rows.longer_scored_lower.as_json(),
            },
            "own_family": {
                "points": None if rows.own_family.points is None else rows.own_family.points.as_json(),
                "unmeasured_because": rows.own_family.unmeasured,
            },
            "spread": rows.spread.as_json(),
            "retest": {"same_verdict": rows.same_verdict.as_json(), "points": rows.retest_change.as_json()},
            "power": power_json(rows),
            "drift": None if self.drift is None else self.drift.as_json(),
            **self.result.as_json(),
        }


def make_judge_report(
    twins: Sequence[CaseVariant], settings: Settings, result: ExperimentResult, seed: int, prompts: Path | None = None
) -> JudgeReport:
    """Compute the report of an experiment. Variants that did not run stay in the counts."""
    rubric = _rubric(settings)
    histories = {row.key: row.history for row in result.finished}
    readings = [read_variant(twin, histories.get(twin.key), rubric) for twin in twins]
    judge = settings.seats["judge"]
    hashes = open_prompts(prompts).hashes("structured", small=judge.piecewise)
    cases = tuple({twin.case.id: twin.case for twin in twins}.values())
    return JudgeReport(
        judge.address,
        seed,
        cases,
        measure_judge(readings, rubric, family(judge.model, judge.provider)),
        hashes,
        result,
    )


def make_baseline(report: JudgeReport) -> Baseline:
    """Return what a later check is compared with."""
    rows = report.measures
    return Baseline(
        report.judge,
        report.seed,
        report.prompts,
        {row.key: row.caught for row in rows.catches},
        rows.alarms,
        {case.id: case.digest for case in report.cases},
    )


def _rubric(settings: Settings) -> Rubric:
    rules = make_rules(find_format("structured"), settings)
    rubric: Rubric = rules.rubric
    return rubric


def power_json(rows: JudgeMeasures) -> JsonObject:
    """What a drift test against this baseline could detect at best."""
    return {
        "caught": rows.caught.count,
        "fewest_lost": fewest_detectable_losses(_STRICTEST_LEVEL),
        "detectable_share": detectable_share(rows.caught.count, _STRICTEST_LEVEL),
    }


_STRICTEST_LEVEL = 0.025
"""Two things are tested (catches and false alarms), so the smaller p-value is compared with half of 0.05 (Holm)."""


def report_lines(report: JudgeReport) -> list[str]:
    """Render the report as text."""
    rows = report.measures
    lines = [
        f"The judge {report.judge} on {len(report.cases)} debates and their variants, seed {report.seed}",
        f"{rows.judged} of {rows.debates} judged"
        + "".join(f", {count} {reason}" for reason, count in rows.failures.items())
        + (f"; {rows.void} findings void because they rest on nothing real" if rows.void else ""),
        "",
        "Injected flaws caught (share, 95 % Wilson interval, counts)",
        *(f"  {kind:20} {row.text()}{_chance_text(kind, rows)}" for kind, row in rows.rates.items()),
        f"  {'all':20} {rows.caught.text()}",
        *(f"  {kind} has no place in {count} debates" for kind, count in rows.unplanted.items()),
        *_otherwise(rows),
        f"False alarms: a fallacy named in a clean argument  {rows.false_alarms.text()}",
        "",
        *_bias_lines(rows),
    ]
    if report.drift is not None:
        lines += ["", *report.drift.lines()]
    else:
        lines += ["", *_power_lines(rows)]
    return lines + report.result.lines()


_FALLING = {"fabricated_figure": "evidence", "misquoted_source": "evidence", "dropped_response": "responsiveness"}


def _chance_text(kind: str, rows: JudgeMeasures) -> str:
    by_chance = rows.falls_by_chance.get(_FALLING.get(kind, ""))
    return f"   by chance {by_chance.text()}" if by_chance is not None and by_chance.of else ""


def _otherwise(rows: JudgeMeasures) -> list[str]:
    seen = sum(bool(row.otherwise) for row in rows.catches)
    return [f"  {seen} injected fallacies were found under another name"] if seen else []


def _bias_lines(rows: JudgeMeasures) -> list[str]:
    order, lines = rows.order, []
    if order.pairs:
        same = "-" if order.consistency is None else f"{float(order.consistency):.2f}"
        lines = [
            f"Order: the same verdict in {same} of {order.pairs} debates with the sides swapped",
            f"  changed in favour of the side shown first in {order.favoured_first}, second in {order.favoured_second}",
            f"  being shown first is worth {rows.first_place.text()} points",
        ]
    if rows.length.of:
        lines += [
            f"Length: padding is worth {rows.length.text()} points",
            f"  scored higher {rows.longer_scored_higher.text()}, lower {rows.longer_scored_lower.text()}",
        ]
    own = rows.own_family
    lines.append(
        f"Own family: not measured, since {own.unmeasured}"
        if own.points is None
        else f"Own family: worth {own.points.text()} points compared with another judge ({own.points.of} debates)"
    )
    lines.append(f"Spread of {rows.spread.scores} scores: {rows.spread.text()}")
    if rows.same_verdict.of:
        lines += [
            f"Judging the same again: same verdict {rows.same_verdict.text()}",
            f"  an argument's score moves by {rows.retest_change.text()} points on average",
        ]
    return lines


def _power_lines(rows: JudgeMeasures) -> list[str]:
    caught, fewest = rows.caught.count, fewest_detectable_losses(_STRICTEST_LEVEL)
    share = detectable_share(caught, _STRICTEST_LEVEL)
    if share is None:
        return [
            f"As a baseline this cannot detect a judge that catches less: {caught} were caught, and {fewest} of them",
            "must be lost to rule out chance.",
        ]
    return [
        f"As a baseline: of the {caught} caught, {fewest} must be lost (none gained) before chance is ruled out.",
        f"At best, a loss of {share:.0%} of them is detected four times in five.",
    ]
