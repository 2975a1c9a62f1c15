"""What lies in two splits at once: contents and groups, counted on photos as they were placed."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from fieldtruth import draws
from fieldtruth.hashing import CONVENTION
from fieldtruth.records import Record, Split
from fieldtruth.stages.split.grouping import Grouped
from fieldtruth.stages.split.photos import SPLITS, Photos
from fieldtruth.stages.split.settings import Settings

Places = NDArray[np.int64]

# The published split: by sample id, so many of each source (agroground.md, section 5).
_PUBLISHED = (0.8, 0.1)


class Part(Record, frozen=True, kw_only=True):
    """One split: its files, their distinct contents, their groups."""

    files: int
    contents: int
    groups: int


class Crossing(Record, frozen=True, kw_only=True):
    """Contents and groups that lie in more than one split. `slots` counts contents once for each
    split that they lie in."""

    slots: int
    contents: int
    groups: int


class Leakage(Record, frozen=True, kw_only=True):
    """`leakage.json`: what was split, and what leaks.

    `photos` counts mentions by samples, `files` the different ones, `contents` the different bytes.
    `crossing` is of this split and has to be 0; `release` of the splits that the releases
    themselves come with, whose groups were put into their most guarded split; `by_sample` of the
    same photos split by sample id. `joined` counts the pairs that made groups, by verdict.
    """

    samples: int
    photos: int
    files: int
    contents: int
    groups: int
    largest_group: int  # in files
    unverified: int  # files that cannot be read; never in train
    splits: dict[Split, Part]
    crossing: Crossing
    release: Crossing
    by_sample: Crossing
    joined: dict[str, int]
    complete: bool
    radius: int
    flips: bool
    seed: int
    shares: dict[Split, float]
    hash: str = CONVENTION


def report(photos: Photos, grouped: Grouped, splits: Places, settings: Settings) -> Leakage:
    """The leakage of photos put into `splits`, (photos,) places in `SPLITS`."""
    return Leakage(
        samples=sum(map(len, photos.ids)),
        photos=len(photos.mentions),
        files=len(photos.files),
        contents=len(np.unique(grouped.content)),
        groups=len(np.unique(grouped.group)),
        largest_group=int(np.bincount(grouped.group, minlength=1).max()),
        unverified=int((~grouped.readable).sum()),
        splits={name: _part(grouped, splits == place) for place, name in enumerate(SPLITS)},
        crossing=crossing(grouped, np.arange(len(splits)), splits),
        release=_of_release(photos, grouped),
        by_sample=_by_sample(photos, grouped, settings.seed),
        joined=grouped.joined,
        complete=grouped.complete,
        radius=settings.radius,
        flips=settings.flips,
        seed=settings.seed,
        shares={name: settings.shares.get(name, 0.0) for name in SPLITS},
    )


def crossing(grouped: Grouped, which: Places, splits: Places) -> Crossing:
    """What crosses when photo `which[i]` lies in the split `splits[i]`; a photo may come often."""
    slots, contents = _in_several(grouped.content[which], splits)
    return Crossing(
        slots=slots, contents=contents, groups=_in_several(grouped.group[which], splits)[1]
    )


def _in_several(labels: Places, splits: Places) -> tuple[int, int]:
    """How many different (label, split) there are, and how many labels lie in several splits."""
    pairs = np.unique(np.stack([labels, splits]), axis=1)
    _, often = np.unique(pairs[0], return_counts=True)
    return pairs.shape[1], int((often > 1).sum())


def _part(grouped: Grouped, mine: NDArray[np.bool_]) -> Part:
    return Part(
        files=int(mine.sum()),
        contents=len(np.unique(grouped.content[mine])),
        groups=len(np.unique(grouped.group[mine])),
    )


def _of_release(photos: Photos, grouped: Grouped) -> Crossing:
    said = np.array(photos.said, np.int64)
    which, splits = np.nonzero((said[:, None] >> np.arange(len(SPLITS))) & 1)
    return crossing(grouped, which, splits)


def _by_sample(photos: Photos, grouped: Grouped, seed: int) -> Crossing:
    """The published way: each source's sample ids in order, shuffled, cut at 80 and 90 %."""
    ordered = [sorted(ids) for ids in photos.ids]
    parts = [np.zeros(0, np.int64)] * len(ordered)
    again: Counter[str] = Counter()  # one release ingested twice is shuffled twice
    for number in sorted(range(len(ordered)), key=ordered.__getitem__):
        ids = photos.ids[number]
        first = min(ids, default="")
        key = f"{first}@{again[first]}" if again[first] else first
        again[first] += 1
        order = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
        order = order[draws.rng(seed, "split by sample", key).permutation(len(ids))]
        train, val = (int(share * len(ids)) for share in _PUBLISHED)
        split = np.full(len(ids), SPLITS.index("test"))
        split[order[:train]] = SPLITS.index("train")
        split[order[train : train + val]] = SPLITS.index("val")
        parts[number] = split
    mentions = np.array(photos.mentions, np.int64).reshape(-1, 2)
    return crossing(grouped, mentions[:, 1], np.concatenate(parts)[mentions[:, 0]])
