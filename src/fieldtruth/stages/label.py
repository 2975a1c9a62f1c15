"""Label: what each sample names becomes targets and healthy photos, or drops with a reason."""

from collections.abc import Sequence

from fieldtruth.records import Drop, Healthy, Sample, Target
from fieldtruth.sources.contract import AtOnce, Source


def label(
    source: Source, samples: Sequence[Sample]
) -> Sequence[tuple[Target | Healthy | Drop, ...]]:
    """For each sample at least one record; the ledger around this stage holds it to that."""
    if isinstance(source, AtOnce):
        return source.label_all(samples)
    return list(map(tuple, map(source.label, samples)))
