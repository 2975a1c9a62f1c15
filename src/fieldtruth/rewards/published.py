"""AgroGround's reward, frozen, loopholes included: to reproduce the paper's reinforcement learning.

Follows agroground.md, section 12, branch by branch, with its own strict reader, which is used
nowhere else: one thing wrong in the words and the reply earns nothing. What it pays for that it
should not: a speck with the right name (0.50), names on known-target prompts (never looked at),
specks that vote, boxes where what is asked for is not there. `grounded` is ours.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite

import numpy as np

from fieldtruth import geometry
from fieldtruth.faults import Usage
from fieldtruth.geometry import Boxes
from fieldtruth.metrics.contract import Bools
from fieldtruth.rewards.contract import Paid, Reward, Rollout, require_whole

_FENCE = re.compile(r"\A```[^\n`]*\n?|\n?```\Z")
_FULL = 1000.0
_SMALLEST = 0.001 * _FULL * _FULL
_CELLS = 100
_LISTED = 0.25  # what a listed but wrong name is worth

Answer = tuple[list[tuple[float, float, float, float]], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What a perfect reply is paid for. Raises `Usage` unless they add up to 1."""

    format: float = 0.10
    localization: float = 0.35
    multi: float = 0.15  # recall of instances
    recognition: float = 0.25
    abstention: float = 0.15

    def __post_init__(self) -> None:
        placed = (self.localization, self.multi)
        require_whole((self.format, *placed, self.recognition, self.abstention))
        if sum(placed) <= 0:
            raise Usage(f"expected localization and multi over 0 together, got {placed}")


RECOGNITION_WEIGHTED = Weights(localization=0.30, multi=0.10, recognition=0.35)  # the ablation's


@dataclass(frozen=True, slots=True)
class Published:
    """The published reward under some weights; nothing of it changes between calls."""

    weights: Weights = Weights()

    def unfit(self, rollout: Rollout) -> str | None:
        """It knows coordinates from 0 to 1000, x first, and nothing else."""
        if rollout.space == "norm1000":
            return None
        return f"expected boxes in norm1000, which the published reward reads, got {rollout.space}"

    def pay(self, rollouts: Sequence[Rollout]) -> list[Paid]:
        """See `Reward`; the outcomes are `boxes`, `empty` and, for any defect, `unreadable`."""
        return [self._one(rollout) for rollout in rollouts]

    def _one(self, rollout: Rollout) -> Paid:
        answer = parse(rollout.text)
        if answer is None:
            return Paid(reward=0.0, terms={}, outcome="unreadable")
        w, boxes = self.weights, answer[0]
        if rollout.healthy:
            terms = {"format": w.format, "abstention": (1 - w.format) * (not boxes)}
        else:
            terms = self._positive(rollout, *answer)
        reward = min(1.0, max(0.0, sum(terms.values())))
        return Paid(reward=reward, terms=terms, outcome="boxes" if boxes else "empty")

    def _positive(
        self, rollout: Rollout, boxes: list[tuple[float, float, float, float]], labels: list[str]
    ) -> dict[str, float]:
        """The five terms; a known target's prompt moves the name's weight to the boxes."""
        w = self.weights
        place, recall = _placed(boxes, rollout)
        terms = {"format": w.format}
        if rollout.chosen:
            terms |= {"localization": w.localization * place, "multi": w.multi * recall}
            terms["recognition"] = w.recognition * _named(labels, rollout)
        else:
            scale = (w.localization + w.multi + w.recognition) / (w.localization + w.multi)
            terms["localization"] = w.localization * scale * place
            terms["multi"] = w.multi * scale * recall
        return terms | {"abstention": w.abstention * bool(boxes)}


def parse(text: object) -> Answer | None:
    """Boxes (clipped to 0..1000, each axis in order) and normalised labels; None for any defect."""
    if not isinstance(text, str):
        return None
    try:
        listed = json.loads(_FENCE.sub("", text.strip()))
        if not isinstance(listed, list):
            return None
        boxes = [_box(entry["bbox_2d"]) for entry in listed]
        labels = [_plain(entry.get("label")) for entry in listed]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None
    return boxes, labels


def _box(value: object) -> tuple[float, float, float, float]:
    if not isinstance(value, list) or len(value) != 4:
        raise ValueError("not four")
    if any(isinstance(part, bool) or not isinstance(part, int | float) for part in value):
        raise ValueError("not numeric")
    if not all(map(isfinite, value)):
        raise ValueError("not finite")
    x1, y1, x2, y2 = (min(max(float(part), 0.0), _FULL) for part in value)
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def _plain(name: object) -> str:
    return "" if name is None else " ".join(str(name).split()).lower()


def _placed(
    boxes: list[tuple[float, float, float, float]], rollout: Rollout
) -> tuple[float, float]:
    """(mean of F1 and region IoU, recall). Specks are left out but stay in the precision."""
    kept = [(a, b, c, d) for a, b, c, d in boxes if (c - a) * (d - b) >= _SMALLEST]
    if not kept or not rollout.boxes:
        return 0.0, 0.0
    said, true = geometry.as_boxes(kept), geometry.as_boxes(rollout.boxes)
    hits = len(geometry.match(said, true, 0.5))
    f1 = 2 * hits / (len(boxes) + len(true))
    return (f1 + region(said, true)) / 2, hits / len(true)


def region(said: Boxes, true: Boxes) -> float:
    """IoU of two unions on 100 x 100 cells, each cell that a box touches counted whole."""
    a, b = _raster(said), _raster(true)
    union = int((a | b).sum())
    return int((a & b).sum()) / union if union else 0.0


def _raster(boxes: Boxes) -> Bools:
    mask = np.zeros((_CELLS, _CELLS), dtype=np.bool_)
    cell = _FULL / _CELLS
    for x1, y1, x2, y2 in boxes.tolist():
        mask[floor(y1 / cell) : ceil(y2 / cell), floor(x1 / cell) : ceil(x2 / cell)] = True
    return mask


def _named(labels: list[str], rollout: Rollout) -> float:
    """1 for the right name, 0.25 for another of the list; the majority counts, ties: the first."""
    given = [label for label in labels if label]
    if not given:
        return 0.0
    name = max(dict.fromkeys(given), key=given.count)
    if rollout.label is not None and name == _plain(rollout.label):
        return 1.0
    return _LISTED if name in map(_plain, rollout.candidates or ()) else 0.0


REWARD: Reward = Published()
