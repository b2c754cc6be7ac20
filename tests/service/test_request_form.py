"""The form that starts a debate has every option of a request, states what holds without it, and is read back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import html5lib
import pytest
from served import MOTION, ended, served

from disputatio._service.pages.request_form import read_request_form
from disputatio.errors import InvalidInputError
from disputatio.market.sources.files import load_example, serialize
from disputatio.options import Option, options_in
from disputatio.request.formats import options_of_formats
from disputatio.request.model import DebateRequest

FILLED = {
    "motion": MOTION,
    "format": "panel",
    "seats": "all=ollama:qwen3:8b\nada=ollama:phi",
    "language": "German",
    "panel.debaters": "ada, bo",
    "panel.threshold": "2",
    "panel.weights": "ada=2\nbo=0.5",
    "panel.rules": "anonymous=true",
    "judging.judges": "3",
    "judging.both_orders": "true",
    "judging.criteria": "truth=0.5\nclarity=0.5",
    "budget.usd": "0.10",
    "limits.max_tokens": "opening=900",
    "tools.by_seat": "ada=search,calculate",
    "seed": "7",
    # Filled in for formats that are not chosen.
    "review.preset": "contract-risk",
    "review.rounds": "99",
    "market.as_of": "nonsense",
}
READ = {
    "motion": MOTION,
    "format": {
        "name": "panel",
        "debaters": ["ada", "bo"],
        "threshold": 2,
        "weights": {"ada": "2", "bo": "0.5"},
        "rules": {"anonymous": "true"},
    },
    "seats": {"all": "ollama:qwen3:8b", "ada": "ollama:phi"},
    "language": "German",
    "seed": 7,
    "judging": {
        "judges": 3,
        "both_orders": True,
        "criteria": {"truth": {"weight": "0.5"}, "clarity": {"weight": "0.5"}},
    },
    "budget": {"usd": "0.10"},
    "limits": {"max_tokens": {"opening": 900}},
    "tools": {"by_seat": {"ada": ["search", "calculate"]}},
}


def test_a_filled_form_is_the_request_that_it_says() -> None:
    assert read_request_form(FILLED) == READ
    assert DebateRequest.model_validate(READ).as_json() == READ
    assert read_request_form({"motion": MOTION}) == {"motion": MOTION, "format": "structured"}


@pytest.mark.parametrize(
    ("given", "cause", "step"),
    [
        ({"judging.judges": "12"}, "judges is '12' (from the field judges of the form)", "from 1 to 9"),
        ({"judging.judges": "x"}, "judges is 'x'", "a whole number from 1 to 9"),
        ({"budget.usd": "-1"}, "budget.usd is '-1'", "a positive amount"),
        ({"seats": "openai:gpt-5"}, "The line 'openai:gpt-5' of the field seats", "Write SEAT=PROVIDER:MODEL."),
        ({"format": "panel", "panel.threshold": "0"}, "threshold is '0'", "from 1 to 10000"),
        ({"format": "pannel"}, "no format called 'pannel'", "Did you mean panel?"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(given: dict[str, str], cause: str, step: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        read_request_form({"motion": MOTION, **given})
    assert cause in refused.value.cause
    assert step in refused.value.next_step


def controls(html: str) -> dict[str, Any]:
    """The fields of the form by name."""
    tree = html5lib.parse(html, namespaceHTMLElements=False)
    return {node.get("name"): node for kind in ("input", "select", "textarea") for node in tree.iter(kind)}


def options() -> Iterator[tuple[str, Option]]:
    """Every option with the name of its field."""
    yield from ((row.place, row) for row in options_in(DebateRequest))
    for name, model in options_of_formats().items():
        yield from ((f"{name}.{row.name}", row) for row in options_in(model))


async def test_the_form_has_every_option_with_its_bounds(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        page = (await client.get("/new")).text
    found = controls(page)
    for name, row in options():
        assert (name in found) is not bool(row.local), name
        node = found.get(name)
        if node is None or name in {"motion", "format", "evidence", "seats", "people"}:
            continue
        if node.get("type") == "number":
            assert {node.get("min"), node.get("max")} <= {str(each) for each in row.bounds.values()}, name
        assert row.is_flag == (node.get("type") == "checkbox"), name
        words = {each.get("value") for each in node.iter("option")}
        assert set(row.choices) <= words, name
    # What holds where a field is empty is said of the format that it belongs to.
    flat = re.sub(r"\s+", " ", page)
    assert "What is voted on: release,revise,escalate unless set." in flat
    assert flat.count("Where no seat is named: openai_compatible:fake.") >= 5
    rounds = {"freeform": 3, "panel": 2, "review": 1}
    for name, number in rounds.items():
        assert f'id="{name}.rounds-hint">Most rounds. Unless set: {number}.' in flat


async def test_the_cost_is_shown_before_the_start(tmp_path, monkeypatch):
    monkeypatch.setenv("LLM_PRICE", "0.5/1.5")
    async with served(tmp_path) as here, here.client() as client:
        token = controls((await client.get("/new")).text)["csrf"].get("value")
        form = {"csrf": token, "motion": MOTION, "format": "panel", "panel.rounds": "1"}
        line = await client.post("/new/estimate", data=form)
        page = await client.post("/new", data={**form, "do": "estimate"})
        assert line.status_code == page.status_code == 200
        assert re.fullmatch(
            r"Expected: \d+ calls and about [\d,]+ tokens \(from [\d,]+ to [\d,]+\); [\d.]+ US dollars \(from .*\)\.",
            line.text,
        )
        assert line.text in page.text
        # The form still has what was filled in.
        assert controls(page.text)["panel.rounds"].get("value") == "1"
        nothing = await client.post("/new/estimate", data={"csrf": token})
        assert nothing.status_code == 422
        assert "motion" in nothing.text
        assert (await client.post("/new/estimate", data={"motion": MOTION})).status_code == 403
        assert here.provider.requests == []
        assert (await client.get("/v1/debates")).json()["items"] == []


@pytest.mark.slow
async def test_what_a_form_started_was_asked_for_in_it(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        token = controls((await client.get("/new")).text)["csrf"].get("value")
        form = {"csrf": token, "motion": MOTION, "format": "panel", "panel.debaters": "ada,bo", "panel.rounds": "1"}
        form |= {"do": "start", "limits.closing_words": "150", "pasted": "Release took 3.8 hours.", "market.as_of": "x"}
        begun = await client.post("/new", data=form, files={"market.knowledge": ("b.json", serialize(load_example()))})
        assert begun.status_code == 303, begun.text
        debate = begun.headers["location"].rpartition("/")[2]
        await ended(client, debate)
        report = (await client.get(f"/v1/debates/{debate}/report")).json()
        assert report["format"] == "panel"
        assert {"ada", "bo"} <= set(report["seats"])
