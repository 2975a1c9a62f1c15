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

    The sums are first put `on_a_grid`, on which a product is exact: a file of intervals is then the
    same to the byte at any number of threads. Another `seed` is for units that are drawn
    independently of others.
    """
    n = len(sums[0])
    made = [np.zeros((resamples, s.shape[1])) for s in sums]
    exact = [on_a_grid(s) for s in sums]
    rng = np.random.default_rng(seed)
    step = max(1, _BLOCK // max(n, 1))
    for begin in range(0, resamples if n else 0, step):
        rows = min(step, resamples - begin)
        picked = rng.integers(0, n, (rows, n)) + np.arange(rows)[:, None] * n
        counts = np.bincount(picked.ravel(), minlength=rows * n).reshape(rows, n)
        weights = counts.astype(np.float64)
        for total, s in zip(made, exact, strict=True):
            total[begin : begin + rows] = weights @ s
    return made


def on_a_grid(sums: Floats) -> Floats:
    """`sums` (units, columns), rounded so that as many of them as there are units add up exactly.

    Each column to multiples of a power of two, 2 ** -52 of the most that its units can come to:
    float64 holds every sum of them, so that no order of adding (threads, a block, another
    processor's kernel) changes a bit. Whole numbers stay as they are.
    """
    most = np.abs(sums).max(axis=0, initial=0) * len(sums)
    unit = np.ldexp(1.0, np.frexp(most)[1] - 52)
    exact: Floats = np.rint(sums / unit) * unit
    return exact


def estimate(sums: Floats, value: Value, resamples: int = RESAMPLES) -> Estimate:
    """A statistic of the totals of `sums` (units, columns), with its interval over the units."""
    n = len(sums)
    point, known = value(sums.sum(axis=0))
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
