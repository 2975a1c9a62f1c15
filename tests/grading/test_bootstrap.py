"""The one bootstrap against plain index resampling, and what keeps its intervals honest."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from tests.metrics import photos

from fieldtruth import resampling
from fieldtruth.grading import bootstrap
from fieldtruth.grading.bootstrap import Estimate, Panel
from fieldtruth.metrics.contract import Evidence
from fieldtruth.records import Item

KINDS = ("lesion", "object", "dense", "healthy", "lesion")


def shots(number: int, start: int = 0) -> tuple[list[Item], Evidence]:
    words = list(photos.WORDS)
    pairs = [(KINDS[n % 5], words[(start + n * n) % len(words)]) for n in range(number)]
    found = photos.graded(*pairs)
    return found.items, found.evidence


def panel(number: int, start: int = 0, groups: Sequence[str] = ()) -> Panel:
    items, evidence = shots(number, start)
    made = bootstrap.panel(items, evidence)
    return Panel(made.ids, tuple(groups) or made.groups, made.over, made.sums, made.widths)


def by_indices(one: Panel, name: str, resamples: int = 1000) -> tuple[float, float, int]:
    """The published procedure: n indices at a time, totals row by row, percentiles at the end."""
    row = list(bootstrap.room()).index(name)
    begin = sum(one.widths[:row])
    top, bottom = one.sums[:, begin].tolist(), one.sums[:, begin + 1].tolist()
    rng, draws, undefined = np.random.default_rng(0), [], 0
    for _ in range(resamples):
        picked = rng.integers(0, len(top), len(top)).tolist()
        up, down = sum(top[i] for i in picked), sum(bottom[i] for i in picked)
        if down:
            draws.append(up / down)
        else:
            undefined += 1
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high), undefined


def test_drawing_at_once_is_drawing_row_by_row() -> None:
    """The stream of default_rng(0) does not depend on the shape; agroground.md, 17."""
    for n in (7, 60, 1480):
        one_by_one = np.random.default_rng(0)
        rows = [one_by_one.integers(0, n, n) for _ in range(20)]
        assert (np.random.default_rng(0).integers(0, n, (20, n)) == rows).all()


@pytest.mark.parametrize("name", ["f1", "precision", "abstention", "region_iou", "joint"])
def test_counts_are_index_resampling(name: str) -> None:
    one = panel(40)
    found = bootstrap.estimates(bootstrap.draw([one], "image")[0])[name]
    low, high, undefined = by_indices(one, name)
    assert [found.low, found.high] == pytest.approx([low, high], abs=1e-12)
    assert found.undefined_draws == undefined == 0


def test_draws_with_nothing_to_measure_are_left_out_and_counted() -> None:
    one = panel(5)  # one healthy photo among five
    found = bootstrap.estimates(bootstrap.draw([one], "image")[0])["abstention"]
    low, high, undefined = by_indices(one, "abstention")
    assert (found.low, found.high, found.undefined_draws) == (low, high, undefined)
    assert undefined == pytest.approx(1000 * 0.8**5, rel=0.15)


def test_a_known_interval_to_the_digit() -> None:
    """Literals of default_rng(0): 3 of 4 healthy photos abstain."""
    found = photos.graded(*[("healthy", words) for words in ("empty", "empty", "prose", "null")])
    one = bootstrap.panel(found.items, found.evidence)
    got = bootstrap.estimates(bootstrap.draw([one], "image")[0])["abstention"]
    assert got == Estimate(0.75, 0.25, 1.0, 4, groups=4)


def test_totals_are_exact_so_that_threads_and_processors_change_no_bit() -> None:
    """`math.fsum` rounds once, whatever the order; a product of floats as its kernel adds."""
    rng = np.random.default_rng(3)
    sums = rng.random((700, 4)) * [1, 1e9, 1e-12, -3] + [0, 0, 0, 1]
    sums[:, 1] = np.floor(sums[:, 1])  # pixels
    grid = resampling.on_a_grid(sums)
    assert (grid[:, 1] == sums[:, 1]).all()
    assert np.abs(grid - sums).max(axis=0) == pytest.approx([0, 0, 0, 0], abs=1e-12)
    drawn = np.random.default_rng(0)
    for found in resampling.totals([sums], 30)[0]:
        picked = drawn.integers(0, 700, 700)
        assert found.tolist() == [math.fsum(column) for column in sums[picked].T]
    assert resampling.summed(sums).tolist() == [math.fsum(column) for column in sums.T]


def test_units_in_which_two_models_are_alike_leave_no_difference() -> None:
    """They differ in one of 20 units, which 36 % of the draws lack: the interval begins at 0."""
    for seed in range(40):
        values = np.random.default_rng(seed).random(20) * 0.6
        better = np.where(np.arange(20) == seed % 20, 1.0, values)
        first, second = (np.stack([each, np.ones(20)], axis=1) for each in (values, better))
        drawn = [resampling.ratio(each)[0] for each in resampling.totals([first, second], 1000)]
        gap = drawn[1] - drawn[0]
        assert [float(gap.min()), float(np.percentile(gap, 2.5))] == [0.0, 0.0]
        alone = resampling.ratio(resampling.totals([second], 1000)[0])[0]
        assert (alone == drawn[1]).all()  # so models that were drawn apart can be compared


@pytest.mark.parametrize("units", [1, 2, 3, 7, 20])
def test_equal_units_have_an_interval_of_no_width(units: int) -> None:
    for value in np.random.default_rng(units).random(40):
        found = resampling.estimate(np.tile([[value, 1.0]], (units, 1)), resampling.ratio, 50)
        assert found.low == found.value == found.high
        assert found.value == pytest.approx(value, rel=1e-15)


def test_a_group_has_one_sum_whatever_the_order_of_its_items() -> None:
    rows = np.array([[0.1], [0.2], [0.3], [0.7]])
    groups = ["b", "b", "b", "a"]
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    made = resampling.by_group(rows, groups)
    assert made.tolist() == [[0.7], [math.fsum([0.1, 0.2, 0.3])]]
    assert (resampling.by_group(rows[[2, 3, 1, 0]], ["b", "a", "b", "b"]) == made).all()


def test_a_grid_for_nothing() -> None:
    assert resampling.on_a_grid(np.zeros((0, 2))).shape == (0, 2)
    assert resampling.on_a_grid(np.zeros((3, 2))).tolist() == [[0, 0]] * 3
    assert resampling.on_a_grid(np.array([[5e-324], [1e300]])).tolist() == [[0], [1e300]]
    assert resampling.on_a_grid(np.array([[5e-324], [1e-310]])).tolist() == [[5e-324], [1e-310]]


def test_groups_are_drawn_whole() -> None:
    """Two groups: a draw holds one of three mixtures, so F1 takes one of three values."""
    one = panel(20, groups=["a"] * 5 + ["b"] * 15)
    values = bootstrap.draw([one], "group")[0].draws
    row = list(bootstrap.room()).index("recall")
    assert len(np.unique(values[row].round(12))) == 3


def test_singleton_groups_are_drawn_like_images_in_the_order_of_their_names() -> None:
    plain = panel(20)
    turned = panel(20, groups=[f"g{19 - n:02d}" for n in range(20)])
    by_image = bootstrap.draw([plain], "image")[0]
    assert (bootstrap.draw([plain], "group")[0].draws == by_image.draws).all()
    backwards = turned.take(np.arange(20)[::-1])
    expected = bootstrap.draw([backwards], "image")[0]
    assert bootstrap.draw([turned], "group")[0].draws == pytest.approx(expected.draws)


def test_groups_do_not_depend_on_the_order_of_items() -> None:
    groups = [f"g{n % 6}" for n in range(30)]
    one = panel(30, groups=groups)
    mixed = one.take(np.random.default_rng(2).permutation(30))
    first, second = (bootstrap.draw([p], "group")[0] for p in (one, mixed))
    assert first.draws == pytest.approx(second.draws, abs=1e-12)


def test_equal_models_have_equal_bytes_wherever_they_stand() -> None:
    items, evidence = shots(50)
    same = bootstrap.panel(items, evidence)
    drawn = bootstrap.draw([same, panel(50, 3), same, panel(50, 7), same], "group")
    first, second = bootstrap.estimates(drawn[0]), bootstrap.estimates(drawn[4])
    assert repr(first) == repr(second)
    for name, found in bootstrap.differences(drawn[0], drawn[2]).items():
        assert found[:3] in ((0.0, 0.0, 0.0), (None, None, None)), name


def test_a_difference_is_b_minus_a_on_the_same_draws() -> None:
    a, b = panel(40), panel(40, 3)
    drawn = bootstrap.draw([a, b], "image")
    found = bootstrap.differences(*drawn)["f1"]
    row = list(bootstrap.room()).index("f1")
    apart = drawn[1].draws[row] - drawn[0].draws[row]
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert found.value == drawn[1].value[row] - drawn[0].value[row]
    assert [found.low, found.high] == np.percentile(apart, [2.5, 97.5]).tolist()
    back = bootstrap.differences(drawn[1], drawn[0])["f1"]
    assert back[:3] == pytest.approx([-found.value, -found.high, -found.low])


def test_a_difference_needs_both_sides() -> None:
    empty = photos.graded(("lesion", "empty"), ("lesion", "empty"))
    boxes = photos.graded(("lesion", "right"), ("lesion", "empty"))
    panels = [bootstrap.panel(g.items, g.evidence) for g in (empty, boxes)]
    found = bootstrap.differences(*bootstrap.draw(panels))["precision"]
    assert found == Estimate(None, None, None, 0)


def test_groups_are_those_that_have_something_to_measure() -> None:
    """Three groups, one photo of each: the healthy one has no boxes, one answer is empty."""
    found = photos.graded(("lesion", "right"), ("lesion", "empty"), ("healthy", "empty"))
    one = bootstrap.panel(found.items, found.evidence)
    one = Panel(one.ids, ("a", "b", "c"), one.over, one.sums, one.widths)
    got = bootstrap.estimates(bootstrap.draw([one])[0])
    names = ("recall", "precision", "abstention", "false_abstention")
    assert [got[name].groups for name in names] == [2, 1, 1, 2]
    silent = photos.graded(*[(kind, "empty") for kind in ("lesion", "lesion", "healthy")])
    other = bootstrap.panel(silent.items, silent.evidence)
    other = Panel(other.ids, ("a", "b", "c"), other.over, other.sums, other.widths)
    apart = bootstrap.differences(*bootstrap.draw([other, one]))
    assert (apart["recall"].groups, apart["abstention"].groups) == (2, 1)
    assert apart["precision"].groups is None  # nothing was drawn on one side
    both = Panel(one.ids, ("a", "a", "c"), one.over, one.sums, one.widths)
    alone = bootstrap.estimates(bootstrap.draw([both])[0])["recall"]
    assert alone == Estimate(0.5, 0.5, 0.5, 2, alone.undefined_draws, 1)
    photo_by_photo = bootstrap.estimates(bootstrap.draw([both], "image")[0])["recall"]
    assert photo_by_photo.groups == 2


def test_panels_over_other_items_are_not_drawn_together() -> None:
    with pytest.raises(ValueError, match="same items"):
        bootstrap.draw([panel(5), panel(6)])


def test_many_resamples_are_drawn_in_blocks_with_the_same_stream() -> None:
    one = panel(700)  # 3,000 x 700 counts are over one block
    assert resampling._BLOCK < 3000 * 700
    many = bootstrap.draw([one], "image", 3000)[0].draws
    few = bootstrap.draw([one], "image", 100)[0].draws
    assert many[:, :100] == pytest.approx(few, abs=1e-12)


def test_nothing_measured_is_no_number() -> None:
    none = panel(5).take(np.zeros(0, dtype=np.int64))
    found = bootstrap.estimates(bootstrap.draw([none])[0])
    assert set(found.values()) == {Estimate(None, None, None, 0)}


def test_floored_statistics_are_zero_as_published() -> None:
    found = photos.graded(("healthy", "empty"))
    one = bootstrap.panel(found.items, found.evidence)
    floored = bootstrap.estimates(bootstrap.draw([one], "image", floored=True)[0])
    assert floored["f1"] == Estimate(0.0, 0.0, 0.0, 0)
    assert floored["abstention"] == Estimate(1.0, 1.0, 1.0, 1)
