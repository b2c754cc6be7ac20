"""An order reaches nothing but its debate, is kept without loss, and makes the same debate again from what was kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.failures import InvalidInputError
from disputatio.market.sources.files import example_index, written
from disputatio.orders import Order, proposal_of, read_order
from disputatio.participants.human import Person, ScriptedSurface
from disputatio.record.text import canonical
from strategies import examples

MOTION = "We should split the service"


@pytest.fixture(autouse=True)
def _seated(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LLM_PROVIDER", "ollama")
    monkeypatch.setenv("LLM_MODEL", "fake")


def test_what_was_kept_makes_the_debate_that_was_asked_for():
    body = {
        "motion": MOTION,
        "format": "review",
        "evidence": [{"title": "a.md", "text": "# One\n\n3.8 hours"}, {"title": "a.md", "text": "Two"}],
        "rounds": 2,
        "budget_tokens": 50_000,
        "settings": {"limits.evidence_chars": 5_000},
    }
    kept = json.loads(json.dumps(read_order(body)))
    proposal = proposal_of(kept, {})
    assert proposal.motion.text == MOTION
    assert proposal.format.name == "review"
    assert [row.source_id for row in proposal.evidence] == ["a", "a-2"]
    assert proposal.settings.budget.tokens == 50_000
    assert proposal.settings.limits.evidence_chars == 5_000
    assert proposal_of(json.loads(json.dumps(kept)), {}) == proposal


@pytest.mark.parametrize(
    ("order", "word"),
    [
        ({"seats": {"all": "openai_compatible:x at http://10.0.0.1/v1"}}, "address"),
        ({"seats": {"all": "embedded:/etc/passwd"}}, "weights"),
        ({"seats": {"all": "hf:somebody/weights"}}, "weights"),
        ({"format": "./evil.py:rules"}, "format"),
        ({"format": "/srv/evil.py"}, "format"),
        ({"settings": {"mcp_servers.x": "sh"}}, "setting"),
        ({"settings": {"seats.all.base_url": "http://10.0.0.1"}}, "setting"),
        ({"settings": {"store": "sqlite:////tmp/x"}}, "setting"),
        ({"settings": {"personalities": "/etc/passwd"}}, "setting"),
        ({"settings": {'"mcp_servers".x': "sh"}}, "setting"),
        ({"settings": {"limits.closing_words=1\nmcp_servers.x": "sh"}}, ""),
        ({"seats": {"all=embedded\nstore": "x"}}, ""),
        ({"tools": {"all": ["server"]}}, "tools"),
        ({"escalate": "http://10.0.0.1"}, "escalate"),
        ({"mcp": {"x": "sh"}}, "mcp"),
        ({"base_url": "http://10.0.0.1"}, "base_url"),
        ({"config": "/etc/passwd"}, "config"),
        ({"prompts": "/etc"}, "prompts"),
        ({"format": "market", "seats": {"all": "rules:/etc/passwd.toml"}}, "file"),
        ({"format": "market", "knowledge": "/etc/passwd"}, "JSON"),
    ],
)
def test_an_order_reaches_no_file_no_address_and_no_command(order, word):
    with pytest.raises(InvalidInputError) as refused:
        read_order({"motion": MOTION, **order})
    assert word in refused.value.cause
    assert refused.value.next_step


@pytest.mark.parametrize("body", [{}, {"knowledge": "example"}, {"knowledge": json.loads(written(example_index()))}])
def test_a_market_debate_is_held_on_exactly_what_its_order_brought(body):
    kept = json.loads(canonical(read_order({"format": "market", **body})))
    proposal = proposal_of(kept, {})
    # In the order in which its values will lie before the seats, too.
    assert written(proposal.knowledge) == written(example_index())
    assert proposal.motion.text == "Will ExampleIndex rise within a month?"


@pytest.mark.parametrize(
    ("order", "word"),
    [
        ({"knowledge": "example", "as_of": "2008-10-31"}, "both"),
        ({"knowledge": {"sha256": "", "knowledge": {}}}, "version"),
        ({"knowledge": written(example_index()).decode().replace("4850", "4851", 1)}, "changed"),
        ({"knowledge": json.loads('{"a":' * 300 + "1" + "}" * 300)}, "deeper"),
        ({"as_of": "1889-10-31"}, "Nothing can be built"),
        ({"as_of": "0001-01-01T00:00:00+23:59"}, "calendar"),
        ({"evidence": [{"title": "a.md", "text": "x"}]}, "knowledge base alone"),
        ({"format": "structured", "motion": MOTION, "as_of": "2008-10-31"}, "market"),
    ],
)
def test_what_a_market_debate_cannot_be_held_on_is_refused_in_a_sentence(order, word):
    with pytest.raises(InvalidInputError) as refused:
        read_order({"format": "market", **order})
    assert word in refused.value.cause
    assert refused.value.next_step


def test_seats_of_people_are_named_one_by_one_and_need_somebody_who_can_be_asked():
    kept = read_order({"motion": MOTION, "format": "competition", "people": ["pro"]})
    assert kept["people"] == ["pro_1", "pro_2", "pro_3", "pro_4"]
    with pytest.raises(InvalidInputError, match="for a person"):
        proposal_of(kept, {})
    person = Person(ScriptedSurface(lambda _: None))
    proposal = proposal_of(kept, dict.fromkeys(kept["people"], person))
    assert set(proposal.participants) == set(kept["people"])
    assert not {row[0] for row in proposal.settings.cast.members} & set(kept["people"])


@examples(40)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*Order.model_fields, "x"]), inner),
        max_leaves=12,
    )
)
def test_whatever_is_sent_is_taken_or_refused_in_a_sentence(body):
    if not isinstance(body, dict):
        return
    kept = None
    try:
        kept = read_order(body)
    except InvalidInputError as error:
        sentence = error.cause
    if kept is None:
        assert 0 < len(sentence) < 1_000
    else:
        assert proposal_of(kept, {}, people_missing=True).motion.text
