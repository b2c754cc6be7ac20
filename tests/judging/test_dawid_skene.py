"""Dawid-Skene: the published example, the maximum it claims to be, and what it refuses to say."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.judging.dawid_skene import JudgeLabel, Reliability, estimate_reliability
from strategies import examples

pytestmark = pytest.mark.slow

# Dawid and Skene 1979, table 1: 45 patients, the first observer three times, four others once each.
DAWID_SKENE_1979 = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212 1211111
1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 1111111 1121121
1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222
"""


@pytest.fixture(scope="module")
def anaesthetists() -> Reliability:
    return estimate_reliability(
        JudgeLabel(observer, str(patient), label)
        for patient, seven in enumerate(DAWID_SKENE_1979.split())
        for observer, label in zip("1112345", seven, strict=True)
    )


def test_the_published_example_has_its_published_shares(anaesthetists) -> None:
    """The paper's shares of the four classes, and its table of the first observer."""
    assert [round(share, 2) for share in anaesthetists.shares.values()] == [0.40, 0.42, 0.11, 0.07]
    assert [[round(chance, 2) for chance in row.values()] for row in anaesthetists.tables["1"].values()] == [
        [0.89, 0.11, 0.00, 0.00],
        [0.07, 0.88, 0.05, 0.00],
        [0.00, 0.34, 0.66, 0.00],
        [0.00, 0.00, 0.56, 0.44],
    ]
    assert anaesthetists.converged


@st.composite
def label_lists(draw):
    judges, items = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    return [
        JudgeLabel(f"judge-{judge}", f"item-{item}", draw(st.sampled_from(["con", "pro", "tie"])))
        for judge in range(judges)
        for item in range(items)
        for _ in range(draw(st.integers(0, 2)))
    ] or [JudgeLabel("judge-0", "item-0", "pro")]


def likelihood(labels, shares, tables) -> float:
    """The logarithm of the likelihood, from its definition."""
    whole = 0.0
    for item in {row.item for row in labels}:
        mine = [row for row in labels if row.item == item]
        whole += math.log(
            sum(share * math.prod(tables[row.judge][name][row.label] for row in mine) for name, share in shares.items())
        )
    return whole


@examples(8)
@given(label_lists(), st.randoms(use_true_random=False))
def test_no_small_step_from_the_estimate_is_better(labels, chance) -> None:
    """No small step from the estimate is better and its parts are probabilities."""
    found = estimate_reliability(labels)
    for row in (found.shares, *found.items.values(), *(r for table in found.tables.values() for r in table.values())):
        assert math.fsum(row.values()) == pytest.approx(1)
        assert all(0 <= value <= 1 + 1e-12 for value in row.values())
    assert found.log_likelihood == pytest.approx(likelihood(labels, found.shares, found.tables), abs=1e-6)
    if not found.converged:
        return
    # The estimate is where the likelihood is level, not always its highest point: evenly split labels stay so.
    for _ in range(3):
        other = {judge: {name: nudged(row, chance) for name, row in t.items()} for judge, t in found.tables.items()}
        assert likelihood(labels, nudged(found.shares, chance), other) <= found.log_likelihood + 1e-4


def nudged(row, chance, by=1e-3):
    # What the steps of the estimate have brought to zero stays there: they multiply. Rounding leaves some at 1e-17.
    drawn = {name: chance.random() + 1e-6 if value > 1e-12 else 0.0 for name, value in row.items()}
    whole = sum(drawn.values())
    return {name: (1 - by) * value + by * drawn[name] / whole for name, value in row.items()}


@examples(20)
@given(label_lists(), st.randoms(use_true_random=False))
def test_the_order_of_labels_changes_nothing_at_all(labels, chance) -> None:
    before = estimate_reliability(labels)
    chance.shuffle(labels)
    assert estimate_reliability(labels) == before


@examples(20)
@given(label_lists())
def test_what_it_says_of_an_item_follows_from_what_it_says(labels) -> None:
    """Bayes' rule, from the tables to the item; only where each judge labelled the item at most once."""
    found = estimate_reliability(labels)
    for item, chances in found.items.items():
        mine = [row for row in labels if row.item == item]
        if len({row.judge for row in mine}) == len(mine):
            again = found.posterior({row.judge: row.label for row in mine})
            assert again == pytest.approx(dict(chances), abs=1e-9)


def simulated(accuracy: dict[str, float], items: int) -> tuple[list[JudgeLabel], list[str]]:
    drawn, labels, truths = Random(7), [], []
    for item in range(items):
        truth = drawn.choice(["pro", "con"])
        truths.append(truth)
        for judge, right in accuracy.items():
            wrong = "con" if truth == "pro" else "pro"
            labels.append(JudgeLabel(judge, str(item), truth if drawn.random() < right else wrong))
    return labels, truths


@pytest.mark.slow
def test_good_judges_are_found_without_a_single_right_answer() -> None:
    """Against the share each judge really got right; the estimate never sees it."""
    accuracy = {"ada": 0.95, "bo": 0.8, "cleo": 0.65, "dan": 0.5}
    labels, truths = simulated(accuracy, 800)
    found = estimate_reliability(labels)
    for judge in accuracy:
        right = sum(row.label == truths[int(row.item)] for row in labels if row.judge == judge) / len(truths)
        assert found.skill(judge) == pytest.approx(2 * right - 1, abs=0.08)
    weights = found.weights()
    assert weights.source == "Dawid-Skene"
    assert list(weights.of) == sorted(weights.of, key=lambda judge: -weights.of[judge])
    assert found.decide({"ada": "pro", "cleo": "con", "dan": "con"}) == "pro"


@pytest.mark.parametrize(
    ("labels", "note"),
    [
        ([JudgeLabel(j, str(i), "pro") for j in "ab" for i in range(50)], "every label is the same"),
        (simulated({"ada": 0.9, "bo": 0.9}, 19)[0], "19 items are too few to estimate from; 20 are needed"),
    ],
)
def test_too_little_data_leaves_equal_weights(labels, note) -> None:
    """Too little to tell the judges apart leaves equal weights and says so."""
    weights = estimate_reliability(labels).weights()
    assert weights.source == "equal"
    assert len(set(weights.of.values())) == 1
    assert weights.note.startswith(note)


def test_smoothing_keeps_a_judge_that_never_erred() -> None:
    """Smoothing keeps a judge that never erred from being held infallible."""
    labels = [JudgeLabel(judge, str(item), "pro" if item % 2 else "con") for judge in "ab" for item in range(40)]
    assert estimate_reliability(labels).tables["a"]["pro"]["con"] == 0
    assert estimate_reliability(labels, smoothing=0.01).tables["a"]["pro"]["con"] > 0


def test_judges_that_contradict_each_other_evenly_decide_nothing() -> None:
    labels = [JudgeLabel(judge, str(item), "pro" if item % 2 else "con") for judge in "ab" for item in range(40)]
    assert estimate_reliability(labels, smoothing=1).decide({"a": "pro", "b": "con"}) is None


@pytest.mark.parametrize(
    "refused",
    [
        lambda: estimate_reliability([]),
        lambda: estimate_reliability([JudgeLabel("a", "1", "pro")], smoothing=-1),
        lambda: estimate_reliability([JudgeLabel("a", "1", "pro")]).posterior({"b": "pro"}),
        lambda: estimate_reliability([JudgeLabel("a", "1", "pro")]).posterior({"a": "con"}),
    ],
)
def test_what_cannot_be_estimated_is_refused(refused) -> None:
    with pytest.raises(InvalidInputError):
        refused()
