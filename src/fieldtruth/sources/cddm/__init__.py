"""CDDM: a million questions about 137,000 photos of crops, most of them diseased.

PATH holds `dataset/images/CROP,DISEASE/*` (some old folders have Chinese names) and
`dataset/VQA/**/*.json`: the test files are lists of `question_id`, `question`, `image`, `answer`,
the training files lists of conversations in the form of LLaVA or of Qwen-VL, which say the same
twice. A row is a target where its own answer names what the photo's folder names; the folder gives
crop and spelling. Answers in another language are dropped as such. AgroGround reads the answer
only, loses names with a hyphen or a digit, and takes "not affected by" for "affected by"
(reference, section 1.3).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path

from fieldtruth import detections, rows
from fieldtruth.faults import Usage
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.sources.cddm.answers import Said, Well, said
from fieldtruth.sources.cddm.classes import Name
from fieldtruth.sources.cddm.reading import QUESTIONS, Reader, place_of
from fieldtruth.sources.contract import Source

KEPT = 16384  # answers; among a million the frequent ones come early

__all__ = ["SOURCE", "Cddm", "open_source", "place_of"]


class Cddm:
    """The repository has no licence; the paper means to release the data and names no terms."""

    paper = "Liu et al. 2024, ECCV, https://arxiv.org/abs/2503.06973"
    exhaustive = False  # a folder names one disease, and not what else is not there
    reasons = (
        "no_photo",
        "unsafe_path",
        "bad_row",
        "listed_twice",
        "management",
        "cause",
        "plant_id",
        "yes_no",
        "measurement",
        "vacuous",
        "several_things",
        "contradicts_folder",
        "other_language",  # most of it, or where the name would stand: only English is read
        "names_nothing",
        "no_boxes",
    )

    def __init__(self, settings: rows.Settings) -> None:
        self._settings = settings
        self.licence = settings.licence
        self._found: dict[str, Said] = {}

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows of each file in its order, files by their path.

        Raises `Usage` where there are none, `BadRecord` where one is not of the release.
        """
        files = sorted((root / QUESTIONS).rglob("*.json"))
        if not files:
            raise Usage(
                f"{root}: expected {QUESTIONS}/**/*.json, got none; unpack the archives there"
            )
        reader = Reader(root, files, self._settings)
        return chain.from_iterable(chain.from_iterable(map(reader.samples, files)))

    def label(self, sample: Sample) -> tuple[Target | Healthy | Drop]:
        """What the answer names, with the folder's crop and spelling."""
        return (self.label_all((sample,))[0],)

    def label_all(self, samples: Sequence[Sample]) -> list[Target | Healthy | Drop]:
        """`label` for a million samples, without a call for each.

        What the first `KEPT` say is kept: few answers are distinct, and where all are, a cache that
        forgets the oldest costs as much as reading the answer. The lengths make one text of folder,
        question and answer that no others make; it is looked up in a third of the time of a tuple.
        """
        folders = [each.images[0].rpartition("/")[0] for each in samples]
        keys = [
            f"{len(folder)} {len(each.question)} {folder}{each.question}{each.answer}"
            for folder, each in zip(folders, samples, strict=True)
        ]
        made: list[Target | Healthy | Drop] = []
        put = made.append
        for each, what, at in zip(samples, map(self._found.get, keys), count()):
            name = each.id
            if what is None:
                what = said(folders[at], each.question, each.answer)
                if len(self._found) < KEPT:
                    self._found[keys[at]] = what
            if type(what) is Name:
                target = Target(
                    id=f"{name}:target", sample=name, kind=what.kind, label=what.label,
                    crop=what.crop,
                )  # fmt: skip
                put(target)
            elif type(what) is Well:
                put(Healthy(id=f"{name}:healthy", sample=name, crop=what.crop))
            else:
                assert isinstance(what, str)
                put(Drop(id=f"{name}:label", sample=name, stage="label", reason=what))
        return made

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:  # noqa: ARG002
        """Always a drop: the release holds no boxes."""
        return detections.drop(target.id, "annotate", "no_boxes", "", of=sample.id)


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return Cddm(detections.settings_of(options, rows.Settings))


SOURCE: Source = Cddm(rows.Settings())
