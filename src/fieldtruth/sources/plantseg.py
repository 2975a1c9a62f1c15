"""PlantSeg: photos of diseased plants from the web, with disease areas painted by experts.

The release holds `Metadata.csv` (`Metadatav2.csv` in its third version: Name, Plant, Disease,
Label file, Training/Test or Split, and a License in some), `images/{train,val,test}/NAME` and
`annotations/{train,val,test}/STEM.png`, 0 where nothing is wrong. Three rules turn a mask into
boxes; `rule=` chooses (AgroGround, appendices N and O; reference, section 14):

ours            8-connected components of at least 0.1 % of the photo by AREA. A thin scratch
                across the photo has a large box and few pixels: by its box it would be a lesion,
                by its area it is a slip of the brush; and one lesion whose pixels meet in a corner
                is one. There is no most number of boxes: a 31st lesion is no false alarm. Where a
                box covers over half of the photo, one box around what was kept is an object.
published_test  4-connected components whose BOX is at least 0.1 %; where one covers over half of
                the photo, one box around the whole mask; else the 30 largest. Masks by file stem.
published_sft   the same, but masks by the table's Label file (which in one version names one mask
                for every test photo), corners rounded to thousandths, and the box around a whole
                mask ends at its last pixel instead of after it.

A sample's id is its split and name. The release names one disease a photo and does not say that
no other is on it. Its licence differs by version (CC BY-NC-ND 4.0 in the first, which AgroGround
used); `licence=` states another.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fieldtruth import detections, geometry, images, store
from fieldtruth.faults import BadRecord, Refused, Unreadable
from fieldtruth.records import Annotation, AskLevel, Drop, Healthy, Record, Sample, Target
from fieldtruth.sources.contract import Source
from fieldtruth.taxonomy import crop_id, label_id, normalise

TABLES = ("Metadata.csv", "Metadatav2.csv")
NEEDED = ("Name", "Plant", "Disease", "Label file")
SPLIT_COLUMNS = ("Training/Test", "Split")
SPLITS = ("train", "val", "test")
MOST = 30  # boxes that the published rules keep

Mask = NDArray[np.bool_]
Found = tuple[geometry.Boxes, AskLevel]


class Settings(Record, frozen=True, kw_only=True):
    """`--source-args` of this source."""

    rule: Literal["ours", "published_test", "published_sft"] = "ours"
    licence: str = "CC BY-NC-ND 4.0"


class PlantSeg:
    """11,458 photos of 115 diseases on 34 plants in its first version."""

    paper = (
        "Wei, Chen, Yu, Chapman, Melloy and Huang 2026, Scientific Data 13:205, "
        "https://doi.org/10.1038/s41597-025-06513-4"
    )
    reasons = (
        "no_photo",
        "unsafe_path",
        "no_split",
        "listed_twice",
        "not_in_table",
        "names_no_disease",
        "mask_contradicts_healthy",
        "photo_unreadable",
        "no_mask",
        "mask_unreadable",
        "mask_size_differs",
        "empty_mask",
        "no_lesion_over_threshold",
    )
    exhaustive = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows of the table in its order, then the photos that no row names.

        Raises `BadRecord` where the table is not PlantSeg's.
        """
        rows = _read_table(root)
        often = Counter((row["split"], row["Name"]) for row in rows)
        for row in rows:
            yield self._sample(root, row, often[row["split"], row["Name"]])
        for split in SPLITS:
            folder = root / "images" / split
            names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
            for name in names:
                if (split, name) not in often:
                    yield _drop(f"{split}/{name}", "not_in_table", f"images/{split}/{name}")

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """The disease, without the plant's name in front of it; a virus keeps its host's name."""
        native = sample.native
        crop = crop_id(native["Plant"]) or None
        name = _disease(native["Disease"], native["Plant"])
        if _healthy(native["Disease"]):
            if native["marked"] == "yes":
                said = "the table says healthy, the mask shows something"
                yield detections.drop(sample.id, "label", "mask_contradicts_healthy", said)
            else:
                yield Healthy(id=f"{sample.id}:healthy", sample=sample.id, crop=crop)
        elif not name:
            yield detections.drop(sample.id, "label", "names_no_disease", native["Disease"])
        else:
            yield Target(
                id=f"{sample.id}:target", sample=sample.id, kind="disease", label=name, crop=crop
            )

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:
        """The mask's boxes by the rule chosen, in pixels of the upright photo."""
        place = sample.images[0]
        try:
            width, height = images.size(store.inside(root, place))
        except Unreadable as fault:
            return detections.drop(sample.id, "annotate", "photo_unreadable", str(fault))
        found = self._boxes(root, sample, width, height)
        if isinstance(found[0], str):
            return detections.drop(sample.id, "annotate", found[0], found[1])
        boxes, level = found
        return Annotation(
            id=f"{target.id}:boxes",
            target=target.id,
            image=place,
            width=width,
            height=height,
            level=level,
            boxes=tuple((float(a), float(b), float(c), float(d)) for a, b, c, d in boxes),
            rule=f"plantseg {self._settings.rule}",
        )

    def _sample(self, root: Path, row: dict[str, str], often: int) -> Sample | Drop:
        name, split = row["Name"], row["split"]
        native = f"{split or row['said']}/{name}"
        if often > 1:
            said = f"{name} stands {often} times in the table"
            return _drop(f"{native}@line {row['line']}", "listed_twice", said)
        if not split:
            return _drop(native, "no_split", f"expected a split, got {row['said']!r}")
        place = f"images/{split}/{name}"
        try:
            path = store.inside(root, place)
        except Refused as fault:
            return _drop(native, "unsafe_path", str(fault))
        if "/" in name or not path.is_file():
            return _drop(native, "no_photo", str(images.missing(path)))
        licence = self._settings.licence
        if "License" in row:  # the photo's own, which the version's does not overrule
            licence = f"{licence}; photo: {row['License'].strip() or 'not stated'}"
        kept = {key: row[key] for key in ("Plant", "Disease", "Label file", "split")}
        if _healthy(row["Disease"]):
            mask = self._mask(root, place, kept["Label file"])
            marked = "unknown" if isinstance(mask, tuple) else "yes" if mask.any() else "no"
            kept["marked"] = marked
        return Sample(
            id=f"plantseg:{native}", source="plantseg", images=(place,), native=kept,
            licence=licence,
        )  # fmt: skip

    def _mask(self, root: Path, photo: str, label_file: str) -> Mask | tuple[str, str]:
        """Where something is wrong with the plant, shape (height, width), or why nobody knows."""
        split, name = photo.split("/")[1:]
        by_stem = PurePosixPath(name).stem + ".png"
        file = label_file if self._settings.rule == "published_sft" else by_stem
        place = f"annotations/{split}/{file}"
        try:
            path = store.inside(root, place)
            if not path.is_file():
                return "no_mask", place
            return images.label_map(path) > 0
        except (Refused, Unreadable) as fault:
            return "mask_unreadable", str(fault)

    def _boxes(
        self, root: Path, sample: Sample, width: int, height: int
    ) -> Found | tuple[str, str]:
        mask = self._mask(root, sample.images[0], sample.native["Label file"])
        if isinstance(mask, tuple):
            return mask
        if mask.shape != (height, width):
            got = f"{mask.shape[1]}x{mask.shape[0]}"
            return "mask_size_differs", f"expected {width}x{height}, got {got}"
        if not mask.any():
            return "empty_mask", "nothing is painted"
        rules = {"ours": ours, "published_test": published_test, "published_sft": published_sft}
        boxes, level = rules[self._settings.rule](mask)
        if not len(boxes):
            return "no_lesion_over_threshold", "expected a component of 0.1 % of the photo"
        return boxes, level


# --- rules -------------------------------------------------------------------------------------


def ours(mask: Mask) -> Found:
    """Boxes (n, 4) in pixels, far edge exclusive, in order of their first pixel; n may be 0."""
    least = -(-mask.size // 1000)  # 0.1 %, rounded up, in whole numbers
    boxes = geometry.components(mask, least)
    if len(boxes) and 2 * geometry.areas(boxes).max() > mask.size:
        around = np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])
        return geometry.as_boxes([around.tolist()]), "object"
    return boxes, "lesion"


def published_test(mask: Mask) -> Found:
    """As the published builder of the test set has it; the largest box first."""
    boxes, whole = _published(mask)
    if whole:
        x1, y1, x2, y2 = _extent(mask)
        return geometry.as_boxes([(x1, y1, x2 + 1, y2 + 1)]), "object"
    return boxes, "lesion"


def published_sft(mask: Mask) -> Found:
    """As the published builder of the training file has it: thousandths, read as pixels here.

    A box that rounds to nothing is left out: no record can hold it.
    """
    height, width = mask.shape
    boxes, whole = _published(mask)
    scale = (width, height, width, height)
    if whole:
        x1, y1, x2, y2 = _extent(mask)
        low = np.floor(np.array([x1, y1]) / scale[:2] * 1000)
        high = np.ceil(np.array([x2, y2]) / scale[2:] * 1000)
        said = np.concatenate([low, high])[None]
    else:
        said = np.rint(boxes / scale * 1000)
    kept = said[(said[:, 0] < said[:, 2]) & (said[:, 1] < said[:, 3])]
    pixels = geometry.to_pixels(geometry.as_boxes(kept), "norm1000", width, height)
    return pixels, "object" if whole else "lesion"


def _published(mask: Mask) -> tuple[geometry.Boxes, bool]:
    """The boxes kept, and whether one covers over half of the photo."""
    height, width = mask.shape
    boxes = geometry.components(mask, diagonal=False)
    sizes = geometry.areas(boxes)
    large = sizes >= 0.001 * height * width
    boxes, sizes = boxes[large], sizes[large]
    order = np.argsort(-sizes, kind="stable")[:MOST]
    return boxes[order], bool(len(sizes) and sizes.max() > 0.5 * height * width)


def _extent(mask: Mask) -> tuple[int, int, int, int]:
    """First and last column and row with anything painted: x1, y1, x2, y2, all inclusive."""
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    return int(columns[0]), int(rows[0]), int(columns[-1]), int(rows[-1])


# --- the table ---------------------------------------------------------------------------------


def _healthy(said: str) -> bool:
    return "healthy" in normalise(said).split()


def _disease(said: str, plant: str) -> str:
    name, host = normalise(said), normalise(plant)
    rest = name.removeprefix(f"{host} ")
    named_after_host = "virus" in rest.split()
    return label_id(name if named_after_host else rest)


def _read_table(root: Path) -> list[dict[str, str]]:
    path = next((root / name for name in TABLES if (root / name).is_file()), root / TABLES[0])
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            columns = reader.fieldnames or ()
            split = next((name for name in SPLIT_COLUMNS if name in columns), None)
            lacking = [name for name in NEEDED if name not in columns]
            if lacking or split is None:
                expected = ", ".join((*NEEDED, " or ".join(SPLIT_COLUMNS)))
                raise BadRecord(f"{path}:1: expected the columns {expected}, got {columns}")
            return [_row(row, split, path, reader.line_num) for row in reader]
    except FileNotFoundError as fault:
        raise BadRecord(
            f"{path}: expected PlantSeg's table, got no such file; give the folder that holds "
            "Metadata.csv, images/ and annotations/"
        ) from fault
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise BadRecord(f"{path}: expected PlantSeg's table in UTF-8, got: {fault}") from fault


def _row(row: dict[str, str], split: str, path: Path, line: int) -> dict[str, str]:
    where = f"{path}:{line}"
    if None in row or any(value is None for value in row.values()):
        raise BadRecord(f"{where}: expected a value for each column, got {row}")
    clean = {key: value.strip() for key, value in row.items()}
    if not clean["Name"]:
        raise BadRecord(f"{where}: expected a Name, got none")
    said = clean[split].lower()
    known = next((name for name in SPLITS if said.startswith(name)), "")
    return clean | {"split": known, "said": clean[split], "line": str(line)}


def _drop(native: str, reason: str, detail: str) -> Drop:
    name = "plantseg:" + native.encode("utf-8", "backslashreplace").decode()
    return detections.drop(name, "ingest", reason, detail)


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return PlantSeg(detections.settings_of(options, Settings))


SOURCE: Source = PlantSeg(Settings())
