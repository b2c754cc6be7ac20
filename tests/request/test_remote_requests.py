"""An order reaches nothing but its debate, is kept without loss, and makes the same debate again from what was kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.formats.options import Panel
from disputatio.market.sources.files import load_example, serialize
from disputatio.participants.human import Person, ScriptedSurface
from disputatio.proposals import proposal_of, read_request, request_of
from disputatio.record.text import canonical
from disputatio.request.model import DebateRequest
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
    kept = json.loads(json.dumps(read_request(body)))
    proposal = proposal_of(kept, {})
    assert proposal.motion.text == MOTION
    assert proposal.format.name == "review"
    assert [row.source_id for row in proposal.evidence] == ["a", "a-2"]
    assert proposal.settings.budget.tokens == 50_000
    assert proposal.settings.limits.evidence_chars == 5_000
    assert proposal_of(json.loads(json.dumps(kept)), {}) == proposal


@pytest.mark.parametrize("title", ["\u200b\u200b", "\u202e.md", "...", "/", "a" * 120])
def test_a_source_of_any_visible_or_invisible_name_is_kept(title):
    kept = read_request({"motion": MOTION, "evidence": [{"title": title, "text": "words"}] * 2})
    assert all(row.title and row.source_id for row in proposal_of(kept, {}).evidence)


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
        read_request({"motion": MOTION, **order})
    assert word in refused.value.cause
    assert refused.value.next_step


@pytest.mark.parametrize("body", [{}, {"knowledge": "example"}, {"knowledge": json.loads(serialize(load_example()))}])
def test_a_market_debate_uses_exactly_its_request(body):
    kept = json.loads(canonical(read_request({"format": "market", **body})))
    proposal = proposal_of(kept, {})
    # In the order in which its values will lie before the seats, too.
    assert serialize(proposal.knowledge) == serialize(load_example())
    assert proposal.motion.text == "Will ExampleIndex rise within a month?"


@pytest.mark.parametrize(
    ("order", "word"),
    [
        ({"knowledge": "example", "as_of": "2008-10-31"}, "both"),
        ({"knowledge": {"sha256": "", "knowledge": {}}}, "version"),
        ({"knowledge": serialize(load_example()).decode().replace("4850", "4851", 1)}, "changed"),
        ({"knowledge": json.loads('{"a":' * 300 + "1" + "}" * 300)}, "deeper"),
        ({"as_of": "1889-10-31"}, "Nothing can be built"),
        ({"as_of": "0001-01-01T00:00:00+23:59"}, "calendar"),
        ({"evidence": [{"title": "a.md", "text": "x"}]}, "knowledge base alone"),
        ({"format": "structured", "motion": MOTION, "as_of": "2008-10-31"}, "market"),
    ],
)
def test_an_unusable_knowledge_base_is_refused(order, word):
    with pytest.raises(InvalidInputError) as refused:
        read_request({"format": "market", **order})
    assert word in refused.value.cause
    assert refused.value.next_step


def test_seats_of_people_need_a_surface():
    kept = read_request({"motion": MOTION, "format": "competition", "people": ["pro"]})
    assert kept["people"] == ["pro_1", "pro_2", "pro_3", "pro_4"]
    with pytest.raises(InvalidInputError, match="for a person"):
        proposal_of(kept, {})
    person = Person(ScriptedSurface(lambda _: None))
    proposal = proposal_of(kept, dict.fromkeys(kept["people"], person))
    assert set(proposal.participants) == set(kept["people"])
    assert not {row[0] for row in proposal.settings.cast.members} & set(kept["people"])


FIELDS = [*DebateRequest.model_fields, "judges", "rounds", "preset", "budget_usd", "settings", "x"]
"""Names of options, those of earlier versions too, and one that is none."""


@examples(40)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(FIELDS), inner),
        max_leaves=12,
    )
)
def test_whatever_is_sent_is_taken_or_refused_in_a_sentence(body):
    if not isinstance(body, dict):
        return
    kept = None
    try:
        kept = read_request(body)
    except InvalidInputError as error:
        sentence = error.cause
    if kept is None:
        assert 0 < len(sentence) < 1_000
    else:
        assert proposal_of(kept, {}, people_missing=True).motion.text


KEPT = json.loads((Path(__file__).parent / "kept_orders.json").read_text("utf-8"))
"""Orders as version 0.1.0 kept them before names and values stayed apart, with what it proposed for each."""


@pytest.mark.parametrize("row", KEPT, ids=lambda row: row["order"].get("format", "structured"))
def test_an_order_that_was_kept_before_proposes_the_same(row: dict[str, Any]) -> None:
    proposal = proposal_of(row["order"], {}, people_missing=True)
    settings = proposal.settings
    judging, chosen = settings.judging, settings.format
    panel = chosen if isinstance(chosen, Panel) else Panel()
    assert {
        "seats": {seat: model.address for seat, model in settings.seats.items()},
        "tools": {seat: list(words) for seat, words in settings.tools.items()},
        "cast": {seat: style.name for seat, style in settings.cast.members},
        "limits": [settings.limits.closing_words, dict(settings.limits.max_tokens)],
        "judging": [judging.both_orders, str(judging.dead_zone), {k: str(v) for k, v in judging.weights.items()}],
        "criteria": {name: str(row.weight) for name, row in judging.criteria.items()},
        "panel": [
            list(panel.options or ()),
            panel.decision,
            panel.threshold,
            {name: str(weight) for name, weight in panel.weights.items()},
        ],
        "positions": list(getattr(chosen, "positions", None) or ()),
        "language": settings.language,
        "seed": settings.seed,
        "rounds": getattr(chosen, "rounds", None),
        "budget": [str(settings.budget.usd), settings.budget.tokens, settings.budget.calls],
        # A rule that came later is off.
        "rules": {
            name: value
            for name, value in sorted(settings.rules.items())
            if "words" in name and (value or name in row["proposes"]["rules"])
        },
        "evidence": [source.source_id for source in proposal.evidence],
    } == row["proposes"]


@pytest.mark.parametrize(
    ("order", "cause", "step"),
    [
        ({"seats": {"jugde": "ollama:x"}}, "no seat 'jugde' (from seats.jugde of the request)", "Did you mean judge?"),
        ({"seats": {"pro": "opnai:gpt-5"}}, "'opnai' (from seats.pro of the request)", "Did you mean openai?"),
        ({"seats": {"Judge": "ollama:x", "judge": "ollama:y"}}, "given twice with different values", "once"),
        ({"seats": {"all=openai": "ollama:x"}}, "seats has the name 'all=openai'", "judge, con_2 or all"),
        ({"tools": {"pr\u043e": ["search"]}}, "tools.by_seat has the name", "letters"),
        ({"format": "competition", "personality": {"\u212ain": "none"}}, "personality has the name", "letters"),
        (
            {"settings": {"limits.closing_wrods": 1}},
            "(from settings.limits.closing_wrods of the request)",
            "Did you mean closing_words?",
        ),
        ({"settings": {"limits.closing_words": True}}, "limits.closing_words is true", "a whole number"),
        ({"settings": {"limits.closing_words": "1\nx"}}, "limits.closing_words", "a whole number"),
        ({"settings": {"limits.closing_words": 10**400}}, "limits.closing_words", "a whole number"),
        ({"settings": {"judging.dead_zone": float("inf")}}, "judging.dead_zone", "from 0 to 9"),
        ({"settings": {"limits = {} #": 1}}, "'limits = {} #'", "as in a TOML file"),
        ({"format": "panel", "debaters": ["ada,bo", "cleo"]}, "debaters", "'ada,bo' cannot be one."),
        (
            {"format": "panel", "seats": {"ada b": "ollama:x"}},
            "debaters is a list (from seats",
            "'ada b' cannot be one.",
        ),
        ({"format": "panel", "seats": {"a" * 33: "ollama:x"}}, "debaters is a list (from seats", "cannot be one."),
        ({"format": "panel", "debaters": ["ada", "bo"], "options": ["a,b", "c"]}, "options", "'a,b' cannot be one."),
        ({"format": "review", "positions": ["We wait; or we split it all", "No"]}, "positions", "'No' cannot be one."),
    ],
)
def test_what_is_wrong_is_said_with_its_place(order: dict[str, Any], cause: str, step: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        read_request({"motion": MOTION, **order})
    assert cause in refused.value.cause
    assert step in refused.value.next_step


@pytest.mark.parametrize("key", ["tools.timeot", "tools.round", "mcp_server.x", "escalat", "prompt"])
def test_no_option_is_suggested_that_a_caller_may_not_use(key: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        read_request({"motion": MOTION, "settings": {key: 1}})
    for local in ("timeout", "rounds", "mcp_servers", "escalate", "prompts"):
        assert f"mean {local}?" not in refused.value.next_step


def test_what_has_a_comma_or_a_semicolon_stays_one() -> None:
    positions = ["We split it now; all of it at once", "We wait, and look again in a year"]
    kept = read_request({"motion": MOTION, "format": "review", "positions": positions})
    assert proposal_of(kept, {}).settings.format.positions == tuple(positions)


def given_numbers(request: DebateRequest) -> list[object]:
    """The values of a request that are set, in whatever group."""
    groups = (request, request.format, request.judging, request.budget)
    return [getattr(group, name) for group in groups for name in group.model_fields_set]


WHOLE = ("judges", "rounds", "threshold", "seed", "budget_tokens", "max_calls")


@pytest.mark.parametrize("field", WHOLE)
def test_a_whole_number_is_a_number(field: str) -> None:
    form = "panel" if field in {"rounds", "threshold"} else "structured"
    for value in (5, 5.0):
        request = request_of({"motion": MOTION, "format": form, field: value})
        assert 5 in given_numbers(request)
    for value in (True, False, "5", "true", 5.5, [5]):
        with pytest.raises(InvalidInputError, match=field.rpartition("_")[2]):
            read_request({"motion": MOTION, "format": form, field: value})


def test_an_amount_is_exact_and_no_boolean() -> None:
    for value in (1, 0.5, "0.10"):
        assert str(request_of({"motion": MOTION, "budget_usd": value}).budget.usd) == str(value)
    for value in (True, "true", "NaN", "1e400"):
        with pytest.raises(InvalidInputError, match=r"budget\.usd"):
            read_request({"motion": MOTION, "budget_usd": value})


@pytest.mark.parametrize("field", ["both_orders", "anonymous", "retest"])
def test_a_flag_is_true_or_false(field: str) -> None:
    for value in (1, 0, "true", None):
        with pytest.raises(InvalidInputError, match=field):
            read_request({"motion": MOTION, field: value})


@pytest.mark.parametrize(
    ("title", "source_id"),
    [("Prüfung.md", "Prüfung"), ("契約.md", "契約"), ("_a.md", "a"), (" ", "source"), ("²", "²")],
)
def test_a_source_may_be_called_anything(title: str, source_id: str) -> None:
    kept = read_request({"motion": MOTION, "evidence": [{"title": title, "text": "One"}]})
    (source,) = proposal_of(json.loads(json.dumps(kept)), {}).evidence
    assert source.source_id == source_id
    assert source.title.strip()
    # An upload comes back with its id.
    assert read_request({"motion": MOTION, "evidence": kept["evidence"]})["evidence"] == kept["evidence"]
