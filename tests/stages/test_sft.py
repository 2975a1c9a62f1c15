"""Fine-tuning: what the loss is of, what learns, what is kept, and what a kill leaves."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.builders import NAMES, example, examples_folder
from tests.stages import tuned
from tests.stages.tuned import examples, losses, settings, silent, trained

from fieldtruth import store
from fieldtruth.faults import CannotWrite, Refused, Usage
from fieldtruth.models.contract import Words
from fieldtruth.models.transformers.card import NAME, Card, read_card
from fieldtruth.stages import sft
from fieldtruth.stages.sft.settings import Average
from fieldtruth.tuning.checkpoints import Checkpoints
from fieldtruth.tuning.rows import Rows, apart
from fieldtruth.tuning.validating import Validation, Value, graded, selector

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base, eight examples to train on and four to validate on."""
    folder = tmp_path_factory.mktemp("home")
    tuned.base(folder)
    examples(folder / "train")
    examples(folder / "val", 4, "val")
    return folder


@pytest.fixture
def place(home: Path, tmp_path: Path) -> Path:
    """The same for one test, which may spoil it."""
    return shutil.copytree(home, tmp_path / "home")


def tensors(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    (path,) = folder.glob("*.safetensors")
    found: dict[str, Any] = load_file(path)
    return found


# --- what is learnt ----------------------------------------------------------------------------


@pytest.mark.parametrize(("average", "power"), [("token", 0.0), ("square", 0.5), ("sample", 1.0)])
def test_the_loss_is_that_of_the_right_replies_and_nothing_else(
    place: Path, average: Average, power: float
) -> None:
    """Against cross entropy written out over what each reply's tokens are given."""
    from transformers import AutoModelForImageTextToText, AutoTokenizer
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    told = settings(place, batch=8, accumulate=1, steps=1, dropout=0.0, average=average)
    done = trained(told)
    words = AutoTokenizer.from_pretrained(place / "base")
    model = AutoModelForImageTextToText.from_pretrained(place / "base").eval()
    eyes = Qwen2VLImageProcessorPil.from_pretrained(place / "base")
    # As the settings have it; the base's own bounds are wider.
    eyes.size = {"shortest_edge": 784, "longest_edge": 50_176}
    total, weights = 0.0, 0.0
    for line in (place / "train" / "training" / "examples.jsonl").read_text().splitlines():
        row = json.loads(line)
        from PIL import Image

        seen = eyes(
            images=[Image.open(place / "train" / "release" / row["image"])], return_tensors="pt"
        )
        pads = "<|image_pad|>" * (int(seen["image_grid_thw"].prod()) // 4)
        asked = (
            f"<|im_start|>user\n<|vision_start|>{pads}<|vision_end|>{row['prompt']}<|im_end|>\n"
            "<|im_start|>assistant\n"
        )
        before = words(asked)["input_ids"]
        reply = words(f"{row['answer']}<|im_end|>")["input_ids"]
        ids = torch.tensor([before + reply])
        with torch.inference_mode():
            logits = model(input_ids=ids, mm_token_type_ids=(ids == 5).int(), **seen).logits[0]
        chances = logits.log_softmax(-1)[len(before) - 1 : -1]
        total -= float(chances[range(len(reply)), reply].mean()) * len(reply) ** (1 - power)
        weights += len(reply) ** (1 - power)
    assert losses(done)[0] == pytest.approx(total / weights, rel=1e-5)
    assert done.examples == 8


def test_it_learns(place: Path) -> None:
    done = trained(settings(place, rank=0, rate=3e-3, steps=30, save_every=30, batch=4))
    assert np.mean(losses(done)[-3:]) < 0.6 * losses(done)[0]


@pytest.mark.parametrize("vision", ["frozen", "trained"])
def test_lora_learns_where_it_is_to_and_the_rest_stays(place: Path, vision: str) -> None:
    done = trained(settings(place, vision=vision, steps=2))
    made = tensors(place / "out" / "last")
    assert any("lora_B" in name and each.abs().max() > 0 for name, each in made.items())
    assert any(".visual." in name for name in made) == (vision == "trained")
    parts = (
        "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
        "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
    )  # fmt: skip
    for layer in range(2):
        for part in parts:
            assert any(f"language_model.layers.{layer}.{part}.lora_A" in name for name in made)
    assert done.weights == sum(each.numel() for each in made.values())


@pytest.mark.parametrize("vision", ["frozen", "trained"])
def test_without_lora_the_weights_themselves_learn(place: Path, vision: str) -> None:
    trained(settings(place, rank=0, vision=vision, steps=2, rate=1e-3))
    old, new = tensors(place / "base"), tensors(place / "out" / "last")
    moved = {name for name in new if not torch.equal(old[name], new[name])}
    assert any("language_model" in name for name in moved)
    assert any("visual" in name for name in moved) == (vision == "trained")
    for name in ("processor_config.json", "tokenizer.json", "chat_template.jinja"):
        assert (place / "out" / "last" / name).read_bytes() == (place / "base" / name).read_bytes()
    assert (read_card(place / "out" / "last") or 0).method == "full"  # type: ignore[union-attr]
    assert (
        json.loads((place / "out" / "last" / "generation_config.json").read_text())["eos_token_id"]
        == 2
    )


@pytest.mark.parametrize("average", ["token", "square", "sample"])
def test_a_batch_of_four_is_four_batches_of_one(place: Path, average: Average) -> None:
    """Gradient accumulation weighs tokens or replies, not batches: the loss curves are one."""
    told = {"dropout": 0.0, "steps": 8, "save_every": 8, "average": average}
    whole = losses(trained(settings(place, batch=4, accumulate=1, **told)))
    parts = losses(trained(settings(place, batch=1, accumulate=4, out=str(place / "b"), **told)))
    apart_by = np.abs(np.array(whole) - parts)
    assert apart_by.max() < 5e-5
    assert apart_by.mean() < 1e-5
    assert np.ptp(whole) > 0.05  # and they are no straight line


# --- goes on -----------------------------------------------------------------------------------


RUN = """
import sys
import msgspec
from pathlib import Path
from tests.stages.tuned import trained
from fieldtruth.stages import sft
trained(msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=sft.Sft))
"""


def started(told: sft.Sft, folder: Path) -> "subprocess.Popen[bytes]":
    """The run in a process of its own."""
    (folder / "told.json").write_bytes(msgspec.json.encode(told))
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder / "told.json")], cwd=root,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


@pytest.mark.parametrize(("rank", "optimizer"), [(4, "adamw"), (0, "adamw"), (0, "muon")])
def test_a_killed_run_comes_to_the_same_losses_and_weights(
    place: Path, rank: int, optimizer: str
) -> None:
    told = settings(
        place, rank=rank, optimizer=optimizer, dropout=0.2, rate=1e-3, steps=8, save_every=2,
        val=(str(place / "val" / "training"),), budget=8,
    )  # fmt: skip
    straight = trained(told)
    kept = tensors(place / "out" / "last")
    killed = msgspec.structs.replace(told, out=str(place / "killed"))
    process = started(killed, place)
    second = place / "killed" / "checkpoints" / "checkpoint-4" / NAME
    for _ in range(9000):  # three minutes: it may have little of a processor
        if second.exists() or process.poll() is not None:
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    said = process.communicate()[0]
    assert process.returncode == -signal.SIGKILL, said
    assert not (place / "killed" / "train.json").exists()
    # A checkpoint that nobody finished is none.
    torn = place / "killed" / "checkpoints" / "checkpoint-7"
    shutil.copytree(second.parent, torn)
    (torn / NAME).unlink()
    again = trained(killed)
    assert losses(again) == losses(straight)
    assert again.validations == straight.validations
    assert (again.best, again.last) == (straight.best, straight.last)
    made = tensors(place / "killed" / "last")
    assert made.keys() == kept.keys()
    assert all(torch.equal(made[name], kept[name]) for name in made)
    assert not (place / "killed" / "checkpoints").exists()


class Stopped(Exception):
    """Stands for a kill at a place that a signal would rarely meet."""


def test_a_run_killed_at_its_very_end_is_judged_and_published(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = settings(place, val=(str(place / "val" / "training"),), budget=8)
    straight = trained(told)
    broken = msgspec.structs.replace(told, out=str(place / "broken"))

    def full(*_: Any, **__: Any) -> None:
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfile", full)  # the first thing that is published
        with pytest.raises(Stopped):
            trained(broken)
    folder = place / "broken" / "checkpoints"
    (folder / "validation-6.json").unlink()  # as if it had been killed before this one
    again = trained(broken)
    assert again.validations == straight.validations
    assert again.history == straight.history
    assert msgspec.structs.replace(again, run="") == msgspec.structs.replace(straight, run="")


def test_a_done_run_is_not_done_again_and_another_is_not_put_over_it(place: Path) -> None:
    told = settings(place, steps=2)
    first = trained(told)
    before = {path: path.stat().st_mtime_ns for path in (place / "out").rglob("*")}
    assert trained(told) == first
    assert {path: path.stat().st_mtime_ns for path in (place / "out").rglob("*")} == before
    with pytest.raises(Usage, match="holds another run"):
        trained(settings(place, steps=2, rate=2e-2))
    (place / "mine").mkdir()
    (place / "mine" / "thesis.txt").touch()
    with pytest.raises(Usage, match="expected an empty folder"):
        trained(settings(place, out=str(place / "mine")))


def test_a_disk_that_is_full_at_a_checkpoint_loses_nothing(place: Path) -> None:
    straight = losses(trained(settings(place, dropout=0.2)))
    told = settings(place, dropout=0.2, out=str(place / "full"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fills_up(records: Any, total: int | None = None) -> Iterator[Any]:
        for step in records:
            if step == 3:  # the fourth, after which the second checkpoint is due
                resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
            yield step

    try:
        with pytest.raises(CannotWrite) as caught:
            sft.train(told, fills_up, lambda _: None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "checkpoint-4: expected room to write" in str(caught.value)
    assert str(caught.value).count("\n") == 0
    assert sorted(p.name for p in (place / "full" / "checkpoints").iterdir()) == ["checkpoint-2"]
    assert losses(trained(told)) == straight


# --- what is kept ------------------------------------------------------------------------------


def test_best_and_last_are_kept_with_how_they_did(place: Path) -> None:
    told = settings(place, val=(str(place / "val" / "training"),), steps=6)
    notes: list[str] = []
    done = sft.train(told, silent, notes.append)
    assert [each.step for each in done.validations] == [2, 4, 6]
    assert done.select == "candidates.joint"
    assert set(done.validations[0].values) == {
        "known_target",
        "candidates",
        "known_target+wrong_target",
    }
    assert (done.last, done.best) == (6, 2)  # the first of equals: none finds anything
    for name, step in (("best", 2), ("last", 6)):
        card = read_card(place / "out" / name)
        assert card is not None
        assert (card.step, card.method, card.space, card.max_pixels) == (
            step,
            "lora",
            "norm1000",
            50_176,
        )
    written = msgspec.json.decode((place / "out" / "train.json").read_bytes(), type=sft.Trained)
    assert written == done
    assert "best is step 2 (candidates.joint 0.000); last is step 6" in sft.line(done, "out")
    assert notes == []


def test_the_best_is_the_first_of_the_highest(tmp_path: Path) -> None:
    card = Card(
        method="lora", base="b", base_weights="0", space="norm1000", min_pixels=1, max_pixels=2,
        step=0,
    )  # fmt: skip
    kept = Checkpoints(tmp_path, card, "candidates.joint")
    for step, joint in ((2, 0.25), (4, 0.5), (6, None), (8, 0.5), (10, 0.125)):
        kept.at(step).mkdir(parents=True)
        with kept.saving(step):
            for file in ("adapter_model.safetensors", "adapter_config.json"):
                (kept.at(step) / file).write_bytes(b"x")
        value = Value(value=joint, low=joint, high=joint, n=4)
        kept.judged(Validation(step=step, values={"candidates": {"joint": value}}, outcomes={}))
    assert kept.best() == 4
    kept.thin()
    assert kept.steps() == [4, 10]
    assert [each.step for each in kept.judgements()] == [2, 4, 6, 8, 10]
    assert kept.publish("b") == {"best": 4, "last": 10}
    assert Checkpoints(tmp_path, card, "").best() == 10


def test_validation_goes_the_one_road_of_grading() -> None:
    listed = {"protocol": "candidates", "query": None}
    some = [
        example("hit"),
        example("miss"),
        example("well", role="healthy"),
        example("sick", role="wrong_target"),
        example("listed", candidates=NAMES, **listed),
        example("other", role="wrong_target", candidates=(*NAMES[1:], "scab"), **listed),
        example("lost"),
    ]
    hit = some[0].answer
    said = [hit, "[]", "[]", hit, hit, "[]", ""]
    words = [Words(text=text) for text in said]
    words[-1] = Words(text="", finish="error", error="no memory")
    found = graded(7, some, words)
    known, wrong = found.values["known_target"], found.values["known_target+wrong_target"]
    assert known["f1"].value == pytest.approx(2 / 3)
    assert known["f1"].n == 2
    assert (known["abstention"].value, known["false_abstention"].value) == (1.0, 0.5)
    assert (wrong["wrong_target_abstention"].value, wrong["wrong_target_abstention"].n) == (0.5, 2)
    assert found.values["candidates"]["recognition"].value == 1.0
    assert found.outcomes["known_target"]["error"] == 1
    assert found.step == 7
    assert found.by("known_target.f1") == known["f1"].value
    assert selector(None, some) == "candidates.joint"
    assert selector(None, some[:2]) == "known_target.f1"
    with pytest.raises(Usage, match="select: expected one of candidates"):
        selector("known_target.accuracy", some)


def test_another_resolution_for_validation_is_said(place: Path) -> None:
    told = settings(place, steps=1, val=(str(place / "val" / "training"),), eval_max_pixels=4096)
    notes: list[str] = []
    done = sft.train(told, silent, notes.append)
    assert len(notes) == 1
    assert "trained on photos of 784..50176px and validated on 784..4096px" in notes[0]
    assert done.notes == tuple(notes)
    assert (done.caps, done.eval_caps) == ((784, 50_176), (784, 4096))


def test_photos_that_are_made_smaller_than_the_base_takes_are_said(place: Path) -> None:
    notes: list[str] = []
    sft.train(settings(place, steps=1, max_pixels=4096), silent, notes.append)
    (small, _) = notes
    assert "no more than 4,096 pixels (64 x 64; this base takes 9,216)" in small
    assert "max_pixels" in small


# --- refused -----------------------------------------------------------------------------------


def test_examples_of_one_group_or_photo_are_not_on_both_sides(tmp_path: Path) -> None:
    train = Rows([store.open_examples(examples(tmp_path / "t"))])
    apart(train, Rows([store.open_examples(examples(tmp_path / "v", 4, "val"))]))
    shared = examples(tmp_path / "g", 1, "val", group="train3")
    with pytest.raises(
        Refused, match="groups that are not trained on, got 1 that are, such as 'train3'"
    ):
        apart(train, Rows([store.open_examples(shared)]))
    digest = store.sha256(tmp_path / "t" / "release" / "train0.png")
    same = examples(tmp_path / "s", 1, "val", image_sha256=digest)
    with pytest.raises(Refused, match="photos that are not trained on"):
        apart(train, Rows([store.open_examples(same)]))


def test_rows_are_those_of_the_files_one_after_another(tmp_path: Path) -> None:
    sets = [
        store.open_examples(examples(tmp_path / "a")),
        store.open_examples(examples(tmp_path / "b", 3)),
    ]
    rows = Rows(sets)
    straight = [(example, each.photo(example)) for each in sets for example in each]
    assert [rows[n] for n in range(len(rows))] == straight
    assert rows.head(2) == straight[:2]
    assert rows.head(None) == straight


def test_an_example_that_is_too_long_is_found_before_the_first_step(place: Path) -> None:
    """However late its turn comes: the one step here is of four others."""
    first = store.open_examples(Path(settings(place).train[0]))
    examples(place / "long", 40)
    some = [tuned.one(number, "train", {}) for number in range(40)]
    some[38] = msgspec.structs.replace(some[38], prompt="where? " * 1000)
    folder = examples_folder(place / "long", some)
    assert 8 + 38 in Rows([first, store.open_examples(folder)]).heaviest()
    with pytest.raises(Usage, match="example 'train-38': expected at most 1000 tokens"):
        trained(settings(place, train=(str(folder),), steps=1, length=1000))


def test_what_cannot_be_trained_on_says_why(place: Path) -> None:
    if not torch.cuda.is_available():
        with pytest.raises(Usage, match="device: expected one that this machine has"):
            trained(settings(place, device="cuda"))
    with pytest.raises(Usage, match="device: expected cpu or cuda to train on, got 'mps'"):
        trained(settings(place, device="mps"))
    with pytest.raises(Usage, match="got nothing there"):
        trained(settings(place, base=str(place / "nothing")))
    with pytest.raises(Usage, match="box space of the base, got them in norm1000"):
        trained(settings(place, space="norm1"))
    with pytest.raises(Usage, match="at most 40 tokens"):
        trained(settings(place, length=40))
    with pytest.raises(Usage, match="names none"):
        trained(settings(place, targets="nothing_proj", out=str(place / "none")))
    mixed = examples(place / "pixels", 2, space="pixel")
    both = (str(place / "train" / "training"), str(mixed))
    with pytest.raises(Usage, match="examples in one box space"):
        trained(settings(place, train=both))
    assert trained(settings(place, steps=1)).steps == 1  # the next command goes on
