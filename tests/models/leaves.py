"""Small leaves with spots whose boxes are known, drawn from the seed alone."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from tests.builders import item

from fieldtruth.draws import rng
from fieldtruth.records import Box, Item

SIZE = (240, 160)
SPOTS = {"leaf rust": ((205, 140, 40), 5, 8), "late blight": ((70, 45, 35), 2, 17)}
NAMES = (*SPOTS, "scab", "smut")


def draw(path: Path, seed: int, label: str | None) -> tuple[Box, ...]:
    """Save a leaf on a pale ground; the boxes of its spots, far edges exclusive."""
    random = rng(seed, "test leaf", label or "healthy")
    picture = Image.new("RGB", SIZE, (205, 205, 210))
    brush = ImageDraw.Draw(picture)
    brush.ellipse((20, 20, 219, 139), fill=(50 + int(random.integers(20)), 125, 45))
    brush.line((20, 80, 219, 80), fill=(95, 165, 90), width=3)
    boxes: list[Box] = []
    if label is not None:
        colour, count, radius = SPOTS[label]
        across = 180 // count
        for number in range(count):
            x = 30 + across * number + int(random.integers(radius, across - radius))
            y = 80 + int(random.choice([-30, 30])) + int(random.integers(-4, 5))
            r = radius + int(random.integers(-1, 2))
            brush.ellipse((x - r, y - r, x + r - 1, y + r - 1), fill=colour)
            boxes.append((float(x - r), float(y - r), float(x + r), float(y + r)))
    noise = random.normal(0, 5, (SIZE[1], SIZE[0], 3))
    noisy = np.clip(np.asarray(picture) + noise, 0, 255).astype(np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(noisy).save(path)
    return tuple(boxes)


def leaves(root: Path, seeds: Sequence[int]) -> list[Item]:
    """A leaf of each kind and a healthy one per seed, as items whose photos lie in `root`."""
    items = []
    for seed in seeds:
        for label in (*SPOTS, None):
            name = f"{label or 'healthy'}-{seed}"
            truth = {
                "label": label,
                "boxes": draw(root / f"{name}.png", seed, label),
                "level": "lesion" if label else "healthy",
                "kind": "disease" if label else None,
                "query": label or "leaf rust",
            }
            size = {"width": SIZE[0], "height": SIZE[1]}
            items.append(
                item(name, image=f"{name}.png", group=name, candidates=NAMES, **truth, **size)
            )
    return items
