"""Two photos whose hashes are near, held against each other pixel by pixel.

A hash of 64 bits says which pairs to look at and no more. Two thumbnails of 96 x 96 grey pixels
that correlate over 0.97 are a copy, from there down to over 0.90 ambiguous, below it a collision
of hashes (agroground.md, section 9). What cannot be compared is `unverified`, and that is a
failure and never a collision.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fieldtruth.hashing import FLAT

Verdict = Literal["copy", "ambiguous", "collision", "unverified"]
BAD: tuple[Verdict, ...] = ("copy", "ambiguous", "unverified")  # what may not lie between groups

COPY, AMBIGUOUS = 0.97, 0.90


def correlations(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Pearson's r of thumbnails, (n, h, w) against (n, h, w); NaN where one of two is constant.

    Every sum is a whole number under 2^53, so that r is the same on every machine.
    """
    x, y = (each.reshape(len(each), -1).astype(np.float64) for each in (a, b))
    n = x.shape[1]
    spread = [n * np.einsum("ij,ij->i", each, each) - each.sum(axis=1) ** 2 for each in (x, y)]
    both = n * np.einsum("ij,ij->i", x, y) - x.sum(axis=1) * y.sum(axis=1)
    constant = np.minimum(*spread) < (FLAT * n) ** 2
    scale = np.sqrt(spread[0]) * np.sqrt(spread[1])
    r: NDArray[np.float64] = np.full(len(x), np.nan)
    np.divide(both, scale, out=r, where=~constant)
    return r.clip(-1, 1)


def verdict(correlation: float | None) -> Verdict:
    """What two photos are to each other.

    >>> [verdict(r) for r in (0.98, 0.97, 0.90, None)]
    ['copy', 'ambiguous', 'collision', 'unverified']
    """
    if correlation is None or np.isnan(correlation):
        return "unverified"
    if correlation > COPY:
        return "copy"
    return "ambiguous" if correlation > AMBIGUOUS else "collision"
