"""Which of a detector's boxes are kept, and at which level: AgroGround's rules, each counted.

The published rules in their order (appendix C; reference, sections 3 and 4):

0  a box whose mask is empty is gone, where masks were asked for: what the paper says and its
   code does not do                                                       `empty_mask`
1  a box is cut at the photo's edges; one without area is gone            `no_area`
2  its area is at least 0.001 and at most 0.95 of the photo's             `too_small`, `too_large`
3  of equal boxes the first is kept                                       `repeated`
4  objects and stress keep their best box alone                           `not_best_of_its_kind`
5  up to half of the photo a box is a lesion, over that an object; within each of the two a box
   that overlaps a better one by an IoU over 0.5 is gone                  `overlapping`
6  of the objects the best is kept                                        `not_best_object`

`ours` departs in two places. Insects, weeds and other whole things are objects however small: an
insect that fills the photo is no other thing than a small one. And no box is dropped for being
the second best: two large leaves are two.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fieldtruth.detections import WHOLE
from fieldtruth.geometry import Boxes, areas, as_boxes, nms
from fieldtruth.records import AskLevel, Kind

Name = Literal["ours", "published"]

SMALLEST, LARGEST = 0.001, 0.95  # of the photo's area, both kept
HALF = 0.5  # of the photo's area; up to it a box is a lesion
OVERLAP = 0.5  # IoU; over it the worse box is gone
ONE_EACH: tuple[Kind, ...] = ("object", "stress")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a model said of one target on one photo.

    `boxes` (n, 4) in pixels of the upright photo, `scores` (n,) from 0 to 1, all 1 where the model
    gives none, `scored` whether it does, `masks` (n,) the share of each box that a mask fills, or
    None.
    """

    boxes: Boxes
    scores: Floats
    scored: bool
    masks: Floats | None = None


@dataclass(slots=True)
class Kept:
    """The boxes of each level with their scores, and how many boxes each rule took."""

    levels: dict[AskLevel, tuple[Boxes, Floats]] = field(default_factory=dict)
    removed: Counter[str] = field(default_factory=Counter)


def keep(seen: Seen, kind: Kind, size: tuple[int, int], rules: Name) -> Kept:
    """The boxes that the rules leave of what was seen on a photo of that (width, height)."""
    kept = Kept()
    boxes, scores = as_boxes(seen.boxes.tolist()), seen.scores
    if seen.masks is not None:
        boxes, scores = _take(boxes, scores, seen.masks > 0, "empty_mask", kept)
    width, height = size
    boxes = np.clip(boxes, 0, (width, height, width, height))
    with_area = (boxes[:, 0] < boxes[:, 2]) & (boxes[:, 1] < boxes[:, 3])
    boxes, scores = _take(boxes, scores, with_area, "no_area", kept)
    whole = width * height
    boxes, scores = _take(boxes, scores, areas(boxes) >= SMALLEST * whole, "too_small", kept)
    boxes, scores = _take(boxes, scores, areas(boxes) <= LARGEST * whole, "too_large", kept)
    boxes, scores = _take(boxes, scores, _first_of_equals(boxes), "repeated", kept)
    if kind in ONE_EACH and rules == "published":
        boxes, scores = _take(boxes, scores, _best(scores), "not_best_of_its_kind", kept)
    large = areas(boxes) > HALF * whole
    if rules == "ours" and kind in WHOLE:
        large = np.ones(len(boxes), dtype=bool)
    _level("lesion", boxes[~large], scores[~large], rules, kept)
    _level("object", boxes[large], scores[large], rules, kept)
    return kept


def _level(level: AskLevel, boxes: Boxes, scores: Floats, rules: Name, kept: Kept) -> None:
    """Put what is left of one level's boxes into `kept`, if anything is."""
    order = np.argsort(-scores, kind="stable")
    boxes, scores = boxes[order], scores[order]
    alive = np.zeros(len(boxes), dtype=bool)
    alive[nms(boxes, scores, OVERLAP)] = True
    boxes, scores = _take(boxes, scores, alive, "overlapping", kept)
    if level == "object" and rules == "published":
        boxes, scores = _take(boxes, scores, _best(scores), "not_best_object", kept)
    if len(boxes):
        kept.levels[level] = boxes, scores


def _take(
    boxes: Boxes, scores: Floats, good: NDArray[np.bool_], rule: str, kept: Kept
) -> tuple[Boxes, Floats]:
    gone = int((~good).sum())
    if gone:
        kept.removed[rule] += gone
    return boxes[good], scores[good]


def _first_of_equals(boxes: Boxes) -> NDArray[np.bool_]:
    first = np.zeros(len(boxes), dtype=bool)
    if len(boxes):
        first[np.unique(boxes, axis=0, return_index=True)[1]] = True
    return first


def _best(scores: Floats) -> NDArray[np.bool_]:
    """The best score alone; of equal ones the first."""
    best = np.zeros(len(scores), dtype=bool)
    if len(scores):
        best[int(np.argmax(scores))] = True
    return best
