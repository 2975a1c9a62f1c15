"""A step that spoils the weights or finds no memory: one clear error, and what was saved stays."""

import json
from math import inf, nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.stages import tuned
from tests.stages.tuned import examples, settings, silent, trained

from fieldtruth.faults import Fault
from fieldtruth.models.transformers.card import Card
from fieldtruth.stages import grpo, scratch, sft
from fieldtruth.tuning.checkpoints import Checkpoints

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
ROW = {"step": 1, "epoch": 0.5, "loss": 6.5, "grad_norm": inf, "learning_rate": 1e-4}


def test_what_the_trainer_leaves_of_them_is_read(tmp_path: Path) -> None:
    """A trainer writes `Infinity`, which is no JSON, where half precision overflowed."""
    card = Card(
        method="lora", base="b", base_weights="0", space="norm1000", min_pixels=1, max_pixels=2,
        step=0,
    )  # fmt: skip
    kept = Checkpoints(tmp_path, card, "")
    kept.at(1).mkdir(parents=True)
    with kept.saving(1):
        told = json.dumps({"log_history": [ROW]})
        (kept.at(1) / "trainer_state.json").write_text(told)
        assert "Infinity" in told
    assert kept.history() == [ROW]


def test_a_row_leaves_out_what_is_no_number_and_can_be_read_again() -> None:
    plain: dict[str, float] = {"step": 1, "loss": 6.5, "learning_rate": 1e-4}
    for rows, expected in (
        (sft._losses([ROW]), {**plain, "epoch": 0.5}),
        (grpo._rows([{**ROW, "kl": nan, "empty": None}]), plain),
    ):
        assert rows == [expected]
        raw = msgspec.json.encode(rows)
        assert msgspec.json.decode(raw, type=list[dict[str, float]]) == rows


@pytest.mark.parametrize(
    ("logs", "scaled", "told"),
    [
        ({"loss": nan, "grad_norm": 1.0}, "", "a loss that is a number at step 7, got nan"),
        ({"loss": 1.0, "grad_norm": inf}, "", "a grad_norm that is a number at step 7"),
        ({"loss": nan, "grad_norm": inf}, "fp16", "a loss that is a number"),
        ({"loss": 1.0, "grad_norm": inf}, "fp16", ""),  # the scaler passes such a step over
        ({"loss": 1.0, "grad_norm": 2.0}, "", ""),
        ({"train_runtime": 3.0}, "", ""),
        (None, "", ""),
    ],
)
def test_a_step_that_spoils_the_weights_ends_the_run(
    logs: dict[str, float] | None, scaled: str, told: str
) -> None:
    from fieldtruth.tuning.judging import Ticks

    tuner: Any = SimpleNamespace()
    ticks = Ticks(tuner, iter(()))
    args, state = (
        SimpleNamespace(fp16=scaled == "fp16", output_dir="out"),
        SimpleNamespace(global_step=7),
    )
    if not told:
        ticks.on_log(args, state, None, logs=logs)
        return
    with pytest.raises(Fault, match=f"out: expected {told}"):
        ticks.on_log(args, state, None, logs=logs)


def test_a_step_without_memory_is_one_clear_error() -> None:
    from fieldtruth.tuning import judging

    def fails(error: Exception) -> Any:
        def train(**_: Any) -> None:
            raise error

        def callback(_: Any) -> None:
            """Nobody is called."""

        return SimpleNamespace(
            train=train, remove_callback=callback, add_callback=callback,
            args=SimpleNamespace(output_dir="out"), state=SimpleNamespace(global_step=6),
        )  # fmt: skip

    full = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.\nGPU 0 has")
    for error in (full, RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")):
        with pytest.raises(Fault, match=r"^out: expected memory for step 7, got: .*memory") as told:
            judging.run(fails(error), iter(()), None)
        assert str(told.value).count("\n") == 0
    with pytest.raises(RuntimeError, match="shapes"):
        judging.run(fails(RuntimeError("shapes do not match")), iter(()), None)


def test_a_run_that_loses_its_numbers_is_one_clear_error_and_leaves_no_result(
    tmp_path: Path,
) -> None:
    tuned.base(tmp_path)
    examples(tmp_path / "train")
    with pytest.raises(Fault, match=r"that is a number at step \d, got (nan|inf); lower rate"):
        trained(settings(tmp_path, rank=0, rate=1e30, batch=1, accumulate=1, save_every=9))
    assert not (tmp_path / "out" / "train.json").exists()
    assert list((tmp_path / "out").glob("checkpoints/checkpoint-*")) == []


def test_eyes_that_lose_their_numbers_are_no_base(tmp_path: Path) -> None:
    train = examples(tmp_path / "train")
    told = scratch.Scratch(
        train=(str(train),), out=str(tmp_path / "base"), width=64, layers=1, heads=2, eyes=32,
        eye_layers=1, side=64, batch=2, steps=6, rate=1e30, device="cpu",
    )  # fmt: skip
    with pytest.raises(Fault, match=r"losses that are numbers, got .* of the warm-up; lower rate"):
        scratch.make(told, silent, lambda _: None)
    assert not (tmp_path / "base").exists()
