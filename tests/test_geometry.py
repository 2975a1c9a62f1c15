"""Box arithmetic: literals, edge cases, and a pixel-counting reference that shares no code."""

from itertools import permutations
from math import inf
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth import geometry
from fieldtruth.geometry import Boxes, Ints, as_boxes
from fieldtruth.records import Space

SPACES: tuple[Space, ...] = get_args(Space)

corner = st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(0, 8), st.integers(0, 8))
whole_boxes = st.lists(corner.map(lambda c: (c[0], c[1], c[0] + c[2], c[1] + c[3])), max_size=6)


def cells(boxes: list[tuple[int, int, int, int]]) -> set[tuple[int, int]]:
    """The reference for whole-numbered boxes: every unit cell they cover."""
    return {(x, y) for x1, y1, x2, y2 in boxes for x in range(x1, x2) for y in range(y1, y2)}


def counts(*values: int) -> Ints:
    return np.array(values, dtype=np.int64)


# --- spaces ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "written"),
    [
        ("pixel", (20, 10, 100, 50)),
        ("norm1000", (100, 100, 500, 500)),
        ("norm1", (0.1, 0.1, 0.5, 0.5)),
        ("yx1000", (100, 100, 500, 500)),
        ("loc1024", (102.4, 102.4, 512, 512)),
        ("pixel840", (84, 84, 420, 420)),
        ("pixel_resized", (19.6, 11.2, 98, 56)),  # 200 x 100 is seen as 196 x 112
    ],
)
def test_each_space_by_hand(space: Space, written: tuple[float, ...]) -> None:
    pixels = as_boxes([(20, 10, 100, 50)])
    assert geometry.from_pixels(pixels, space, 200, 100) == pytest.approx(as_boxes([written]))
    assert geometry.to_pixels(as_boxes([written]), space, 200, 100) == pytest.approx(pixels)


@pytest.mark.parametrize("space", ["yx1000", "loc1024"])
def test_y_comes_first_where_the_space_says_so(space: Space) -> None:
    written = geometry.from_pixels(as_boxes([(0, 0, 200, 50)]), space, 200, 100)[0]
    assert written[2] == geometry.space_limits(space)[1] / 2
    assert written[3] == geometry.space_limits(space)[0]


@given(st.sampled_from(SPACES), whole_boxes, st.integers(1, 5000), st.integers(1, 5000))
def test_there_and_back_is_the_same_box(
    space: Space, boxes: list[tuple[int, int, int, int]], width: int, height: int
) -> None:
    pixels = as_boxes(boxes)
    back = geometry.to_pixels(
        geometry.from_pixels(pixels, space, width, height), space, width, height
    )
    assert back == pytest.approx(pixels)


@pytest.mark.parametrize(
    ("size", "seen"),
    [
        ((28, 28), (56, 56)),  # too small: enlarged to at least 4 patches
        ((100, 100), (112, 112)),
        ((640, 480), (644, 476)),
        ((4000, 3000), (4004, 2996)),  # 11,995,984 pixels: within the budget
        ((8000, 6000), (4116, 3080)),  # shrunk to 12,677,280
        ((10, 5000), (28, 1260)),  # a side that rounds to 0 makes it shrink the other
    ],
)
def test_the_grid_that_qwen_sees(size: tuple[int, int], seen: tuple[int, int]) -> None:
    columns, rows = geometry.resized(*size)
    assert (columns % 28, rows % 28) == (0, 0)
    assert 3136 <= columns * rows <= 12845056
    assert (columns, rows) == seen


def test_limits_are_unknown_without_a_size() -> None:
    assert geometry.space_limits("pixel") == (inf, inf)
    assert geometry.space_limits("pixel_resized") == (inf, inf)
    assert geometry.space_limits("pixel", 7, 9) == (7, 9)
    assert geometry.space_limits("loc1024") == (1024, 1024)


def test_hostile_numbers_end_inside_the_image() -> None:
    boxes = geometry.to_pixels(as_boxes([(-1e308, 5, 1e308, 1e308)]), "norm1", 100, 50)
    assert geometry.clipped(boxes, 100, 50).tolist() == [[0, 50, 100, 50]]


def test_corners_are_put_in_order_and_cut_to_the_image() -> None:
    boxes = geometry.ordered(as_boxes([(30, 40, 10, 20), (120, 10, 150, 20)]))
    assert boxes.tolist() == [[10, 20, 30, 40], [120, 10, 150, 20]]
    cut = geometry.clipped(boxes, 100, 30)
    assert cut.tolist() == [[10, 20, 30, 30], [100, 10, 100, 20]]
    assert geometry.areas(cut).tolist() == [200, 0]


# --- overlap -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((0, 0, 10, 10), (0, 0, 10, 10), 1.0),
        ((0, 0, 10, 10), (0, 0, 10, 5), 0.5),
        ((0, 0, 10, 10), (5, 0, 15, 10), 1 / 3),
        ((0, 0, 10, 10), (10, 0, 20, 10), 0.0),  # they touch
        ((3, 3, 3, 3), (3, 3, 3, 3), 0.0),  # a union without area
        ((0, 0, 10, 10), (4, 4, 4, 9), 0.0),
    ],
)
def test_iou_by_hand(a: tuple[int, ...], b: tuple[int, ...], expected: float) -> None:
    assert geometry.iou(as_boxes([a]), as_boxes([b]))[0, 0] == expected
    assert geometry.iou(as_boxes([b]), as_boxes([a]))[0, 0] == expected


def test_iou_of_nothing_has_a_shape() -> None:
    assert geometry.iou(as_boxes([]), as_boxes([(0, 0, 1, 1)])).shape == (0, 1)
    assert geometry.iou(as_boxes([(0, 0, 1, 1)]), as_boxes([])).shape == (1, 0)


@given(whole_boxes, whole_boxes)
def test_iou_counts_cells(
    a: list[tuple[int, int, int, int]], b: list[tuple[int, int, int, int]]
) -> None:
    table = geometry.iou(as_boxes(a), as_boxes(b))
    for i, first in enumerate(a):
        for j, second in enumerate(b):
            one, two = cells([first]), cells([second])
            expected = len(one & two) / len(one | two) if one | two else 0.0
            assert table[i, j] == pytest.approx(expected, abs=1e-12)


def test_nms_keeps_the_best_and_what_lies_apart() -> None:
    boxes = as_boxes([(0, 0, 10, 10), (0, 0, 10, 9), (20, 20, 30, 30), (0, 0, 10, 5)])
    assert geometry.nms(boxes, np.array([0.5, 0.9, 0.1, 0.4])).tolist() == [1, 2]
    # An IoU of exactly the threshold stays; equal scores: the earlier wins.
    assert geometry.nms(boxes[[0, 3]], np.array([1.0, 1.0])).tolist() == [0, 1]
    assert geometry.nms(boxes[[0, 1]], np.array([1.0, 1.0])).tolist() == [0]
    assert geometry.nms(as_boxes([]), np.zeros(0)).tolist() == []


# --- matching ----------------------------------------------------------------------------------


def test_equal_overlaps_go_to_the_later_prediction_then_the_later_truth() -> None:
    """The scorer's tie rule: descending (IoU, said index, true index); agroground.md, 17."""
    same = as_boxes([(0, 0, 10, 10), (0, 0, 10, 10)])
    assert geometry.match(same, same) == [(1, 1), (0, 0)]
    assert geometry.match(same, same[:1]) == [(1, 0)]
    assert geometry.match(same[:1], same) == [(0, 1)]


def test_a_pair_at_the_threshold_matches() -> None:
    said, true = as_boxes([(0, 0, 10, 10)]), as_boxes([(0, 0, 10, 5)])
    assert geometry.match(said, true, 0.5) == [(0, 0)]
    assert geometry.match(said, true, 0.5000001) == []


def test_where_greedy_is_not_the_best() -> None:
    """One prediction lies best on the truth that another needs."""
    said = as_boxes([(0, 0, 100, 10), (20, 0, 120, 10)])
    true = as_boxes([(10, 0, 110, 10), (50, 0, 150, 10)])
    assert geometry.match(said, true, 0.4, "greedy") == [(1, 0)]
    assert geometry.match(said, true, 0.4, "hungarian") == [(0, 0), (1, 1)]
    assert geometry.match(said, true, 0.4, "maximum") == [(0, 0), (1, 1)]


def test_where_most_matches_is_not_most_overlap() -> None:
    said = as_boxes([(0, 0, 100, 10), (55, 0, 155, 10)])
    true = as_boxes([(0, 0, 100, 10), (-55, 0, 45, 10)])
    assert geometry.match(said, true, 0.25, "hungarian") == [(0, 0)]
    assert sorted(geometry.match(said, true, 0.25, "maximum")) == [(0, 1), (1, 0)]


@given(whole_boxes, whole_boxes, st.sampled_from([0.5, 0.75]))
def test_matching_is_one_to_one_and_ordered_by_strength(
    a: list[tuple[int, int, int, int]], b: list[tuple[int, int, int, int]], bar: float
) -> None:
    said, true = as_boxes(a), as_boxes(b)
    table = geometry.iou(said, true)
    found = {rule: geometry.match(said, true, bar, rule) for rule in get_args(geometry.Rule)}
    for pairs in found.values():
        assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
        assert all(table[pair] >= bar for pair in pairs)
    total = {rule: sum(table[pair] for pair in pairs) for rule, pairs in found.items()}
    assert len(found["greedy"]) <= len(found["hungarian"]) <= len(found["maximum"])
    assert total["hungarian"] >= max(total["greedy"], total["maximum"]) - 1e-9


@given(st.lists(corner, max_size=4), st.lists(corner, max_size=4))
def test_maximum_is_the_most_there_can_be(
    a: list[tuple[int, int, int, int]], b: list[tuple[int, int, int, int]]
) -> None:
    said = as_boxes([(x, y, x + w + 1, y + h + 1) for x, y, w, h in a])
    true = as_boxes([(x, y, x + w + 1, y + h + 1) for x, y, w, h in b])
    table = geometry.iou(said, true)
    table = table if len(a) <= len(b) else table.T
    most = max(
        sum(table[i, j] >= 0.3 for i, j in enumerate(order))
        for order in permutations(range(table.shape[1]), table.shape[0])
    )
    assert len(geometry.match(said, true, 0.3, "maximum")) == most


def test_the_matches_at_a_higher_bar_are_the_first_of_the_lower_one() -> None:
    draw = np.random.default_rng(3)
    low = draw.uniform(0, 30, (40, 2))
    boxes = np.concatenate([low, low + draw.uniform(5, 25, (40, 2))], axis=1)
    loose, strict = (geometry.match(boxes[:20], boxes[20:], bar) for bar in (0.2, 0.4))
    assert 0 < len(strict) < len(loose)
    assert loose[: len(strict)] == strict


@given(st.lists(st.tuples(whole_boxes, whole_boxes), max_size=5), st.floats(0.05, 1))
def test_near_pairs_are_those_of_each_image_alone(images: list[Any], bar: float) -> None:
    said, true = (as_boxes([b for image in images for b in image[side]]) for side in (0, 1))
    sizes = [counts(*(len(image[side]) for image in images)) for side in (0, 1)]
    expected, begin = [], [0, 0]
    for image in images:
        table = geometry.iou(as_boxes(image[0]), as_boxes(image[1]))
        told = table.round(12)
        for i, j in zip(*np.nonzero((table >= bar) | (told >= bar)), strict=True):
            expected.append((begin[0] + i, begin[1] + j, told[i, j]))
        begin = [begin[0] + len(image[0]), begin[1] + len(image[1])]
    found = geometry.near(said, true, sizes[0], sizes[1], bar)
    assert list(zip(*found, strict=True)) == expected


def test_near_pairs_of_more_than_are_held_at_once() -> None:
    row = as_boxes([(x, 0, x + 1, 1) for x in range(2500)])
    first, second, overlap = geometry.near(row, row, counts(2500), counts(2500))
    assert first.tolist() == second.tolist() == list(range(2500))
    assert set(overlap.tolist()) == {1.0}


# --- unions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "true", "expected"),
    [
        ([], [], 0.0),
        ([(0, 0, 4, 4)], [], 0.0),
        ([(0, 0, 4, 4)], [(0, 0, 4, 4)], 1.0),
        ([(0, 0, 4, 4), (0, 0, 4, 4)], [(0, 0, 4, 4)], 1.0),  # a double adds nothing
        ([(0, 0, 4, 4), (2, 0, 6, 4)], [(0, 0, 6, 4)], 1.0),
        ([(0, 0, 4, 4)], [(0, 0, 2, 4), (4, 0, 6, 4)], 1 / 3),
        ([(0, 0, 3, 3)], [(0, 0, 3, 3)], 1.0),  # the published raster loses this box
        ([(1, 1, 1, 1)], [(1, 1, 1, 1)], 0.0),
    ],
)
def test_region_iou_by_hand(
    said: list[tuple[int, ...]], true: list[tuple[int, ...]], expected: float
) -> None:
    assert geometry.region_iou(as_boxes(said), as_boxes(true)) == expected


@given(st.lists(st.tuples(whole_boxes, whole_boxes), max_size=5))
def test_many_images_at_once_count_cells(
    images: list[tuple[list[tuple[int, int, int, int]], list[tuple[int, int, int, int]]]],
) -> None:
    said, true = ([box for image in images for box in image[side]] for side in (0, 1))
    sizes = [counts(*(len(image[side]) for image in images)) for side in (0, 1)]
    found = geometry.region_ious(as_boxes(said), as_boxes(true), *sizes)
    areas = geometry.union_areas(as_boxes(said), sizes[0])
    for index, (mine, gold) in enumerate(images):
        a, b = cells(mine), cells(gold)
        assert areas[index] == len(a)
        assert found[index] == pytest.approx(len(a & b) / len(a | b) if a | b else 0.0)
        assert 0 <= found[index] <= 1


@given(st.lists(whole_boxes, min_size=1, max_size=3), st.integers(0, 6))
def test_rows_of_photos_that_are_asked_for_again(photos: Any, many: int) -> None:
    photo = np.arange(many) * len(photos) // max(1, many)
    once = as_boxes([b for boxes in photos for b in boxes]), counts(*map(len, photos))
    again = [photos[i] for i in photo]
    each = as_boxes([b for boxes in again for b in boxes]), counts(*map(len, again))
    assert np.array_equal(each[0], once[0][geometry.rows_of(once[1], photo)])


def test_a_reply_of_a_thousand_boxes_is_swept_in_blocks() -> None:
    grid = as_boxes([(x, y, x + 1.5, y + 1.5) for x in range(32) for y in range(32)])
    assert geometry.union_area(grid) == 32.5 * 32.5


unit = st.floats(0, 1, allow_subnormal=False)
small = st.lists(st.tuples(unit, unit, unit, unit), max_size=5)


@given(small, small)
def test_overlaps_lie_between_0_and_1_whatever_the_floats(
    a: list[tuple[float, float, float, float]], b: list[tuple[float, float, float, float]]
) -> None:
    said, true = geometry.ordered(as_boxes(a)), geometry.ordered(as_boxes(b))
    table = geometry.iou(said, true)
    assert ((table >= 0) & (table <= 1)).all()
    assert 0 <= geometry.region_iou(said, true) <= 1
    assert geometry.union_area(said) <= geometry.areas(said).sum() + 1e-12


# --- masks -------------------------------------------------------------------------------------


def test_components_touch_at_corners_and_end_one_past_the_last_pixel() -> None:
    mask = np.zeros((6, 9), dtype=np.bool_)
    mask[0, 0] = mask[1, 1] = True  # one component: 8-connected
    mask[3:5, 4:8] = True
    mask[0, 8] = True
    assert geometry.components(mask).tolist() == [[0, 0, 2, 2], [8, 0, 9, 1], [4, 3, 8, 5]]
    assert geometry.components(mask, 2).tolist() == [[0, 0, 2, 2], [4, 3, 8, 5]]
    assert geometry.components(mask, 8).tolist() == [[4, 3, 8, 5]]
    assert geometry.components(mask, 9).shape == (0, 4)


def test_arguments_are_left_alone() -> None:
    boxes: Boxes = as_boxes([(30, 40, 10, 20)])
    copy = boxes.copy()
    geometry.to_pixels(boxes, "pixel", 5, 5)[:] = 0
    geometry.from_pixels(boxes, "pixel", 5, 5)[:] = 0
    geometry.ordered(boxes)[:] = 0
    geometry.clipped(boxes, 5, 5)[:] = 0
    assert (boxes == copy).all()
