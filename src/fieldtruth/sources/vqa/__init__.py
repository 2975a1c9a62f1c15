"""Any question-answer set in JSON, JSON lines, CSV or parquet, told by a short file how to read it.

PATH holds the set; `--source-args mapping=FILE.toml` names the file that says which of its fields
is what (`vqa/mapping.py` lists the words; `PATH/mapping.toml` where none is named). A column of
kinds, then a column of labels, go before the words of question and answer (`vqa/routing.py`).
A field that the mapping neither uses nor lists under `ignore` is an error.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import detections, rows
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.rows import Bad, dropped, letter_of
from fieldtruth.sources.contract import Source
from fieldtruth.sources.vqa import mapping, reading, routing
from fieldtruth.sources.vqa.mapping import Plan
from fieldtruth.taxonomy import crop_id


class Settings(rows.Settings, frozen=True, kw_only=True):
    """`--source-args` of this source; the mapping is a path of this machine."""

    mapping: str = ""


class Vqa:
    """The licence is each row's own where a field holds it, then the mapping's, then this."""

    paper = "none: the set's own"
    exhaustive = False  # a question names one thing
    reasons = (
        *routing.REASONS, "no_photo", "unsafe_path", "bad_row", "listed_twice", "bad_answer",
        "no_boxes",
    )  # fmt: skip

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.licence = settings.licence

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows of each file in its order, the files by path.

        Raises `Usage` for a mapping that cannot be used, `BadRecord` naming file, row and field
        for a field that it does not know.
        """
        plan = mapping.read(root, self._settings.mapping)
        names, photos = rows.Names("vqa"), rows.Photos(root)
        for path in plan.files(root):
            place = path.relative_to(root).as_posix()
            for number, row in reading.read(path, plan):
                native = f"{place}:{number}"
                if isinstance(row, Bad):
                    yield dropped(f"vqa:{native}", "ingest", "bad_row", row.why)
                    continue
                try:
                    own = plan.text(row, plan.fields.id)
                except ValueError as error:
                    yield dropped(f"vqa:{native}", "ingest", "bad_row", str(error))
                    continue
                content = msgspec.json.encode(row, order="sorted")
                name, again = names.of(own, (place, number), content)
                if again:
                    yield dropped(name, "ingest", "listed_twice", native)
                else:
                    yield self._sample(name, row, plan, photos)

    def label(self, sample: Sample) -> Iterator[Target | Healthy | Drop]:
        """What the mapping, or else the words, make of the row."""
        yield routing.label(sample)

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:  # noqa: ARG002
        """Always a drop: boxes come in detection formats (`coco`, `voc`)."""
        return detections.drop(target.id, "annotate", "no_boxes", "", of=sample.id)

    def _sample(
        self, name: str, row: Mapping[str, Any], plan: Plan, photos: rows.Photos
    ) -> Sample | Drop:
        try:
            places, options = plan.images(row), plan.options(row)
            texts = {what: plan.text(row, field) for what, field in plan.single().items()}
        except ValueError as error:
            return dropped(name, "ingest", "bad_row", str(error))
        if not places:
            return dropped(name, "ingest", "no_photo", "the row names none")
        lost = photos.lost(places, self._settings)
        if lost is not None:
            return dropped(name, "ingest", *lost)
        answer = _answer(texts["answer"], options, plan)
        if answer is None:
            return dropped(name, "ingest", "bad_answer", texts["answer"])
        crop = texts["crop"] or plan.crop
        native = {
            "told": plan.kinds.get(texts["kind"], "unknown_kind") if plan.fields.kind else "",
            "kind": texts["kind"], "label": texts["label"],
            "labelled": "yes" if plan.fields.label else "",
            "crop": crop_id(crop) if crop else "", "split": texts["split"], "group": texts["group"],
        }  # fmt: skip
        return Sample(
            id=name, source="vqa", images=tuple(dict.fromkeys(places)), question=texts["question"],
            options=options, answer=answer, native={k: v for k, v in native.items() if v},
            licence=texts["licence"] or plan.licence or self.licence,
        )  # fmt: skip


def _answer(said: str, options: tuple[str, ...], plan: Plan) -> str | None:
    """The answer's text: of the option that a letter or a number names; None where none is."""
    if not options:
        return said
    if said in options:
        return said
    if plan.count_from is not None and said.isdecimal():
        at = int(said) - plan.count_from
        return options[at] if 0 <= at < len(options) else None
    at_letter = letter_of(said, options)
    if at_letter is not None:
        return options[at_letter]
    return None if len(said.strip("().: ")) == 1 else said


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return Vqa(detections.settings_of(options, Settings))


SOURCE: Source = Vqa(Settings())
