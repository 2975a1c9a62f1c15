"""Training examples for a trainer: its own files, and the photos that may be handed on.

train.jsonl, ...   the format's own
images/            photos named by their hash
README.md          how the trainer is given the folder
manifest.json      rows by licence, what it was made from, hashes of photos that are not here
fetch.py           brings those in, where there are any
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fieldtruth import __version__, store
from fieldtruth.faults import BadRecord
from fieldtruth.formats.contract import PLACEHOLDER, Exported, Shown, Trainer
from fieldtruth.records import SCHEMA, Example, Space
from fieldtruth.stages.export import licences
from fieldtruth.stages.export.spaces import in_space
from fieldtruth.store import Reference
from fieldtruth.store.examples import EXAMPLES, ExampleSet
from fieldtruth.store.licences import may_copy
from fieldtruth.store.photos import copy_as, place_of
from fieldtruth.store.references import write_references


@dataclass(frozen=True, slots=True)
class Job:
    """What is exported: in which format, from where, in which space (None: as it is)."""

    format: str
    trainer: Trainer
    examples: ExampleSet
    space: Space | None
    fetched: bool  # photos that may not be handed on go along


def write(job: Job, folder: Path, *, by_licence: bool) -> Exported:
    """Write the examples into an empty folder, or into a folder below it for each licence.

    A photo that examples share is copied only when the licence of each lets it. Raises `BadRecord`
    for words that a trainer would take for a photo, `Refused` for a photo that is not there or is
    another than it was.
    """
    closed: set[str] = set()  # photos that one of their licences keeps back
    counts: Counter[str] = Counter()
    for example in job.examples:
        counts[licences.key(example.licence)] += 1
        if not (job.fetched or may_copy(example.licence)):
            closed.add(example.image_sha256)
    if not by_licence:
        return _write(job, folder, closed, None)
    named = licences.folders(counts)
    made: dict[str, Exported] = {}
    for licence, name in named.items():
        (folder / name).mkdir()
        made[licence] = _write(job, folder / name, closed, licence)
    licences.write_index(folder, [licences.part(k, named[k], each) for k, each in made.items()])
    return licences.total(made)


def _write(job: Job, folder: Path, closed: set[str], licence: str | None) -> Exported:
    shown = _Rows(job, folder, closed, licence)
    (folder / "images").mkdir()
    manifest = job.examples.manifest
    split = manifest.split if manifest else "train"
    use = job.trainer(shown, folder, split)
    count = shown.counts.total()
    (folder / "README.md").write_text(
        f"# {count} training examples for {job.format}, split {split}\n{use}", encoding="utf-8"
    )
    made_from = manifest.files.get(EXAMPLES) if manifest else None
    about = {
        "schema": SCHEMA, "format": job.format, "split": split, "rows": count,
        "licences": dict(sorted(shown.counts.items())), "code": __version__,
        "inputs": {EXAMPLES: made_from or store.sha256(job.examples.path)},
    }  # fmt: skip
    write_references(folder, shown.references, about)
    return Exported(rows=count, photos=len(shown.copied), absent=len(shown.references))


class _Rows:
    """The examples of one folder, each with its photo in place when it comes by."""

    def __init__(self, job: Job, folder: Path, closed: set[str], licence: str | None) -> None:
        self._job, self._folder, self._closed, self._licence = job, folder, closed, licence
        self.counts: Counter[str] = Counter()
        self.copied: set[str] = set()
        self.references: dict[str, Reference] = {}

    def __iter__(self) -> Iterator[Shown]:
        for example in self._job.examples:
            key = licences.key(example.licence)
            if self._licence not in (None, key):
                continue
            _words(example, self._job)
            place = place_of(example.image_sha256, example.image)
            self._photo(example, place)
            self.counts[key] += 1
            asked = in_space(example, self._job.space) if self._job.space else example
            yield Shown(asked, place)

    def _photo(self, example: Example, place: str) -> None:
        if place in self.copied or place in self.references:
            return
        if example.image_sha256 in self._closed:
            known = Reference(sha256=example.image_sha256, original=example.image)
            self.references[place] = known
            return
        source = self._job.examples.photo(example)
        copy_as(source, self._folder / place, example.image_sha256)
        self.copied.add(place)


def _words(example: Example, job: Job) -> None:
    """`BadRecord` where a trainer would take a part of the words for a photo."""
    for name in ("prompt", "answer"):
        if seen := PLACEHOLDER.search(getattr(example, name)):
            raise BadRecord(
                f"{job.examples.path} (id {example.id!r}): expected words in its {name}, got "
                f"{seen[0]}, which trainers take for a photo; see `fieldtruth check`"
            )
