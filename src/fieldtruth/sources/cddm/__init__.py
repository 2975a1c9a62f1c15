"""CDDM: a million questions about 137,000 photos of crops, most of them diseased.

PATH holds `dataset/images/CROP,DISEASE/*` (some old folders have Chinese names) and
`dataset/VQA/**/*.json`: the test files are lists of `question_id`, `question`, `image`, `answer`,
the training files lists of conversations in the form of LLaVA or of Qwen-VL, which say the same
twice. A row is a target where its own answer names what the photo's folder names; the folder gives
crop and spelling. AgroGround reads the answer only, loses names with a hyphen or a digit, and
takes "not affected by" for "affected by" (reference, section 1.3).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from fieldtruth import detections, rows
from fieldtruth.faults import Usage
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.sources.cddm.answers import FOUND, Well, said
from fieldtruth.sources.cddm.classes import Name
from fieldtruth.sources.contract import Source

PHOTOS, QUESTIONS = "dataset/images", "dataset/VQA"
# Where the authors kept the photos; some files still say so.
OLD_PLACE = "/home/jovyan/liuxiang/LLaVA/Qwen-VL/image_en_eccv/"
_IMG = re.compile(r"(?:Picture\s+\d+\s*:\s*)?<img>(?P<place>.*?)</img>\s*|<image>\s*")
_ASKERS = {"human": "gpt", "user": "assistant"}


class _Turn(msgspec.Struct, forbid_unknown_fields=True, gc=False, rename={"who": "from"}):
    who: str
    value: str


class _Row(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A row of any of the four files."""

    question_id: str | int = ""
    question: str = ""
    image: str = ""
    answer: str = ""
    id: str | int = ""
    conversations: tuple[_Turn, ...] = ()


# A question with its answer: its id in the release, its photos, the question, the answer.
_Asked = tuple[str, tuple[str, ...], str, str]


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
        "names_nothing",
        "no_boxes",
    )

    def __init__(self, settings: rows.Settings) -> None:
        self._settings = settings
        self.licence = settings.licence

    def samples(self, root: Path) -> Iterator[Sample | Drop]:
        """The rows of each file in its order, files by their path.

        Raises `Usage` where there are none, `BadRecord` where one is not of the release.
        """
        files = sorted((root / QUESTIONS).rglob("*.json"))
        if not files:
            raise Usage(
                f"{root}: expected {QUESTIONS}/**/*.json, got none; unpack the archives there"
            )
        photos, names = rows.Photos(root, PHOTOS), rows.Names("cddm")
        there, licence = photos.there.issuperset, self.licence
        for path in files:
            place = path.relative_to(root / QUESTIONS).as_posix()
            native = _split(place)
            for first, some in rows.read_lists(path, _Row):
                for number, row in enumerate(some, first):
                    for one in _asked(row):
                        if isinstance(one, rows.Bad):
                            bad = f"cddm:{place}:{number}"
                            yield rows.dropped(bad, "ingest", "bad_row", one.why)
                            continue
                        own, images, question, answer = one
                        name, again = names.of(own, (place, number), (images, question, answer))
                        if again:
                            yield rows.dropped(name, "ingest", "listed_twice")
                        elif not there(images) and (lost := photos.lost(images, self._settings)):
                            yield rows.dropped(name, "ingest", *lost)
                        else:
                            yield Sample(
                                id=name, source="cddm", images=images, question=question,
                                answer=answer, native=native, licence=licence,
                            )  # fmt: skip

    def label(self, sample: Sample) -> tuple[Target | Healthy | Drop]:
        """What the answer names, with the folder's crop and spelling."""
        image, name = sample.images[0], sample.id
        asked = (image[: image.rfind("/")], sample.question, sample.answer)
        what = FOUND.get(asked) or said(*asked)
        if type(what) is Name:
            return (
                Target(
                    id=f"{name}:target", sample=name, kind=what.kind, label=what.label,
                    crop=what.crop,
                ),
            )  # fmt: skip
        if type(what) is Well:
            return (Healthy(id=f"{name}:healthy", sample=name, crop=what.crop),)
        assert isinstance(what, str)
        return (Drop(id=f"{name}:label", sample=name, stage="label", reason=what),)

    def annotate(self, sample: Sample, target: Target, root: Path) -> Annotation | Drop:  # noqa: ARG002
        """Always a drop: the release holds no boxes."""
        return detections.drop(target.id, "annotate", "no_boxes", "", of=sample.id)


def place_of(image: str) -> str:
    """A photo's path relative to the release, as rows of any age name it.

    >>> place_of("/dataset/images/Apple,Scab/p.jpg"), place_of(OLD_PLACE + "Apple,Scab/p.jpg")
    ('dataset/images/Apple,Scab/p.jpg', 'dataset/images/Apple,Scab/p.jpg')
    """
    if image.startswith("/dataset/"):
        return image[1:]
    if image.startswith(OLD_PLACE):
        return f"{PHOTOS}/{image.removeprefix(OLD_PLACE)}"
    return image.removeprefix("./")


def _split(file: str) -> dict[str, str]:
    """The split that a file's name tells: those of the release do."""
    name = file.lower()
    if "train" in name:
        return {"split": "train"}
    return {"split": "test"} if "test" in name or "disease_" in name else {}


def _asked(row: _Row | rows.Bad) -> Sequence[_Asked | rows.Bad]:
    """What a row asks: one question, or as many as its conversation has turns."""
    if isinstance(row, rows.Bad):
        return (row,)
    said = row.question_id or row.id
    native = said if isinstance(said, str) else str(said)
    if not row.conversations:
        image, question = row.image, row.question
        if not image or not question:
            return (rows.Bad("expected an image and a question with its answer"),)
        return ((native, (place_of(image),), question, row.answer),)
    turns = row.conversations
    pairs = list(zip(turns[::2], turns[1::2], strict=False))
    places = [row.image] if row.image else []
    places += [found["place"] for turn in turns for found in _IMG.finditer(turn.value)
               if found["place"]]  # fmt: skip
    if (
        not places
        or len(turns) % 2
        or any(_ASKERS.get(ask.who) != reply.who for ask, reply in pairs)
    ):
        return (rows.Bad("expected an image, and turns of question and answer"),)
    images = tuple(dict.fromkeys(map(place_of, places)))
    return [
        (
            f"{native}:{number}" if len(pairs) > 1 and native else native,
            images,
            _IMG.sub("", ask.value).strip(),
            reply.value,
        )
        for number, (ask, reply) in enumerate(pairs, start=1)
    ]


def open_source(options: Mapping[str, str]) -> Source:
    """The source with these `--source-args`; `Usage` for one that it does not have."""
    return Cddm(detections.settings_of(options, rows.Settings))


SOURCE: Source = Cddm(rows.Settings())
