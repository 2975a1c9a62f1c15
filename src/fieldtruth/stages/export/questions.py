"""Questions for a trainer: photo, question and options, the right reply, and nothing else.

train.jsonl, ...   the format's own
images/            photos named by their hash
README.md          how the trainer is given the folder
manifest.json      rows by licence, what it was made from, hashes of photos that are not here
fetch.py           brings those in, where there are any

Captions, the paper's words, labels of figures and other fields of the record are not shown in
training (PlantXpert, supervision settings), so they are not written: no row has a field they could
be in, and a background is taken out of the prompt. Rows are in the order of a hash of their ids.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import msgspec

from fieldtruth import __version__, store
from fieldtruth.draws import key
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.formats.contract import PLACEHOLDER, Exported, Posed, QuestionTrainer
from fieldtruth.grading import open_questions
from fieldtruth.protocols.contract import QuestionProtocol
from fieldtruth.records import SCHEMA, Question, Split
from fieldtruth.stages.export import licences
from fieldtruth.store import Reference
from fieldtruth.store.licences import may_copy
from fieldtruth.store.photos import copy_as, place_of
from fieldtruth.store.references import write_references

ASKED = {"mcq": "choice", "open": "open"}  # how each form is asked where nothing else is said


@dataclass(frozen=True, slots=True)
class Set:
    """Questions to train on. `path` is their file, `root` the folder of their photos.

    `hash_of` gives a photo's SHA-256 where it is known without the photo, which may not be here.
    """

    path: Path
    root: Path
    split: Split
    questions: tuple[Question, ...]
    hash_of: Callable[[str], str | None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Job:
    """What is exported: in which format, asked how (None: by form), and with closed photos?"""

    format: str
    trainer: QuestionTrainer
    set: Set
    protocol: str | None
    fetched: bool


def open_set(source: Path, images: Path | None, split: str | None) -> Set:
    """The questions of a frozen benchmark, or of a file of which is said what split it is.

    Raises `Refused` for a benchmark of the split test or one that does not verify, `Usage` for a
    file without the folder of its photos or without a split to train on.
    """
    if source.is_dir():
        bench = store.open_training(source)
        if images is not None or split is not None:
            raise Usage(f"--images, --split: expected a file of questions, got {source}")
        own, known = bench.manifest.split, bench.manifest.hash_of
        return Set(source / store.QUESTIONS, source, own, bench.questions, known)
    if _tells_split(source.parent / store.MANIFEST):
        raise Usage(f"{source}: expected its folder, whose {store.MANIFEST} tells the split")
    able = [each for each in get_args(Split) if each != "test"]
    wanted = next((each for each in able if each == split), None)
    if wanted is None or images is None:
        raise Usage(
            f"{source}: expected --images, the folder of its photos, and --split "
            f"{' or '.join(able)} (nobody trains on a test split), got {images} and {split}"
        )
    if not images.is_dir():
        raise Usage(f"--images: expected the folder of the photos, got none at {images}")
    return Set(source, images, wanted, tuple(store.read_unique(source, Question)))


def _tells_split(manifest: Path) -> bool:
    """Whether it is of a frozen benchmark; what `questions` writes has one without a split."""
    try:
        told = msgspec.json.decode(manifest.read_bytes())
    except FileNotFoundError:
        return False
    except (msgspec.DecodeError, UnicodeDecodeError, OSError):
        return True
    return not isinstance(told, dict) or "split" in told


def write(job: Job, folder: Path, *, by_licence: bool) -> Exported:
    """Write the questions into an empty folder, or into a folder below it for each licence.

    A photo that questions share is copied only when the licence of each lets it. Raises
    `BadRecord` for words that a trainer would take for a photo, `Usage` for questions that cannot
    be asked so, `Refused` for a photo that is not there.
    """
    questions = sorted(job.set.questions, key=lambda each: (key(0, "export", each.id), each.id))
    if not questions:
        raise Usage(f"{job.set.path}: expected questions to train on, got none")
    photos = _Photos(job)
    if not by_licence:
        return _write(job, folder, questions, photos)
    named = licences.folders(licences.key(each.licence) for each in questions)
    made: dict[str, Exported] = {}
    for licence, name in named.items():
        (folder / name).mkdir()
        mine = [each for each in questions if licences.key(each.licence) == licence]
        made[licence] = _write(job, folder / name, mine, photos)
    licences.write_index(folder, [licences.part(k, named[k], each) for k, each in made.items()])
    return licences.total(made)


def posed(question: Question, protocol: str | None, photos: Sequence[str]) -> Posed:
    """The question as a trainer gets it; `Usage` where the protocol cannot ask it."""
    name = protocol or ASKED[question.form]
    spoken: QuestionProtocol = open_questions(name)
    if not spoken.suits(question):
        raise Usage(f"--protocol {name}: expected questions it can ask, got {question.id!r}")
    bare = msgspec.structs.replace(question, background="", evidence=(), facts=())
    # What an open question is answered with may be its facts: the reply, not a prompt, holds them.
    return Posed(spoken.ask(bare), spoken.answer(question), tuple(photos))


def _write(job: Job, folder: Path, questions: Sequence[Question], photos: "_Photos") -> Exported:
    (folder / "images").mkdir()
    rows = _rows(job, folder, questions, photos)
    split = job.set.split
    use = job.trainer(rows, folder, split)
    (folder / "README.md").write_text(
        f"# {len(questions)} questions for {job.format}, split {split}\n{use}", encoding="utf-8"
    )
    shown = {photos.place(image) for each in questions for image in each.images}
    absent = {place: photos.closed[place] for place in shown if place in photos.closed}
    counts = Counter(licences.key(each.licence) for each in questions)
    about = {
        "schema": SCHEMA, "format": job.format, "split": split, "rows": len(questions),
        "licences": dict(sorted(counts.items())), "code": __version__,
        "inputs": {store.QUESTIONS: store.sha256(job.set.path)},
    }  # fmt: skip
    write_references(folder, absent, about)
    return Exported(rows=len(questions), photos=len(shown) - len(absent), absent=len(absent))


def _rows(
    job: Job, folder: Path, questions: Sequence[Question], photos: "_Photos"
) -> Iterator[Posed]:
    copied: set[str] = set()
    for question in questions:
        places = [photos.place(image) for image in question.images]
        for image, place in zip(question.images, places, strict=True):
            if place not in copied and place not in photos.closed:
                copy_as(photos.path(image), folder / place, photos.sha256[image])
                copied.add(place)
        made = posed(question, job.protocol, places)
        for name, words in (("question", made.prompt), ("answer", made.reply)):
            if seen := PLACEHOLDER.search(words):
                raise BadRecord(
                    f"{job.set.path} (id {question.id!r}): expected words in its {name}, got "
                    f"{seen[0]}, which trainers take for a photo; see `fieldtruth check`"
                )
        yield made


class _Photos:
    """The photos of a set: their hashes, where they go, and which of them may not go along."""

    def __init__(self, job: Job) -> None:
        self._root = job.set.root
        self.sha256: dict[str, str] = {}
        self.closed: dict[str, Reference] = {}
        for question in job.set.questions:
            for image in question.images:
                if image not in self.sha256:
                    known = job.set.hash_of(image)
                    self.sha256[image] = known or store.sha256(self.path(image))
                if not (job.fetched or may_copy(question.licence)):
                    there = Reference(sha256=self.sha256[image], original=image)
                    self.closed[self.place(image)] = there

    def path(self, image: str) -> Path:
        """Where it lies; `Refused` for a path that leads out."""
        return store.inside(self._root, image)

    def place(self, image: str) -> str:
        """Where it goes below the export's folder."""
        return place_of(self.sha256[image], image)
