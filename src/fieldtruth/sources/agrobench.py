"""AgroBench: 4,342 questions of agronomists; what is asked stands before the id's first `_`.

The hub gives it out in parquet files with the photos inside (`ingest` unpacks them first):
`image`, `question`, `options`, `answer`, `category`, `crop`, `source`, `id`. did, pid and wid ask
for a disease, a pest, a weed; dmn for what is to be done or seen; cmn for crop management; mqa and
tm for machines and old ways. Category and crop may be null, at which AgroGround stops; sentences
are no labels here (reference, section 1.1). The release is gated and was not at hand.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from fieldtruth import detections, rows, shards
from fieldtruth.faults import Usage
from fieldtruth.records import Annotation, Drop, Healthy, Kind, Sample, Target
from fieldtruth.sources.contract import Source
from fieldtruth.taxonomy import crop_id, label_id, normalise, resolve
from fieldtruth.taxonomy.lexicon import asked_for, measurement, words_in

TABLES = (shards.ROWS, "metadata.jsonl")
SUBSETS = ("did", "pid", "wid", "dmn", "cmn", "mqa", "tm")
NAMING: Mapping[str, Kind] = {"did": "disease", "pid": "pest", "wid": "weed"}
STRESSES = ("environmental", "nutritional")  # categories of did
VACUOUS = ("", "none", "n a", "unknown", "not applicable")
_SUBSET = re.compile(rf"({'|'.join(SUBSETS)})(?![a-z])", re.IGNORECASE)
_ASIDE = re.compile(r"(?P<name>[^(]*)\((?P<aside>[^)]*)\)\s*")


class Settings(rows.Settings, frozen=True, kw_only=True):
    """`--source-args` of this source."""


class Row(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A row as it is released; `file_name` instead of `image` where it lies unpacked."""

    id: str | int | None = None
    image: str | None = None
    file_name: str | None = None
    question: str
    options: list[str] | None = None
    answer: str | None = None
    category: str | None = None
    crop: str | None = None
    source: str | None = None
    subset: str | None = None


class AgroBench:
    """Repository, paper and hub name no licence."""

    paper = "Shinoda et al. 2025, ICCV, https://arxiv.org/abs/2507.20519"
    exhaustive = False  # a question is about one thing
    photo_column = "image"
    reasons = (
        "no_photo", "unsafe_path", "bad_row", "bad_answer", "listed_twice", "unsupported_subset",
        "action", "cause", "measurement", "sentence", "names_nothing", "no_boxes",
    )  # fmt: skip

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows in their order. Raises `Usage` where there are none."""
        table = next((root / name for name in TABLES if (root / name).is_file()), None)
        if table is None:
            raise Usage(f"{root}: expected parquet files or {TABLES[1]}, got none")
        names, photos = rows.Names("agrobench"), rows.Photos(root)
        for number, row in rows.read_lines(table, Row):
            if isinstance(row, rows.Bad):
                yield rows.dropped(f"agrobench:row {number}", "ingest", "bad_row", row.why)
                continue
            own = "" if row.id is None else str(row.id)
            name, again = names.of(own, ("row", number), msgspec.json.encode(row))
            if again:
                yield rows.dropped(name, "ingest", "listed_twice")
            else:
                yield self._sample(name, row, photos)

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """What the answer says, in the way of its subset."""
        subset, answer = sample.native["subset"], sample.answer
        if normalise(answer) in VACUOUS:
            yield rows.dropped(sample, "label", "names_nothing", answer)
        elif subset in NAMING:
            yield _named(sample, NAMING[subset])
        elif subset == "dmn":
            yield _seen_or_done(sample)
        elif subset == "cmn":
            reason = "action" if "action" in words_in(answer) else "names_nothing"
            yield rows.dropped(sample, "label", "measurement" if measurement(answer) else reason)
        else:
            yield rows.dropped(sample, "label", "unsupported_subset", subset)

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:  # noqa: ARG002
        """Always a drop: the boxes of wid mark what is asked about, and are in no column."""
        return detections.drop(target.id, "annotate", "no_boxes", "", of=sample.id)

    def _sample(self, name: str, row: Row, photos: rows.Photos) -> Sample | Drop:
        place = row.image or row.file_name or ""
        lost = photos.lost((place,), self._settings) if place else ("no_photo", "")
        if lost is not None:
            return rows.dropped(name, "ingest", *lost)
        answer = _answer(row)
        if answer is None:
            return rows.dropped(name, "ingest", "bad_answer", row.answer or "")
        native = {
            "subset": _subset(row), "category": (row.category or "").strip().casefold(),
            "crop": crop_id(row.crop) if row.crop and normalise(row.crop) else "",
        }  # fmt: skip
        return Sample(
            id=name, source="agrobench", images=(place,), question=row.question,
            options=tuple(row.options or ()), answer=answer, native=native, licence=self.licence,
        )  # fmt: skip


def _answer(row: Row) -> str | None:
    """The right option's text, as it stands or by its letter; None where it is no option."""
    said, options = (row.answer or "").strip(), [each.strip() for each in row.options or ()]
    if not options or said in options:
        return said
    at = rows.letter_of(said, options)
    return options[at] if at is not None else None


def _subset(row: Row) -> str:
    """What is asked for: the subset's name, else what the id or the source begins with."""
    for text in (row.subset, row.id, row.source):
        found = _SUBSET.match(str(text or "").strip())
        if found:
            return found[1].lower()
    return (row.subset or row.source or "").strip()


def one_name(answer: str, crop: str | None) -> str:
    """Of "Latin name (common name)" the one that the taxonomy knows, else the common name.

    >>> one_name("Popillia japonica (Japanese beetle)", None), one_name("Powdery scab", "potato")
    ('Japanese beetle', 'Powdery scab')
    """
    parts = _ASIDE.fullmatch(answer)
    if parts is None or not normalise(parts["aside"]) or not normalise(parts["name"]):
        return answer.strip()
    both = (parts["aside"].strip(), parts["name"].strip())
    return next((name for name in both if resolve(name, crop).label is not None), both[0])


def _named(sample: Sample, otherwise: Kind) -> Target | Healthy | Drop:
    crop = sample.native["crop"] or None
    if normalise(sample.answer) in ("healthy", "no disease"):
        return Healthy(id=f"{sample.id}:healthy", sample=sample.id, crop=crop)
    name = one_name(sample.answer, crop)
    if otherwise == "disease":
        stress = any(word in sample.native["category"] for word in STRESSES)
        kind: Kind = "stress" if stress else rows.kind_of(name, crop)
    else:
        kind = otherwise
    return Target(
        id=f"{sample.id}:target", sample=sample.id, kind=kind, label=label_id(name, crop), crop=crop
    )


def _seen_or_done(sample: Sample) -> Target | Drop:
    """dmn: a short look is a symptom; what to do, why, and sentences are drops."""
    asked, answer = asked_for(sample.question), sample.answer
    if asked in ("cause", "action"):
        return rows.dropped(sample, "label", asked, answer)
    words = words_in(answer)
    if "action" in words and "pest" not in words:
        return rows.dropped(sample, "label", "action", answer)
    if asked == "place":
        return rows.dropped(sample, "label", "names_nothing", answer)
    if not rows.is_name(answer):
        return rows.dropped(sample, "label", "sentence", answer)
    crop = sample.native["crop"] or None
    return Target(
        id=f"{sample.id}:target", sample=sample.id, kind="symptom", label=label_id(answer, crop),
        crop=crop, symptoms=answer,
    )  # fmt: skip


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return AgroBench(detections.settings_of(options, Settings))


SOURCE: Source = AgroBench(Settings())
