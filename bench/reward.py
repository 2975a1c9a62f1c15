"""What 10,000 replies earn: ours beside a reward in plain Python that counts cells.

    python bench/reward.py

The replies are drawn as reinforcement learning on AgroGround has them (reference, section 13): of
eight prompts two are of one to three lesions, two of a leaf or a plant, three of four to sixteen
lesions, one of what is not there; half of them have names to choose from. Each has eight replies:
most near the truth, some with boxes missing, doubled, too many or tiny, some empty, some broken.
Ours is `pay`, in batches of 1,000 as `fieldtruth reward` has them. Peers, on the same texts and
truths:

    cells  the published reward as its code does it (reference, section 12): two grids of 100 x 100
           in lists, filled and counted cell by cell
    sets   the same with sets of cells, the quickest plain Python there is for it

All take turns in five rounds; time is that of the processor, the ratio the median of the rounds,
with the least and the most. Every value of ours is held against the peer's to 1e-9, and the exact
region IoU that `grounded` uses against the raster: both lie between what whole cells inside the
boxes and whole cells touched by them allow. Exits 1 when values differ, or when either is less than
20 times faster than `cells`, although `grounded` does more: it repairs broken replies, resolves
names and measures regions exactly.
"""

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from fieldtruth import geometry
from fieldtruth.draws import rng
from fieldtruth.records import Box
from fieldtruth.rewards import grounded, published
from fieldtruth.rewards.contract import Paid, Reward, Rollout, pay

REPLIES, EACH, BATCH, ROUNDS, TARGET = 10_000, 8, 1000, 5, 20
NAMES = ("early blight", "late blight", "leaf mold", "leaf rust", "powdery mildew", "scab")
Corners = Sequence[float]
Region = Callable[[Sequence[Corners], Sequence[Corners]], float]


# --- the replies -------------------------------------------------------------------------------


def replies() -> list[Rollout]:
    """All replies, eight in a row to one prompt."""
    made: list[Rollout] = []
    for number in range(REPLIES // EACH):
        draw = rng(0, "bench-reward", str(number))
        kind = number % 8
        level = "object" if kind in (2, 6) else "lesion"
        count = (int(draw.integers(1, 4)), int(draw.integers(4, 17)))[kind % 2] if kind < 7 else 0
        boxes = truth(draw, 1 if level == "object" else count, level)
        names = tuple(sorted(map(str, draw.choice(NAMES, 4, replace=False))))
        label = str(draw.choice(names)) if boxes else None
        choose = number // 8 % 2 == 0
        made += [
            Rollout(
                text=reply(draw, boxes, label or names[0], names), space="norm1000",
                protocol="candidates" if choose else "known_target", boxes=tuple(boxes),
                label=label, candidates=names if choose else None, healthy=not boxes,
                query=label or names[0],
            )
            for _ in range(EACH)
        ]  # fmt: skip
    return made


def truth(draw: np.random.Generator, count: int, level: str) -> list[Box]:
    """True boxes in thousandths: lesions of a fiftieth to a fifth of a side, or most of the photo.

    AgroGround keeps boxes of 0.001 to 0.95 of the photo's area; a diffuse disease's is the leaf.
    """
    size = draw.uniform(*((300, 950) if level == "object" else (20, 200)), (count, 2)).round()
    low = (draw.uniform(0, 1, (count, 2)) * (1000 - size)).round()
    return [(x1, y1, x2, y2) for x1, y1, x2, y2 in np.hstack([low, low + size]).tolist()]


def reply(draw: np.random.Generator, boxes: list[Box], name: str, names: Sequence[str]) -> str:
    """What a model under training writes."""
    if draw.random() < (0.7 if not boxes else 0.05):
        return "[]"
    noise = draw.normal(0, float(draw.choice([4, 15, 60])), (len(boxes), 4))
    said = [
        list(row) for row in (np.array(boxes).reshape(-1, 4) + noise).round().astype(int).tolist()
    ]
    said = [row for row in said if draw.random() < 0.85]
    if draw.random() < 0.2:
        said += np.rint(truth(draw, int(draw.integers(1, 4)), "lesion")).astype(int).tolist()
    if said and draw.random() < 0.1:
        said.append(said[0])
    if draw.random() < 0.1:
        said.append([500, 500, 510, 512])
    if draw.random() < 0.25:
        name = str(draw.choice(list(names)))
    text = json.dumps([{"bbox_2d": row, "label": name} for row in said])
    if draw.random() < 0.2:
        text = f"```json\n{text}\n```"
    return text[:-9] if draw.random() < 0.03 else text


# --- the plain reward --------------------------------------------------------------------------


def plain(rollout: Rollout, region: Region) -> float:
    """The published reward of one reply."""
    found = parsed(rollout.text)
    if found is None:
        return 0.0
    if rollout.healthy:
        return 0.10 if found else 1.0
    true = rollout.boxes
    large = [box for box, _ in found if area(box) >= 1000]
    tp = hits(large, true)
    precision = tp / len(found) if found else 0.0
    recall = tp / len(true) if true else 0.0
    f1 = 2 * precision * recall / (precision + recall) if tp else 0.0
    placed = (f1 + (region(large, true) if large and true else 0.0)) / 2
    spoke = 0.15 if found else 0.0
    if rollout.protocol != "candidates":
        return 0.10 + 0.525 * placed + 0.225 * recall + spoke
    return 0.10 + 0.35 * placed + 0.15 * recall + 0.25 * named(found, rollout) + spoke


def parsed(text: str) -> list[tuple[Box, str]] | None:
    """Boxes and labels; None for any defect."""
    body = text.strip()
    if body.startswith("```"):
        body = body.split("\n", 1)[1] if "\n" in body else ""
    if body.endswith("```"):
        body = body[:-3]
    try:
        rows = json.loads(body)
    except ValueError:
        return None
    if not isinstance(rows, list):
        return None
    found: list[tuple[Box, str]] = []
    for row in rows:
        box = row.get("bbox_2d") if isinstance(row, dict) else None
        if not isinstance(box, list) or len(box) != 4:
            return None
        for value in box:
            if not isinstance(value, int | float) or not math.isfinite(value):
                return None
        a, b, c, d = (max(0.0, min(1000.0, float(value))) for value in box)
        label = " ".join(str(row.get("label") or "").lower().split())
        found.append(((min(a, c), min(b, d), max(a, c), max(b, d)), label))
    return found


def area(box: Corners) -> float:
    """Of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])


def hits(said: Sequence[Corners], true: Sequence[Corners]) -> int:
    """Greedy one-to-one matches at IoU 0.5."""
    near = []
    for i, (a1, b1, a2, b2) in enumerate(said):
        for j, (x1, y1, x2, y2) in enumerate(true):
            wide, high = min(a2, x2) - max(a1, x1), min(b2, y2) - max(b1, y1)
            if wide > 0 and high > 0:
                shared = wide * high
                overlap = shared / (area(said[i]) + area(true[j]) - shared)
                if overlap >= 0.5:
                    near.append((overlap, i, j))
    near.sort(reverse=True)
    left: set[int] = set()
    right: set[int] = set()
    for _, i, j in near:
        if i not in left and j not in right:
            left.add(i)
            right.add(j)
    return len(left)


def named(found: Sequence[tuple[Box, str]], rollout: Rollout) -> float:
    """What the name is worth: 1, 0.25 or 0."""
    labels = [label for _, label in found if label]
    if not labels:
        return 0.0
    best = max(dict.fromkeys(labels), key=labels.count)
    if best == rollout.label:
        return 1.0
    return 0.25 if best in (rollout.candidates or ()) else 0.0


def grid(boxes: Sequence[Corners]) -> list[list[bool]]:
    """The cells that boxes touch, row by row."""
    rows = [[False] * 100 for _ in range(100)]
    for x1, y1, x2, y2 in boxes:
        for y in range(math.floor(y1 / 10), math.ceil(y2 / 10)):
            for x in range(math.floor(x1 / 10), math.ceil(x2 / 10)):
                rows[y][x] = True
    return rows


def cells(said: Sequence[Corners], true: Sequence[Corners]) -> float:
    """Region IoU, cell by cell."""
    first, second = grid(said), grid(true)
    both = either = 0
    for y in range(100):
        for x in range(100):
            if first[y][x] or second[y][x]:
                either += 1
            if first[y][x] and second[y][x]:
                both += 1
    return both / either if either else 0.0


def touched(boxes: Sequence[Corners]) -> set[int]:
    """The numbers of the cells that boxes touch."""
    return {
        100 * y + x
        for x1, y1, x2, y2 in boxes
        for y in range(math.floor(y1 / 10), math.ceil(y2 / 10))
        for x in range(math.floor(x1 / 10), math.ceil(x2 / 10))
    }


def sets(said: Sequence[Corners], true: Sequence[Corners]) -> float:
    """Region IoU by sets of cells."""
    a, b = touched(said), touched(true)
    union = len(a | b)
    return len(a & b) / union if union else 0.0


# --- the comparison ----------------------------------------------------------------------------


def batches(reward: Reward, asked: Sequence[Rollout]) -> list[Paid]:
    """All in batches."""
    return [
        paid for at in range(0, len(asked), BATCH) for paid in pay(reward, asked[at : at + BATCH])
    ]


def bounded(asked: Sequence[Rollout]) -> tuple[float, int]:
    """The most that the exact region IoU and the raster are apart, and how many break the bounds.

    Cells within the boxes give the least that both unions can be, cells touched the most.
    """
    most, broken = 0.0, 0
    for rollout in asked:
        found = parsed(rollout.text)
        large = [box for box, _ in found or () if area(box) >= 1000]
        if not large or not rollout.boxes:
            continue
        exact = geometry.region_iou(geometry.as_boxes(large), geometry.as_boxes(rollout.boxes))
        raster = cells(large, rollout.boxes)
        a, b, c, d = (each(boxes) for boxes in (large, rollout.boxes) for each in (touched, within))
        low, high = len(b & d) / len(a | c), len(a & c) / max(1, len(b | d))
        broken += not (low - 1e-9 <= exact <= high + 1e-9 and low - 1e-9 <= raster <= high + 1e-9)
        most = max(most, abs(exact - raster))
    return most, broken


def within(boxes: Sequence[Corners]) -> set[int]:
    """The numbers of the cells that lie whole in a box."""
    return {
        100 * y + x
        for x1, y1, x2, y2 in boxes
        for y in range(math.ceil(y1 / 10), math.floor(y2 / 10))
        for x in range(math.ceil(x1 / 10), math.floor(x2 / 10))
    }


def spread(values: Sequence[float]) -> str:
    """The median, with the least and the most."""
    return f"{median(values):6.1f} [{min(values):.1f}, {max(values):.1f}]"


def main() -> int:
    """Measure, print, and say whether values agree and the target holds."""
    asked = replies()
    ways: dict[str, Callable[[], list[Any]]] = {
        "cells": lambda: [plain(each, cells) for each in asked],
        "sets": lambda: [plain(each, sets) for each in asked],
        "published": lambda: batches(published.REWARD, asked),
        "grounded": lambda: batches(grounded.REWARD, asked),
    }
    batches(grounded.REWARD, asked[:BATCH])  # imports and caches
    spent: dict[str, list[float]] = {name: [] for name in ways}
    values: dict[str, list[Any]] = {}
    for _ in range(ROUNDS):
        for name, work in ways.items():
            begun = time.process_time()
            values[name] = work()
            spent[name].append(time.process_time() - begun)
    apart = [
        max(
            abs(one.reward - two)
            for one, two in zip(values["published"], values[name], strict=True)
        )
        for name in ("cells", "sets")
    ]
    most, broken = bounded(asked)
    print(f"{len(asked)} replies, {sum(len(each.boxes) for each in asked)} true boxes")
    good = max(apart) <= 1e-9 and not broken
    for name, seconds in spent.items():
        line = f"{name:<10} {median(seconds) / len(asked) * 1e6:7.1f} us a reply"
        for peer in ("cells", "sets") if name in ("published", "grounded") else ():
            ratios = [a / b for a, b in zip(spent[peer], seconds, strict=True)]
            line += f"; {peer} / it {spread(ratios)}"
            if peer == "cells":
                reached = median(ratios) >= TARGET
                line += f" (target {TARGET}: {'ok' if reached else 'MISSED'})"
                good = good and reached
        print(line)
    print(f"published and plain Python differ by at most {max(apart):.1e}; exact region IoU and "
          f"raster by {most:.3f}, {broken} out of what cells allow")  # fmt: skip
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
