"""Tables of hashes that agree in some blocks of their bits, and what is near in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]
Distances = NDArray[np.uint8]
Bools = NDArray[np.bool_]

BITS = 64
CROWD = 512  # hashes at one place of a table, from which on the place is cut again
AT_ONCE = 1 << 20  # comparisons held in memory
STRIP = 1 << 15  # hashes compared in one go: what fits the processor's cache
_WORTH = 0.3  # a place is cut again when that leaves less than this share of its comparisons
_SAMPLE = 4096  # hashes by which the bits are judged


class Costs(NamedTuple):
    """Seconds for a table, for each hash in it, and for each comparison; only ratios matter."""

    table: float
    hashed: float
    compared: float


SORTED, LOOKED_UP = Costs(5e-5, 2e-8, 2e-9), Costs(3e-4, 2e-9, 1.5e-8)
_EACH_WITH_EACH = 1e-9


class Block(NamedTuple):
    """Some pairs: places `a` and `b` in what was given, and their distances, all parallel."""

    a: Places
    b: Places
    distance: Distances


@dataclass(frozen=True, slots=True)
class Plan:
    """Blocks of bits, by width, and how many of them a table takes; no tables: compare all."""

    widths: tuple[int, ...]
    equal: int

    @property
    def tables(self) -> int:
        return comb(len(self.widths), self.equal) if self.equal else 0


def plan_for(hashes: int, pairs: int, radius: int, costs: Costs) -> Plan:
    """The cheapest way for so many hashes that make so many pairs."""
    best, plan = pairs * _EACH_WITH_EACH, Plan((), 0)
    for equal in (1, 2, 3):
        blocks = radius + equal
        if blocks > BITS:
            continue
        widths = tuple(BITS // blocks + (n < BITS % blocks) for n in range(blocks))
        if equal * widths[0] > 16:  # keys of 16 bits are sorted by radix
            continue
        found = pairs / 2 ** (equal * BITS / blocks)
        each = costs.table + hashes * costs.hashed + found * costs.compared
        if comb(blocks, equal) * each < best:
            best, plan = comb(blocks, equal) * each, Plan(widths, equal)
    return plan


def plan_within(values: Hashes, radius: int) -> Plan:
    """The cheapest way to compare these hashes with each other."""
    return plan_for(len(values), len(values) ** 2 // 2, radius, SORTED)


class Table(NamedTuple):
    """One choice of blocks: its key for each hash, and which blocks it takes, as bits."""

    code: int
    width: int
    keys: tuple[NDArray[np.uint16], ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """Hashes with their bits dealt out to blocks, the same way for every set given."""

    plan: Plan
    sets: tuple[Hashes, ...]
    masks: Hashes  # (blocks,)

    def tables(self) -> Iterator[Table]:
        """Every choice of blocks in order."""
        ends = np.cumsum(self.plan.widths)
        parts = [
            [
                ((values >> np.uint64(end - width)) & np.uint64((1 << width) - 1)).astype(np.uint16)
                for end, width in zip(ends, self.plan.widths, strict=True)
            ]
            for values in self.sets
        ]
        for chosen in combinations(range(len(self.plan.widths)), self.plan.equal):
            keys = [self._key(blocks, chosen) for blocks in parts]
            code = sum(1 << block for block in chosen)
            yield Table(code, sum(self.plan.widths[n] for n in chosen), tuple(keys))

    def _key(self, blocks: list[NDArray[np.uint16]], chosen: tuple[int, ...]) -> NDArray[np.uint16]:
        key = blocks[chosen[0]]
        for block in chosen[1:]:
            key = (key << np.uint16(self.plan.widths[block])) | blocks[block]
        return key

    def first(self, differing: Hashes, code: int) -> Bools:
        """Whether this table is the first to show a pair with these bits differing."""
        equal = (differing[:, None] & self.masks) == 0
        equal &= np.cumsum(equal, axis=1) <= self.plan.equal
        shown: Bools = equal @ (1 << np.arange(len(self.masks))) == code
        return shown


def cut_up(plan: Plan, *sets: Hashes) -> Cut:
    """Deal the bits out, those that say least first, to and fro over the blocks."""
    sample = np.concatenate([each[:: max(1, len(each) // _SAMPLE)] for each in sets])
    share = np.unpackbits(sample.astype(">u8").view(np.uint8).reshape(-1, 8), axis=1).mean(axis=0)
    ordered = np.argsort(-np.abs(share[::-1] - 0.5), kind="stable")  # bit numbers, lowest bit 0
    blocks = len(plan.widths)
    hands: list[list[int]] = [[] for _ in range(blocks)]
    turns = [*range(blocks), *reversed(range(blocks))] * BITS
    taken = iter(ordered.tolist())
    for turn in turns:
        if len(hands[turn]) < plan.widths[turn]:
            bit = next(taken, None)
            if bit is None:
                break
            hands[turn].append(bit)
    ends = np.cumsum(plan.widths)
    masks = [((1 << w) - 1) << int(e - w) for w, e in zip(plan.widths, ends, strict=True)]
    order = [bit for hand in hands for bit in hand]
    moved = tuple(_permuted(values, order) for values in sets)
    return Cut(plan, moved, np.array(masks, dtype=np.uint64))


def _permuted(values: Hashes, order: list[int]) -> Hashes:
    """Hashes with bit `order[n]` brought to bit n: a look-up for each of the eight bytes."""
    place = np.empty(BITS, dtype=np.uint64)
    place[order] = np.arange(BITS, dtype=np.uint64)
    octets = values.astype("<u8").view(np.uint8).reshape(-1, 8)
    every = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    moved = np.zeros(len(values), dtype=np.uint64)
    for octet in range(8):
        weights = np.uint64(1) << place[8 * octet : 8 * octet + 8]
        moved |= (every.astype(np.uint64) * weights).sum(axis=1, dtype=np.uint64)[octets[:, octet]]
    return moved


def pays(values: Hashes, radius: int) -> bool:
    """Whether tables would leave few comparisons: hashes of a crowd may agree nearly everywhere."""
    plan = plan_within(values, radius)
    if not plan.tables:
        return False
    sizes = (np.bincount(table.keys[0]) for table in cut_up(plan, values).tables())
    left = sum(int((size * (size - 1)).sum()) for size in sizes)
    return left < _WORTH * len(values) * (len(values) - 1)


class Runs(NamedTuple):
    """A table's hashes sorted by key: runs of equal keys, the short ones and the crowded apart."""

    order: Places  # of the hashes in short runs of two or more
    left: Places  # parallel: how many of its run come after each
    crowds: tuple[Places, ...]

    @classmethod
    def of(cls, table: Table, crowd: int, labels: Places | None = None) -> "Runs":
        """Sort a table. With `labels`, runs that are of one label all through are left out."""
        key = table.keys[0]
        crowd = max(crowd, 4 * len(key) >> table.width)
        order = np.argsort(key, kind="stable")  # of 16 bits: a radix sort
        sizes = np.bincount(key, minlength=1)
        sizes = sizes[sizes > 0]
        ends = np.cumsum(sizes)
        wanted = sizes > 1
        if labels is not None:
            mine = labels[order]
            least, most = (f.reduceat(mine, ends - sizes) for f in (np.minimum, np.maximum))
            wanted = least != most
        crowded = wanted & (sizes > crowd)
        crowds = tuple(order[ends[n] - sizes[n] : ends[n]] for n in np.flatnonzero(crowded))
        fit = np.repeat(wanted & ~crowded, sizes)
        left = np.repeat(ends, sizes) - np.arange(1, len(order) + 1)
        return cls(order[fit], left[fit], crowds)

    def pairs(self, values: Hashes, radius: int) -> Iterator[Block]:
        """The near pairs of the short runs, and some that meet by chance where two runs do.

        Each hash is compared with the next in its run, the one after, and so on. While most runs
        go on, the whole list is compared with itself moved by so many places.
        """
        sorted_values = values[self.order]
        longest = int(self.left.max(initial=0))
        going = np.cumsum(np.bincount(self.left, minlength=1)[::-1])[::-1]  # left >= step
        for step in range(1, longest + 1):
            if going[step] > 0.4 * len(self.order):
                yield from self._all_moved(sorted_values, step, radius)
            else:
                yield from self._some_moved(sorted_values, longest, step, radius)
                return

    def _all_moved(self, values: Hashes, step: int, radius: int) -> Iterator[Block]:
        for start in range(0, len(values) - step, STRIP):
            some = values[start : start + STRIP]
            others = values[start + step : start + step + STRIP]
            distance = np.bitwise_count(some[: len(others)] ^ others)
            hit = np.flatnonzero(distance <= radius)
            if len(hit):
                at = hit + start
                yield Block(self.order[at], self.order[at + step], distance[hit])

    def _some_moved(self, values: Hashes, longest: int, first: int, radius: int) -> Iterator[Block]:
        at = np.flatnonzero(self.left >= first)
        left, mine = self.left[at], values[at]
        for step in range(first, longest + 1):
            going = left >= step
            at, left, mine = at[going], left[going], mine[going]
            distance = np.bitwise_count(mine ^ values[at + step])
            hit = np.flatnonzero(distance <= radius)
            if len(hit):
                here = at[hit]
                yield Block(self.order[here], self.order[here + step], distance[hit])
