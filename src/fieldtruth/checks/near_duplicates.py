"""Photos that are the same photo: near in their hashes, then compared pixel by pixel.

A hash of 64 bits says which pairs to look at and no more. Two thumbnails of 96 x 96 grey pixels
that correlate over 0.97 are a copy, from there down to over 0.90 ambiguous, below it a collision
of hashes (agroground.md, section 9). What cannot be compared is `unverified`, and that is a
failure and never a collision (W-47). Every near pair is looked at: a collision that lies nearer
hides no copy (W-45).
"""

from collections.abc import Iterator
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from fieldtruth.checks.contract import BAD, Seen, Verdict
from fieldtruth.hashing import FLAT
from fieldtruth.records import Finding

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


def check(seen: Seen) -> Iterator[Finding]:
    """A finding for each group of copies, and for each pair that nobody can vouch for."""
    for number, group in enumerate(seen.groups):
        members = [seen.photos[place] for place in group]
        sets = sorted({each.set for each in members})
        yield Finding(
            id=f"near_duplicates:group:{number}",
            check="near_duplicates",
            about=tuple(each.name for each in members),
            severity="failure" if len(sets) > 1 else "warning",
            evidence=f"{len(members)} photos are one, in {', '.join(sets)}",
        )
    open_pairs = [pair.verdict in BAD and pair.verdict != "copy" for pair in seen.pairs]
    for pair in compress(seen.pairs, open_pairs):
        yield Finding(
            id=f"near_duplicates:{pair.set_a}:{pair.a}|{pair.set_b}:{pair.b}",
            check="near_duplicates",
            about=(f"{pair.set_a}:{pair.a}", f"{pair.set_b}:{pair.b}"),
            severity="failure" if pair.across else "warning",
            evidence=f"{pair.verdict}: distance {pair.distance}, correlation {pair.correlation}",
        )
    if not seen.complete:
        yield Finding(
            id="near_duplicates:list",
            check="near_duplicates",
            about=(),
            severity="failure",
            evidence="there are more near pairs than are listed; raise --max-pairs",
        )
