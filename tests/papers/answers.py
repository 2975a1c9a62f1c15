"""What stands in the papers that are made for the tests: stated by hand, by nothing of ours.

Boxes are points of the page as it is shown, from its upper left corner. `kind` is what makes the
figure hard; recall and precision are counted by it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Answer:
    """One figure: where its picture is, and how its caption begins and ends."""

    number: str
    page: int
    box: Box
    begins: str
    ends: str
    kind: str
    where: str = "below"
    caption_page: int = 0  # the picture's own where 0
    panels: int = 0


@dataclass(frozen=True)
class Made:
    """A paper: its bytes, its figures, and what it is."""

    name: str
    make: Callable[[], bytes]
    figures: tuple[Answer, ...]
    scanned: bool = False


SENTENCES = (
    "Seed was sown in the first week of May at a depth of four centimetres in rows.",
    "Plots were scouted twice a week, and every tenth plant was scored by two people.",
    "Lesions were counted on the third leaf from the top until the canopy had closed.",
    "The mean of three seasons was lower on the sandy soil than it was on the loam.",
    "As can be seen in Fig. 3, the treated rows kept their green leaves for longer.",
    "A fungicide was sprayed at flowering with a boom that was set to 50 centimetres.",
    "Yield was weighed at harvest and corrected to a moisture of thirteen per cent.",
    "Differences between the cultivars were small, and none of them was significant.",
)


def prose(count: int, start: int = 0) -> str:
    """So many sentences of a field trial, always the same ones."""
    return " ".join(SENTENCES[(start + at) % len(SENTENCES)] for at in range(count))


def photo(width: int, height: int, seed: int = 0) -> Image.Image:
    """Something like a photo: colours that change slowly, with spots, nowhere white."""
    y, x = np.mgrid[0:height, 0:width] / max(width, height)
    waves = [np.sin(7 * x + seed + c) * np.cos(5 * y - c) for c in (0.0, 1.3, 2.1)]
    rgb = np.stack([90 + 60 * w for w in waves], -1)
    rgb[..., 1] += 25
    rng = np.random.default_rng(seed)
    for cx, cy in rng.random((12, 2)):
        rgb[(x - cx) ** 2 + (y - cy) ** 2 < 0.002] = (120, 70, 30)
    return Image.fromarray(rgb.clip(0, 230).astype(np.uint8))


def png(picture: Image.Image) -> BytesIO:
    """The picture as a PNG's bytes, at their beginning."""
    stream = BytesIO()
    picture.save(stream, "PNG")
    stream.seek(0)
    return stream


def wrapped(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """The lines of a text, none wider than `width` points."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and measure(longer) > width:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line] if line else lines


def overlap(a: Box, b: Box) -> float:
    """Intersection over union."""
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(w, 0) * max(h, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def found(answer: Answer, figure: Any) -> bool:
    """Whether a figure is the one that was to be found: page, region, caption."""
    said = " ".join(figure.caption.split())
    return (
        figure.page == answer.page
        and figure.caption_page == (answer.caption_page or answer.page)
        and overlap(answer.box, figure.box) >= 0.75
        and said.startswith(answer.begins)
        and said.endswith(answer.ends)
    )
