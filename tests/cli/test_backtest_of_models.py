"""``disputatio backtest`` with language models, over a provider that fakes one: what is asked, refused and labelled."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from disputatio.testing import FakeProvider

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("arch") is None, reason="the packaged history comes with the extra market"),
]

PLAN = """
schema = "disputatio/backtest-plan"
version = 1
name = "one month"
subject = "GSPC"
first = 2016-03-01
last = 2016-03-01
controls_every = 0
leaks_every = 0
"""


@pytest.fixture
def models(provider: FakeProvider) -> tuple[str, ...]:
    return ("--seat", "all=openai_compatible:fake", "--base-url", provider.base_url)


def test_models_without_a_known_cutoff_are_refused_first(call, models, provider, bare):
    (bare / "plan.toml").write_text(PLAN)
    refused = call("backtest", "plan.toml", *models)
    assert refused.code == 2
    assert "The end of the training data of openai_compatible:fake" in refused.err
    assert "--cutoff unknown" in refused.err
    assert provider.arrived.count == 0
    for option in (("--probe",), ("--cutoff", "2023-10"), ("--no-agents",)):
        by_rules = call("backtest", "plan.toml", *option)
        assert by_rules.code == 2
        assert f"{option[0]} is for language models" in by_rules.err


def test_a_full_run_is_rebuilt_from_records_without_calls(call, models, provider, bare):
    (bare / "plan.toml").write_text(PLAN)
    whole = ("backtest", "plan.toml", *models, "--blind", "--probe", "--cutoff", "2016-02", "--json")
    first = call(*whole)
    assert first.code == 0, first.err
    body = json.loads(first.out)["language_models"]
    assert body["harness_test"] is True
    assert body["verdict"].startswith("A HARNESS TEST")
    names = [row["name"] for row in body["scores"]]
    assert names == ["debate", "single", "vote", "debate, blind", "single, blind", "vote, blind"]
    assert all(row["dates_with_a_forecast"] == 1 for row in body["scores"] if "debate" not in row["name"])
    for arm in ("", ", blind"):
        debate, vote = (body["spent"][name + arm]["tokens"] for name in ("debate", "vote"))
        assert 0.98 < vote / debate < 1.02
    assert [(row["before"]["of"], row["after"]["of"]) for row in body["cutoff_split"]] == [(0, 1)] * 6
    assert len(body["recognition"]["guesses"]) == 2
    calls = provider.arrived.count
    again = call(*whole, "--from-records", "--out", "report")
    assert json.loads(again.out) == json.loads(first.out)
    assert provider.arrived.count == calls
    page = (bare / "report/report.html").read_text()
    assert "Before and after the training cut-off" in page
    assert "Recognition probe" in page
    assert "A HARNESS TEST" in page
