"""Boxes -> words: how an answer is written in each box space, and how a prompt asks for it."""

import json
from collections.abc import Sequence

import numpy as np

from fieldtruth.geometry import as_boxes, from_pixels, space_limits
from fieldtruth.records import Box, Space

# The smallest step that is written: a 4-digit fraction in norm1, whole numbers elsewhere.
_STEP: dict[Space, float] = {"norm1": 1e-4}
_KEY: dict[Space, str] = {"yx1000": "box_2d", "loc1024": "box_2d"}  # Gemini's key for y first
_X_FIRST = "[x1, y1, x2, y2]"
_Y_FIRST = "[y1, x1, y2, x2]"
_PIXELS = "in whole pixels of the photo as you see it"
_SCALE: dict[Space, tuple[str, str]] = {
    "pixel": (_X_FIRST, "in whole pixels of the photo"),
    "pixel_resized": (_X_FIRST, _PIXELS),
    "pixel840": (_X_FIRST, "in whole pixels of the photo drawn out to 840 by 840"),
    "norm1000": (_X_FIRST, "as whole numbers that run from 0 to 1000 across and down the photo"),
    "norm1": (_X_FIRST, "as fractions that run from 0 to 1 across and down the photo"),
    "yx1000": (_Y_FIRST, "as whole numbers that run from 0 to 1000 down and across the photo"),
    "loc1024": (_Y_FIRST, "as whole numbers that run from 0 to 1024 down and across the photo"),
}


def spelling(label: str, space: Space) -> str:
    """How a prompt describes the answer: a JSON list whose objects look like this.

    `label` is put in as it is written, so a name must come quoted. There is no list of numbers in
    it, so that an echo of the prompt is not read as a box.
    """
    order, scale = _SCALE[space]
    return (
        f'Answer with a JSON list that has one object {{"{_KEY.get(space, "bbox_2d")}": {order}, '
        f'"label": {label}}} for each box. The corners are top left and bottom right, given '
        f"{scale}, with x counted from the left edge and y from the top edge."
    )


def write_boxes(boxes: Sequence[Box], label: str, space: Space, *, width: int, height: int) -> str:
    """Boxes in pixels of the upright image -> the reply that says so in `space`.

    Rounded to the nearest step of the space: a whole number, 0.0001 in norm1. A side that would
    round to nothing is rounded outwards instead, so a box never degenerates; `read_boxes` gives
    back every corner to within a step. No boxes are `[]`.
    """
    step = _STEP.get(space, 1.0)
    exact = from_pixels(as_boxes(boxes), space, width, height) / step
    limits = np.rint(np.array(space_limits(space, width, height)) / step)
    low, high = np.rint(exact[:, :2]), np.rint(exact[:, 2:])
    flat = low >= high
    low = np.where(flat, np.minimum(np.floor(exact[:, :2]), limits - 1), low)
    high = np.where(flat, np.maximum(np.ceil(exact[:, 2:]), low + 1), high)
    key = _KEY.get(space, "bbox_2d")
    rows = np.concatenate([low, high], axis=1).tolist()
    return json.dumps(
        [{key: [_plain(value, step) for value in row], "label": label} for row in rows],
        ensure_ascii=False,
    )


def _plain(value: float, step: float) -> float:
    return int(value) if step == 1 else round(value * step, 4)
