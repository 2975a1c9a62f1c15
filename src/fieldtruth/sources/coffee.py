"""BRACOL: one detached coffee leaf a photo, with its lesions painted by hand.

The release holds `dataset.csv` (one flag per stress), `images/{train,val}/ID.jpg` and
`annotations/{train,val}/ID_mask.png` (black ground, green leaf, red symptom). A mask says where a
symptom is and not which one, so only a photo of exactly one stress gives a class with its boxes.
Neighbouring ids can be one plant and the release does not say which: photos carry no group.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fieldtruth import geometry, images, store
from fieldtruth.faults import BadRecord, Refused, Unreadable
from fieldtruth.records import Annotation, Drop, Healthy, Kind, Sample, Target

SPLITS = ("train", "val")
# Flags in the order of their number in `predominant_stress`: 0 is healthy, 5 several. What the
# table calls cercospora is also known as brown eye spot (Cercospora coffeicola).
STRESSES: dict[str, tuple[Kind, str]] = {
    "miner": ("pest", "leaf miner"),
    "rust": ("disease", "leaf rust"),
    "phoma": ("disease", "phoma leaf spot"),
    "cercospora": ("disease", "cercospora leaf spot"),
}
COLUMNS = ("id", "predominant_stress", *STRESSES, "severity")
LARGEST = dict.fromkeys(STRESSES, 1) | {"predominant_stress": 5, "severity": 4}
# The colours of a mask (annotations-info.txt) as ABGR: black, (0, 176, 0) and (255, 0, 0).
GROUND, LEAF, SYMPTOM = 0xFF000000, 0xFF00B000, 0xFF0000FF
_PHOTO = re.compile(r"(?P<id>[0-9]{1,9})\.jpg")


class Coffee:
    """450 of BRACOL's 1,747 photos are usually handed out; rows without a photo are drops."""

    licence = "MIT"
    exhaustive = True  # the table flags each of the four stresses on each photo
    paper = (
        "Esgario, Krohling and Ventura 2020, Computers and Electronics in Agriculture 169:105162, "
        "https://doi.org/10.1016/j.compag.2019.105162"
    )
    reasons = (
        "no_photo",
        "not_in_table",
        "photo_in_both_splits",
        "unsafe_path",
        "several_stresses",
        "flags_contradict",
        "mask_contradicts_healthy",
        "no_mask",
        "mask_unreadable",
        "mask_size_differs",
        "bad_mask_colours",
        "no_lesion_over_threshold",
        "photo_unreadable",
    )

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows of the table in its order, then the photos that no row names.

        Raises `BadRecord` where the table is not BRACOL's or a row says the impossible.
        """
        rows = _read_table(root / "dataset.csv")
        photos = _photos(root)
        for row in rows:
            places = photos.pop(row["id"], [])
            yield _sample(root, row, places)
        for native, places in sorted(photos.items(), key=lambda entry: entry[0].zfill(9)):
            yield _drop(native, "ingest", "not_in_table", ", ".join(places))

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """One target where exactly one flag is set and it is the predominant stress."""
        stress = int(sample.native["predominant_stress"])
        flagged = [name for name in STRESSES if sample.native[name] == "1"]
        said = f"predominant_stress {stress}, flags: {' '.join(flagged) or 'none'}"
        if len(flagged) > 1:
            yield _drop_of(sample, "label", "several_stresses", said)
        elif not flagged and stress == 0:
            if sample.native["marked"] == "yes":
                said = "the table says healthy, the mask shows a lesion"
                yield _drop_of(sample, "label", "mask_contradicts_healthy", said)
            else:
                yield Healthy(id=f"{sample.id}:healthy", sample=sample.id, crop="coffee")
        elif flagged and stress == 1 + list(STRESSES).index(flagged[0]):
            kind, label = STRESSES[flagged[0]]
            yield Target(
                id=f"{sample.id}:target",
                sample=sample.id,
                kind=kind,
                label=label,
                crop="coffee",
                organ="leaf",
            )
        else:
            yield _drop_of(sample, "label", "flags_contradict", said)

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:
        """The mask's lesions as boxes in pixels of the upright photo.

        Raises `Refused` where the photo or mask lies outside the release.
        """
        try:
            width, height = images.size(store.inside(root, sample.images[0]))
        except Unreadable as fault:
            return _drop_of(sample, "annotate", "photo_unreadable", str(fault))
        found = _lesions(root, sample.images[0], width, height)
        if isinstance(found, tuple):
            return _drop_of(sample, "annotate", *found)
        return Annotation(
            id=f"{target.id}:boxes",
            target=target.id,
            image=sample.images[0],
            width=width,
            height=height,
            level="lesion",
            boxes=tuple((float(a), float(b), float(c), float(d)) for a, b, c, d in found),
            rule="8-connected red mask components of at least 0.02 % of the image",
        )


def smallest_lesion(width: int, height: int) -> int:
    """The fewest pixels a component needs to be a lesion: 0.02 % of the image, rounded up.

    Specks below it are slips of the brush. In whole numbers, so that no float decides.

    >>> smallest_lesion(2048, 1024)
    420
    """
    return -(-2 * width * height // 10_000)


def _read_table(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                expected, got = ",".join(COLUMNS), ",".join(reader.fieldnames or ())
                raise BadRecord(f"{path}:1: expected the columns {expected}, got {got!r}")
            rows = [_checked(row, f"{path}:{reader.line_num}") for row in reader]
    except FileNotFoundError as fault:
        raise BadRecord(
            f"{path}: expected BRACOL's table, got no such file; give the folder that holds "
            "dataset.csv, images/ and annotations/"
        ) from fault
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise BadRecord(f"{path}: expected BRACOL's table in UTF-8, got: {fault}") from fault
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            raise BadRecord(f"{path}: expected every id once, got {row['id']} again")
        seen.add(row["id"])
    return rows


def _checked(row: dict[str, str], where: str) -> dict[str, str]:
    if set(row) != set(COLUMNS) or any(value is None for value in row.values()):
        raise BadRecord(f"{where}: expected {len(COLUMNS)} values, got {row}")
    if not re.fullmatch(r"[0-9]{1,9}", row["id"]):
        raise BadRecord(f"{where}: expected a whole number as id, got {row['id']!r}")
    for column, largest in LARGEST.items():
        if row[column] not in map(str, range(largest + 1)):
            raise BadRecord(f"{where}: expected {column} 0 to {largest}, got {row[column]!r}")
    return row


def _photos(root: Path) -> dict[str, list[str]]:
    """Native id -> the photos of that id, as paths relative to the root."""
    found: dict[str, list[str]] = {}
    for split in SPLITS:
        folder = root / "images" / split
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if named := _PHOTO.fullmatch(path.name):
                found.setdefault(named["id"], []).append(f"images/{split}/{path.name}")
    return found


def _sample(root: Path, row: dict[str, str], places: list[str]) -> Sample | Drop:
    if not places:
        return _drop(row["id"], "ingest", "no_photo")
    if len(places) > 1:
        return _drop(row["id"], "ingest", "photo_in_both_splits")
    try:
        store.inside(root, places[0])
    except Refused as fault:
        return _drop(row["id"], "ingest", "unsafe_path", str(fault))
    native = row | {"split": places[0].split("/")[1]}
    if row["predominant_stress"] == "0":
        native["marked"] = _marked(root, places[0])
    return Sample(
        id=f"coffee:{row['id']}",
        source="coffee",
        images=(places[0],),
        native=native,
        licence=Coffee.licence,
    )


def _marked(root: Path, photo: str) -> str:
    """Whether a photo's mask shows a lesion: yes, no, or unknown where there is no such mask."""
    try:
        width, height = images.size(store.inside(root, photo))
    except Unreadable:
        return "unknown"
    found = _lesions(root, photo, width, height)
    if isinstance(found, tuple):
        return "no" if found[0] == "no_lesion_over_threshold" else "unknown"
    return "yes"


def _lesions(
    root: Path, photo: str, width: int, height: int
) -> NDArray[np.float64] | tuple[str, str]:
    """Boxes (n, 4) of a photo's lesions, n >= 1, or the reason why there are none, and detail."""
    split, name = photo.split("/")[1:]
    place = f"annotations/{split}/{name.removesuffix('.jpg')}_mask.png"
    path = store.inside(root, place)
    if not path.exists():
        return "no_mask", place
    try:
        mask = images.open_upright(path)
    except Unreadable as fault:
        return "mask_unreadable", str(fault)
    if mask.size != (width, height):
        return "mask_size_differs", f"expected {width}x{height}, got {mask.width}x{mask.height}"
    colours = np.asarray(mask.convert("RGBA")).view("<u4")[:, :, 0]  # one number a pixel: fast
    red = colours == SYMPTOM
    strange = colours[~(red | (colours == LEAF) | (colours == GROUND))]
    if len(strange):
        first = ", ".join(str(part) for part in strange[:1].view(np.uint8)[:3])
        return "bad_mask_colours", f"{len(strange)} pixels such as ({first})"
    least = smallest_lesion(width, height)
    boxes = geometry.components(red, least)
    if not len(boxes):
        return "no_lesion_over_threshold", f"expected a red component of {least} pixels or more"
    return boxes


def _drop(native: str, stage: str, reason: str, detail: str = "") -> Drop:
    name = f"coffee:{native}"
    return Drop(id=f"{name}:{stage}", sample=name, stage=stage, reason=reason, detail=detail)


def _drop_of(sample: Sample, stage: str, reason: str, detail: str) -> Drop:
    return _drop(sample.native["id"], stage, reason, detail)


SOURCE = Coffee()
