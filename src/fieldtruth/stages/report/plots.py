"""Where marks stand on a plot: percentages of its width, so that the page needs no script.

A plot is drawn by the template as inline SVG whose positions are percentages: it is as crisp and
as wide on a phone as on paper.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

from fieldtruth.stages.report.numbers import Measured, digits, signed

MARGIN = 2.0  # percent of the width on both sides, so that a mark at an end is not cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One row: a name, its numbers, and their places in percent (None: nothing to draw).

    `few` says of how few groups it is, "" where there are enough or one alone; `grey` is both.
    """

    name: str
    value: str
    interval: str
    n: int
    few: str
    grey: bool
    at: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """Intervals under one another on one scale. `ticks` are (place, text); `zero` a place."""

    metric: str
    ticks: tuple[tuple[float, str], ...]
    zero: float | None
    marks: tuple[Mark, ...]


def values(metric: str, rows: Sequence[tuple[str, Measured]]) -> Forest:
    """Models side by side on one metric, from 0 to 1, or to a round number beyond."""
    ends = [end for _, got in rows for end in (got.value, got.high) if end is not None]
    top = 1.0 if max(ends, default=0.0) <= 1 else _round_up(max(ends))
    scale = _Scale(0.0, top)
    ticks = tuple((scale(top * part / 4), f"{top * part / 4:g}") for part in range(5))
    marks = tuple(_mark(scale, name, got, (digits(got.value), got.interval)) for name, got in rows)
    return Forest(metric=metric, ticks=ticks, zero=None, marks=marks)


def differences(metric: str, rows: Sequence[tuple[str, Measured]]) -> Forest:
    """Paired differences around zero, on a symmetric scale."""
    ends = [abs(x) for _, got in rows for x in (got.value, got.low, got.high) if x is not None]
    top = _round_up(max(ends, default=0.0))
    scale = _Scale(-top, top)
    steps = (-top, -top / 2, 0.0, top / 2, top)
    ticks = tuple((scale(step), _tick(step)) for step in steps)
    marks = tuple(
        _mark(scale, name, got, (signed(got.value), got.signed_interval)) for name, got in rows
    )
    return Forest(metric=metric, ticks=ticks, zero=scale(0.0), marks=marks)


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float

    def __call__(self, value: float) -> float:
        part = (value - self.low) / (self.high - self.low)
        return round(MARGIN + (100 - 2 * MARGIN) * min(1.0, max(0.0, part)), 3)


def _mark(scale: _Scale, name: str, got: Measured, words: tuple[str, str]) -> Mark:
    return Mark(
        name=name,
        value=words[0],
        interval=words[1],
        n=got.n,
        few=got.few,
        grey=got.groups is not None,
        at=None if got.value is None else scale(got.value),
        low=scale(got.low) if got.drawn and got.low is not None else None,
        high=scale(got.high) if got.drawn and got.high is not None else None,
    )


def _tick(step: float) -> str:
    return "0" if step == 0 else f"{step:+g}".replace("-", "−")


def _round_up(value: float) -> float:
    """The next of 1, 2, 5 times a power of ten; at least 0.1.

    >>> _round_up(0.13), _round_up(3.2), _round_up(0.0)
    (0.2, 5.0, 0.1)
    """
    if value <= 0.1:
        return 0.1
    power = 10.0 ** floor(log10(value))
    return next(round(step * power, 9) for step in (1, 2, 5, 10) if value <= step * power + 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of a bar: its name, count, and place and width in percent."""

    name: str
    count: float
    at: float
    width: float


def stacked(counts: Sequence[tuple[str, float]]) -> tuple[Share, ...]:
    """Counts as parts of one whole bar; empty parts are left out."""
    total = sum(count for _, count in counts)
    shares: list[Share] = []
    before = 0.0
    for name, count in counts:
        if count:
            at, width = 100 * before / total, 100 * count / total
            shares.append(Share(name=name, count=count, at=round(at, 3), width=round(width, 3)))
        before += count
    return tuple(shares)
