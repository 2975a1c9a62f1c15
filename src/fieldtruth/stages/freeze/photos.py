"""The photos of a set: each looked at once, grouped, given a place, and copied where allowed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fieldtruth import store
from fieldtruth.drafts import Line
from fieldtruth.faults import Unreadable
from fieldtruth.images import Facts, facts
from fieldtruth.store.licences import may_copy
from fieldtruth.store.photos import copy_as, place_of


@dataclass(frozen=True, slots=True)
class Photos:
    """What is known of every photo, by its path as written, relative to `root`."""

    root: Path
    facts: Mapping[str, Facts]
    places: Mapping[str, str]  # where it goes in the benchmark; one place per content

    def hashes(self) -> set[str]:
        """The SHA-256 of every photo."""
        return {each.sha256 for each in self.facts.values()}

    def of(self, line: Line) -> tuple[list[Facts], list[str]]:
        """The facts and the places of a line's photos."""
        return [self.facts[image] for image in line.images], [
            self.places[image] for image in line.images
        ]

    def copy(
        self, lines: Iterable[Line], folder: Path
    ) -> tuple[dict[str, str], dict[str, store.Reference]]:
        """Copy what the licences allow; returns (place -> sha256, place -> reference).

        A photo that several lines share is copied once, and only when the licence of each lets
        it. `Refused` when a photo changed since it was looked at.
        """
        kept_out = {
            self.places[image]
            for line in lines
            if not may_copy(line.draft.licence)
            for image in line.images
        }
        copied: dict[str, str] = {}
        references: dict[str, store.Reference] = {}
        for image, place in sorted(self.places.items()):
            identity = self.facts[image].sha256
            if place in copied or place in references:
                continue
            if place in kept_out:
                references[place] = store.Reference(sha256=identity, original=image)
            else:
                copy_as(self.root / image, folder / place, identity)
                copied[place] = identity
        return copied, references


def look(lines: Iterable[Line], root: Path) -> Photos:
    """Open every photo once. `Refused` for a path that leaves `root`, `Unreadable` for a photo
    that is not there or cannot be opened; both name the line."""
    seen: dict[str, Facts] = {}
    for line in lines:
        for image in line.images:
            if image not in seen:
                path = store.inside(root, image, line.where)
                try:
                    seen[image] = facts(path)
                except Unreadable as fault:
                    raise Unreadable(f"{line.where}: {fault}") from None
    places: dict[str, str] = {}  # content -> place; the first path in order gives the suffix
    for image in sorted(seen):
        places.setdefault(seen[image].sha256, place_of(seen[image].sha256, image))
    return Photos(root, seen, {image: places[each.sha256] for image, each in seen.items()})


def groups(
    lines: Sequence[Line], photos: Photos, copies: Iterable[tuple[str, str]] = ()
) -> list[str]:
    """The group of each line: as given, else that of the lines its photos are joined with.

    Photos of equal upright pixels are one, so are `copies` (pairs of SHA-256) that an audit
    confirmed, and photos that one line shows together belong together. A joined set is called by
    the first group given in it, else by its least pixel hash; a line without photos by its own id.
    """
    parent: dict[str, str] = {}

    def top(pixels: str) -> str:
        while parent.setdefault(pixels, pixels) != pixels:
            pixels = parent[pixels]
        return pixels

    shown = [[photos.facts[image].pixels for image in line.images] for line in lines]
    pixels_of = {each.sha256: each.pixels for each in photos.facts.values()}
    for pixels in (*shown, *([pixels_of[one], pixels_of[other]] for one, other in copies)):
        for one in pixels[1:]:
            low, high = sorted((top(pixels[0]), top(one)))
            parent[high] = low
    given: dict[str, str] = {}
    for line, pixels in zip(lines, shown, strict=True):
        if line.draft.group and pixels:
            given.setdefault(top(pixels[0]), line.draft.group)
    return [
        line.draft.group or (given.get(top(pixels[0]), top(pixels[0])) if pixels else line.draft.id)
        for line, pixels in zip(lines, shown, strict=True)
    ]
