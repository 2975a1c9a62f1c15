"""What one reading of a PDF tells, page by page: lines of words and patches of ink.

Boxes are points of the page as it is shown, from its upper left corner.
"""

from typing import Literal, get_args

from fieldtruth.records import Box, Record

Broken = Literal[
    "broken", "encrypted", "no pages", "too many pages", "page size", "too large", "timed out",
    "crashed",
]  # fmt: skip
BROKEN: tuple[Broken, ...] = get_args(Broken)

SCAN = 0.85  # of a page that pictures cover where it is a picture of a page


class Line(Record, frozen=True, kw_only=True):
    """Words on one baseline. `size` is the height of its letters' boxes, about 1.2 em."""

    text: str
    box: Box
    size: float
    bold: bool = False  # its first letter


class Ink(Record, frozen=True, kw_only=True):
    """A patch of ink that is no word. `fill`: the share of its box that is inked.

    `solid`: the share of its ink that lies in blots of 4 points or more: 0 for the rules of a
    table, 1 for a photo. `tint`: it is one flat colour with other things on it.
    """

    box: Box
    fill: float
    solid: float
    tint: bool = False


class Page(Record, frozen=True, kw_only=True):
    """One page; `number` counts from 1. `covered`: the share that pictures in the file cover.

    `turned`: degrees clockwise that it was turned by here, as its words lay on their side.
    `shown`: whether it could be looked at; where not, it has no words and no ink.
    """

    number: int
    width: float
    height: float
    lines: tuple[Line, ...] = ()
    inks: tuple[Ink, ...] = ()
    covered: float = 0.0
    turned: int = 0
    shown: bool = True

    @property
    def scanned(self) -> bool:
        """Whether it is a picture of a page: hardly a word, and most of it is covered."""
        return sum(len(line.text) for line in self.lines) < 40 and self.covered > SCAN


class Layout(Record, frozen=True, kw_only=True):
    """A whole paper. `title` and `about` come from the PDF's own metadata."""

    pages: tuple[Page, ...]
    title: str = ""
    about: str = ""
    made: str = ""  # the date it was made, as the PDF writes it


class Failed(Record, frozen=True, kw_only=True):
    """A PDF that could not be read, and why."""

    reason: Broken
    detail: str = ""


class Crop(Record, frozen=True, kw_only=True):
    """A region that was rendered: its PNG and size in pixels."""

    png: bytes
    width: int
    height: int
    dpi: float


class Limits(Record, frozen=True, kw_only=True):
    """What a PDF may cost."""

    pages: int = 400
    bytes: int = 300 << 20
    seconds: float = 120.0  # one paper
    memory: int = 2 << 30  # bytes of the process that reads
    pixels: int = 25_000_000  # of one crop
    characters: int = 60_000  # of one page; the rest is left out
