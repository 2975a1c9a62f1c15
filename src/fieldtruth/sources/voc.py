"""Any Pascal VOC set: one XML file a photo.

PATH holds the XML files in `Annotations/`, `annotations/`, beside the photos, or where `files=`
says; photos lie in `JPEGImages/`, `images/`, beside their file, or where `photos=` says. Boxes are
taken to be counted from 1 unless `base=0` says otherwise (`fieldtruth.formats.voc`). What names
mean: `fieldtruth.detections.Settings`. A photo one of whose boxes is broken is dropped whole. A
sample's id is its photo's path; photos without a file are listed as drops.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Literal

from fieldtruth import detections, images, store
from fieldtruth.faults import BadRecord, Refused, Unreadable, Usage
from fieldtruth.formats import voc
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.sources.contract import Source

FOLDERS = ("JPEGImages", "images", "")
PHOTOS = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff")


class Settings(detections.Settings, frozen=True, kw_only=True):
    """`--source-args` of this source, beside those of every detection set."""

    files: str = ""  # the folder of the XML files, relative to PATH; all below PATH if not given
    photos: str = ""  # the folder of the photos, relative to PATH
    base: Literal["1", "0"] = "1"


class Voc:
    """VOC states no licence for its photos; the settings may."""

    paper = "none: the set's own; the format is that of Everingham et al. 2010, IJCV 88:303-338"
    reasons = (*detections.REASONS, "bad_file", "no_file")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence
        self.exhaustive = settings.exhaustive == "yes"

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The XML files by their path, then the photos that no file is about.

        Raises `Usage` where there is no XML file.
        """
        names = detections.Names(root, self._settings)
        read = {file: self._read(root, file) for file in self._files(root)}
        places = {
            file: self._place(root, file, each)
            for file, each in read.items()
            if isinstance(each, voc.Voc)
        }
        often = Counter(place for place in places.values() if isinstance(place, str))
        for file, each in read.items():
            if isinstance(each, BadRecord):
                yield _drop(file, "bad_file", str(each))
            else:
                yield self._row(file, each, places[file], names, often)
        for place in sorted(_photos(root) - set(often)):
            yield _drop(place, "no_file", "a photo that no XML file is about")

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """What the objects' names say."""
        return detections.label(sample, self._settings)

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:
        """The boxes of that name."""
        return detections.annotate(sample, target, root, self._settings)

    def _files(self, root: Path) -> list[str]:
        top = store.inside(root, self._settings.files) if self._settings.files else root
        found = sorted(path.relative_to(root).as_posix() for path in top.rglob("*.xml"))
        if not found:
            raise Usage(
                f"{top}: expected Pascal VOC files (*.xml), got none; name their folder with "
                "--source-args files=FOLDER"
            )
        return found

    def _read(self, root: Path, file: str) -> voc.Voc | BadRecord:
        try:
            return voc.read(store.inside(root, file), 1 if self._settings.base == "1" else 0)
        except BadRecord as fault:
            return fault
        except Refused as fault:  # a link out of the release
            return BadRecord(str(fault))

    def _place(self, root: Path, file: str, each: voc.Voc) -> str | Refused | Unreadable:
        """Where its photo lies, or why it cannot be had.

        Many files name a photo that is not there, or none: then the photo that is called as the
        file is counts, as it does by tradition.
        """
        beside = PurePosixPath(file).parent
        folders = [str(beside), *(str(beside.parent / each) for each in FOLDERS), *FOLDERS]
        if each.folder and not store.unsafe(each.folder):  # seldom right, so only tried first
            folders.insert(0, each.folder)
        if self._settings.photos:
            folders = [self._settings.photos]
        fault = images.missing(root / PurePosixPath(file).with_suffix(".jpg"))
        try:
            if each.filename:
                return detections.find(root, each.filename, folders)
        except Refused as refusal:
            return refusal
        except Unreadable as error:
            fault = error
        for suffix in (*PHOTOS, *(suffix.upper() for suffix in PHOTOS)):
            with suppress(Unreadable):
                return detections.find(root, PurePosixPath(file).stem + suffix, folders)
        return fault

    def _row(
        self,
        file: str,
        each: voc.Voc,
        place: str | Refused | Unreadable,
        names: detections.Names,
        often: Mapping[str, int],
    ) -> Sample | Drop:
        if isinstance(place, Refused):
            return _drop(file, "unsafe_path", str(place))
        if isinstance(place, Unreadable):
            return _drop(file, "no_photo", str(place))
        if often[place] > 1:
            return _drop(file, "listed_twice", f"{place}: {often[place]} times")
        if each.bad:
            return _drop(file, "bad_row", "; ".join(f"{b.place}: {b.detail}" for b in each.bad))
        marks = tuple(
            detections.Marked(name=one.name, named=names.of(one.name), box=one.box)
            for one in each.objects
        )
        seen = detections.Seen(
            width=each.width, height=each.height, marks=marks,
            healthy=self._settings.empty == "healthy",
        )  # fmt: skip
        split = detections.split_of(place) or detections.split_of(file)
        return detections.sample(f"voc:{place}", place, seen, self._settings.licence, split)


def _photos(root: Path) -> set[str]:
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.suffix.lower() in PHOTOS
    }


def _drop(place: str, reason: str, detail: str) -> Drop:
    name = "voc:" + place.encode("utf-8", "backslashreplace").decode()
    return detections.drop(name, "ingest", reason, detail)


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return Voc(detections.settings_of(options, Settings))


SOURCE: Source = Voc(Settings())
