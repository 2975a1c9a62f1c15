"""YOLO detection, as Ultralytics publishes it: a text file of boxes beside each photo.

    data.yaml            path, train, val, test, names: {0: "early blight", ...}
    images/HASH.jpg      the photos, under their own safe names
    labels/HASH.txt      CLASS CX CY W H a line, as shares of the photo's width and height

Classes are labels in alphabetical order, from 0, one for all spellings of a label. A healthy photo
has an empty file: it is a background, not a photo that nobody looked at. What YOLO cannot hold is
lost: kind, crop, level,
group, hash, licence, queries and candidates; for all of it, export COCO. `train` and `val` have to
be named in `data.yaml`; those that are not in this export are null, to be filled in from another.
"""

import json
from pathlib import Path, PurePosixPath

from fieldtruth.faults import Refused, Usage
from fieldtruth.formats.contract import Classes, Exported, Exporter, copy_photos
from fieldtruth.formats.markdown import legible
from fieldtruth.records import Box, Item
from fieldtruth.store import Bench

FILE = "data.yaml"


def line(label: int, box: Box, width: int, height: int) -> str:
    """One box: class, centre and size as shares, to a hundred-millionth.

    >>> line(2, (10, 8, 20, 16), 32, 24)
    '2 0.46875000 0.50000000 0.31250000 0.33333333'
    """
    x1, y1, x2, y2 = box
    shares = (
        (x1 + x2) / 2 / width,
        (y1 + y2) / 2 / height,
        (x2 - x1) / width,
        (y2 - y1) / height,
    )
    return " ".join([str(label), *(f"{share:.8f}" for share in shares)])


def write(bench: Bench, folder: Path, *, fetched: bool) -> Exported:
    """Write data.yaml, labels and photos into `folder`; questions have no boxes."""
    if not bench.items:
        raise Usage(f"{bench.folder}: expected items with boxes, got questions; export parquet")
    classes = Classes(bench.items)
    number = {name: at for at, name in enumerate(classes.names)}
    (folder / "labels").mkdir()
    (folder / "images").mkdir()
    for image, items in _by_photo(bench.items).items():
        lines = [
            line(number[classes.of(item)], box, item.width, item.height)
            for item in items
            for box in item.boxes
        ]
        text = "".join(f"{each}\n" for each in dict.fromkeys(lines))
        _labels(folder, image).write_text(text, encoding="utf-8")
    splits = [f"{each}: {'images' if each == bench.manifest.split else 'null'}" for each in _SPLITS]
    names = [
        f"  {at}: {json.dumps(legible(name), ensure_ascii=False)}" for name, at in number.items()
    ]
    whole = ["path: .", *splits, "names:" if names else "names: {}", *names, ""]
    (folder / FILE).write_text("\n".join(whole), encoding="utf-8")
    photos, absent = copy_photos(bench, folder, fetched=fetched)
    return Exported(rows=len(bench.items), photos=photos, absent=absent)


EXPORT: Exporter = write
_SPLITS = ("train", "val", "test")


def _by_photo(items: tuple[Item, ...]) -> dict[str, list[Item]]:
    """The items of each photo, in order of the photo's path and their id."""
    found: dict[str, list[Item]] = {}
    for item in sorted(items, key=lambda item: (item.image, item.id)):
        found.setdefault(item.image, []).append(item)
    return found


def _labels(folder: Path, image: str) -> Path:
    """Where YOLO looks for the labels of a photo: `labels` for `images`, `.txt` for its ending."""
    within = PurePosixPath(image).relative_to("images") if image.startswith("images/") else None
    path = folder / "labels" / (within or PurePosixPath(image)).with_suffix(".txt")
    if within is None or path.exists():
        raise Refused(
            f"{image}: expected photos below images/ that differ in more than their ending, got "
            "one that YOLO would take for another; freeze the set again"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
