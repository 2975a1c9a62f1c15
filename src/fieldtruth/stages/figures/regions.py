"""Patches of ink and the small words near them, gathered into pictures.

Patches belong together while no running text and no caption comes between them. What is left
holds a picture, or a table: rules, shaded rows and cells.
"""

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from fieldtruth.papers.layout import Ink, Line
from fieldtruth.records import Box, Record
from fieldtruth.stages.figures.boxes import area, around, gap, holds, meet, shared
from fieldtruth.stages.figures.reading import Block, Sheet, rows

NEAR = 40.0  # points between the parts of one picture
_TOUCH = 4.0  # points that are bridged at once, whatever lies there
_WORD = 14.0  # points between a picture and the words that belong to it
_FEW = 300  # patches that are held against each other one by one


class Region(Record, frozen=True, kw_only=True):
    """A picture or a table: its box, the boxes of its patches, the words in and around it."""

    box: Box
    inks: tuple[Ink, ...]
    words: tuple[Line, ...] = ()

    @property
    def table(self) -> bool:
        """Whether it is nothing but rules, shaded rows, a grid, and cells between them."""
        return len(self.words) >= 4 and all(_ruled(ink, self.words) for ink in self.inks)


def _ruled(ink: Ink, words: Sequence[Line]) -> bool:
    wide, high = ink.box[2] - ink.box[0], ink.box[3] - ink.box[1]
    if min(wide, high) <= 3.5 or (high <= 18 and wide >= 5 * high):
        return True
    inside = [word for word in words if holds(ink.box, word.box)]
    if ink.tint:
        return bool(inside)
    covered = sum(area(word.box) for word in inside)
    return ink.solid < 0.05 and ink.fill < 0.2 and covered > 0.1 * area(ink.box)


def regions(sheet: Sheet) -> list[Region]:
    """The pictures and tables of a page, from the top down."""
    stops = [each.box for each in (*sheet.body, *sheet.captions)]
    parts = _gathered(_touching(sheet.inks, sheet), stops, NEAR)
    held = [list(part) for part in parts]
    words: list[list[Line]] = [[] for _ in held]
    _take_words(held, words, sheet, stops)
    made = [
        Region(
            box=around([*(ink.box for ink in some), *(word.box for word in said)]),
            inks=tuple(some), words=tuple(said),
        )
        for some, said in zip(held, words, strict=True)
    ]  # fmt: skip
    made = _joined(made, stops)
    split = [piece for region in made for piece in _split(region, sheet.captions)]
    return sorted(split, key=lambda each: (each.box[1], each.box[0]))


def _touching(inks: Sequence[Ink], sheet: Sheet) -> list[list[Ink]]:
    """Patches whose boxes come within a few points of each other, as one."""
    from scipy import ndimage

    if not inks:
        return []
    grid = np.zeros((int(sheet.height) + 12, int(sheet.width) + 12), bool)
    pad = _TOUCH / 2
    spots = []
    for ink in inks:
        x1, y1, x2, y2 = (max(round(value), 0) for value in (
            ink.box[0] - pad, ink.box[1] - pad, ink.box[2] + pad, ink.box[3] + pad))  # fmt: skip
        grid[y1 : y2 + 1, x1 : x2 + 1] = True
        spots.append((min(y1, grid.shape[0] - 1), min(x1, grid.shape[1] - 1)))
    labels, _ = ndimage.label(grid, np.ones((3, 3)))
    made: dict[int, list[Ink]] = {}
    for ink, spot in zip(inks, spots, strict=True):
        made.setdefault(int(labels[spot]), []).append(ink)
    groups = list(made.values())
    if len(groups) <= _FEW:
        return groups
    groups.sort(key=lambda some: -area(around(ink.box for ink in some)))
    return groups[:_FEW]


def _gathered(groups: list[list[Ink]], stops: Sequence[Box], near: float) -> list[list[Ink]]:
    """Groups put together, the nearest first, while nothing comes between them."""
    boxes = [around(ink.box for ink in some) for some in groups]
    alive = list(range(len(groups)))
    while True:
        pairs = sorted(
            (gap(boxes[a], boxes[b]), a, b)
            for a, b in combinations(alive, 2) if gap(boxes[a], boxes[b]) <= near
        )  # fmt: skip
        gone: set[int] = set()
        moved: set[int] = set()
        for _, a, b in pairs:
            if {a, b} & (gone | moved) or not free(boxes[a], boxes[b], stops):
                continue
            groups[a] = groups[a] + groups[b]
            boxes[a] = around((boxes[a], boxes[b]))
            gone.add(b)
            moved.add(a)
        if not gone:
            return [groups[at] for at in alive]
        alive = [at for at in alive if at not in gone]


def free(a: Box, b: Box, stops: Sequence[Box]) -> bool:
    """Whether nothing lies in the box around both that did not lie in one of them."""
    whole = around((a, b))
    return not any(meet(whole, stop) and not meet(a, stop) and not meet(b, stop) for stop in stops)


def _take_words(
    held: Sequence[Sequence[Ink]], words: Sequence[list[Line]], sheet: Sheet, stops: Sequence[Box]
) -> None:
    """Each small word to the region that it stands in or near; regions grow by it."""
    boxes = [around(ink.box for ink in some) for some in held]
    left = list(sheet.words)
    for _ in range(8):
        again = []
        for word in left:
            reach = 0.0 if _heading(word, sheet.size) else _WORD
            near = [
                (gap(box, word.box), at) for at, box in enumerate(boxes)
                if gap(box, word.box) <= reach and free(box, word.box, stops)
            ]  # fmt: skip
            if not near:
                again.append(word)
                continue
            at = min(near)[1]
            words[at].append(word)
            boxes[at] = around((boxes[at], word.box))
        if len(again) == len(left):
            return
        left = again


def _heading(word: Line, size: float) -> bool:
    """A line too large, or too bold, for the words of a picture."""
    return len(word.text) > 3 and (
        word.size > 1.15 * size or (word.bold and word.size > 0.98 * size)
    )


def _joined(made: Sequence[Region], stops: Sequence[Box]) -> list[Region]:
    """Regions that overlap now that they have their words, as one."""
    done: list[Region] = []
    for region in made:
        for at, other in enumerate(done):
            close = gap(region.box, other.box) <= NEAR * 0.8
            if close and free(region.box, other.box, stops):
                done[at] = _both(other, region)
                break
        else:
            done.append(region)
    return done if len(done) == len(made) else _joined(done, stops)


def _both(a: Region, b: Region) -> Region:
    return Region(box=around((a.box, b.box)), inks=(*a.inks, *b.inks), words=(*a.words, *b.words))


def _split(region: Region, captions: Sequence[Block]) -> list[Region]:
    """A region over (or under) several captions in a row: a part to each, where nothing crosses."""
    mine = [
        each for each in captions
        if shared(region.box[0], region.box[2], each.box[0], each.box[2]) > 0.5
        and min(abs(each.box[1] - region.box[3]), abs(region.box[1] - each.box[3])) < 2 * NEAR
    ]  # fmt: skip
    for row in rows(mine):
        if len(row) < 2:
            continue
        cuts = [(a.box[2] + b.box[0]) / 2 for a, b in pairwise(row)]
        if any(i.box[0] < cut - 2 and i.box[2] > cut + 2 for i in region.inks for cut in cuts):
            continue
        pieces = [
            (
                [ink for ink in region.inks if _column(ink.box, cuts) == at],
                [word for word in region.words if _column(word.box, cuts) == at],
            )
            for at in range(len(row))
        ]
        return [
            Region(
                box=around([*(i.box for i in inks), *(w.box for w in said)]),
                inks=tuple(inks), words=tuple(said),
            )
            for inks, said in pieces if inks
        ]  # fmt: skip
    return [region]


def _column(box: Box, cuts: Sequence[float]) -> int:
    return sum((box[0] + box[2]) / 2 > cut for cut in cuts)
