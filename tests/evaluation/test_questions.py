"""Questions are read or refused by their line, and golden sets are whole, labelled and sourced."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files

import pytest

from disputatio.errors import InvalidInputError
from disputatio.evaluation.questions.golden import FEWEST, GOLDEN, PACKAGED, golden_set
from disputatio.evaluation.questions.items import Kind, read_questions


def written(path, *rows):
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def test_every_kind_is_read_from_jsonl(tmp_path):
    path = written(
        tmp_path / "q.jsonl",
        {"question": "Which?", "options": {"x": "red", "y": "blue"}, "answer": "Y", "id": "one"},
        {"question": "Is it?", "answer": True, "context": "A text."},
        {"question": "How many?", "answer": "1,000", "tolerance": 5},
        {"question": "Why?", "answer_a": "So.", "answer_b": "Thus.", "answer": "tie"},
    )
    items = read_questions(path).items
    assert [row.kind for row in items] == [Kind.CHOICE, Kind.YES_NO, Kind.NUMBER, Kind.PAIRWISE]
    assert [row.known for row in items] == ["y", "yes", "1000", "tie"]
    assert [row.id for row in items] == ["one", "2", "3", "4"]
    assert [source.text for source in items[3].sources] == ["So.", "Thus."]
    assert items[1].sources[0].source_id == "context"


def test_the_same_from_csv_with_columns_for_options(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("id,question,A,B,C,answer\n7,Which?,red,blue,,blue\n8,Is it?,,,,no\n", "utf-8")
    first, second = read_questions(path).items
    assert (first.known, first.labels, second.kind, second.id) == ("B", ("A", "B"), Kind.YES_NO, "8")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"question": "Is it?"}, "line 1 has no answer"),
        ({"answer": "yes"}, "line 1 has no question"),
        ({"question": "Is it?", "answer": "maybe"}, "line 1 needs options, or an answer"),
        ({"question": "Is it?", "options": ["a", "b"], "answer": "c"}, "is not one of its options"),
        ({"question": "Is it?", "options": ["a"], "answer": "a"}, "needs two options"),
        ({"question": "Is it?", "kind": "essay", "answer": "a"}, "not a kind of question"),
        ({"question": "x" * 5000, "answer": "yes"}, "has 5,000 characters"),
    ],
)
def test_what_is_incomplete_is_refused_by_its_line(tmp_path, row, says):
    with pytest.raises(InvalidInputError, match=says):
        read_questions(written(tmp_path / "q.jsonl", row))


def test_repeated_ids_and_empty_files_are_refused(tmp_path):
    row = {"id": "a", "question": "Is it?", "answer": "yes"}
    with pytest.raises(InvalidInputError, match="twice"):
        read_questions(written(tmp_path / "q.jsonl", row, row))
    with pytest.raises(InvalidInputError, match="contains no question"):
        read_questions(written(tmp_path / "none.jsonl"))


def test_what_is_drawn_depends_on_the_seed_alone():
    whole = golden_set("architecture")
    assert whole.drawn(5, 1) == whole.drawn(5, 1)
    assert whole.drawn(5, 1).items != whole.drawn(5, 2).items
    assert whole.drawn(999, 1) is whole


@pytest.mark.parametrize("name", PACKAGED)
def test_golden_labels_have_a_reason_and_a_source(name):
    found = golden_set(name)
    assert len(found.items) >= FEWEST
    assert all(len(row.reason) > 20 and len(row.citation) > 8 for row in found.items)
    assert len({row.question for row in found.items}) == len(found.items)
    yes_no = Counter(row.known for row in found.items if row.kind is Kind.YES_NO)
    assert min(yes_no["yes"], yes_no["no"]) >= 5, "always saying the same must not do well"
    assert len({row.known for row in found.items if row.kind is Kind.CHOICE}) >= 2


def test_every_task_type_of_the_presets_has_a_golden_set():
    presets = {row.name.removesuffix(".toml") for row in files("disputatio.config").joinpath("presets").iterdir()}
    assert {row.preset for row in GOLDEN.values()} == presets


def test_sets_of_other_people_are_asked_for_by_folder(tmp_path):
    with pytest.raises(InvalidInputError, match="is not packaged"):
        golden_set("contract")
    with pytest.raises(InvalidInputError, match="no CyberMetric file"):
        golden_set("security", tmp_path)
    with pytest.raises(InvalidInputError, match="no golden set called"):
        golden_set("cooking")


def test_a_repeated_question_is_refused(tmp_path):
    file = tmp_path / "twice.jsonl"
    row = {"question": "Is it so?", "answer": "yes"}
    file.write_text("\n".join(json.dumps({"id": name, **row}) for name in ("a", "b")))
    with pytest.raises(InvalidInputError, match="asks the same twice: 'a' and 'b'"):
        read_questions(file)
    file.write_text("\n".join(json.dumps({"id": name, **row, "context": name}) for name in ("a", "b")))
    assert len(read_questions(file).items) == 2
