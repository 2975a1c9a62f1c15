"""Leaves that are easy to tell apart: a model of a million weights learns them in minutes.

One green ellipse on grey, and on it one to three spots of one of four looks, or none.
"""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from tests.builders import example, examples_folder

from fieldtruth.protocols import candidates, known_target
from fieldtruth.records import Example, Item, Split

SIDE = 128
LOOKS = {  # rim and middle
    "rust": ((150, 60, 20), (230, 120, 40)),
    "powdery mildew": ((220, 220, 220), (250, 250, 250)),
    "black rot": ((15, 15, 15), (50, 30, 50)),
    "yellow spot": ((200, 190, 40), (250, 240, 120)),
}
NAMES = tuple(LOOKS)


def folder(root: Path, count: int, split: Split = "train", healthy: float = 0.15) -> Path:
    """A folder of examples on so many photos, half of them with a list."""
    (root / "release").mkdir(parents=True)
    made = [_one(root / "release", number, split, healthy) for number in range(count)]
    return examples_folder(root, made)


def _one(release: Path, number: int, split: Split, healthy: float) -> Example:
    rng = np.random.default_rng([number, len(split)])
    label = None if rng.random() < healthy else NAMES[int(rng.integers(len(NAMES)))]
    path = release / f"{split}{number}.png"
    boxes = _draw(path, label, rng)
    asked = label or NAMES[int(rng.integers(len(NAMES)))]
    listed = tuple(NAMES[n] for n in rng.permutation(len(NAMES))) if rng.random() < 0.5 else None
    fields: dict[str, Any] = {
        "image": path.name, "width": SIDE, "height": SIDE, "crop": "tomato", "label": label,
        "boxes": boxes, "candidates": listed, "group": path.stem,
    }  # fmt: skip
    of = Item(
        id=path.stem, image_sha256="0" * 64, source="hand", licence="CC0", query=asked,
        kind="disease" if label else None, level="lesion" if label else "healthy",
        absent_query=None, ask_level="lesion", ask_kind="disease", **fields,
    )  # fmt: skip
    protocol = candidates.PROTOCOL if listed else known_target.PROTOCOL
    return example(
        path.stem, split=split, role="positive" if label else "healthy",
        protocol="candidates" if listed else "known_target", query=None if listed else asked,
        prompt=protocol.ask(of, "norm1000"), answer=protocol.answer(of, "norm1000"), **fields,
    )  # fmt: skip


def _draw(path: Path, label: str | None, rng: np.random.Generator) -> tuple[Any, ...]:
    """Paint a leaf; the boxes of its spots, from left to right."""
    grey = int(rng.integers(90, 200))
    picture = Image.new("RGB", (SIDE, SIDE), (grey,) * 3)
    pen = ImageDraw.Draw(picture)
    x1, y1, x2, y2 = rng.integers(0, 12, 4) * (1, 1, -1, -1) + (0, 0, SIDE, SIDE)
    pen.ellipse((x1, y1, x2, y2), fill=(int(rng.integers(30, 80)), int(rng.integers(100, 160)), 40))
    places = rng.permutation(4)[: int(rng.integers(1, 4))] if label else ()
    boxes = []
    for place in places:  # one a quarter of the leaf, so that none meet
        radius = int(rng.integers(9, 15))
        x, y = (32 + 60 * int(n) + int(rng.integers(-8, 9)) for n in divmod(int(place), 2))
        rim, middle = LOOKS[label or ""]
        pen.ellipse((x - radius, y - radius, x + radius - 1, y + radius - 1), fill=rim)
        half = radius // 2
        pen.ellipse((x - half, y - half, x + half, y + half), fill=middle)
        boxes.append((float(x - radius), float(y - radius), float(x + radius), float(y + radius)))
    noise = rng.normal(0, 6, (SIDE, SIDE, 1))
    pixels = np.clip(np.asarray(picture) + noise, 0, 255).astype(np.uint8)
    Image.fromarray(pixels).save(path)
    return tuple(sorted(boxes))
