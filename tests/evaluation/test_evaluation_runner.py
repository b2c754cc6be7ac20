"""Debates and baselines on identical questions: read by code, at equal spend, and gone on with where stopped."""

from __future__ import annotations

import asyncio
import json

import html5lib
import pytest
from answer_stage import held, questions

from disputatio.errors import InvalidInputError
from disputatio.evaluation.experiment import Spending
from disputatio.evaluation.pages.evaluation import render_evaluation_page
from disputatio.evaluation.questions.arms import Outcome, choose_arms, declare_pairs, make_motions
from disputatio.evaluation.questions.items import Kind, QuestionSet, read_item
from disputatio.evaluation.questions.report import render_evaluation_lines
from disputatio.evaluation.votes import Sample, count_nearest
from disputatio.formats.single import pick_most_given
from disputatio.ledger.budget import Budget
from disputatio.motion.text import mostly_made_up
from disputatio.record.memory import MemoryStore
from disputatio.testing import instance

pytestmark = pytest.mark.slow

ALL = ("structured", "panel", "freeform", "single", "vote")


def always(_kind: str, _seed: str) -> bool:
    return True


def alone_is_wrong(kind: str, _seed: str) -> bool:
    return kind != "answer"


@pytest.fixture(scope="module")
def everything():
    return asyncio.run(held(questions(3), ALL, alone_is_wrong))


def test_each_way_is_read_by_its_own_rule(everything):
    """Panels vote right and judges score right here; whoever is asked for an answer is wrong."""
    report, _, _ = everything
    right = {row.arm.name: row.right for row in report.arms}
    assert right == {
        "structured": 3,
        "panel": 3,
        "freeform": 0,
        "single": 0,
        "vote at the cost of structured": 0,
        "vote at the cost of panel": 0,
    }


def test_a_vote_costs_what_its_debate_cost(everything):
    """To half a sample, which is what comes nearest; the cheaper vote is the beginning of the dearer one."""
    report, found, _ = everything
    for row in report.arms:
        if not row.arm.of:
            continue
        for item in report.questions.items:
            vote, debate = found.given[row.arm.name][item.id], found.given[row.arm.of][item.id]
            sample = vote.spent.tokens / vote.samples
            assert abs(vote.spent.tokens - debate.spent.tokens) <= sample
        assert row.spend_ratio == pytest.approx(1, abs=0.2)
    dear, cheap = (found.given[f"vote at the cost of {way}"]["0"] for way in ("structured", "panel"))
    assert dear.samples > cheap.samples > 1
    assert dear.debates[: len(cheap.debates)] == cheap.debates


def test_the_comparisons_are_each_debate_against_each_baseline(everything):
    report, _, _ = everything
    assert len(report.comparisons) == 6
    assert all(row.counts.first == 3 for row in report.comparisons)
    assert all("no demonstrable difference (power" in row.verdict for row in report.comparisons), "three are few"


def test_the_report_says_everything_on_every_surface(everything):
    report, _, _ = everything
    text, page, body = "\n".join(render_evaluation_lines(report)), render_evaluation_page(report), report.as_json()
    assert "A HARNESS TEST" not in text
    assert "McNemar exact p" in text
    assert "power for 10 points" in text
    html5lib.HTMLParser(strict=True).parse(page)
    assert page.count("<svg") >= 4
    assert "://" not in page.replace("http://127.0.0.1:9/v1", "")
    assert body["questions"]["right_by_chance"] == 0.5
    assert {row["name"] for row in body["arms"]} == {row.arm.name for row in report.arms}
    assert all(len(item["given"]) == 6 for item in body["items"])


async def test_a_scripted_model_is_labelled_a_harness_test():
    report, _, _ = await held(questions(1), ("single", "freeform"), always, model="instances")
    assert report.harness
    assert render_evaluation_lines(report)[0].startswith("A HARNESS TEST")
    assert "no evidence about debate" in render_evaluation_page(report)


async def test_a_second_run_calls_nobody_and_reports_the_same():
    store = MemoryStore()
    first, _, model_client = await held(questions(2), ("panel", "single", "vote"), always, store=store)
    assert model_client.calls
    again, _, silent = await held(questions(2), ("panel", "single", "vote"), always, store=store)
    read, _, unasked = await held(questions(2), ("panel", "single", "vote"), always, store=store, reads_only=True)
    assert silent.calls == unasked.calls == []
    assert first.as_json() == again.as_json() == read.as_json()


async def test_a_ceiling_covers_everything_and_missing_is_reported():
    budget = Budget(tokens=12_000)
    store = MemoryStore()
    report, found, _ = await held(questions(4), ("panel", "single", "vote"), always, store=store, budget=budget)
    assert found.spent.tokens <= 12_000
    assert found.stopped
    assert sum(row.outcomes[Outcome.NOT_RUN] for row in report.arms) > 0
    assert any("did not run and count as not right" in row for row in report.warnings)
    more, whole, _ = await held(questions(4), ("panel", "single", "vote"), always, store=store)
    assert not whole.stopped
    assert all(row.outcomes[Outcome.NOT_RUN] == 0 for row in more.arms)


async def test_numbers_and_pairs_are_answered_too():
    number = read_item("x", 1, {"question": "What is 6 times 7?", "answer": 42, "tolerance": "0.5"})
    pair = read_item("x", 2, {"question": "Why is it so?", "answer_a": "Because.", "answer_b": "So.", "answer": "B"})
    report, _, _ = await held(QuestionSet("mixed", (number, pair)), ("freeform", "single", "vote"), always)
    assert {row.arm.name: row.right for row in report.arms} == {"freeform": 2, "single": 2, "vote": 2}
    assert number.is_right("42.5")
    assert not number.is_right("43")


def test_a_debate_for_each_option_and_one_for_yes_or_no():
    several = read_item("x", 1, {"question": "Which?", "options": ["red", "blue", "green"], "answer": "blue"})
    assert several.known == "B"
    assert [label for label, _ in make_motions(several)] == ["A", "B", "C"]
    assert [label for label, _ in make_motions(read_item("x", 1, {"question": "Is it?", "answer": "No"}))] == ["yes"]


def test_impossible_questions_are_refused_and_pairs_declared():
    with pytest.raises(InvalidInputError, match="cannot answer with a number"):
        choose_arms(["panel"], [Kind.NUMBER])
    with pytest.raises(InvalidInputError, match="no debate is compared"):
        choose_arms(["single", "vote"], [Kind.YES_NO])
    with pytest.raises(InvalidInputError, match="no way of answering"):
        choose_arms(["quarrel"], [Kind.YES_NO])
    arms = choose_arms(["panel", "single", "vote", "freeform"], [Kind.YES_NO])
    assert declare_pairs(arms) == (("panel", "freeform"), ("panel", "single"), ("panel", "vote"))


def samples(*tokens: int) -> list[Sample]:
    return [Sample(number, "yes", "d", Spending(1, row, None), 0.0) for number, row in enumerate(tokens, start=1)]


@pytest.mark.parametrize(("target", "taken"), [(1, 1), (149, 1), (151, 2), (200, 2), (251, 3), (9_999, 3)], ids=str)
def test_so_many_samples_as_come_nearest(target, taken):
    assert count_nearest(samples(100, 100, 100), target, turns=5) == taken


def test_of_level_answers_the_first_given_wins():
    assert pick_most_given(["b", "a", "a", "b", None]) == "b"
    assert pick_most_given([None, None]) is None


def test_a_made_up_server_is_known_under_any_name():
    made_up = [json.dumps(instance({"type": "string", "minLength": 40, "maxLength": 200}, str(n))) for n in range(6)]
    assert mostly_made_up(made_up)
    own = [
        "The study found that the quarterly report reduces nothing.",
        *["It does not follow."] * 3,
    ]
    assert not mostly_made_up(own)
    assert not mostly_made_up([*own, *made_up[:1]])
    assert not mostly_made_up([])
