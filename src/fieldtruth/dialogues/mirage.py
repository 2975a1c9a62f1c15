"""MIRAGE's files, which two sources read: as questions on photos, and as talks."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from fieldtruth import rows
from fieldtruth.faults import Usage
from fieldtruth.rows import Bad

FOLDERS = ("images", "sample_images", "")
_FILE = re.compile(r"(?P<config>mmst_(?:standard|contextual)|mmmt_(?:direct|decomp))\w*")


class Row(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A row of any of the four files; much of it may be null."""

    id: str | int
    images: list[str] | None = None
    question: str | None = None
    answer: str | None = None
    attachments: Any = None
    category: str | None = None
    entity_type: str | None = None
    entity_name: str | None = None
    entity_scientific_name: str | None = None
    entity_common_names: Any = None
    meta_data_state: str | None = None
    meta_data_county: str | None = None
    meta_data_asked_time: str | None = None
    location_related: bool | None = None
    time_related: bool | None = None
    location_related_analysis: str | None = None
    time_related_analysis: str | None = None
    dialog_context: str | None = None
    decision: str | None = None
    utterance: str | None = None
    dialog_turns: int | None = None
    known_goal: Any = None
    missing_goal: Any = None


def files(root: Path) -> list[Path]:
    """The published files anywhere below `root`, by name; `Usage` where there is none."""
    found = sorted(root.rglob("mm?t_*.json*"), key=lambda path: (path.stem, path))
    found = [path for path in found if _FILE.fullmatch(path.stem)]
    if not found:
        raise Usage(
            f"{root}: expected files such as mmst_standard.json or mmmt_direct_test.json below it, "
            "got none"
        )
    return found


def read(path: Path) -> Iterator[tuple[int, Row | Bad]]:
    """The rows of a file, a JSON list or one object a line, with their numbers."""
    with path.open("rb") as file:
        head = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    return rows.read_list(path, Row) if head.startswith(b"[") else rows.read_lines(path, Row)


def place(photo: str, beside: str, photos: rows.Photos) -> str:
    """Where a photo lies: by its name alone, since `../images/x.jpg` leads out of the release.

    `beside` is the folder of the file that names it, relative to the root.
    """
    name = PurePosixPath(photo.replace("\\", "/")).name
    tries = [f"{folder}/{name}" if folder else name for folder in (*FOLDERS, beside.strip("."))]
    return next((each for each in tries if each in photos.there), tries[0])
