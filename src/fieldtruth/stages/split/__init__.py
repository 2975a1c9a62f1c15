"""Split: photos of one or several sources into train, val and test, by groups and not by files.

    photos    samples -> photos by number, and what their sources keep together
    grouping  photos -> groups of one content, near-duplicates, one sample, a release's own group
    leakage   what lies in two splits at once

A group is drawn by its own name with the shares, so that another source, or another photo, moves
no other group. Where a release has splits of its own, a group takes the most guarded split that
any of its photos has there (test, then val, then train): a leak of the release never puts a test
photo into train. A photo that cannot be read may be a copy of anything; it goes to test, where
no trainer opens it (design, section 2, rules 10 and 11).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fieldtruth import draws
from fieldtruth.duplicates import Passing
from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Place, Record, Split
from fieldtruth.stages.split.grouping import Grouped, group
from fieldtruth.stages.split.leakage import Crossing, Leakage, crossing, report
from fieldtruth.stages.split.photos import SPLITS, Origin, Photos, gather
from fieldtruth.stages.split.settings import SHARES, Settings

__all__ = ["SHARES", "Checked", "Leakage", "Origin", "Settings", "check", "refuse", "split"]

_EXAMPLES = 10  # photos named in a refusal


class Checked(Record, frozen=True, kw_only=True):
    """An existing split held against the photos as they are now. All but `files` has to be 0.

    `unplaced` photos have no line, `unknown` lines no photo; `changed` photos have other bytes
    than their line says; `unverified` ones cannot be read and lie in train; `less_guarded` ones
    lie in a split less guarded than the one their release puts them in. `examples` names some.
    """

    files: int
    unplaced: int
    unknown: int
    changed: int
    unverified: int
    less_guarded: int
    crossing: Crossing
    complete: bool
    examples: tuple[str, ...]

    @property
    def leaks(self) -> bool:
        """Whether anything is not as it has to be."""
        return bool(
            self.unplaced + self.unknown + self.changed + self.unverified + self.less_guarded
            + self.crossing.contents + self.crossing.groups
        )  # fmt: skip


def split(
    origins: Sequence[Origin], settings: Settings, track: Passing
) -> tuple[list[list[Place]], Leakage]:
    """The places of each origin's photos, ascending by path, and what leaks (nothing).

    Raises `Refused` for a path that leaves its root, `Usage` where there is no photo at all.
    """
    photos, grouped = _look(origins, settings, track)
    splits = _drawn(photos, grouped, settings)
    places: list[list[Place]] = [[] for _ in origins]
    for number, owner in enumerate(photos.owners):
        places[owner].append(
            Place(
                id=photos.paths[number],
                image_sha256=grouped.sha256[number],
                group=grouped.names[number],
                split=SPLITS[splits[number]],
            )
        )
    for each in places:
        each.sort(key=lambda place: place.id)
    leakage = report(photos, grouped, splits, settings)
    if leakage.crossing.contents or leakage.crossing.groups:
        raise AssertionError(f"split: a group lies in two splits: {leakage.crossing}")
    return places, leakage


def check(
    origins: Sequence[Origin],
    places: Sequence[Mapping[str, Place]],
    settings: Settings,
    track: Passing,
) -> Checked:
    """Hold the places of each origin, by path, against its photos, grouped anew."""
    photos, grouped = _look(origins, settings, track)
    known = [each.get(path) for each, path in zip(_per(photos, places), photos.paths, strict=True)]
    splits = np.array([SPLITS.index(each.split) if each else -1 for each in known], np.int64)
    placed = splits >= 0
    changed = np.array([
        each is not None and each.image_sha256 != now
        for each, now in zip(known, grouped.sha256, strict=True)
    ], np.bool_)  # fmt: skip
    asked = _guarded(np.array(photos.said, np.int64))
    troubles = {
        "without a line": ~placed,
        "gone or with other bytes": changed,
        "unreadable and in train": placed & ~grouped.readable & (splits == SPLITS.index("train")),
        "less guarded than in its release": placed & (splits < asked),
    }
    which = np.flatnonzero(placed)
    lines = [set(each) for each in places]
    for owner, path in zip(photos.owners, photos.paths, strict=True):
        lines[owner].discard(path)
    unplaced, altered, unread, less = (int(each.sum()) for each in troubles.values())
    return Checked(
        files=len(photos.files),
        unplaced=unplaced,
        unknown=sum(map(len, lines)),
        changed=altered,
        unverified=unread,
        less_guarded=less,
        crossing=crossing(grouped, which, splits[which]),
        complete=grouped.complete,
        examples=_examples(photos, grouped, splits, troubles, sorted(set().union(*lines))),
    )


def refuse(checked: Checked) -> None:
    """`Refused` for a split that leaks or is of other photos."""
    if checked.leaks:
        counts = {
            "contents in two splits": checked.crossing.contents,
            "groups in two splits": checked.crossing.groups,
            "photos without a line": checked.unplaced,
            "lines without a photo": checked.unknown,
            "photos gone or with other bytes": checked.changed,
            "unreadable photos in train": checked.unverified,
            "photos less guarded than in their release": checked.less_guarded,
        }
        told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        some = "; ".join(checked.examples)
        raise Refused(f"split: expected the photos as they were split, got {told} ({some})")


def line(leakage: Leakage) -> str:
    """What was split, in one line for people."""
    parts = ", ".join(
        f"{name} {part.files} files in {part.groups} groups"
        for name, part in leakage.splits.items()
    )
    own, other, release = leakage.crossing, leakage.by_sample, leakage.release
    mended = f" {release.groups} groups crossed their release's splits." if release.groups else ""
    rough = "" if leakage.complete else " Too many near pairs: joined by hash alone."
    return (
        f"{leakage.photos} photos, {leakage.files} files, {leakage.contents} contents, "
        f"{leakage.groups} groups (largest {leakage.largest_group}), {leakage.unverified} "
        f"unverified; {parts}; crossing: {own.contents} contents, {own.groups} groups (by sample "
        f"id: {other.contents} contents, {other.groups} groups).{mended}{rough}"
    )


def _look(origins: Sequence[Origin], settings: Settings, track: Passing) -> tuple[Photos, Grouped]:
    photos = gather(origins)
    if not photos.files:
        raise Usage("split: expected samples with photos, got none; ingest a source first")
    return photos, group(photos, settings, track)


def _drawn(photos: Photos, grouped: Grouped, settings: Settings) -> NDArray[np.int64]:
    """The split of each photo's group, as a place in `SPLITS`."""
    said = np.zeros(len(photos.files), np.int64)
    np.bitwise_or.at(said, grouped.group, np.array(photos.said, np.int64))
    splits = _guarded(said)[grouped.group]
    splits[~grouped.readable] = SPLITS.index("test")
    drawn: dict[str, int] = {}
    for number in np.flatnonzero(splits < 0).tolist():
        name = grouped.names[number]
        if name not in drawn:
            drawn[name] = SPLITS.index(_draw(name, settings))
        splits[number] = drawn[name]
    return splits


def _guarded(said: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most guarded of the splits in each set of bits; -1 where it has none."""
    most = np.full(said.shape, -1, np.int64)
    for place in range(len(SPLITS)):
        most[(said >> place) & 1 > 0] = place
    return most


def _draw(name: str, settings: Settings) -> Split:
    spot = draws.rng(settings.seed, "split", name).random()
    last: Split = "train"
    for each in SPLITS:
        share = settings.shares.get(each, 0.0)
        if share > 0:
            last = each
            if spot < share:
                return each
        spot -= share
    return last


def _per(photos: Photos, places: Sequence[Mapping[str, Place]]) -> list[Mapping[str, Place]]:
    return [places[owner] for owner in photos.owners]


def _examples(
    photos: Photos,
    grouped: Grouped,
    splits: NDArray[np.int64],
    troubles: Mapping[str, NDArray[np.bool_]],
    lines: Sequence[str],
) -> tuple[str, ...]:
    """Some photos that are not as they have to be, and why; `lines` have no photo."""
    told = [f"{path} has a line and no photo" for path in lines[:_EXAMPLES]]
    told += [
        f"{photos.paths[number]} {why}"
        for why, where in troubles.items()
        for number in np.flatnonzero(where)[:_EXAMPLES].tolist()
    ]
    first: dict[int, int] = {}
    for number in np.flatnonzero(splits >= 0).tolist():
        twin = first.setdefault(int(grouped.group[number]), number)
        if splits[twin] != splits[number]:
            there, here = (SPLITS[splits[each]] for each in (twin, number))
            told.append(f"{photos.paths[twin]} in {there}, {photos.paths[number]} in {here}")
        if len(told) >= _EXAMPLES:
            break
    return tuple(told[:_EXAMPLES])
