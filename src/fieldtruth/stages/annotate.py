"""Annotate: targets get the boxes their release holds, or are dropped with a reason."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from fieldtruth.records import Annotation, Drop, Sample, Target
from fieldtruth.sources.contract import Source


def annotate(
    source: Source, targets: Iterable[Target], samples: Mapping[str, Sample], root: Path
) -> Iterator[Annotation | Drop]:
    """One annotation or drop for every target, from the release's own masks or box files."""
    for target in targets:
        record = source.annotate(samples[target.sample], target, root)
        yield replace(record, parent=target.id) if isinstance(record, Drop) else record
