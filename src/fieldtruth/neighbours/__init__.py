"""All hashes within a few bits of each other: within one set, or between two.

Hashes that differ in at most `radius` of 64 bits agree in whole blocks: cut into radius + c blocks,
at least c of them are equal. So every choice of c blocks is a table; hashes with the same bits
there lie together, and only those are compared (performance.md, 2b). A pair is kept in the first
table that shows it, so none is told twice and nothing has to be remembered. Which bits make up a
block is chosen by the data: the bits that say least are dealt out evenly.

Skewed sets are the rule: blank photos share one hash, and white grounds share most bits. Equal
hashes are to be made one first (`distinct`); a crowded place of a table is cut again by its
own bits; pairs are handed on in blocks and never held; `components` looks at no pair whose two
ends are joined already. Memory stays bounded whatever the set (performance.md, 2c).
"""

from typing import NamedTuple

import numpy as np

from fieldtruth.neighbours.groups import components
from fieldtruth.neighbours.pairs import between, within
from fieldtruth.neighbours.tables import Block, Hashes, Places

__all__ = ["Block", "Distinct", "Hashes", "between", "components", "distinct", "within"]


class Distinct(NamedTuple):
    """Hashes made one: `values` ascend; `of` says which value each hash is; `counts` how many."""

    values: Hashes
    of: Places
    counts: Places


def distinct(hashes: Hashes) -> Distinct:
    """The different hashes of a list."""
    values, of, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    return Distinct(values, of.astype(np.int64), counts.astype(np.int64))
