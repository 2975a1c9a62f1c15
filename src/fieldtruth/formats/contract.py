"""What a format is that a frozen benchmark can be exported to.

Its file ends in `EXPORT: Exporter = ...`; the file's name is what `fieldtruth export` calls it.
"""

import shutil
from pathlib import Path
from typing import Protocol

from fieldtruth.records import Record
from fieldtruth.store import Bench


class Exported(Record, frozen=True, kw_only=True):
    """What was written. `absent` counts photos that are null there: kept only as references."""

    rows: int
    photos: int
    absent: int


class Exporter(Protocol):
    """Writes a benchmark into an empty folder. A pure function of the two: no dates."""

    def __call__(self, bench: Bench, folder: Path, *, fetched: bool) -> Exported:
        """`fetched`: also hand on photos that are only referenced, where they were fetched."""
        ...


def copy_photos(bench: Bench, folder: Path, *, fetched: bool) -> tuple[int, int]:
    """Copy the items' photos to their own paths below `folder`: (copied, left out).

    Photos that are only referenced are left out unless `fetched`, and then only where they are
    not there.
    """
    images = sorted({item.image for item in bench.items})
    copied = 0
    for image in images:
        path = bench.photo(image)
        if image in bench.manifest.references and not (fetched and path.exists()):
            continue
        (folder / image).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / image)
        copied += 1
    return copied, len(images) - copied
