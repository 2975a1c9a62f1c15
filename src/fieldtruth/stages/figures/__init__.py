"""Figures of a paper with their captions: from lines and ink to pairs, and what was missed.

    reading   lines to running text, captions and the words of pictures
    captions  which line begins a caption
    regions   ink to pictures and tables
    pairing   pictures to captions: below, above, beside, overleaf, from a list
    panels    the parts of a figure

(PlantXpert, section 3.1: figures and captions were cut out by PDFigCapX.)
"""

from fieldtruth.papers.layout import BROKEN, Layout
from fieldtruth.papers.records import Panel, Seen, Where
from fieldtruth.records import Box, Record
from fieldtruth.stages.figures.boxes import area
from fieldtruth.stages.figures.pairing import Pair, pair
from fieldtruth.stages.figures.panels import panels
from fieldtruth.stages.figures.reading import Sheet, sheets
from fieldtruth.stages.figures.regions import regions

STAGE = "figures"
REASONS = ("no figure", "scanned", "changed", *BROKEN)
SPARSE = 0.2  # of its box that the patches of such a picture take: not words with a logo or two
SHOWN = 0.02  # of a page that a picture without a caption takes to be shown as a miss


class Cut(Record, frozen=True, kw_only=True):
    """A figure before it is rendered: where it is, and what is said of it."""

    number: str
    label: str
    caption: str
    page: int
    box: Box
    caption_page: int
    caption_box: Box
    where: Where
    panels: tuple[Panel, ...] = ()


class Missed(Record, frozen=True, kw_only=True):
    """What no figure was made of."""

    page: int
    what: Seen
    label: str = ""
    box: Box | None = None


class Found(Record, frozen=True, kw_only=True):
    """What a paper holds."""

    figures: tuple[Cut, ...]
    missed: tuple[Missed, ...]


def find(layout: Layout) -> Found:
    """The figures of a paper in the order of their pages, and what was missed on each."""
    pages = sheets(layout)
    made = pair(pages, [regions(sheet) for sheet in pages])
    shown = {each.page for each in made.pairs}
    missed = [
        Missed(page=page.number, what="a scanned page")
        for page in layout.pages if page.scanned and page.number not in shown
    ]  # fmt: skip
    scanned = {each.page for each in missed}
    missed += [
        Missed(page=page.number, what="a page that cannot be shown")
        for page in layout.pages if not page.shown
    ]  # fmt: skip
    for block in made.captions:
        label = block.start.label if block.start else ""
        missed.append(
            Missed(page=block.page, what="a caption without a picture", label=label, box=block.box)
        )
    for number, region in made.pictures:
        sheet = pages[number - 1]
        inked = sum(area(ink.box) for ink in region.inks)
        least = SHOWN * sheet.width * sheet.height
        if number not in scanned and inked >= max(least, SPARSE * area(region.box)):
            box = _fitted(region.box, sheet)
            missed.append(Missed(page=number, what="a picture without a caption", box=box))
    figures = tuple(_cut(each, pages[each.page - 1]) for each in made.pairs)
    missed.sort(key=lambda each: (each.page, each.what))
    return Found(figures=figures, missed=tuple(missed))


def _cut(made: Pair, sheet: Sheet) -> Cut:
    block = made.caption
    assert block.start is not None  # pairing takes nothing else
    text = block.text
    return Cut(
        number=block.start.number, label=block.start.label, caption=text, page=made.page,
        box=_fitted(made.region.box, sheet), caption_page=block.page, caption_box=block.box,
        where=made.where, panels=panels(made.region, text),
    )  # fmt: skip


def _fitted(box: Box, sheet: Sheet) -> Box:
    """The box with what is outside of the page cut off."""
    return (
        max(box[0], 0.0), max(box[1], 0.0), min(box[2], sheet.width), min(box[3], sheet.height)
    )  # fmt: skip
