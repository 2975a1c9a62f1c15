"""AgroGround's reward, frozen, loopholes included: to reproduce the paper's reinforcement learning.

Follows agroground.md, section 12, branch by branch, with its own strict reader, which is used
nowhere else: one thing wrong in the words and the reply earns nothing. What it pays for that it
should not: a speck with the right name (0.50), names on known-target prompts (never looked at),
specks that vote, boxes where what is asked for is not there. `grounded` is ours.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor, isfinite

import msgspec

from fieldtruth.faults import Usage
from fieldtruth.records import Box
from fieldtruth.rewards.contract import Paid, Reward, Rollout, require_whole

_FENCE = re.compile(r"\A```[^\n`]*\n?|\n?```\Z")
_FULL = 1000.0
_SMALLEST = 0.001 * _FULL * _FULL
_CELLS = 100
_LISTED = 0.25  # what a listed but wrong name is worth
# Bit 100 k of number h is set for k < h: times the bits of a row, that row h times.
_TALL = [sum(1 << _CELLS * row for row in range(height)) for height in range(_CELLS + 1)]

Answer = tuple[list[Box], list[str]]


class _Said(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What most replies are lists of. It reads nothing that `json` would read otherwise."""

    bbox_2d: Box
    label: str | None = None


_read_plain = msgspec.json.Decoder(list[_Said]).decode


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

    def _positive(self, rollout: Rollout, boxes: list[Box], labels: list[str]) -> dict[str, float]:
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
    words = text.strip()
    if "```" in words:
        words = _FENCE.sub("", words)
    with suppress(ValueError):  # what is odd is left to `json`, which takes ten times as long
        said = _read_plain(words)
        return [_clipped(each.bbox_2d) for each in said], [_plain(each.label) for each in said]
    try:
        listed = json.loads(words)
        if not isinstance(listed, list):
            return None
        boxes = [_box(entry["bbox_2d"]) for entry in listed]
        labels = [_plain(entry.get("label")) for entry in listed]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None
    return boxes, labels


def _box(value: object) -> Box:
    if not isinstance(value, list) or len(value) != 4:
        raise ValueError("not four")
    if any(isinstance(part, bool) or not isinstance(part, int | float) for part in value):
        raise ValueError("not numeric")
    if not all(map(isfinite, value)):
        raise ValueError("not finite")
    return _clipped(tuple(map(float, value)))


def _clipped(box: tuple[float, ...]) -> Box:
    x1, y1, x2, y2 = box
    if 0 <= x1 <= x2 <= _FULL and 0 <= y1 <= y2 <= _FULL:
        return x1, y1, x2, y2
    x1, y1, x2, y2 = (min(max(part, 0.0), _FULL) for part in box)
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def _plain(name: object) -> str:
    return "" if name is None else " ".join(str(name).split()).lower()


def _placed(boxes: list[Box], rollout: Rollout) -> tuple[float, float]:
    """(mean of F1 and region IoU, recall). Specks are left out but stay in the precision."""
    kept = [(a, b, c, d) for a, b, c, d in boxes if (c - a) * (d - b) >= _SMALLEST]
    true = rollout.boxes
    if not kept or not true:
        return 0.0, 0.0
    hits = _hits(kept, true)
    f1 = 2 * hits / (len(boxes) + len(true))
    return (f1 + region(kept, true)) / 2, hits / len(true)


def _hits(said: Sequence[Box], true: Sequence[Box]) -> int:
    """Matches of at least 0.5 IoU, in the order of scoring: by IoU, said and true, descending.

    As `geometry.match` has it, in plain numbers: a reply has few boxes, and an array costs more.
    """
    near: list[tuple[float, int, int]] = []
    for j, (x1, y1, x2, y2) in enumerate(true):
        area = (x2 - x1) * (y2 - y1)
        for i, (a1, b1, a2, b2) in enumerate(said):
            if a1 < x2 and x1 < a2 and b1 < y2 and y1 < b2:
                shared = ((a2 if a2 < x2 else x2) - (a1 if a1 > x1 else x1)) * (
                    (b2 if b2 < y2 else y2) - (b1 if b1 > y1 else y1)
                )
                overlap = shared / ((a2 - a1) * (b2 - b1) + area - shared)
                if overlap >= 0.5:
                    near.append((overlap, i, j))
    near.sort(reverse=True)
    free_said, free_true = [True] * len(said), [True] * len(true)
    hits = 0
    for _, i, j in near:
        if free_said[i] and free_true[j]:
            free_said[i] = free_true[j] = False
            hits += 1
    return hits


def region(said: Sequence[Box], true: Sequence[Box]) -> float:
    """IoU of two unions on 100 x 100 cells, each cell that a box touches counted whole."""
    a, b = _raster(said), _raster_again(tuple(true))
    union = (a | b).bit_count()
    return (a & b).bit_count() / union if union else 0.0


def _raster(boxes: Sequence[Box]) -> int:
    """The cells that boxes touch as the bits of one number, row after row."""
    cells = 0
    for x1, y1, x2, y2 in boxes:
        left, top, bottom = floor(x1 / 10), floor(y1 / 10), ceil(y2 / 10)
        row = (1 << ceil(x2 / 10) - left) - 1
        cells |= row * _TALL[bottom - top] << _CELLS * top + left
    return cells


_raster_again = lru_cache(maxsize=1024)(_raster)  # of one photo, for all its replies


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
