"""Drawn symptoms on real leaves: exact truth where photos come without any.

A photo is taken as it is, apart from its size, and symptoms are painted on its leaf. What was on
the leaf before is not in the truth: a mark that a model finds and nobody planted counts as a
false alarm, and a photo left without a symptom counts as healthy.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fieldtruth import draws
from fieldtruth.records import Box
from fieldtruth.sources.drawn.painting import extent, hides, overlap, shows
from fieldtruth.sources.drawn.symptoms import STYLES, Place, Style

LONGER = 1024  # pixels of the longer side of a planted photo
HEALTHY_SHARE = 0.3  # of the photos are left without a symptom

FindLeaf = Callable[[Image.Image], NDArray[np.bool_]]  # an RGB photo -> (height, width)


@dataclass(frozen=True, slots=True)
class Planted:
    """A photo with its symptoms; no style and no boxes where it was left as it is."""

    picture: Image.Image
    style: Style | None
    boxes: tuple[Box, ...]


def plant(photo: Image.Image, find_leaf: FindLeaf, key: str, seed: int) -> Planted:
    """Paint one kind of symptom on the leaf of a photo; boxes in pixels of the picture returned.

    Without a symptom where the draw says so, or where the leaf has no room for one.
    """
    photo = photo.convert("RGB")
    photo.thumbnail((LONGER, LONGER))
    rng = draws.rng(seed, "planted", key)
    style = STYLES[sorted(STYLES)[int(rng.integers(len(STYLES)))]]
    if rng.random() < HEALTHY_SHARE:
        return Planted(photo, None, ())
    canvas = np.asarray(photo, dtype=np.float32).copy()
    marks = _symptoms(canvas, find_leaf(photo), style, rng)
    if not marks:
        return Planted(photo, None, ())
    picture = Image.fromarray(np.clip(canvas + 0.5, 0, 255).astype(np.uint8))
    return Planted(picture, style, tuple(extent(mark) for mark in marks))


def _symptoms(
    canvas: NDArray[np.float32],
    leaf: NDArray[np.bool_],
    style: Style,
    rng: np.random.Generator,
) -> list[NDArray[np.bool_]]:
    """Symptom after symptom, in place; the mask (height, width) of each."""
    rows, columns = np.nonzero(leaf)
    count = int(rng.integers(style.count[0], style.count[1] + 1))
    top = np.full(leaf.shape, -1, np.int16)  # which symptom lies uppermost
    marks: list[NDArray[np.bool_]] = []
    angle = float(rng.uniform(0, np.pi))
    for _ in range(2 * count if rows.size else 0):
        if len(marks) == count:
            break
        at = int(rng.integers(rows.size))
        low, high = style.radius
        radius = max(2.6, np.sqrt(rows.size) * (low + (high - low) * rng.beta(1.1, 2.0)))
        patch = style.paint(Place(radius=float(radius), angle=angle, stretch=1.0), rng)
        middle = (int(columns[at]), int(rows[at]))
        there, here = overlap(middle, patch.opacity.shape[0], (leaf.shape[1], leaf.shape[0]))
        opacity = np.where(leaf[there], patch.opacity[here], 0)
        if not shows(opacity > 0) or hides(top, there, opacity > 0, marks):
            continue
        top[there][opacity > 0] = len(marks)
        canvas[there] += (patch.colour[here] - canvas[there]) * opacity[..., None]
        mark = np.zeros(leaf.shape, bool)
        mark[there] = opacity > 0
        marks.append(mark)
    return marks
