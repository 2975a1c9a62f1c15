"""Fitting sees a training split and never a test split."""

from pathlib import Path

import pytest
from tests.builders import NAMES, four, frozen, healthy_row, leaf, row

from fieldtruth.faults import Refused, Usage
from fieldtruth.models.colour import OPEN
from fieldtruth.run import training


def test_a_test_split_cannot_be_opened_for_training(tmp_path: Path) -> None:
    bench = four(tmp_path / "bench")
    with pytest.raises(Refused, match="expected a benchmark to train on"):
        training.fit_colour([bench], tmp_path / "colour.json")
    assert not (tmp_path / "colour.json").exists()


def test_a_model_is_not_saved_in_the_benchmark(tmp_path: Path) -> None:
    bench = frozen(tmp_path / "bench", [row("p0"), healthy_row("h0")], split="train")
    with pytest.raises(Usage, match="expected a place outside the benchmark"):
        training.fit_colour([bench], bench / "colour.json")


@pytest.mark.slow
def test_what_was_fitted_is_the_model_that_predicts(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    spots = [[60, 50, 84, 70]], [[90, 40, 110, 64]], [[50, 55, 70, 75]], [[70, 60, 100, 80]]
    rows = [healthy_row(f"h{n}", image=leaf(photos / f"h{n}.png", [], n).name) for n in range(3)]
    for n, boxes in enumerate(spots):
        name = leaf(photos / f"p{n}.png", boxes, n).name
        rows.append(row(f"p{n}", image=name, label=NAMES[n % 2], boxes=boxes))
    bench = frozen(tmp_path / "bench", rows, split="train")
    fit = training.fit_colour([bench], tmp_path / "colour.json")
    assert (fit.items, fit.benchmarks) == (7, (str(bench),))
    assert OPEN({"fitted": str(tmp_path / "colour.json")}).version == fit.version
