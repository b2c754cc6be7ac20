"""Judges whose faults are known are told apart by what the check reports of them."""

from __future__ import annotations

import pytest
from check_stage import (
    blind,
    checked,
    even,
    judge_settings,
    judging,
    length_biased,
    merit,
    order_biased,
    perfect,
    random_judge,
)

from disputatio.errors import InvalidInputError, ProviderError
from disputatio.evaluation.cases import CaseDebate, load_packaged_cases
from disputatio.evaluation.drift import Baseline, compare_baselines, significant_tests
from disputatio.evaluation.injected_flaws import FLAWS
from disputatio.evaluation.judge_check import make_baseline, make_variants, report_lines
from disputatio.evaluation.statistics.intervals import detectable_share, fewest_detectable_losses, loss_p_value, rate
from disputatio.participants.call import Fault, FaultKind
from disputatio.record.memory import MemoryStore

pytestmark = pytest.mark.slow

CASES = load_packaged_cases()[:3]


async def test_a_perfect_judge_catches_all_and_a_blind_one_none():
    good, _ = await checked(perfect(make_variants(CASES[:2], 0)), CASES[:2])
    bad, _ = await checked(blind, CASES[:2])
    assert {kind: row.value for kind, row in good.measures.rates.items()} == dict.fromkeys(FLAWS, 1.0)
    assert {kind: row.value for kind, row in bad.measures.rates.items()} == dict.fromkeys(FLAWS, 0.0)
    for report in (good, bad):
        rows = report.measures
        assert rows.false_alarms.count == 0
        assert rows.first_place.value == rows.length.value == rows.retest_change.value == 0
        assert rows.order.consistency == rows.same_verdict.value == 1
        assert all(row.count == 0 for row in rows.falls_by_chance.values())


async def test_a_judge_that_favours_the_first_side_is_exposed():
    report, _ = await checked(order_biased, CASES, probes=("order",))
    assert report.measures.first_place.value == pytest.approx(2.0)
    assert report.measures.order.favoured_second == 0
    assert report.measures.length.of == 0


async def test_a_judge_that_counts_words_is_found_out_by_padding():
    report, _ = await checked(length_biased, CASES, probes=("length",))
    assert report.measures.longer_scored_higher.value == 1
    assert (report.measures.length.value or 0) > 2


async def test_a_random_judge_catches_no_more_than_falls_by_chance():
    report, _ = await checked(random_judge, load_packaged_cases(), probes=("fabricated_figure", "dropped_response"))
    rows = report.measures
    for kind, criterion in (("fabricated_figure", "evidence"), ("dropped_response", "responsiveness")):
        chance, caught = rows.falls_by_chance[criterion], rows.rates[kind]
        assert 0.2 < (chance.value or 0) < 0.7
        assert caught.low < chance.high
        assert chance.low < caught.high
    assert 0 < rows.false_alarms.count < rows.false_alarms.of


async def test_a_fallacy_given_another_name_is_seen_and_not_caught():
    twins = make_variants(CASES, 0)
    known = perfect(twins)

    def muddled(row):
        said = known(row)
        found = [{**one, "fallacy": "straw_man"} for one in said.get("fallacies", [])]
        return {**said, "fallacies": found}

    report, _ = await checked(muddled, CASES, probes=("ad_hominem", "straw_man"))
    assert report.measures.rates["ad_hominem"].count == 0
    assert report.measures.rates["straw_man"].value == 1
    assert {row.otherwise for row in report.measures.catches if row.kind == "ad_hominem"} == {"straw_man"}
    assert "3 injected fallacies were found under another name" in "\n".join(report_lines(report))


async def test_a_false_alarm_needs_words_that_were_said():
    said = {"words": ""}

    def crying(row):
        words = row.claim if said["words"] == "claim" else "words that nobody ever said here"
        return {**even(row, merit(row)), "fallacies": [{"fallacy": "straw_man", "words": words}]}

    quiet, _ = await checked(crying, CASES[:1], probes=("retest",))
    said["words"] = "claim"
    loud, _ = await checked(crying, CASES[:1], probes=("retest",))
    assert quiet.measures.false_alarms.value == 0
    assert loud.measures.false_alarms.value == 1


async def test_malformed_answers_stay_in_the_count():
    answers = judging(perfect(make_variants(CASES, 0)))

    def broken(call):
        prompt = "\n".join(row.text for row in call.segments)
        return "no JSON at all" if CASES[0].motion in prompt else answers(call)

    report, _ = await checked(broken, CASES, raw=True, probes=("ad_hominem",))
    rows = report.measures
    assert (rows.debates, rows.judged) == (6, 4)
    assert rows.failures == {"misfit": 2}
    assert (rows.rates["ad_hominem"].count, rows.rates["ad_hominem"].of) == (2, 3)
    assert "4 of 6 judged, 2 misfit" in "\n".join(report_lines(report))


async def test_the_same_check_again_asks_nothing_and_another_seed_does():
    store = MemoryStore()
    first, asked = await checked(blind, CASES[:1], store=store)
    again, silent = await checked(blind, CASES[:1], store=store)
    _, anew = await checked(blind, CASES[:1], store=store, seed=1, probes=("ad_hominem",))
    assert len(asked.calls) == 14
    assert silent.calls == []
    assert again.measures == first.measures
    assert len(anew.calls) >= 1


async def test_a_ceiling_covers_the_check_and_a_higher_one_continues():
    store = MemoryStore()
    part, asked = await checked(blind, CASES[:1], store=store, settings=judge_settings(max_calls=5))
    assert len(asked.calls) == 5
    assert len(part.result.missing) == 9
    assert part.measures.failures == {"not asked": 9}
    assert "the ceiling was reached" in part.result.stopped
    rest, more = await checked(blind, CASES[:1], store=store, settings=judge_settings(max_calls=14))
    assert len(more.calls) == 9
    assert rest.result.missing == ()
    assert rest.result.spent.calls == 14


async def test_it_stops_when_no_model_answers_and_asks_again_later():
    store = MemoryStore()

    def gone(_call):
        return Fault(FaultKind.KEY_REJECTED, "the key was not accepted")

    report, _ = await checked(gone, CASES, raw=True, store=store, settings=judge_settings(max_calls=100))
    assert report.result.provider_failed
    assert len(report.result.finished) == 3
    from disputatio.evaluation.experiment import check_answered

    with pytest.raises(ProviderError, match="key was not accepted"):
        check_answered(report.result)
    healed, model_client = await checked(blind, CASES, store=store)
    assert healed.measures.judged == healed.measures.debates == len(model_client.calls)


async def test_own_family_is_measured_against_another_judge():
    body = {
        **CASES[0].body,
        "written_by": {"pro": "openai:gpt-5", "con": "anthropic:claude-sonnet-4-5"},
        "reference": {"judge": "mistral:mistral-large", "pro": 6.0, "con": 6.0},
    }

    def fond(row):
        return even(row, 8 if row.id.startswith("PRO") else 6)

    case = CaseDebate(CASES[0].id, body)
    ours, _ = await checked(
        fond, [case], probes=("retest",), settings=judge_settings("judge=openai_compatible:gpt-5-mini")
    )
    others, _ = await checked(
        fond, [case], probes=("retest",), settings=judge_settings("judge=openai_compatible:qwen3")
    )
    assert ours.measures.own_family.points is not None
    assert ours.measures.own_family.points.value == pytest.approx(2.0)
    assert others.measures.own_family.points is None
    assert "not measured" in "\n".join(report_lines(others))


async def test_a_judge_gone_blind_is_worse_than_its_baseline():
    good, _ = await checked(perfect(make_variants(CASES, 0)), CASES, probes=("flaws",))
    bad, _ = await checked(blind, CASES, probes=("flaws",))
    drift = compare_baselines(make_baseline(good), make_baseline(bad))
    assert drift.worse == ("catching flaws",)
    assert (drift.catches.lost, drift.catches.gained) == (30, 0)
    assert compare_baselines(make_baseline(good), make_baseline(good)).worse == ()
    assert compare_baselines(make_baseline(bad), make_baseline(good)).worse == ()


def outcomes(*caught: bool, alarms: tuple[bool, ...] = (), seed: int = 0) -> Baseline:
    flaws = {f"case/{place}": value for place, value in enumerate(caught)}
    return Baseline("m", seed, {}, flaws, {f"case/a{place}": row for place, row in enumerate(alarms)}, {"case": "x"})


def test_six_losses_are_beyond_chance_and_five_are_not():
    before = outcomes(*[True] * 12)
    assert compare_baselines(before, outcomes(*[False] * 5, *[True] * 7)).worse == ()
    assert compare_baselines(before, outcomes(*[False] * 6, *[True] * 6)).worse == ("catching flaws",)


def test_gains_make_losses_more_likely_chance():
    before = outcomes(*[True] * 8, *[False] * 4)
    assert compare_baselines(before, outcomes(*[False] * 8, *[True] * 4)).worse == ()


def test_new_false_alarms_are_getting_worse_too():
    before = outcomes(True, alarms=(False,) * 10)
    assert compare_baselines(before, outcomes(True, alarms=(True,) * 6 + (False,) * 4)).worse == (
        "raising no false alarms",
    )


def test_a_baseline_of_another_seed_has_nothing_in_common():
    with pytest.raises(InvalidInputError, match="in common"):
        compare_baselines(outcomes(True), outcomes(True, seed=1))


def test_holm_gives_the_second_p_value_the_whole_level():
    assert significant_tests({"a": 0.024, "b": 0.049}) == ("a", "b")
    assert significant_tests({"a": 0.026, "b": 0.04}) == ()


def test_the_sign_test_is_the_sum_of_binomial_terms():
    from math import comb

    for lost in range(7):
        for gained in range(7):
            n = lost + gained
            known = sum(comb(n, k) for k in range(lost, n + 1)) / 2**n
            assert loss_p_value(lost, gained) == pytest.approx(known)


def test_the_wilson_interval_is_that_of_its_formula():
    z = 1.959963984540054
    for count, of in ((0, 12), (6, 12), (12, 12), (1, 3)):
        p = count / of
        centre = (p + z * z / (2 * of)) / (1 + z * z / of)
        half = z / (1 + z * z / of) * (p * (1 - p) / of + z * z / (4 * of * of)) ** 0.5
        found = rate(count, of)
        assert (found.low, found.high) == pytest.approx((centre - half, centre + half), abs=1e-9)
    assert rate(0, 0).value is None


def test_what_can_be_noticed_at_best_is_what_the_test_notices():
    from math import comb

    share, needed = detectable_share(30, 0.025), fewest_detectable_losses(0.025)
    assert needed == 6
    assert 0.5**needed <= 0.025 < 0.5 ** (needed - 1)
    assert share is not None

    def power(q: float) -> float:
        return sum(comb(30, k) * q**k * (1 - q) ** (30 - k) for k in range(needed, 31))

    assert power(share) >= 0.8 > power(share - 0.001)
    assert detectable_share(5, 0.025) is None
