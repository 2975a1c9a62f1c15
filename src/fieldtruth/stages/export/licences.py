"""Rows told apart by licence: which are one, what their folder is called, and the index.

Two spellings of a licence whose name is certain are one (`CC BY 4.0`, `cc-by-4.0`); any other text
is a licence of its own, down to its blanks. A release that has one folder for each can be given
out under each.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from fieldtruth.formats.contract import Exported
from fieldtruth.records import Record
from fieldtruth.store import licences

INDEX = "licences.json"


class Part(Record, frozen=True, kw_only=True):
    """One line of the index: a licence, and what is given out under it in which folder.

    `copied` says whether its photos are here; else they are named by their hash, for `fetch.py`.
    """

    licence: str
    spdx: str | None
    folder: str
    copied: bool
    rows: int
    photos: int
    absent: int


def key(licence: str) -> str:
    """One text for all spellings of one licence.

    >>> key("cc by 4.0"), key(" ask  me ")
    ('CC-BY-4.0', 'ask me')
    """
    return licences.spdx(licence) or " ".join(licence.split())


def folders(keys: Iterable[str]) -> dict[str, str]:
    """A folder's name for each licence: safe, and no two the same on any system.

    >>> folders(["CC-BY-4.0", "Ask me!", "ask-me"])
    {'Ask me!': 'ask-me', 'CC-BY-4.0': 'cc-by-4.0', 'ask-me': 'ask-me-2'}
    """
    made: dict[str, str] = {}
    for each in sorted(set(keys)):
        plain = re.sub(r"[^a-z0-9.]+", "-", each.lower()).strip("-.")[:60] or "unnamed"
        name, count = plain, 1
        while name in made.values():
            count += 1
            name = f"{plain}-{count}"
        made[each] = name
    return made


def part(licence: str, folder: str, made: Exported) -> Part:
    """The line of the index for what was written there."""
    return Part(
        licence=licence, spdx=licences.spdx(licence), folder=folder, rows=made.rows,
        copied=licences.may_copy(licence), photos=made.photos, absent=made.absent,
    )  # fmt: skip


def write_index(folder: Path, parts: Iterable[Part]) -> None:
    """`licences.json`: the licences in order of their names."""
    ordered = sorted(parts, key=lambda each: each.licence)
    whole = msgspec.json.format(msgspec.json.encode(ordered), indent=1)
    (folder / INDEX).write_bytes(whole + b"\n")


def total(parts: Mapping[str, Exported]) -> Exported:
    """What all parts hold together."""
    return Exported(
        rows=sum(each.rows for each in parts.values()),
        photos=sum(each.photos for each in parts.values()),
        absent=sum(each.absent for each in parts.values()),
        licences={name: each.rows for name, each in sorted(parts.items())},
    )
