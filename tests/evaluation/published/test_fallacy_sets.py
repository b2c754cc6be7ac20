"""The labelled texts of other people, read in their published form: sizes, mappings, and MAFALDA's own measure."""

from __future__ import annotations

import pytest
from published.recorded import folder

from disputatio.evaluation.fallacy_scores import SEVEN, JudgedText, NamedFallacy, compare_spans, score_fallacies
from disputatio.evaluation.labelled_texts import MAPPINGS, NONE, OTHER, read_labelled

pytestmark = pytest.mark.slow

SIZES = {
    "mafalda": (200, {NONE: 63, "slippery_slope": 11, "circular_reasoning": 11, "ad_hominem": 16}),
    "logic": (300, {"anecdotal_evidence": 61, "ad_hominem": 41, "straw_man": 21, "appeal_to_authority": 17}),
    "informal_fallacies": (336, {NONE: 165, "slippery_slope": 23, "appeal_to_authority": 21, "false_dilemma": 21}),
}


@pytest.mark.parametrize("name", SIZES)
def test_every_text_is_read_and_every_mapped_label_occurs(name):
    whole = read_labelled(name, folder(name))
    texts, sizes = SIZES[name]
    assert len(whole.texts) == texts
    assert {key: whole.sizes()[key] for key in sizes} == sizes
    assert set(MAPPINGS[name]) <= set(whole.labels())


@pytest.mark.parametrize("name", SIZES)
def test_naming_what_the_labels_say_is_right_throughout(name):
    whole = read_labelled(name, folder(name))
    judged = [
        JudgedText(
            row,
            tuple(
                NamedFallacy.of(found, row.text[span.start : span.end], row.text)
                for span in row.spans
                for found in sorted(row.classes_of(span) - {OTHER})
            ),
        )
        for row in whole.texts
    ]
    scores = score_fallacies(judged, spans=name == "mafalda")
    assert scores.micro[0].value == scores.micro[1].value == 1
    assert scores.unfound_quotes.count == 0
    if scores.spans is not None:
        assert scores.spans.precision == 1
        assert scores.spans.recall == pytest.approx(scores.spans.reachable)


def test_naming_nothing_has_no_recall():
    whole = read_labelled("mafalda", folder("mafalda"))
    scores = score_fallacies([JudgedText(row) for row in whole.texts], spans=True)
    assert [row.recall.count for row in scores.classes] == [0] * len(SEVEN)
    assert scores.none.recall.value == 1
    assert scores.spans is not None
    # By the measure's own rule silence is precise, and complete where no span insists on a fallacy.
    assert scores.spans.precision == 1
    assert scores.spans.recall == pytest.approx(
        sum(all(span.optional for span in row.spans) for row in whole.texts) / len(whole.texts)
    )


def test_the_gold_spans_compared_with_themselves_are_right():
    whole = read_labelled("mafalda", folder("mafalda"))
    for row in whole.texts:
        spans = [(span.start, span.end, span.labels, span.optional) for span in row.spans]
        assert compare_spans([spans_[:3] for spans_ in spans], spans) == pytest.approx((1, 1, 1))
