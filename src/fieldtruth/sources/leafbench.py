"""LeafBench: 13,950 multiple-choice questions about leaves of LeafNet, of six types.

PATH holds CSV files with `image_path`, `question`, `A` to `D`, `answer` (a letter), and the photos.
The type stands in a column, else in the file's name, else before the photo's: DC or DI (which
disease), HDC (healthy or not), CSI (which crop), SI (which symptoms), PC (what kind of pathogen),
SNC (its Latin name). In the answer "CROP DISEASE" the taxonomy says where the crop ends. A list of
symptoms is no label: it is a drop. AgroGround takes an answer of one word for a healthy leaf
(reference, section 1.5).
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from fieldtruth import detections, rows
from fieldtruth.faults import Usage
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.sources.contract import Source
from fieldtruth.taxonomy import crop_id, label_id, normalise, resolve
from fieldtruth.taxonomy.lexicon import crop_in

LETTERS = ("A", "B", "C", "D")
NEEDS = ("image_path", "question", *LETTERS, "answer")
TYPED = ("question_type", "type", "task")
KNOWS = (*NEEDS, *TYPED, "id", "split")
TYPES = ("DC", "DI", "HDC", "CSI", "SI", "PC", "SNC")
OTHERS = {"CSI": "plant_id", "PC": "cause"}
HEALTHY = ("healthy", "healthy leaf", "healthy leaves", "no disease")
_TYPE = re.compile(rf"(?<![a-z])({'|'.join(TYPES)})(?![a-z])", re.IGNORECASE)


class Settings(rows.Settings, frozen=True, kw_only=True):
    """`--source-args` of this source."""

    licence: str = "MIT, given out for non-commercial academic use"


class LeafBench:
    """Several questions share a photo."""

    paper = "Quoc, Dao and Quach 2026, https://arxiv.org/abs/2602.13662"
    exhaustive = False  # a question is about one thing
    reasons = (
        "no_photo", "unsafe_path", "bad_row", "bad_answer", "listed_twice", "unsupported_subset",
        "plant_id", "cause", "several_things", "sentence", "names_nothing", "no_boxes",
    )  # fmt: skip

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows of each table in its order, the tables by path. Raises `Usage` for none."""
        tables = sorted(root.rglob("*.csv"))
        if not tables:
            raise Usage(f"{root}: expected CSV files below it, got none")
        names, photos = rows.Names("leafbench"), rows.Photos(root)
        for table in tables:
            place = table.relative_to(root).as_posix()
            for number, row in rows.read_table(table, NEEDS, KNOWS):
                if isinstance(row, rows.Bad):
                    lost = f"leafbench:{place}:{number}"
                    yield rows.dropped(lost, "ingest", "bad_row", row.why)
                    continue
                content = tuple(row.values())
                name, again = names.of(row.get("id", ""), (place, number), content)
                if again:
                    yield rows.dropped(name, "ingest", "listed_twice")
                else:
                    yield self._sample(name, row, table, photos)

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """What the right option says, in the way of the question's type."""
        kind, answer = sample.native["type"], sample.answer
        crop = sample.native.get("crop") or crop_in(sample.question)
        if kind in OTHERS:
            yield rows.dropped(sample, "label", OTHERS[kind], answer)
        elif kind in ("DC", "DI"):
            yield _disease(sample, crop)
        elif kind == "HDC" and normalise(answer) in HEALTHY:
            yield _healthy(sample, crop)
        elif kind == "HDC":
            yield rows.dropped(sample, "label", "names_nothing", answer)
        elif kind == "SI":
            yield _symptom(sample, crop)
        else:
            yield rows.dropped(sample, "label", "unsupported_subset", kind)

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:  # noqa: ARG002
        """Always a drop: the release holds no boxes."""
        return detections.drop(target.id, "annotate", "no_boxes", "", of=sample.id)

    def _sample(
        self, name: str, row: Mapping[str, str], table: Path, photos: rows.Photos
    ) -> Sample | Drop:
        place = row["image_path"].removeprefix("./")
        lost = photos.lost((place,), self._settings) if place else ("no_photo", "")
        if lost is not None:
            return rows.dropped(name, "ingest", *lost)
        options = tuple(row[letter] for letter in LETTERS if row[letter].strip())
        answer = _answer(row)
        if answer is None:
            return rows.dropped(name, "ingest", "bad_answer", row["answer"])
        native = {"type": _type(row, table), "crop": _crop(place)}
        return Sample(
            id=name, source="leafbench", images=(place,), question=row["question"],
            options=options, answer=answer, native=native, licence=self.licence,
        )  # fmt: skip


def _answer(row: Mapping[str, str]) -> str | None:
    """The right option's text; None where the letter has none."""
    said = row["answer"].strip()
    if said in [row[letter].strip() for letter in LETTERS] and said:
        return said
    at = rows.letter_of(said, LETTERS)
    return (row[LETTERS[at]].strip() or None) if at is not None else None


def _type(row: Mapping[str, str], table: Path) -> str:
    """The question's type, `DC` and the like, empty where nothing says it."""
    told = next((row[name] for name in TYPED if row.get(name, "").strip()), None)
    if told is not None:
        return told.strip().upper()
    for text in (table.stem, PurePosixPath(row["image_path"]).name):
        found = _TYPE.search(text.replace("_", " "))
        if found:
            return found[1].upper()
    return ""


def _crop(place: str) -> str:
    """The crop of a class folder, `val/Apple___Black_rot/1.jpg`; empty where it is none."""
    plant, mark, _ = PurePosixPath(place).parent.name.partition("___")
    return crop_id(plant) if mark and normalise(plant) else ""


def split_answer(answer: str) -> tuple[str | None, str]:
    """Crop and the rest of "CROP DISEASE"; no crop where the answer as a whole is a label.

    >>> split_answer("Black Pepper Footrot"), split_answer("Late Blight")
    (('black pepper', 'Footrot'), (None, 'Late Blight'))
    >>> split_answer("Apple"), split_answer("Betel Leaf Rot")
    (('apple', ''), ('betel', 'Leaf Rot'))
    """
    words = answer.split()
    for size in (3, 2, 1):
        plant = " ".join(words[:size])
        if len(words) >= size and crop_in(plant) == crop_id(plant):
            return crop_id(plant), " ".join(words[size:])
    if len(words) < 2 or resolve(answer).label is not None:
        return None, answer
    return crop_id(words[0]), " ".join(words[1:])


def _disease(sample: Sample, crop: str | None) -> Target | Healthy | Drop:
    if normalise(sample.answer) in HEALTHY:
        return _healthy(sample, crop)
    own, name = split_answer(sample.answer)
    crop = own or crop
    if normalise(name) in HEALTHY:
        return _healthy(sample, crop)
    if not normalise(name):
        return rows.dropped(sample, "label", "plant_id", sample.answer)
    if own is None and len(name.split()) == 1 and resolve(name, crop).label is None:
        return rows.dropped(sample, "label", "names_nothing", sample.answer)
    return Target(
        id=f"{sample.id}:target", sample=sample.id, kind=rows.kind_of(name, crop),
        label=label_id(name, crop), crop=crop, organ="leaf",
    )  # fmt: skip


def _healthy(sample: Sample, crop: str | None) -> Healthy:
    return Healthy(id=f"{sample.id}:healthy", sample=sample.id, crop=crop)


def _symptom(sample: Sample, crop: str | None) -> Target | Drop:
    answer = sample.answer
    if "," in answer or ";" in answer:
        return rows.dropped(sample, "label", "several_things", answer)
    if not rows.is_name(answer):
        return rows.dropped(sample, "label", "sentence", answer)
    return Target(
        id=f"{sample.id}:target", sample=sample.id, kind="symptom", label=label_id(answer, crop),
        crop=crop, organ="leaf", symptoms=answer,
    )  # fmt: skip


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return LeafBench(detections.settings_of(options, Settings))


SOURCE: Source = LeafBench(Settings())
