"""The published reader and raster, frozen, to reproduce old numbers and show the difference.

Follows agroground.md, sections 11.1 and 11.2, faults included: fenced replies lose their labels,
failed calls are empty answers and so count as abstention, boxes are neither clipped nor put in
order, region IoU is a raster at a quarter of the resolution, and a missing item only makes the
set smaller. Used by `score --as-published` and by nothing else. Two liberties, where the
original would stop with a traceback: numbers that are not finite count as text that cannot be
parsed, and raster corners below 0 are cut to 0.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from fieldtruth import geometry
from fieldtruth.geometry import Boxes
from fieldtruth.grading.bootstrap import Panel, panel, room
from fieldtruth.grading.instruction import open_protocol
from fieldtruth.metrics.contract import Bools, Evidence
from fieldtruth.records import Item, Prediction

_FOUR = re.compile(r"\[\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\]")
_KEPT = 250  # characters of the reply that the published rows hold
_SCALE = 0.25


def published(items: Iterable[Item], predictions: Iterable[Prediction], protocol: str) -> Panel:
    """The sums of one model's replies, read and measured the published way.

    Rows for items the benchmark lacks are left out; a row that is given twice counts twice.
    Controls and open answers are read in this one way, though they had parsers of their own.
    """
    instruction = open_protocol(protocol)
    spoken = instruction.protocol
    asked = [(item.id, instruction.asked(item)) for item in items]
    known = {name: item for name, item in asked if item is not None}
    rows = sorted((p for p in predictions if p.item in known), key=lambda p: p.item)
    mine = [known[row.item] for row in rows]
    parsed = [([], []) if row.failed else parse(row.text) for row in rows]
    said = [
        geometry.to_pixels(geometry.as_boxes(boxes), row.space or "norm1000", i.width, i.height)
        for (boxes, _), row, i in zip(parsed, rows, mine, strict=True)
    ]
    shown = [() if i.candidates is None or len(spoken.names(i)) < 2 else i.candidates for i in mine]
    names = [
        name(labels, "" if row.failed else row.text, candidates)
        for (_, labels), row, candidates in zip(parsed, rows, shown, strict=True)
    ]
    found = _evidence(mine, said, names, shown)
    if instruction.absent:
        none = np.zeros(len(mine), dtype=np.bool_)
        found = replace(found, lesion=none, object=none, healthy=none, absent=~none)
    elif mine and not any(spoken.names(item) for item in mine):
        found = replace(found, open=np.ones(len(mine), dtype=np.bool_), akin=_holds(mine, names))
        return _leniently_joint(mine, found)
    return panel(mine, found)


def _leniently_joint(items: Sequence[Item], found: Evidence) -> Panel:
    """Open answers: the published joint number goes by the lenient rule (11.2)."""
    strict, lenient = (panel(items, e) for e in (found, replace(found, correct=found.akin)))
    at = list(room()).index("joint")
    end = sum(strict.widths[: at + 1])
    columns = slice(end - strict.widths[at], end)
    sums = strict.sums.copy()
    sums[:, columns] = lenient.sums[:, columns]
    return replace(strict, sums=sums)


def parse(text: str) -> tuple[list[list[float]], list[str]]:
    """Boxes and labels of a reply: its JSON, else every bracketed group of four whole numbers.

    What was read before the JSON went wrong stays, so that boxes can be doubled.
    """
    boxes: list[list[float]] = []
    labels: list[str] = []
    try:
        for entry in json.loads(text):
            box = entry.get("bbox_2d", [])
            if len(box) == 4:
                corners = [float(value) for value in box]
                if not all(map(isfinite, corners)):
                    raise ValueError("not finite")
                boxes.append(corners)
                labels.append(str(entry.get("label", "")))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError, OverflowError):
        for group in _FOUR.findall(text):
            boxes.append([float(value) for value in group])
            labels.append("")
    return boxes, labels


def plain(text: str) -> str:
    """The published form of a name: blanks collapsed, stripped, lower case."""
    return " ".join(text.split()).lower()


def name(labels: Sequence[str], text: str, candidates: Sequence[str]) -> str | None:
    """The published answer: the most frequent label as written, ties to the first.

    Without one, the only candidate whose name occurs in the first 250 characters.
    """
    given = [label for label in labels if label]
    if given:
        return plain(max(dict.fromkeys(given), key=given.count))
    found = [c for c in candidates if plain(c) in plain(text[:_KEPT])]
    return plain(found[0]) if len(found) == 1 else None


def _holds(items: Sequence[Item], names: Sequence[str | None]) -> Bools:
    """The published lenient rule: either name holds the other, as a run of letters."""
    true = [plain(item.label) if item.label is not None else None for item in items]
    pairs = zip(names, true, strict=True)
    return np.array([bool(a and b and (a in b or b in a)) for a, b in pairs], dtype=np.bool_)


def region(said: Boxes, true: Boxes, width: int, height: int) -> float:
    """IoU of two unions drawn on a raster of a quarter of the resolution; 0 when both vanish."""
    a, b = _raster(said, width, height), _raster(true, width, height)
    union = int((a | b).sum())
    return int((a & b).sum()) / union if union else 0.0


def _raster(boxes: Boxes, width: int, height: int) -> Bools:
    mask = np.zeros((max(1, int(height * _SCALE)), max(1, int(width * _SCALE))), dtype=np.bool_)
    for box in boxes:
        x1, y1, x2, y2 = (int(min(max(value, 0.0), 1e9) * _SCALE) for value in box.tolist())
        mask[y1:y2, x1:x2] = True
    return mask


def _hits(said: Boxes, true: Boxes) -> tuple[int, int]:
    """Greedy matches at 0.5 and 0.75, on boxes as they came and IoUs as they come."""
    with np.errstate(over="ignore", invalid="ignore"):
        half, fine = (len(geometry.match(said, true, bar, digits=None)) for bar in (0.5, 0.75))
        return half, fine


def _evidence(
    items: Sequence[Item],
    said: Sequence[Boxes],
    names: Sequence[str | None],
    shown: Sequence[Sequence[str]],
) -> Evidence:
    true = [geometry.as_boxes(item.boxes) for item in items]
    hits = [_hits(a, b) for a, b in zip(said, true, strict=True)]
    regions = [
        region(a, b, i.width, i.height) if len(a) else 0.0
        for a, b, i in zip(said, true, items, strict=True)
    ]
    ids = [[plain(candidate) for candidate in row] for row in shown]
    levels = [item.level for item in items]

    def flags(values: Iterable[bool]) -> Bools:
        return np.array(list(values), dtype=np.bool_)

    return Evidence(
        lesion=flags(level == "lesion" for level in levels),
        object=flags(level == "object" for level in levels),
        healthy=flags(level == "healthy" for level in levels),
        empty=flags(len(boxes) == 0 for boxes in said),
        true_boxes=np.array([len(boxes) for boxes in true], dtype=np.int64),
        said_boxes=np.array([len(boxes) for boxes in said], dtype=np.int64),
        hits=np.array([h for h, _ in hits], dtype=np.int64),
        hits_75=np.array([h for _, h in hits], dtype=np.int64),
        region_iou=np.array(regions, dtype=np.float64),
        listed=flags(map(bool, shown)),
        named=flags(n is not None for n in names),
        correct=flags(
            n is not None and i.label is not None and n == plain(i.label)
            for n, i in zip(names, items, strict=True)
        ),
        in_list=flags(n in row for n, row in zip(names, ids, strict=True)),
        first=flags(n in row[:1] for n, row in zip(names, ids, strict=True)),
        absent=flags(False for _ in items),
        open=flags(False for _ in items),
        akin=flags(False for _ in items),
    )
