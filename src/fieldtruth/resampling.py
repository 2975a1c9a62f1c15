"""Resampling: totals of sums over units drawn with replacement, and the interval they give.

95 % percentile intervals (design, section 6). Every statistic draws with a fresh
`default_rng(0)`, so all statistics over n units see the same draws: these are made once, as
a matrix that says how often a draw holds each unit, and one product with the sums per unit gives
the totals of every draw. Drawing row by row or all at once gives the same numbers.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Value = Callable[[Floats], tuple[Floats, Bools]]  # totals (..., columns) -> (...), known (...)

RESAMPLES = 1000
BOUNDS = (2.5, 97.5)
_SMALLEST = -1074  # the exponent of the smallest float64
_BLOCK = 1 << 21  # counts held at once (16 MB), so that memory does not grow with the resamples


class Estimate(NamedTuple):
    """A value with its interval; all None where there is nothing to measure.

    `n` items count; `undefined_draws` resamples had nothing to measure and were left out;
    `groups` units have something to measure (None: not counted).
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    undefined_draws: int = 0
    groups: int | None = None


def totals(sums: Sequence[Floats], resamples: int, seed: int = 0) -> list[Floats]:
    """Totals of every draw for each of `sums`, which have the same units: (resamples, columns).

    The sums are taken `apart` first, into parts whose products are exact: each total is rounded
    once. A file of intervals is then the same to the byte at any number of threads, and units in
    which two models are alike add the same to both. Another `seed` is for units that are drawn
    independently of others.
    """
    n = len(sums[0])
    made = [np.zeros((resamples, s.shape[1])) for s in sums]
    exact = [apart(s) for s in sums]
    rng = np.random.default_rng(seed)
    step = max(1, _BLOCK // max(n, 1))
    for begin in range(0, resamples if n else 0, step):
        rows = min(step, resamples - begin)
        picked = rng.integers(0, n, (rows, n)) + np.arange(rows)[:, None] * n
        counts = np.bincount(picked.ravel(), minlength=rows * n).reshape(rows, n)
        weights = counts.astype(np.float64)
        for total, (most, rest) in zip(made, exact, strict=True):
            part = weights @ most
            broken = rest.any(axis=0)  # whole numbers leave nothing
            part[:, broken] += weights @ rest[:, broken]
            total[begin : begin + rows] = part
    return made


def on_a_grid(sums: Floats) -> Floats:
    """`sums` (units, columns), rounded so that as many of them as there are units add up exactly.

    Each column to multiples of a power of two, 2 ** -52 of the most that its units can come to:
    float64 holds every sum of them, so that no order of adding (threads, a block, another
    processor's kernel) changes a bit. Whole numbers stay as they are.
    """
    most = np.abs(sums).max(axis=0, initial=0) * len(sums)
    unit = np.ldexp(1.0, np.maximum(np.frexp(most)[1] - 52, _SMALLEST))
    exact: Floats = np.rint(sums / unit) * unit
    return exact


def apart(sums: Floats) -> tuple[Floats, Floats]:
    """`sums` on a grid, and what that left over, on a finer one: sums of either are exact.

    One grid is not enough. It depends on the largest of a column, so equal units of two models
    would be rounded apart, and a difference that is 0 in a draw would have a sign.
    """
    most = on_a_grid(sums)
    return most, on_a_grid(sums - most)


def summed(sums: Floats) -> Floats:
    """The total of each column (columns,), rounded once as those of `totals` are."""
    most, rest = apart(sums)
    total: Floats = most.sum(axis=0) + rest.sum(axis=0)
    return total


def by_group(sums: Floats, groups: Sequence[str]) -> Floats:
    """Sums per group, the groups ascending: the same whatever the order of the rows."""
    number = {group: row for row, group in enumerate(sorted(set(groups)))}
    codes = np.array([number[group] for group in groups], np.int64)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(number)))
    most, rest = (np.add.reduceat(part[order], starts, axis=0) for part in apart(sums))
    made: Floats = most + rest
    return made


def estimate(sums: Floats, value: Value, resamples: int = RESAMPLES) -> Estimate:
    """A statistic of the totals of `sums` (units, columns), with its interval over the units."""
    n = len(sums)
    point, known = value(summed(sums))
    draws, draws_known = value(totals([sums], resamples)[0])
    if n == 0 or not known or not draws_known.any():
        return Estimate(None, None, None, 0)  # null and n = 0 always go together
    low, high = np.percentile(draws[draws_known], BOUNDS)
    return Estimate(float(point), float(low), float(high), n, int((~draws_known).sum()))


def ratio(sums: Floats) -> tuple[Floats, Bools]:
    """The first column over the second, where that is not 0: a `Value`."""
    above, below = sums[..., 0], sums[..., 1]
    known = below != 0
    return np.divide(above, below, out=np.zeros_like(below), where=known), known
