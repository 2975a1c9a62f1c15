"""From a map of log odds to lesions: the blobs at every cut, judged, and the best of them kept.

Blobs at a higher cut lie in blobs at a lower one, so they form trees (extremal regions, Matas et
al. 2002). A regression judges how likely a blob's box matches a true one; of each tree the
disjoint blobs with the largest sum are taken. So no one threshold has to part lesions that touch
and hold together those that are patchy.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from fieldtruth.models.colour.leaf import Array
from fieldtruth.models.colour.pixels import MARGIN, View

CUTS = (-2.0, -1.0, -0.25, 0.5, 1.25, 2.0, 3.0, 4.0)  # log odds
FEATURES = 23
_EIGHT = np.ones((3, 3), bool)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Parts(NamedTuple):
    """The blobs of one photo, those of lower cuts first."""

    boxes: Floats  # (n, 4) working pixels of the view
    features: Array  # (n, FEATURES), see `_measure`
    parent: Ints  # (n,) the blob of the next lower cut around it, or -1


class _Lit(NamedTuple):
    """The pixels over the lowest cut, and sums over rectangles, of one photo."""

    where: Ints  # (m,) flat positions
    odds: Floats  # (m,)
    colours: Floats  # (m, 3)
    depth: Floats  # (m,)
    table: Floats  # (h + 1, w + 1, 5) summed areas of odds, leaf, and colours on the leaf


def grow(seen: View, odds: Array) -> Parts:
    """All blobs that are not tiny, of the (h, w) log odds of a view."""
    lit = _light(seen, odds)
    boxes, features, parents = [np.zeros((0, 4))], [np.zeros((0, FEATURES))], [np.zeros(0, int)]
    before = np.full(odds.shape, -1)
    first = 0
    for cut in CUTS:
        labels, count = ndimage.label(odds > cut, _EIGHT)
        area = np.bincount(labels.ravel(), minlength=count + 1)
        area[0] = 0
        kept = np.flatnonzero(area >= seen.least)
        if len(kept) == 0:
            break
        slices = ndimage.find_objects(labels)
        found = [slices[label - 1] for label in kept.tolist()]
        box = np.array([[x.start, y.start, x.stop, y.stop] for y, x in found], float)
        number = np.full(count + 1, -1)
        number[kept] = np.arange(len(kept))
        mine = number[labels.ravel()[lit.where]]
        anywhere = np.zeros(len(kept), int)
        anywhere[mine[mine >= 0]] = lit.where[mine >= 0]
        boxes.append(box)
        parents.append(before.ravel()[anywhere])
        features.append(_measure(seen, lit, mine, box, cut))
        number[kept] += first
        before = number[labels]
        first += len(kept)
    return Parts(
        np.concatenate(boxes),
        np.concatenate(features).astype(np.float32),
        np.concatenate(parents).astype(np.int64),
    )


def select(parent: Ints, worth: Array) -> Ints:
    """Blobs with the largest sum of worth of which none lies in another, lower cuts first."""
    inside = np.zeros(len(parent))
    for blob in range(len(parent) - 1, -1, -1):  # a parent comes before what lies in it
        if parent[blob] >= 0:
            inside[parent[blob]] += max(0.0, float(worth[blob]), inside[blob])
    taken: list[int] = []
    covered = np.zeros(len(parent), bool)
    for blob in range(len(parent)):
        if parent[blob] >= 0 and covered[parent[blob]]:
            covered[blob] = True
        elif worth[blob] > 0 and worth[blob] >= inside[blob]:
            covered[blob] = True
            taken.append(blob)
    return np.array(taken, dtype=np.int64)


def _light(seen: View, odds: Array) -> _Lit:
    where = np.flatnonzero(odds > CUTS[0])
    leaf = seen.leaf[..., None]
    layers = np.concatenate([odds[..., None], leaf, seen.colours * leaf], axis=-1)
    table = np.pad(layers, ((1, 0), (1, 0), (0, 0))).cumsum(0, dtype=np.float64).cumsum(1)
    return _Lit(
        where,
        odds.ravel()[where].astype(float),
        seen.colours.reshape(-1, 3)[where].astype(float),
        seen.depth.ravel()[where].astype(float),
        table,
    )


def _measure(seen: View, lit: _Lit, mine: Ints, box: Floats, cut: float) -> Floats:
    """(n, FEATURES) of the blobs of one cut; `mine` is the blob of each lit pixel, or -1.

    Size, cut, odds within; mean and spread of colour; shape; distance to the edge of the leaf;
    odds and colour around; how much of the leaf is lit and how many blobs there are.
    """
    count = len(box)
    within = mine >= 0
    blob = mine[within]
    area = np.maximum(np.bincount(blob, minlength=count), 1).astype(float)

    def mean(values: Floats) -> Floats:
        return np.asarray(np.bincount(blob, values[within], count) / area)

    top, near = np.full(count, -np.inf), np.full(count, np.inf)
    np.maximum.at(top, blob, lit.odds[within])
    np.minimum.at(near, blob, lit.depth[within])
    colour = np.stack([mean(lit.colours[:, k]) for k in range(3)])
    square = np.stack([mean(lit.colours[:, k] ** 2) for k in range(3)])
    width, height = box[:, 2] - box[:, 0], box[:, 3] - box[:, 1]
    total = float(seen.mask.sum())
    inner, outer = _around(lit.table, box, 3 * seen.unit)
    columns = [
        np.log(area / total),
        np.log(area / seen.unit**2),
        np.full(count, cut),
        mean(lit.odds),
        top,
        *colour,
        *np.sqrt(np.maximum(square - colour**2, 0)),
        area / (width * height),
        np.abs(np.log(width / height)),
        np.minimum(mean(lit.depth) / seen.unit, 60),
        np.minimum(near / seen.unit, 30),
        mean((lit.depth < MARGIN + 2).astype(float)),
        outer[:, 0],
        inner[:, 0],
        *outer[:, 1:].T,
        np.full(count, np.log1p((lit.odds > 0).sum()) - np.log(total)),
        np.full(count, np.log(count)),
    ]
    return np.stack(columns, axis=1)


def _around(table: Floats, box: Floats, least: float) -> tuple[Floats, Floats]:
    """(n, 4) means in each box and in the ring around it: odds, and colour where there is leaf.

    The ring is a quarter of the box's longer side wide, and at least `least` pixels.
    """
    longer = np.maximum(box[:, 2] - box[:, 0], box[:, 3] - box[:, 1])
    gap = np.maximum(longer / 4, max(least, 2.0))[:, None] * np.array([-1, -1, 1, 1])
    height, width = table.shape[0] - 1, table.shape[1] - 1
    big = np.clip(np.round(box + gap), 0, [width, height, width, height])
    (inner, area), (outer, whole) = _total(table, box), _total(table, big)
    return _means(inner, area), _means(outer - inner, whole - area)


def _total(table: Floats, box: Floats) -> tuple[Floats, Floats]:
    """(n, 5) sums of the table's layers in each box, and the (n,) areas."""
    x1, y1, x2, y2 = box.astype(int).T
    sums = table[y2, x2] - table[y1, x2] - table[y2, x1] + table[y1, x1]
    return sums, ((x2 - x1) * (y2 - y1)).astype(float)


def _means(sums: Floats, area: Floats) -> Floats:
    odds = sums[:, :1] / np.maximum(area, 1)[:, None]
    colour = sums[:, 2:] / np.maximum(sums[:, 1:2], 1)
    return np.concatenate([odds, colour], axis=1)
