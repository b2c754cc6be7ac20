"""Tools for seats: exact arithmetic, search and reading; a mistake is an answer, never an exception."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.evidence.calculator import calculate
from disputatio.evidence.retrieval import Retriever
from disputatio.evidence.sources import Source, SourceSet
from disputatio.tools.builtin import (
    TOOLS,
    FoundPassage,
    SearchResult,
    ToolError,
    call_tool,
    read_passage,
    search_sources,
)
from strategies import examples


@pytest.mark.parametrize(
    ("expression", "value", "exact"),
    [
        ("1 + 2 * 3", "7", True),
        ("(1 + 2) * 3", "9", True),
        ("0.1 + 0.2", "0.3", True),
        ("1 / 3", "0.333333333333333", False),
        ("2 ** 10", "1024", True),
        ("2 ** -1", "0.5", True),
        ("2 ** 3 ** 2", "512", True),
        ("-2 ** 2", "-4", True),
        ("2^3", "8", True),
        ("6 × 7 ÷ 2 − 1", "20", True),
        ("7 % 3", "1", True),
        ("-7 % 3", "2", True),
        ("15 % * 200", "30", True),
        ("50 % - 3", "-2.5", True),
        ("200 * (1 + 15%)", "230", True),
        ("min(3, 1, 2) + max(4, 5)", "6", True),
        ("mean(1, 2, 4)", "2.33333333333333", False),
        ("sum(1, 2.5)", "3.5", True),
        ("round(2.5)", "3", True),
        ("round(-2.345, 2)", "-2.35", True),
        ("round(1234, -2)", "1200", True),
        ("sqrt(16 / 9)", "1.33333333333333", False),
        ("sqrt(2.25)", "1.5", True),
        ("sqrt(2)", "1.4142135623731", False),
        ("2 ** 0.5", "1.4142135623731", False),
        ("percent_change(0.7, 3.8)", "442.857142857143", False),
        ("percent_change(200, 150)", "-25", True),
        ("1e3 + .5", "1000.5", True),
        ("0 * 5", "0", True),
        ("10 ** 300", "1E+300", True),
    ],
)
def test_arithmetic_comes_out_exact_or_says_that_it_is_rounded(expression: str, value: str, *, exact: bool) -> None:
    result = calculate(expression)
    assert (result.value, result.exact, result.error) == (value, exact, "")


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("", "the expression ends where a number is expected"),
        ("1 +", "the expression ends where a number is expected"),
        ("(1", "a parenthesis is not closed"),
        ("1 2", "'2' is not expected here"),
        ("1 / 0", "a division by zero has no value"),
        ("1 % (2 - 2)", "a division by zero has no value"),
        ("0 ** -1", "zero has no negative power"),
        ("sqrt(-1)", "a negative number has no square root here"),
        ("(-8) ** 0.5", "a negative number has no fractional power here"),
        ("999 ** 999", "the value is too large"),
        ("9 ** 9 ** 9", "a power may be 1000 at most"),
        ("2 ** 1001", "a power may be 1000 at most"),
        ("1,000 + 1", "write 1000 for 1,000, and a space behind commas"),
        ("percent_change(0, 5)", "a change in per cent is measured from a number above zero"),
        ("sqrt(1, 2)", "sqrt takes 1 number, not 2"),
        ("max()", "')' stands where a number is expected"),
        ("max", "max is followed by its numbers in parentheses"),
        ("abs(1)", "there is no 'abs'; there are: max, mean, min, percent_change, round, sqrt, sum"),
        ("__import__('os')", "''' cannot be computed with"),
        ("(1).real", "'.' cannot be computed with"),
        ("x", "there is no 'x'; there are: max, mean, min, percent_change, round, sqrt, sum"),
        ("(" * 60 + "1" + ")" * 60, "there are more than 50 parentheses in each other"),
        ("2**" * 60 + "1", "there are more than 50 powers of powers"),
        ("1" * 501, "the expression has 501 characters, and 500 are the most"),
        ("round(1, 0.5)", "round takes a whole number of digits from -30 to 30"),
        ("True", "'T' cannot be computed with"),
    ],
)
def test_a_mistake_in_an_expression_is_answered_with_its_reason(expression: str, error: str) -> None:
    result = calculate(expression)
    assert (result.value, result.error) == ("", error)


operands = st.one_of(st.integers(0, 999).map(str), st.decimals(0, 99, places=2).map(str))
expressions = st.recursive(
    operands,
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from("+-*/"), inner),
        inner.map("({})".format),
        inner.map("-{}".format),
    ),
    max_leaves=12,
)


@given(expressions)
@examples(40)
def test_arithmetic_agrees_with_exact_fractions(expression: str) -> None:
    """The oracle is Python's own reading of the expression over ``Fraction``."""
    import re

    over_fractions = re.sub(r"\d+(?:\.\d+)?", lambda number: f"Fraction('{number.group()}')", expression)
    try:
        expected = eval(over_fractions, {"Fraction": Fraction})  # noqa: S307  (an expression this test built)
    except ZeroDivisionError:
        assert calculate(expression).error == "a division by zero has no value"
        return
    result = calculate(expression)
    if len(expression) <= 500 and not result.error:
        assert result.exact == (Fraction(result.value) == expected)
        assert abs(Fraction(result.value) - expected) <= abs(expected) / 10**14


@given(st.text(max_size=80) | st.text("0123456789+-*/%(). ,esqrtmax^", max_size=80))
@examples(100)
def test_any_text_is_computed_or_refused(expression: str) -> None:
    result = calculate(expression)
    assert bool(result.error) != bool(result.value)
    json.dumps(result.as_json())


# --- the other tools --------------------------------------------------------------------------------------------------

TEXT = "\n\n".join(f"Chapter {n} speaks of topic{n} at length. {'It goes on and on. ' * 30}" for n in range(1, 5))
RETRIEVER = Retriever(SourceSet([Source("book", "A book", TEXT)]))


def test_search_gives_passages_that_can_be_read() -> None:
    result = search_sources(RETRIEVER, "topic3", 2)
    assert isinstance(result, SearchResult)
    found = read_passage(RETRIEVER, result.passages[0].passage_id)
    assert isinstance(found, FoundPassage)
    assert "topic3" in found.text == result.passages[0].text
    assert (found.before, found.after) == ("book#2", "book#4")


def test_neighbours_end_where_the_source_ends() -> None:
    first, last = (read_passage(RETRIEVER, f"book#{n}") for n in (1, len(RETRIEVER.sources.passages)))
    assert isinstance(first, FoundPassage)
    assert isinstance(last, FoundPassage)
    assert (first.before, last.after) == ("", "")


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("read_passage", {"passage_id": "book#99"}, "book has the passages book#1 to book#4"),
        ("read_passage", {"passage_id": "none#1"}, "there is no passage 'none#1'; sources are: book"),
        ("read_passage", {"passage_id": 3}, "read_passage takes passage_id of the right kind"),
        ("search_sources", {"query": "", "k": 3}, "a query has 1 to 1000 characters"),
        ("search_sources", {"query": "a", "k": 50}, "k is a number from 1 to 10"),
        ("search_sources", {"query": "a", "k": True}, "search_sources takes query, k of the right kind"),
        ("search_sources", {}, "search_sources takes query, k of the right kind"),
        ("calculate", {}, "calculate takes expression of the right kind"),
        (
            "run_shell",
            {"command": "ls"},
            "there is no tool 'run_shell'; there are: search_sources, read_passage, calculate",
        ),
    ],
)
def test_a_call_that_cannot_be_answered_says_why(name: str, arguments: dict[str, object], error: str) -> None:
    assert call_tool(RETRIEVER, name, arguments) == {"error": error}


def test_every_tool_answers_a_call_by_its_description() -> None:
    """Every tool answers a call by its description with the same json each time."""
    arguments = {
        "search_sources": {"query": "topic2", "k": 1},
        "read_passage": {"passage_id": "book#2"},
        "calculate": {"expression": "1 + 1"},
    }
    assert set(arguments) == {tool.name for tool in TOOLS}
    for tool in TOOLS:
        assert set(arguments[tool.name]) == set(tool.parameters["required"])  # type: ignore[arg-type]
        answer = call_tool(RETRIEVER, tool.name, arguments[tool.name])
        assert "error" not in answer
        again = call_tool(Retriever(SourceSet([Source("book", "A book", TEXT)])), tool.name, arguments[tool.name])
        assert json.dumps(answer) == json.dumps(again)
    assert isinstance(search_sources(RETRIEVER, " ", 1), ToolError)
