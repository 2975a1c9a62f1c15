"""Box arithmetic on `(n, 4)` arrays, and the box spaces that models write in.

A box is `(x1, y1, x2, y2)`, its far corner exclusive, in pixels of the upright image unless a
function says otherwise. Nothing here changes its arguments.

The rules are those of the design, section 6. Two ways of working stand side by side: one image
at a time (`iou`, `match`, `region_iou`) and many images in one pass over flat arrays
(`near`, `greedy`, `union_areas`, `region_ious`), where `counts[i]` rows belong to image i.
"""

from collections.abc import Sequence
from math import ceil, floor, inf, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fieldtruth.records import Space

Boxes = NDArray[np.float64]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rule = Literal["greedy", "hungarian", "maximum"]

_FULL: dict[Space, float] = {
    "norm1000": 1000, "norm1": 1, "yx1000": 1000, "loc1024": 1024,
    "pixel840": 840,  # VisionReasoner and Seg-Zero: pixels of the photo stretched to 840 x 840
}  # fmt: skip
_Y_FIRST: frozenset[Space] = frozenset({"yx1000", "loc1024"})
# Qwen2.5-VL: patches of 14 merged 2 x 2, and the pixel budget its published processor ships with.
GRID = 28
MIN_PIXELS = 4 * GRID * GRID
MAX_PIXELS = 16384 * GRID * GRID
# Of an IoU that is held against a threshold: where corners were scaled to pixels, exactly one half
# may come out as 0.4999999999999998.
DIGITS = 12
_BLOCK = 1 << 16  # numbers held at once by the sweep: memory stays small whatever the input


def as_boxes(boxes: Sequence[Sequence[float]] | Boxes) -> Boxes:
    """Any sequence of four numbers each as a float array of shape (n, 4); n may be 0."""
    return np.array(boxes, dtype=np.float64).reshape(-1, 4)


# --- spaces ------------------------------------------------------------------------------------


def resized(width: int, height: int) -> tuple[int, int]:
    """The (width, height) that Qwen2.5-VL sees: sides in multiples of 28, area within bounds.

    Reference: peers.md, "Box spaces to support by name".
    """
    columns, rows = round(width / GRID) * GRID, round(height / GRID) * GRID
    if columns * rows > MAX_PIXELS:
        shrink = sqrt(width * height / MAX_PIXELS)
        columns = max(GRID, floor(width / shrink / GRID) * GRID)
        rows = max(GRID, floor(height / shrink / GRID) * GRID)
    elif columns * rows < MIN_PIXELS:
        grow = sqrt(MIN_PIXELS / (width * height))
        columns = ceil(width * grow / GRID) * GRID
        rows = ceil(height * grow / GRID) * GRID
    return columns, rows


def space_limits(
    space: Space, width: int | None = None, height: int | None = None
) -> tuple[float, float]:
    """The largest (x, y) of a space; infinite where it depends on a size that is not given."""
    if space in _FULL:
        return _FULL[space], _FULL[space]
    if width is None or height is None:
        return inf, inf
    return resized(width, height) if space == "pixel_resized" else (width, height)


def _turned(boxes: Boxes, space: Space) -> Boxes:
    """x first <-> y first, where the space writes y first."""
    return as_boxes(boxes[:, [1, 0, 3, 2]]) if space in _Y_FIRST else boxes


def to_pixels(boxes: Boxes, space: Space, width: int, height: int) -> Boxes:
    """Boxes in a model's space -> pixels of the upright image; neither clipped nor ordered."""
    if space == "pixel":
        return boxes.copy()
    x_full, y_full = space_limits(space, width, height)
    with np.errstate(over="ignore"):  # hostile numbers become infinite, and are clipped later
        return np.array(
            _turned(boxes, space)
            / (x_full, y_full, x_full, y_full)
            * (width, height, width, height)
        )


def from_pixels(boxes: Boxes, space: Space, width: int, height: int) -> Boxes:
    """Pixels of the upright image -> boxes in a model's space, not rounded."""
    if space == "pixel":
        return boxes.copy()
    x_full, y_full = space_limits(space, width, height)
    scaled = boxes / (width, height, width, height) * (x_full, y_full, x_full, y_full)
    return _turned(scaled, space)


def ordered(boxes: Boxes) -> Boxes:
    """The same boxes with the low corner first on each axis."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    return np.concatenate([low, high], axis=1)


def clipped(boxes: Boxes, width: int, height: int) -> Boxes:
    """Boxes cut to the image. One that lies outside keeps its row, with no area."""
    return np.minimum(np.maximum(boxes, 0.0), [width, height, width, height])


# --- overlap -----------------------------------------------------------------------------------


def areas(boxes: Boxes) -> Floats:
    """Area of each box, shape (n,); 0 where the corners are out of order."""
    x1, y1, x2, y2 = boxes.T  # by column: numpy is slow on rows of two or four numbers
    wide: Floats = np.maximum(x2 - x1, 0.0)
    high: Floats = np.maximum(y2 - y1, 0.0)
    return wide * high


def overlaps(a: Boxes, b: Boxes) -> Floats:
    """IoU of row i of `a` with row i of `b`, shape (n,); 0 where their union has no area."""
    (left, top, right, bottom), (x1, y1, x2, y2) = a.T, b.T
    wide: Floats = np.maximum(np.minimum(right, x2) - np.maximum(left, x1), 0.0)
    high: Floats = np.maximum(np.minimum(bottom, y2) - np.maximum(top, y1), 0.0)
    shared = wide * high
    union = areas(a) + areas(b) - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def iou(a: Boxes, b: Boxes) -> Floats:
    """IoU of every box of `a` with every box of `b`, shape (len(a), len(b))."""
    rows, columns = np.repeat(a, len(b), axis=0), np.tile(b, (len(a), 1))
    return overlaps(rows, columns).reshape(len(a), len(b))


def nms(boxes: Boxes, scores: Floats, threshold: float = 0.5) -> Ints:
    """Indices kept, best score first: a box goes when its IoU with a kept one is over `threshold`.

    Equal scores: the earlier box is the better.
    """
    waiting = np.argsort(-scores, kind="stable").astype(np.int64)
    kept = []
    while len(waiting):
        best, waiting = waiting[0], waiting[1:]
        kept.append(best)
        waiting = waiting[iou(boxes[[best]], boxes[waiting])[0] <= threshold]
    return np.array(kept, dtype=np.int64)


# --- matching ----------------------------------------------------------------------------------


def match(
    said: Boxes,
    true: Boxes,
    threshold: float = 0.5,
    rule: Rule = "greedy",
    digits: int | None = DIGITS,
) -> list[tuple[int, int]]:
    """One-to-one matches of at least `threshold` IoU (which is over 0), as (said, true) indices.

    `greedy` takes pairs in descending order of (IoU, said index, true index), in that order
    (design, section 6); `hungarian` has the largest total IoU; `maximum` has the most
    matches, and the largest total IoU among those. IoUs are rounded to `digits`.
    """
    raw = iou(said, true)
    table = raw if digits is None else raw.round(digits)
    reached = np.maximum(raw, table) >= threshold
    if rule == "greedy":
        first, second = np.nonzero(reached)
        taken = greedy(first, second, table[first, second])
        return [(int(first[i]), int(second[i])) for i in taken]
    return _assigned(table, reached, rule)


def _assigned(table: Floats, reached: NDArray[np.bool_], rule: Rule) -> list[tuple[int, int]]:
    """The best assignment over the pairs that reach the threshold."""
    from scipy.optimize import linear_sum_assignment

    # A total of IoUs is at most min(shape), so with this bonus one more match outweighs any IoU.
    bonus = min(table.shape) + 1 if rule == "maximum" else 0
    worth = np.where(reached, table + bonus, 0.0)
    first, second = linear_sum_assignment(worth, maximize=True)
    return [(int(i), int(j)) for i, j in zip(first, second, strict=True) if worth[i, j] > 0]


def near(
    said: Boxes, true: Boxes, said_counts: Ints, true_counts: Ints, threshold: float = 0.5
) -> tuple[Ints, Ints, Floats]:
    """The pairs of many images that reach a threshold over 0: said row, true row, and their IoU.

    The IoU is rounded to `DIGITS`. Rows are counted over the flat arrays and ascend. A few million
    pairs are held at once, however many there are.
    """
    width = np.repeat(true_counts, said_counts)  # of each said box: how many it may pair with
    start = np.repeat(np.cumsum(true_counts) - true_counts, said_counts)
    ends, begin = np.cumsum(width), 0
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    while begin < len(said):
        most = ends[begin] - width[begin] + 32 * _BLOCK
        end = max(begin + 1, int(np.searchsorted(ends, most, side="right")))
        found.append(_near(said, true, (begin, end), (start, width), threshold))
        begin = end
    first, second, overlap = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return first, second, overlap


def _near(
    said: Boxes, true: Boxes, block: tuple[int, int], partners: tuple[Ints, Ints], threshold: float
) -> tuple[Ints, Ints, Floats]:
    """`near` of a block of said rows; row i's partners are `width[i]` rows from `start[i]` on."""
    rows = slice(*block)
    start, width = (each[rows] for each in partners)
    (x1, _, x2, _), (left, _, right, _) = said[rows].T, true.T.copy()  # numpy is slow on rows
    second = np.repeat(start - np.cumsum(width) + width, width)
    second += np.arange(len(second))
    beside = np.repeat(x1, width) < right[second]
    beside &= left[second] < np.repeat(x2, width)
    meet = np.flatnonzero(beside)  # few do: the rest is worked out for them alone
    first, second = np.repeat(np.arange(*block), width)[meet], second[meet]
    overlap = overlaps(said.take(first, axis=0), true.take(second, axis=0))
    told = overlap.round(DIGITS)
    taken = np.flatnonzero(np.maximum(overlap, told) >= threshold)
    return first[taken], second[taken], told[taken]


def greedy(said: Ints, true: Ints, overlap: Floats) -> list[int]:
    """Which of these pairs greedy matching takes, as indices, best first.

    All pairs given count as reaching the threshold; boxes of several images may be mixed when
    each has a number of its own. Since pairs are taken in descending order, the matches at a
    higher threshold are the ones of this list that reach it.
    """
    order = np.lexsort((-true, -said, -overlap))
    free_said = bytearray(b"\1") * (int(said.max(initial=0)) + 1)
    free_true = bytearray(b"\1") * (int(true.max(initial=0)) + 1)
    taken: list[int] = []
    for index, i, j in zip(order.tolist(), said[order].tolist(), true[order].tolist(), strict=True):
        if free_said[i] and free_true[j]:
            free_said[i] = free_true[j] = 0
            taken.append(index)
    return taken


# --- unions ------------------------------------------------------------------------------------


def union_area(boxes: Boxes) -> float:
    """Exact area that the boxes cover together."""
    return float(union_areas(boxes, np.array([len(boxes)]))[0])


def region_iou(said: Boxes, true: Boxes) -> float:
    """Exact IoU of the two unions; 0 where neither has an area (design, section 6)."""
    return float(region_ious(said, true, np.array([len(said)]), np.array([len(true)]))[0])


def region_ious(said: Boxes, true: Boxes, said_counts: Ints, true_counts: Ints) -> Floats:
    """`region_iou` of many images at once, shape (images,)."""
    images = np.arange(len(said_counts))
    owner = np.concatenate([np.repeat(images, said_counts), np.repeat(images, true_counts)])
    both = np.concatenate([said, true])[np.argsort(owner, kind="stable")]
    boxes = np.concatenate([said, both, true])
    counts = np.concatenate([said_counts, said_counts + true_counts, true_counts])
    first, union, second = np.split(union_areas(boxes, counts), [len(images), 2 * len(images)])
    apart = first + second
    ratio = np.divide(apart - union, union, out=np.zeros_like(union), where=union > 0)
    return np.clip(ratio, 0.0, 1.0)


def rows_of(counts: Ints, which: Ints) -> Ints:
    """The rows of these images in flat arrays, one image after another."""
    many = counts[which]
    first = (np.cumsum(counts) - counts)[which] - (np.cumsum(many) - many)
    rows: Ints = np.arange(int(many.sum())) + np.repeat(first, many)
    return rows


def union_areas(boxes: Boxes, counts: Ints) -> Floats:
    """`union_area` of many images at once, shape (images,); `boxes` are flat, `counts` per image.

    Images with about the same number of boxes are swept together, padded with boxes of no area.
    """
    starts = np.cumsum(counts) - counts
    padded = np.concatenate([boxes, np.zeros((1, 4))])
    result, least = np.zeros(len(counts)), 0
    while least < int(counts.max(initial=0)):
        most = least + 1 + least // 2  # the most boxes an image of this round may have
        rows = np.flatnonzero((counts > least) & (counts <= most))
        step = max(1, _BLOCK // (2 * most))
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            column = np.arange(most)
            index = np.where(column < counts[some, None], starts[some, None] + column, len(boxes))
            result[some] = _sweep(padded.take(index, axis=0))
        least = most
    return result


def _sweep(boxes: Floats) -> Floats:
    """Covered area of each row of (images, n, 4): slab by slab between the corners' x."""
    order = np.argsort(boxes[:, :, 1], axis=1, kind="stable")
    order += np.arange(0, order.size, order.shape[1])[:, None]
    columns = boxes.reshape(-1, 4).take(order.T, axis=0)
    lowest_first = np.ascontiguousarray(columns.transpose(0, 2, 1))  # (n, 4, images)
    edges = np.sort(boxes[:, :, ::2].reshape(len(boxes), -1), axis=1)
    edges = np.ascontiguousarray(edges.T)  # (2n, images): the long axis last, for speed
    total = np.zeros(len(boxes))
    step = max(1, _BLOCK // len(boxes))
    for begin in range(0, len(edges) - 1, step):
        block = edges[begin : begin + step + 1]
        left, right = block[:-1], block[1:]
        reach, length = np.full(left.shape, -inf), np.zeros(left.shape)
        for x1, low, x2, high in lowest_first:
            here = x1 <= left
            here &= right <= x2
            end = np.where(here, high, -inf)
            # Each box adds what lies above all the boxes before it. Where this one is not, `low`
            # may stay in `reach`: no box begins below it from here on.
            np.maximum(reach, low, out=reach)
            np.maximum(reach, end, out=end)
            length += np.subtract(end, reach, out=reach)
            reach = end
        length *= right - left
        total += length.sum(axis=0)
    return total


# --- masks -------------------------------------------------------------------------------------


def components(mask: NDArray[np.bool_], min_area: float = 1, *, diagonal: bool = True) -> Boxes:
    """Boxes of the 8-connected components of at least `min_area` pixels, far edge exclusive.

    `mask` is (height, width); the order is that of each component's first pixel, row by row.
    Without `diagonal` they are 4-connected: pixels that meet in a corner only are apart.
    """
    from scipy import ndimage

    near = np.ones((3, 3), dtype=np.int64) if diagonal else ndimage.generate_binary_structure(2, 1)
    labels, _ = ndimage.label(mask, structure=near)
    sizes = np.bincount(labels.ravel())
    found = ndimage.find_objects(labels)
    return as_boxes(
        [
            (place[1].start, place[0].start, place[1].stop, place[0].stop)
            for number, place in enumerate(found, start=1)
            if sizes[number] >= min_area
        ]
    )
