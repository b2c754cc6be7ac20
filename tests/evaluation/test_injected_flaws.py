"""Planted flaws are where they are said to be, one to a twin, the same for the same seed."""

from __future__ import annotations

import json
import re

import pytest

from disputatio.errors import InvalidInputError
from disputatio.evaluation.cases import SIDES, load_packaged_cases, read_cases
from disputatio.evaluation.injected_flaws import (
    DROPPED,
    FABRICATED,
    FLAWS,
    MISQUOTED,
    Variant,
    find_quotations,
    inject_flaw,
    keep_unchanged,
    pad_side,
    swap_sides,
)
from disputatio.formats.turns.opening import OpeningSpec

CASES = load_packaged_cases()
SEEDS = range(5)


def everything(body):
    """Every text of a case with the place it stands in."""
    return {
        (side, key, place, name): value
        for side in SIDES
        for key in ("arguments", "responses", "defences")
        for place, row in enumerate(body[side][key])
        for name, value in row.items()
    }


def test_there_are_a_dozen_cases_on_different_motions():
    assert len(CASES) == 12
    assert len({case.motion for case in CASES}) == 12


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_quotation_of_a_case_stands_in_its_sources(case):
    texts = " ".join(source["text"] for source in case.body["sources"])
    quoted = [
        words
        for side in SIDES
        for row in case.body[side]["arguments"]
        for words in re.findall(r'"([^"]+)"', row["evidence"])
    ]
    assert quoted
    assert [words for words in quoted if words not in texts] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_no_case_names_an_argument_by_number(case):
    assert not re.search(r"\b(?:PRO|CON)\b", json.dumps(case.body))
    for side in SIDES:
        form = OpeningSpec(side.upper(), 1)
        assert form.violations(form.read({"arguments": [dict(row) for row in case.body[side]["arguments"]]})) == ()


@pytest.mark.parametrize("kind", FLAWS)
def test_a_flaw_changes_one_argument_and_nothing_else(kind):
    for case in CASES:
        for seed in SEEDS:
            twin = inject_flaw(case, kind, seed)
            assert twin is not None
            assert twin.flaw is not None
            before, after = everything(case.body), everything(twin.debate.body)
            changed = {place for place in before if before[place] != after[place]}
            side, _, number = twin.flaw.argument.partition("-")
            assert {(row[0], row[2]) for row in changed} == {(side.lower(), int(number) - 1)}
            assert any(twin.flaw.words in after[place] for place in changed)
            assert not any(twin.flaw.words in text for text in before.values())


def test_a_flaw_depends_on_its_seed():
    first = [inject_flaw(case, kind, 3) for case in CASES for kind in FLAWS]
    assert first == [inject_flaw(case, kind, 3) for case in CASES for kind in FLAWS]
    assert len({inject_flaw(CASES[0], FLAWS[3], seed).flaw for seed in range(20)}) > 1


def test_fabricated_and_misquoted_words_are_in_no_source():
    for case in CASES:
        texts = " ".join(source["text"] for source in case.body["sources"])
        for seed in SEEDS:
            assert inject_flaw(case, FABRICATED, seed).flaw.mark not in re.findall(r"\d+", texts)
            false = inject_flaw(case, MISQUOTED, seed)
            assert false.flaw.words not in texts
            assert len(find_quotations(false.debate.body)) == len(find_quotations(case.body)) - 1


def test_swapping_sides_twice_changes_nothing():
    case = CASES[0]
    twin = swap_sides(case).debate
    assert twin.body["pro"] == case.body["con"]
    assert twin.motion == case.body["counter_motion"]
    assert swap_sides(twin).debate.body == case.body


def test_padding_adds_words_to_each_argument_of_one_side():
    for case in CASES:
        twin = pad_side(case, 0)
        other = "con" if twin.padded_side == "pro" else "pro"
        assert twin.debate.body[other] == case.body[other]
        for now, before in zip(
            twin.debate.body[twin.padded_side]["arguments"], case.body[twin.padded_side]["arguments"], strict=True
        ):
            assert now["reasoning"].startswith(before["reasoning"])
            assert len(now["reasoning"].split()) > len(before["reasoning"].split()) + 30


def test_a_case_without_sources_has_no_place_for_a_misquote():
    bare = type(CASES[0])("bare", {**CASES[0].body, "sources": []})
    assert inject_flaw(bare, FABRICATED, 0) is None
    assert inject_flaw(bare, MISQUOTED, 0) is None
    assert inject_flaw(bare, DROPPED, 0) is not None


def test_variants_of_one_debate_have_distinct_names():
    twins = [
        keep_unchanged(CASES[0]),
        swap_sides(CASES[0]),
        pad_side(CASES[0], 0),
        *(inject_flaw(CASES[0], kind, 0) for kind in FLAWS),
    ]
    assert len({twin.debate.speaker("pro", "x").name for twin in twins}) == len(twins)
    assert keep_unchanged(CASES[0], Variant.AGAIN).key != keep_unchanged(CASES[0]).key


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda body: body.pop("motion"), "motion"),
        (lambda body: body["pro"]["arguments"][0].update(claim="short"), "pro.arguments.0.claim"),
        (lambda body: body["con"]["responses"].pop(), "con.responses"),
        (lambda body: body["con"]["defences"].pop(), "con.defences"),
        (lambda body: body["pro"]["responses"][0].update(response="shrug"), "pro.responses.0.response"),
    ],
)
def test_a_case_that_is_not_of_the_form_is_refused_with_its_key(tmp_path, change, said):
    body = json.loads(json.dumps(CASES[0].body))
    change(body)
    file = tmp_path / "cases.json"
    file.write_text(json.dumps([CASES[1].body, body]))
    with pytest.raises(InvalidInputError) as refused:
        read_cases(file)
    assert said in refused.value.cause
    assert "case 2" in refused.value.cause


def test_broken_json_is_refused_with_its_line(tmp_path):
    file = tmp_path / "cases.json"
    file.write_text('[\n{"id": "a",\n nonsense}]')
    with pytest.raises(InvalidInputError, match="line 3"):
        read_cases(file)


def test_two_cases_of_one_name_are_refused(tmp_path):
    file = tmp_path / "cases.json"
    file.write_text(json.dumps([CASES[0].body, CASES[0].body]))
    with pytest.raises(InvalidInputError, match="two cases called"):
        read_cases(file)
