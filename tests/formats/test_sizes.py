"""What is asked fits the limit that is sent, in every format and phase, and prompts say how long texts may be."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio._cli.arguments import make_arguments
from disputatio.config import resolve
from disputatio.config.process import format_scope
from disputatio.engine.opening import make_rules
from disputatio.formats.registry import FORMATS
from disputatio.formats.turns import schema as shapes
from disputatio.formats.turns.cross_examination import ClosingSpec, Question
from disputatio.formats.turns.monologue import MonologueSpec
from disputatio.formats.turns.opening import Argument, OpeningSpec
from disputatio.formats.turns.schema import (
    CHARACTERS_PER_TOKEN,
    CHARACTERS_PER_WORD,
    MOST_TOKENS,
    bound_schema,
    describe_lengths,
    fit_limits,
    tokens_needed,
)
from disputatio.kernel import Ask, Limits, Phase, Seat, Task
from disputatio.motion import Motion
from disputatio.prompts import PromptBook, PromptContext, compose
from disputatio.testing.instances import instance
from strategies import Debate, debates, examples

BOOK = PromptBook()


def longest(schema: Mapping[str, Any]) -> Any:
    """The longest answer that is valid under ``schema``, as the forms of this package write schemas."""
    if "enum" in schema:
        return max(schema["enum"], key=lambda word: len(str(word)))
    match schema["type"]:
        case "object":
            return {key: longest(inner) for key, inner in schema["properties"].items()}
        case "array":
            return [longest(schema["items"]) for _ in range(schema["maxItems"])]
        case "string":
            return "w" * schema["maxLength"]
        case "integer":
            return schema["maximum"]
    return 0.1234


def size(schema: Mapping[str, Any]) -> int:
    """The characters of the longest answer, as JSON with a blank after each colon and comma."""
    return len(json.dumps(longest(schema)))


@examples(10)
@given(debates())
def test_the_longest_legal_answer_fits_every_limit(debate: Debate) -> None:
    for asked in debate.held().asks.values():
        found = fit_limits(asked.spec.schema, asked.limits)
        assert size(found.schema) <= found.tokens * CHARACTERS_PER_TOKEN
        assert found.note == ""
        assert asked.limits.max_tokens <= found.tokens <= max(MOST_TOKENS, asked.limits.max_tokens)
        assert found.usual in (None, asked.limits.max_tokens)


@examples(10)
@given(debates(), st.integers(40, 3_000))
def test_a_limit_that_a_user_set_stays_and_bounds_the_texts(debate: Debate, tokens: int) -> None:
    for asked in debate.held().asks.values():
        found = fit_limits(asked.spec.schema, Limits(tokens, fixed=True))
        assert (found.tokens, found.usual) == (tokens, None)
        if found.note:
            needed = int(re.findall(r"[\d,]+", found.note)[-1].replace(",", ""))
            assert found.note.startswith(f"max_tokens is set to {tokens:,} here")
            assert needed == tokens_needed(found.schema) > tokens
        else:
            assert size(found.schema) <= tokens * CHARACTERS_PER_TOKEN
        # What the bounded form allows, the form allows.
        answer = instance(found.schema, str(tokens))
        assert jsonschema_rs.is_valid(dict(asked.spec.schema), answer)


@examples(10)
@given(debates())
def test_every_part_fits_its_limit_or_is_given_what_it_needs(debate: Debate) -> None:
    for asked in debate.held().asks.values():
        done: tuple[Any, ...] = ()
        while (part := asked.spec.next_part(done)) is not None:
            found = fit_limits(part.schema, Limits(part.max_tokens))
            assert found.schema is part.schema, "the texts of small models are measured, and stay as they are"
            assert size(part.schema) <= found.tokens * CHARACTERS_PER_TOKEN
            done = (*done, instance(part.schema, part.label))


def argument(number: int) -> Argument:
    return Argument(f"PRO-{number}", "A claim.", "A reason.", "A fact.")


def test_openings_of_three_to_five_arguments_fit_2000_tokens() -> None:
    form = OpeningSpec("PRO")
    assert fit_limits(form.schema, FORMATS["structured"].rules().opening).tokens == 2_000
    assert size(form.schema) <= 8_000
    assert fit_limits(OpeningSpec("PRO", 6, 12).schema, FORMATS["structured"].rules().opening).tokens > 4_000


def test_a_closing_grows_with_the_questions_that_it_answers() -> None:
    own = tuple(argument(number) for number in range(1, 4))
    limits = FORMATS["structured"].rules().closing
    found = []
    for count in (0, 4, 8, 15):
        questions = tuple(Question(f"PRO-1.Q{number}", "Why?") for number in range(1, count + 1))
        found.append(fit_limits(ClosingSpec(own, questions, ()).schema, limits).tokens)
    assert found[0] == limits.max_tokens == 600
    assert found == sorted(set(found))
    # Eight answers of forty words each have two and a half tokens a word and more.
    assert found[2] - found[0] >= 8 * 40 * 2.5


@pytest.mark.parametrize("tokens", [300, 1_000, 1_900])
def test_longer_texts_give_way_before_shorter_ones(tokens: int) -> None:
    whole, short = OpeningSpec("PRO").schema, bound_schema(OpeningSpec("PRO").schema, tokens)

    def bounds(schema: Mapping[str, Any]) -> list[int]:
        rows = schema["properties"]["arguments"]["items"]["properties"]
        return [rows[name]["maxLength"] for name in ("claim", "reasoning", "evidence")]

    before, after = bounds(whole), bounds(short)
    assert all(now <= then for now, then in zip(after, before, strict=True))
    cap = max(after)
    assert all(now in (then, cap) for now, then in zip(after, before, strict=True))


def test_lengths_name_the_texts_and_no_ids_codes_or_short_words() -> None:
    form = ClosingSpec((argument(1), argument(2)), (Question("PRO-1.Q1", "Why?"),), (argument(3),))
    assert (
        describe_lengths(form.schema)
        == "answers 40 words; concessions 30 words; because 30 words; final_position 80 words"
    )
    assert describe_lengths(shapes.record({"basis": shapes.text(0, 600), "unit": shapes.text(0, 60)})) == ""
    assert describe_lengths(shapes.record({"words": shapes.prose(2, 15)})) == "exact words 15 words"


def test_every_length_that_is_said_is_one_that_the_schema_takes() -> None:
    for words in (12, 15, 33, 57, 145, 640):
        said = describe_lengths(shapes.record({"reason": shapes.prose(2, words)}))
        number = int(said.split()[1])
        assert words - 50 < number <= words
        assert number * CHARACTERS_PER_WORD <= words * CHARACTERS_PER_WORD


def prompt_of(form: Any, limits: Limits, *, says_lengths: bool = True) -> str:
    task = Task("monologue", {"side": "PRO", "stance": "for", "round": "1", "rounds": "1", "limit": "9"})
    asked = Ask(Seat("pro"), Phase("round-1"), form, task, limits=limits)
    setting = PromptContext("freeform", Motion("Is it so?"), says_lengths=says_lengths)
    return compose(BOOK, setting, asked)[-1].text


def test_prompts_state_text_lengths_within_the_users_limit() -> None:
    form = OpeningSpec("PRO")
    assert prompt_of(form, Limits()).endswith(
        "Length, each at most: claim 25 words; reasoning 80 words; evidence 40 words. Use no more words than it takes."
    )
    assert "claim 25 words; reasoning 30 words; evidence 30 words" in prompt_of(form, Limits(1_300, fixed=True))
    # The prompt of a speech has its limit already, and debates from before go on without.
    assert "Length" not in prompt_of(MonologueSpec(9), Limits())
    assert "Length" not in prompt_of(form, Limits(), says_lengths=False)


def test_a_users_limit_is_marked_as_one() -> None:
    form = FORMATS["structured"]
    settings = resolve(
        format_name=form.name,
        seats=tuple(form.seats),
        environ={},
        directory=Path("/nonexistent"),
        arguments=make_arguments(set=("limits.max_tokens.closing=900",)),
        options=format_scope(form),
    )
    rules = make_rules(form, settings)
    assert (rules.closing.max_tokens, rules.closing.fixed) == (900, True)
    assert (rules.judging.max_tokens, rules.judging.fixed) == (3_000, False)
