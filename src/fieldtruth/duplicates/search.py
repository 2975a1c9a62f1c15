"""Photos looked at, each once; the suspicious ones examined; the near pairs compared.

The screen finds whose hashes might be near (`hashing.look`), the exact hash decides who is, and
thumbnails tell copies from collisions. Threads do the decoding: Pillow lets go of the
interpreter meanwhile. The result does not depend on which of them is first.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fieldtruth import hashing, neighbours
from fieldtruth.duplicates.compare import correlations
from fieldtruth.duplicates.shortlist import Bearers, Near, Nodes, Places, Shortlist, spread
from fieldtruth.faults import Unreadable
from fieldtruth.hashing import Look
from fieldtruth.store import room

_BATCH = 256  # photos handed to the threads at a time
_TOGETHER = 512  # pairs compared at once

T = TypeVar("T")


class Passing(Protocol):
    """A progress bar: what passes through it is counted."""

    def __call__(self, records: Iterable[T], total: int | None = None) -> Iterator[T]: ...


class Over(Protocol):
    """How files are gone over: in threads, or by Ray's workers."""

    def __call__(
        self, work: Callable[[Path], T], files: Sequence[Path]
    ) -> Iterator[T | Unreadable]:
        """`attempt` for each file, in order."""
        ...


def attempt(work: Callable[[Path], T], file: Path) -> T | Unreadable:
    """What `work` makes of a file; of one that cannot be read its fault."""
    try:
        return work(file)
    except Unreadable as fault:
        return fault


def in_threads(work: Callable[[Path], T], files: Sequence[Path]) -> Iterator[T | Unreadable]:
    """`attempt` for each file, in order, on all cores."""
    # Warnings are switched off for the whole process, and one thread's end would switch them on.
    with warnings.catch_warnings(), ThreadPoolExecutor(os.cpu_count()) as pool:
        warnings.simplefilter("ignore")
        for start in range(0, len(files), _BATCH):
            yield from pool.map(partial(attempt, work), files[start : start + _BATCH])


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


def look_at(
    files: Sequence[Path], track: Passing, over: Over = in_threads
) -> list[Look | Unreadable]:
    """Every file looked at, in order."""
    return list(track(over(hashing.look, files), total=len(files)))


def find(
    files: Sequence[Path],
    looks: Sequence[Look | Unreadable],
    nodes: Nodes,
    settings: tuple[int, int, int],
    track: Passing,
    over: Over = in_threads,
) -> Found:
    """The near pairs of nodes. `settings`: the radius, how many pairs at most, how many turns."""
    radius, limit, turns = settings
    suspects = _suspects(looks, nodes, radius, turns)
    with room("the folder for temporary files"), TemporaryFile() as spill:
        seen = _examine(suspects, files, (turns, spill), track, over)
        mine = np.flatnonzero(np.isin(nodes.files, seen.files))
        hashes = seen.hashes[np.searchsorted(seen.files, nodes.files[mine])]
        shortlist = Shortlist(nodes, limit)
        joined = _pair_up(hashes, mine, radius, shortlist)
        near = shortlist.pairs()
        correlation = _correlated(near, nodes, seen)
    labels = np.arange(len(nodes.files))
    labels[mine] = mine[joined]
    return Found(near, correlation, labels, shortlist.complete, shortlist.found, seen.broken)


class _Seen(NamedTuple):
    """What the exact look told: `files` ascend; hashes (n, turns) and thumbnails run parallel."""

    files: Places
    hashes: NDArray[np.uint64]
    thumbnails: NDArray[np.uint8]
    broken: dict[int, Unreadable]


def _examine(
    suspects: Places,
    files: Sequence[Path],
    into: tuple[int, IO[bytes]],
    track: Passing,
    over: Over,
) -> _Seen:
    """The suspects read in full. Thumbnails, 9 KB each, lie in a file and not in memory."""
    turns, spill = into
    at = [files[each] for each in suspects.tolist()]
    hashes, broken, kept = list[NDArray[np.uint64]](), dict[int, Unreadable](), list[int]()
    looked = track(over(hashing.examine, at), len(at))
    for each, got in zip(suspects.tolist(), looked, strict=True):
        if isinstance(got, Unreadable):
            broken[each] = got
            continue
        kept.append(each)
        hashes.append(got.hashes[:turns])
        spill.write(got.thumbnail.tobytes())
    spill.flush()
    shape = len(kept), hashing.THUMBNAIL, hashing.THUMBNAIL
    thumbnails = np.memmap(spill, np.uint8, "r", shape=shape) if kept else np.zeros(shape, np.uint8)
    stacked = np.array(hashes, np.uint64).reshape(-1, turns)
    return _Seen(np.array(kept, np.int64), stacked, thumbnails, broken)


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


def _correlated(near: Near, nodes: Nodes, seen: _Seen) -> NDArray[np.float64]:
    """Pearson's r of the thumbnails of each pair."""
    r = np.full(len(near.a), np.nan)
    rows = np.searchsorted(seen.files, nodes.files)
    for start in range(0, len(r), _TOGETHER):
        some = slice(start, min(start + _TOGETHER, len(r)))
        one = seen.thumbnails[rows[near.a[some]]]
        other = seen.thumbnails[rows[near.b[some]]]
        turned = [
            hashing.turn(each, which)
            for each, which in zip(other, near.turn[some].tolist(), strict=True)
        ]
        r[some] = correlations(one, np.stack(turned))
    return r
