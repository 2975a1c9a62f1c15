"""The parts of a figure: by the letters printed on it, or by those that its caption explains."""

import re
from collections.abc import Sequence

from fieldtruth.papers.records import Panel
from fieldtruth.records import Box
from fieldtruth.stages.figures.boxes import area, around
from fieldtruth.stages.figures.regions import Region

_LETTER = re.compile(r"^[(\[]?([A-Za-z])[)\].:]?$")
_IN_WORDS = (
    re.compile(r"\(([A-Za-z]|\d{1,2})\)"),
    re.compile(r"(?:(?<=[.;:|] )|^)([A-Za-z])(?=[,.:)] )"),
)
_GUTTER = 5.0  # points between two panels


def panels(region: Region, caption: str) -> tuple[Panel, ...]:
    """The panels in their order, at least two; none where the figure is one picture.

    Their boxes are told where the picture falls into as many parts as there are names.
    """
    printed = [
        (found[1], word.box)
        for word in sorted(region.words, key=lambda each: (each.box[1], each.box[0]))
        if (found := _LETTER.match(word.text))
    ]
    names = _series([name for name, _ in printed]) or _named(caption)
    if not names:
        return ()
    cells = _cells([ink.box for ink in region.inks if area(ink.box) > 60])
    boxes: Sequence[Box | None] = cells if len(cells) == len(names) else [None] * len(names)
    return tuple(Panel(name=name, box=box) for name, box in zip(names, boxes, strict=True))


def _named(caption: str) -> list[str]:
    for pattern in _IN_WORDS:
        if names := _series(pattern.findall(caption)):
            return names
    return []


def _series(names: Sequence[str]) -> list[str]:
    """The names in order where they are a, b, c ... or 1, 2, 3 ... without a hole, from two on.

    >>> _series(["B", "A", "A"]), _series(["a", "c"]), _series(["1", "2", "3"])
    (['A', 'B'], [], ['1', '2', '3'])
    """
    for kind in (str.islower, str.isupper, str.isdigit):
        some = {name for name in names if kind(name)}
        ordered = sorted(some, key=lambda name: int(name) if name.isdigit() else ord(name))
        first = {"a", "A", "1"} & set(ordered[:1])
        places = [int(n) if n.isdigit() else ord(n) for n in ordered]
        if first and len(ordered) > 1 and places == list(range(places[0], places[0] + len(places))):
            return ordered
    return []


def _cells(boxes: Sequence[Box]) -> list[Box]:
    """Boxes parted at the gutters that go right through, rows first; in the order of reading."""
    if not boxes:
        return []
    for low, high in ((1, 3), (0, 2)):
        parts = _parted(boxes, low, high)
        if len(parts) > 1:
            return [cell for part in parts for cell in _cells(part)]
    return [around(boxes)]


def _parted(boxes: Sequence[Box], low: int, high: int) -> list[list[Box]]:
    ordered = sorted(boxes, key=lambda box: (box[low], box[high]))
    parts, end = [[ordered[0]]], ordered[0][high]
    for box in ordered[1:]:
        if box[low] > end + _GUTTER:
            parts.append([box])
        else:
            parts[-1].append(box)
        end = max(end, box[high])
    return parts
