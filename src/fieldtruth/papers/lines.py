"""Characters of a page to lines of words.

PDF files hold letters at places and no lines. Letters that follow each other in the file make one
line while they keep the baseline and go on to the right without a gap as wide as between columns.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from fieldtruth.papers.layout import Line
from fieldtruth.records import Box

LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
SPACE = 0.13  # line heights between two letters; wider is a space that the file does not write
GAP = 1.0  # widths of a line's height; wider is another column, or another cell of a table
_CHINESE = 0x2E80  # from here on scripts write no spaces
_MENDED = {
    2: "-", 0xAD: "-", 0xFFFE: "-", 0xA0: " ", 0x2007: " ", 0x202F: " ", 9: " ",
}  # fmt: skip


class Letter(tuple[str, float, float, float, float, bool]):
    """(text, x1, y1, x2, y2, bold); a break where the text is a newline."""

    __slots__ = ()


def clean(code: int) -> str:
    """What a code point stands for in words; "" for what is none."""
    if code in _MENDED:
        return _MENDED[code]
    if code in (10, 13):
        return "\n"
    if code < 32 or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return ""
    return LIGATURES.get(chr(code), chr(code))


def lines(letters: Sequence[Letter]) -> list[Line]:
    """The lines of a page, from the top down, then from the left."""
    found = [_line(each) for each in _runs(letters)]
    merged = _merged([each for each in found if each is not None])
    return sorted(merged, key=lambda line: (round(line.box[1], 1), line.box[0], line.text))


def _runs(letters: Sequence[Letter]) -> Iterator[list[Letter]]:
    run: list[Letter] = []
    box: Box | None = None
    for letter in letters:
        text, x1, y1, x2, y2, _ = letter
        if text == "\n":
            if run:
                yield run
            run, box = [], None
        elif text == " ":
            if run:
                run.append(letter)
        else:
            if box is not None and _apart(box, (x1, y1, x2, y2)):
                yield run
                run, box = [], None
            run.append(letter)
            box = _join(box, (x1, y1, x2, y2))
    if run:
        yield run


def _apart(box: Box, new: Box) -> bool:
    """Whether a letter is not the next one of the line."""
    high = min(box[3] - box[1], new[3] - new[1])
    if min(box[3], new[3]) - max(box[1], new[1]) < 0.5 * high:
        return True
    size = box[3] - box[1]
    return new[0] > box[2] + GAP * size or new[0] < box[2] - 2 * size


def _join(a: Box | None, b: Box) -> Box:
    if a is None:
        return b
    return (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))


def _line(run: Sequence[Letter]) -> Line | None:
    inked = [each for each in run if each[0] != " "]
    if not inked:
        return None
    text = " ".join(_spaced(run).split())
    box = (
        min(each[1] for each in inked), min(each[2] for each in inked),
        max(each[3] for each in inked), max(each[4] for each in inked),
    )  # fmt: skip
    heights = sorted(each[4] - each[2] for each in inked)
    return Line(
        text=text, box=_rounded(box), size=round(heights[len(heights) // 2], 2), bold=inked[0][5]
    )


def _spaced(run: Sequence[Letter]) -> str:
    """The words of a line, with the spaces that old printers' drivers leave out of the file.

    Letters of words touch (gaps of under 0.04 line heights in the papers looked at; spaces have
    0.17 and more), except where a word is set wide: there most letters are apart.
    """
    wide = [_gap(a, b) > SPACE for a, b in pairwise(run)]
    if sum(wide) > len(run) / 3:
        wide = [False] * len(wide)
    said = [run[0][0]]
    for letter, apart in zip(run[1:], wide, strict=True):
        said += [" ", letter[0]] if apart else [letter[0]]
    return "".join(said)


def _gap(a: Letter, b: Letter) -> float:
    """What lies between two letters in heights of the lower one; 0 at a space, and in Chinese."""
    if " " in (a[0], b[0]) or max(ord(a[0][0]), ord(b[0][0])) >= _CHINESE:
        return 0.0
    return (b[1] - a[3]) / max(min(a[4] - a[2], b[4] - b[2]), 1e-3)


def _rounded(box: Box) -> Box:
    return (round(box[0], 2), round(box[1], 2), round(box[2], 2), round(box[3], 2))


def _merged(found: Sequence[Line]) -> list[Line]:
    """Pieces of one line that the file writes one by one, put together."""
    done: list[Line] = []
    for line in sorted(found, key=lambda each: (round(each.box[1] / 3), each.box[0])):
        for at in range(len(done) - 1, max(len(done) - 9, -1), -1):
            if _goes_on(done[at], line):
                done[at] = _both(done[at], line)
                break
        else:
            done.append(line)
    return done


def _goes_on(a: Line, b: Line) -> bool:
    same = min(a.box[3], b.box[3]) - max(a.box[1], b.box[1])
    if same < 0.6 * min(a.size, b.size):
        return False
    gap = b.box[0] - a.box[2]
    return -0.3 * a.size <= gap <= 0.6 * max(a.size, b.size)


def _both(a: Line, b: Line) -> Line:
    space = " " if b.box[0] - a.box[2] > 0.12 * a.size else ""
    return Line(
        text=f"{a.text}{space}{b.text}", box=_rounded(_join(a.box, b.box)),
        size=a.size if len(a.text) >= len(b.text) else b.size, bold=a.bold,
    )  # fmt: skip
