"""Fit the embedded model on a frozen training benchmark; a test split cannot be opened here."""

from collections.abc import Sequence
from pathlib import Path

from fieldtruth import store
from fieldtruth.models import colour
from fieldtruth.records import Record


class Fit(Record, frozen=True, kw_only=True):
    """What was fitted on what."""

    items: int
    benchmarks: tuple[str, ...]
    version: str  # of the fitted model: it changes with the training split


def fit_colour(benchmarks: Sequence[Path], out: Path) -> Fit:
    """Fit `colour` on training splits and save it in `out`; `Refused` for a test split."""
    sets = [store.open_training(benchmark) for benchmark in benchmarks]
    for each in sets:
        each.outside(out)
    fitted = colour.fit_all([(each.items, each.folder) for each in sets])
    fitted.save(out)
    return Fit(
        items=sum(len(each.items) for each in sets),
        benchmarks=tuple(str(each) for each in benchmarks),
        version=fitted.version,
    )
