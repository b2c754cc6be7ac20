"""Agreement of judges: published worked examples, definitions written out, and other libraries."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from fractions import Fraction

import krippendorff  # noqa: F401  (imported here, like the other libraries, so that no single test pays for it)
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater

from disputatio.errors import InvalidInputError
from disputatio.judging.agreement import (
    Agreement,
    Level,
    Weighting,
    cohen_kappa,
    fleiss_kappa,
    kendall_w,
    krippendorff_alpha,
)
from strategies import examples

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C: four observers, twelve units.
KRIPPENDORFF_2011 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
# Fleiss 1971, "Measuring Nominal Scale Agreement Among Many Raters", table 1: six psychiatrists, thirty patients.
FLEISS_1971 = """
444444 222555 233335 555555 222444 113333 333355 113334 114444 555555
144444 124444 222333 144444 224445 333335 111455 111112 224444 133555
555555 244444 224555 114444 144445 222224 111155 224444 133333 555555
"""


@pytest.mark.parametrize(
    ("level", "published"),
    [(Level.NOMINAL, 0.743), (Level.ORDINAL, 0.815), (Level.INTERVAL, 0.849), (Level.RATIO, 0.797)],
)
def test_alpha_of_krippendorffs_own_example(level, published) -> None:
    found = krippendorff_alpha(KRIPPENDORFF_2011, level)
    assert found.value == pytest.approx(published, abs=0.0005)
    # The last unit was rated once, so it has nothing to agree with.
    assert (found.judges, found.items, found.left_out) == (4, 11, 1)


def test_kappa_of_fleiss_own_example() -> None:
    judges = list(zip(*FLEISS_1971.split(), strict=True))
    found = fleiss_kappa(judges)
    assert found.value == pytest.approx(0.430, abs=0.0005)
    assert found.reading == "moderate agreement"
    assert (found.judges, found.items) == (6, 30)


def test_w_of_siegels_interviewers() -> None:
    """Siegel 1956, "Nonparametric Statistics", chapter 9: three interviewers rank six applicants, W = .16."""
    found = kendall_w([[1, 6, 3, 2, 5, 4], [1, 5, 6, 4, 2, 3], [6, 3, 2, 5, 4, 1]])
    assert found.value == pytest.approx(0.16, abs=0.005)
    assert found.reading == "very weak agreement in ranking, but it rests on few items"


ratings = st.integers(1, 5)


@st.composite
def grids(draw, holes=True):
    judges, items = draw(st.integers(2, 4)), draw(st.integers(2, 7))
    value = st.one_of(st.none(), ratings) if holes else ratings
    return [draw(st.lists(value, min_size=items, max_size=items)) for _ in range(judges)]


def alpha_by_definition(rows, distance) -> Fraction | None:
    """1 - observed over expected disagreement, over pairs of ratings, in fractions (Krippendorff 2011, section A)."""
    units = [[value for value in column if value is not None] for column in zip(*rows, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [value for unit in units for value in unit]
    if len(pooled) < 2:
        return None
    observed = sum(
        Fraction(sum(distance(a, b) for a, b in itertools.permutations(unit, 2)), len(unit) - 1) for unit in units
    )
    expected = Fraction(sum(distance(a, b) for a, b in itertools.permutations(pooled, 2)), len(pooled) - 1)
    return None if expected == 0 else 1 - observed / expected


@examples(12)
@given(grids())
def test_alpha_is_its_definition(rows) -> None:
    for level, distance in (
        (Level.NOMINAL, lambda a, b: Fraction(int(a != b))),
        (Level.INTERVAL, lambda a, b: Fraction((a - b) ** 2)),
        (Level.RATIO, lambda a, b: Fraction(a - b, a + b) ** 2),
    ):
        expected, found = alpha_by_definition(rows, distance), krippendorff_alpha(rows, level)
        if expected is None:
            assert found.value is None
            assert found.undefined_because
        else:
            assert found.value == pytest.approx(float(expected), abs=1e-12)


@examples(30)
@given(grids(), st.permutations([2, 3, 5, 8, 13]))
def test_ordinal_alpha_knows_only_the_order(rows, names) -> None:
    """Ordinal alpha knows only the order and nominal alpha not even that."""
    stretched = {1: 1, 2: 4, 3: 5, 4: 50, 5: 51}
    for level, renamed in ((Level.ORDINAL, stretched), (Level.NOMINAL, dict(zip(range(1, 6), names, strict=True)))):
        other = [[None if value is None else renamed[value] for value in row] for row in rows]
        one, two = krippendorff_alpha(rows, level).value, krippendorff_alpha(other, level).value
        assert (one is None) == (two is None)
        assert one is None or one == pytest.approx(two, abs=1e-12)


@examples(30)
@given(grids(holes=False))
def test_fleiss_kappa_is_its_definition(rows) -> None:
    columns, judges = list(zip(*rows, strict=True)), len(rows)
    pairs = judges * (judges - 1)
    observed = sum(Fraction(sum(a == b for a, b in itertools.permutations(c, 2)), pairs) for c in columns) / len(
        columns
    )
    pooled = [value for column in columns for value in column]
    chance = sum(Fraction(pooled.count(value), len(pooled)) ** 2 for value in set(pooled))
    found = fleiss_kappa(rows).value
    if chance == 1:
        assert found is None
    else:
        assert found == pytest.approx(float((observed - chance) / (1 - chance)), abs=1e-12)


@examples(12)
@given(st.lists(st.tuples(ratings, ratings), min_size=2, max_size=20))
def test_cohens_kappa_is_what_two_libraries_say(pairs) -> None:
    first, second = zip(*pairs, strict=True)
    assume(len(set(first) | set(second)) > 1)
    table = np.zeros((5, 5))
    for one, other in pairs:
        table[one - 1, other - 1] += 1
    for weighting, wt in ((Weighting.NONE, None), (Weighting.LINEAR, "linear"), (Weighting.QUADRATIC, "quadratic")):
        found = cohen_kappa(first, second, weighting, range(1, 6)).value
        assert found == pytest.approx(cohen_kappa_score(first, second, labels=[1, 2, 3, 4, 5], weights=wt), abs=1e-12)
        assert found == pytest.approx(inter_rater.cohens_kappa(table, wt=wt, return_results=False), abs=1e-12)


def test_a_category_that_nobody_used_still_keeps_its_distance() -> None:
    """From 2 to 9 is seven categories on a scale of ten, though only three of the ten were used."""
    first, second = [1, 2, 9, 2], [1, 9, 9, 2]
    whole = cohen_kappa(first, second, Weighting.LINEAR, range(1, 11)).value
    squeezed = cohen_kappa_score(first, second, weights="linear")
    weights = [[abs(a - b) for a in range(1, 11)] for b in range(1, 11)]
    observed = sum(weights[a - 1][b - 1] for a, b in zip(first, second, strict=True)) / 4
    chance = sum(weights[a - 1][b - 1] for a in first for b in second) / 16
    assert whole == pytest.approx(1 - observed / chance)
    assert whole != pytest.approx(squeezed)


@examples(30)
@given(grids(holes=False))
def test_w_is_friedmans_statistic_rescaled(rows) -> None:
    """Friedman's chi-square, corrected for ties, is m (n - 1) W; it needs three items."""
    judges, items = len(rows), len(rows[0])
    assume(items >= 3)
    found = kendall_w(rows)
    if all(len(set(row)) == 1 for row in rows):
        assert found.value is None
    else:
        chi_square = friedmanchisquare(*zip(*rows, strict=True)).statistic
        assert found.value == pytest.approx(chi_square / (judges * (items - 1)), abs=1e-9)
        assert -1e-12 <= (found.value or 0) <= 1 + 1e-12


@examples(12)
@given(grids())
def test_no_measure_is_ever_not_a_number(rows) -> None:
    """No measure is ever not a number and each says what it rests on."""
    found: list[Agreement] = [krippendorff_alpha(rows, level) for level in Level]
    found += [fleiss_kappa(rows), kendall_w(rows), cohen_kappa(rows[0], rows[1])]
    for row in found:
        assert (row.value is None) == bool(row.undefined_because)
        assert (row.value is None) == (not row.reading)
        assert row.value is None or (math.isfinite(row.value) and row.value <= 1 + 1e-12)
        assert row.items + row.left_out == len(rows[0])
        assert "nan" not in row.text()
        assert json.loads(json.dumps(row.as_json()))["text"] == row.text()


def test_judges_who_always_agree_have_complete_agreement() -> None:
    rows = [[1, 2, 3, 4, 4]] * 3
    for found in (*(krippendorff_alpha(rows, level) for level in Level), fleiss_kappa(rows), kendall_w(rows)):
        assert found.value == pytest.approx(1)


def test_no_variation_is_not_agreement() -> None:
    rows = [[7, 7, 7], [7, 7, 7]]
    same = "every rating is the same, so agreement cannot be told from chance"
    assert krippendorff_alpha(rows, Level.INTERVAL).undefined_because == same
    assert fleiss_kappa(rows).undefined_because == same
    assert cohen_kappa(*rows).undefined_because == same
    assert kendall_w(rows).undefined_because == "no judge rates any item above another"
    assert krippendorff_alpha(rows).text() == (
        "Krippendorff's alpha (nominal) is not defined because every rating is the same, so agreement cannot be told "
        "from chance (2 judges, 3 items)"
    )


def test_a_value_only_one_judge_gave_to_an_item() -> None:
    """The library divides zero by zero here."""
    assert krippendorff_alpha([[1, 1, 2], [1, 1, None]]).value is None


def test_a_judge_without_ratings_is_counted() -> None:
    """A judge without ratings is counted as silent not as disagreeing."""
    found = fleiss_kappa([["pro", "con", "pro"], [None, None, None], ["pro", "con", "con"]])
    assert (found.judges, found.silent, found.items) == (2, 1, 3)
    assert "1 silent" in found.text()


def test_items_that_not_all_rated_are_left_out_and_counted() -> None:
    rows = [[1, 2, 3, 4], [1, None, 3, 4], [2, 2, 4, None]]
    assert (kendall_w(rows).items, kendall_w(rows).left_out) == (2, 2)
    assert (krippendorff_alpha(rows).items, krippendorff_alpha(rows).left_out) == (4, 0)


@pytest.mark.parametrize(
    ("value", "reading"),
    [
        (0.801, "reliable"),
        (0.70, "good enough for tentative conclusions only"),
        (0.5, "not reliable: some agreement, too little to build on"),
    ],
)
def test_alpha_is_read_by_krippendorffs_own_limits(value, reading) -> None:
    """Ratings of two judges that differ in a known share of many items."""
    items = 2000
    disagree = round((1 - value) * items / 2)
    first = [number % 2 for number in range(items)]
    second = [1 - one if number < disagree else one for number, one in enumerate(first)]
    found = krippendorff_alpha([first, second])
    assert found.value == pytest.approx(value, abs=0.002)
    assert found.reading == reading


@pytest.mark.parametrize(
    ("agreeing", "reading"),
    [
        (0.40, "poor agreement, worse than chance"),
        (0.55, "slight agreement"),
        (0.65, "fair agreement"),
        (0.75, "moderate agreement"),
        (0.85, "substantial agreement"),
        (0.95, "almost perfect agreement"),
    ],
)
def test_kappa_is_read_by_landis_and_koch(agreeing, reading) -> None:
    items = 200
    first = [number % 2 for number in range(items)]
    second = [one if number < agreeing * items else 1 - one for number, one in enumerate(first)]
    assert cohen_kappa(first, second).reading == reading


@pytest.mark.parametrize(
    "refused",
    [
        lambda: krippendorff_alpha([[1, 2], [1]]),
        lambda: krippendorff_alpha([["a", "b"], ["a", "b"]], Level.ORDINAL),
        lambda: krippendorff_alpha([[1, -2], [1, 2]], Level.RATIO),
        lambda: krippendorff_alpha([[1, math.nan], [1, 2]], Level.INTERVAL),
        lambda: kendall_w([["a", "b"], ["a", "b"]]),
        lambda: cohen_kappa([1, 2], [1, 2], Weighting.LINEAR),
        lambda: cohen_kappa([1, 2], [1, 3], Weighting.NONE, [1, 2]),
    ],
)
def test_ratings_that_cannot_be_measured_are_refused(refused) -> None:
    with pytest.raises(InvalidInputError):
        refused()


def test_no_judge_at_all_is_not_an_error() -> None:
    assert krippendorff_alpha([]).value is None
    assert kendall_w([[], []]).value is None
    assert fleiss_kappa([[None], [None]]).undefined_because


def test_no_measure_needs_a_library(monkeypatch) -> None:
    for name in ("numpy", "scipy", "scipy.stats", "sklearn", "sklearn.metrics", "statsmodels", "krippendorff"):
        monkeypatch.setitem(sys.modules, name, None)
    rows = [[1, 2, 3], [1, 3, 3]]
    measured = [*(krippendorff_alpha(rows, level) for level in Level), cohen_kappa(*rows), fleiss_kappa(rows)]
    assert all(row.value is not None for row in (*measured, kendall_w(rows)))


@pytest.mark.slow
def test_no_numeric_library_is_imported() -> None:
    """No numeric library is imported before a measure is asked for."""
    heavy = "{'numpy', 'scipy', 'sklearn', 'statsmodels', 'krippendorff'}"
    code = f"import sys, disputatio.judging; print(*({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
