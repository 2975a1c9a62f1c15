"""What a metric is: which items it speaks of, sums for each, and a value of any total of sums.

Sums add, so shards, strata and resamples need no code of their own: one bootstrap
serves every metric. All functions are on arrays of many items at once. A metric's file ends in
`METRIC: Metric = ...`; most are a ratio of two sums and need one line each for the two.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of n graded items, each field of shape (n,), rows ascending by item id.

    Counts and overlaps are of boxes in pixels of the upright image; predicted boxes are clipped
    to it. An unreadable reply and prose have no boxes, no name, and `empty` false. Items whose
    call failed or is missing have no row at all.
    """

    lesion: Bools  # level of the truth: exactly one of these four
    object: Bools
    healthy: Bools
    absent: Bools  # asked for a thing that its photo, which shows another, certainly does not show
    empty: Bools  # the reply was an explicit empty answer
    true_boxes: Ints
    said_boxes: Ints
    hits: Ints  # one-to-one matches at IoU 0.5
    hits_75: Ints  # and at 0.75
    region_iou: Floats  # IoU of the two unions; 0 where one side is empty
    listed: Bools  # the prompt showed candidates for this item
    named: Bools  # the reply gives a name
    correct: Bools  # and it is the truth's label
    in_list: Bools  # and it is one of the candidates shown
    first: Bools  # and it is the first of them
    open: Bools  # the prompt offered no name at all
    akin: Bools  # and the name given is the truth's, holds it, or lies in it

    @property
    def positive(self) -> Bools:
        """Items that show their target."""
        return self.lesion | self.object


class Measured(NamedTuple):
    """Values and where they exist. `value` is 0 where `known` is false, and means nothing there."""

    value: Floats
    known: Bools


class Metric(Protocol):
    """`over` (n,) says which items it speaks of; its n. `sums` is (n, k), used only there."""

    def over(self, evidence: Evidence) -> Bools: ...

    def sums(self, evidence: Evidence) -> Floats: ...

    def value(self, sums: Floats) -> Measured:
        """(..., k) totals -> (...) values, unknown where there is nothing to measure."""
        ...


@dataclass(frozen=True, slots=True)
class Ratio:
    """A metric that is a total of `top` over a total of `bottom`."""

    speaks_of: Callable[[Evidence], Bools]
    top: Callable[[Evidence], Floats | Ints | Bools]
    bottom: Callable[[Evidence], Floats | Ints | Bools]

    def over(self, evidence: Evidence) -> Bools:
        """The items it speaks of."""
        return self.speaks_of(evidence)

    def sums(self, evidence: Evidence) -> Floats:
        """Numerator and denominator of each item, shape (n, 2)."""
        return np.stack([self.top(evidence), self.bottom(evidence)], axis=1).astype(np.float64)

    def value(self, sums: Floats) -> Measured:
        """Numerator over denominator, unknown where the denominator is 0."""
        top, bottom = sums[..., 0], sums[..., 1]
        known = bottom > 0
        return Measured(np.divide(top, bottom, out=np.zeros_like(top), where=known), known)
