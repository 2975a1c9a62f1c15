"""The photos of some sources as a split sees them: numbers, and what must stay together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from fieldtruth.faults import Refused
from fieldtruth.records import Sample, Split
from fieldtruth.store import inside

SPLITS: tuple[Split, ...] = get_args(Split)  # from the least guarded to the most


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A source after `ingest`: its samples, and the root that their photos are relative to."""

    samples: Iterable[Sample]
    root: Path


@dataclass(slots=True)
class Photos:
    """Every photo of every source once, by number; lists that run parallel.

    `owners` holds the origin's number; `said` the splits that the release itself puts the photo
    in, as bits (1 << place in `SPLITS`). `links` are pairs of photos that belong together because
    their source says so: a sample's own photos, a release's own group. `mentions` pairs the number
    of a sample (over all origins) with that of a photo; `ids` are the ids of the samples, one list
    per origin.
    """

    owners: list[int] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    said: list[int] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    mentions: list[tuple[int, int]] = field(default_factory=list)
    ids: list[list[str]] = field(default_factory=list)


def gather(origins: Sequence[Origin]) -> Photos:
    """Raises `Refused` for a path that leaves its root and for a split that is none of ours."""
    photos = Photos()
    row = 0
    for owner, origin in enumerate(origins):
        known: dict[str, int] = {}
        grouped: dict[str, int] = {}  # a release's own group -> its first photo
        photos.ids.append([])
        for sample in origin.samples:
            shown = [_number(photos, known, (owner, origin.root), sample, p) for p in sample.images]
            photos.ids[-1].append(sample.id)
            photos.mentions += [(row, each) for each in shown]
            row += 1
            for each in shown:
                photos.said[each] |= _bit(sample)
            if not shown:
                continue
            first = grouped.setdefault(sample.native.get("group") or f"\0{row}", shown[0])
            photos.links += [(first, each) for each in shown if each != first]
    return photos


def _number(
    photos: Photos, known: dict[str, int], home: tuple[int, Path], sample: Sample, path: str
) -> int:
    if path not in known:
        known[path] = len(photos.paths)
        photos.owners.append(home[0])
        photos.paths.append(path)
        photos.files.append(inside(home[1], path, f"sample {sample.id!r}"))
        photos.sources.append(sample.source)
        photos.said.append(0)
    return known[path]


def _bit(sample: Sample) -> int:
    """The release's own split of a sample as a bit; 0 where it has none."""
    said = sample.native.get("split")
    if not said:
        return 0
    for place, name in enumerate(SPLITS):
        if name == said:
            return 1 << place
    raise Refused(
        f"sample {sample.id!r}: expected a split of its release among {', '.join(SPLITS)}, got "
        f"{said!r}; mend the source that was ingested"
    )
