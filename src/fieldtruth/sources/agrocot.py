"""AgroCoT: 4,535 questions with chains of thought, told apart by three numbers.

PATH holds JSON lists with `question`, `options`, `answer`, the photo, and `type_id`, `dimension_id`
and `sub_dimension_id` (also under `metadata`, and also as text: AgroGround then skips its filter
without a word; reference, section 1.2). Most questions count, compare or ask for a place; those of
dimension 3 (objects, diseases) and 4 (pests, leaves) may name something. Pests are looked for
before actions, so a cutworm is nothing to cut. The rows were not at hand: names of fields are the
reference's.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import detections, rows
from fieldtruth.faults import Usage
from fieldtruth.records import Annotation, Drop, Healthy, Kind, Sample, Target
from fieldtruth.sources.contract import Source
from fieldtruth.taxonomy import label_id, normalise, resolve
from fieldtruth.taxonomy.lexicon import crop_in, disease_after_no, measurement, words_in

# Question types that name nothing: counts, yes or no, choices of files, coordinates, severity.
UNNAMING = frozenset((2, 3, 4, 5, 7, 8, 9, 11))
VACUOUS = ("", "general", "none", "n a", "unknown", "unclear")
REPAIRS = {"scarab": "scab", "scarab fungus": "scab"}  # slips of the release behind "No, it has"
_YES_NO = re.compile(r"\W*(yes|no|true|false)\W*", re.IGNORECASE)
_YES = re.compile(r"\W*yes\b", re.IGNORECASE)
_PLACE = re.compile(r"\W*[\[(]\s*[-\d.]+\s*,[\s\d.,()\[\]-]*")
_LOOKS = re.compile(r"symptom|condition|disease|damage|affect", re.IGNORECASE)
_COUNT = re.compile(r"\W*\d+\W*")


class Settings(rows.Settings, frozen=True, kw_only=True):
    """`--source-args` of this source."""

    licence: str = "CC BY-SA 4.0"


class Numbers(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The three numbers, as numbers or as text."""

    type_id: int | str | None = None
    dimension_id: int | str | None = None
    sub_dimension_id: int | str | None = None
    dimension: int | str | None = None
    sub_dimension: int | str | None = None


class Row(Numbers, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A row; the chain of thought is known and not read."""

    id: int | str | None = None
    item_id: int | str | None = None
    question_id: int | str | None = None
    image: str | list[str] | None = None
    image_path: str | list[str] | None = None
    images: list[str] | None = None
    question: str
    options: dict[str, str] | list[str] | None = None
    answer: str | int | float | None = None
    metadata: Numbers | None = None
    cot: Any = None
    reasoning: Any = None
    rationale: Any = None
    explanation: Any = None
    split: str | None = None


class AgroCoT:
    """The licence is that of the hub's card; paper and repository name none."""

    paper = "Wen et al. 2025, https://arxiv.org/abs/2511.23253"
    exhaustive = False  # a question is about one thing
    reasons = (
        "no_photo", "unsafe_path", "bad_row", "bad_answer", "listed_twice", "unsupported_subset",
        "yes_no", "count", "measurement", "coordinates", "plant_id", "action", "cause", "vacuous",
        "sentence", "names_nothing", "no_boxes",
    )  # fmt: skip

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows of each JSON list, the files by path. Raises `Usage` where there is none."""
        files = sorted(path for path in root.rglob("*.json") if path.is_file())
        if not files:
            raise Usage(f"{root}: expected JSON lists below it, got none")
        names, photos = rows.Names("agrocot"), rows.Photos(root)
        for path in files:
            place = path.relative_to(root).as_posix()
            for number, row in rows.read_list(path, Row):
                if isinstance(row, rows.Bad):
                    lost = f"agrocot:{place}:{number}"
                    yield rows.dropped(lost, "ingest", "bad_row", row.why)
                    continue
                ids = (row.id, row.item_id, row.question_id)
                own = next((str(each) for each in ids if each is not None), "")
                name, again = names.of(own, (place, number), msgspec.json.encode(row))
                if again:
                    yield rows.dropped(name, "ingest", "listed_twice")
                else:
                    yield self._sample(name, row, photos)

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """What the answer says, in the way of its dimension."""
        kind, dimension, sub = (int(sample.native[each]) for each in ("type", "dimension", "sub"))
        if kind in UNNAMING:
            yield rows.dropped(sample, "label", _plain_reason(sample.answer), sample.answer)
        elif (dimension, sub) == (3, 1):
            yield _thing(sample)
        elif (dimension, sub) in ((3, 3), (4, 2), (4, 3)):
            yield _said(sample, otherwise="pest" if sub == 2 else None)
        elif (dimension, sub) in ((2, 3), (5, 2), (5, 3)) and "action" in words_in(sample.answer):
            yield rows.dropped(sample, "label", "action", sample.answer)
        else:
            yield rows.dropped(sample, "label", _plain_reason(sample.answer), sample.answer)

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:  # noqa: ARG002
        """Always a drop: places in answers are text about other things."""
        return detections.drop(target.id, "annotate", "no_boxes", "", of=sample.id)

    def _sample(self, name: str, row: Row, photos: rows.Photos) -> Sample | Drop:
        places = _places(row)
        lost = photos.lost(places, self._settings) if places else ("no_photo", "")
        if lost is not None:
            return rows.dropped(name, "ingest", *lost)
        numbers = _numbers(row)
        if numbers is None:
            why = "expected whole numbers as type, dimension and sub-dimension"
            return rows.dropped(name, "ingest", "bad_row", why)
        options, answer = _options(row)
        if answer is None:
            return rows.dropped(name, "ingest", "bad_answer", str(row.answer))
        return Sample(
            id=name, source="agrocot", images=places, question=row.question, options=options,
            answer=answer, native=numbers, licence=self.licence,
        )  # fmt: skip


def _places(row: Row) -> tuple[str, ...]:
    said = row.images or row.image or row.image_path or ()
    each = (said,) if isinstance(said, str) else said
    return tuple(dict.fromkeys(place.removeprefix("./") for place in each))


def _numbers(row: Row) -> dict[str, str] | None:
    """Type, dimension and sub-dimension, each as the text of a whole number; None where not."""
    held = (row, row.metadata) if row.metadata else (row,)
    found: dict[str, str] = {}
    for name, fields in (("type", ("type_id",)), ("dimension", ("dimension_id", "dimension")),
                         ("sub", ("sub_dimension_id", "sub_dimension"))):  # fmt: skip
        values = [getattr(each, field) for each in held for field in fields]
        text = next((str(value).strip() for value in values if value is not None), "")
        if not text.isdecimal():
            return None
        found[name] = str(int(text))
    return found


def _options(row: Row) -> tuple[tuple[str, ...], str | None]:
    """The options in letter order, and the right one's text; None where the letter has none."""
    options = row.options or ()
    if isinstance(options, dict):
        options = [options[letter] for letter in sorted(options)]
    said = "" if row.answer is None else str(row.answer).strip()
    if not options or said in options:
        return tuple(options), said
    at = rows.letter_of(said, options)
    alone = len(said.strip("().: ")) == 1 and said.strip("().: ").isalpha()
    return tuple(options), options[at] if at is not None else None if alone else said


def _plain_reason(answer: str) -> str:
    """Why an answer names nothing, from its form."""
    if _YES_NO.fullmatch(answer):
        return "yes_no"
    if _COUNT.fullmatch(answer):
        return "count"
    if _PLACE.fullmatch(answer):
        return "coordinates"
    return "measurement" if measurement(answer) else "unsupported_subset"


def _thing(sample: Sample) -> Target | Drop:
    """An animal or a weed by what is known of its name; other plants are drops."""
    known = resolve(sample.answer).label
    if known is not None and known.kind in ("pest", "weed") and rows.is_name(sample.answer):
        return _target(sample, sample.answer, known.kind, None)
    words = words_in(sample.answer)
    if rows.is_name(sample.answer) and words & {"pest", "weed"}:
        return _target(sample, sample.answer, "pest" if "pest" in words else "weed", None)
    plant = crop_in(sample.answer) is not None
    return rows.dropped(sample, "label", "plant_id" if plant else "names_nothing", sample.answer)


def _said(sample: Sample, otherwise: Kind | None) -> Target | Healthy | Drop:
    """A free answer: "No, it has X" and plain words first, then what is known of the name."""
    answer = sample.answer
    crop = crop_in(answer) or crop_in(sample.question)
    name = disease_after_no(answer)
    if name is not None:
        name = REPAIRS.get(normalise(name), name)
        return _target(sample, name, rows.kind_of(name, crop), crop)
    asked_health = "healthy" in sample.question.casefold()
    if "healthy" in words_in(answer) or (asked_health and _YES.match(answer)):
        return Healthy(id=f"{sample.id}:healthy", sample=sample.id, crop=crop)
    if _YES_NO.fullmatch(answer):
        return rows.dropped(sample, "label", "yes_no", answer)
    if normalise(answer) in VACUOUS:
        return rows.dropped(sample, "label", "vacuous", answer)
    return _free(sample, crop, otherwise)


def _free(sample: Sample, crop: str | None, otherwise: Kind | None) -> Target | Drop:
    """The kind that the taxonomy knows, else the question's, else that of the words."""
    answer, words = sample.answer, words_in(sample.answer)
    known = resolve(answer, crop).label
    told: list[Kind] = [kind for kind in ("pest", "weed", "stress") if kind in words]
    name = rows.is_name(answer)
    if "action" in words and known is None and not (name and told):
        return rows.dropped(sample, "label", "action", answer)
    if not name:
        return rows.dropped(sample, "label", "cause" if "cause" in words else "sentence", answer)
    if known is not None:
        return _target(sample, answer, known.kind, crop)
    if otherwise or told:
        return _target(sample, answer, otherwise or told[0], crop)
    if not _LOOKS.search(sample.question):
        return rows.dropped(sample, "label", "names_nothing", answer)
    return _target(sample, answer, "symptom", crop)


def _target(sample: Sample, name: str, kind: Kind, crop: str | None) -> Target:
    return Target(
        id=f"{sample.id}:target", sample=sample.id, kind=kind, label=label_id(name, crop),
        crop=crop, symptoms=name if kind == "symptom" else "",
    )  # fmt: skip


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return AgroCoT(detections.settings_of(options, Settings))


SOURCE: Source = AgroCoT(Settings())
