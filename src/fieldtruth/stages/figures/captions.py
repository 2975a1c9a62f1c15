"""Which lines begin a caption, in which language, of a figure or of a table.

"Fig. 3" begins a caption where it begins a block, with a stop, colon or bar after its number or
with a capital letter; not where the words go on ("Figure 3 shows") nor inside of a paragraph.
"""

import re

from fieldtruth.records import Record

# The word for a figure and for a table as papers in these languages print it.
_FIGURE = (
    r"fig(?:ure|ura|uur)?|abb(?:ildung)?|bild|afb(?:eelding)?|рис(?:унок)?|图|圖|図|그림|şekil|sekil"
    r"|rys(?:unek)?|obr(?:ázek)?|kuva|slika|plate|scheme|hình|gambar|εικόνα|σχήμα|शकल|चित्र|شكل|شکل"
)
_TABLE = (
    r"tab(?:le|elle|la|leau|ela|el|ella|lo)?|cuadro|quadro|табл(?:ица)?|表|표|taulukko|tablica"
    r"|tabulka|çizelge|bảng|box"
)
_BEFORE = r"(?:(?:supplementa(?:ry|l)|suppl?\.|extended data|online|appendix|additional)\s+)?"
_NUMBER = r"(?P<number>(?:[A-DS]\s?[.-]?\s?)?\d{1,3}(?:[.\-]\d{1,2}){0,2}[a-z]?|[IVX]{1,5})(?!\w)"
_START = re.compile(
    rf"^(?P<label>{_BEFORE}(?:(?P<figure>{_FIGURE})|(?P<table>{_TABLE}))\.?\s*{_NUMBER})"
    r"(?P<stop>\s*[.:|：．。│—–-])?(?P<space>\s*)(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_PANEL = re.compile(r"[([]?[A-Za-z0-9][)\].,:]")


class Start(Record, frozen=True, kw_only=True):
    """How a caption begins. `sure`: with a stop after the number; `bare`: the label is all."""

    label: str
    number: str
    table: bool
    sure: bool
    bare: bool


def start(text: str) -> Start | None:
    """What a line begins with, where it may be a caption's first.

    >>> start("Fig. 2 | Lesions in four years.").number
    '2'
    >>> start("Figure 2 shows lesions.") is None
    True
    """
    found = _START.match(text)
    if found is None:
        return None
    rest, stop = found["rest"], bool(found["stop"])
    if rest and not stop and (not found["space"] or not _begins(rest)):
        return None
    if rest and stop and rest[0].islower() and not _PANEL.match(rest):
        return None
    number = re.sub(r"\s+", "", found["number"])
    if number[-1:].islower() and not number.isalpha():
        number = number[:-1] + number[-1]
    return Start(
        label=found["label"].strip(), number=number.upper() if number.isalpha() else number,
        table=found["table"] is not None, sure=stop, bare=not rest.strip(),
    )  # fmt: skip


def _begins(rest: str) -> bool:
    """Whether words begin here rather than go on."""
    first = rest[0]
    return first.isupper() or first in '(["“‘«' or (first.isalpha() and not first.islower())
