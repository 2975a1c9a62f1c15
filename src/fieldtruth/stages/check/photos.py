"""The photos that rows name: there, readable, of a size a model takes, and of no test split.

Each file is looked at once however many rows show it, and only its header is read: what is cut
off further on is found by `audit`. A photo under 28 pixels is less than a patch of Qwen2.5-VL,
and one more than 200 times as long as wide is refused by its processor (`images`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fieldtruth import images, store
from fieldtruth.faults import Refused, Unreadable
from fieldtruth.formats.chat import shown
from fieldtruth.stages.check.problems import Found

_REMOTE = ("http://", "https://", "data:", "s3://", "oss://", "hdfs://", "gs://")
_LOCAL = "file://"
_OF_CONTENT = re.compile(r"(?:pillow[0-9.]+:|unverified-)?[0-9a-f]{32,64}")
_GONE = ("missing", "other_form", "other_case")


@dataclass(frozen=True, slots=True)
class Look:
    """What one file is: its upright (width, height), or nothing, and what is wrong with it."""

    size: tuple[int, int] | None
    found: tuple[Found, ...]


class Photos:
    """Looks at photos and remembers them."""

    def __init__(self, tests: "Tests") -> None:
        self._tests = tests
        self._looks: dict[tuple[Path, str], Look] = {}

    def look(self, root: Path, image: str, *, anywhere: bool = False) -> Look:
        """The photo at a path relative to `root`; `anywhere`: an absolute one may be given."""
        key = (root, image)
        if key not in self._looks:
            self._looks[key] = self._first_look(root, image, anywhere=anywhere)
        return self._looks[key]

    def _first_look(self, root: Path, image: str, *, anywhere: bool) -> Look:
        if image.lower().startswith(_REMOTE):
            return _wrong(
                "image_missing", f"{shown(image)}: not a file here, and nothing is fetched"
            )
        name = image.removeprefix(_LOCAL)
        try:
            absolute = anywhere and name.startswith("/") and "\0" not in name
            path = Path(name) if absolute else store.inside(root, name)
            width, height = images.size(path)
        except Refused as fault:
            return _wrong("image_unsafe", str(fault))
        except Unreadable as fault:
            code = "image_missing" if fault.outcome in _GONE else "image_unreadable"
            return _wrong(code, str(fault))
        found = (*_shape(image, width, height), *self._tests.of_file(path))
        return Look((width, height), found)


def _wrong(code: str, detail: str) -> Look:
    return Look(None, (Found(code, detail),))


def _shape(image: str, width: int, height: int) -> Iterator[Found]:
    short, long = sorted((width, height))
    said = f"{shown(image)}: {width} x {height} pixels"
    if short < images.PATCH:
        yield Found("image_too_small", f"{said}, expected {images.PATCH} or more on each side")
    if long > images.MOST_STRETCH * short:
        yield Found("image_too_thin", f"{said}, expected at most {images.MOST_STRETCH} to 1")


def _home(source: str, group: str) -> tuple[str, str]:
    """What a group is known by: its name alone where `split` or `freeze` made it of contents."""
    return ("" if _OF_CONTENT.fullmatch(group) else source), group


@dataclass(frozen=True, slots=True)
class Tests:
    """Frozen benchmarks whose photos may not be trained on."""

    photos: dict[str, str] = field(default_factory=dict)  # SHA-256 -> which benchmark
    groups: dict[tuple[str, str], str] = field(default_factory=dict)  # `_home` -> which
    sizes: set[int] = field(default_factory=set)  # of the photos' files, in bytes
    unseen: bool = False  # some of them are kept by reference and not here

    def of_file(self, path: Path) -> Iterator[Found]:
        """`test_image` where the file's bytes are a photo of a benchmark.

        Only what has the length of one of its photos is read; all is, where some are not here.
        """
        if self.photos and (self.unseen or path.stat().st_size in self.sizes):
            yield from self.of_hash(store.sha256(path))

    def of_hash(self, identity: str) -> Iterator[Found]:
        """`test_image` where a benchmark has a photo of this SHA-256."""
        if identity in self.photos:
            yield Found("test_image", f"a photo of {self.photos[identity]}")

    def of_group(self, source: str, group: str) -> Iterator[Found]:
        """`test_image` where a benchmark has photos of this group of this source.

        Of any source, where the group is called by its contents. A mixture puts the source's name
        before a release's own group, a benchmark does not.
        """
        names = dict.fromkeys((group, group.removeprefix(f"{source}:")))
        for key in (_home(source, name) for name in names):
            if key in self.groups:
                yield Found(
                    "test_image", f"the group {shown(group)} has photos in {self.groups[key]}"
                )
                return


def open_tests(folders: Sequence[Path]) -> Tests:
    """The photos and groups of frozen benchmarks; `Refused` for one that does not verify."""
    made, unseen = Tests(), False
    for folder in folders:
        bench = store.open_bench(folder)
        of_items = [(each.image, each.source, each.group) for each in bench.items]
        of_questions = [
            (image, each.source, each.group) for each in bench.questions for image in each.images
        ]
        for image, source, group in (*of_items, *of_questions):
            made.photos.setdefault(bench.manifest.hash_of(image) or "", str(folder))
            made.groups.setdefault(_home(source, group), str(folder))
            photo = bench.photo(image)
            unseen = unseen or not photo.exists()
            if photo.exists():
                made.sizes.add(photo.stat().st_size)
    return Tests(made.photos, made.groups, made.sizes, unseen)
