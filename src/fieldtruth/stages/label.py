"""Label: what each sample names becomes targets and healthy photos, or drops with a reason."""

from collections.abc import Iterable, Iterator

from fieldtruth.records import Drop, Healthy, Sample, Target
from fieldtruth.sources.contract import Source


def label(source: Source, samples: Iterable[Sample]) -> Iterator[Target | Healthy | Drop]:
    """At least one record for every sample; the ledger around this stage holds it to that."""
    for sample in samples:
        yield from source.label(sample)
