"""The nouns of papers: a paper, a figure with its caption, its panels, and what was missed.

Boxes are points (1/72 inch) of the page as it is shown, turned as its PDF says and cut to its crop
box, from the upper left corner: `(x1, y1, x2, y2)`. Pages count from 1.
"""

from typing import Literal

from fieldtruth.records import Box, Record

Where = Literal["below", "above", "beside", "overleaf", "list"]
Seen = Literal[
    "a caption without a picture", "a picture without a caption", "a scanned page",
    "a page that cannot be shown",
]  # fmt: skip


class Paper(Record, frozen=True, kw_only=True):
    """One paper that passed the screen. `file` is relative to the folder that was screened.

    `crops` and `tasks` are what its title, abstract and captions name; `query` and `venue` are
    what a reference export says of it. `year`, `doi` and `title` are null where nothing says.
    """

    id: str  # the first 16 hex digits of the file's SHA-256
    file: str
    sha256: str
    pages: int
    words: int
    language: str | None
    title: str | None = None
    doi: str | None = None
    year: int | None = None
    venue: str | None = None
    date: str | None = None
    query: str | None = None
    crops: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    scanned: tuple[int, ...] = ()  # pages without a layer of text
    licence: str = "unknown"


class Panel(Record, frozen=True, kw_only=True):
    """One part of a figure; `box` is null where its place could not be told."""

    name: str
    box: Box | None = None


class Figure(Record, frozen=True, kw_only=True):
    """A figure and its caption. `image` is its crop, rendered, relative to the output folder.

    `box` holds the picture with its axes and letters, not the caption; `where` is the caption's
    place as seen from the picture. `panels` are empty where the figure is one picture.
    """

    id: str  # PAPER:fig-NUMBER, in lower case
    paper: str
    number: str
    label: str  # as written: "Fig. 3"
    caption: str
    page: int
    box: Box
    page_width: float
    page_height: float
    caption_page: int
    caption_box: Box
    where: Where
    panels: tuple[Panel, ...] = ()
    image: str
    image_sha256: str
    width: int
    height: int
    dpi: float
    turned: int = 0  # degrees clockwise that the page, its words on their side, was turned by
    group: str  # the paper: figures of one are never split (design, section 2, rule 10)
    source: str = "papers"
    licence: str = "unknown"


class Miss(Record, frozen=True, kw_only=True):
    """What a page holds and no figure was made of: to be looked at by a person."""

    paper: str
    page: int
    what: Seen
    label: str = ""
    box: Box | None = None
