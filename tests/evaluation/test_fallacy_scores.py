"""Precision and recall of named fallacies: against a second count, and against texts written for the purpose."""

from __future__ import annotations

import json
import random

import pytest

from disputatio.errors import InvalidInputError
from disputatio.evaluation.fallacy_scores import (
    FAILED,
    SEVEN,
    JudgedText,
    NamedFallacy,
    compare_spans,
    locate_words,
    score_fallacies,
    score_spans,
)
from disputatio.evaluation.labelled_texts import (
    CLASSES,
    MAPPINGS,
    NONE,
    OTHER,
    GoldSpan,
    LabelledSet,
    LabelledText,
    mapping_lines,
    read_labelled,
)

MAPPING = MAPPINGS["mafalda"]
GOLD = "gold_standard_dataset.jsonl"
OF_CLASS = {fallacy.value: label for label, fallacy in MAPPING.items()}
TEXT = "First sentence of it. Second sentence of it. Third sentence of it."


def text(*spans: tuple[int, int, tuple[str, ...]], words: str = TEXT, name: str = "t") -> LabelledText:
    gold = tuple(GoldSpan(start, end, frozenset(labels)) for start, end, labels in spans)
    return LabelledText(name, words, gold, MAPPING)


def named(*fallacies: str, words: str = "First sentence of it.") -> tuple[NamedFallacy, ...]:
    return tuple(NamedFallacy.of(fallacy, words, TEXT) for fallacy in fallacies)


def test_words_outside_the_text_name_nothing():
    row = JudgedText(text((0, 20, ("straw man",))), named("straw_man", words="words nobody wrote"))
    scores = score_fallacies([row])
    assert row.outcome("straw_man") == "miss"
    assert (scores.unfound_quotes.count, scores.unfound_quotes.of) == (1, 1)


def test_an_alternative_label_excuses_the_other_one():
    either = text((0, 20, ("straw man", "ad hominem")))
    row = JudgedText(either, named("ad_hominem"))
    assert row.outcome("ad_hominem") == "hit"
    assert row.outcome("straw_man") == ""
    assert JudgedText(either, named("slippery_slope")).outcome("straw_man") == "miss"


def test_where_nothing_is_accepted_silence_is_no_miss():
    optional = text((0, 20, ("straw man", "nothing")))
    assert JudgedText(optional).outcome("straw_man") == ""
    assert JudgedText(optional, named("straw_man")).outcome("straw_man") == "hit"


def test_a_text_without_an_answer_is_a_miss():
    failed = JudgedText(text((0, 20, ("straw man",))), failure="misfit")
    silent = JudgedText(text(), failure="misfit")
    scores = score_fallacies([failed, silent])
    assert failed.outcome("straw_man") == "miss"
    assert silent.outcome(NONE) == "miss"
    assert scores.answered == 0
    assert scores.failures == {"misfit": 2}
    assert scores.confusion["straw_man"][FAILED] == scores.confusion[NONE][FAILED] == 1


def test_other_labels_say_nothing_about_none():
    row = JudgedText(text((0, 20, ("appeal to fear",))))
    assert row.text.gold == {OTHER}
    assert row.outcome(NONE) == ""
    assert all(row.outcome(name) == "" for name in SEVEN)


def single_label_sample(seed: int):
    chance = random.Random(seed)
    truth = [chance.choice([*SEVEN, NONE]) for _ in range(60)]
    guess = [chance.choice([true, *SEVEN, NONE]) for true in truth]
    rows = [
        JudgedText(text(*(() if true == NONE else ((0, 20, (OF_CLASS[true],)),))), () if got == NONE else named(got))
        for true, got in zip(truth, guess, strict=True)
    ]
    return truth, guess, rows


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_single_label_scores_match_scikit_learn(seed):
    from sklearn.metrics import precision_recall_fscore_support

    truth, guess, rows = single_label_sample(seed)
    scores = score_fallacies(rows)
    known = precision_recall_fscore_support(truth, guess, labels=list(SEVEN), zero_division=0)
    for place, row in enumerate(scores.classes):
        assert (row.precision.value or 0) == pytest.approx(known[0][place])
        assert (row.recall.value or 0) == pytest.approx(known[1][place])
        assert (row.f1.value or 0) == pytest.approx(known[2][place])
        assert row.support == known[3][place]
    micro = precision_recall_fscore_support(truth, guess, labels=list(SEVEN), average="micro", zero_division=0)
    macro = precision_recall_fscore_support(truth, guess, labels=list(SEVEN), average="macro", zero_division=0)
    assert [scores.micro[0].value, scores.micro[1].value, scores.micro[2].value] == pytest.approx(list(micro[:3]))
    assert [row.value for row in scores.macro] == pytest.approx(list(macro[:3]))
    assert all(row.low <= row.value <= row.high for row in scores.macro)


def test_the_confusion_table_counts_each_text_once():
    truth, guess, rows = single_label_sample(1)
    table = score_fallacies(rows).confusion
    for true in CLASSES:
        for got in (*SEVEN, NONE):
            assert table[true][got] == sum((t, g) == (true, got) for t, g in zip(truth, guess, strict=True))


# Cases that the authors of MAFALDA work out, and two of partial cover: predictions, gold spans, the three numbers.
A, B, C = (0, 24), (25, 50), (51, 76)


def gold(place, *labels, optional=False):
    return (*place, frozenset(labels), optional)


def predicted(place, label):
    return (*place, frozenset({label}))


@pytest.mark.parametrize(
    ("given", "known", "expected"),
    [
        ([predicted(B, "2")], [gold(A, "1", optional=True), gold(B, "2"), gold(C, "3")], (1, 1 / 2, 2 / 3)),
        ([predicted(A, "1")], [gold(A, "1", optional=True)], (1, 1, 1)),
        ([predicted(A, "3")], [gold(A, "1", optional=True)], (0, 1, 0)),
        ([], [gold(A, "1", optional=True)], (1, 1, 1)),
        ([predicted((0, 50), "3")], [gold(A, "1", optional=True)], (0, 1, 0)),
        ([], [gold(A, "1")], (1, 0, 0)),
        ([predicted(A, "1")], [], (0, 1, 0)),
        ([], [], (1, 1, 1)),
        ([predicted((0, 12), "1")], [gold(A, "1")], (1, 1 / 2, 2 / 3)),
        ([predicted((0, 48), "1")], [gold(A, "1")], (1 / 2, 1, 2 / 3)),
    ],
)
def test_the_span_measure_gives_what_its_authors_work_out(given, known, expected):
    assert compare_spans(given, known) == pytest.approx(expected)


def test_a_quotation_is_found_in_other_case_and_punctuation():
    assert locate_words("Second sentence", TEXT) == (22, 37)
    assert locate_words("second SENTENCE of it", TEXT) == (22, 43)
    assert locate_words("sentence, of it; third", TEXT)[0] == TEXT.index("sentence of it. Third")


def test_naming_everything_reaches_the_reachable_recall():
    rows = [text((0, 20, ("straw man",)), (22, 43, ("appeal to fear",)))]
    found = NamedFallacy.of("straw_man", TEXT[0:20], TEXT)
    score = score_spans([JudgedText(rows[0], (found,))])
    assert (score.precision, score.recall) == pytest.approx((1.0, score.reachable))
    assert score.reachable == 0.5


def a_set(sizes: dict[str, int]) -> LabelledSet:
    rows = []
    for name, count in sizes.items():
        span = () if name == NONE else ((0, 20, ("appeal to fear" if name == OTHER else OF_CLASS[name],)),)
        rows += [text(*span, name=f"{name}-{place}") for place in range(count)]
    from pathlib import Path

    return LabelledSet("mafalda", Path("x"), tuple(rows))


def test_a_sample_keeps_proportions_and_is_reproducible():
    whole = a_set({"straw_man": 60, "ad_hominem": 30, NONE: 8, OTHER: 2})
    drawn = whole.sample(20, 5)
    assert len(drawn.texts) == 20
    assert drawn == whole.sample(20, 5)
    assert drawn != whole.sample(20, 6)
    sizes = drawn.sizes()
    assert min(sizes.values()) >= 1
    assert sizes["straw_man"] > sizes["ad_hominem"] > sizes[NONE] >= sizes[OTHER]
    assert {row.id for row in drawn.texts} <= {row.id for row in whole.texts}


@pytest.mark.parametrize("limit", range(1, 30))
def test_a_sample_has_as_many_texts_as_were_asked_for(limit):
    whole = a_set({"straw_man": 9, "ad_hominem": 1, "false_dilemma": 1, NONE: 14})
    assert len(whole.sample(limit, 0).texts) == min(limit, 25)


def test_the_three_sets_are_read_in_their_published_forms(tmp_path):
    (tmp_path / "gold_standard_dataset.jsonl").write_text(
        json.dumps({"text": TEXT, "labels": [[0, 20, "Straw man"], [0, 20, "nothing"], [22, 30, "to clean"]]}) + "\n"
    )
    (tmp_path / "edu_test.csv").write_text(
        'source_article,updated_label\n"One,\ntwo",false dilemma\nThree,ad populum\n'
    )
    (tmp_path / "test.txt").write_text(
        "id\t['a']\ta b\t['x']\t['none', 'slippery_slope']\nid\t['a']\tc\t['x']\t['none']\n"
    )
    mafalda, logic, informal = (read_labelled(name, tmp_path) for name in MAPPINGS)
    assert mafalda.texts[0].spans == (GoldSpan(0, 20, frozenset({"straw man", "nothing"})),)
    assert [sorted(row.gold) for row in logic.texts] == [["false_dilemma"], [OTHER]]
    assert [sorted(row.gold) for row in informal.texts] == [["slippery_slope"], [NONE]]
    assert mapping_lines(logic) == ["false dilemma (1) -> false_dilemma", "ad populum (1) -> other"]


@pytest.mark.parametrize(
    ("name", "file", "content", "said"),
    [
        (
            "mafalda",
            "gold_standard_dataset.jsonl",
            '{"text": "a", "labels": []}\n{"text": 1}',
            'line 2: the key "text"',
        ),
        ("mafalda", "gold_standard_dataset.jsonl", "nonsense", "line 1: it is not JSON"),
        ("mafalda", "gold_standard_dataset.jsonl", '{"text": "a", "labels": [[5, 1, "x"]]}', "line 1: a label"),
        ("logic", "edu_test.csv", "a,b\n1,2\n", "line 1: the columns"),
        ("logic", "edu_test.csv", "source_article,updated_label\n,x\n", "line 2"),
        ("informal_fallacies", "test.txt", "a\tb\n", "line 1: it has 2 columns"),
        ("informal_fallacies", "test.txt", "a\tb\tc\td\tnot a list\n", "line 1: column 5"),
        ("informal_fallacies", "test.txt", "\n", "contains no text"),
    ],
)
def test_a_faulty_file_is_refused_with_its_line_and_key(tmp_path, name, file, content, said):
    (tmp_path / file).write_text(content)
    with pytest.raises(InvalidInputError) as refused:
        read_labelled(name, tmp_path)
    assert said in refused.value.cause


def test_a_missing_file_and_an_unknown_set_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_labelled("logic", tmp_path)
    with pytest.raises(InvalidInputError, match="no set of labelled texts"):
        read_labelled("other", tmp_path)
