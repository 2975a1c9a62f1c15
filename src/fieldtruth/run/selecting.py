"""Items of one or several files selected into a folder, past rounds and training photos left out.

OUT/items.jsonl  drops.jsonl  select.json  images/ (where the photos' folders are given)
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from fieldtruth import store
from fieldtruth.faults import BadRecord, Refused, Unreadable, Usage
from fieldtruth.images import missing
from fieldtruth.records import Drop, Item, Place, Record, Split
from fieldtruth.run.ledger import Ledger
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.stages import select as selecting

REPORT = "select.json"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to select from. `images` are the folders that the items' paths are relative to: one
    for all files, one for each, or none: then the photos stay where they are."""

    items: Sequence[Path]
    images: Sequence[Path] = ()
    earlier: Sequence[Path] = ()
    trained: Sequence[Path] = ()


class _Line(Record, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """What is read of a place, a training example or an item that may not be chosen."""

    image_sha256: str
    group: str
    source: str = ""
    split: Split | None = None


def select(
    job: Job, settings: selecting.Settings, out: Path, track: Track = SILENT
) -> selecting.Selection:
    """Write the selection as the folder `out`, new or empty, whole or not at all.

    Raises `Usage`, `BadRecord` for a broken line, and `Refused` for photos that are not the ones
    the items tell of, for floors that cannot be held, and for a benchmark that does not verify.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    homes, items = _read(job)
    trained, earlier = selecting.Photos(), selecting.Photos()
    for path in job.trained:
        _add(trained, (each for each in _lines(path, "--train") if each.split != "test"))
    for path in job.earlier:
        _add(earlier, _lines(path, "--not"))
    ledger = Ledger("select", selecting.REASONS)
    chosen, drops, report = selecting.select(
        list(ledger.incoming(items)), settings, trained, earlier
    )
    records: tuple[Item | Drop, ...] = (*chosen, *drops)
    for _ in ledger.outgoing(records, lambda each: _parent(each, report)):
        pass
    ledger.close()
    with store.drafting(out) as part:
        photos = [homes.get(report.parents[item.id]) for item in chosen]
        _apart(chosen, photos)
        moved = list(
            track((_copied(i, home, part) for i, home in zip(chosen, photos, strict=True)),
                  len(chosen))
        )  # fmt: skip
        store.write(part / store.ITEMS, moved)
        store.write(part / "drops.jsonl", drops)
        with store.replacing(part / REPORT) as file:
            file.write(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
        store.publish(part, out)
    return report


def _parent(record: Item | Drop, report: selecting.Selection) -> str:
    return record.parent or "" if isinstance(record, Drop) else report.parents[record.id]


def _read(job: Job) -> tuple[dict[str, Path], list[Item]]:
    """All items, and the folder of the photos of each by id, where it is given."""
    if len(job.images) not in (0, 1, len(job.items)):
        raise Usage(
            f"--images: expected one folder for all {len(job.items)} files of items, or one for "
            f"each, got {len(job.images)}"
        )
    homes: dict[str, Path] = {}
    items: list[Item] = []
    first: dict[str, Path] = {}
    for number, path in enumerate(job.items):
        for item in store.read_unique(path, Item):
            if first.setdefault(item.id, path) != path:
                raise BadRecord(
                    f"{path} (id {item.id!r}): expected an id of its own, got one of "
                    f"{first[item.id]} too; leave one of the two files out"
                )
            if not _SHA256.fullmatch(item.image_sha256):
                raise BadRecord(
                    f"{path} (id {item.id!r}): expected an image_sha256 of 64 hex digits, got "
                    f"{item.image_sha256!r}; compose the items again"
                )
            if job.images:
                homes[item.id] = job.images[number % len(job.images)]
            items.append(item)
    return homes, items


def _lines(path: Path, flag: str) -> Iterator[_Line]:
    """The photos of a file of items, examples or places, of the folder of a selection, a training
    mixture or a source, or of a frozen benchmark, all of whose items count."""
    if not path.is_dir():
        yield from store.read(path, _Line)
    elif (path / store.MANIFEST).is_file() and (path / store.ITEMS).is_file():
        for item in store.open_bench(path).items:
            yield _Line(image_sha256=item.image_sha256, group=item.group)
    elif (path / store.ITEMS).is_file():
        yield from store.read(path / store.ITEMS, _Line)
    elif (path / store.EXAMPLES).is_file():
        yield from store.read(path / store.EXAMPLES, _Line)
    elif (path / "splits.jsonl").is_file():
        for place in store.read(path / "splits.jsonl", Place):
            yield _Line(image_sha256=place.image_sha256, group=place.group, split=place.split)
    else:
        raise Usage(
            f"{flag} {path}: expected a frozen benchmark, or a folder with {store.ITEMS}, "
            f"{store.EXAMPLES} or splits.jsonl, got none; check the path"
        )


def _add(photos: selecting.Photos, lines: Iterator[_Line]) -> None:
    for each in lines:
        photos.contents.add(each.image_sha256)
        # A mixture puts the source's name before a release's own group, items do not.
        photos.groups.update((each.group, each.group.removeprefix(f"{each.source}:")))


def _apart(chosen: Sequence[Item], homes: Sequence[Path | None]) -> None:
    """Where photos stay where they are, one path means one photo."""
    known: dict[str, Item] = {}
    for item, home in zip(chosen, homes, strict=True):
        other = known.setdefault(item.image, item)
        if home is None and other.image_sha256 != item.image_sha256:
            raise Usage(
                f"{item.image}: expected one photo at a path, got one of {item.source} and one of "
                f"{other.source}; give their folders with --images"
            )


def _copied(item: Item, home: Path | None, part: Path) -> Item:
    """The item with its photo copied to `images/` under its id; as it is where no home is given."""
    if home is None:
        return item
    file = store.inside(home, item.image, f"item {item.id!r}")
    if not file.is_file():
        raise Unreadable(str(missing(file)), "missing")
    suffix = file.suffix.lower() if _SUFFIX.fullmatch(file.suffix) else ""
    image = f"images/{item.id}{suffix}"
    (part / "images").mkdir(exist_ok=True)
    shutil.copyfile(file, part / image)
    found = store.sha256(part / image)
    if found != item.image_sha256:
        raise Refused(
            f"{file}: expected the photo that was composed, of SHA-256 {item.image_sha256}, got "
            f"one of {found}; compose the items again, or check --images"
        )
    return replace(item, image=image)
