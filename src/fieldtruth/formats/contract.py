"""What a format is that a frozen benchmark, or a folder of training examples, is exported to.

Its file ends in `EXPORT: Exporter = ...` for benchmarks or `TRAINING: Trainer = ...` for examples,
with `QUESTIONS: QuestionTrainer = ...` where questions are trained on too; the file's name is what
`fieldtruth export` calls it.
"""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from fieldtruth.records import Example, Item, Record, Split
from fieldtruth.store import Bench
from fieldtruth.taxonomy import label_id

# What stands for a photo in the words of some trainer or model; nobody may mean it literally.
PLACEHOLDER = re.compile(
    r"<(?:image|video|audio)>|<\|(?:image|video|audio|vision)(?:_[a-z0-9]+)?\|>"
    r"|<(?:start_of_image|end_of_image|image_soft_token|IMG_CONTEXT|img|/img)>"
)


class Exported(Record, frozen=True, kw_only=True):
    """What was written. `absent` counts photos that are null there: kept only as references."""

    rows: int
    photos: int
    absent: int
    licences: dict[str, int] = msgspec.field(
        default_factory=dict
    )  # rows by licence, where they were told apart


class Exporter(Protocol):
    """Writes a benchmark into an empty folder. A pure function of the two: no dates."""

    def __call__(self, bench: Bench, folder: Path, *, fetched: bool) -> Exported:
        """`fetched`: also hand on photos that are only referenced, where they were fetched."""
        ...


class Shown(NamedTuple):
    """An example as a trainer gets it: with its photo's path relative to the export's folder."""

    example: Example
    photo: str


class Trainer(Protocol):
    """Writes examples for one trainer into an empty folder, streaming. A pure function: no dates.

    Photos lie in `images/` when a row comes by; those that may not be handed on do not.
    """

    def __call__(self, rows: Iterable[Shown], folder: Path, split: Split) -> str:
        """Returns how the trainer is given the folder, as Markdown, for its README."""
        ...


class Posed(NamedTuple):
    """A question as a trainer gets it: words, the right reply, photos, and nothing else.

    `photos` are paths relative to the export's folder, in the order they are shown.
    """

    prompt: str
    reply: str
    photos: tuple[str, ...]


class QuestionTrainer(Protocol):
    """Writes questions for one trainer into an empty folder, as a `Trainer` does examples.

    What a row holds beside the three of `Posed` is fixed, or its place in the set: no id, for an
    id may tell what a caption tells (PlantXpert, supervision settings).
    """

    def __call__(self, rows: Iterable[Posed], folder: Path, split: Split) -> str:
        """Returns how the trainer is given the folder, as Markdown, for its README."""
        ...


class Classes:
    """The classes of a benchmark's items: one for each label id, however its label is spelled.

    A class is called as the first of its spellings in alphabetical order.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._named: dict[tuple[str, str | None], str] = {}
        first: dict[str, str] = {}
        known = {(item.label, item.crop) for item in items if item.label}
        for label, crop in sorted(known, key=lambda each: (each[0], each[1] or "")):
            self._named[label, crop] = first.setdefault(label_id(label, crop), label)
        self.names = tuple(sorted(set(self._named.values())))

    def of(self, item: Item) -> str:
        """The name of an item's class; "" for a healthy photo."""
        return self._named[item.label, item.crop] if item.label else ""


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """One JSON value a line."""
    encode = msgspec.json.Encoder().encode
    with path.open("wb") as file:
        file.writelines(encode(row) + b"\n" for row in rows)


def copy_photos(bench: Bench, folder: Path, *, fetched: bool) -> tuple[int, int]:
    """Copy the items' photos to their own paths below `folder`: (copied, left out).

    Photos that are only referenced are left out unless `fetched`, and then only where they are
    not there.
    """
    images = sorted({item.image for item in bench.items})
    copied = 0
    for image in images:
        path = bench.photo(image)
        if image in bench.manifest.references and not (fetched and path.exists()):
            continue
        (folder / image).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / image)
        copied += 1
    return copied, len(images) - copied
