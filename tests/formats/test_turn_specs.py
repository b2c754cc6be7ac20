"""What every form of every format keeps: strict schemas, parts that make a whole, reading that loses nothing."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.formats.registry import FORMATS
from disputatio.kernel import Ask, JsonObject, Part
from disputatio.market.knowledge import Section
from disputatio.testing.instances import instance
from strategies import Answers, Debate, debates, examples, objects_in, orders

MOST_PARTS = 60


def asks(debate: Debate) -> list[Ask]:
    return list(debate.held().asks.values())


def extreme(schema: Any, *, large: bool) -> Any:
    """The smallest or the largest instance of a schema of these forms."""
    if "enum" in schema:
        return schema["enum"][-1 if large else 0]
    match schema["type"]:
        case "object":
            return {name: extreme(inner, large=large) for name, inner in schema["properties"].items()}
        case "array":
            return [extreme(schema["items"], large=large)] * schema["maxItems" if large else "minItems"]
        case "integer" | "number":
            return schema["maximum" if large else "minimum"]
        case _:
            return extreme_text(schema, large=large)


def extreme_text(schema: Any, *, large: bool) -> str:
    """The shortest or longest text; a pattern of these forms is a beginning, a number of signs, and its last sign."""
    if "pattern" not in schema:
        return "x" * schema["maxLength" if large else "minLength"]
    kind = re.fullmatch(r"\^\(([^|)]+)[^)]*\) \[.*\]\{(\d+),\}\[([.?])\]\$", schema["pattern"])
    assert kind is not None, f"a pattern of another kind: {schema['pattern']}"
    beginning = kind[1] + " "
    signs = schema["maxLength"] - len(beginning) - 1 if large else int(kind[2])
    text = f"{beginning}{'x' * signs}{kind[3]}"
    assert re.search(schema["pattern"], text)
    assert len(text) <= schema["maxLength"]
    return text


def in_parts(spec: Any, answer: Any) -> tuple[list[Part], tuple[JsonObject, ...]]:
    """Ask for a form part by part, until it is whole."""
    parts: list[Part] = []
    done: tuple[JsonObject, ...] = ()
    while part := spec.next_part(done):
        assert len(parts) < MOST_PARTS, "asking in parts comes to an end"
        parts.append(part)
        done = (*done, answer(part, len(done)))
    assert spec.next_part(done) is None
    return parts, done


@examples(10)
@given(debates())
def test_every_schema_is_fit_for_strict_modes(debate: Debate) -> None:
    for asked in asks(debate):
        parts, _ = in_parts(asked.spec, lambda part, _number: extreme(part.schema, large=False))
        for schema in (asked.spec.schema, *(part.schema for part in parts)):
            jsonschema_rs.meta.validate(schema)
            assert schema["type"] == "object"
            for inner in objects_in(schema):
                assert inner["additionalProperties"] is False
                assert list(inner["required"]) == list(inner["properties"])
                assert inner["properties"], "a strict mode takes no empty object"


@examples(10)
@given(debates())
def test_names_of_forms_and_parts_are_fit_for_providers(debate: Debate) -> None:
    for asked in asks(debate):
        assert re.fullmatch(r"[a-zA-Z0-9_]{1,64}", asked.spec.name)
        parts, _ = in_parts(asked.spec, lambda part, _number: extreme(part.schema, large=True))
        labels = [part.label for part in parts]
        assert all(labels)
        assert len(set(labels)) == len(labels)
        assert all(part.max_tokens > 0 for part in parts)


@pytest.mark.parametrize("answer", ["smallest", "largest", "drawn", "mixed"])
@examples(10)
@given(debates(), orders)
def test_parts_that_are_valid_make_a_whole_that_is_valid(answer: str, debate: Debate, draw: Random) -> None:
    for asked in asks(debate):

        def part_answer(part: Part, number: int) -> Any:
            kind = draw.choice(["smallest", "largest", "drawn"]) if answer == "mixed" else answer
            if kind == "drawn":
                return instance(part.schema, f"{debate.answers.seed} {part.label}")
            return extreme(part.schema, large=kind == "largest")

        parts, done = in_parts(asked.spec, part_answer)
        content = asked.spec.join(done)
        jsonschema_rs.validate(dict(asked.spec.schema), content)
        turn = asked.spec.read(content)
        assert turn.text()
        labels = {part.label for part in parts}
        for violation in asked.spec.violations(turn):
            assert violation.part == "" or violation.part in labels, "what is at fault is a piece that can be asked"


@examples(10)
@given(debates(), st.booleans())
def test_the_smallest_and_largest_answers_can_be_read(debate: Debate, large: bool) -> None:
    for asked in asks(debate):
        content = extreme(asked.spec.schema, large=large)
        jsonschema_rs.validate(dict(asked.spec.schema), content)
        assert asked.spec.read(content).text()


def shuffled(value: Any, draw: Random) -> Any:
    """The same JSON with the keys of its objects in another order."""
    if isinstance(value, dict):
        rows = [(key, shuffled(inner, draw)) for key, inner in value.items()]
        draw.shuffle(rows)
        return dict(rows)
    return [shuffled(inner, draw) for inner in value] if isinstance(value, list) else value


@examples(10)
@given(debates(), orders)
def test_the_order_of_keys_in_an_answer_means_nothing(debate: Debate, draw: Random) -> None:
    held = debate.held()
    for path, asked in held.asks.items():
        content = debate.answers.content(path, asked)
        if content is not None:
            assert asked.spec.read(shuffled(content, draw)) == asked.spec.read(content)


@examples(5)
@given(debates())
def test_the_text_of_a_turn_holds_every_sentence_of_its_content(debate: Debate) -> None:
    held = debate.held()
    for path, asked in held.asks.items():
        content = debate.answers.content(path, asked)
        if content is not None:
            text = held.answers[path].text()  # type: ignore[union-attr]
            assert [row for row in strings(content) if row not in text and row not in LISTED] == []


# Words of a market figure that its text does not repeat: a share is shown as one, and the module begins its pointer.
FIGURES = {"label", "share", *(section.value for section in Section)}
LISTED = FIGURES | {
    "owner",
    "opponent",
    "straw_man",
    "appeal_to_authority",
    "slippery_slope",
    "false_dilemma",
    "anecdotal_evidence",
    "circular_reasoning",
    "ad_hominem",
    "tail_risk",
    "misread_evidence",
    "hidden_assumption",
    "harm_if_true",
    "resolved_for_proposition",
    "resolved_for_critique",
    "counter_question",
    "not_direct_answer",
    "attacker_answered",
    "off_topic",
    "scripted_summary",
    "personal_attack",
}
"""Shown without their underscores."""


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in strings(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in strings(inner)]
    return [value] if isinstance(value, str) else []


def test_every_form_of_both_formats_is_met_by_these_tests() -> None:
    names = set()
    for name, spec in FORMATS.items():
        held = Debate(name, spec.rules(), Answers("all")).held()
        names |= {asked.spec.name for asked in held.asks.values()}
    assert names == {"opening", "cross_examination", "closing", "adjudication", "monologue", "summing", "position"} | {
        "framing",
        "proposition",
        "criticism",
        "rebuttal",
        "moderation",
        *("speech", "questions", "direction", "scoring", "summation"),
        *("market_opening", "market_examination", "market_closing", "market_judging"),
    }
