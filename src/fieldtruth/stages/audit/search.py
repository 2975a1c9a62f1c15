"""Photos looked at, each once; the suspicious ones examined; the near pairs compared.

The screen finds whose hashes might be near (`hashing.look`), the exact hash decides who is, and
thumbnails tell copies from collisions. Threads do the decoding: Pillow lets go of the
interpreter meanwhile. The result does not depend on which of them is first.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fieldtruth import hashing, neighbours
from fieldtruth.checks.near_duplicates import correlations
from fieldtruth.faults import Unreadable
from fieldtruth.hashing import Exact, Look
from fieldtruth.stages.audit.shortlist import Bearers, Near, Nodes, Places, Shortlist, spread

_BATCH = 256  # photos handed to the threads at a time
_THUMBNAILS = 40_000  # held at once, 9 KB each; beyond them a photo is read again
_TOGETHER = 512  # pairs compared at once

T = TypeVar("T")
U = TypeVar("U")


class Passing(Protocol):
    """A progress bar: what passes through it is counted."""

    def __call__(self, records: Iterable[T], total: int | None = None) -> Iterator[T]: ...


class Found(NamedTuple):
    """The near pairs of the nodes, their correlations (NaN: not known), and what else is told.

    `joined` labels each node by what hangs together by exact hashes; `broken` holds the files
    that were readable at first and then no more.
    """

    near: Near
    correlation: NDArray[np.float64]
    joined: Places
    complete: bool
    total: int
    broken: dict[int, Unreadable]


def look_at(files: Sequence[Path], track: Passing) -> list[Look | Unreadable]:
    """Every file looked at, in order."""
    return list(track(_in_threads(hashing.look, files), total=len(files)))


def find(
    files: Sequence[Path],
    looks: Sequence[Look | Unreadable],
    nodes: Nodes,
    settings: tuple[int, int, int],
    track: Passing,
) -> Found:
    """The near pairs of nodes. `settings`: the radius, how many pairs at most, how many turns."""
    radius, limit, turns = settings
    suspects = _suspects(looks, nodes, radius, turns)
    at = [files[each] for each in suspects.tolist()]
    exact = dict(
        zip(suspects.tolist(), track(_in_threads(hashing.examine, at), len(at)), strict=True)
    )
    broken = {each: got for each, got in exact.items() if isinstance(got, Unreadable)}
    seen = {each: got for each, got in exact.items() if isinstance(got, Exact)}
    mine = np.flatnonzero(np.isin(nodes.files, np.array(sorted(seen), dtype=np.int64)))
    hashes = np.array([seen[each].hashes[:turns] for each in nodes.files[mine].tolist()])
    hashes = hashes.reshape(-1, turns).astype(np.uint64)
    shortlist = Shortlist(nodes, limit)
    joined = _pair_up(hashes, mine, radius, shortlist)
    near = shortlist.pairs()
    correlation = _correlated(near, nodes, files, seen)
    labels = np.arange(len(nodes.files))
    labels[mine] = mine[joined]
    return Found(near, correlation, labels, shortlist.complete, shortlist.found, broken)


def _in_threads(work: Callable[[Path], T], files: Sequence[Path]) -> Iterator[T | Unreadable]:
    """`work` for each file, in order; what cannot be read gives its fault."""

    def attempt(file: Path) -> T | Unreadable:
        try:
            return work(file)
        except Unreadable as fault:
            return fault

    # Warnings are switched off for the whole process, and one thread's end would switch them on.
    with warnings.catch_warnings(), ThreadPoolExecutor(os.cpu_count()) as pool:
        warnings.simplefilter("ignore")
        for start in range(0, len(files), _BATCH):
            yield from pool.map(attempt, files[start : start + _BATCH])


def _suspects(looks: Sequence[Look | Unreadable], nodes: Nodes, radius: int, turns: int) -> Places:
    """Files that may be near another one, or that two sets name, ascending."""
    readable = np.array([n for n, each in enumerate(looks) if isinstance(each, Look)], np.int64)
    hashes = np.array([each.hashes[:turns] for each in looks if isinstance(each, Look)], np.uint64)
    distinct = neighbours.distinct(hashes.ravel())
    part = neighbours.components(distinct.values, radius + hashing.MARGIN)[distinct.of]
    owner = np.repeat(readable, turns)
    meeting = np.unique(np.stack([part, owner], axis=1), axis=0)  # a photo may meet itself, turned
    company = np.bincount(meeting[:, 0], minlength=1)[meeting[:, 0]] > 1
    named = np.bincount(nodes.files, minlength=len(looks))
    return np.union1d(meeting[company, 1], readable[named[readable] > 1]).astype(np.int64)


def _pair_up(hashes: NDArray[np.uint64], mine: Places, radius: int, shortlist: Shortlist) -> Places:
    """Add all pairs of the nodes `mine` with these exact hashes, (n, turns), to the shortlist.

    Returns what hangs together, as places in `mine`.
    """
    if not len(mine):
        return np.zeros(0, np.int64)
    plain = neighbours.distinct(hashes[:, 0])
    bearers = Bearers(plain, mine)
    same = np.flatnonzero(plain.counts > 1)
    equal = neighbours.Block(same, same, np.zeros(len(same), np.uint8))
    spread([equal], bearers, bearers, shortlist, 0)
    spread(neighbours.within(plain.values, radius), bearers, bearers, shortlist, 0)
    for turn in range(1, hashes.shape[1]):
        other = neighbours.distinct(hashes[:, turn])
        blocks = neighbours.between(plain.values, other.values, radius)
        spread(blocks, bearers, Bearers(other, mine), shortlist, turn)
    every = neighbours.distinct(hashes.ravel())
    part = neighbours.components(every.values, radius)[every.of].reshape(hashes.shape)
    return _firsts(part)


def _firsts(part: Places) -> Places:
    """(n, turns) labels -> for each row the first row it hangs together with through any label."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows, turns = part.shape
    _, label = np.unique(part, return_inverse=True)
    ends = np.repeat(np.arange(rows), turns), rows + label.ravel()
    size = rows + int(label.max()) + 1
    graph = coo_array((np.ones(rows * turns, np.int8), ends), shape=(size, size))
    group = connected_components(graph, directed=False)[1][:rows]
    _, first, which = np.unique(group, return_index=True, return_inverse=True)
    return first[which]


def _correlated(
    near: Near, nodes: Nodes, files: Sequence[Path], seen: dict[int, Exact]
) -> NDArray[np.float64]:
    """Pearson's r of the thumbnails of each pair."""
    thumbnails = _Thumbnails(files, seen)
    r = np.full(len(near.a), np.nan)
    for start in range(0, len(r), _TOGETHER):
        some = range(start, min(start + _TOGETHER, len(r)))
        one = [thumbnails.of(int(nodes.files[near.a[n]])) for n in some]
        other = [
            hashing.turn(thumbnails.of(int(nodes.files[near.b[n]])), int(near.turn[n]))
            for n in some
        ]
        r[some.start : some.stop] = correlations(np.stack(one), np.stack(other))
    return r


class _Thumbnails:
    """Thumbnails of files: so many held, the rest read again. A blank one where that fails."""

    def __init__(self, files: Sequence[Path], seen: dict[int, Exact]) -> None:
        self.files = files
        self.held = {each: seen[each].thumbnail for each in list(seen)[:_THUMBNAILS]}

    def of(self, file: int) -> NDArray[np.uint8]:
        """The thumbnail of one file."""
        if file in self.held:
            return self.held[file]
        try:
            return hashing.examine(self.files[file]).thumbnail
        except Unreadable:  # it changed meanwhile; a blank is never taken for a copy
            return np.zeros((hashing.THUMBNAIL, hashing.THUMBNAIL), np.uint8)
