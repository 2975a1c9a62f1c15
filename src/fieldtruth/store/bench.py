"""A frozen benchmark, opened only after every file in it was found to be as it was frozen.

    BENCH/manifest.json, items.jsonl and/or questions.jsonl, images/, fetch.py where needed

(design, section 4). Whoever scores or trains gets a `Bench` or a `TrainingSet`, and there is no
other way to one than through `verify`.
"""

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from os import walk
from pathlib import Path
from typing import Literal

from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import Item, Question, Record
from fieldtruth.store.lines import read_unique
from fieldtruth.store.manifest import MANIFEST, Manifest, read_manifest
from fieldtruth.store.paths import inside, sha256

ITEMS = "items.jsonl"
QUESTIONS = "questions.jsonl"

_NAMED_AT_MOST = 10  # files in the message of a refusal; `verify` names them all


class Difference(Record, frozen=True, kw_only=True):
    """One file that is not as the manifest says; `path` is relative to the benchmark."""

    path: str
    what: Literal["differs", "missing", "extra"]


@dataclass(frozen=True, slots=True)
class Bench:
    """A benchmark that verified. Items and questions ascend by id."""

    folder: Path
    manifest: Manifest
    items: tuple[Item, ...]
    questions: tuple[Question, ...]

    def photo(self, image: str) -> Path:
        """Where a photo lies; it may be absent where the manifest holds only a reference."""
        return inside(self.folder, image)

    def outside(self, out: Path) -> Path:
        """`out`, once it is certain that it is not in here: an extra file spoils a benchmark."""
        if out.resolve().is_relative_to(self.folder.resolve()):
            raise Usage(
                f"{out}: expected a place outside the benchmark {self.folder}, which would not "
                "verify any more with it; name another"
            )
        return out

    def not_fetched(self) -> list[str]:
        """Photos that are kept as references and are not here yet (`fetch.py` brings them)."""
        return [path for path in sorted(self.manifest.references) if not self.photo(path).exists()]


@dataclass(frozen=True, slots=True)
class TrainingSet(Bench):
    """A benchmark a trainer may see: never of the split `test` (design, section 2, rule 10)."""

    def __post_init__(self) -> None:
        if self.manifest.split == "test":
            raise Refused(
                f"{self.folder}: expected a benchmark to train on (split train or val), got the "
                "split test; freeze the training photos apart, with --split train"
            )


def open_bench(folder: Path) -> Bench:
    """A frozen benchmark with its records; `Refused` names the files that do not verify."""
    found, bench = _look(folder)
    if bench is None:
        raise _refusal(folder, found)
    return bench


def open_training(folder: Path) -> TrainingSet:
    """A frozen benchmark of the split `train` or `val`; `Refused` for `test`."""
    bench = open_bench(folder)
    return TrainingSet(bench.folder, bench.manifest, bench.items, bench.questions)


def verify(folder: Path) -> list[Difference]:
    """Every file that differs, is missing or is extra, by path; empty when all is as frozen.

    Photos kept as references may be absent; present ones must have the hash. A symlink, or
    whatever else is no plain file, differs or is extra. Raises `Usage` when there is no such
    folder and `Refused` when a newer version of this tool made it.
    """
    return _look(folder)[0]


def _look(folder: Path) -> tuple[list[Difference], Bench | None]:
    """The differences, or the benchmark where there are none."""
    manifest, found = _check_files(folder)
    if manifest is None or found:
        return found, None
    try:
        bench = Bench(folder, manifest, *_records(folder, manifest))
    except BadRecord:
        # The hash is right and a line is not: the manifest was made over a broken file.
        broken = [name for name in (ITEMS, QUESTIONS) if name in manifest.files]
        return [Difference(path=name, what="differs") for name in broken], None
    found = _check_records(bench)
    return found, None if found else bench


def _refusal(folder: Path, found: list[Difference]) -> Refused:
    told = ", ".join(f"{each.path} {each.what}" for each in found[:_NAMED_AT_MOST])
    more = f" and {len(found) - _NAMED_AT_MOST} more" if len(found) > _NAMED_AT_MOST else ""
    return Refused(
        f"{folder}: expected every file as it was frozen, got: {told}{more}; "
        "take a fresh copy of the benchmark, or freeze what you have under a new version"
    )


def _records(folder: Path, manifest: Manifest) -> tuple[tuple[Item, ...], tuple[Question, ...]]:
    items: tuple[Item, ...] = ()
    questions: tuple[Question, ...] = ()
    by_id = attrgetter("id")
    if ITEMS in manifest.files:
        items = tuple(sorted(read_unique(folder / ITEMS, Item), key=by_id))
    if QUESTIONS in manifest.files:
        questions = tuple(sorted(read_unique(folder / QUESTIONS, Question), key=by_id))
    return items, questions


def _check_records(bench: Bench) -> list[Difference]:
    """Whether the records speak of the photos that the manifest vouches for."""
    manifest, found = bench.manifest, []
    if len(bench.items) != manifest.items or any(
        manifest.hash_of(item.image) != item.image_sha256 for item in bench.items
    ):
        found.append(Difference(path=ITEMS, what="differs"))
    if len(bench.questions) != manifest.questions or any(
        manifest.hash_of(image) is None for each in bench.questions for image in each.images
    ):
        found.append(Difference(path=QUESTIONS, what="differs"))
    return found


def _check_files(folder: Path) -> tuple[Manifest | None, list[Difference]]:
    """The manifest, or None where it cannot be read, and every file that is not as it says."""
    if not folder.is_dir():
        raise Usage(f"{folder}: expected the folder of a frozen benchmark, got none there")
    path = folder / MANIFEST
    if not path.exists() and not path.is_symlink():
        return None, [Difference(path=MANIFEST, what="missing")]
    if not _is_plain(path):
        return None, [Difference(path=MANIFEST, what="differs")]
    try:
        manifest, as_sealed = read_manifest(folder)
    except BadRecord:
        return None, [Difference(path=MANIFEST, what="differs")]
    found = {} if as_sealed else {MANIFEST: Difference(path=MANIFEST, what="differs")}
    there = set(_all_files(folder)) - {MANIFEST}
    for name in there:
        expected = manifest.hash_of(name)
        if expected is None:
            found[name] = Difference(path=name, what="extra")
        elif not _has_hash(folder / name, expected):
            found[name] = Difference(path=name, what="differs")
    for name in manifest.files.keys() - there:
        found[name] = Difference(path=name, what="missing")
    return manifest, [found[name] for name in sorted(found)]


def _all_files(folder: Path) -> Iterator[str]:
    """Everything below a folder but real folders, relative, with `/`; symlinks not followed."""

    def stop(error: OSError) -> None:
        raise Refused(f"{error.filename}: expected a folder that can be read, got: {error}")

    for root, folders, files in walk(folder, onerror=stop):
        linked = [name for name in folders if Path(root, name).is_symlink()]
        for name in (*linked, *files):
            yield Path(root, name).relative_to(folder).as_posix()


def _is_plain(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _has_hash(path: Path, expected: str) -> bool:
    try:
        return _is_plain(path) and sha256(path) == expected
    except OSError:  # there, but not to be read
        return False
