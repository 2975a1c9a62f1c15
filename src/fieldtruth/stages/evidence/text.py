"""The running text of a paper, and whether some words stand in it.

Words are held against the text by their letters, digits and marks alone: line breaks, spaces,
ligatures, the shape of quotes and dashes, and hyphens within words count for nothing.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Literal

from fieldtruth.records import Box, Record

SHORTEST = 20  # letters, digits and marks; less may stand in any paper
_COLUMN = 0.12  # of a page's width that left edges of one column differ by at most
_SAME = {
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "“": '"', "”": '"', "„": '"',
    "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "′": "'", "μ": "µ", "×": "x",
}  # fmt: skip
_NOTHING = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")
_ENDS = (".", "!", "?", ":", '."', ".”", ".)", "。")
# What has a full stop and ends no sentence.
_SHORT = (
    r"\b(?:figs?|figures?|abb|tabs?|eqs?|refs?|nos?|al|e\.g|i\.e|vs|cf|ca|approx|resp|spp?|subsp|cv|cvs"
    r"|var|pv|dr|st|suppl?|vol|pp?|ed|eds|inc|etc|[a-z])\.$"
)
_END = re.compile(r"[.!?。][\"”’)\]]*(?:\s+|$)")
_ABBREVIATED = re.compile(_SHORT, re.IGNORECASE)


class Part(Record, frozen=True, kw_only=True):
    """A block of a page. `words` are lines that are neither: headings, cells, axes."""

    text: str
    page: int
    box: Box
    width: float  # of the page
    kind: Literal["body", "caption", "words"] = "body"


class Paragraph(Record, frozen=True, kw_only=True):
    """Running text without a break, put together over columns and pages."""

    text: str
    page: int


def paragraphs(parts: Sequence[Part]) -> list[Paragraph]:
    """The running text in the order of reading; what goes on in the next column is joined."""
    made: list[Paragraph] = []
    for _, page in groupby(sorted(parts, key=attrgetter("page")), key=attrgetter("page")):
        for part in _in_order([each for each in page if each.kind == "body"]):
            if made and _goes_on(made[-1].text, part.text):
                made[-1] = Paragraph(text=_joined(made[-1].text, part.text), page=made[-1].page)
            else:
                made.append(Paragraph(text=part.text, page=part.page))
    return made


def _in_order(page: Sequence[Part]) -> Iterator[Part]:
    """Column by column from the left, in each from the top."""
    columns: list[list[Part]] = []
    for part in sorted(page, key=lambda each: each.box[0]):
        if columns and part.box[0] - columns[-1][0].box[0] <= _COLUMN * part.width:
            columns[-1].append(part)
        else:
            columns.append([part])
    for column in columns:
        yield from sorted(column, key=lambda each: (each.box[1], each.box[0]))


def _goes_on(before: str, text: str) -> bool:
    if before.endswith(_ENDS):
        return False
    return text[:1].islower() or before.endswith(("-", "‐", ","))


def _joined(before: str, text: str) -> str:
    if re.search(r"\w[-‐]$", before):
        return (before[:-1] if text[:1].islower() else before) + text
    return f"{before} {text}"


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph.

    >>> sentences("Leaves wilt (Fig. 2). Rust, e.g. on wheat, was rare.")
    ['Leaves wilt (Fig. 2).', 'Rust, e.g. on wheat, was rare.']
    """
    made, begin = [], 0
    for found in _END.finditer(text):
        rest = text[found.end() : found.end() + 1]
        if rest.islower() or _ABBREVIATED.search(text[begin : found.start() + 1]):
            continue
        made.append(text[begin : found.end()].strip())
        begin = found.end()
    made.append(text[begin:].strip())
    return [each for each in made if each]


class Text:
    """All words of a paper, to be held against what somebody says stands in it."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.paragraphs = paragraphs(parts)
        rest = [each for kind in ("caption", "words") for each in parts if each.kind == kind]
        pieces = [(each.text, each.page) for each in self.paragraphs]
        pieces += [(each.text, each.page) for each in rest]
        self._whole = unicodedata.normalize("NFC", "\n".join(text for text, _ in pieces))
        self._key, self._places = _keyed(self._whole)
        self._begins: list[tuple[int, int]] = []  # (where a piece begins, its page)
        at = 0
        for text, page in pieces:
            self._begins.append((at, page))
            at += len(unicodedata.normalize("NFC", text)) + 1

    def find(self, words: str) -> Paragraph | None:
        """The paper's own words for these; None where they do not stand in it, or are too short."""
        key, _ = _keyed(unicodedata.normalize("NFC", words))
        at = self._key.find(key) if len(key) >= SHORTEST else -1
        if at < 0:
            return None
        begin, end = self._places[at], self._places[at + len(key) - 1] + 1
        page = max((each for each in self._begins if each[0] <= begin), key=lambda each: each[0])[1]
        return Paragraph(text=" ".join(self._whole[begin:end].split()), page=page)

    def __str__(self) -> str:
        """The running text, a paragraph a line."""
        return "\n".join(each.text for each in self.paragraphs)


def within(some: str, other: str) -> bool:
    """Whether the words of one stand in the other."""
    return _keyed(some)[0] in _keyed(other)[0]


def _keyed(text: str) -> tuple[str, list[int]]:
    """Letters, digits and marks of a text, and where each stands in it."""
    letters: list[str] = []
    places: list[int] = []
    for at, character in enumerate(text):
        if character.isspace() or character in _NOTHING:
            continue
        for each in unicodedata.normalize("NFKC", _SAME.get(character, character)).casefold():
            letters.append(each)
            places.append(at)
    kept = [at for at in range(len(letters)) if not _hyphen(letters, at)]
    return "".join(letters[at] for at in kept), [places[at] for at in kept]


def _hyphen(letters: Sequence[str], at: int) -> bool:
    """Whether it stands between two letters."""
    if letters[at] != "-" or not 0 < at < len(letters) - 1:
        return False
    return letters[at - 1].isalpha() and letters[at + 1].isalpha()
