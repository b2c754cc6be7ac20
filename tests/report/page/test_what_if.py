"""What is computed without what a reader struck follows the rules of the debate, and old records are left alone."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from argument_graphs import graph_of, strikes
from staged_pages import page_of, report_of

from disputatio.report.page import render_page
from disputatio.report.page.argument_graph import ArgumentGraph, Family
from disputatio.report.page.exchange import Exchange
from disputatio.report.page.what_if import recompute, what_if_graph
from disputatio.report.reading import DebateReport

DEBATES = ("complete", "cited", "degraded", "unjudged", "truncated", "review", "market")


def arguable(report: DebateReport) -> ArgumentGraph | None:
    return what_if_graph(report, Exchange.of(report))


def graph(name: str) -> ArgumentGraph:
    found = arguable(report_of(name))
    assert found is not None
    return found


@pytest.mark.parametrize("name", DEBATES)
def test_with_nothing_struck_everything_is_as_recorded(name: str) -> None:
    found, report = recompute(graph(name), ()), report_of(name)
    trace = {row["id"]: row for row in report.outcome["trace"]}
    assert list(found.arguments) == list(trace)
    for key, row in trace.items():
        now = found.arguments[key]
        assert (now.computed, now.judged, now.differs) == (row["computed"], row["judged"], row["differs"])
        assert now.because == row["computed_reason"]
        if row.get("strength") is not None:
            assert now.strength == Fraction(str(row["strength"])).limit_denominator(4096)
    for side, total in found.totals.items():
        assert float(total or 0) == pytest.approx(report.outcome["totals"][side], abs=3e-4)
    assert list(found.agreed) == [row["id"] if isinstance(row, dict) else row for row in report.outcome["agreed"]]


def test_a_struck_argument_has_no_standing_score_or_agreement() -> None:
    found = recompute(graph("complete"), {"CON-1"})
    before = recompute(graph("complete"), ())
    assert (found.arguments["CON-1"].computed, found.arguments["CON-1"].judged) == ("STRUCK", None)
    assert "CON-1" in before.agreed
    assert "CON-1" not in found.agreed
    scores = [row["weighted"] for row in report_of("complete").outcome["trace"] if row["id"] in {"CON-2", "CON-3"}]
    assert float(found.totals["con"] or 0) == pytest.approx(sum(scores) / 2)


def test_an_argument_without_its_only_response_drew_none() -> None:
    found = recompute(graph("complete"), {"CON on PRO-2"}).arguments["PRO-2"]
    assert (found.computed, found.because) == ("UNCERTAIN", "the other side never responded to it")
    assert found.strength == Fraction(1, 2)


def test_an_unanswered_criticism_hits_its_target() -> None:
    found = recompute(graph("review"), {"REB-2"}).arguments
    assert found["CRIT-2"].computed == "UPHELD"
    assert found["PROP-2"].computed == "REFUTED"
    assert recompute(graph("review"), {"CRIT-2"}).arguments["PROP-2"].computed == "UPHELD"


def test_evidence_without_its_last_quote_is_struck_by_the_rules() -> None:
    found = recompute(graph("review"), {"PROP-1 quote 1"}).arguments["PROP-1"]
    assert (found.computed, found.judged) == ("VOID", None)
    assert found.because.startswith("uncited evidence")


def test_a_market_argument_without_figures_is_inferred() -> None:
    whole = graph("market")
    node = next(row for row in whole.nodes if row.computed == "UPHELD" and row.quotes)
    found = recompute(whole, {row.id for row in node.quotes}).arguments[node.id]
    assert (found.computed, found.because) == ("WEAKENED", "it rests on inferences alone")


@pytest.mark.parametrize("seed", range(60))
def test_strikes_commute_and_nothing_comes_back(seed: int) -> None:
    whole = graph_of(seed)
    struck = strikes(whole, seed)
    found = recompute(whole, struck)
    assert found == recompute(whole, tuple(reversed(struck)))
    assert found == recompute(whole, (*struck, "what nobody said"))
    assert sum(found.quotes.values()) <= sum(recompute(whole, ()).quotes.values())
    assert set(found.agreed) <= set(recompute(whole, ()).agreed)
    if set(struck) >= {row.id for row in whole.nodes}:
        assert {row.computed for row in found.arguments.values()} <= {"STRUCK"}


@pytest.mark.parametrize("name", ["freeform", "failed", "poisoned whole", "poisoned cited"])
def test_uncomputable_standings_allow_no_strike(name: str) -> None:
    assert arguable(report_of(name)) is None
    assert 'id="argument-graph"' not in page_of(name)


def test_a_record_of_other_rules_is_shown_as_it_is() -> None:
    """Until November 2026 any answer met a challenge, so old records may have another standing."""
    report = report_of("complete")
    trace = [{**row, "computed": "REFUTED"} if row["id"] == "PRO-1" else row for row in report.outcome["trace"]]
    old = replace(report, outcome={**report.outcome, "trace": trace})
    assert arguable(old) is None
    assert "argument-graph" not in render_page(old).partition("</style>")[2]


def test_the_graph_on_the_page_is_data_that_ends_nothing() -> None:
    page = page_of("hostile")
    body = page.partition('id="argument-graph">')[2].partition("</script>")[0]
    assert not set("<>&") & set(body)
    assert {row["id"] for row in json.loads(body)["nodes"]} == {row.id for row in graph("hostile").nodes}


def test_every_family_is_drawn_often_enough_to_count() -> None:
    drawn = [graph_of(seed).family for seed in range(60)]
    assert min(drawn.count(row) for row in Family) >= 10
