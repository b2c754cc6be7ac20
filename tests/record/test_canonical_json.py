"""Canonical JSON is the same for equal values, and nothing is lost on the way back."""

from __future__ import annotations

import hashlib
import json
import math
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from disputatio.record import canonical, digest, read_json
from strategies import any_texts, examples, json_values, texts


def shuffled(value: Any, draw: Random) -> Any:
    if isinstance(value, dict):
        rows = [(key, shuffled(inner, draw)) for key, inner in value.items()]
        draw.shuffle(rows)
        return dict(rows)
    return [shuffled(inner, draw) for inner in value] if isinstance(value, list) else value


@examples(50)
@given(json_values)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert read_json(canonical(value)) == value
    assert canonical(read_json(canonical(value))) == canonical(value)


@given(json_values, st.integers(0, 99))
def test_the_order_of_keys_does_not_show(value: Any, seed: int) -> None:
    assert canonical(shuffled(value, Random(seed))) == canonical(value)


@given(st.dictionaries(texts, st.integers(-5, 5)))
def test_keys_are_sorted_by_code_point_without_spaces(value: dict[str, int]) -> None:
    plain = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert json.loads(canonical(value)) == json.loads(plain)
    assert list(json.loads(canonical(value))) == sorted(value)


@given(
    st.dictionaries(st.text('abcäß中🙂"\\\n\x00\x7f', max_size=4), st.text('abcäß中🙂"\\\n\x00\x1f\x7f/'), max_size=4)
)
def test_strings_are_utf_8_without_needless_escapes(value: dict[str, str]) -> None:
    """The oracle is the standard library's encoder under the same rules."""
    assert canonical(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert "\n" not in canonical(value), "a line feed would blur the lines that are hashed"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nan_and_infinities_are_refused_wherever_they_hide(bad: float) -> None:
    for value in (bad, [bad], {"a": {"b": [1, bad]}}, {"a": None, "b": (bad,)}):
        with pytest.raises(ValueError, match=r"NaN|JSON"):
            canonical(value)


@pytest.mark.parametrize("bad", [{1, 2}, b"bytes", object(), {"a": object()}, 1j])
def test_what_is_no_json_is_a_type_error(bad: object) -> None:
    with pytest.raises(TypeError):
        canonical(bad)


@given(any_texts)
@example("raw \ud83d output")
def test_any_text_has_canonical_json_and_a_digest_in_utf_8(text: str) -> None:
    canonical([text]).encode()
    seen = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    assert digest(text) == hashlib.sha256(seen.encode()).hexdigest()
    assert read_json(canonical([text])) == [seen]


@given(texts, texts)
def test_texts_that_differ_have_digests_that_differ(one: str, other: str) -> None:
    assert (digest(one) == digest(other)) == (one == other)


@given(st.integers(-(10**30), 10**30))
def test_whole_numbers_are_written_out_at_any_size(number: int) -> None:
    assert canonical({"n": number}) == f'{{"n":{number}}}'
