"""Fine-tuning in two processes, as torchrun starts them: the same curve, one that writes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from tests.stages import tuned
from tests.stages.tuned import examples, losses, settings, trained

pytest.importorskip("trl")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

RECIPE = """[sft]
base = "base"
train = ["train/training"]
val = ["val/training"]
out = "{out}"
rank = 4
alpha = 8
dropout = {dropout}
batch = {batch}
accumulate = 1
rate = 1e-2
steps = {steps}
save_every = 2
budget = 16
average = "{average}"
device = "cpu"
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    tuned.base(folder)
    examples(folder / "train", 16)
    examples(folder / "val", 5, "val")
    return folder


@pytest.fixture
def place(home: Path, tmp_path: Path) -> Path:
    return shutil.copytree(home, tmp_path / "home")


def begun(
    folder: Path, out: str, steps: int, average: str = "token", **more: str
) -> "subprocess.Popen[str]":
    """`train sft` in two processes, one example each at a time."""
    recipe = folder / f"{out}.toml"
    recipe.write_text(
        RECIPE.format(
            out=out, batch=1, steps=steps, dropout=0.0 if steps < 6 else 0.2, average=average
        )
    )
    words = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
        "-m", "fieldtruth", "train", "sft", str(recipe), "--json",
    ]  # fmt: skip
    alone = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""} | more
    pipe = subprocess.PIPE
    return subprocess.Popen(words, env=os.environ | alone, stdout=pipe, stderr=pipe, text=True)


def launched(folder: Path, out: str, steps: int = 4, **more: str) -> tuple[int, str, str]:
    """The same to its end."""
    with begun(folder, out, steps, **more) as process:
        said, err = process.communicate(timeout=800)
    return process.returncode, said, err


def test_two_processes_come_to_what_one_comes_to(place: Path) -> None:
    """Two examples a step, one in each process: the losses, the weights and the verdicts of one
    process with two. One of them speaks and writes; the other leaves its random state alone."""
    code, said, err = launched(place, "two")
    assert code == 0, err
    two = json.loads(said)  # printed once
    told = settings(
        place, dropout=0.0, batch=2, accumulate=1, steps=4, out=str(place / "one"),
        val=(str(place / "val" / "training"),),
    )  # fmt: skip
    one = trained(told)
    assert [row["loss"] for row in two["history"]] == pytest.approx(losses(one), rel=1e-5)
    assert two["notes"][0] == "2 processes: 1 x 1 x 2 = 2 examples a step"
    assert err.count("2 processes: 1 x 1") == 1
    for mine, theirs in zip(two["validations"], one.validations, strict=True):
        assert mine["outcomes"] == theirs.outcomes
    from safetensors.torch import load_file

    mine, theirs = (
        load_file(place / out / "last" / "adapter_model.safetensors") for out in ("two", "one")
    )
    assert mine.keys() == theirs.keys()
    assert all((mine[name] - theirs[name]).abs().max() < 1e-4 for name in mine)
    assert two["run"] != one.run  # another number of processes is another run
    assert {path.name for path in (place / "two").iterdir()} == {
        "best", "last", "run.json", "train.json",
    }  # fmt: skip
    assert not (place / "two.lock").exists()
    # Again: nothing is left to do, and both say so.
    code, again, _ = launched(place, "two")
    assert (code, json.loads(again)) == (0, two)


def test_replies_weigh_in_two_processes_as_in_one(place: Path) -> None:
    """Not the tokens of a step are added up over the processes, but what they weigh."""
    shutil.rmtree(place / "train")
    examples(place / "train", 2)  # every step has both: a box, and an empty list
    code, said, err = launched(place, "two", 2, average="sample")
    assert code == 0, err
    told = settings(
        place, dropout=0.0, batch=2, accumulate=1, steps=2, out=str(place / "one"),
        average="sample",
    )  # fmt: skip
    one = losses(trained(told))
    assert [row["loss"] for row in json.loads(said)["history"]] == pytest.approx(one, rel=1e-5)
    tokens = losses(trained(msgspec.structs.replace(told, average="token", out=str(place / "t"))))
    assert abs(tokens[0] - one[0]) > 1e-3  # it would show


def test_two_that_are_killed_go_on_as_if_they_had_not_been(place: Path) -> None:
    """Each process goes on with its own random state, which dropout would show."""
    whole = json.loads(launched(place, "whole", 6)[1])
    first = place / "cut" / "checkpoints" / "checkpoint-2" / "fieldtruth.json"
    with begun(place, "cut", 6) as process:
        while not first.exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)  # the launcher ends both
        process.communicate(timeout=300)
    assert process.returncode != 0, "it was over before it could be killed"
    code, said, err = launched(place, "cut", 6)
    assert code == 0, err
    assert [row["loss"] for row in json.loads(said)["history"]] == [
        row["loss"] for row in whole["history"]
    ]
    names = {path.name for path in (place / "cut" / "last").iterdir()}
    assert not {name for name in names if name.startswith("rng_state")}  # weights alone


def test_a_fault_of_the_first_ends_both_and_is_told_once(place: Path) -> None:
    (place / "taken").mkdir()
    (place / "taken" / "notes.txt").write_text("mine")
    code, said, err = launched(place, "taken")
    assert code != 0
    assert said == ""
    assert err.count("expected an empty folder, or the run to go on with") == 1
    assert "src/fieldtruth" not in err  # no traceback but the launcher's own


def test_weights_that_a_launcher_would_shard_are_refused(place: Path) -> None:
    code, _, err = launched(place, "cut", ACCELERATE_USE_FSDP="true")
    assert code != 0
    assert "ACCELERATE_USE_FSDP: expected every process to hold all weights" in err
