"""What a format is that a frozen benchmark can be exported to.

Its file ends in `EXPORT: Exporter = ...`; the file's name is what `fieldtruth export` calls it.
"""

from pathlib import Path
from typing import Protocol

from fieldtruth.records import Record
from fieldtruth.store import Bench


class Exported(Record, frozen=True, kw_only=True):
    """What was written. `absent` counts photos that are null there: kept only as references."""

    rows: int
    photos: int
    absent: int


class Exporter(Protocol):
    """Writes a benchmark into an empty folder. A pure function of the two: no dates."""

    def __call__(self, bench: Bench, folder: Path, *, fetched: bool) -> Exported:
        """`fetched`: also hand on photos that are only referenced, where they were fetched."""
        ...
