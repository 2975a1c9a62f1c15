"""Ingest: a raw release becomes samples, or drops with a reason."""

from collections.abc import Iterator
from pathlib import Path

from fieldtruth.records import Drop, Sample
from fieldtruth.sources.contract import Source


def ingest(source: Source, root: Path) -> Iterator[Sample | Drop]:
    """Every row of the release, in the source's own stable order."""
    return source.samples(root)
