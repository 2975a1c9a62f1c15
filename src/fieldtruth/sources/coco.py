"""Any COCO detection set: its photos, its names, its boxes.

PATH holds one COCO file or one a split (`annotations.json`, `annotations/instances_train.json`,
`valid/_annotations.coco.json`); `file=` names one of them. Photos lie beside the file, at the top,
in `images/`, or where `photos=` says. What names mean: `fieldtruth.detections.Settings`. A photo
one of whose rows is broken is dropped whole: its truth would be incomplete. A sample's id is its
photo's path. Photos that a benchmark of ours calls healthy are healthy, told or not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from fieldtruth import detections, store
from fieldtruth.faults import Refused, Unreadable, Usage
from fieldtruth.formats import coco
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.sources.contract import Source

FILES = ("*.json", "annotations/*.json", "*/_annotations.coco.json")


class Settings(detections.Settings, frozen=True, kw_only=True):
    """`--source-args` of this source, beside those of every detection set."""

    file: str = ""  # the COCO file, relative to PATH; all that are found if not given
    photos: str = ""  # the folder that file names are relative to, relative to PATH


class Coco:
    """The licence is each image's own where the file states one, else what the settings say."""

    paper = "none: the set's own; the format is that of https://cocodataset.org/#format-data"
    reasons = (*detections.REASONS, "duplicate_id", "no_such_image")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence
        self.exhaustive = settings.exhaustive == "yes"

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The images of each file in its order, then the rows that belong to none.

        Raises `Usage` where there is no such file, `BadRecord` where one is not COCO.
        """
        files = self._files(root)
        names = detections.Names(root, self._settings)
        read = [(file, coco.read(root / file)) for file in files]
        places = {file: self._places(root, file, whole) for file, whole in read}
        often = Counter(
            place for found in places.values() for place in found.values() if isinstance(place, str)
        )
        for file, whole in read:
            yield from _Rows(root, file, whole, names, self._settings).rows(places[file], often)

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """What the boxes' names say."""
        return detections.label(sample, self._settings)

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:
        """The boxes of that name."""
        return detections.annotate(sample, target, root, self._settings)

    def _files(self, root: Path) -> list[str]:
        if self._settings.file:
            store.inside(root, self._settings.file)
            return [self._settings.file]
        found = sorted(
            {path.relative_to(root).as_posix() for how in FILES for path in root.glob(how)}
        )
        if not found:
            raise Usage(
                f"{root}: expected a COCO file ({', '.join(FILES)}), got none; name it with "
                "--source-args file=PATH"
            )
        return found

    def _places(
        self, root: Path, file: str, whole: coco.Coco
    ) -> dict[coco.Id, str | Refused | Unreadable]:
        """Where each image lies, by its id, or why it cannot be had."""
        beside, split = str(PurePosixPath(file).parent), detections.split_of(file)
        folders = [beside, "", "images", *([f"images/{split}", split] if split else [])]
        if self._settings.photos:
            folders = [self._settings.photos]
        found: dict[coco.Id, str | Refused | Unreadable] = {}
        for photo in whole.photos:
            try:
                found[photo.id] = detections.find(root, photo.file_name, folders)
            except (Refused, Unreadable) as fault:
                found[photo.id] = fault
        return found


class _Rows:
    """One file's rows as samples and drops."""

    def __init__(
        self, root: Path, file: str, whole: coco.Coco, names: detections.Names, settings: Settings
    ) -> None:
        self._file, self._whole, self._settings = file, whole, settings
        self._root, self._names = root, names
        self._split = detections.split_of(file)
        self._bad: dict[coco.Id | None, list[coco.Bad]] = {}
        for bad in whole.bad:
            self._bad.setdefault(bad.photo, []).append(bad)
        categories = {each.id: each for each in whole.categories}
        self._marks: dict[coco.Id, list[detections.Marked]] = {}
        for region in whole.regions:
            category = categories[region.category]
            mark = detections.Marked(
                name=category.name, named=names.of(category.name, category.supercategory),
                box=region.box, crowd=region.crowd,
            )  # fmt: skip
            self._marks.setdefault(region.photo, []).append(mark)

    def rows(
        self, places: Mapping[coco.Id, str | Refused | Unreadable], often: Mapping[str, int]
    ) -> Iterator[Sample | Drop]:
        """A sample or a drop for each image, then a drop for each row of no image."""
        for photo in self._whole.photos:
            place = places[photo.id]
            if isinstance(place, Refused):
                yield self._drop(photo.id, "unsafe_path", str(place))
            elif isinstance(place, Unreadable):
                yield self._drop(photo.id, "no_photo", str(place))
            elif often[place] > 1:
                yield self._drop(photo.id, "listed_twice", f"{place}: {often[place]} times")
            elif photo.id in self._bad:
                said = "; ".join(f"{b.place}: {b.reason}: {b.detail}" for b in self._bad[photo.id])
                yield self._drop(photo.id, "bad_row", said)
            else:
                yield self._sample(photo, place)
        known = {photo.id for photo in self._whole.photos}
        for bad in self._whole.bad:
            if bad.photo in known or bad.place.startswith(("categories", "licenses")):
                continue
            reason = {"duplicate_image_id": "duplicate_id", "unknown_image": "no_such_image"}
            yield detections.drop(
                f"coco:{self._file}:{bad.place}", "ingest", reason.get(bad.reason, "bad_row"),
                f"{bad.reason}: {bad.detail}",
            )  # fmt: skip

    def _sample(self, photo: coco.Photo, place: str) -> Sample:
        told = any(item.get("level") == "healthy" for item in photo.items)
        seen = detections.Seen(
            width=photo.width, height=photo.height, marks=tuple(self._marks.get(photo.id, ())),
            healthy=told or self._settings.empty == "healthy",
        )  # fmt: skip
        licence = photo.licence or self._settings.licence
        return detections.sample(f"coco:{place}", place, seen, licence, self._split)

    def _drop(self, name: coco.Id, reason: str, detail: str) -> Drop:
        return detections.drop(f"coco:{self._file}#{name}", "ingest", reason, detail)


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return Coco(detections.settings_of(options, Settings))


SOURCE: Source = Coco(Settings())
