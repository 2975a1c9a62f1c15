"""MIRAGE: growers' questions to extension services, with photos and an expert's answer.

PATH holds the published files anywhere below it: `mmst_standard*.json` and `mmst_contextual*.json`
(one question, one answer), `mmmt_direct*.json` and `mmmt_decomp*.json` (dialogues), each a JSON
list or one object a line. The release files each question under a category and names the entity
that the answer is about. A row of an identification category with an entity is a target; a
dialogue has no single answer and goes another way (`fieldtruth facts`). Photos are found by name in
`images/`, `sample_images/`, beside the file or at the top, for the rows' own paths lead out.
Questions of the contextual files name county and time: filter before giving anything out.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from fieldtruth import detections, rows
from fieldtruth.dialogues import mirage
from fieldtruth.dialogues.mirage import Row
from fieldtruth.records import Annotation, Drop, Kind, Sample, Target
from fieldtruth.rows import Bad, dropped, kind_of
from fieldtruth.sources.contract import Source
from fieldtruth.taxonomy import crop_id, label_id, normalise
from fieldtruth.taxonomy.lexicon import crop_in

# What the categories that name a thing make of it.
NAMING: Mapping[str, Kind] = {
    "plant disease identification": "disease",
    "insect and pest identification": "pest",
}
OTHERS: Mapping[str, str] = {
    "plant identification": "plant_id",
    "plant disease management": "action",
    "insect and pest management": "action",
    "weeds/invasive plants management": "action",
    "plant care and gardening guidance": "action",
}
VACUOUS = ("", "n a", "none", "unknown", "unidentified", "healthy", "not applicable", "null")


class Settings(rows.Settings, frozen=True, kw_only=True):
    """`--source-args` of this source."""

    licence: str = "CC BY-SA 4.0"


class Mirage:
    """40,889 rows are published; dialogues are in them twice, whole and decomposed."""

    paper = "Dongre et al. 2025, MIRAGE, https://arxiv.org/abs/2506.20100"
    exhaustive = False  # a question is about one thing
    reasons = (
        "dialogue", "action", "plant_id", "names_nothing", "unknown_category", "no_photo",
        "unsafe_path", "bad_row", "listed_twice", "no_boxes",
    )  # fmt: skip

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows of each file in its order, the files by name.

        Raises `Usage` where no file is there, `BadRecord` for a field that MIRAGE has not.
        """
        names, photos = rows.Names("mirage"), rows.Photos(root)
        direct: set[str] = set()
        for path in sorted(mirage.files(root), key=lambda path: "decomp" in path.stem):
            beside = path.parent.relative_to(root).as_posix()
            for number, row in mirage.read(path):
                if isinstance(row, Bad):
                    at = f"mirage:{path.stem}:row {number}"
                    yield dropped(at, "ingest", "bad_row", row.why)
                    continue
                native = str(row.id).lstrip("#")
                told = msgspec.json.encode(row)
                name, again = names.of(f"{path.stem}:{native}", (path.stem, number), told)
                if again or ("decomp" in path.stem and native in direct):
                    detail = "in the direct file too" if not again else f"row {number}"
                    yield dropped(name, "ingest", "listed_twice", detail)
                    continue
                if "direct" in path.stem:
                    direct.add(native)
                yield self._sample(name, row, beside, photos)

    def label(self, sample: Sample) -> Iterator[Target | Drop]:
        """The entity, where the category says that the question was what it is."""
        category = sample.native.get("category", "").strip().casefold()
        name = sample.native.get("entity", "")
        if "dialogue" in sample.native:
            yield dropped(sample, "label", "dialogue", f"{sample.native['dialogue']} turns")
        elif category in OTHERS:
            yield dropped(sample, "label", OTHERS[category], category)
        elif category not in NAMING:
            yield dropped(sample, "label", "unknown_category", category or "none")
        elif normalise(name) in VACUOUS:
            yield dropped(sample, "label", "names_nothing", name)
        else:
            yield _target(sample, name, NAMING[category])

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:  # noqa: ARG002
        """Always a drop: the release holds no boxes."""
        return detections.drop(target.id, "annotate", "no_boxes", "", of=sample.id)

    def _sample(self, name: str, row: Row, beside: str, photos: rows.Photos) -> Sample | Drop:
        places = [mirage.place(photo, beside, photos) for photo in row.images or ()]
        if not places:
            return dropped(name, "ingest", "no_photo", "the row names none")
        lost = photos.lost(places, self._settings)
        if lost is not None:
            return dropped(name, "ingest", *lost)
        native = {"category": row.category or "", "entity": row.entity_name or ""}
        if row.dialog_context is not None:
            native = {"dialogue": str(row.dialog_turns or 0)}
        return Sample(
            id=name, source="mirage", images=tuple(dict.fromkeys(places)),
            question=row.question or row.dialog_context or "",
            answer=row.answer or row.utterance or "", native=native, licence=self.licence,
        )  # fmt: skip


def _target(sample: Sample, name: str, kind: Kind) -> Target:
    """The entity as a label; the crop that its name begins with, else the question's first."""
    crop = crop_in(name) or crop_in(sample.question)
    crop = crop_id(crop) if crop else None
    return Target(
        id=f"{sample.id}:target", sample=sample.id, label=label_id(name, crop), crop=crop,
        kind=kind if kind == "pest" else kind_of(name, crop, kind),
    )  # fmt: skip


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return Mirage(detections.settings_of(options, Settings))


SOURCE: Source = Mirage(Settings())
