"""Diff: what changed from one benchmark to another, item by item and field by field.

Reads the records as they lie there, verified or not: to see what an edited benchmark differs in
is one of its uses. Photos show as the field `image_sha256`.
"""

from pathlib import Path
from typing import Any, TypedDict

import msgspec

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Item, Question, Record

MOST = 5  # records of each kind of change in what people read


class Changed(TypedDict):
    """One record that both have, and the fields in which they differ, in the record's order."""

    id: str
    fields: list[str]


class Changes(TypedDict):
    """Ids ascending."""

    added: list[str]
    removed: list[str]
    changed: list[Changed]


class Diff(TypedDict):
    """From `a` to `b`, each `NAME VERSION`."""

    a: str
    b: str
    items: Changes
    questions: Changes


def diff(a: Path, b: Path) -> Diff:
    """Items and questions added, removed and changed from benchmark `a` to benchmark `b`.

    Raises `Usage` where one of the two is no frozen benchmark and `BadRecord` where a file in it
    cannot be read.
    """
    return {
        "a": _title(a),
        "b": _title(b),
        "items": _changes(_records(a, store.ITEMS, Item), _records(b, store.ITEMS, Item)),
        "questions": _changes(
            _records(a, store.QUESTIONS, Question), _records(b, store.QUESTIONS, Question)
        ),
    }


def line(found: Diff, most: int | None = MOST) -> str:
    """The difference for people: the counts, then a line a record, of each kind at most `most`."""
    parts = (found["items"], found["questions"])
    added = [f"+ {name}" for part in parts for name in part["added"]]
    removed = [f"- {name}" for part in parts for name in part["removed"]]
    changed = [
        f"~ {each['id']}: {', '.join(each['fields'])}" for part in parts for each in part["changed"]
    ]
    counts = f"{len(added)} added, {len(removed)} removed, {len(changed)} changed"
    lines = [f"{found['a']} -> {found['b']}: {counts}"]
    for mark, some in (("+", added), ("-", removed), ("~", changed)):
        lines += some[:most]
        if most is not None and len(some) > most:
            lines.append(f"{mark} and {len(some) - most} more; --all names them")
    return "\n".join(lines)


def _title(folder: Path) -> str:
    if not folder.is_dir():
        raise Usage(f"{folder}: expected the folder of a frozen benchmark, got none there")
    manifest, _ = store.read_manifest(folder)
    return f"{manifest.name} {manifest.version}"


def _records(folder: Path, name: str, kind: type[Any]) -> dict[str, Any]:
    path = folder / name
    if not path.exists():
        return {}
    return {record.id: record for record in store.read_unique(path, kind)}


def _changes(old: dict[str, Record], new: dict[str, Record]) -> Changes:
    changed: list[Changed] = []
    for name in sorted(old.keys() & new.keys()):
        before, after = msgspec.structs.asdict(old[name]), msgspec.structs.asdict(new[name])
        fields = [each for each, value in before.items() if after[each] != value]
        if fields:
            changed.append({"id": name, "fields": fields})
    return {
        "added": sorted(new.keys() - old.keys()),
        "removed": sorted(old.keys() - new.keys()),
        "changed": changed,
    }
