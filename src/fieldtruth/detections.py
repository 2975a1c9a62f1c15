"""Photos with named boxes, whatever file they came in: what detection sets have in common.

A detection set names its boxes in its own words. `Settings` say what those are to us: which name
is which label, of what kind and on which crop; whether a photo without boxes is a healthy one
(only when told: often it is one that nobody has looked at); whether a photo's boxes are all that
is on it. Without a table of names a name is its own label, and one with the word `healthy` in it
is healthy.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar, get_args

import msgspec

from fieldtruth import images, store
from fieldtruth.faults import BadRecord, Unreadable, Usage
from fieldtruth.geometry import areas, as_boxes
from fieldtruth.records import (
    Annotation,
    AskLevel,
    Box,
    Drop,
    Healthy,
    Kind,
    Record,
    Sample,
    Target,
)
from fieldtruth.taxonomy import crop_id, label_id, normalise
from fieldtruth.taxonomy.lexicon import words_in

REASONS = (
    "no_photo",
    "unsafe_path",
    "listed_twice",
    "bad_row",
    "photo_unreadable",
    "name_not_in_table",
    "no_boxes_and_not_told_healthy",
    "names_no_target",
    "crowd",
    "size_differs",
    "size_swapped",
    "box_outside",
)
SPLITS = {
    "train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val",
    "test": "test", "testing": "test",
}  # fmt: skip
COLUMNS = ["name", "label", "kind", "crop"]
SLACK = 1.0  # pixels that a box may stick out of its photo by; it is cut
# Whole things are boxed where these are named; elsewhere a box that covers over half of the photo
# is a whole leaf or plant (AgroGround's rule, reference section 14).
WHOLE: tuple[Kind, ...] = ("pest", "weed", "object")
HALF = 0.5


class Settings(Record, frozen=True, kw_only=True):
    """What a detection set does not say itself; each is a `--source-args` key.

    `names` is a CSV file in the release with the columns name, label, kind, crop: a label
    `healthy` is healthy, an empty one is passed over, an empty kind or crop is the one below.
    """

    names: str = ""
    kind: Kind = "disease"
    crop: str = ""
    supercategory: Literal["nothing", "kind", "crop"] = "nothing"
    empty: Literal["drop", "healthy"] = "drop"
    exhaustive: Literal["no", "yes"] = "no"
    level: Literal["auto", "lesion", "object"] = "auto"
    licence: str = "not stated"


S = TypeVar("S", bound=Record)


class Named(Record, frozen=True, kw_only=True):
    """What a name is to us. `what` is `unknown` when there is a table and it is not in it."""

    what: Literal["target", "healthy", "other", "unknown"]
    label: str = ""
    kind: Kind = "disease"
    crop: str | None = None


class Marked(Record, frozen=True, kw_only=True):
    """One box as the release has it, and what its name is to us."""

    name: str
    named: Named
    box: Box
    crowd: bool = False


class Seen(Record, frozen=True, kw_only=True):
    """One photo as the release has it; None is what it does not say."""

    width: int | None
    height: int | None
    marks: tuple[Marked, ...]
    healthy: bool  # told so, where there are no boxes


class Names:
    """From a set's own words to labels."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self._settings = settings
        self._table = _read_table(root, settings) if settings.names else None

    def of(self, name: str, supercategory: str | None = None) -> Named:
        """What a name is to us."""
        said = self._settings
        kind, crop = said.kind, said.crop or None
        if supercategory and said.supercategory == "kind" and supercategory in get_args(Kind):
            kind = msgspec.convert(supercategory, Kind)
        if supercategory and said.supercategory == "crop":
            crop = crop_id(supercategory)
        if self._table is not None:
            row = self._table.get(name)
            if row is None:
                return Named(what="unknown")
            return _named(row["label"], row["kind"] or kind, row["crop"] or crop)
        return _named(name, kind, crop)


def _named(label: str, kind: str, crop: str | None) -> Named:
    of = {"kind": msgspec.convert(kind, Kind), "crop": crop_id(crop) if crop else None}
    words = normalise(label).split()
    if not words:
        return msgspec.convert({"what": "other", **of}, Named)
    if "healthy" in words and "healthy" in words_in(" ".join(words)):  # and not "not healthy"
        return msgspec.convert({"what": "healthy", **of}, Named)
    return msgspec.convert({"what": "target", "label": label_id(label, crop), **of}, Named)


def _read_table(root: Path, settings: Settings) -> dict[str, dict[str, str]]:
    path = store.inside(root, settings.names)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if list(reader.fieldnames or ()) != COLUMNS:
                got = ",".join(reader.fieldnames or ())
                raise BadRecord(f"{path}:1: expected {','.join(COLUMNS)}, got {got!r}")
            table: dict[str, dict[str, str]] = {}
            for row in reader:
                where = f"{path}:{reader.line_num}"
                if set(row) != set(COLUMNS) or None in row.values():
                    raise BadRecord(f"{where}: expected {len(COLUMNS)} values, got {row}")
                if row["kind"] and row["kind"] not in get_args(Kind):
                    kinds = ", ".join(get_args(Kind))
                    raise BadRecord(f"{where}: expected a kind ({kinds}), got {row['kind']!r}")
                if table.setdefault(row["name"], row) is not row:
                    raise BadRecord(f"{where}: expected every name once, got {row['name']!r} again")
    except FileNotFoundError as fault:
        raise Usage(f"{path}: expected the table of names, got no such file") from fault
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise BadRecord(f"{path}: expected a CSV file in UTF-8, got: {fault}") from fault
    return table


def split_of(place: str) -> str | None:
    """The split that a path says in one of its folders' or files' words, if one.

    >>> split_of("valid/_annotations.coco.json"), split_of("annotations/instances_train2017.json")
    ('val', 'train')
    """
    words = normalise(place.replace(".", " ")).rstrip("0123456789").split()
    found = {SPLITS[key] for word in words if (key := word.rstrip("0123456789")) in SPLITS}
    return found.pop() if len(found) == 1 else None


def find(root: Path, name: str, folders: Sequence[str]) -> str:
    """The photo of that name in the first of the folders that has it, relative to `root`.

    Raises `Refused` for a name that leads out, `Unreadable` where no folder has it.
    """
    first: Unreadable | None = None
    for folder in dict.fromkeys(folders):
        place = f"{folder}/{name}" if folder not in ("", ".") else name
        path = store.inside(root, place)
        if path.is_file():
            return place
        if first is None:
            first = images.missing(path)
    raise first or images.missing(root / name)


def sample(name: str, place: str, seen: Seen, licence: str, split: str | None) -> Sample:
    """A photo with its boxes; the boxes travel in `native`, so that each stage can run alone."""
    native = {"seen": msgspec.json.encode(seen).decode()}
    return Sample(
        id=name, source=name.partition(":")[0], images=(place,), licence=licence,
        native=native | ({"split": split} if split else {}),
    )  # fmt: skip


def label(sample: Sample, settings: Settings) -> Iterator[Target | Healthy | Drop]:
    """One target for each label on the photo; healthy where that is all there is."""
    seen = _seen(sample)
    unknown = sorted({mark.name for mark in seen.marks if mark.named.what == "unknown"})
    if unknown:
        yield drop(sample.id, "label", "name_not_in_table", ", ".join(map(repr, unknown)))
        return
    targets = {
        mark.named.label: mark.named for mark in reversed(seen.marks) if mark.named.what == "target"
    }
    for name in sorted(targets):
        yield Target(
            id=f"{sample.id}:{name}", sample=sample.id, kind=targets[name].kind, label=name,
            crop=targets[name].crop,
        )  # fmt: skip
    if targets:
        return
    well = [mark.named for mark in seen.marks if mark.named.what == "healthy"]
    if well or (not seen.marks and seen.healthy):
        own = crop_id(settings.crop) if settings.crop else None
        crop = well[0].crop if well else own
        yield Healthy(id=f"{sample.id}:healthy", sample=sample.id, crop=crop)
    elif not seen.marks:
        said = "expected boxes, got none; --source-args empty=healthy takes such photos for healthy"
        yield drop(sample.id, "label", "no_boxes_and_not_told_healthy", said)
    else:
        said = ", ".join(sorted({mark.name for mark in seen.marks}))
        yield drop(sample.id, "label", "names_no_target", said)


def annotate(sample: Sample, target: Target, root: Path, settings: Settings) -> Annotation | Drop:
    """The target's boxes, once the photo is found to be the one they were drawn on."""
    seen = _seen(sample)
    mine = [mark for mark in seen.marks if mark.named.label == target.label]
    try:
        width, height = images.size(store.inside(root, sample.images[0]))
    except Unreadable as fault:
        return drop(target.id, "annotate", "photo_unreadable", str(fault), of=sample.id)
    said = (seen.width or width, seen.height or height)
    if said != (width, height):
        turned = said == (height, width)
        reason = "size_swapped" if turned else "size_differs"
        hint = "; the boxes were drawn on the photo before it was turned" if turned else ""
        detail = f"expected {said[0]}x{said[1]}, got {width}x{height}{hint}"
        return drop(target.id, "annotate", reason, detail, of=sample.id)
    if any(mark.crowd for mark in mine):
        detail = "a box around many things, which are not told apart"
        return drop(target.id, "annotate", "crowd", detail, of=sample.id)
    boxes = [_cut(mark.box, width, height) for mark in mine]
    if None in boxes:
        detail = f"on {width}x{height}: {mine[boxes.index(None)].box}"
        return drop(target.id, "annotate", "box_outside", detail, of=sample.id)
    kept = tuple(box for box in boxes if box is not None)
    return Annotation(
        id=f"{target.id}:boxes",
        target=target.id,
        image=sample.images[0],
        width=width,
        height=height,
        level=_level(kept, target.kind, width * height, settings),
        boxes=kept,
        rule="boxes of the release",
    )


def _seen(sample: Sample) -> Seen:
    return msgspec.json.decode(sample.native["seen"], type=Seen)


def _cut(box: Box, width: int, height: int) -> Box | None:
    x1, y1, x2, y2 = box
    if min(x1, y1) < -SLACK or x2 > width + SLACK or y2 > height + SLACK:
        return None
    cut = (max(x1, 0.0), max(y1, 0.0), min(x2, float(width)), min(y2, float(height)))
    return cut if cut[0] < cut[2] and cut[1] < cut[3] else None


def _level(boxes: tuple[Box, ...], kind: Kind, area: int, settings: Settings) -> AskLevel:
    if settings.level != "auto":
        return settings.level
    whole = kind in WHOLE or areas(as_boxes(boxes)).max() > HALF * area
    return "object" if whole else "lesion"


def drop(parent: str, stage: str, reason: str, detail: str, of: str | None = None) -> Drop:
    """A drop of a sample, or of a record made `of` one."""
    return Drop(
        id=f"{parent}:{stage}", sample=of or parent, stage=stage, reason=reason, detail=detail
    )


def settings_of(options: Mapping[str, str], kind: type[S]) -> S:
    """The words after `--source-args` as settings; `Usage` names the one that cannot be used."""
    try:
        return msgspec.convert(dict(options), kind)
    except msgspec.ValidationError as error:
        raise Usage(
            f"--source-args: {error}; expected some of: {', '.join(kind.__struct_fields__)}"
        ) from None
