"""A folder of training examples: written by `compose --training`, read by whoever trains.

    FOLDER/examples.jsonl, drops.jsonl, manifest.json

Photos stay where they are: `roots` says where each source's lie, relative to the folder. A trainer
gets its examples from `open_examples`, which has none of the split `test` to give (design, section
2, rule 10).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os.path import normpath
from pathlib import Path

import msgspec

from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import SCHEMA, Example, Record, Space, Split
from fieldtruth.store.explain import explain
from fieldtruth.store.lines import open_existing, read_unique
from fieldtruth.store.manifest import MANIFEST
from fieldtruth.store.paths import inside, sha256

EXAMPLES = "examples.jsonl"


class ExamplesManifest(Record, frozen=True, kw_only=True):
    """`manifest.json` of a folder of examples. No dates and no absolute paths.

    `counts` of the examples by field, and of what to note; `drops` by reason; `files` and
    `inputs` are hashes; `code` is this tool's version.
    """

    schema: int = SCHEMA
    name: str
    split: Split
    space: Space
    seed: int
    settings: dict[str, str]
    examples: int
    counts: dict[str, dict[str, int]]
    drops: dict[str, int]
    roots: dict[str, str]  # source -> the folder of its photos, relative to this one
    files: dict[str, str]
    inputs: dict[str, str]
    code: str

    def rendered(self) -> bytes:
        """The bytes of `manifest.json`: one rendering for one content."""
        flat = msgspec.json.encode(self, order="deterministic")
        return msgspec.json.format(flat, indent=1) + b"\n"


class _Made(msgspec.Struct):
    """The one field every schema has; absent means the present one."""

    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class ExampleSet:
    """Examples a trainer may see: never of the split `test`. Iterating reads them from the disk.

    `path` is their file, `manifest` what lies beside it; None where a file alone was opened.
    """

    path: Path
    manifest: ExamplesManifest | None
    images: Path | None = None

    def __post_init__(self) -> None:
        if self.manifest is not None and self.manifest.split == "test":
            raise Refused(
                f"{self.path.parent}: expected examples to train on (split train or val), got the "
                "split test; compose the training photos apart, with --split train"
            )

    def __iter__(self) -> Iterator[Example]:
        """The examples in their order; `BadRecord` and `Refused` name the line that is not one."""
        for number, example in enumerate(read_unique(self.path, Example), start=1):
            own = self.manifest.split if self.manifest else example.split
            if example.split != own or own == "test":
                raise Refused(
                    f"{self.path}:{number} (id {example.id!r}): expected an example of the split "
                    f"{own if own != 'test' else 'train or val'}, got one of {example.split}; "
                    "compose the folder again"
                )
            yield example

    def root(self, source: str) -> Path:
        """The folder of a source's photos; `Usage` where it is not known, or no longer there."""
        if self.images is not None:
            return self.images
        roots = self.manifest.roots if self.manifest else {}
        if source not in roots:
            raise Usage(
                f"{self.path}: expected a {MANIFEST} beside it that says where the photos of "
                f"{source!r} are, got none; give their folder with --images"
            )
        root = Path(normpath(self.path.parent.resolve() / roots[source]))
        if not root.is_dir():
            raise Usage(
                f"{self.path}: expected the photos of {source!r} at {root}, got nothing there; "
                "put them back, or compose again from where they are"
            )
        return root

    def photo(self, example: Example) -> Path:
        """Where an example's photo lies; `Refused` for a path that leaves its source's folder."""
        return inside(self.root(example.source), example.image, f"{self.path} ({example.id!r})")


def open_examples(path: Path, images: Path | None = None) -> ExampleSet:
    """The examples of a folder that is as it was composed, or those of a file alone.

    `images` is where the photos of every source are, in place of what the manifest says. A
    folder's files are held against its manifest; a file alone is taken as it is, with the roots
    of a manifest beside it.

    Raises `Refused` for the split test, for files that are not those the manifest was written
    with, and for a newer schema; `BadRecord` for a manifest that is none; `Usage` where there is
    no such folder or file.
    """
    if not path.is_dir():
        with open_existing(path):
            beside = path.with_name(MANIFEST)
        return ExampleSet(path, _manifest(beside) if beside.is_file() else None, images)
    if not (path / MANIFEST).is_file():
        raise Usage(
            f"{path}: expected a folder of examples with a {MANIFEST}, got none; make one with "
            "`compose --training`"
        )
    found = ExampleSet(path / EXAMPLES, _manifest(path / MANIFEST), images)
    _verify(path, found.manifest.files if found.manifest else {})
    return found


def _verify(folder: Path, files: Mapping[str, str]) -> None:
    if EXAMPLES not in files:
        raise Refused(f"{folder}: expected {MANIFEST} to vouch for {EXAMPLES}, got nothing")
    for name, expected in sorted(files.items()):
        there = inside(folder, name)
        if not there.is_file() or sha256(there) != expected:
            raise Refused(
                f"{there}: expected the file that {MANIFEST} vouches for, got "
                f"{'another' if there.is_file() else 'none'}; compose the folder again"
            )


def _manifest(path: Path) -> ExamplesManifest:
    raw = path.read_bytes()
    try:
        made = msgspec.json.decode(raw, type=_Made)
        if made.schema > SCHEMA:
            raise Refused(
                f"{path}: expected a schema of at most {SCHEMA}, got {made.schema}; a newer "
                "fieldtruth made it: update yours"
            )
        return msgspec.json.decode(raw, type=ExamplesManifest)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path}{explain(raw, ExamplesManifest, error)}") from None
