"""The grammar only ever narrows the schema; sentences are what readers would call sentences."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.participants.embedded import decoding

_HEAD = "%llguidance {}\nstart: %json "

TEXTS = st.fixed_dictionaries(
    {"type": st.just("string")},
    optional={
        "minLength": st.integers(0, 50),
        "maxLength": st.integers(1, 2000),
        "enum": st.just(["pro", "con"]),
        "pattern": st.just("^[a-z]+$"),
        "description": st.text(max_size=10),
    },
)
LEAVES = st.one_of(TEXTS, st.just({"type": "integer", "minimum": 1, "maximum": 10}), st.just({"type": "boolean"}))
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda parts: {"type": "object", "properties": parts, "required": list(parts)},
            st.dictionaries(st.sampled_from("abcdef"), inner, max_size=4),
        ),
        st.builds(lambda item: {"type": "array", "items": item, "maxItems": 3}, inner),
        st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=8,
)


def shaped(schema: dict[str, Any], *, sentences: bool) -> dict[str, Any]:
    text = decoding.grammar(schema, sentences=sentences)
    assert text.startswith(_HEAD)
    return json.loads(text.removeprefix(_HEAD))


def without_what_was_added(narrowed: Any, asked: Any) -> Any:
    """``narrowed`` with every ``pattern`` taken out that ``asked`` did not have, and its least length put back."""
    if isinstance(narrowed, dict):
        patterned = "pattern" in narrowed and "pattern" not in asked
        least = {"minLength": asked["minLength"]} if patterned and "minLength" in asked else {}
        kept = {key: value for key, value in narrowed.items() if not (patterned and key == "pattern")}
        return {key: without_what_was_added(value, asked.get(key)) for key, value in kept.items()} | least
    if isinstance(narrowed, list):
        return [without_what_was_added(value, part) for value, part in zip(narrowed, asked, strict=True)]
    return narrowed


@given(SCHEMAS)
def test_a_grammar_only_adds_patterns_to_the_schema(schema: dict[str, Any]) -> None:
    narrowed = shaped(schema, sentences=True)
    assert narrowed.pop("x-guidance")["whitespace_flexible"] is False
    assert without_what_was_added(narrowed, schema) == schema


@given(SCHEMAS)
def test_other_models_get_the_schema_as_it_is(schema: dict[str, Any]) -> None:
    plain = shaped(schema, sentences=False)
    plain.pop("x-guidance")
    assert plain == schema


@given(st.data(), st.integers(0, 60))
def test_the_pattern_keeps_the_least_length_that_it_replaces(data: st.DataObject, least: int) -> None:
    text = {"type": "string", "minLength": least, "maxLength": 200}
    narrowed = shaped({"type": "object", "properties": {"a": text}}, sentences=True)["properties"]["a"]
    assert "minLength" not in narrowed
    written = data.draw(st.from_regex(narrowed["pattern"], fullmatch=True))
    assert len(written) >= least


def pattern_for(longest: int | None) -> re.Pattern[str]:
    text: dict[str, Any] = {"type": "string"}
    if longest is not None:
        text["maxLength"] = longest
    return re.compile(
        shaped({"type": "object", "properties": {"a": text}}, sentences=True)["properties"]["a"]["pattern"]
    )


@pytest.mark.parametrize(
    "text",
    [
        "It saves money.",
        "Labels help guests choose, and they cost 3 percent of the price.",
        "Children's lessons get 20% shorter without them!",
        "Who pays for the repairs of the café?",
    ],
)
def test_plain_sentences_can_be_written(text: str) -> None:
    assert pattern_for(160).match(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It saves money",
        "it saves money.",
        "It saves money and a.",
        "See https://example.org for more.",
        'He said "no" again.',
        "It saves money.1.6.2 The next benefit is time.",
        "It saves\nmoney.",
        "It saves money. It saves time.",
    ],
)
def test_fragments_addresses_and_a_second_sentence_cannot(text: str) -> None:
    assert not pattern_for(160).match(text)


@given(st.integers(40, 5000))
def test_longer_text_may_have_more_sentences_up_to_six(longest: int) -> None:
    pattern = pattern_for(longest)
    fitting = [count for count in range(1, 10) if pattern.match(" ".join(["It saves money."] * count))]
    assert fitting == list(range(1, max(fitting) + 1))
    assert 1 <= max(fitting) <= 6
    assert max(fitting) >= min(6, longest // 200)


@pytest.mark.parametrize("key", ["question", "questions", "unresolved_questions"])
def test_what_stands_under_a_question_is_a_question(key: str) -> None:
    several = {"type": "array", "items": {"type": "string", "minLength": 8, "maxLength": 200}}
    shape = shaped({"type": "object", "properties": {key: several}}, sentences=True)
    pattern = re.compile(shape["properties"][key]["items"]["pattern"])
    assert pattern.match("Who will pay for the tools of a small team?")
    assert not pattern.match("The tools of a small team cost money.")
    assert not pattern.match("What is the weakness of this statement?")


def test_short_labels_fixed_words_and_long_minimums_left_alone() -> None:
    """Short labels fixed words and long minimums are left alone."""
    parts = {
        "label": {"type": "string", "maxLength": 20},
        "pick": {"type": "string", "enum": ["pro", "con"]},
        "ask": {"type": "string", "pattern": "^What .*[?]$", "maxLength": 200},
        "long": {"type": "string", "minLength": 300, "maxLength": 400},
    }
    assert shaped({"type": "object", "properties": parts}, sentences=True)["properties"] == parts
