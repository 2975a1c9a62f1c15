"""Three photos and the replies to them, for the edge table of every metric.

All photos are 100 x 100 pixels and are asked with the candidates blight, rust, mold, scab.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fieldtruth.grading.bootstrap import room
from fieldtruth.grading.evidence import Graded, grade
from fieldtruth.metrics.contract import Evidence
from fieldtruth.records import Item, Level, Prediction

CANDIDATES = ("blight", "rust", "mold", "scab")
LESION = ((10, 10, 30, 30), (50, 50, 70, 70))
OBJECT = ((0, 0, 50, 50),)
DENSE = tuple((20 * n, 0, 20 * n + 10, 10) for n in range(5))


def said(boxes: Iterable[Sequence[float]], name: str = "rust") -> str:
    """A reply of these boxes under one name."""
    return json.dumps([{"bbox_2d": list(box), "label": name} for box in boxes])


WORDS = {
    "right": said(LESION),
    "one of two": said(LESION[:1]),  # region IoU exactly 0.5
    "half right": said([LESION[0], (80, 80, 90, 90)]),  # one hit, one false
    "wrong name": said(LESION, "scab"),
    "first name": said(LESION, "blight"),
    "no name": said(LESION, ""),
    "unlisted": said(LESION, "wilt"),
    "loose": said([(10, 10, 30, 22), (50, 50, 70, 70)]),  # IoU 0.6 and 1
    "outside": said([(200, 200, 300, 300)]),  # nothing is left of it within the image
    "right object": said(OBJECT),
    "dense": said(DENSE[:4]),
    "empty": "[]",
    "null": "null",
    "prose": "The plant looks fine to me.",
    "unreadable": "",
}
_TRUTH: dict[str, tuple[Level, Any]] = {
    "lesion": ("lesion", LESION),
    "object": ("object", OBJECT),
    "dense": ("lesion", DENSE),
    "healthy": ("healthy", ()),
}


def photo(shows: str, number: int = 0, **changes: Any) -> Item:
    """One of the photos by name; `changes` override any field."""
    level, boxes = _TRUTH[shows]
    healthy = level == "healthy"
    fields: dict[str, Any] = {
        "id": f"photo-{number:03d}", "image": f"{number}.png", "image_sha256": "0" * 64,
        "width": 100, "height": 100, "source": "here", "licence": "CC0", "crop": "tomato",
        "kind": None if healthy else "disease", "label": None if healthy else "rust",
        "level": level, "boxes": boxes, "query": "rust", "absent_query": "wilt",
        "candidates": CANDIDATES, "group": f"group-{number:03d}",
    }  # fmt: skip
    return Item(**{**fields, **changes})


def reply(item: Item, words: str, **changes: Any) -> Prediction:
    """A prediction; `words` is one of WORDS by name, or a reply as it stands."""
    fields: dict[str, Any] = {
        "item": item.id, "protocol": "candidates", "model": "one", "space": "pixel",
        "text": WORDS.get(words, words),
    }  # fmt: skip
    return Prediction(**{**fields, **changes})


def graded(*shown: tuple[str, str], protocol: str = "candidates", **options: Any) -> Graded:
    """Photos with the reply to each, graded."""
    items = [photo(kind, number) for number, (kind, _) in enumerate(shown)]
    rows = [
        reply(item, words, protocol=protocol) for item, (_, words) in zip(items, shown, strict=True)
    ]
    return grade(items, rows, protocol, **options)


def value(metric: str, *shown: tuple[str, str], protocol: str = "candidates") -> float | None:
    """The metric's value over photos with the reply to each; None where nothing is measured."""
    return measured(metric, graded(*shown, protocol=protocol).evidence)[0]


def measured(metric: str, evidence: Evidence) -> tuple[float | None, int]:
    """Value and n."""
    over = room()[metric].over(evidence)
    total = room()[metric].sums(evidence)[over].sum(axis=0)
    found = room()[metric].value(total)
    return (float(found.value), int(np.sum(over))) if found.known else (None, 0)
