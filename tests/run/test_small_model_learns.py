"""The whole of training, small: from no words and random weights to boxes, names and abstention.

A Qwen3-VL of 1.65 million weights on easy leaves, through the commands that a larger one takes. On
one core it takes about a minute and a half; what was reached when this was written was f1 0.97,
recognition 0.86 to 0.98 and abstention 1.0, so the bounds are far below.
"""

from pathlib import Path

import msgspec
import pytest
from tests.stages import easy
from typer.testing import CliRunner

from fieldtruth.cli import app
from fieldtruth.faults import Usage
from fieldtruth.run import tuning
from fieldtruth.stages.sft import Trained

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
RECIPE = f"""
[scratch]
train = ["train/training"]
out = "base"
width = 128
layers = 3
eyes = 96
eye_layers = 3
side = {easy.SIDE}
steps = 200
batch = 16
rate = 2e-3
device = "cpu"

[sft]
base = "base"
train = ["train/training"]
val = ["val/training"]
out = "out"
rank = 0
vision = "trained"
optimizer = "muon"
batch = 16
accumulate = 1
steps = 200
rate = 2e-3
save_every = 100
budget = 60
val_batch = 32
device = "cpu"
"""


def test_a_model_from_nothing_learns_to_find_name_and_abstain(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    easy.folder(tmp_path / "train", 1200)
    easy.folder(tmp_path / "val", 120, "val")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE)
    for words in ("train scratch", "train sft"):
        run = CliRunner().invoke(app, [*words.split(), str(recipe)], catch_exceptions=False)
        assert run.exit_code == 0, run.stderr
    done = msgspec.json.decode((tmp_path / "out" / "train.json").read_bytes(), type=Trained)
    assert 1.5e6 < done.weights < 1.8e6
    first, last = done.history[0]["loss"], done.history[-1]["loss"]
    assert last < 0.3 * first
    best = next(each for each in done.validations if each.step == done.best)
    reached = {
        f"{protocol}.{name}": value.value
        for protocol, values in best.values.items()
        for name, value in values.items()
    }
    assert (reached["known_target.f1"] or 0) > 0.5, reached
    assert (reached["candidates.recognition"] or 0) > 0.7, reached
    assert (reached["known_target.abstention"] or 0) > 0.9, reached
    assert reached["known_target.false_abstention"] < 0.1, reached  # type: ignore[operator]


def test_a_slip_in_the_table_is_named(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    for text, told in (
        (
            "[sft]\nbase = 'b'\ntrain = ['t']\nout = 'o'\n",
            r"expected a table \[scratch\], got none",
        ),
        ("[scratch]\ntrain = ['t']\nout = 'o'\nstep = 3\n", "step"),
        ("[scratch]\ntrain = []\nout = 'o'\n", "at least one folder of examples to learn from"),
        ("[scratch]\ntrain = ['t']\nout = 'o'\nside = 100\n", "a multiple of 32, got 100"),
    ):
        recipe.write_text(text)
        with pytest.raises(Usage, match=told):
            tuning.read_scratch(recipe)
    recipe.write_text("[scratch]\ntrain = ['t']\nout = 'o'\n")
    found = tuning.read_scratch(recipe, ["scratch.steps=7"])
    assert (found.steps, found.out, found.train) == (7, f"{tmp_path}/o", (f"{tmp_path}/t",))
