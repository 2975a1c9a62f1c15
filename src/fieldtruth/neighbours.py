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
_CROWD = 512  # hashes at one place of a table, from which on the place is cut again
_PARTY = 128  # the same where groups are wanted and not pairs: there a crowd is no burden
_AT_ONCE = 1 << 20  # comparisons held in memory
_STRIP = 1 << 15  # hashes compared in one go: what fits the processor's cache
_WORTH = 0.3  # a place is cut again when that leaves less than this share of its comparisons
_DENSE = 1.1  # hashes before over those left: below it, the middle of a crowd reached few
_SAMPLE = 4096  # hashes by which the bits are judged


class _Costs(NamedTuple):
    """Seconds for a table, for each hash in it, and for each comparison; only ratios matter."""

    table: float
    hashed: float
    compared: float


_SORTED, _LOOKED_UP = _Costs(5e-5, 2e-8, 2e-9), _Costs(3e-4, 2e-9, 1.5e-8)
_EACH_WITH_EACH = 1e-9


class Distinct(NamedTuple):
    """Hashes made one: `values` ascend; `of` says which value each hash is; `counts` how many."""

    values: Hashes
    of: Places
    counts: Places


class Block(NamedTuple):
    """Some pairs: places `a` and `b` in what was given, and their distances, all parallel."""

    a: Places
    b: Places
    distance: Distances


def distinct(hashes: Hashes) -> Distinct:
    """The different hashes of a list."""
    values, of, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    return Distinct(values, of.astype(np.int64), counts.astype(np.int64))


def within(values: Hashes, radius: int) -> Iterator[Block]:
    """Every pair (a < b) of different hashes at most `radius` apart, once, in blocks.

    `values` are distinct. The order is fixed by the values alone.
    """
    for block in _gathered(_within(values, radius)):
        low, high = np.minimum(block.a, block.b), np.maximum(block.a, block.b)
        yield Block(low, high, block.distance)


def between(one: Hashes, other: Hashes, radius: int) -> Iterator[Block]:
    """Every pair of a hash of `one` (a) and a hash of `other` (b) at most `radius` apart, once.

    Each of the two is distinct in itself; a hash may be in both.
    """
    if len(one) > len(other):
        for block in _gathered(_between(other, one, radius)):
            yield Block(block.b, block.a, block.distance)
    else:
        yield from _gathered(_between(one, other, radius))


def components(values: Hashes, radius: int) -> Places:
    """Which hashes hang together by steps of at most `radius`: the least place of each's group.

    `values` are distinct. Needs no list of pairs: time and memory stay bounded where nearly all
    are neighbours.
    """
    groups = _Groups(np.arange(len(values)))
    _join(values, groups, radius)
    return groups.labels


# -- tables ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Plan:
    """Blocks of bits, by width, and how many of them a table takes; no tables: compare all."""

    widths: tuple[int, ...]
    equal: int

    @property
    def tables(self) -> int:
        return comb(len(self.widths), self.equal) if self.equal else 0


def _plan(hashes: int, pairs: int, radius: int, costs: _Costs) -> _Plan:
    """The cheapest way for so many hashes that make so many pairs."""
    best, plan = pairs * _EACH_WITH_EACH, _Plan((), 0)
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
            best, plan = comb(blocks, equal) * each, _Plan(widths, equal)
    return plan


def _plan_within(values: Hashes, radius: int) -> _Plan:
    return _plan(len(values), len(values) ** 2 // 2, radius, _SORTED)


class _Table(NamedTuple):
    """One choice of blocks: its key for each hash, and which blocks it takes, as bits."""

    code: int
    width: int
    keys: tuple[NDArray[np.uint16], ...]


@dataclass(frozen=True, slots=True)
class _Cut:
    """Hashes with their bits dealt out to blocks, the same way for every set given."""

    plan: _Plan
    sets: tuple[Hashes, ...]
    masks: Hashes  # (blocks,)

    def tables(self) -> Iterator[_Table]:
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
            yield _Table(code, sum(self.plan.widths[n] for n in chosen), tuple(keys))

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


def _cut(plan: _Plan, *sets: Hashes) -> _Cut:
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
    return _Cut(plan, moved, np.array(masks, dtype=np.uint64))


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


# -- pairs -------------------------------------------------------------------------------------


def _within(values: Hashes, radius: int) -> Iterator[Block]:
    plan = _plan_within(values, radius)
    if not plan.tables:
        yield from _all_within(values, radius)
        return
    cut = _cut(plan, values)
    moved = cut.sets[0]
    for table in cut.tables():
        runs = _Runs.of(table, _CROWD)
        for block in runs.pairs(moved, radius):
            mine = cut.first(moved[block.a] ^ moved[block.b], table.code)
            yield Block(block.a[mine], block.b[mine], block.distance[mine])
        for members in runs.crowds:
            for block in _crowd(moved[members], radius):
                a, b = members[block.a], members[block.b]
                mine = cut.first(moved[a] ^ moved[b], table.code)
                yield Block(a[mine], b[mine], block.distance[mine])


def _crowd(values: Hashes, radius: int) -> Iterator[Block]:
    return _within(values, radius) if _pays(values, radius) else _all_within(values, radius)


def _pays(values: Hashes, radius: int) -> bool:
    """Whether tables would leave few comparisons: hashes of a crowd may agree nearly everywhere."""
    plan = _plan_within(values, radius)
    if not plan.tables:
        return False
    sizes = (np.bincount(table.keys[0]) for table in _cut(plan, values).tables())
    left = sum(int((size * (size - 1)).sum()) for size in sizes)
    return left < _WORTH * len(values) * (len(values) - 1)


class _Runs(NamedTuple):
    """A table's hashes sorted by key: runs of equal keys, the short ones and the crowded apart."""

    order: Places  # of the hashes in short runs of two or more
    left: Places  # parallel: how many of its run come after each
    crowds: tuple[Places, ...]

    @classmethod
    def of(cls, table: _Table, crowd: int, labels: Places | None = None) -> "_Runs":
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
        for start in range(0, len(values) - step, _STRIP):
            some = values[start : start + _STRIP]
            others = values[start + step : start + step + _STRIP]
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


def _all_within(values: Hashes, radius: int) -> Iterator[Block]:
    """Compare each with each."""
    rows = max(1, _AT_ONCE // max(1, len(values)))
    for start in range(0, len(values), rows):
        distance = np.bitwise_count(values[start : start + rows, None] ^ values[None, start:])
        a, b = np.nonzero(distance <= radius)
        later = a < b
        a, b = a[later], b[later]
        yield Block(a + start, b + start, distance[a, b])


# -- components --------------------------------------------------------------------------------


class _Groups:
    """Places that hang together carry one label: the least of their places."""

    def __init__(self, labels: Places) -> None:
        self.labels = labels

    def unite(self, a: Places, b: Places) -> None:
        """Put the groups of `a` and of `b`, which run parallel, together."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        ends = np.stack([self.labels[a], self.labels[b]])
        ends = ends[:, ends[0] != ends[1]]
        if not ends.size:
            return
        nodes, at = np.unique(ends, return_inverse=True)
        one, other = at.reshape(ends.shape)
        graph = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(len(nodes),) * 2)
        count, part = connected_components(graph, directed=False)
        least = np.full(count, len(self.labels))
        np.minimum.at(least, part, nodes)
        moved = np.arange(len(self.labels))
        moved[nodes] = least[part]
        self.labels = moved[self.labels]


def _join(values: Hashes, groups: _Groups, radius: int) -> None:
    """Unite what is near, given what is united already."""
    plan = _plan_within(values, radius)
    if not plan.tables:
        _spread(values, groups, radius)
        return
    cut = _cut(plan, values)
    for table in cut.tables():
        runs = _Runs.of(table, _PARTY, groups.labels)
        for block in _gathered(runs.pairs(cut.sets[0], radius)):
            groups.unite(block.a, block.b)
        for members in runs.crowds:
            _join_crowd(values, members, groups, radius)


def _join_crowd(values: Hashes, members: Places, groups: _Groups, radius: int) -> None:
    known = np.unique(groups.labels[members], return_index=True, return_inverse=True)
    if len(known[0]) == 1:
        return
    own = _Groups(known[1][known[2]])
    mine = values[members]
    if len(members) > _CROWD and _pays(mine, radius):
        _join(mine, own, radius)
    else:
        _spread(mine, own, radius)
    groups.unite(members, members[own.labels])


def _spread(values: Hashes, groups: _Groups, radius: int) -> None:
    """Start in the middle, reach what is near, then what is near to that; who is reached is out.

    Where nearly all are neighbours, few are ever compared; a group known before is reached whole.
    Where the middle reaches few, there is no such crowd, and each is compared with each.
    """
    left, before = np.arange(len(values)), 0
    while len(left):
        if 0 < before < _DENSE * len(left):
            for block in _all_within(values[left], radius):
                groups.unite(left[block.a], left[block.b])
            return
        before = len(left)
        seed = groups.labels == groups.labels[left[_middle(values[left])]]
        front, left = np.flatnonzero(seed), left[~seed[left]]
        while len(front) and len(left):
            rows = max(1, _AT_ONCE // len(left))
            some, front = front[:rows], front[rows:]
            near = np.bitwise_count(values[some, None] ^ values[None, left]) <= radius
            hit = near.any(axis=0)
            if hit.any():
                reached = np.isin(groups.labels, groups.labels[left[hit]])
                groups.unite(some[near[:, hit].argmax(axis=0)], left[hit])
                front = np.concatenate([front, np.flatnonzero(reached)])
                left = left[~reached[left]]


def _middle(values: Hashes) -> int:
    """The place of the hash nearest to what most of them say, bit by bit."""
    octets = values.astype(">u8").view(np.uint8).reshape(-1, 8)
    most = np.packbits(np.unpackbits(octets, axis=1).mean(axis=0) > 0.5).view(">u8")
    return int(np.bitwise_count(values ^ most.astype(np.uint64)).argmin())


# -- two sets ----------------------------------------------------------------------------------


def _between(small: Hashes, large: Hashes, radius: int) -> Iterator[Block]:
    plan = _plan(len(large), len(small) * len(large), radius, _LOOKED_UP)
    if not plan.tables:
        yield from _all_between(small, large, radius)
        return
    cut = _cut(plan, small, large)
    few, many = cut.sets
    for table in cut.tables():
        order = np.argsort(table.keys[0], kind="stable")
        sizes = np.bincount(table.keys[0], minlength=1 << table.width)
        starts = np.cumsum(sizes) - sizes
        found = np.flatnonzero((sizes > 0)[table.keys[1]])
        for b in _portions(found, sizes[table.keys[1][found]]):
            here = table.keys[1][b]
            many_times = sizes[here]
            a = order[np.repeat(starts[here], many_times) + _ramps(many_times)]
            b = np.repeat(b, many_times)
            differing = few[a] ^ many[b]
            distance = np.bitwise_count(differing)
            near = np.flatnonzero(distance <= radius)
            near = near[cut.first(differing[near], table.code)]
            yield Block(a[near], b[near], distance[near])


def _portions(places: Places, sizes: Places) -> Iterator[Places]:
    """Cut places where the sizes before them pass a multiple of what is compared at once."""
    portion = np.cumsum(sizes) // _AT_ONCE
    yield from (
        part for part in np.split(places, np.flatnonzero(np.diff(portion)) + 1) if len(part)
    )


def _ramps(sizes: Places) -> Places:
    """0, 1, .. size - 1 for each size."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)


def _all_between(one: Hashes, other: Hashes, radius: int) -> Iterator[Block]:
    rows = max(1, _AT_ONCE // max(1, len(other)))
    for start in range(0, len(one), rows):
        distance = np.bitwise_count(one[start : start + rows, None] ^ other[None, :])
        a, b = np.nonzero(distance <= radius)
        yield Block(a + start, b, distance[a, b])


def _gathered(blocks: Iterator[Block]) -> Iterator[Block]:
    """Small blocks put together to larger ones, so that what is done with each is worth a call."""
    held: list[Block] = []
    pairs = 0
    for block in blocks:
        held.append(block)
        pairs += len(block.a)
        if pairs >= _STRIP:
            yield _one(held)
            held, pairs = [], 0
    if held:
        yield _one(held)


def _one(blocks: list[Block]) -> Block:
    return Block(*(np.concatenate(part) for part in zip(*blocks, strict=True)))
