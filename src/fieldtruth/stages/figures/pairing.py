"""Pictures to captions: on one page by distance, then overleaf, then from a list at the end.

On a page all pairs are weighed at once (the Hungarian method), so that a caption that stands
between two pictures goes to the one that leaves the other caption its own. Whether captions stand
above or below is the paper's habit: the pages are weighed twice, the second time with it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from msgspec.structs import replace

from fieldtruth.papers.records import Where
from fieldtruth.records import Box, Record
from fieldtruth.stages.figures.boxes import area, around, gap, meet, shared
from fieldtruth.stages.figures.reading import Block, Sheet
from fieldtruth.stages.figures.regions import NEAR, Region, free

ASIDE = 60.0  # points to the side that a short caption of a centred picture begins
FAR = 90.0  # points between a picture and its caption
LOOSE = 60.0  # points between the parts of a picture of which only one has the caption near
LEAST = 900.0  # square points of a picture
LARGE = 0.04  # of a page that a picture takes whose caption is on another one
_NEVER = 1e6
_ALONE = 220.0  # what a caption without a picture costs

Side = Literal["below", "above", "beside"]


class Pair(Record, frozen=True, kw_only=True):
    """A picture and its caption. `name` is the caption that stands at the picture, if another."""

    page: int
    region: Region
    caption: Block
    where: Where


class Paired(Record, frozen=True, kw_only=True):
    """The pairs of a paper, and what is left on either side."""

    pairs: tuple[Pair, ...]
    captions: tuple[Block, ...]
    pictures: tuple[tuple[int, Region], ...]  # page, region


def pair(sheets: Sequence[Sheet], found: Sequence[Sequence[Region]]) -> Paired:
    """All of a paper's pairs; `found` are the regions of each sheet."""
    first = [each for at, sheet in enumerate(sheets) for each in _on_page(sheet, found[at], None)]
    habit = Counter(side for _, _, side in first if side in ("above", "below")).most_common(1)
    usual = habit[0][0] if habit else None
    pairs: list[Pair] = []
    captions: list[Block] = []
    pictures: list[tuple[int, Region]] = []
    for at, sheet in enumerate(sheets):
        made = _on_page(sheet, found[at], usual)
        taken = {id(region) for _, region, _ in made}
        told = {id(block) for block, _, _ in made}
        pairs += [
            Pair(page=sheet.number, region=region, caption=block, where=side)
            for block, region, side in made if block.start and not block.start.table
        ]  # fmt: skip
        captions += [
            each for each in sheet.captions
            if id(each) not in told and each.start and not each.start.table
        ]  # fmt: skip
        pictures += [
            (sheet.number, region) for region in found[at]
            if id(region) not in taken and picture(region)
        ]  # fmt: skip
    pairs, pictures = _loose(sheets, pairs, pictures)
    pairs, captions = _full(pairs, captions)
    return _elsewhere(sheets, pairs, captions, pictures)


def picture(region: Region) -> bool:
    """Whether a region is large enough for a figure and no table."""
    x1, y1, x2, y2 = region.box
    return area(region.box) >= LEAST and min(x2 - x1, y2 - y1) >= 18 and not region.table


def _on_page(
    sheet: Sheet, found: Sequence[Region], usual: str | None
) -> list[tuple[Block, Region, Side]]:
    from scipy.optimize import linear_sum_assignment

    some = [each for each in found if picture(each) or each.table]
    if not some or not sheet.captions:
        return []
    cost = np.full((len(sheet.captions), len(some) + len(sheet.captions)), _ALONE)
    sides: dict[tuple[int, int], Side] = {}
    for row, block in enumerate(sheet.captions):
        for column, region in enumerate(some):
            cost[row, column] = _NEVER
            for side, price in _prices(block, region, sheet, usual):
                if price < cost[row, column]:
                    cost[row, column], sides[row, column] = price, side
    made = zip(*(each.tolist() for each in linear_sum_assignment(cost)), strict=True)
    return [
        (sheet.captions[row], some[column], sides[row, column])
        for row, column in made if column < len(some) and cost[row, column] < _ALONE
    ]  # fmt: skip


def _prices(
    block: Block, region: Region, sheet: Sheet, usual: str | None
) -> Iterator[tuple[Side, float]]:
    """What it costs to take a region for a caption's, by the side that the caption stands on."""
    table = block.start is not None and block.start.table
    wrong = 80.0 if table != region.table else 0.0
    caption, box = block.box, region.box
    aligned = shared(caption[0], caption[2], box[0], box[2])
    level = shared(caption[1], caption[3], box[1], box[3])
    odd = 25.0 if usual and not table else 0.0
    sides: list[tuple[Side, float, float, float]] = [
        ("below", caption[1] - box[3], aligned, 25.0 if table else odd * (usual != "below")),
        ("above", box[1] - caption[3], aligned, odd * (usual != "above")),
        ("beside", max(caption[0] - box[2], box[0] - caption[2]), level, 30.0),
    ]  # fmt: skip
    for side, away, along, more in sides:
        if not -6 <= away <= FAR or _between(caption, box, side, sheet):
            continue
        if along >= 0.3:
            yield side, max(away, 0.0) + more + wrong + 20 * (1 - along)
        elif side != "beside" and away <= NEAR and gap(caption, box) <= ASIDE:
            yield side, max(away, 0.0) + more + wrong + 60  # set left under what is centred


def _between(caption: Box, box: Box, side: Side, sheet: Sheet) -> bool:
    """Whether running text lies between a caption and a region."""
    if side == "beside":
        x1, x2 = (box[2], caption[0]) if caption[0] >= box[2] - 6 else (caption[2], box[0])
        lane = (x1, max(caption[1], box[1]), x2, min(caption[3], box[3]))
    else:
        y1, y2 = (box[3], caption[1]) if side == "below" else (caption[3], box[1])
        lane = (max(caption[0], box[0]), y1, min(caption[2], box[2]), y2)
    return lane[0] < lane[2] and lane[1] < lane[3] and any(meet(lane, b.box) for b in sheet.body)


def _loose(
    sheets: Sequence[Sheet], pairs: list[Pair], pictures: list[tuple[int, Region]]
) -> tuple[list[Pair], list[tuple[int, Region]]]:
    """Pictures without a caption near one that has one, with nothing between: a part of it."""
    left = []
    for page, region in pictures:
        stops = [each.box for each in (*sheets[page - 1].body, *sheets[page - 1].captions)]
        near = [
            (gap(each.region.box, region.box), at)
            for at, each in enumerate(pairs) if each.page == page
        ]  # fmt: skip
        away, at = min(near, default=(_NEVER, -1))
        if away > LOOSE or not free(pairs[at].region.box, region.box, stops):
            left.append((page, region))
            continue
        pairs[at] = replace(pairs[at], region=_whole((pairs[at].region, region)))
    return pairs, left


def _full(pairs: list[Pair], captions: list[Block]) -> tuple[list[Pair], list[Block]]:
    """A picture under a mere "Figure 3" has the words that stand elsewhere under that number."""
    words = {
        each.start.number: each for each in captions if each.start and not each.start.bare
    }  # fmt: skip
    pages = Counter(each.page for each in captions)
    made, used = [], set()
    for each in pairs:
        start = each.caption.start
        alone = start is not None and start.bare and len(each.caption.lines) == 1
        other = words.get(start.number) if start is not None and alone else None
        if other is not None and id(other) not in used:
            used.add(id(other))
            where: Where = "list" if pages[other.page] > 1 else _far(each.page, other)
            each = replace(each, caption=other, where=where)
        made.append(each)
    return made, [each for each in captions if id(each) not in used]


def _far(page: int, caption: Block) -> Where:
    return "overleaf" if abs(caption.page - page) == 1 else "list"


def _elsewhere(
    sheets: Sequence[Sheet],
    pairs: list[Pair],
    captions: list[Block],
    pictures: list[tuple[int, Region]],
) -> Paired:
    """Captions whose page has no picture for them: overleaf, or a list before or after them."""
    size = {sheet.number: sheet.width * sheet.height for sheet in sheets}
    large = [
        each for each in pictures if area(each[1].box) >= LARGE * size[each[0]]
    ]  # fmt: skip
    alone = Counter(each.page for each in captions)
    listed = [each for each in captions if alone[each.page] > 1 or _follows(each, captions)]
    made: list[Pair] = []
    if listed:
        made += _in_order(listed, [each for each in large if each[0] >= listed[0].page])
    done = {id(each.caption) for each in made}
    for block in captions:
        taken = {id(each.region) for each in made}
        near = [
            each for each in large
            if abs(each[0] - block.page) == 1 and id(each[1]) not in taken
        ]  # fmt: skip
        if id(block) in done or id(block) in {id(each) for each in listed} or not near:
            continue
        sheet = sheets[block.page - 1]
        first = not any(each.box[3] <= block.box[1] for each in sheet.body)
        page, region = min(near, key=lambda each: (each[0] < block.page) != first)
        made.append(Pair(page=page, region=region, caption=block, where="overleaf"))
    told, used = {id(each.caption) for each in made}, {id(each.region) for each in made}
    return Paired(
        pairs=tuple(sorted([*pairs, *made], key=lambda each: (each.page, each.region.box[1]))),
        captions=tuple(each for each in captions if id(each) not in told),
        pictures=tuple(each for each in pictures if id(each[1]) not in used),
    )


def _follows(block: Block, captions: Sequence[Block]) -> bool:
    """Whether a list goes on here from the page before."""
    return Counter(each.page for each in captions)[block.page - 1] > 1


def _in_order(listed: Sequence[Block], pictures: Sequence[tuple[int, Region]]) -> list[Pair]:
    """The captions of a list to the pictures after it, one by one; none where the numbers differ.

    Pictures of one page are one where there are as many pages as captions.
    """
    by_page: dict[int, list[Region]] = {}
    for page, region in pictures:
        by_page.setdefault(page, []).append(region)
    if len(pictures) != len(listed) and len(by_page) == len(listed):
        pictures = [(page, _whole(some)) for page, some in by_page.items()]
    if len(pictures) != len(listed):
        return []
    return [
        Pair(page=page, region=region, caption=block, where=_where(page, region, block))
        for block, (page, region) in zip(listed, pictures, strict=True)
    ]  # fmt: skip


def _where(page: int, region: Region, block: Block) -> Where:
    if page != block.page:
        return "list"
    return "above" if block.box[3] <= region.box[1] + 6 else "below"


def _whole(some: Sequence[Region]) -> Region:
    return Region(
        box=around(each.box for each in some),
        inks=tuple(ink for each in some for ink in each.inks),
        words=tuple(word for each in some for word in each.words),
    )
