"""A number per pixel of the leaf: how much it looks like a lesion.

Colours against the leaf's own median and against their surroundings go into a logistic
regression with all products of two, so that a fit is a few Newton steps: no random start, and
few enough weights (a hundred and some) that a few dozen photos hold them down.

The last bits of a matrix product hang on the number of threads that numpy's linear algebra uses,
and blobs, thresholds and names hang on last bits. So features and weights are binary fractions of
few digits: what a fit says of a pixel is then exact, in whatever order it is summed, and a fit
comes out as the same weights.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from fieldtruth.models.colour import leaf
from fieldtruth.models.colour.leaf import Array, Mask
from fieldtruth.records import Box, Record

MARGIN = 5  # working pixels around the leaf that are looked at too: its edge is uncertain
LIMIT = 8.0  # log odds beyond this say nothing more
FEATURES = 17  # of a pixel, see `describe`
CLIP = 4.0  # standard deviations beyond this are outliers
LEAF = 900.0  # lengths are given on a leaf this many pixels long
STEPS, HALVINGS = 12, 8  # of Newton's method, at most
NEAR = 1e-3  # a step that lowers the loss by a smaller share is the last
FINE = 1024  # parts of a standard deviation: what is finer in a feature says nothing
EXACT = 4096  # parts of one: what is finer in a weight says nothing
_ROWS = 8192  # worked on at once, so that memory does not grow with the photos

Floats = NDArray[np.float64]


class View(NamedTuple):
    """The part of a photo around its leaf, at working size, and how to get back."""

    colours: Array  # (h, w, 3) L*a*b* less that of the leaf
    leaf: Mask  # (h, w)
    mask: Mask  # (h, w) the leaf with its margin
    depth: Array  # (h, w) working pixels to the edge of the mask
    typical: Array  # (3,) median L*a*b* of the leaf
    unit: float  # working pixels that a pixel is on a leaf `LEAF` pixels long
    least: float  # working pixels of the smallest blob worth a look
    left: int
    top: int
    across: float  # photo pixels per working pixel
    down: float

    def back(self, boxes: Floats) -> list[Box]:
        """(n, 4) working pixels of this view to boxes on the photo."""
        moved = boxes + np.array([self.left, self.top, self.left, self.top])
        scaled = moved * [self.across, self.down, self.across, self.down]
        return [(x1, y1, x2, y2) for x1, y1, x2, y2 in scaled.tolist()]

    def here(self, box: Box) -> tuple[int, int, int, int]:
        """A box of the photo in working pixels of this view, clipped to it."""
        scaled = np.array(box) / [self.across, self.down, self.across, self.down]
        moved = np.round(scaled).astype(int) - [self.left, self.top, self.left, self.top]
        height, width = self.mask.shape
        x1, y1, x2, y2 = np.clip(moved, 0, [width, height, width, height]).tolist()
        return x1, y1, x2, y2


class Logistic(Record, frozen=True, kw_only=True):
    """A fitted regression: features standardised, clipped to `CLIP`, and multiplied out."""

    centre: tuple[float, ...]
    spread: tuple[float, ...]
    weights: tuple[float, ...]  # constant, k plain ones, k (k + 1) / 2 of products

    def __post_init__(self) -> None:
        size = len(self.centre)
        if len(self.spread) != size or len(self.weights) != 1 + size + size * (size + 1) // 2:
            raise ValueError(f"expected weights for {size} features, got {len(self.weights)}")

    def odds(self, features: Array) -> Array:
        """(n, k) features to (n,) log odds within +-`LIMIT`."""
        size = len(self.centre)
        weights = np.array(self.weights)
        square = np.zeros((size, size))
        square[np.triu_indices(size)] = weights[1 + size :]
        out = np.empty(len(features), np.float32)
        for rows in _blocks(len(features)):
            scaled = _standard(features[rows], self.centre, self.spread).astype(np.float64)
            bent = scaled @ square + weights[1 : 1 + size]  # exact, and so is the sum
            told = np.einsum("ij,ij->i", bent, scaled) + weights[0]
            out[rows] = np.clip(told, -LIMIT, LIMIT)
        return out

    def chance(self, features: Array) -> Array:
        """(n, k) features to (n,) probabilities."""
        return np.asarray(1 / (1 + np.exp(-self.odds(features))), np.float32)


def view(photo: Image.Image) -> View:
    """The leaf of an upright RGB photo, cut out with a margin."""
    small = leaf.shrink(photo, leaf.WORK)
    colours = leaf.lab(np.asarray(small))
    found = leaf.find_leaf(colours)
    mask = np.asarray(ndimage.binary_dilation(found, iterations=MARGIN), np.bool_)
    x1, y1, x2, y2 = leaf.leaf_box(mask)
    cut = np.s_[y1:y2, x1:x2]
    mask = mask[cut]
    depth = np.asarray(ndimage.distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1], np.float32)
    inner = mask & (depth > 2 * MARGIN)
    typical = np.asarray(np.median(colours[cut][inner if inner.any() else mask], axis=0))
    return View(
        colours=colours[cut] - typical,
        leaf=found[cut],
        mask=mask,
        depth=depth,
        typical=typical,
        unit=max(mask.shape) / LEAF,
        least=max(9.0, 8e-5 * small.width * small.height),  # 0.4 of the least truth of BRACOL
        left=x1,
        top=y1,
        across=photo.width / small.width,
        down=photo.height / small.height,
    )


def describe(seen: View) -> Array:
    """(n, FEATURES) of the n pixels of the mask, in row order."""
    colours, mask, unit = seen.colours, seen.mask, seen.unit
    fine = _blur(colours, 0.8 * unit)
    soft = _blur(colours, 3 * unit)
    near = _ground(colours, mask, max(3, round(12 * unit)))
    wide = _ground(colours, mask, max(6, round(50 * unit)))
    grain = np.sqrt(_blur((colours[..., :1] - fine[..., :1]) ** 2, 2 * unit))
    parts = [
        fine,
        soft,
        fine - near,
        soft - wide,
        np.broadcast_to(seen.typical, colours.shape),
        np.log1p(grain),
        np.minimum(seen.depth / unit, 40)[..., None],
    ]
    return np.concatenate([part[mask] for part in parts], axis=1).astype(np.float32)


def odds_map(seen: View, fitted: Logistic) -> Array:
    """(h, w) log odds of lesion, a little smoothed; `-LIMIT` off the leaf."""
    flat = np.full(seen.mask.shape, -LIMIT, np.float32)
    flat[seen.mask] = fitted.odds(describe(seen))
    return _blur(flat[..., None], seen.unit)[..., 0]


def fit_logistic(features: Array, true: Floats, ridge: float) -> Logistic:
    """(n, k) features and (n,) truth, 0 or 1, by Newton's method under a ridge penalty.

    A step that makes the fit worse is halved until it does not: whole steps can run away. The
    weights are multiples of 1 / `EXACT`, so that rounding errors on the way do not show.
    """
    centre = tuple(features.mean(0, dtype=np.float64).tolist())
    spread = tuple(np.maximum(features.std(0, dtype=np.float64), 1e-3).tolist())
    design = _products(_standard(features, centre, spread))
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = 1e-6
    sign = 1 - 2 * true

    def odds_and_loss(weights: Floats) -> tuple[Floats, float]:
        odds = np.concatenate([design[rows] @ weights for rows in _blocks(len(design))])
        loss = np.logaddexp(0, sign * odds).sum() + 0.5 * (penalty * weights**2).sum()
        return odds, float(loss)

    beta = np.zeros(design.shape[1])
    odds, loss = odds_and_loss(beta)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-odds))
        curve = np.maximum(chance * (1 - chance), 1e-4)
        bend, slope = np.diag(penalty), -penalty * beta
        for rows in _blocks(len(design)):
            some = design[rows].astype(np.float64)
            bend += (some.T * curve[rows]) @ some
            slope += (true - chance)[rows] @ some
        step = np.linalg.solve(bend, slope)
        for _ in range(HALVINGS):
            after, lower = odds_and_loss(beta + step)
            if lower <= loss:
                break
            step /= 2
        else:
            break
        beta, odds = beta + step, after
        if loss - lower < NEAR * loss:
            break
        loss = lower
    weights = np.round(beta * EXACT) / EXACT
    return Logistic(centre=centre, spread=spread, weights=tuple(weights.tolist()))


def _blocks(count: int) -> list[slice]:
    return [slice(begin, begin + _ROWS) for begin in range(0, count, _ROWS)]


def _products(scaled: Array) -> Array:
    """(n, k) to (n, 1 + k + k (k + 1) / 2): one, the features, and their products; exact."""
    first, second = np.triu_indices(scaled.shape[1])
    ones = np.ones((len(scaled), 1), np.float32)
    return np.concatenate([ones, scaled, scaled[:, first] * scaled[:, second]], axis=1)


def _standard(features: Array, centre: tuple[float, ...], spread: tuple[float, ...]) -> Array:
    scaled = (features - np.array(centre, np.float32)) / np.array(spread, np.float32)
    return np.asarray(np.round(np.clip(scaled, -CLIP, CLIP) * FINE) / FINE, np.float32)


def _blur(values: Array, sigma: float) -> Array:
    """(h, w, k) blurred over its first two axes."""
    return np.asarray(ndimage.gaussian_filter(values, (sigma, sigma, 0), truncate=2.5), np.float32)


def _ground(colours: Array, mask: Mask, radius: int) -> Array:
    """The mean colour of the leaf within about `radius` pixels, at every pixel."""
    step = max(1, radius // 3)
    weight = mask[..., None].astype(np.float32)
    height, width = mask.shape
    told = np.concatenate([colours * weight, weight], axis=-1)
    coarse = _blur(leaf.blocks(told, step), radius / step)
    mean = coarse[..., :3] / np.maximum(coarse[..., 3:], 1e-3)
    size = (mean.shape[1] * step, mean.shape[0] * step)
    layers = [Image.fromarray(np.ascontiguousarray(mean[..., k])) for k in range(3)]
    big = [np.asarray(layer.resize(size, Image.Resampling.BILINEAR)) for layer in layers]
    return np.stack(big, axis=-1)[:height, :width]
