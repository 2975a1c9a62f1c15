"""Fit the embedded model on a frozen training benchmark; a test split cannot be opened here."""

from pathlib import Path

from fieldtruth import store
from fieldtruth.models import colour
from fieldtruth.records import Record


class Fit(Record, frozen=True, kw_only=True):
    """What was fitted on what."""

    items: int
    benchmark: str
    version: str  # of the fitted model: it changes with the training split


def fit_colour(benchmark: Path, out: Path) -> Fit:
    """Fit `colour` on a training split and save it in `out`; `Refused` for a test split."""
    bench = store.open_training(benchmark)
    bench.outside(out)
    fitted = colour.fit(bench.items, bench.folder)
    fitted.save(out)
    return Fit(items=len(bench.items), benchmark=str(benchmark), version=fitted.version)
