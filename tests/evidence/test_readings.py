"""A value cited by a JSON pointer is compared with what stands there: numbers as numbers, with their unit."""

from __future__ import annotations

import json
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from disputatio.evidence.citations import Reading, check_citation
from disputatio.evidence.findings import Match, Reason, Status
from disputatio.evidence.json_text import Missing, resolve_pointer
from disputatio.evidence.pointers import Tolerance
from disputatio.evidence.source_files import read_source
from disputatio.evidence.sources import Source, SourceSet
from disputatio.motion.motion import SourceKind
from strategies import examples

MARKET = """{"spx": {"price": 3841.25, "change_pct": -1.25, "latency_ms": 12, "zero": 0, "tiny": 0.04, "none": null,
 "open": true, "took": "3.8 h", "volume": 1234567, "name": "S&P 500", "on": "2020-05-01",
 "size": {"value": 7, "unit": "h"},
 "power": "5 mW", "list": [1, 2.50]}, "": "empty key", "a/b": 1, "m~n": 8, " ": 7, "c%d": 2, "k\\"l": 6}"""
SOURCES = SourceSet([read_source(MARKET, "market.json"), read_source("Words.", "words.txt")])


def checked(pointer: str, value: object, tolerance: Tolerance | None = None):
    citation = Reading("market", pointer, value)  # type: ignore[arg-type]
    return check_citation(SOURCES, citation, tolerance) if tolerance else check_citation(SOURCES, citation)


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/spx/price", 3841.25),
        ("/spx/price", "3,841.25"),
        ("/spx/price", Decimal("3841.3")),
        ("/spx/price", 3841),
        ("/spx/change_pct", -1.25),
        ("/spx/change_pct", "-1.25 %"),
        ("/spx/change_pct", "−1.25%"),
        ("/spx/change_pct", "-1.25 percent"),
        ("/spx/latency_ms", "12 ms"),
        ("/spx/zero", 0),
        ("/spx/zero", "0.0"),
        ("/spx/none", None),
        ("/spx/open", True),
        ("/spx/open", "true"),
        ("/spx/took", "3.8 h"),
        ("/spx/took", "3.8 hours"),
        ("/spx/volume", "1.2 million"),
        ("/spx/volume", "1,234,567"),
        ("/spx/name", "s&p 500"),
        ("/spx/on", "2020-05-01"),
        ("/spx/size/value", "7 h"),
        ("/spx/size/value", 7),
        ("/spx/list/1", 2.5),
    ],
)
def test_a_faithful_value_is_verified_and_its_place_given(pointer: str, value: object) -> None:
    found = checked(pointer, value)
    assert found.status is Status.VERIFIED, found
    source = SOURCES.find("market")
    assert source is not None
    assert source.text[found.start : found.end] == found.words != ""
    assert found.passage_id == "market#1"


@pytest.mark.parametrize(
    ("pointer", "value", "reason"),
    [
        ("/spx/price", 3814.25, Reason.NUMBER_DIFFERS),
        ("/spx/price", -3841.25, Reason.NUMBER_DIFFERS),
        ("/spx/price", "3841.25 USD", Reason.NUMBER_DIFFERS),
        ("/spx/price", "$3841.25", Reason.NUMBER_DIFFERS),
        ("/spx/price", "about 3841.25", Reason.NUMBER_DIFFERS),
        ("/spx/price", "more than 3841.25", Reason.NUMBER_DIFFERS),
        ("/spx/price", 38.4125, Reason.NUMBER_DIFFERS),
        ("/spx/price", float("nan"), Reason.NUMBER_DIFFERS),
        ("/spx/price", float("inf"), Reason.NUMBER_DIFFERS),
        ("/spx/price", None, Reason.NUMBER_DIFFERS),
        ("/spx/price", True, Reason.NUMBER_DIFFERS),
        ("/spx/change_pct", 1.25, Reason.NUMBER_DIFFERS),
        ("/spx/change_pct", "-1.25 h", Reason.NUMBER_DIFFERS),
        ("/spx/latency_ms", "12 s", Reason.NUMBER_DIFFERS),
        ("/spx/zero", None, Reason.NUMBER_DIFFERS),
        ("/spx/tiny", 0, Reason.NUMBER_DIFFERS),
        ("/spx/none", 0, Reason.VALUE_DIFFERS),
        ("/spx/none", "", Reason.VALUE_DIFFERS),
        ("/spx/open", False, Reason.VALUE_DIFFERS),
        ("/spx/open", 1, Reason.VALUE_DIFFERS),
        ("/spx/took", 3.8, Reason.NUMBER_DIFFERS),
        ("/spx/took", "8.3 h", Reason.NUMBER_DIFFERS),
        ("/spx/took", "3.8 s", Reason.NUMBER_DIFFERS),
        ("/spx/power", "5 MW", Reason.NUMBER_DIFFERS),
        ("/spx/volume", "1.3 million", Reason.NUMBER_DIFFERS),
        ("/spx/volume", 1234568, Reason.NUMBER_DIFFERS),
        ("/spx/name", "S&P 600", Reason.VALUE_DIFFERS),
        ("/spx/on", "2020-05-02", Reason.VALUE_DIFFERS),
        ("/spx/size", 7, Reason.VALUE_DIFFERS),
        ("/spx/list", "[1, 2.5]", Reason.VALUE_DIFFERS),
        ("", 1, Reason.VALUE_DIFFERS),
        ("/spx/list/2", 1, Reason.NO_SUCH_VALUE),
        ("/spx/list/01", 2.5, Reason.NO_SUCH_VALUE),
        ("/spx/list/-", 2.5, Reason.NO_SUCH_VALUE),
        ("/spx/nothing", 1, Reason.NO_SUCH_VALUE),
        ("/spx/price/x", 1, Reason.NO_SUCH_VALUE),
        ("spx/price", 3841.25, Reason.NO_SUCH_VALUE),
        ("/spx/~2", 1, Reason.NO_SUCH_VALUE),
    ],
)
def test_another_value_is_unverified_with_its_reason(pointer: str, value: object, reason: Reason) -> None:
    found = checked(pointer, value)
    assert (found.status, found.match, found.reason) == (Status.UNVERIFIED, Match.NONE, reason)
    assert found.detail


def test_the_detail_says_both_values() -> None:
    assert checked("/spx/took", "8.3 h").detail == "the source says 3.8 h, the citation 8.3 h"
    assert checked("/spx/change_pct", "1.25 %").detail == "the source says -1.25 (%), the citation 1.25 %"
    assert checked("/spx/none", 0).detail == "the source says null, the citation 0"


def test_what_a_model_wrote_is_shown_without_control_characters() -> None:
    for found in (checked("/spx/price", "\x1b[31m9\n\u202e"), checked("/\x1b[31m\n\u202e", 1)):
        assert found.detail.isprintable()


def test_a_pointer_into_a_text_is_told_so() -> None:
    found = check_citation(SOURCES, Reading("words", "/a", 1))
    assert found.reason is Reason.NO_SUCH_VALUE
    assert found.detail == "the source words is no JSON, so nothing in it has a pointer"


def test_a_stated_tolerance_widens_and_says_so() -> None:
    wide = Tolerance(relative=Decimal("0.01"))
    assert str(wide) == "rounded to the digits given or within 1 %"
    assert checked("/spx/price", 3850, wide).status is Status.VERIFIED
    assert checked("/spx/price", 3900, wide).status is Status.UNVERIFIED
    assert checked("/spx/price", 3850).status is Status.UNVERIFIED
    assert checked("/spx/tiny", "0.05", Tolerance(absolute=Decimal("0.01"))).status is Status.VERIFIED


@given(st.decimals(-(10**9), 10**9, places=6), st.integers(0, 6))
@examples(40)
def test_a_number_may_be_cited_rounded_to_any_digits(number: Decimal, places: int) -> None:
    """Against the rounding of the decimal module, both ways of rounding halves."""
    sources = SourceSet([read_source(json.dumps({"x": "N"}).replace('"N"', f"{number:f}"), "n.json")])
    step = Decimal(1).scaleb(-places)
    for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN):
        rounded = number.quantize(step, rounding)
        assume(rounded != 0 or number == 0)
        assert check_citation(sources, Reading("n", "/x", rounded)).status is Status.VERIFIED
        for wrong in (rounded + step, rounded - step):
            if abs(wrong - number) > step / 2:
                assert check_citation(sources, Reading("n", "/x", wrong)).status is Status.UNVERIFIED


# The examples of RFC 6901, section 5.
RFC = r"""{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3,
 "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}"""


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", json.loads(RFC)),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/e^f", 3),
        ("/g|h", 4),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
    ],
)
def test_pointers_resolve_as_the_standard_says(pointer: str, value: object) -> None:
    assert resolve_pointer(json.loads(RFC), pointer) == value


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**12), 10**12), st.text('abc/~ é"\\', max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("ab/~ 0", max_size=3), inner, max_size=4)
    ),
    max_leaves=15,
)


@given(json_values)
@examples(30)
def test_the_place_of_every_pointer_holds_its_value(value: object) -> None:
    source = read_source(json.dumps({"top": value}), "a.json")
    assert json.loads(source.text) == {"top": value}
    again = Source.of(source.as_evidence(), SourceKind.JSON)
    assert (again, again.places) == (source, source.places)
    for pointer, span in source.places.items():
        there = resolve_pointer({"top": value}, pointer)  # type: ignore[dict-item]
        assert not isinstance(there, Missing)
        assert json.loads(source.text[span.start : span.end]) == there
