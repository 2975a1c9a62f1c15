"""The published reward in plain loops, from the paper's appendix J and its code.

Imports nothing of ours. Regions are sets of cells, ten units wide.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

Corners = Sequence[float]


def read(text: str) -> list[tuple[list[float], str]] | None:
    body = text.strip()
    if body.startswith("```"):
        body = body.split("\n", 1)[1] if "\n" in body else ""
    if body.endswith("```"):
        body = body[:-3]
    try:
        rows = json.loads(body)
    except ValueError:
        return None
    if type(rows) is not list:
        return None
    found = []
    for row in rows:
        box = row.get("bbox_2d") if type(row) is dict else None
        if type(box) is not list or len(box) != 4:
            return None
        if any(type(v) not in (int, float) or not math.isfinite(v) for v in box):
            return None
        a, b, c, d = (max(0.0, min(1000.0, v)) for v in box)
        label = row.get("label")
        plain = " ".join(("" if label is None else str(label)).split()).lower()
        found.append(([min(a, c), min(b, d), max(a, c), max(b, d)], plain))
    return found


def area(box: Corners) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def iou(a: Corners, b: Corners) -> float:
    wide = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    high = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    union = area(a) + area(b) - wide * high
    return wide * high / union if union else 0.0


def hits(said: Sequence[Corners], true: Sequence[Corners]) -> int:
    pairs = sorted(
        ((iou(p, t), i, j) for i, p in enumerate(said) for j, t in enumerate(true)), reverse=True
    )
    left: set[int] = set()
    right: set[int] = set()
    for overlap, i, j in pairs:
        if overlap >= 0.5 and i not in left and j not in right:
            left.add(i)
            right.add(j)
    return len(left)


def cells(boxes: Sequence[Corners]) -> set[tuple[int, int]]:
    return {
        (x, y)
        for a, b, c, d in boxes
        for x in range(math.floor(a / 10), math.ceil(c / 10))
        for y in range(math.floor(b / 10), math.ceil(d / 10))
    }


def region(said: Sequence[Corners], true: Sequence[Corners]) -> float:
    a, b = cells(said), cells(true)
    return len(a & b) / len(a | b) if a and b else 0.0


def published(text: str, truth: dict[str, Any]) -> float:
    """`truth`: boxes, label, candidates, choose, healthy."""
    found = read(text)
    if found is None:
        return 0.0
    if truth["healthy"]:
        return 0.10 + 0.90 * (found == [])
    large = [box for box, _ in found if area(box) >= 1000]
    tp = hits(large, truth["boxes"])
    precision = tp / len(found) if found else 0.0
    recall = tp / len(truth["boxes"]) if truth["boxes"] else 0.0
    f1 = 2 * precision * recall / (precision + recall) if tp else 0.0
    placed = (f1 + region(large, truth["boxes"])) / 2
    spoke = 0.15 * (found != [])
    if not truth["choose"]:
        return 0.10 + 0.525 * placed + 0.225 * recall + spoke
    labels = [label for _, label in found if label]
    best = max(labels, key=lambda name: (labels.count(name), -labels.index(name)), default="")
    right = 1.0 if best and best == truth["label"] else 0.25 if best in truth["candidates"] else 0.0
    return 0.10 + 0.35 * placed + 0.15 * recall + 0.25 * right + spoke
