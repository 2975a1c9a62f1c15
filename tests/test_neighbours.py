"""Every near pair once, against comparing each with each; and groups, whatever the skew."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fieldtruth import neighbours

Hashes = NDArray[np.uint64]
Pairs = set[tuple[int, int, int]]
BLANK = 0x8000_0000_0000_0000


def flipped(values: Hashes, most: int, rng: np.random.Generator) -> Hashes:
    """Copies with up to `most` bits flipped."""
    for _ in range(most):
        bit = np.uint64(1) << rng.integers(0, 64, len(values), dtype=np.uint64)
        values = np.where(rng.random(len(values)) < 0.7, values ^ bit, values)
    return values


def random_hashes(count: int, seed: int) -> Hashes:
    return np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)


def clustered(count: int, seed: int) -> Hashes:
    """Two in five are copies of others with up to eight bits flipped."""
    rng = np.random.default_rng(seed)
    base = random_hashes(count * 3 // 5, seed)
    return np.concatenate([base, flipped(rng.choice(base, count - len(base)), 8, rng)])


def near_blank(count: int, seed: int = 3) -> Hashes:
    return flipped(np.full(count, BLANK, np.uint64), 4, np.random.default_rng(seed))


def white_ground(count: int, seed: int = 4) -> Hashes:
    """Hashes that share 24 bits, in whole blocks."""
    return random_hashes(count, seed) & ~np.uint64(0xFFFFFF) | np.uint64(0x123456)


SETS = {
    "none": random_hashes(0, 0),
    "one": random_hashes(1, 0),
    "random": random_hashes(1500, 1),
    "clustered": clustered(3000, 2),
    "near blank": near_blank(900),
    "white ground": white_ground(2500),
    "low numbers": np.arange(700, dtype=np.uint64),
    "mixed": np.concatenate([clustered(1500, 5), near_blank(600), white_ground(900)]),
}


def each_with_each(one: Hashes, other: Hashes, radius: int) -> Pairs:
    """All pairs, by counting the ones of every difference."""
    found = set()
    for a, value in enumerate(one.tolist()):
        distance = np.unpackbits((other ^ np.uint64(value)).view(np.uint8).reshape(-1, 8), axis=1)
        counts = distance.sum(axis=1)
        found |= {(a, b, int(counts[b])) for b in np.flatnonzero(counts <= radius).tolist()}
    return found


def told(blocks: object) -> Pairs:
    rows = [
        row
        for block in blocks  # type: ignore[attr-defined]
        for row in zip(block.a.tolist(), block.b.tolist(), block.distance.tolist(), strict=True)
    ]
    assert len(rows) == len(set(rows)), "a pair was told twice"
    return set(rows)


def linked(count: int, pairs: Pairs) -> list[int]:
    """The least place that each hangs together with, by walking from one to the next."""
    beside: list[set[int]] = [set() for _ in range(count)]
    for a, b, _ in pairs:
        beside[a].add(b)
        beside[b].add(a)
    label = [-1] * count
    for start in range(count):
        front = [start] if label[start] < 0 else []
        while front:
            here = front.pop()
            if label[here] < 0:
                label[here] = start
                front.extend(beside[here])
    return label


@pytest.mark.parametrize("radius", [0, 1, 6, 10])
@pytest.mark.parametrize("name", SETS)
def test_within_one_set(name: str, radius: int) -> None:
    values = neighbours.distinct(SETS[name]).values
    expected = {row for row in each_with_each(values, values, radius) if row[0] < row[1]}
    assert told(neighbours.within(values, radius)) == expected
    assert neighbours.components(values, radius).tolist() == linked(len(values), expected)


@pytest.mark.parametrize("radius", [0, 6, 10])
def test_between_two_sets(radius: int) -> None:
    one = neighbours.distinct(SETS["clustered"][::9]).values
    other = neighbours.distinct(np.concatenate([SETS["clustered"], SETS["near blank"]])).values
    expected = each_with_each(one, other, radius)
    assert len(expected) >= len(one)
    assert told(neighbours.between(one, other, radius)) == expected
    assert told(neighbours.between(other, one, radius)) == {(b, a, d) for a, b, d in expected}
    none = one[:0]
    assert told(neighbours.between(none, one, radius)) == set()


@settings(max_examples=40, deadline=None)
@given(
    seeds=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8),
    flips=st.lists(
        st.tuples(st.integers(0, 7), st.sets(st.integers(0, 63), max_size=9)), max_size=60
    ),
    radius=st.integers(0, 12),
)
def test_flips_are_found_up_to_the_radius(
    seeds: list[int], flips: list[tuple[int, set[int]]], radius: int
) -> None:
    made = {seeds[n % len(seeds)] ^ sum(1 << bit for bit in bits) for n, bits in flips}
    values = np.array(sorted(made | set(seeds)), dtype=np.uint64)
    expected = {row for row in each_with_each(values, values, radius) if row[0] < row[1]}
    assert told(neighbours.within(values, radius)) == expected


def test_the_order_given_changes_nothing_but_the_places() -> None:
    values = neighbours.distinct(clustered(4000, 7)).values
    turned = values[::-1].copy()
    last = len(values) - 1
    mirrored = {(last - b, last - a, d) for a, b, d in told(neighbours.within(turned, 6))}
    assert mirrored == told(neighbours.within(values, 6))


def test_equal_hashes_are_made_one() -> None:
    values, of, counts = neighbours.distinct(np.array([7, 3, 7, 7, 2**64 - 1], np.uint64))
    assert values.tolist() == [3, 7, 2**64 - 1]
    assert of.tolist() == [1, 0, 1, 1, 2]
    assert counts.tolist() == [1, 3, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "skew", [np.full(20_000, BLANK, np.uint64), near_blank(20_000), white_ground(20_000)]
)
def test_skew_costs_neither_time_nor_memory(skew: Hashes) -> None:
    """20,000 near-blank hashes make some 10**8 pairs; their group needs none of them."""
    values = neighbours.distinct(np.concatenate([clustered(30_000, 8), skew])).values
    tracemalloc.start()
    labels = neighbours.components(values, 6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 2**20
    assert len(labels) == len(values)
    assert (labels <= np.arange(len(labels))).all()
