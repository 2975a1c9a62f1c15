"""Lines that were spread to the width of their column, put together again.

A line with few or long words is spread until its gaps are as wide as those between columns, and is
read as single words. They are one line where they fill, side by side and within gaps of two line
heights, a column that other lines of the page fill as a whole.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from fieldtruth.papers.layout import Line
from fieldtruth.stages.figures.boxes import around, shared

_GAP = 2.0  # line heights between two words at most; tables have more, or leave their column
_INDENT = 3.0  # line heights that a paragraph's first line may begin further in
_FILLED = 3  # lines that have to fill a column
_WIDE = 16  # line heights that a column has at least
_EDGE = 1.5  # points that the edges of one column differ by at most


def whole(lines: Sequence[Line]) -> list[Line]:
    """The lines of a page, those spread over a column as one; from the top down, then the left."""
    rest = list(lines)
    for left, right in _columns(lines):
        inside = [
            each for each in rest
            if left - _EDGE <= each.box[0] and each.box[2] <= right + _EDGE
        ]  # fmt: skip
        for row in _rows(inside):
            if len(row) > 1 and _fills(row, left, right):
                rest = [each for each in rest if not any(each is piece for piece in row)]
                rest.append(_one(row))
    return sorted(rest, key=lambda line: (round(line.box[1], 1), line.box[0], line.text))


def _columns(lines: Sequence[Line]) -> list[tuple[float, float]]:
    """The edges (left, right), in points, that enough wide lines share, the narrowest first."""
    count = Counter(
        (round(line.box[0]), round(line.box[2]))
        for line in lines
        if line.box[2] - line.box[0] >= _WIDE * line.size
    )
    found = [edges for edges, n in count.items() if n >= _FILLED]
    return sorted(found, key=lambda edges: (edges[1] - edges[0], edges))


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines on one baseline, from the left."""
    made: list[list[Line]] = []
    for line in sorted(lines, key=lambda each: (each.box[1], each.box[0])):
        last = made[-1][0] if made else None
        if last and shared(last.box[1], last.box[3], line.box[1], line.box[3]) > 0.8:
            made[-1].append(line)
        else:
            made.append([line])
    return [sorted(row, key=lambda each: each.box[0]) for row in made]


def _fills(row: Sequence[Line], left: float, right: float) -> bool:
    size = max(each.size for each in row)
    if min(each.size for each in row) < 0.9 * size:
        return False
    if row[0].box[0] > left + _INDENT * size or row[-1].box[2] < right - _EDGE:
        return False
    gaps = [b.box[0] - a.box[2] for a, b in pairwise(row)]
    return all(0 <= gap <= _GAP * size for gap in gaps)


def _one(row: Sequence[Line]) -> Line:
    longest = max(row, key=lambda each: len(each.text))
    return Line(
        text=" ".join(each.text for each in row), box=around(each.box for each in row),
        size=longest.size, bold=row[0].bold,
    )  # fmt: skip
