"""What ``disputatio eval --replay`` prints of published votes is what was published."""

from __future__ import annotations

import pytest
from published.recorded import folder

from disputatio.evaluation.pages.vote_replay import render_replay_page
from disputatio.evaluation.questions.golden import golden_set
from disputatio.evaluation.vote_replay import ReplayReport, make_replay_report, render_replay_lines

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cti() -> ReplayReport:
    return make_replay_report(folder("cti_bench"))


def line(lines: list[str], set_name: str, rule: str) -> str:
    start = next(place for place, row in enumerate(lines) if row.startswith(f"{set_name}:"))
    return next(row for row in lines[start:] if row.strip().startswith(rule))


@pytest.mark.parametrize(("votes", "coverage", "precision"), [(3, 87.7, 0.750), (4, 62.3, 0.835), (5, 39.6, 0.891)])
def test_the_thresholds_of_cti_bench(cti, votes, coverage, precision) -> None:
    shown = line(render_replay_lines(cti), "cti-mcq", f"threshold (at least {votes} votes)")
    assert f" {coverage} % [" in shown
    assert f" {precision:.3f} [" in shown


def test_gpt4_alone_on_cti_bench(cti) -> None:
    lines = render_replay_lines(cti)
    assert " 0.710 [" in line(lines, "cti-mcq", "ChatGPT-4 alone")
    assert " 0.720 [" in line(lines, "cti-rcm", "ChatGPT-4 alone")


def test_the_swap_figures_of_llmbar() -> None:
    """349 of 349 configurations; a majority of five fails on adversarial GPTInst, 49.5 against 86.4 for GPT-4."""
    report = make_replay_report(folder("llmbar"))
    lines = render_replay_lines(report)
    assert "  349 of 349 configurations are as published" in lines
    assert " 0.495 [" in line(lines, "llmbar Adversarial/GPTInst", "majority (more than half")
    assert " 0.864 [" in line(lines, "llmbar Adversarial/GPTInst", "GPT-4 alone")
    (against,) = [
        row
        for panel in report.panels
        if panel.set == "llmbar Adversarial/GPTInst"
        for row in panel.against
        if row.second == "GPT-4"
    ]
    assert against.significant
    assert against.difference.value < -0.3
    page = render_replay_page(report)
    assert "349 of 349 configurations" in page
    assert "<script" not in page


def test_ties_count_where_a_tie_is_an_answer() -> None:
    lines = render_replay_lines(make_replay_report(folder("chateval_faireval")))
    rule = "majority, and a tie where there is none"
    assert " 0.537 [" in line(lines, "chateval two turns", rule)
    assert " 0.550 [" in line(lines, "chateval three turns", rule)
    assert " 0.644 [" in line(render_replay_lines(make_replay_report(folder("prd"))), "prd", "sign of the mean verdict")


def test_golden_sets_are_made_from_published_files() -> None:
    contract, security = (
        golden_set("contract", folder("legalbench_contracts")),
        golden_set("security", folder("security_misc")),
    )
    assert len(contract.items) >= 80
    assert {row.known for row in contract.items} == {"yes", "no"}
    assert all(row.sources for row in contract.items)
    assert len(security.items) == len({row.question for row in security.items}) == 500


def test_the_votes_of_prd_come_out_as_published() -> None:
    """Peer-rank weighted .673125, unweighted mean sign .643750, GPT-4 alone .6425."""
    report = make_replay_report(folder("prd"))
    (panel,) = report.panels
    found = {row.rule: row.accuracy.value for row in panel.rules}
    assert found["sign of the mean, weighted by peer rank (PRD)"] == 0.673125
    assert found["sign of the mean verdict, ties as 0"] == 0.64375
    assert {row.panel[0]: row.accuracy.value for row in panel.alone}["gpt-4"] == 0.6425
    assert " 0.673 [" in line(render_replay_lines(report), "prd", "sign of the mean, weighted by peer rank")
