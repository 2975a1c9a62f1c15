"""Ingest: a raw release becomes samples, or dialogues, or drops with a reason."""

from collections.abc import Iterator
from pathlib import Path

from fieldtruth.records import Dialogue, Drop, Record, Sample
from fieldtruth.sources.contract import DialogueSource, Source


def ingest(source: Source | DialogueSource, root: Path) -> Iterator[Sample | Dialogue | Drop]:
    """Every row of the release, in the source's own stable order."""
    if isinstance(source, DialogueSource):
        return source.dialogues(root)
    return source.samples(root)


def makes(source: Source | DialogueSource) -> tuple[str, type[Record]]:
    """What a source's rows become: the name of the file, and the class of its records."""
    return ("dialogues", Dialogue) if isinstance(source, DialogueSource) else ("samples", Sample)
