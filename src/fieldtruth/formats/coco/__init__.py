"""COCO detection: one JSON file of images, categories and boxes; and benchmarks written as one.

    {"images":      [{"id", "file_name", "width", "height", "license"}],
     "categories":  [{"id", "name", "supercategory"}],
     "annotations": [{"id", "image_id", "category_id", "bbox": [x, y, w, h], "area", "iscrowd"}],
     "licenses":    [{"id", "name", "url"}]}

`bbox` is in pixels from the top left corner, counted from 0. Ids are kept as they are, 0, sparse
ones and texts included; an image without annotations is kept. `iscrowd`, `area`, `segmentation`,
sizes and licences may be absent. A box may stick out by a pixel, as rounding makes it, and is
cut; a row that cannot be used is `Bad` with its place and never lost (peers.md, section 4.8).

What an `Item` holds and COCO does not lies under the key `fieldtruth`, which other readers pass
over: in an image `{"items": [...]}`, each an item without its boxes, photo and size; in an
annotation `{"item": ID}`, and `"corners": [x1, y1, x2, y2]` where x + w is not x2 to the last bit.
So an item is the same after the way there and back. A healthy photo is an image without
annotations whose item says healthy. Categories are (kind, label) in order, from 1; the
supercategory is the kind.
"""

from pathlib import Path

from fieldtruth.faults import Usage
from fieldtruth.formats.coco.items import from_items, to_items
from fieldtruth.formats.coco.rows import (
    Bad,
    Category,
    Coco,
    Id,
    Photo,
    Region,
    read,
    write,
)
from fieldtruth.formats.contract import Exported, Exporter, copy_photos
from fieldtruth.store import Bench

__all__ = [
    "EXPORT",
    "FILE",
    "Bad",
    "Category",
    "Coco",
    "Id",
    "Photo",
    "Region",
    "export",
    "from_items",
    "read",
    "to_items",
    "write",
]

FILE = "annotations.json"


def export(bench: Bench, folder: Path, *, fetched: bool) -> Exported:
    """Write `annotations.json` and the photos it names into `folder`; questions have no boxes."""
    if not bench.items:
        raise Usage(f"{bench.folder}: expected items with boxes, got questions; export parquet")
    write(folder / FILE, from_items(bench.items))
    photos, absent = copy_photos(bench, folder, fetched=fetched)
    return Exported(rows=len(bench.items), photos=photos, absent=absent)


EXPORT: Exporter = export
