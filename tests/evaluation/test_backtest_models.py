"""The language-model side of a backtest: recognition, the cut-off, single agents at equal spend, and what counts."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from scipy.stats import fisher_exact, hypergeom

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.process import format_scope
from disputatio.errors import InvalidInputError
from disputatio.evaluation.backtest.agents import DOWN, UP, AgentRunner
from disputatio.evaluation.backtest.archive import Archive
from disputatio.evaluation.backtest.cases import BLIND, PLAIN, Case, KnowledgeBases
from disputatio.evaluation.backtest.forecasts import DateRecord
from disputatio.evaluation.backtest.labels import Label
from disputatio.evaluation.backtest.model_evidence import (
    declare_comparisons,
    gather_model_evidence,
    read_cutoff,
    split_at_cutoff,
)
from disputatio.evaluation.backtest.recognition import (
    BLIND as HIDDEN,
)
from disputatio.evaluation.backtest.recognition import (
    CANDIDATES,
    NAMED,
    Guess,
    count_recognised,
    make_recognition_report,
)
from disputatio.evaluation.experiment import Experiment, Spending
from disputatio.evaluation.statistics.intervals import rate
from disputatio.formats.registry import find_format
from disputatio.market.blinding import assign_blind_keys, blind
from disputatio.market.knowledge import KnowledgeBase
from disputatio.participants.call import Fault, FaultKind
from disputatio.record.memory import MemoryStore
from disputatio.testing import ScriptedClient, instance
from strategies import example_base

DATES = tuple(date(2021 + place // 12, place % 12 + 1, 28) for place in range(24))


def guess(day: date, month: tuple[int, int] | None, index: str = "DAX", arm: str = HIDDEN) -> Guess:
    return Guess(day, arm, "m", "DAX", index, month)


def both(rows: list[Guess]) -> list[Guess]:
    """The same guesses on the blinded base, beside perfect ones on the named base."""
    return [*rows, *(guess(row.day, (row.day.year, row.day.month), arm=NAMED) for row in rows)]


def test_a_model_that_knows_every_month_is_recognised():
    report = make_recognition_report(both([guess(day, (day.year, day.month)) for day in DATES]), (2020, 2023))
    hidden = next(row for row in report.scores if row.arm == HIDDEN)
    assert (hidden.exact.share.count, hidden.exact.share.of) == (24, 24)
    assert hidden.exact.chance == pytest.approx(1 / 24, abs=0.01), "a permutation fixes one place on average"
    assert hidden.exact.p == pytest.approx(1 / 2001)
    assert hidden.uniform[0] == pytest.approx(1 / 48)
    assert "beyond chance" in report.verdicts()[0]


def test_a_constant_guess_recognises_nothing():
    report = make_recognition_report(both([guess(day, (2022, 1)) for day in DATES]), (2020, 2023))
    hidden = next(row for row in report.scores if row.arm == HIDDEN)
    assert (hidden.exact.share.count, hidden.near.share.count) == (1, 13)
    assert hidden.near.chance == pytest.approx(13 / 24)
    assert hidden.near.p == 1
    assert hidden.index.p == 1
    assert "which proves nothing" in report.verdicts()[0]


def test_months_cross_years_and_silence_recognises_nothing():
    assert guess(date(2021, 1, 29), (2020, 7)).months_off == 6
    assert guess(date(2021, 1, 29), (2020, 6)).months_off == 7
    report = make_recognition_report(
        [guess(date(2021, 1, 29), (2020, 7)), guess(date(2021, 2, 26), None)], (2020, 2021)
    )
    (hidden,) = report.scores
    assert (hidden.near.share.count, hidden.near.share.of, hidden.silent) == (1, 2, 1)


def test_a_model_that_cannot_read_the_date_is_not_cleared():
    rows = [guess(day, (2020, 1), arm=arm) for day in DATES for arm in (HIDDEN, NAMED)]
    assert "says nothing about its memory" in make_recognition_report(rows, (2020, 2023)).verdicts()[0]


def test_chance_equals_all_permutations():
    # Two dates: the two answers, put to their own dates or exchanged.
    found = count_recognised(["a", "b"], ["a", "b"], lambda one, other: one == other)
    assert found.chance == pytest.approx(0.5, abs=0.05)
    assert found.p == pytest.approx(0.5, abs=0.05)
    assert count_recognised(["a"], ["a"], lambda one, other: one == other).p is None


@pytest.mark.parametrize(
    ("text", "last"),
    [("2023-10", date(2023, 10, 31)), ("2024-02", date(2024, 2, 29)), ("2023-10-05", date(2023, 10, 5))],
)
def test_a_month_of_the_cutoff_is_its_last_day(text, last):
    assert read_cutoff(text, ["m"]) == last


def test_models_without_a_cutoff_are_refused():
    with pytest.raises(InvalidInputError, match=r"The end of the training data of openai:gpt-9 is not given"):
        read_cutoff(None, ["openai:gpt-9"])
    with pytest.raises(InvalidInputError, match="is not a month"):
        read_cutoff("2023-13", ["m"])
    assert read_cutoff("unknown", ["m"]) is None
    assert read_cutoff(None, []) is None


def split_of(before: tuple[int, int], after: tuple[int, int], cutoff: date | None = date(2021, 12, 31)):
    """A forecaster that is right so often of so many before, and after."""
    early = [date(2000, 1, 1)] * before[1]
    late = [date(2022, 1, 1)] * after[1]
    hits = [place < before[0] for place in range(before[1])] + [place < after[0] for place in range(after[1])]
    right = {"debate": hits, "always_up": [True] * len(hits)}
    (found,) = split_at_cutoff([*early, *late], right, ["debate"], "always_up", cutoff)
    return found


def test_the_difference_has_newcombes_interval():
    # Newcombe 1998, "Interval estimation for the difference between independent proportions", table II:
    # 56 of 70 against 48 of 80, method 10.
    found = split_of((48, 80), (56, 70)).difference
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_the_test_is_fishers():
    # Fisher 1935, the lady tasting tea: 3 of 4 against 1 of 4; two-sided .4857.
    found = split_of((1, 4), (3, 4))
    assert found.p == pytest.approx(0.4857, abs=5e-5)
    assert found.p == pytest.approx(fisher_exact([[3, 1], [1, 3]]).pvalue)
    assert found.p == pytest.approx(2 * hypergeom.sf(2, 8, 4, 4))


def test_only_dates_after_the_cutoff_are_evidence():
    found = split_of((10, 10), (2, 6))
    assert (found.before.of, found.after.of) == (10, 6)
    assert found.evidence.counts.items == 6
    assert "On the 6 dates after 2021-12-31" in found.verdict
    assert "no date counts" in split_of((10, 10), (0, 0)).verdict
    unknown = split_of((10, 10), (5, 5), None)
    assert (unknown.before.of, unknown.after.of, unknown.evidence) == (15, 0, None)
    assert "unknown: no date counts" in unknown.verdict


def test_the_evidence_of_several_forecasters_is_judged_together():
    days = [date(2022, 1, 1)] * 6
    right = {"one": [True] * 6, "other": [True] * 6, "always_up": [False] * 6}
    found = split_at_cutoff(days, right, ["one", "other"], "always_up", date(2021, 1, 1))
    assert [row.evidence.adjusted for row in found] == pytest.approx([2 * found[0].evidence.mid_p] * 2)


def settings_of(name: str) -> Settings:
    form = find_format(name)
    return resolve(
        format_name=form.name,
        seats=tuple(form.seats),
        environ={},
        directory=Path("/nonexistent"),
        arguments=make_arguments(seat=("all=openai_compatible:m",), base_url="http://127.0.0.1:9/v1", seed=1),
        options=format_scope(form),
    )


class Stage(KnowledgeBases):
    """The example base on every day, as its arm shows it."""

    def __init__(self) -> None:
        super().__init__(Archive("none", None, {}))  # type: ignore[arg-type]  # nothing is read from it

    def of(self, case: Case) -> KnowledgeBase:
        return blind(example_base()) if case.arm == BLIND else example_base()


def debated(case: Case, tokens: int = 40_000, *, up: bool | None = True) -> DateRecord:
    p = None if up is None else 0.7 if up else 0.3
    return DateRecord(
        case,
        f"d{case.key}",
        "COMPLETE",
        {"tech": p},
        {"tech": p},
        (),
        (),
        "",
        "",
        by_rules=False,
        harness=False,
        spent=Spending(10, tokens, None),
    )


def knowing(call):
    """Says up with 80, names what it is shown, and answers anything else with an instance."""
    body = instance(call.schema, str(len(call.segments)))
    keys = call.schema["properties"]
    if "answer" in keys:
        return json.dumps({**body, "answer": UP, "confidence": 80})
    if "index" in keys:
        named = "as known on 2026-05-15" in "\n".join(row.text for row in call.segments)
        return json.dumps({**body, "index": CANDIDATES[-1], "year": "2026" if named else "2020", "month": "05"})
    return json.dumps(body)


def agents_on(cases: list[Case], store: MemoryStore, model_client: ScriptedClient, **more) -> AgentRunner:
    records = [debated(case) for case in cases]
    usual = {"single": settings_of("single"), "probes": {"m": settings_of("recognition")}, "years": (2020, 2026)}
    own = {name: more.pop(name) for name in ("budget", "reads_only") if name in more}
    experiment = Experiment(store, lambda *_: model_client, **own)
    return AgentRunner(records, Stage(), **{**usual, **more}, experiment=experiment)


@pytest.mark.slow
async def test_agents_cost_as_much_as_the_debate_and_run_once():
    cases = [Case(date(2026, 5, 15), arm) for arm in (PLAIN, BLIND)]
    store, model_client = MemoryStore(), ScriptedClient(knowing, model="m")
    held = await agents_on(cases, store, model_client).run()
    assert not held.stopped
    for case in cases:
        single, vote = held.forecasts["single"][case], held.forecasts["vote"][case]
        assert (single.up, single.p, single.samples) == (True, 0.8, 1)
        assert (vote.up, vote.p) == (True, 1.0)
        each = vote.spent.tokens / vote.samples
        assert abs(vote.spent.tokens - 40_000) <= each / 2 + 1, "as near as whole answers come"
    named, hidden = (next(row for row in held.recognition.scores if row.arm == arm) for arm in (NAMED, HIDDEN))
    assert (named.exact.share.count, hidden.exact.share.count) == (1, 0)
    asked = len(model_client.calls)
    again = await agents_on(cases, store, model_client).run()
    assert len(model_client.calls) == asked
    assert again.forecasts == held.forecasts
    assert again.recognition == held.recognition
    read = await agents_on(cases, store, model_client, reads_only=True).run()
    assert read.forecasts == held.forecasts
    labels = [Label(date(2026, 5, 15), date(2026, 5, 18), date(2026, 6, 18), 0.01, True, None)]
    evidence = gather_model_evidence(
        labels,
        [debated(case) for case in cases],
        held,
        ("always_up", {labels[0].decided: True}),
        {labels[0].decided: 0.6},
        models=["m"],
        cutoff=date(2025, 1, 31),
    )
    assert [row.name for row in evidence.scores] == [
        "debate",
        "single",
        "vote",
        "debate, blind",
        "single, blind",
        "vote, blind",
    ]
    assert {row.evidence.counts.items for row in evidence.splits} == {1}
    assert json.loads(json.dumps(evidence.as_json()))["recognition"]["scores"]
    assert "Recognition probe" in "\n".join(evidence.lines())


@pytest.mark.slow
async def test_an_unreachable_agent_has_no_forecast():
    fault = Fault(FaultKind.KEY_REJECTED, "the key is not accepted")
    case = Case(date(2026, 5, 15))
    held = await agents_on([case], MemoryStore(), ScriptedClient(lambda _: fault), probes={}).run()
    single = held.forecasts["single"][case]
    assert (single.up, single.p, single.samples) == (None, None, 0)
    assert single.failure


def test_only_comparisons_of_finished_arms_are_declared():
    assert declare_comparisons(["debate", "single"]) == (("debate", "single"),)
    assert ("debate", "debate, blind") in declare_comparisons(["debate", "debate, blind"])
    assert DOWN != UP


def test_the_probe_names_the_index_as_its_base_does():
    base = example_base()
    keys = assign_blind_keys(base)
    assert keys[base.meta.subject] == "IDX_A"
    assert set(keys.values()) == set(blind(base).indices)
    assert rate(1, 2).of == 2
