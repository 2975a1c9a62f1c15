"""Label: what each sample names becomes targets and healthy photos, or drops with a reason."""

from fieldtruth.records import Drop, Healthy, Sample, Target
from fieldtruth.sources.contract import Source


def label(source: Source, sample: Sample) -> tuple[Target | Healthy | Drop, ...]:
    """At least one record; the ledger around this stage holds it to that."""
    return tuple(source.label(sample))
