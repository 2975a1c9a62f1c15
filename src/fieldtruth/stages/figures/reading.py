"""A page's lines as blocks of running text, captions, furniture and words within pictures."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from fieldtruth.papers.layout import Ink, Layout, Line, Page
from fieldtruth.records import Box, Record
from fieldtruth.stages.figures.boxes import area, around, holds, shared
from fieldtruth.stages.figures.captions import Start, start
from fieldtruth.stages.figures.justified import whole

MARGIN = 0.09  # of a page's height, above and below: where running heads, logos and numbers are
_LEADING = 0.75  # of a line's height that may lie between two lines of a paragraph
_DOUBLE = 1.75  # of it where a manuscript is typed with two lines' room
_TIGHT = 0.35  # of it that lies between lines of one paragraph in every paper looked at
_FEW = 12  # pairs of lines that tell how a paper is set
_BODY = 90  # letters that a paragraph has at least
_LARGER = 1.12  # heights of a caption's smallest line; running text under it has more
_LABEL = 12  # letters of "Figure 12." alone
_HYPHEN = re.compile(r"(\w)[-‐]$")


class Block(Record, frozen=True, kw_only=True):
    """Lines that follow each other in one column. `start` where they are a caption."""

    lines: tuple[Line, ...]
    box: Box
    page: int
    start: Start | None = None
    body: bool = False

    @property
    def text(self) -> str:
        """Its words in one line, hyphens at line ends undone."""
        return joined(line.text for line in self.lines)


class Sheet(Record, frozen=True, kw_only=True):
    """A page understood: what is text, what is a caption, and what may be part of a picture."""

    number: int
    width: float
    height: float
    captions: tuple[Block, ...]
    body: tuple[Block, ...]
    words: tuple[Line, ...]  # single words and short lines: axes, letters, cells of tables
    inks: tuple[Ink, ...]
    size: float  # of the paper's running text


def joined(texts: Iterable[str]) -> str:
    """Lines as one text: a word that a hyphen parted is whole where it goes on in lower case.

    >>> joined(["an effi-", "cient flow", "of CO-", "Ordinates"])
    'an efficient flow of CO-Ordinates'
    """
    whole = ""
    for text in texts:
        if _HYPHEN.search(whole):
            whole = (whole[:-1] if text[:1].islower() else whole) + text
        else:
            whole = f"{whole} {text}" if whole else text
    return whole


def sheets(layout: Layout) -> list[Sheet]:
    """Every page of a paper, understood in the light of all of them."""
    size = body_size(layout)
    words, marks = _repeated(layout.pages)
    room = _room(layout, size)
    return [_sheet(page, size, room, words, marks) for page in layout.pages]


def body_size(layout: Layout) -> float:
    """The height of line that most letters have; 12 where there are none."""
    count: Counter[float] = Counter()
    for page in layout.pages:
        for line in page.lines:
            count[round(line.size * 4) / 4] += len(line.text)
    return max(count, key=lambda size: (count[size], size)) if count else 12.0


def _room(layout: Layout, size: float) -> float:
    """What lies between two lines of a paragraph at most, in heights of a line.

    The usual room between a long line and the next one with the same left edge, where that is more.
    """
    gaps: list[float] = []
    for page in layout.pages:
        long = [each for each in page.lines if each.box[2] - each.box[0] > 20 * size]
        for a, b in pairwise(long):
            if abs(a.box[0] - b.box[0]) < 2 and b.box[1] > a.box[3]:
                gaps.append((b.box[1] - a.box[3]) / a.size)
    usual = sorted(gaps)[len(gaps) // 2] if len(gaps) >= _FEW else 0.0
    return min(max(_LEADING, 1.2 * usual), _DOUBLE)


def _margin(box: Box, page: Page) -> bool:
    return box[3] < MARGIN * page.height or box[1] > (1 - MARGIN) * page.height


def _words_of(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text)


def _place(ink: Ink) -> tuple[int, ...]:
    return tuple(round(value / 8) for value in ink.box)


def _repeated(pages: Sequence[Page]) -> tuple[set[str], set[tuple[int, ...]]]:
    """Words and patches in the margins that more than one page has."""
    words: Counter[str] = Counter()
    marks: Counter[tuple[int, ...]] = Counter()
    for page in pages:
        words.update({_words_of(line) for line in page.lines if _margin(line.box, page)})
        marks.update({_place(ink) for ink in page.inks if _margin(ink.box, page)})
    return {w for w, n in words.items() if n > 1}, {m for m, n in marks.items() if n > 1}


def _sheet(
    page: Page, size: float, room: float, heads: set[str], marks: set[tuple[int, ...]]
) -> Sheet:
    lines = [
        line for line in page.lines
        if not (_margin(line.box, page) and (_words_of(line) in heads or len(line.text) <= 4))
    ]  # fmt: skip
    captions: list[Block] = []
    body: list[Block] = []
    words: list[Line] = []
    inks = [ink for ink in page.inks if not _furniture(ink, page, marks)]
    for block in _blocks(whole(lines), page.number, size, room):
        if block.start is not None:
            captions.append(block)
        elif block.body and not _within(block, inks, size):
            body.append(block)
        else:
            words += block.lines
    kept = [ink for ink in inks if not _frames(ink, [*captions, *body])]
    return Sheet(
        number=page.number, width=page.width, height=page.height, captions=tuple(captions),
        body=tuple(body), words=tuple(words), inks=tuple(kept), size=size,
    )  # fmt: skip


def _furniture(ink: Ink, page: Page, marks: set[tuple[int, ...]]) -> bool:
    """A logo or rule in the margin, there on other pages too; or a rule across it."""
    if not _margin(ink.box, page):
        return False
    x1, y1, x2, y2 = ink.box
    return _place(ink) in marks or (y2 - y1 <= 4 and x2 - x1 > 0.3 * page.width)


def _frames(ink: Ink, texts: Sequence[Block]) -> bool:
    """A frame, or a tinted panel, around words that are no part of a picture."""
    if ink.fill > 0.1 and not ink.tint:
        return False
    return any(holds(ink.box, each.box) for each in texts)


def _within(block: Block, inks: Sequence[Ink], size: float) -> bool:
    """Small words inside of a drawing, not a page's frame."""
    if block.lines[0].size > 0.9 * size:
        return False
    return any(
        holds(ink.box, block.box) and not ink.tint and ink.fill > 0.02 and area(ink.box) < 1.5e5
        for ink in inks
    )


def _blocks(lines: Sequence[Line], page: int, size: float, room: float) -> list[Block]:
    """The lines of a page in blocks; a block ends where its column's leading does."""
    open_: list[list[Line]] = []
    starts: list[Start | None] = []
    for line in lines:
        at = _above(line, open_, room)
        told = start(line.text)
        if at is not None and starts[at] is not None and _leaves(line, open_[at]):
            at = None
        if at is not None and told is not None and _begins(line, told, open_[at], starts[at], size):
            at = None
        elif at is not None:
            told = None
        if at is None:
            open_.append([line])
            starts.append(told)
        else:
            open_[at].append(line)
    return [_block(some, told, page, size) for some, told in zip(open_, starts, strict=True)]


def _leaves(line: Line, caption: Sequence[Line]) -> bool:
    """Whether a line below a caption is larger than it, or sticks out of it on both sides."""
    if line.size > _LARGER * min(each.size for each in caption):
        return True
    if len(caption) == 1 and len(caption[0].text) < _LABEL:
        return False  # the label may stand alone
    wide = around(each.box for each in caption)
    return line.box[0] < wide[0] - line.size and line.box[2] > wide[2] + line.size


def _above(line: Line, blocks: Sequence[Sequence[Line]], room: float) -> int | None:
    """The block that a line goes on, of those whose last line is just above it."""
    best: tuple[float, int] | None = None
    for at, block in enumerate(blocks):
        last = block[-1]
        down = line.box[1] - last.box[3]
        if not -0.6 * line.size <= down <= room * min(line.size, last.size):
            continue
        if line.box[1] <= last.box[1] + 0.3 * last.size or not 0.8 < line.size / last.size < 1.25:
            continue
        if len(block) > 1 and down > block[-1].box[1] - block[-2].box[3] + 0.25 * line.size:
            continue  # the leading grew: a new paragraph
        wide = around(each.box for each in block)
        if shared(wide[0], wide[2], line.box[0], line.box[2]) < 0.5:
            continue
        rank = (abs(down) + abs(line.box[0] - wide[0]) / 50, at)
        best = rank if best is None else min(best, rank)
    return None if best is None else best[1]


def _begins(
    line: Line, told: Start, above: Sequence[Line], start_above: Start | None, size: float
) -> bool:
    """Whether a line under others begins a caption rather than goes on with theirs."""
    last = above[-1]
    if start_above is not None:
        return told.sure or told.bare or line.bold
    if line.bold and not last.bold:
        return True
    if told.bare and line.box[0] > min(each.box[0] for each in above) + 2 * line.size:
        return True  # a label alone in the middle of its line
    tight = line.box[1] - last.box[3] <= _TIGHT * last.size
    return not tight or (line.size < 0.95 * size and line.size < 0.95 * last.size)


def _block(lines: Sequence[Line], told: Start | None, page: int, size: float) -> Block:
    box = around(line.box for line in lines)
    text = "".join(line.text for line in lines)
    letters = sum(character.isalpha() for character in text)
    wide = sum(line.box[2] - line.box[0] for line in lines) / len(lines)
    body = (
        letters >= 0.6 * len(text.replace(" ", ""))
        and (
            (len(lines) > 1 and len(text) >= _BODY and wide >= 8 * size)
            or (wide >= 16 * size and len(text) >= 40 and lines[0].size >= 0.9 * size)
        )
    )  # fmt: skip
    return Block(lines=tuple(lines), box=box, page=page, start=told, body=body)


def paragraphs(layout: Layout) -> list[Block]:
    """The running text and the captions of a paper, page by page."""
    return [each for sheet in sheets(layout) for each in (*sheet.body, *sheet.captions)]


def rows(blocks: Sequence[Block]) -> list[list[Block]]:
    """Blocks that stand next to each other, from the left."""
    made: list[list[Block]] = []
    for block in sorted(blocks, key=lambda each: (each.box[1], each.box[0])):
        for row in made:
            if all(
                shared(b.box[1], b.box[3], block.box[1], block.box[3]) > 0.5
                and shared(b.box[0], b.box[2], block.box[0], block.box[2]) == 0
                for b in row
            ):
                row.append(block)
                break
        else:
            made.append([block])
    return [sorted(row, key=lambda each: each.box[0]) for row in made]
