"""Label: what each sample names becomes targets and healthy photos, or drops with a reason."""

from collections.abc import Callable, Sequence
from itertools import chain

from fieldtruth.records import Drop, Healthy, Sample, Target
from fieldtruth.sources.contract import AtOnce, Source


def label(source: Source) -> Callable[[Sequence[Sample]], Sequence[Target | Healthy | Drop]]:
    """What makes records of some samples: for each at least one, to which the ledger holds it."""
    if isinstance(source, AtOnce):
        return source.label_all
    return lambda samples: list(chain.from_iterable(map(source.label, samples)))
