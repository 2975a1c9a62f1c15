"""Near pairs, once each, in blocks: of one set, and of two."""

from collections.abc import Iterator

import numpy as np

from fieldtruth.neighbours.tables import (
    AT_ONCE,
    CROWD,
    LOOKED_UP,
    STRIP,
    Block,
    Hashes,
    Places,
    Runs,
    cut_up,
    pays,
    plan_for,
    plan_within,
)  # fmt: skip


def within(values: Hashes, radius: int) -> Iterator[Block]:
    """Every pair (a < b) of different hashes at most `radius` apart, once, in blocks.

    `values` are distinct. The order is fixed by the values alone.
    """
    for block in gathered(_within(values, radius)):
        low, high = np.minimum(block.a, block.b), np.maximum(block.a, block.b)
        yield Block(low, high, block.distance)


def between(one: Hashes, other: Hashes, radius: int) -> Iterator[Block]:
    """Every pair of a hash of `one` (a) and a hash of `other` (b) at most `radius` apart, once.

    Each of the two is distinct in itself; a hash may be in both.
    """
    if len(one) > len(other):
        for block in gathered(_between(other, one, radius)):
            yield Block(block.b, block.a, block.distance)
    else:
        yield from gathered(_between(one, other, radius))


def _within(values: Hashes, radius: int) -> Iterator[Block]:
    plan = plan_within(values, radius)
    if not plan.tables:
        yield from all_within(values, radius)
        return
    cut = cut_up(plan, values)
    moved = cut.sets[0]
    for table in cut.tables():
        runs = Runs.of(table, CROWD)
        for block in runs.pairs(moved, radius):
            mine = cut.first(moved[block.a] ^ moved[block.b], table.code)
            yield Block(block.a[mine], block.b[mine], block.distance[mine])
        for members in runs.crowds:
            for block in _crowd(moved[members], radius):
                a, b = members[block.a], members[block.b]
                mine = cut.first(moved[a] ^ moved[b], table.code)
                yield Block(a[mine], b[mine], block.distance[mine])


def _crowd(values: Hashes, radius: int) -> Iterator[Block]:
    return _within(values, radius) if pays(values, radius) else all_within(values, radius)


def all_within(values: Hashes, radius: int) -> Iterator[Block]:
    """Compare each with each."""
    rows = max(1, AT_ONCE // max(1, len(values)))
    for start in range(0, len(values), rows):
        distance = np.bitwise_count(values[start : start + rows, None] ^ values[None, start:])
        a, b = np.nonzero(distance <= radius)
        later = a < b
        a, b = a[later], b[later]
        yield Block(a + start, b + start, distance[a, b])


def _between(small: Hashes, large: Hashes, radius: int) -> Iterator[Block]:
    plan = plan_for(len(large), len(small) * len(large), radius, LOOKED_UP)
    if not plan.tables:
        yield from _all_between(small, large, radius)
        return
    cut = cut_up(plan, small, large)
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
    portion = np.cumsum(sizes) // AT_ONCE
    yield from (
        part for part in np.split(places, np.flatnonzero(np.diff(portion)) + 1) if len(part)
    )


def _ramps(sizes: Places) -> Places:
    """0, 1, .. size - 1 for each size."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)


def _all_between(one: Hashes, other: Hashes, radius: int) -> Iterator[Block]:
    rows = max(1, AT_ONCE // max(1, len(other)))
    for start in range(0, len(one), rows):
        distance = np.bitwise_count(one[start : start + rows, None] ^ other[None, :])
        a, b = np.nonzero(distance <= radius)
        yield Block(a + start, b, distance[a, b])


def gathered(blocks: Iterator[Block]) -> Iterator[Block]:
    """Small blocks put together to larger ones, so that what is done with each is worth a call."""
    held: list[Block] = []
    pairs = 0
    for block in blocks:
        held.append(block)
        pairs += len(block.a)
        if pairs >= STRIP:
            yield _one(held)
            held, pairs = [], 0
    if held:
        yield _one(held)


def _one(blocks: list[Block]) -> Block:
    return Block(*(np.concatenate(part) for part in zip(*blocks, strict=True)))
