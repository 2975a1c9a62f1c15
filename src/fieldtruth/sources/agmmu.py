"""AgMMU: questions made of growers' talks with extension experts, one photo file a question.

PATH holds the released JSON list (772 rows of 770 talks) and the photos, `FAQ-ID-1.jpg` and so on
for the further photos of a talk, anywhere below it. `qtype` says what a question is about, the
options hold the answer. What the row knows of the plant (`qa_information.species`) gives the crop.
A whole sentence is no label: a look in up to five words is a symptom, more is a drop.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from fieldtruth import detections, rows
from fieldtruth.faults import Usage
from fieldtruth.records import Annotation, Drop, Kind, Sample, Target
from fieldtruth.rows import Bad, dropped, kind_of, letter_of
from fieldtruth.sources.contract import Source
from fieldtruth.taxonomy import label_id, normalise, resolve
from fieldtruth.taxonomy.lexicon import crop_in, words_in

DISEASE = "disease/issue identification"
PEST = "insect/pest"
SPECIES = "species"
SYMPTOM = "symptom/visual description"
OTHERS = {"management instructions": "action"}
VACUOUS = ("", "none", "n a", "unknown", "not applicable", "no disease", "null")
LONGEST = 5  # words of a symptom that can be a label


class Settings(rows.Settings, frozen=True, kw_only=True):
    """`--source-args` of this source."""

    licence: str = "CC BY-SA 4.0"


class Made(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """`agmmu_question`: the question that was made of a talk."""

    question: str
    options: list[str] | None = None
    answer: str | None = None
    question_background: str | None = None
    letter: str | None = None


class Row(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A row as it is released; what inference adds to it (`llm_answers`) is known and not read."""

    faq: int | str = msgspec.field(name="faq-id")
    qtype: str | None = None
    agmmu_question: Made | None = None
    qa_information: dict[str, Any] | None = None
    title: str | None = None
    question: Any = None
    answer: Any = None
    species: str | None = None
    category: str | None = None
    created: Any = None
    updated: Any = None
    state: str | None = None
    county: str | None = None
    tags: Any = None
    attachments: Any = None
    llm_answers: Any = None


class AgMMU:
    """Two talks are in the release twice, with another question each."""

    paper = "Gauba et al. 2025, AgMMU, https://arxiv.org/abs/2504.10568"
    exhaustive = False  # a question is about one thing
    reasons = (
        "action", "plant_id", "names_nothing", "sentence", "unknown_qtype", "bad_answer",
        "no_question", "no_photo", "unsafe_path", "bad_row", "listed_twice", "no_boxes",
    )  # fmt: skip

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows of each JSON list below `root`, the files by path.

        Raises `Usage` where there is none, `BadRecord` for a field that AgMMU has not.
        """
        files = sorted(path for path in root.rglob("*.json") if path.is_file())
        if not files:
            raise Usage(f"{root}: expected the released JSON list below it, got none")
        names, photos = rows.Names("agmmu"), _Photos(root)
        for path in files:
            for number, row in rows.read_list(path, Row):
                if isinstance(row, Bad):
                    at = f"agmmu:{path.stem}:row {number}"
                    yield dropped(at, "ingest", "bad_row", row.why)
                    continue
                content = msgspec.json.encode(row)
                name, again = names.of(str(row.faq), (path.stem, number), content)
                if again:
                    yield dropped(name, "ingest", "listed_twice", f"{path.name}: row {number}")
                elif row.agmmu_question is None:
                    yield dropped(name, "ingest", "no_question")
                else:
                    yield self._sample(name, row, row.agmmu_question, photos)

    def label(self, sample: Sample) -> Iterator[Target | Drop]:
        """What the right option names, in the way of its question's type."""
        kind, name = sample.native["qtype"], sample.answer
        if sample.native["agrees"] == "no":
            yield dropped(sample, "label", "bad_answer", name)
        elif kind in OTHERS:
            yield dropped(sample, "label", OTHERS[kind], name)
        elif normalise(name) in VACUOUS:
            yield dropped(sample, "label", "names_nothing", name)
        elif kind == SYMPTOM:
            yield _symptom(sample)
        elif kind == SPECIES:
            yield _species(sample)
        elif kind in (DISEASE, PEST):
            yield _named(sample)
        else:
            yield dropped(sample, "label", "unknown_qtype", kind)

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:  # noqa: ARG002
        """Always a drop: the release holds no boxes."""
        return detections.drop(target.id, "annotate", "no_boxes", "", of=sample.id)

    def _sample(self, name: str, row: Row, made: Made, photos: "_Photos") -> Sample | Drop:
        places = photos.of(str(row.faq))
        if not places:
            if self._settings.photos == "needed":
                return dropped(name, "ingest", "no_photo", f"{row.faq}-1.jpg")
            places = (f"images/{row.faq}-1.jpg",)
        options = tuple(made.options or ())
        answer, agrees = _answer(made, options)
        known = row.qa_information or {}
        plant = known.get("species") or row.species or ""
        return Sample(
            id=name, source="agmmu", images=places, question=made.question, options=options,
            answer=answer, licence=self.licence,
            native={
                "qtype": (row.qtype or "").strip().casefold(), "agrees": agrees,
                "plant": str(plant), "title": row.title or "",
            },
        )  # fmt: skip


class _Photos:
    """The photos of each talk in their order, wherever they lie below the root."""

    def __init__(self, root: Path) -> None:
        self._of: dict[str, list[tuple[int, str]]] = {}
        for place in sorted(rows.Photos(root).there):
            stem = PurePosixPath(place).stem
            talk, _, number = stem.rpartition("-")
            if talk and number.isdecimal():
                self._of.setdefault(talk, []).append((int(number), place))

    def of(self, talk: str) -> tuple[str, ...]:
        """Photo 1 and those that follow it; none where photo 1 is not there."""
        found = dict(sorted(self._of.get(talk, ()), reverse=True))
        return tuple(found[number] for number in sorted(found)) if 1 in found else ()


def _answer(made: Made, options: tuple[str, ...]) -> tuple[str, str]:
    """The right option, and whether letter and answer agree on it; the letter goes first."""
    said = (made.answer or "").strip()
    at = letter_of(made.letter or "", options) if made.letter else None
    if at is None:
        return said, "yes" if not options or not made.letter else "no"
    same = not said or normalise(options[at]) == normalise(said)
    return options[at], "yes" if same else "no"


def _crop(sample: Sample) -> str | None:
    """What the row knows of the plant, else what is asked; the talk's title last."""
    said = (sample.native["plant"], sample.question, sample.native["title"])
    return next((crop for text in said if (crop := crop_in(text))), None)


def _named(sample: Sample) -> Target | Drop:
    crop = _crop(sample)
    pest = sample.native["qtype"] == PEST
    return Target(
        id=f"{sample.id}:target", sample=sample.id, label=label_id(sample.answer, crop), crop=crop,
        kind="pest" if pest else kind_of(sample.answer, crop),
    )  # fmt: skip


def _species(sample: Sample) -> Target | Drop:
    """An animal by what the taxonomy knows, else by its name; a weed where the row calls it one.

    That a plant is in a list of weeds does not make it one here: red maple is in such a list.
    """
    known = resolve(sample.answer).label
    kind: Kind | None = known.kind if known is not None else None
    words = words_in(sample.answer)
    if kind not in ("pest", "weed"):
        kind = "pest" if kind is None and "pest" in words else None
    if kind == "weed" and "weed" not in words | words_in(sample.question):
        kind = None
    if kind is None:
        return dropped(sample, "label", "plant_id", sample.answer)
    return Target(
        id=f"{sample.id}:target", sample=sample.id, kind=kind, label=label_id(sample.answer)
    )


def _symptom(sample: Sample) -> Target | Drop:
    plain = normalise(sample.answer)
    if len(plain.split()) > LONGEST or any(mark in sample.answer for mark in ",;:"):
        return dropped(sample, "label", "sentence", sample.answer)
    crop = _crop(sample)
    return Target(
        id=f"{sample.id}:target", sample=sample.id, kind="symptom", label=label_id(plain, crop),
        crop=crop, symptoms=sample.answer,
    )  # fmt: skip


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return AgMMU(detections.settings_of(options, Settings))


SOURCE: Source = AgMMU(Settings())
