"""What a check is: one audit of what is known about some sets of photos; it gives findings.

A check's file has `check(seen) -> Iterator[Finding]` and nothing to register. It looks at no
photo: `stages/audit` has looked at each once and hands on what it saw. What an audit reports is a
`Report`, written as JSON (design, section 8); `freeze --audit` reads it back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from fieldtruth.duplicates import Verdict
from fieldtruth.hashing import Look
from fieldtruth.records import Finding, Record


class Bad(Record, frozen=True, kw_only=True):
    """A photo that cannot be judged, or hardly, and why: one word, and more for a person."""

    path: str
    reason: str
    detail: str = ""


class SetReport(Record, frozen=True, kw_only=True):
    """What an audit covered of one set. `images` counts files, the unreadable ones too."""

    images: int
    readable: int
    unreadable: tuple[Bad, ...]
    degenerate: tuple[Bad, ...]
    coverage: float


class Pair(Record, frozen=True, kw_only=True):
    """Two photos whose hashes are near. `a` and `b` are paths in their set, or item ids.

    `distance` counts bits of the exact hashes; `correlation` is of the thumbnails, null where one
    of the two is constant or could not be read again; `turn` says how `b` is flipped or turned to
    be like `a`.
    """

    a: str
    b: str
    set_a: str
    set_b: str
    distance: int
    correlation: float | None
    verdict: Verdict
    turn: str = "as_is"
    sha256_a: str
    sha256_b: str

    @property
    def across(self) -> bool:
        """Whether the two lie in different sets."""
        return self.set_a != self.set_b


class Member(Record, frozen=True, kw_only=True):
    """One photo of a group."""

    set: str
    path: str


class Report(Record, frozen=True, kw_only=True):
    """An audit. `complete` is false where `--max-pairs` cut the list: `found` pairs or more.

    `groups` join the confirmed copies; where the list was cut, whatever hangs together by hashes.
    `photos` holds the SHA-256 of every file that was compared, by set.
    """

    sets: dict[str, SetReport]
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[Member, ...], ...]
    conflicts: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    found: int
    complete: bool
    radius: int
    flips: bool
    hash: str
    photos: dict[str, tuple[str, ...]]

    @property
    def coverage(self) -> float:
        """The share of all photos that could be compared."""
        images = sum(each.images for each in self.sets.values())
        return sum(each.readable for each in self.sets.values()) / images if images else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Photo:
    """One photo of one set under one name, what its set says of it, and what was seen.

    `look` is None where it is unreadable. `labelled` says that the set tells what it shows: then
    `label` is None on a healthy one.
    """

    set: str
    path: str
    look: Look | None
    labelled: bool = False
    label: str | None = None
    source: str = ""
    split: str = ""

    @property
    def name(self) -> str:
        """How findings speak of it."""
        return f"{self.set}:{self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """All that an audit saw. `ends` are the places in `photos` of each pair, parallel to `pairs`;
    `groups` are places too, each of two or more."""

    sets: dict[str, SetReport]
    photos: Sequence[Photo]
    pairs: Sequence[Pair]
    ends: Sequence[tuple[int, int]]
    groups: Sequence[Sequence[int]]
    complete: bool


class Check(Protocol):
    """One audit."""

    def __call__(self, seen: Seen) -> Iterator[Finding]: ...
