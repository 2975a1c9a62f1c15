"""AgroMind: questions about farmland from above, orchards, pests and leaves, in 48 files.

PATH holds the release as it is published: a folder for each of four levels, in it one JSON list a
task (`Object Understanding/PDD_2_2_1.json`), and the photos under the paths that the rows name.
An answer is a letter, several letters, a text, a number or a box in 0-1; a letter stands for its
option. What a row is about follows from its file, for every file asks one question: four of them
name a pest or a disease or say healthy. A healthy leaf answers `Yes` to "Is the leaf healthy?".
Aerial tiles are drops, whatever is said of them: "no anomaly" there is no healthy plant.

The leaves of `PDD` are those of the AI Challenger 2018 classes, written without their crop, and
some as a machine translated them: `CLASSES` says which is which, as the file names that were kept
from PlantVillage bear out.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from fieldtruth import detections, rows
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.rows import Bad, dropped, kind_of
from fieldtruth.sources.contract import Source
from fieldtruth.taxonomy import crop_id, label_id, normalise
from fieldtruth.taxonomy.lexicon import crop_in, disease_after_no, words_in

# Why the rows of a file are none of ours.
OTHERS = {
    "action": "PL_4_4_4",
    "aerial": "AR_4_2_1 GSR_2_3_1 SL_1_1_2",
    "coordinates": "BD_1_3_1 BD_1_3_2",
    "count": "CO_3_2_1 CO_3_2_2 CO_3_2_3 CO_3_2_4 CO_3_2_5 CO_3_2_6 CO_3_2_7 GSR_2_3_2 SC_3_1_5 "
    "VPR_4_1_4",
    "grade": "PL_4_4_1 PL_4_4_3",
    "measurement": "AS_3_3_1 AS_3_3_2 AS_3_3_3 AS_3_3_4 AS_3_3_5 AS_3_3_6 VPR_4_1_1 VPR_4_1_2",
    "picks_image": "AR_4_2_2 CTR_4_3_2 SC_3_1_1 SC_3_1_2 SC_3_1_3",
    "place": "SL_1_1_1 SL_1_1_3 SL_1_1_4 SR_1_2_1",
    "plant_id": "OC_2_1_1 OC_2_1_2",  # the crop that a pest damages; the fruit of a tree
    "scene": "CTR_4_3_1 CTR_4_3_3",  # climate zones and types of vegetation
    "yes_no": "OC_2_1_4 OC_2_1_5 OC_2_1_6 PL_4_4_2 SC_3_1_4",
}
REASON_OF = {task: reason for reason, tasks in OTHERS.items() for task in tasks.split()}
# The diseases of PDD_2_2_1 after "No, it has", normalised: the label's name and the crop. None: of
# several crops. Scab of pepper is what bacterial spot is also called.
CLASSES: Mapping[str, tuple[str, str | None]] = {
    "bacterial spot": ("bacterial spot", "peach"),
    "bacterial spot bacteria": ("bacterial spot", "tomato"),
    "black measles fungus": ("black measles", "grape"),
    "black rot fungus": ("black rot", "grape"),
    "cedar apple rust": ("cedar apple rust", "apple"),
    "curvularia leaf spot fungus": ("curvularia leaf spot", "maize"),
    "dwarf mosaic virus": ("dwarf mosaic virus", "maize"),
    "early blight fungus": ("early blight", None),
    "frog eye spot": ("frogeye leaf spot", "apple"),
    "greening june": ("citrus greening", "citrus"),
    "late blight fungus": ("late blight", "potato"),
    "late blight water mold": ("late blight", "tomato"),
    "leaf blight fungus": ("leaf blight", "grape"),
    "leaf mold fungus": ("leaf mold", "tomato"),
    "polysora": ("southern corn rust", "maize"),
    "powdery mildew": ("powdery mildew", None),
    "scab": ("scab", "apple"),
    "scarab": ("bacterial spot", "pepper"),
    "scorch": ("leaf scorch", "strawberry"),
    "spider mite damage": ("spider mite", "tomato"),
    "spotting leaf spot fungus": ("septoria leaf spot", "tomato"),
    "target spot bacteria": ("target spot", "tomato"),
    "tomv": ("tomato mosaic virus", "tomato"),
    "ylcv virus": ("yellow leaf curl virus", "tomato"),
    "zeaemaydis tehon and daniels": ("gray leaf spot", "maize"),
}
GRADES = ("general", "serious", "it's diseased, but the status is almost negligible")
_TASK = re.compile(r"[A-Z]+(?:_\d+){3}")
_AFFECTED = re.compile(
    r"(?:the\s+)?(?P<crop>.+?)\s+(?:is|are)\s+(?:affected|infected)\s+(?:by|with)\s+"
    r"(?P<name>.+?)\.(?:\s|$)",
    re.IGNORECASE,
)
_MORE_PHOTOS = frozenset(("AR_4_2_2", "CTR_4_3_2", "SC_3_1_1", "SC_3_1_2", "SC_3_1_3"))
_END = re.compile(r"(?<=\.)\s")


class Settings(rows.Settings, frozen=True, kw_only=True):
    """`--source-args` of this source."""

    licence: str = "CC BY-SA 4.0"


class Row(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A row as it is published; answers and options come as texts, numbers and lists."""

    question: str
    answer: str | int | float | list[str | int | float]
    item_id: int | str
    type_id: int | str | None = None
    image_path: str | list[str] | None = None
    image1: str | None = None
    image2: str | None = None
    image_id: str | None = None
    options: dict[str, str | int | float] | None = None
    is_multiple: bool | None = msgspec.field(name="isMultiple", default=None)
    level1_id: int | str | None = None
    level2_id: int | str | None = None
    level3_id: int | str | None = None


class AgroMind:
    """28,482 rows are published; the photos come in archives of their own."""

    paper = "Li et al. 2025, AgroMind, https://arxiv.org/abs/2505.12207"
    exhaustive = False  # a question names one thing
    reasons = (
        *OTHERS, "no_photo", "unsafe_path", "bad_row", "listed_twice", "bad_answer",
        "names_nothing", "no_boxes",
    )  # fmt: skip

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows of each task, the tasks by name.

        Raises `Usage` where there is no task's file, `BadRecord` for a file that is none of
        AgroMind's tasks or whose rows have a field of another release.
        """
        files = sorted(root.rglob("*.json"), key=lambda path: (path.stem, path))
        tasks = [path for path in files if _TASK.fullmatch(path.stem)]
        if not tasks:
            raise Usage(f"{root}: expected files such as PDD_2_2_1.json below it, got none")
        for path in tasks:
            if path.stem not in REASON_OF and path.stem not in _TARGETS:
                known = ", ".join(sorted({*REASON_OF, *_TARGETS}))
                raise BadRecord(f"{path}: expected one of AgroMind's tasks ({known})")
        names, photos = rows.Names("agromind"), rows.Photos(root)
        for path in tasks:
            for number, row in rows.read_list(path, Row):
                if isinstance(row, Bad):
                    at = f"agromind:{path.stem}:row {number}"
                    yield dropped(at, "ingest", "bad_row", row.why)
                    continue
                name, again = names.of(
                    f"{path.stem}:{row.item_id}", (path.stem, number), msgspec.json.encode(row)
                )
                if again:
                    yield dropped(name, "ingest", "listed_twice", f"{path.name}: row {number}")
                else:
                    yield self._sample(name, path.stem, row, photos)

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """What the row's own answer names, in the way of its task."""
        task = sample.native["task"]
        if sample.native["answer"] == "no option":
            yield dropped(sample, "label", "bad_answer", sample.answer)
        elif task in REASON_OF:
            yield dropped(sample, "label", REASON_OF[task], sample.answer)
        else:
            yield _TARGETS[task](sample)

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:  # noqa: ARG002
        """Always a drop: the boxes of the release are of farmland, and of nothing named."""
        return detections.drop(target.id, "annotate", "no_boxes", "", of=sample.id)

    def _sample(self, name: str, task: str, row: Row, photos: rows.Photos) -> Sample | Drop:
        options = {letter: str(option) for letter, option in (row.options or {}).items()}
        places = [place.removeprefix("./") for place in _places(task, row, options)]
        if not places:
            return dropped(name, "ingest", "no_photo", "the row names none")
        lost = photos.lost(places, self._settings)
        if lost is not None:
            return dropped(name, "ingest", *lost)
        said = row.answer if isinstance(row.answer, list) else [row.answer]
        letters = [str(each).strip() for each in said]
        told = bool(options) and any(letter not in options for letter in letters)
        answer = ", ".join(options.get(letter, letter).strip() for letter in letters)
        return Sample(
            id=name, source="agromind", images=tuple(places), question=row.question,
            options=tuple(options.values()), answer=answer,
            native={"task": task, "answer": "no option" if told else "".join(letters)},
            licence=self.licence,
        )  # fmt: skip


def _places(task: str, row: Row, options: Mapping[str, str]) -> list[str]:
    """All photos of a row, as written: its own, the two to compare, or those to choose from."""
    own = row.image_path if isinstance(row.image_path, list) else [row.image_path or ""]
    choice = options.values() if task in _MORE_PHOTOS else ()
    return [place for place in (*own, row.image1 or "", row.image2 or "", *choice) if place]


def _leaf(sample: Sample) -> Target | Healthy | Drop:
    """PDD_2_2_1: `Yes`, it is healthy, or `No, it has X`."""
    if sample.answer.casefold() == "yes":
        return _healthy(sample)
    short = disease_after_no(sample.answer)
    if short is None:
        return dropped(sample, "label", "names_nothing", sample.answer)
    whole = normalise(sample.answer).removeprefix("no it has ")
    name, crop = CLASSES.get(whole, (short, None))
    return _target(sample, name, crop or crop_in(sample.images[0]), "leaf")


def _status(sample: Sample) -> Target | Healthy | Drop:
    """PDD_2_2_2: healthy, or how ill the leaf is, which names nothing."""
    if sample.answer.casefold() == "healthy":
        return _healthy(sample)
    reason = "grade" if sample.answer.casefold() in GRADES else "names_nothing"
    return dropped(sample, "label", reason, sample.answer)


def _pest(sample: Sample) -> Target | Healthy | Drop:
    """OC_2_1_3: the pest; nothing says on which crop it sits."""
    return Target(
        id=f"{sample.id}:target", sample=sample.id, kind="pest", label=label_id(sample.answer)
    )


def _advice(sample: Sample) -> Target | Healthy | Drop:
    """VPR_4_1_3: what the crop has, and then what to do; the folder tells the crop too."""
    first = _END.split(sample.answer, maxsplit=1)[0]
    found = _AFFECTED.match(sample.answer)
    folder = sample.images[0].split("/")[-2:][0]
    crop = crop_in(folder) or crop_in(first)
    if found is not None:
        return _target(sample, found["name"], crop or crop_id(found["crop"]), None)
    if "healthy" in words_in(first):
        return _healthy(sample, crop)
    return dropped(sample, "label", "names_nothing", first)


def _healthy(sample: Sample, crop: str | None = None) -> Healthy:
    crop = crop or crop_in(sample.images[0])
    return Healthy(id=f"{sample.id}:healthy", sample=sample.id, crop=crop)


def _target(sample: Sample, name: str, crop: str | None, organ: str | None) -> Target:
    return Target(
        id=f"{sample.id}:target", sample=sample.id, kind=kind_of(name, crop),
        label=label_id(name, crop), crop=crop, organ=organ,
    )  # fmt: skip


_TARGETS: Mapping[str, Callable[[Sample], Target | Healthy | Drop]] = {
    "OC_2_1_3": _pest,
    "PDD_2_2_1": _leaf,
    "PDD_2_2_2": _status,
    "VPR_4_1_3": _advice,
}


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return AgroMind(detections.settings_of(options, Settings))


SOURCE: Source = AgroMind(Settings())
