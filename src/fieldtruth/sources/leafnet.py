"""LeafNet: 121,337 public photos of single leaves, each with a caption that says crop and disease.

The hub gives it out in parquet files with the photos inside (`ingest` unpacks them first), or PATH
holds `metadata.csv` or `metadata.jsonl` beside the photos. A caption reads "a image of CROP leaves,
diseased by DISEASE, with symptoms of TEXT"; the text is kept. AgroGround loses names with a hyphen,
a digit or a bracket and throws the text away (reference, section 1.4). The release stands behind a
gate and was not at hand: names of columns are those of hub sets of this kind.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from fieldtruth import detections, rows, shards
from fieldtruth.faults import Usage
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.sources.contract import Source
from fieldtruth.taxonomy import crop_id, label_id, normalise

TABLES = (shards.ROWS, "metadata.jsonl", "metadata.csv")
PHOTO, CAPTION = ("image", "file_name", "image_path"), ("text", "caption", "answer", "description")
COLUMNS = (*PHOTO, *CAPTION, "id", "label", "crop", "disease", "split")
_CAPTION = re.compile(
    r"\s*an?\s+(?:image|photo|picture)\s+of\s+(?:a\s+)?(?P<before>healthy\s+)?(?P<crop>\S.*?)"
    r"(?P<between>\s+healthy)?\s+(?:leaves|leaf)\b(?:\s*,?\s*(?:which\s+are\s+)?diseased\s+by\s+"
    r"(?P<disease>.*?))?(?:\s*,?\s*with\s+symptoms?\s+of\s+(?P<symptoms>.*?))?\s*\.?\s*",
    re.IGNORECASE | re.DOTALL,
)
_ASIDE = re.compile(r"\([^)]*\)")
HEALTHY = ("healthy", "healthy leaf", "healthy leaves", "no disease")


class Settings(rows.Settings, frozen=True, kw_only=True):
    """`--source-args` of this source."""

    licence: str = "CC BY 4.0, given out for non-commercial academic use"


class Row(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A row under any of the names that its fields go by."""

    image: str | None = None
    file_name: str | None = None
    image_path: str | None = None
    text: str | None = None
    caption: str | None = None
    answer: str | None = None
    description: str | None = None
    id: str | int | None = None
    label: str | int | None = None
    crop: str | None = None
    disease: str | None = None
    split: str | None = None


class LeafNet:
    """A caption names one disease; what else is on the leaf it does not say."""

    paper = "Quoc, Dao and Quach 2026, https://arxiv.org/abs/2602.13662"
    exhaustive = False
    photo_column = "image"
    reasons = ("no_photo", "unsafe_path", "bad_row", "listed_twice", "names_nothing", "no_boxes")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows of the table in its order. Raises `Usage` where there is none."""
        table = next((root / name for name in TABLES if (root / name).is_file()), None)
        if table is None:
            raise Usage(f"{root}: expected parquet files or {' or '.join(TABLES[1:])}, got none")
        names, photos = rows.Names("leafnet"), rows.Photos(root)
        for number, row in _read(table):
            if isinstance(row, rows.Bad):
                yield rows.dropped(f"leafnet:row {number}", "ingest", "bad_row", row.why)
                continue
            place = row.image or row.file_name or row.image_path or ""
            said = row.text or row.caption or row.answer or row.description or ""
            name, again = names.of(str(row.id or place), ("row", number), (place, said))
            lost = photos.lost((place,), self._settings) if place else ("no_photo", "")
            if again:
                yield rows.dropped(name, "ingest", "listed_twice")
            elif lost is not None:
                yield rows.dropped(name, "ingest", *lost)
            else:
                yield Sample(
                    id=name, source="leafnet", images=(place,), answer=said, licence=self.licence
                )

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """What the caption says; its disease slot may say that there is none."""
        said = _CAPTION.fullmatch(sample.answer)
        if said is None:
            yield rows.dropped(sample, "label", "names_nothing", sample.answer)
            return
        crop = crop_id(_ASIDE.sub(" ", said["crop"]))  # Corn (maize)
        disease = (said["disease"] or "").strip()
        well = said["before"] or said["between"]
        if normalise(disease) in HEALTHY or (well and not disease):
            yield Healthy(id=f"{sample.id}:healthy", sample=sample.id, crop=crop)
        elif not normalise(disease):
            yield rows.dropped(sample, "label", "names_nothing", sample.answer)
        else:
            yield Target(
                id=f"{sample.id}:target", sample=sample.id, kind=rows.kind_of(disease, crop),
                label=label_id(disease, crop), crop=crop, organ="leaf",
                symptoms=" ".join((said["symptoms"] or "").split()),
            )  # fmt: skip

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:  # noqa: ARG002
        """Always a drop: the release holds no boxes."""
        return detections.drop(target.id, "annotate", "no_boxes", "", of=sample.id)


def _read(table: Path) -> Iterator[tuple[int, Row | rows.Bad]]:
    if table.name != "metadata.csv":
        yield from rows.read_lines(table, Row)
        return
    for number, row in rows.read_table(table, (), COLUMNS):
        yield number, row if isinstance(row, rows.Bad) else Row(**row)


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return LeafNet(detections.settings_of(options, Settings))


SOURCE: Source = LeafNet(Settings())
