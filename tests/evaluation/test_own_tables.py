"""Own tables: votes without a right answer, texts with a label in any spelling, and the scores made of them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from disputatio.errors import InvalidInputError
from disputatio.evaluation.labelled_texts import read_csv_texts
from disputatio.evaluation.statistics.scores import macro_scores
from disputatio.evaluation.vote_replay import make_replay_report, render_replay_lines
from disputatio.judging.consistency import SwapPair, is_mostly_right


def votes(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(["gold,one,two,three", *rows]))
    return path


def test_rows_without_gold_are_left_out_and_counted(tmp_path):
    path = votes(tmp_path / "votes.csv", ["A,A,A,B", "B,B,B,A", ",A,B,A", "  ,B,B,B", "A,B,B,B"])
    (panel,) = make_replay_report(path).panels
    assert (panel.items, panel.without_gold) == (3, 2)
    majority = next(row for row in panel.rules if row.rule.startswith("majority"))
    assert (majority.accuracy.count, majority.accuracy.of) == (2, 3)
    assert "2 rows without a right answer are left out" in "\n".join(render_replay_lines(make_replay_report(path)))
    assert panel.as_json()["without_gold"] == 2


@pytest.mark.parametrize(
    ("rows", "says"),
    [([], "has no row of votes"), ([",A,B,A"], "gold is empty in all 1 rows")],
)
def test_an_empty_replay_table_says_so(tmp_path, rows, says):
    with pytest.raises(InvalidInputError, match=says):
        make_replay_report(votes(tmp_path / "votes.csv", rows))


SPELT = [
    ("Straw-Man", "straw man"),
    ("strawman", "straw man"),
    ("appeal_to_authority", "appeal to authority"),
    ("Appeal to (false) authority", "appeal to authority"),
    ("False Dichotomy", "false dilemma"),
    ("Hasty Generalization", "anecdotal evidence"),
    ("begging the question", "circular reasoning"),
    ("AD HOMINEM", "ad hominem"),
    ("whataboutism", "other"),
    ("No fallacy", "none"),
    ("", "none"),
]


@pytest.mark.parametrize("head", ["text,label", "Source_Article,Updated_Label", "id,Statement,Fallacy"])
def test_any_csv_of_text_and_label_is_read(tmp_path, head):
    first = "7," if head.startswith("id") else ""
    rows = [f'{first}"Text {place}, with a comma",{label}' for place, (label, _) in enumerate(SPELT)]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join([head, *rows]))
    found = read_csv_texts(path)
    assert [{name.replace("_", " ") for name in text.gold} for text in found.texts] == [{name} for _, name in SPELT]
    assert found.texts[0].text == "Text 0, with a comma"
    assert found.sample(4, 1).mapping == found.mapping


def test_labels_of_ones_own_are_mapped(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_text("text\tlabel\none\tstrohmann\ntwo\tstrohmann; ad-hominem\nthree\tfine\nfour\tslippery slope\n")
    found = read_csv_texts(path, ["Strohmann=straw man", "fine=none", "slippery slope=other"])
    named = [{name.replace("_", " ") for name in text.gold} for text in found.texts]
    assert named == [{"straw man"}, {"straw man", "ad hominem"}, {"none"}, {"other"}]
    with pytest.raises(InvalidInputError, match="does not map a label to a class"):
        read_csv_texts(path, ["strohmann=rudeness"])


@pytest.mark.parametrize(
    ("content", "says"),
    [("a,b\n1,2\n", "has no column of texts"), ("text,b\n1,2\n", "no column of labels"), ("text,label\n", "no rows"),
     ("text,label\n ,x\n", "line 2: 'text' is empty")],
)  # fmt: skip
def test_a_csv_that_cannot_be_used_says_why(tmp_path, content, says):
    path = tmp_path / "mine.csv"
    path.write_text(content)
    with pytest.raises(InvalidInputError, match=says):
        read_csv_texts(path)


def test_right_beats_wrong_in_two_orders():
    """The rule written a second time: one point for right, one off for a wrong winner, above zero is right."""
    points = {"1": 1, "2": -1, "tie": 0, None: 0}
    for shown, swapped in product(points, repeat=2):
        pair = SwapPair(("1", "2"), shown, swapped, "1")
        assert is_mostly_right(pair) is (points[shown] + points[swapped] > 0), (shown, swapped)
    assert is_mostly_right(SwapPair(("1", "2"), "1", "1")) is None
    assert is_mostly_right(SwapPair(("1", "2"), "tie", "1", "tie")) is False


def test_macro_scores_are_means_over_classes():
    known = ["a", "a", "a", "b", "c", "c"]
    given = ["a", "a", "b", "b", None, "d"]
    counts = {"a": (2, 2, 3), "b": (1, 2, 1), "c": (0, 0, 2), "d": (0, 1, 0)}
    precision = [hits / said if said else 0 for hits, said, _ in counts.values()]
    recall = [hits / there if there else 0 for hits, _, there in counts.values()]
    f1 = [2 * one * other / (one + other) if one + other else 0 for one, other in zip(precision, recall, strict=True)]
    found = macro_scores(known, given)
    assert found.precision == pytest.approx(sum(precision) / 4)
    assert found.recall == pytest.approx(sum(recall) / 4)
    assert found.f1 == pytest.approx(sum(f1) / 4)
    assert macro_scores([], []) is None
