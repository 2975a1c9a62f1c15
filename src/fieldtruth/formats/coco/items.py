"""Items as COCO rows, and back."""

from collections.abc import Iterable
from typing import Any

import msgspec

from fieldtruth.faults import BadRecord
from fieldtruth.formats.coco.rows import Category, Coco, Photo, Region
from fieldtruth.formats.contract import Classes
from fieldtruth.records import Box, Item

_ELSEWHERE = ("image", "width", "height", "boxes")  # COCO has a place of its own for them


def from_items(items: Iterable[Item]) -> Coco:
    """Items as COCO rows: one image a photo, whatever number of items it has; ids from 1."""
    ordered = sorted(items, key=lambda item: (item.image, item.id))
    classes = Classes(ordered)
    names = sorted({(item.kind or "", classes.of(item)) for item in ordered if item.label})
    category = {name: at for at, name in enumerate(names, start=1)}
    photos: dict[str, Photo] = {}
    regions: list[Region] = []
    for item in ordered:
        photo = photos.get(item.image)
        if photo is None:
            photo = Photo(
                id=len(photos) + 1, file_name=item.image, width=item.width, height=item.height,
                licence=item.licence,
            )  # fmt: skip
        fields: dict[str, Any] = msgspec.to_builtins(item)
        mine = (*photo.items, {name: fields[name] for name in fields if name not in _ELSEWHERE})
        photos[item.image] = msgspec.structs.replace(photo, items=mine)
        for box in item.boxes:
            of = category[item.kind or "", classes.of(item)]
            at = len(regions) + 1
            regions.append(Region(id=at, photo=photo.id, category=of, box=box, item=item.id))
    categories = [
        Category(id=at, name=label, supercategory=kind or None)
        for (kind, label), at in category.items()
    ]
    return Coco(photos=tuple(photos.values()), categories=tuple(categories), regions=tuple(regions))


def to_items(coco: Coco, where: str) -> list[Item]:
    """The items that `from_items` was given, in order of photo and id.

    `where` names the file in messages. Raises `BadRecord` for a file with bad rows, or one that
    does not say what its items are: `ingest coco` reads those.
    """
    if coco.bad:
        raise BadRecord(f"{where}: {coco.bad[0].place}: {coco.bad[0].reason}: {coco.bad[0].detail}")
    boxes: dict[str | None, list[Box]] = {}
    for region in coco.regions:
        boxes.setdefault(region.item, []).append(region.box)
    items: list[Item] = []
    for photo in coco.photos:
        if not photo.items or photo.width is None or photo.height is None:
            raise BadRecord(
                f"{where}: image {photo.id!r}: expected its size and, under `fieldtruth`, its "
                "items, got none; a COCO file of another tool is read by `ingest coco`"
            )
        for each in photo.items:
            mine = boxes.pop(str(each.get("id")), [])
            size = {"width": photo.width, "height": photo.height}
            fields = {**each, **size, "image": photo.file_name, "boxes": mine}
            try:
                items.append(msgspec.convert(fields, Item))
            except msgspec.ValidationError as error:
                name = each.get("id")
                raise BadRecord(f"{where}: image {photo.id!r}, item {name!r}: {error}") from None
    if boxes:
        raise BadRecord(f"{where}: annotations of no item in the file: {sorted(map(str, boxes))}")
    return items
