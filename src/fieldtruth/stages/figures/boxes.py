"""Arithmetic of page boxes: `(x1, y1, x2, y2)`, points, y downwards."""

from collections.abc import Iterable

from fieldtruth.records import Box


def area(box: Box) -> float:
    """Square points."""
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box that holds them all."""
    x1, y1, x2, y2 = zip(*boxes, strict=True)
    return (min(x1), min(y1), max(x2), max(y2))


def gap(a: Box, b: Box) -> float:
    """Points between two boxes along the worse axis; 0 where they touch.

    >>> gap((0, 0, 10, 10), (13, 2, 20, 8))
    3
    """
    return max(b[0] - a[2], a[0] - b[2], b[1] - a[3], a[1] - b[3], 0)


def shared(a1: float, a2: float, b1: float, b2: float) -> float:
    """The share of the shorter of two spans that lies in the other; 0 where they are apart."""
    least = min(a2 - a1, b2 - b1)
    return max(min(a2, b2) - max(a1, b1), 0.0) / least if least > 0 else 0.0


def meet(a: Box, b: Box, slack: float = 1.5) -> bool:
    """Whether two boxes overlap by more than `slack` points both ways."""
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    return wide > slack and high > slack


def holds(outer: Box, inner: Box) -> bool:
    """Whether the middle of a box lies in another."""
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]
