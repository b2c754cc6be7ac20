"""An argument that its analyst withdrew has no confidence, in the verdict and in everything that is made of it."""

from __future__ import annotations

import pytest

from disputatio.evaluation.backtest.forecasts import read_arguments, weigh_argument
from disputatio.formats.market import MarketRules, market
from disputatio.formats.market_verdict import MarketVerdict
from disputatio.kernel import Driver
from disputatio.participants.analyst.textbook import packaged_text, read_textbook
from disputatio.participants.analyst.turns import answer
from disputatio.report.turns.registry import turn_kind
from strategies import docket_of

BOOK = read_textbook(packaged_text())


@pytest.fixture(scope="module")
def verdict() -> MarketVerdict:
    """The bull of the technical lens withdraws its first argument, with a number beside it."""
    driver = Driver(market(MarketRules(), docket_of("market")))
    while not driver.finished:
        for path, asked in driver.open_asks.items():
            content = answer(BOOK, asked)
            if path == "closing/tech_bull":
                claims = content["refined_claims"]
                claims["tech_bull_arg_0"] |= {"status": "withdrawn", "confidence_adjusted": 0.5}
            driver.answer(path, asked.spec.read(content))
    return driver.outcome


def test_a_withdrawn_argument_has_no_confidence(verdict):
    rows = {row["id"]: row for row in verdict.as_json()["trace"]}
    gone = rows["tech_bull_arg_0"]
    assert (gone["confidence_adjusted"], gone["refined"]["confidence"]) == (None, None)
    assert weigh_argument(gone) is None
    left = [row["confidence_adjusted"] for name, row in rows.items() if name.startswith("tech_bull") and row != gone]
    analyst = next(row for row in verdict.as_json()["analysts"] if row["seat"] == "tech_bull")
    assert analyst["confidence_adjusted"] == pytest.approx(sum(left) / len(left), abs=1e-4)
    (argued,) = [row for row in read_arguments(verdict.as_json()) if row.id == "tech_bull_arg_0"]
    assert (argued.adjusted, argued.weight) == (None, None)


def test_a_record_with_a_number_beside_a_withdrawal_is_read_so(verdict):
    row = next(row for row in verdict.as_json()["trace"] if row["id"] == "tech_bull_arg_0")
    old = {**row, "confidence_adjusted": 0.5, "refined": {**row["refined"], "confidence": 0.5}}
    assert weigh_argument(old) is None


def test_the_closing_shows_no_confidence_beside_a_withdrawal():
    claims = {"a_arg_0": {"status": "withdrawn", "refinement": "gone", "confidence_adjusted": 0.5}}
    claims["a_arg_1"] = {"status": "stands", "refinement": "here", "confidence_adjusted": 0.6}
    shown = turn_kind("market_closing").statements("a", {"refined_claims": claims})
    assert [row.points for row in shown] == [(), (("Confidence now", "0.60"),)]
