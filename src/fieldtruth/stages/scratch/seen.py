"""Photos with what every part of them shows, for eyes that are warmed up.

A photo's merged tokens lie in a raster of `down` x `across` cells. A cell has 4 x 4 parts, each
with the label that it shows, and 2 x 2 quarters, each with the box that it belongs to. A box is
taken for the ellipse in it; of several the smallest counts; and the quarter (the part) that holds
a box's middle belongs to that box, so that each box has a place however small it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldtruth import store
from fieldtruth.images import open_upright
from fieldtruth.records import Example
from fieldtruth.stages.scratch.settings import PATCH

PARTS, QUARTERS = 4, 2  # along a side of a cell
NOTHING = 0  # as a label
_HELD = 12_000  # photos kept in memory, 0.2 MB each at 256 pixels a side

Ints = NDArray[np.int64]
Boxes = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo whose boxes are known, `boxes` (n, 4) as shares of its sides; none: healthy."""

    path: Path
    label: str | None
    boxes: Boxes


@dataclass(frozen=True, slots=True)
class Truth:
    """Of a photo's tokens in their order: `parts` (tokens, 16) are labels; of the quarters
    (tokens, 4), `owners` are numbers of boxes or -1, and `middles` whether a box has its there."""

    parts: Ints
    owners: Ints
    middles: NDArray[np.bool_]


def photos(folders: Sequence[Path]) -> tuple[list[Photo], list[str], list[str]]:
    """The photos of these examples once, in order; all labels; all prompts and answers.

    A photo that is asked for what is not on it says nothing of what is.
    """
    found: dict[Path, Photo] = {}
    texts: list[str] = []
    for folder in folders:
        examples = store.open_examples(folder)
        for example in examples:
            texts += [example.prompt, example.answer]
            path = examples.photo(example)
            if example.role != "wrong_target" and path not in found:
                found[path] = _photo(path, example)
    labels = sorted({each.label for each in found.values() if each.label})
    return list(found.values()), labels, texts


def _photo(path: Path, example: Example) -> Photo:
    sides = (example.width, example.height) * 2
    boxes = np.array(example.boxes, dtype=float).reshape(-1, 4) / sides
    return Photo(path, example.label, boxes)


def truth(boxes: Boxes, label: int, down: int, across: int) -> Truth:
    """What the tokens of a photo of so many cells show."""
    rank = np.argsort(-_areas(boxes), kind="stable")
    parts = np.full((PARTS * down, PARTS * across), NOTHING)
    owners = np.full((QUARTERS * down, QUARTERS * across), -1)
    middles = np.zeros(owners.shape, bool)
    for number in rank:
        parts[_ellipse(boxes[number], parts.shape)] = label
        owners[_ellipse(boxes[number], owners.shape)] = number
    for number in rank:
        parts[_middle(boxes[number], parts.shape)] = label
        at = _middle(boxes[number], owners.shape)
        owners[at], middles[at] = number, True
    return Truth(_by_cell(parts, PARTS), _by_cell(owners, QUARTERS), _by_cell(middles, QUARTERS))


def turned(pixels: NDArray[np.uint8], boxes: Boxes, way: int) -> tuple[NDArray[np.uint8], Boxes]:
    """A photo (height, width, 3) and its boxes in one of the eight ways to lay it down."""
    x1, y1, x2, y2 = boxes.T
    if way & 1:
        pixels, x1, x2 = pixels[:, ::-1], 1 - x2, 1 - x1
    if way & 2:
        pixels, y1, y2 = pixels[::-1], 1 - y2, 1 - y1
    if way & 4:
        pixels, (x1, y1, x2, y2) = pixels.transpose(1, 0, 2), (y1, x1, y2, x2)
    return np.ascontiguousarray(pixels), np.stack([x1, y1, x2, y2], axis=1)


class Album:
    """Photos as the model's processor sizes them, kept once they were opened."""

    def __init__(self, some: Sequence[Photo], processor: Any) -> None:
        self._some, self._eyes = some, processor.image_processor
        self._held: dict[int, NDArray[np.uint8]] = {}

    def __len__(self) -> int:
        return len(self._some)

    def __getitem__(self, number: int) -> tuple[Photo, NDArray[np.uint8]]:
        """A photo and its pixels (height, width, 3); `Unreadable` where it cannot be opened."""
        photo = self._some[number]
        pixels = self._held.get(number)
        if pixels is None:
            pixels = self._sized(photo.path)
            if len(self._held) < _HELD:
                self._held[number] = pixels
        return photo, pixels

    def _sized(self, path: Path) -> NDArray[np.uint8]:
        from PIL import Image

        whole = open_upright(path)
        _, down, across = self._eyes(images=[whole], return_tensors="pt")["image_grid_thw"][0]
        size = int(across) * PATCH, int(down) * PATCH
        return np.asarray(whole.resize(size, Image.Resampling.BICUBIC))

    def patches(self, count: int, each: int, seed: int) -> NDArray[np.float64]:
        """Some patches of some photos, drawn: (patches, numbers of one), as the model sees them."""
        rng = np.random.default_rng(seed)
        some = rng.permutation(len(self))[:count]
        rows = [self.tensors([self[int(number)][1]])["pixel_values"].numpy() for number in some]
        return np.concatenate([row[rng.permutation(len(row))[:each]] for row in rows]).astype(float)

    def tensors(self, some: Sequence[NDArray[np.uint8]]) -> Any:
        """What the model is given of them: patches, and the grid of each."""
        return self._eyes(images=list(some), do_resize=False, return_tensors="pt")


def drawn(count: int, batch: int, seed: int) -> Iterator[Ints]:
    """Batches of numbers below `count` without end, all of them before any comes again."""
    rng, left = np.random.default_rng(seed), np.empty(0, np.int64)
    while True:
        while len(left) < batch:
            left = np.concatenate([left, rng.permutation(count)])
        yield left[:batch]
        left = left[batch:]


def _areas(boxes: Boxes) -> NDArray[np.float64]:
    return np.asarray((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]))


def _ellipse(box: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The places of a raster of that shape whose middle lies in a box's ellipse."""
    x1, y1, x2, y2 = box
    x = (np.arange(shape[1]) + 0.5) / shape[1] - (x1 + x2) / 2
    y = (np.arange(shape[0]) + 0.5) / shape[0] - (y1 + y2) / 2
    far = (2 * x[None, :] / (x2 - x1)) ** 2 + (2 * y[:, None] / (y2 - y1)) ** 2
    return np.asarray(far <= 1)


def _middle(box: NDArray[np.float64], shape: tuple[int, ...]) -> tuple[int, int]:
    """The place of a raster that holds a box's middle."""
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return min(int(y * shape[0]), shape[0] - 1), min(int(x * shape[1]), shape[1] - 1)


def _by_cell(raster: Any, side: int) -> Any:
    """(side * down, side * across) -> (down * across, side * side)."""
    down, across = raster.shape[0] // side, raster.shape[1] // side
    cut = raster.reshape(down, side, across, side).transpose(0, 2, 1, 3)
    return cut.reshape(down * across, side * side)
