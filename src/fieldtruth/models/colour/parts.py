"""From a map of log odds to lesions: every blob at every cut, judged, and the best that do not
lie in each other kept.

Blobs at a higher cut lie in blobs at a lower one, so they form trees (Matas et al. 2002 call the
stable ones extremal regions). A second regression says how likely a blob's box matches a true
box; of each tree the disjoint blobs with the largest sum are taken.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from fieldtruth.models.colour.leaf import Array
from fieldtruth.models.colour.pixels import MARGIN, View

CUTS = (-2.0, -1.0, -0.25, 0.5, 1.25, 2.0, 3.0, 4.0)
LEAST = 40  # working pixels of the smallest blob
_EIGHT = np.ones((3, 3))


class Parts(NamedTuple):
    """The blobs of one photo, those of lower cuts first."""

    boxes: NDArray[np.float64]  # (n, 4) working pixels of the view
    features: Array  # (n, k)
    parent: NDArray[np.int64]  # (n,) the blob of the next lower cut around it, or -1


def grow(seen: View, odds: Array) -> Parts:
    """All blobs of at least `LEAST` pixels; `odds` are the (h, w) log odds of a view."""
    where = np.flatnonzero(odds > CUTS[0])
    shape = odds.shape
    y, x = np.divmod(where, shape[1])
    flat = odds.ravel()[where]
    depth = seen.depth.ravel()[where]
    inner = seen.mask & (seen.depth > 2 * MARGIN)
    typical = np.median(seen.colours[inner if inner.any() else seen.mask], axis=0)
    colour = seen.colours.reshape(-1, 3)[where] - typical
    unit = max(shape) / 900
    total = float(seen.mask.sum())
    sums = np.pad(odds, ((1, 0), (1, 0))).cumsum(0, dtype=np.float64).cumsum(1)
    spread = np.log1p((flat > 0).sum()) - np.log(total)
    boxes, features, parents = [], [], []
    before = np.full(shape, -1, np.int64)
    first = 0
    for cut in CUTS:
        labels, count = ndimage.label(odds > cut, _EIGHT)
        if count == 0:
            break
        mine = labels.ravel()[where]
        area = np.bincount(mine, minlength=count + 1).astype(np.float64)
        area[0] = 0
        keep = np.flatnonzero(area >= LEAST)
        if len(keep) == 0:
            break
        n = count + 1

        def mean(values, mine=mine, n=n, area=area, keep=keep):
            return np.bincount(mine, values, n)[keep] / area[keep]

        slices = ndimage.find_objects(labels)
        box = np.array([[slices[k - 1][1].start, slices[k - 1][0].start, slices[k - 1][1].stop, slices[k - 1][0].stop] for k in keep], np.float64)
        w, h = box[:, 2] - box[:, 0], box[:, 3] - box[:, 1]
        order = np.arange(1, n)
        top = np.full(n, -9.0)
        np.maximum.at(top, mine, flat)
        near = np.full(n, 1e9)
        np.minimum.at(near, mine, depth)
        ring = _ring(sums, box, 0.25, 3)
        inside = _mean_box(sums, box)
        light = mean(colour[:, 0])
        features.append(np.stack([
            np.log(area[keep] / total), np.log(area[keep]), np.full(len(keep), cut), mean(flat), top[keep],
            light, mean(colour[:, 1]), mean(colour[:, 2]),
            np.sqrt(np.maximum(mean(colour[:, 0] ** 2) - light**2, 0)),
            area[keep] / (w * h), np.abs(np.log(w / h)),
            np.minimum(mean(depth), 60 * unit) / unit, np.minimum(near[keep], 30 * unit) / unit,
            mean((depth < MARGIN + 2).astype(np.float64)), ring, inside,
            np.full(len(keep), spread), np.full(len(keep), np.log(len(keep))),
        ], 1))
        number = np.full(n, -1, np.int64)
        number[keep] = first + np.arange(len(keep))
        now = number[labels]
        anywhere = np.zeros(n, np.int64)
        anywhere[mine] = where
        parents.append(before.ravel()[anywhere[keep]])
        boxes.append(box)
        before = now
        first += len(keep)
    if not boxes:
        return Parts(np.zeros((0, 4)), np.zeros((0, 18), np.float32), np.zeros(0, np.int64))
    return Parts(np.concatenate(boxes), np.concatenate(features).astype(np.float32), np.concatenate(parents))


def _mean_box(sums, box):
    h, w = sums.shape[0] - 1, sums.shape[1] - 1
    x1, y1, x2, y2 = (np.clip(box[:, k], 0, (w, h, w, h)[k]).astype(int) for k in range(4))
    area = np.maximum((x2 - x1) * (y2 - y1), 1)
    return (sums[y2, x2] - sums[y1, x2] - sums[y2, x1] + sums[y1, x1]) / area


def _ring(sums, box, share, least):
    h, w = sums.shape[0] - 1, sums.shape[1] - 1
    gap = np.maximum(np.maximum(box[:, 2] - box[:, 0], box[:, 3] - box[:, 1]) * share, least)[:, None]
    big = box + gap * np.array([-1, -1, 1, 1])
    big = np.clip(np.round(big), 0, [w, h, w, h])
    a_big = (big[:, 2] - big[:, 0]) * (big[:, 3] - big[:, 1])
    a = (box[:, 2] - box[:, 0]) * (box[:, 3] - box[:, 1])
    return (_mean_box(sums, big) * a_big - _mean_box(sums, box) * a) / np.maximum(a_big - a, 1)


def select(parts: Parts, worth: Array) -> NDArray[np.int64]:
    """Disjoint blobs with the largest sum of worth: a blob, or the best of those inside it."""
    n = len(parts.parent)
    inside = np.zeros(n)
    for k in range(n - 1, -1, -1):
        p = parts.parent[k]
        if p >= 0:
            inside[p] += max(0.0, worth[k], inside[k])
    taken = []
    shut = np.zeros(n, bool)
    for k in range(n):
        p = parts.parent[k]
        if p >= 0 and shut[p]:
            shut[k] = True
        elif worth[k] > 0 and worth[k] >= inside[k]:
            shut[k] = True
            taken.append(k)
    return np.array(taken, np.int64)
