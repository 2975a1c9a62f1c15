"""A number per pixel of the leaf: how much it looks like a lesion.

Colours against the leaf's own median and against their surroundings, in a logistic regression
with products, fitted by Newton's method: closed form steps, no random start.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from fieldtruth.models.colour import leaf
from fieldtruth.models.colour.leaf import Array, Mask
from fieldtruth.records import Record

MARGIN = 5  # working pixels around the leaf that are looked at too: edges are uncertain


class View(NamedTuple):
    """The part of a photo around its leaf, at working size, and how to get back."""

    colours: Array  # (h, w, 3) L*a*b*
    mask: Mask  # (h, w) leaf with its margin
    depth: Array  # (h, w) working pixels to the edge of the mask
    left: int
    top: int
    across: float  # photo pixels per working pixel
    down: float


class Logistic(Record, frozen=True, kw_only=True):
    """A fitted regression: features are standardised, clipped to +-4, and multiplied out."""

    centre: list[float]
    spread: list[float]
    weights: list[float]

    def logit(self, features: Array) -> Array:
        """(n, k) features to (n,) log odds, clipped to +-8."""
        scaled = _scaled(features, self.centre, self.spread)
        size = scaled.shape[1]
        weights = np.array(self.weights, np.float32)
        square = np.zeros((size, size), np.float32)
        square[np.triu_indices(size)] = weights[1 + size :]
        bent = scaled @ square + weights[1 : 1 + size]
        return np.clip(np.einsum("ij,ij->i", bent, scaled) + weights[0], -8, 8)


def view(photo: Image.Image) -> View:
    """The leaf of a photo, cut out with a margin."""
    small = leaf.shrink(photo, leaf.WORK)
    colours = leaf.lab(np.asarray(small))
    mask = ndimage.binary_dilation(leaf.find_leaf(colours), iterations=MARGIN)
    x1, y1, x2, y2 = leaf.leaf_box(mask)
    mask = mask[y1:y2, x1:x2]
    depth = ndimage.distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1].astype(np.float32)
    across, down = photo.width / small.width, photo.height / small.height
    return View(colours[y1:y2, x1:x2], mask, depth, x1, y1, across, down)


def _ground(colours: Array, mask: Mask, radius: int) -> Array:
    """The mean colour of the leaf within about `radius` pixels, at every pixel."""
    step = max(1, radius // 3)
    weight = mask[..., None].astype(np.float32)
    told = np.concatenate([colours * weight, weight], axis=-1)
    height, width = mask.shape
    pad = ((0, -height % step), (0, -width % step), (0, 0))
    blocks = np.pad(told, pad)
    rows, columns = blocks.shape[0] // step, blocks.shape[1] // step
    coarse = blocks.reshape(rows, step, columns, step, 4).mean((1, 3))
    coarse = ndimage.gaussian_filter(coarse, (radius / step, radius / step, 0), truncate=2.5)
    mean = coarse[..., :3] / np.maximum(coarse[..., 3:], 1e-3)
    big = ndimage.zoom(mean, (step, step, 1), order=1, grid_mode=True, mode="nearest")
    return np.asarray(big[:height, :width])


def describe(seen: View) -> Array:
    """(n, k) features of the n pixels of the mask, in row order."""
    colours, mask = seen.colours, seen.mask
    unit = max(mask.shape) / 900
    inner = mask & (seen.depth > 2 * MARGIN)
    typical = np.median(colours[inner if inner.any() else mask], axis=0)
    fine = ndimage.gaussian_filter(colours, (0.8, 0.8, 0))
    soft = ndimage.gaussian_filter(colours, (3, 3, 0), truncate=2.5)
    near = _ground(colours, mask, max(3, round(12 * unit)))
    wide = _ground(colours, mask, max(6, round(50 * unit)))
    rough = np.sqrt(ndimage.gaussian_filter((colours[..., 0] - fine[..., 0]) ** 2, 2, truncate=2.5))
    parts = [
        fine - typical,
        soft - typical,
        fine - near,
        soft - wide,
        np.broadcast_to(typical, colours.shape),
        np.log1p(rough)[..., None],
        np.minimum(seen.depth, 40 * unit)[..., None] / unit,
    ]
    return np.concatenate([part[mask] for part in parts], axis=1).astype(np.float32)


def fit_logistic(features: Array, true: Array, weight: Array, ridge: float = 1.0) -> Logistic:
    """(n, k) features, (n,) truth from 0 to 1, (n,) weights of mean 1; seven Newton steps."""
    centre = features.mean(0)
    spread = np.maximum(features.std(0), 1e-3)
    design = _products(features, centre.tolist(), spread.tolist()).astype(np.float64)
    beta = np.zeros(design.shape[1])
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = 1e-6
    for _ in range(7):
        chance = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        curve = weight * np.maximum(chance * (1 - chance), 1e-4)
        slope = design.T @ (weight * (true - chance)) - penalty * beta
        step = np.linalg.solve((design.T * curve) @ design + np.diag(penalty), slope)
        beta += step
        if np.abs(step).max() < 1e-4:
            break
    return Logistic(centre=centre.tolist(), spread=spread.tolist(), weights=beta.tolist())


def _products(features: Array, centre: list[float], spread: list[float]) -> NDArray[np.float32]:
    """(n, 1 + k + k (k + 1) / 2): one, the standardised features, and their products."""
    scaled = _scaled(features, centre, spread)
    first, second = np.triu_indices(scaled.shape[1])
    ones = np.ones((len(scaled), 1), np.float32)
    return np.concatenate([ones, scaled, scaled[:, first] * scaled[:, second]], axis=1)


def _scaled(features: Array, centre: list[float], spread: list[float]) -> Array:
    out = (features - np.array(centre, np.float32)) / np.array(spread, np.float32)
    return np.clip(out, -4, 4)
