"""The sets an audit compares: folders of photos, files of items, frozen benchmarks.

Every file counts, whatever it turns out to be: in a folder all that have a photo's ending or
begin as photos do, in a file of items all that a line names.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Item, Question, Record

# Of files that are meant to be photos, also those of kinds that are never opened here: they are
# unreadable, and that has to be said.
SUFFIXES = frozenset((
    ".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".png", ".webp", ".tif", ".tiff", ".bmp", ".gif",
    ".ppm", ".pgm", ".pbm", ".heic", ".heif", ".avif", ".jp2", ".jxl", ".dng", ".cr2", ".nef",
    ".arw",
))  # fmt: skip
_BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG", b"RIFF", b"II*\0", b"MM\0*", b"BM", b"GIF8")
_SPLITS = {
    "train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val",
    "test": "test", "testing": "test",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One photo of one set: its name (path or item id), as written, and where it lies."""

    set: str
    path: str
    image: str
    file: Path
    labelled: bool = False
    label: str | None = None
    source: str = ""
    split: str = ""


class _Line(Record, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """What an audit reads of a line: of items, questions, samples, whatever else they hold."""

    id: str
    image: str | None = None
    images: tuple[str, ...] = ()
    label: str | None = None
    level: str | None = None
    source: str | None = None
    split: str | None = None


def read_set(name: str, images: Path | None) -> list[Entry]:
    """Every photo of the set at the path `name`, in order.

    Paths in a file of items are relative to `images`, or to the file's folder where it is None.
    `Usage` where there is no such set or no photo in it; `Refused` for a benchmark that does not
    verify and for a path that leaves its folder; `BadRecord` with the line.
    """
    path = Path(name)
    if path.is_file():
        found = list(_of_lines(name, path, path.parent if images is None else images))
    elif (path / store.MANIFEST).is_file() and _holds_records(path):
        found = list(_of_bench(name, path))
    elif path.is_dir():
        found = list(_of_folder(name, path))
    else:
        raise Usage(
            f"{path}: expected a folder of photos, a file of items or a frozen benchmark, got "
            "nothing there; check the path"
        )
    if not found:
        raise Usage(f"{path}: expected photos to audit, got none; check the path")
    return sorted(found, key=lambda each: (each.path, each.image))


def _holds_records(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (store.ITEMS, store.QUESTIONS))


def _of_folder(name: str, root: Path) -> Iterator[Entry]:
    for folder, below, files in os.walk(root, onerror=_stop):
        below.sort()
        for each in files:
            file = Path(folder, each)
            if _is_meant_as_photo(file):
                place = file.relative_to(root).as_posix()
                splits = [_SPLITS[one] for one in place.lower().split("/")[:-1] if one in _SPLITS]
                split = splits[-1] if splits else ""
                yield Entry(set=name, path=place, image=place, file=file, split=split)


def _stop(error: OSError) -> None:
    raise Usage(f"{error.filename}: expected a folder that can be read, got: {error}") from error


def _is_meant_as_photo(file: Path) -> bool:
    if file.name.startswith("._"):  # what macOS leaves beside each file on other disks
        return False
    if file.suffix.lower() in SUFFIXES:
        return True
    try:
        if not file.is_file():
            return False
        with file.open("rb") as stream:
            return stream.read(8).startswith(_BEGINNINGS)
    except OSError:
        return False


def _of_lines(name: str, path: Path, root: Path) -> Iterator[Entry]:
    for number, line in enumerate(store.read(path, _Line), start=1):
        where = f"{path}:{number} (id {line.id!r})"
        for image in (line.image,) if line.image is not None else line.images:
            yield Entry(
                set=name,
                path=line.id,
                image=image,
                file=store.inside(root, image, where),
                labelled=line.label is not None or line.level == "healthy",
                label=None if line.level == "healthy" else line.label,
                source=line.source or "",
                split=line.split or "",
            )


def _of_bench(name: str, folder: Path) -> Iterator[Entry]:
    bench = store.open_bench(folder)
    records: tuple[Item | Question, ...] = (*bench.items, *bench.questions)
    for each in records:
        for image in (each.image,) if isinstance(each, Item) else each.images:
            yield Entry(
                set=name,
                path=each.id,
                image=image,
                file=bench.photo(image),
                labelled=isinstance(each, Item),
                label=each.label if isinstance(each, Item) else None,
                source=each.source,
                split=bench.manifest.split,
            )
