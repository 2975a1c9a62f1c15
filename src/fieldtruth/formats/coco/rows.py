"""The rows of a COCO file: read with every fault named, written so that they read back the same."""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from fieldtruth import store
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Box, Record

SLACK = 1.0  # pixels that a box may stick out by

Id = int | str
Reason = Literal[
    "malformed",
    "duplicate_image_id",
    "duplicate_annotation_id",
    "duplicate_category_id",
    "unknown_image",
    "unknown_category",
    "bad_box",
]


class Photo(Record, frozen=True, kw_only=True):
    """One image. `width` and `height` are None where the file does not say, or says 0.

    `items` are what is under `fieldtruth`: an item's fields, unchecked (`to_items` checks them).
    """

    id: Id
    file_name: str
    width: int | None = None
    height: int | None = None
    licence: str | None = None
    items: tuple[dict[str, Any], ...] = ()


class Category(Record, frozen=True, kw_only=True):
    """One name that boxes can have."""

    id: Id
    name: str
    supercategory: str | None = None


class Region(Record, frozen=True, kw_only=True):
    """One box, (x1, y1, x2, y2), within its photo. A crowd is one box around many things."""

    id: Id | None = None
    photo: Id
    category: Id
    box: Box
    crowd: bool = False
    item: str | None = None


class Bad(Record, frozen=True, kw_only=True):
    """A row that cannot be used: where (`annotations[3]`), why, and of which image if known."""

    place: str
    reason: Reason
    detail: str
    photo: Id | None = None


class Coco(Record, frozen=True, kw_only=True):
    """A COCO file: what can be used, and what cannot."""

    photos: tuple[Photo, ...]
    categories: tuple[Category, ...]
    regions: tuple[Region, ...]
    bad: tuple[Bad, ...] = ()


class _Extra(msgspec.Struct, kw_only=True):
    items: tuple[dict[str, Any], ...] = ()
    item: str | None = None
    corners: Box | None = None


class _Image(msgspec.Struct, kw_only=True):
    id: Id
    file_name: str
    width: float | None = None
    height: float | None = None
    license: Id | None = None
    fieldtruth: _Extra | None = None


class _Annotation(msgspec.Struct, kw_only=True):
    id: Id | None = None
    image_id: Id
    category_id: Id
    bbox: tuple[float, float, float, float]
    iscrowd: int | bool | None = 0
    fieldtruth: _Extra | None = None


class _Licence(msgspec.Struct, kw_only=True):
    id: Id
    name: str = ""
    url: str = ""


class _Name(msgspec.Struct, kw_only=True):
    id: Id
    name: str
    supercategory: str | None = None


class _File(msgspec.Struct, kw_only=True):
    images: list[msgspec.Raw]
    annotations: list[msgspec.Raw] = []
    categories: list[msgspec.Raw] = []
    licenses: list[msgspec.Raw] | None = None


R = TypeVar("R")


# --- reading -----------------------------------------------------------------------------------


def read(path: Path) -> Coco:
    """The file's rows, in file order. Raises `BadRecord` where it is no COCO file at all."""
    with store.open_existing(path) as file:
        raw = file.read().removeprefix(b"\xef\xbb\xbf")
    try:
        whole = msgspec.json.decode(raw, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRecord(
            f"{path}: expected a COCO file, an object with images, categories and annotations, "
            f"got: {error}; write it again, without NaN"
        ) from None
    bad: list[Bad] = []
    licences = {
        row.id: row.name or row.url for _, row in _rows(whole.licenses, "licenses", _Licence, bad)
    }
    photos = _photos(whole, licences, bad)
    categories = _categories(whole, bad)
    regions = _regions(whole, photos, categories, bad)
    return Coco(
        photos=tuple(photos.values()),
        categories=tuple(categories.values()),
        regions=tuple(regions),
        bad=tuple(bad),
    )


def _rows(
    raw: list[msgspec.Raw] | None, name: str, kind: type[R], bad: list[Bad]
) -> Iterable[tuple[str, R]]:
    """The rows that have the right shape, with their places; the others become bad."""
    for number, each in enumerate(raw or ()):
        place = f"{name}[{number}]"
        try:
            yield place, msgspec.json.decode(each, type=kind)
        except (msgspec.DecodeError, RecursionError) as error:
            photo = _image_of(each) if name == "annotations" else None
            bad.append(Bad(place=place, reason="malformed", detail=str(error), photo=photo))


def _image_of(raw: msgspec.Raw) -> Id | None:
    """The image that a malformed annotation belongs to, where that can still be told."""

    class Belongs(msgspec.Struct):
        image_id: Id

    try:
        return msgspec.json.decode(raw, type=Belongs).image_id
    except (msgspec.DecodeError, RecursionError):
        return None


def _photos(whole: _File, licences: Mapping[Id, str], bad: list[Bad]) -> dict[Id, Photo]:
    rows = list(_rows(whole.images, "images", _Image, bad))
    often = Counter(row.id for _, row in rows)
    photos: dict[Id, Photo] = {}
    for place, row in rows:
        if often[row.id] > 1:
            detail = f"image id {row.id!r} stands {often[row.id]} times ({row.file_name!r})"
            bad.append(Bad(place=place, reason="duplicate_image_id", detail=detail, photo=row.id))
            continue
        photos[row.id] = Photo(
            id=row.id,
            file_name=row.file_name,
            width=_side(row.width),
            height=_side(row.height),
            licence=licences.get(row.license) or None if row.license is not None else None,
            items=row.fieldtruth.items if row.fieldtruth else (),
        )
    return photos


def _side(said: float | None) -> int | None:
    return int(said) if said and said > 0 and said == int(said) else None


def _categories(whole: _File, bad: list[Bad]) -> dict[Id, Category]:
    rows = list(_rows(whole.categories, "categories", _Name, bad))
    often = Counter(row.id for _, row in rows)
    categories: dict[Id, Category] = {}
    for place, row in rows:
        if often[row.id] > 1:
            detail = f"category id {row.id!r} stands {often[row.id]} times ({row.name!r})"
            bad.append(Bad(place=place, reason="duplicate_category_id", detail=detail))
        else:
            categories[row.id] = Category(id=row.id, name=row.name, supercategory=row.supercategory)
    return categories


def _regions(
    whole: _File, photos: Mapping[Id, Photo], categories: Mapping[Id, Category], bad: list[Bad]
) -> Iterable[Region]:
    rows = list(_rows(whole.annotations, "annotations", _Annotation, bad))
    often = Counter(row.id for _, row in rows)
    for place, row in rows:
        box = _box(row, photos.get(row.image_id))
        wrong: tuple[Reason, str] | None = None
        if row.image_id not in photos:
            wrong = "unknown_image", f"image_id {row.image_id!r} is no image's, or of several"
        elif row.category_id not in categories:
            known = len(categories)
            wrong = "unknown_category", f"category_id {row.category_id!r}; there are {known}"
        elif row.id is not None and often[row.id] > 1:
            wrong = "duplicate_annotation_id", f"annotation id {row.id!r} stands several times"
        elif box is None:
            wrong = "bad_box", f"bbox {list(row.bbox)}"
        if wrong is None and box is not None:
            yield Region(
                id=row.id, photo=row.image_id, category=row.category_id, box=box,
                crowd=bool(row.iscrowd), item=row.fieldtruth.item if row.fieldtruth else None,
            )  # fmt: skip
        elif wrong is not None:
            bad.append(Bad(place=place, reason=wrong[0], detail=wrong[1], photo=row.image_id))


def _box(row: _Annotation, photo: Photo | None) -> Box | None:
    """The corners, cut to the photo; None without an area or where more than SLACK sticks out."""
    x, y, width, height = row.bbox
    corners = (x, y, x + width, y + height)
    kept = row.fieldtruth.corners if row.fieldtruth else None
    if kept and (kept[0], kept[1], kept[2] - kept[0], kept[3] - kept[1]) == row.bbox:
        corners = kept  # else someone has moved the box since
    right = photo.width if photo and photo.width else float("inf")
    bottom = photo.height if photo and photo.height else float("inf")
    x1, y1, x2, y2 = corners
    if not all(map(isfinite, corners)) or min(x1, y1) < -SLACK:
        return None
    if x2 > right + SLACK or y2 > bottom + SLACK:
        return None
    cut = (max(x1, 0.0), max(y1, 0.0), min(x2, right), min(y2, bottom))
    return cut if cut[0] < cut[2] and cut[1] < cut[3] else None


# --- writing -----------------------------------------------------------------------------------


def write(path: Path, coco: Coco) -> None:
    """Write a COCO file that `read` gives back as it was; whole or not at all.

    Raises `Usage` for rows that are bad: they are not written, and not left out unsaid.
    """
    if coco.bad:
        raise Usage(f"{path}: expected rows that can be written, got {coco.bad[0]}")
    licences = sorted({photo.licence for photo in coco.photos if photo.licence})
    number = {name: at for at, name in enumerate(licences, start=1)}
    whole = {
        "licenses": [{"id": at, "name": name, "url": ""} for name, at in number.items()],
        "images": [_image_row(photo, number) for photo in coco.photos],
        "categories": [
            {"id": each.id, "name": each.name}
            | ({} if each.supercategory is None else {"supercategory": each.supercategory})
            for each in coco.categories
        ],
        "annotations": [_annotation_row(region) for region in coco.regions],
    }
    with store.replacing(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n")


def _image_row(photo: Photo, licences: Mapping[str, int]) -> dict[str, Any]:
    row: dict[str, Any] = {"id": photo.id, "file_name": photo.file_name}
    sides = {"width": photo.width, "height": photo.height}
    row |= {name: side for name, side in sides.items() if side is not None}
    if photo.licence:
        row["license"] = licences[photo.licence]
    if photo.items:
        row["fieldtruth"] = {"items": photo.items}
    return row


def _annotation_row(region: Region) -> dict[str, Any]:
    x1, y1, x2, y2 = region.box
    width, height = x2 - x1, y2 - y1
    row: dict[str, Any] = {} if region.id is None else {"id": region.id}
    row |= {
        "image_id": region.photo,
        "category_id": region.category,
        "bbox": [x1, y1, width, height],
        "area": width * height,
        "iscrowd": int(region.crowd),
    }
    extra: dict[str, Any] = {} if region.item is None else {"item": region.item}
    if (x1 + width, y1 + height) != (x2, y2):
        extra["corners"] = region.box
    return row | ({"fieldtruth": extra} if extra else {})
