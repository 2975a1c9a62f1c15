"""A page without its words, as patches of ink.

Whatever drew them (one picture, a hundred tiles, lines and fills, shadings, forms within forms) a
figure is ink on the page as it is shown. So the page is rendered small, its words are rubbed out,
and what is left is taken apart into connected patches.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fieldtruth.papers.layout import Ink, Line
from fieldtruth.records import Box

PALE = 12  # levels of 255 that a pixel differs at least from the paper where it is inked
FLAT = 0.3  # of a patch in one colour: a tinted panel with things on it
MOST = 1500  # patches of a page; the smallest are left out
_BLOT = 4  # pixels of the side of the smallest blot that is no line

Mask = NDArray[np.bool_]


def patches(
    picture: NDArray[np.uint8], lines: Sequence[Line], scale: float, off: float = 0.0
) -> list[Ink]:
    """The patches of a page, shape (h, w, 3), rendered at `scale` pixels a point.

    `off`: heights of a line that words are rubbed out around their boxes.
    """
    paper = _colour(picture.reshape(-1, 3))
    inked = _unlike(picture, paper)
    words = _words(inked.shape, lines, scale, off)
    inked &= ~words
    found: list[Ink] = []
    for ink, place in _apart(inked, scale):
        panel = _may_be_panel(ink, inked.shape, scale)
        tint = _tint(picture, words, inked, place) if panel else None
        if tint is None:
            found.append(ink)
            continue
        found.append(Ink(box=ink.box, fill=ink.fill, solid=ink.solid, tint=True))
        found += [each for each, _ in _apart(tint, scale, (place[0].start, place[1].start))]
    found.sort(key=lambda ink: (-_area(ink.box), ink.box))
    return sorted(found[:MOST], key=lambda ink: (ink.box[1], ink.box[0], ink.box[2]))


def _colour(pixels: NDArray[np.uint8]) -> NDArray[np.int16]:
    """The most frequent colour, to four levels."""
    coarse = (pixels >> 2).astype(np.uint32)
    codes = (coarse[:, 0] << 12) | (coarse[:, 1] << 6) | coarse[:, 2]
    top = int(np.bincount(codes, minlength=1 << 18).argmax())
    return np.array([(top >> 12) << 2, ((top >> 6) & 63) << 2, (top & 63) << 2], np.int16) + 2


def _unlike(picture: NDArray[np.uint8], colour: NDArray[np.int16]) -> Mask:
    return np.asarray(np.abs(picture.astype(np.int16) - colour).max(-1) > PALE, bool)


def _words(shape: tuple[int, ...], lines: Sequence[Line], scale: float, off: float) -> Mask:
    words = np.zeros(shape, bool)
    for line in lines:
        more = off * line.size
        x1, y1, x2, y2 = (a + b for a, b in zip(line.box, (-more, -more, more, more), strict=True))
        rows = slice(max(int(y1 * scale) - 1, 0), max(int(y2 * scale) + 2, 0))
        words[rows, max(int(x1 * scale) - 1, 0) : max(int(x2 * scale) + 2, 0)] = True
    return words


def _apart(inked: Mask, scale: float, start: tuple[int, int] = (0, 0)) -> list[tuple[Ink, Any]]:
    """Connected patches, gaps of two pixels bridged, with the place of each in the mask."""
    from scipy import ndimage

    if not inked.any():
        return []
    near = np.ones((3, 3), bool)
    labels, count = ndimage.label(ndimage.binary_dilation(inked, near), near)
    labels[~inked] = 0
    area = np.bincount(labels.ravel(), minlength=count + 1)
    blots = ndimage.binary_opening(inked, np.ones((_BLOT, _BLOT), bool))
    solid = np.bincount(labels[blots], minlength=count + 1)
    found = []
    for at, place in enumerate(ndimage.find_objects(labels), start=1):
        if place is None:
            continue
        rows, columns = place
        size = (rows.stop - rows.start) * (columns.stop - columns.start)
        box = (
            (start[1] + columns.start) / scale, (start[0] + rows.start) / scale,
            (start[1] + columns.stop) / scale, (start[0] + rows.stop) / scale,
        )  # fmt: skip
        found.append((_ink(box, int(area[at]), int(solid[at]), size), place))
    return found


def _ink(box: Box, area: int, solid: int, size: int) -> Ink:
    x1, y1, x2, y2 = (round(value, 2) for value in box)
    return Ink(box=(x1, y1, x2, y2), fill=round(area / size, 3), solid=round(solid / area, 3))


def _may_be_panel(ink: Ink, shape: tuple[int, ...], scale: float) -> bool:
    return ink.fill > 0.3 and _area(ink.box) * scale**2 > 0.01 * shape[0] * shape[1]


def _tint(picture: NDArray[np.uint8], words: Mask, inked: Mask, place: Any) -> Mask | None:
    """What is on a panel of one colour, a mask of its place; None where there is no such panel."""
    part, here = picture[place], inked[place]
    colour = _colour(part[here])
    flat = ~_unlike(part, colour)
    if (flat & here).sum() < FLAT * here.size:
        return None
    rest = here & ~flat & ~words[place]
    rest[[0, 1, -1, -2], :] = False  # its own edge
    rest[:, [0, 1, -1, -2]] = False
    return np.asarray(rest, bool)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
