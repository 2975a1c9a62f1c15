"""The table [grpo] of a recipe: its defaults, its slips, and the command that reads it."""

import json
import shutil
from pathlib import Path

import pytest
from tests.stages import tuned
from typer.testing import CliRunner

from fieldtruth.cli import app
from fieldtruth.faults import Usage
from fieldtruth.run import tuning

SHORT = '[grpo]\nbase = "a/b"\ntrain = ["t"]\nout = "o"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(text)
    return path


def test_defaults_are_the_papers(tmp_path: Path) -> None:
    """AgroGround, section 4.4 and appendix J; reference, section 12."""
    told = tuning.read_grpo(write(tmp_path, SHORT))
    assert (told.prompts, told.replies, told.budget) == (128, 8, 512)
    assert (told.temperature, told.top_p, told.top_k) == (0.7, 0.9, 50)
    assert (told.rate, told.warmup, told.beta, told.epochs) == (3e-6, 10, 0.005, 2)
    assert (told.rank, told.alpha, told.vision) == (64, 128, "frozen")
    assert (told.mix.healthy, told.mix.dense, told.mix.listed) == (0.16, 0.5, 0.5)
    assert (told.mix.photo_pixels, told.mix.wrong_target) == (500_000, 0)
    assert (told.base, told.train, told.out) == (
        "a/b", (str(tmp_path / "t"),), str(tmp_path / "o"),
    )  # fmt: skip


def test_one_setting_of_a_table_in_it_is_replaced(tmp_path: Path) -> None:
    path = write(tmp_path, SHORT)
    told = tuning.read_grpo(path, ["grpo.mix.dense=0.25", "grpo.watch.on_alarm=stop"])
    assert (told.mix.dense, told.watch.on_alarm, told.watch.window) == (0.25, "stop", 5)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{SHORT}reply = 8\n", r"no setting 'reply' \(did you mean 'replies'\?\)"),
        (f"{SHORT}replies = 1\n", r"grpo\.replies: expected `int` >= 2"),
        (f"{SHORT}mix = {{ helthy = 0.1 }}\n", r"no setting 'helthy'"),
        (f"{SHORT}mix = {{ healthy = 1.5 }}\n", r"grpo\.mix\.healthy: expected `float` <= 1"),
        (f"{SHORT}mix = {{ healthy = 0.6, wrong_target = 0.6 }}\n", "shares of all prompts"),
        (f"{SHORT}batch = 100\n", r"prompts x replies \(1024\) to be a multiple"),
        (f"{SHORT}updates = 4\n", r"save_every \(10\) to be a multiple of updates \(4\)"),
        (f"{SHORT}updates = 2\nsteps = 5\n", r"steps \(5\) to be a multiple of updates \(2\)"),
        (f"{SHORT}watch = {{ on_alarm = 'shout' }}\n", r"grpo\.watch\.on_alarm"),
        (SHORT.replace('["t"]', "[]"), "at least one folder"),
    ],
)
def test_a_slip_in_the_recipe_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(Usage, match=told):
        tuning.read_grpo(write(tmp_path, text))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_recipe_becomes_weights_that_predict(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    tuned.base(tmp_path)
    tuned.examples(tmp_path / "train", 16)
    path = write(
        tmp_path,
        '[grpo]\nbase = "base"\ntrain = ["train/training"]\nout = "out"\nprompts = 2\nreplies = 2\n'
        "batch = 4\nsteps = 1\nsave_every = 1\nbudget = 4\nrank = 2\n"
        "mix = { healthy = 0.4, dense = 0.0 }\n",
    )
    done = CliRunner().invoke(app, ["train", "grpo", str(path), "--set", "grpo.device=cpu"])
    assert done.exit_code == 0, done.stderr
    assert "no val: nothing is validated, and best is last" in done.stderr
    assert done.stdout.startswith("1 steps, 2 prompts: reward 0.000 -> 0.000; ")
    assert (tmp_path / "out" / "best" / "adapter_model.safetensors").is_file()
    again = CliRunner().invoke(
        app, ["train", "grpo", str(path), "--set", "grpo.device=cpu", "--json"]
    )
    told = json.loads(again.stdout)
    assert (told["steps"], told["asked"], told["mix"]["examples"]) == (1, 2, 16)
    shutil.rmtree(tmp_path / "train" / "release")
    gone = CliRunner().invoke(
        app, ["train", "grpo", str(path), "--set", f"grpo.out={tmp_path / 'other'}"]
    )
    assert gone.exit_code == 3  # photos that are not there are found before anything is loaded
