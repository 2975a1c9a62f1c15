"""Near hashes to near photos: every file of a hash, the worst pairs first, never too many.

The number of pairs has no bound worth the name (50,000 blank photos make a milliard), so they are
made in blocks and only so many are kept: those between two sets before those within one, then the
nearest, then by place. What was kept does not depend on the order in which blocks come.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fieldtruth.neighbours import Block, Distinct

Places = NDArray[np.int64]

_SLACK = 1 << 20  # pairs beyond the limit that are held before the list is cut
_MOST = 10_000_000  # pairs that are looked at at least before an audit stops looking


class Nodes(NamedTuple):
    """Photos as pairs see them: the set each is in, and the file it lies in, by number."""

    sets: Places
    files: Places


class Near(NamedTuple):
    """Pairs of nodes, parallel: a < b, the distance, and how b is turned (0: as it is)."""

    a: Places
    b: Places
    distance: Places
    turn: Places


class Shortlist:
    """The worst `limit` pairs of all that are added. `complete` until one had to be left out."""

    def __init__(self, nodes: Nodes, limit: int) -> None:
        self.nodes, self.limit = nodes, limit
        self.complete, self.found = True, 0
        self._held: list[Near] = []
        self._count = 0

    @property
    def full(self) -> bool:
        """Whether so many pairs were found that looking for more is no use."""
        return self.found > max(_MOST, 20 * self.limit)

    def add(self, near: Near) -> None:
        """Take pairs in any order, either way round; one file named twice in a set is none.

        Turned pairs come both ways, and only the one in which the later is turned is taken.
        """
        a, b = np.minimum(near.a, near.b), np.maximum(near.a, near.b)
        same_set = self.nodes.sets[a] == self.nodes.sets[b]
        real = (a != b) & ~(same_set & (self.nodes.files[a] == self.nodes.files[b]))
        real &= (near.turn == 0) | (near.a < near.b)
        self._held.append(Near(a[real], b[real], near.distance[real], near.turn[real]))
        self.found += int(real.sum())
        self._count += int(real.sum())
        if self._count > 2 * self.limit + _SLACK:
            self._cut()

    def pairs(self) -> Near:
        """What was kept, ascending by place."""
        self._cut()
        near = self._held[0]
        return _taken(near, np.lexsort((near.b, near.a)))

    def _cut(self) -> None:
        parts = self._held or [Near(*(np.zeros(0, np.int64),) * 4)]
        near = Near(*(np.concatenate(part) for part in zip(*parts, strict=True)))
        # One pair may be near in several turns: the nearest stands for it.
        order = np.lexsort((near.turn, near.distance, near.b, near.a))
        near = _taken(near, order)
        again = (np.diff(near.a, prepend=-1) == 0) & (np.diff(near.b, prepend=-1) == 0)
        near = _taken(near, np.flatnonzero(~again))
        self.found -= int(again.sum())
        if len(near.a) > self.limit:
            self.complete = False
            within = self.nodes.sets[near.a] == self.nodes.sets[near.b]
            worst = np.lexsort((near.b, near.a, near.distance, within))
            near = _taken(near, worst[: self.limit])
        self._held, self._count = [near], len(near.a)


def _taken(near: Near, places: Places) -> Near:
    return Near(*(part[places] for part in near))


class Bearers:
    """Which nodes bear each value, ascending."""

    def __init__(self, distinct: Distinct, nodes: Places) -> None:
        self.counts = distinct.counts
        self.nodes = nodes[np.argsort(distinct.of, kind="stable")]
        self.starts = np.cumsum(self.counts) - self.counts

    def of(self, value: int) -> Places:
        """The nodes of one value."""
        return self.nodes[self.starts[value] : self.starts[value] + self.counts[value]]


def spread(
    blocks: Iterable[Block], one: Bearers, other: Bearers, into: Shortlist, turn: int
) -> None:
    """Add every pair of bearers of near values; of one pair of values no more than may be kept."""
    for block in blocks:
        for a, b, distance in _expanded(block, one, other, into):
            into.add(Near(a, b, distance, np.full(len(a), turn)))
        if into.full:
            into.complete = False
            return


def _expanded(
    block: Block, one: Bearers, other: Bearers, into: Shortlist
) -> Iterator[tuple[Places, Places, Places]]:
    sizes = one.counts[block.a] * other.counts[block.b]
    small = sizes <= _SLACK // 64
    for part in _portions(np.flatnonzero(small), sizes):
        a, b = block.a[part], block.b[part]
        rows = np.repeat(np.arange(len(a)), sizes[part])
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(sizes[part]) - sizes[part], sizes[part])
        wide = other.counts[b][rows]
        left = one.nodes[one.starts[a][rows] + rank // wide]
        right = other.nodes[other.starts[b][rows] + rank % wide]
        yield left, right, block.distance[part][rows].astype(np.int64)
    for place in np.flatnonzero(~small).tolist():
        pair = one.of(block.a[place]), other.of(block.b[place])
        for left, right in _crowded(*pair, into):
            yield left, right, np.full(len(left), int(block.distance[place]))


def _portions(places: Places, sizes: Places) -> Iterator[Places]:
    portion = np.cumsum(sizes[places]) // _SLACK
    yield from (
        part for part in np.split(places, np.flatnonzero(np.diff(portion)) + 1) if len(part)
    )


def _crowded(a: Places, b: Places, into: Shortlist) -> Iterator[tuple[Places, Places]]:
    """Pairs of two crowds: first those of different sets, then the rest, until it is enough."""
    sets, made = into.nodes.sets, 0
    for across in (True, False):
        for one in a.tolist():
            mine = b[(sets[b] != sets[one]) == across]
            yield np.full(len(mine), one), mine
            made += len(mine)
            if made > 2 * into.limit:
                into.complete = False
                return
