"""``--dry-run`` of a backtest and of an evaluation: what all of it would take, with nothing held and no call made."""

from __future__ import annotations

import json

import pytest

from disputatio.testing import FakeProvider

pytestmark = pytest.mark.slow

PLAN = """
schema = "disputatio/backtest-plan"
version = 1
name = "two months"
subject = "GSPC"
first = 2016-03-01
last = 2016-04-01
controls_every = 0
leaks_every = 0
"""
QUESTIONS = "\n".join(
    json.dumps({"id": f"q{place}", "question": f"Is {place} even?", "answer": "yes" if place % 2 == 0 else "no"})
    for place in range(4)
)


@pytest.fixture
def models(provider: FakeProvider) -> tuple[str, ...]:
    return ("--seat", "all=openai_compatible:fake", "--base-url", provider.base_url)


def test_a_backtest_says_what_it_would_take(call, models, provider, bare):
    pytest.importorskip("arch", reason="the packaged history comes with the extra market")
    (bare / "plan.toml").write_text(PLAN)
    whole = ("backtest", "plan.toml", *models, "--cutoff", "2016-02", "--blind", "--json")
    told = json.loads(call(*whole, "--dry-run").out)
    assert provider.arrived.count == 0
    assert not list(bare.parent.rglob("*.sqlite")), "nothing is kept"
    parts = {row["name"]: row for row in told["parts"]}
    assert set(parts) == {
        f"{name}, {arm}" for name in ("debates", "single answers", "votes") for arm in ("plain", "blind")
    }
    assert {row["debates"] for row in parts.values()} == {2}
    debates = parts["debates, plain"]
    assert parts["votes, plain"]["tokens"] == pytest.approx(debates["tokens"], rel=0.1)
    assert call(*whole).code == 0
    least = sum(
        parts[f"{name}, {arm}"]["calls"] for name in ("debates", "single answers") for arm in ("plain", "blind")
    )
    assert least <= 1.3 * provider.arrived.count


def test_a_backtest_by_rules_takes_no_call(call, bare):
    pytest.importorskip("arch", reason="the packaged history comes with the extra market")
    (bare / "plan.toml").write_text(PLAN)
    told = json.loads(call("backtest", "plan.toml", "--dry-run", "--json").out)
    assert told["together"] == {"name": "together", "debates": 2, "calls": 0, "tokens": 0, "usd": "0"}
    lines = call("backtest", "plan.toml", "--dry-run").out
    assert "This estimates everything" in lines


def test_a_limit_may_take_the_last_dates(call, bare):
    pytest.importorskip("arch", reason="the packaged history comes with the extra market")
    (bare / "plan.toml").write_text(PLAN.replace("first = 2016-03-01", "first = 2015-11-01"))
    usual = ("backtest", "plan.toml", "--processes", "1", "--store", "sqlite:///records.sqlite", "--json")
    first, last, whole = (json.loads(call(*usual, *more).out) for more in (("--limit", "2"), ("--limit", "last:2"), ()))
    days = [row["day"] for row in whole["rows"]]
    assert ([row["day"] for row in first["rows"]], [row["day"] for row in last["rows"]]) == (days[:2], days[-2:])
    assert last["notice"].startswith("A TRIAL: the last 2 of the 6 dates of the plan.")
    assert first["notice"].startswith("A TRIAL: the first 2 of the 6 dates of the plan.")
    known = {row["day"]: (row["climatology"], row["p"], row["debate"]) for row in whole["rows"]}
    assert all(known[row["day"]] == (row["climatology"], row["p"], row["debate"]) for row in last["rows"])
    refused = call("backtest", "plan.toml", "--limit", "last:none")
    assert refused.code == 2
    assert "--limit 'none' is not a whole number" in refused.err


def test_an_evaluation_says_what_it_would_take(call, models, provider, bare):
    (bare / "questions.jsonl").write_text(QUESTIONS)
    whole = ("eval", "questions.jsonl", *models, "--compare", "freeform,single,vote", "--json")
    told = json.loads(call(*whole, "--dry-run").out)
    assert provider.arrived.count == 0
    parts = {row["name"]: row for row in told["parts"]}
    assert {name: row["debates"] for name, row in parts.items()} == {"freeform": 4, "single": 4, "vote": 4}
    assert parts["vote"]["tokens"] == pytest.approx(parts["freeform"]["tokens"], rel=0.25)
    assert told["together"]["calls"] == sum(row["calls"] for row in parts.values())
    assert call(*whole).code == 0
    assert parts["freeform"]["calls"] + parts["single"]["calls"] <= provider.arrived.count
