"""Kappa and alpha against other libraries, against print, and where there is none to have."""

import warnings
from collections.abc import Sequence

import krippendorff as peer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater

from fieldtruth.agreement import (
    NOTHING,
    ONE_ANSWER,
    Coefficient,
    Metric,
    cohen,
    fleiss,
    krippendorff,
)  # fmt: skip
from fieldtruth.resampling import estimate, ratio

letters = st.sampled_from("ABCD")

# Fleiss (1971), as in the worked example of 10 subjects, 14 raters, 5 categories: kappa 0.210.
FLEISS = [
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
]  # fmt: skip
# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability": four observers, twelve units,
# gaps; nominal alpha 0.743, interval alpha 0.849.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)


def spread(counts: Sequence[int]) -> list[str]:
    return [str(at) for at, count in enumerate(counts) for _ in range(count)]


def test_cohen_in_print() -> None:
    """50 grant proposals, two readers: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no is 0.4."""
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    found = cohen([a for a, _ in pairs], [b for _, b in pairs])
    assert found.value == pytest.approx(0.4)
    assert found.n == 50
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.4 < found.high


def test_fleiss_in_print() -> None:
    found = fleiss([spread(row) for row in FLEISS])
    assert found.value == pytest.approx(0.210, abs=5e-4)
    assert found.n == 10


def test_krippendorff_in_print() -> None:
    units = list(zip(*OBSERVERS, strict=True))
    assert krippendorff(units).value == pytest.approx(0.743, abs=5e-4)
    assert krippendorff(units, "interval").value == pytest.approx(0.849, abs=5e-4)
    assert krippendorff(units).n == 11  # the twelfth was judged by one


@given(st.lists(st.tuples(letters, letters), min_size=1, max_size=30))
@settings(deadline=None)
def test_cohen_as_scikit_learn_has_it(pairs: list[tuple[str, str]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = float(cohen_kappa_score(a, b))
    same(cohen(a, b), None if len({*a, *b}) == 1 else theirs)


@given(st.integers(2, 5).flatmap(
    lambda m: st.lists(st.lists(letters, min_size=m, max_size=m), min_size=1, max_size=15)
))  # fmt: skip
@settings(deadline=None)
def test_fleiss_as_statsmodels_has_it(rows: list[list[str]]) -> None:
    table = np.array([[row.count(name) for name in "ABCD"] for row in rows])
    alone = len({each for row in rows for each in row}) == 1
    same(fleiss(rows), None if alone else float(inter_rater.fleiss_kappa(table)))


@pytest.mark.parametrize("metric", ["nominal", "interval"])
@given(rows=st.lists(
    st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=4, max_size=4), max_size=15
))  # fmt: skip
@settings(deadline=None)
def test_alpha_as_krippendorff_has_it(metric: Metric, rows: list[list[int | None]]) -> None:
    said = [[each for each in row if each is not None] for row in rows]
    paired = {each for row in said if len(row) > 1 for each in row}
    data = np.array([[np.nan if each is None else each for each in row] for row in rows]).T
    theirs = peer.alpha(data, level_of_measurement=metric) if len(paired) > 1 else None
    found = krippendorff(rows, metric)
    same(found, theirs)
    assert found.undefined == (None if len(paired) > 1 else ONE_ANSWER if paired else NOTHING)


def same(ours: Coefficient, theirs: float | None) -> None:
    if theirs is None:
        assert (ours.value, ours.low, ours.high, ours.n) == (None, None, None, 0)
    else:
        assert ours.value == pytest.approx(theirs, abs=1e-9)


def test_the_interval_is_that_of_plain_loops() -> None:
    rng = np.random.default_rng(5)
    a = [str(each) for each in rng.integers(0, 3, 40)]
    b = [x if keep else str(other) for x, keep, other in
         zip(a, rng.random(40) < 0.7, rng.integers(0, 3, 40), strict=True)]  # fmt: skip
    drawn = np.random.default_rng(0)
    values = []
    for _ in range(1000):
        rows = drawn.integers(0, 40, 40)
        values.append(float(cohen_kappa_score([a[i] for i in rows], [b[i] for i in rows])))
    found = cohen(a, b)
    assert [found.low, found.high] == pytest.approx(list(np.percentile(values, (2.5, 97.5))))
    assert found.undefined_draws == 0


def test_draws_with_one_answer_are_left_out_and_counted() -> None:
    found = cohen(["A", "A", "B"], ["A", "A", "B"])
    assert found.value == found.low == found.high == 1.0
    # A draw is undefined when it holds only the first two units, or only the third.
    rows = np.random.default_rng(0).integers(0, 3, (1000, 3))
    assert found.undefined_draws == int(((rows < 2).all(1) | (rows == 2).all(1)).sum()) > 0


def test_fleiss_wants_as_many_answers_everywhere() -> None:
    with pytest.raises(ValueError, match="as many answers"):
        fleiss([["A", "B"], ["A"]])
    assert fleiss([["A"], ["B"]]).undefined == NOTHING
    assert fleiss([]).undefined == NOTHING


def test_numbers_far_from_nought_lose_nothing() -> None:
    near = krippendorff([[1, 2], [3, 3], [5, 4]], "interval")
    far = krippendorff([[1e9 + x for x in row] for row in ([1, 2], [3, 3], [5, 4])], "interval")
    assert far.value == pytest.approx(near.value)


def test_a_ratio_of_nothing_is_null() -> None:
    found = estimate(np.array([[0.0, 0.0], [0.0, 0.0]]), ratio)
    assert (found.value, found.n) == (None, 0)
