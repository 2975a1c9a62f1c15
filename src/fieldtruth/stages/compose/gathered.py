"""What a mixture is made of: the diseased and the healthy photos of one split, and what is dropped.

Nothing of another split is looked at, but for the drop that says so: no name, no photo, no count
(the published pools held records of every split, and names of what cannot be boxed).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from fieldtruth.faults import Unreadable
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.stages.compose.items import DENIED, check_size, drop, photo_of
from fieldtruth.stages.compose.pools import crop_key
from fieldtruth.stages.compose.sources import Album, Labelled, Photo

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Well:
    """A healthy photo that may be asked about."""

    record: Healthy
    photo: Photo
    sample: Sample
    source: Labelled

    @property
    def name(self) -> str:
        """What its draws are keyed by."""
        return self.record.id

    @property
    def crop(self) -> str:
        """The id of its crop, `""` where none is given."""
        return crop_key(self.record.crop)


@dataclass(frozen=True, slots=True)
class Ill:
    """A target with its boxes, of one level, on its photo."""

    record: Target
    photo: Photo
    sample: Sample
    source: Labelled
    mark: Annotation

    @property
    def name(self) -> str:
        """What its draws are keyed by: a target may have boxes of both levels."""
        return self.mark.id

    @property
    def crop(self) -> str:
        """The id of its crop, `""` where none is given."""
        return crop_key(self.record.crop)


class Shown:
    """What the rows of a split name for a photo: for its content, and for its whole group.

    By content, whatever file, sample or source a row is of. `near` adds
    what is named for any photo of the group: who shows a plant again may show the same spots.
    """

    def __init__(self) -> None:
        self._on: dict[str, set[str]] = defaultdict(set)
        self._ill: set[str] = set()

    def add(self, target: Target, photo: Photo, source: Labelled) -> None:
        """A row names this for this photo."""
        for key in (photo.content, group_key(photo, source)):
            self._on[key].add(target.label)
            if target.kind in DENIED:
                self._ill.add(key)

    def on(self, photo: Photo) -> list[str]:
        """The labels named for this content."""
        return sorted(self._on.get(photo.content, ()))

    def near(self, photo: Photo, source: Labelled) -> list[str]:
        """The labels named for this content or anything of its group."""
        both = self._on.get(photo.content, set()), self._on.get(group_key(photo, source), set())
        return sorted(set().union(*both))

    def ill(self, photo: Photo, source: Labelled) -> bool:
        """Whether a row says that this content, or something of its group, is not healthy."""
        return photo.content in self._ill or group_key(photo, source) in self._ill


def group_key(photo: Photo, source: Labelled) -> str:
    """The photo's group; a name that its release gave it means nothing in another source."""
    stated = source.places is None and photo.group != photo.content
    return f"{source.name}:{photo.group}" if stated else photo.group


@dataclass(slots=True)
class Gathered:
    """The records of one split with their photos; `drops` are all that are no example for sure."""

    ill: list[Ill] = field(default_factory=list)
    well: list[Well] = field(default_factory=list)
    drops: list[Drop] = field(default_factory=list)
    shown: Shown = field(default_factory=Shown)


class Passing(Protocol):
    """Shows how far an iteration is."""

    def __call__(self, records: Iterable[T], total: int | None = None) -> Iterable[T]: ...


def gather(sources: Sequence[Labelled], split: str, seed: int, passing: Passing) -> Gathered:
    """Every record of the sources, each looked at once.

    A photo without a line in its source's `splits.jsonl`, boxes drawn on a photo of another size
    or of another sample, and a path that leaves the release are `Refused`.
    """
    found, well = Gathered(), list[Well]()
    readings = [
        _Reading(each, split, Album(each, seed, decode=False), found, each.marks())
        for each in sources
    ]
    records = ((one, each) for one in readings for each in one.records())
    owed = sum(len(each.targets) + len(each.healthy) for each in sources)
    for reading, record in passing(records, owed):
        if isinstance(record, Target):
            reading.target(record)
        else:
            well += reading.healthy(record)
    taken: set[str] = set()
    for each in sorted(well, key=lambda one: one.record.id):
        if found.shown.ill(each.photo, each.source):
            found.drops.append(drop(each.record, "also_diseased"))
        elif each.photo.content in taken:
            found.drops.append(drop(each.record, "same_photo"))
        else:
            taken.add(each.photo.content)
            found.well.append(each)
    found.ill.sort(key=lambda one: one.name)
    return found


@dataclass(frozen=True, slots=True)
class _Reading:
    source: Labelled
    split: str
    album: Album
    found: Gathered
    marks: Mapping[str, Sequence[Annotation]]

    def records(self) -> Iterator[Target | Healthy]:
        yield from self.source.targets
        yield from self.source.healthy

    def target(self, target: Target) -> None:
        sample, marks = self.source.samples[target.sample], self.marks.get(target.id, ())
        shown = photo_of(sample, marks[0] if marks else None)
        for each in sample.images:  # which of them shows it, the row does not say
            self._name(target, sample, each)
        if self._photo(target, sample, shown) is None:
            return
        if not marks:
            self.found.drops.append(drop(target, "no_annotation"))
        for mark in marks:
            if self.album.split(sample, mark.image) != self.split:
                continue  # boxes of both levels, on two photos of two groups
            own = self.album.photo(sample, photo_of(sample, mark))
            check_size(mark, (own.width, own.height))
            self.found.ill.append(Ill(target, own, sample, self.source, mark))

    def healthy(self, healthy: Healthy) -> list[Well]:
        sample = self.source.samples[healthy.sample]
        photo = self._photo(healthy, sample, photo_of(sample, None))
        return [Well(healthy, photo, sample, self.source)] if photo else []

    def _photo(self, record: Target | Healthy, sample: Sample, image: str) -> Photo | None:
        """The photo of a record of the split; else the record is dropped."""
        try:
            own = self.album.split(sample, image)
            if own == self.split:
                return self.album.photo(sample, image)
        except Unreadable as fault:
            self.found.drops.append(drop(record, "unreadable_photo", str(fault)))
            return None
        self.found.drops.append(drop(record, "other_split", own))
        return None

    def _name(self, target: Target, sample: Sample, image: str) -> None:
        try:
            if self.album.split(sample, image) == self.split:
                self.found.shown.add(target, self.album.photo(sample, image), self.source)
        except Unreadable:  # no example is made of it, so nothing is asked on it
            return
