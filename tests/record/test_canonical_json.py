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

from disputatio.record.text import canonical, digest, json_reader, read_json
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
    beside = ({"a": None, "b": (bad,)}, {"a": "null", "b": None, "c": bad}, {"a": None, "b": {"c": None}, "d": [bad]})
    beside += ({"a": None, "b": {"c": None, "d": bad}}, {"a": {"b": {"c": None}}, "d": bad})
    for value in (bad, [bad], {"a": {"b": [1, bad]}}, *beside):
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


finite = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.integers(-(2**70), 2**70) | st.integers(2**63 - 2, 2**64 + 2) | finite
hashes = st.text("0123456789e", min_size=18, max_size=22)
bodies_of = st.lists(
    numbers | hashes | st.dictionaries(hashes, numbers, max_size=2) | st.lists(numbers, max_size=2), max_size=3
)


@examples(60)
@given(bodies_of)
def test_many_texts_are_read_as_the_standard_library_reads_each(values: list[Any]) -> None:
    bodies = [json.dumps(value, separators=(",", ":"), ensure_ascii=False) for value in values]
    read = json_reader(bodies)
    for body in bodies:
        # As text, because 1 and 1.0 are equal and not the same.
        assert repr(read(body)) == repr(read_json(body)) == repr(json.loads(body))


@pytest.mark.parametrize(
    "text", ["18446744073709551616", "-9223372036854775809", "[1,18446744073709551616]", '{"a":-1e0}']
)
def test_a_long_number_is_found_among_other_texts(text: str) -> None:
    """A long number is found wherever it stands among other texts."""
    for bodies in ([text], ["{}", text], [text, '"abc"'], ['"x"', text, "1"]):
        assert repr(json_reader(bodies)(text)) == repr(json.loads(text))


@given(any_texts)
def test_a_text_that_utf_8_cannot_hold(text: str) -> None:
    """A text that utf 8 cannot hold is read alike among others."""
    body = '"' + text.replace("\\", "").replace('"', "").translate(dict.fromkeys(range(32))) + '"'
    assert json_reader(["{}", body])(body) == read_json(body)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "{", '{"a":1,}', "", "01", "'a'"])
def test_what_is_no_json_is_refused_one_by_one_and_among_others(text: str) -> None:
    for read in (read_json, json_reader([text]), json_reader(["{}", text])):
        with pytest.raises(ValueError):  # noqa: PT011  (the reader's own words)
            read(text)
