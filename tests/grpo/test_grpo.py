"""Reinforcement learning end to end: what is paid, watched, kept, gone on with and refused."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.builders import examples_folder
from tests.stages import tuned
from tests.stages.tuned import examples, silent

from fieldtruth import pretrained, store
from fieldtruth.faults import BadRecord, CannotWrite, Refused, Unreadable, Usage
from fieldtruth.images import open_upright
from fieldtruth.models.transformers.card import Card, read_card
from fieldtruth.models.transformers.loading import Caps
from fieldtruth.rewards.contract import Rollout, pay
from fieldtruth.stages import grpo
from fieldtruth.stages.grpo import Grpo, Mix, Watch, prompts
from fieldtruth.stages.grpo.mix import Books
from fieldtruth.stages.grpo.paying import reward_of
from fieldtruth.tuning import work
from fieldtruth.tuning.checkpoints import Checkpoints
from fieldtruth.tuning.validating import Validation, Value

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base that has learnt to write a list now and then, and examples of every kind."""
    folder = tmp_path_factory.mktemp("home")
    tuned.base(folder)
    examples(folder / "train", 16)
    examples(folder / "val", 4, "val")
    told = tuned.settings(
        folder, rank=0, rate=3e-3, steps=60, save_every=60, batch=4, accumulate=1,
        out=str(folder / "taught"),
    )  # fmt: skip
    tuned.trained(told)
    shutil.rmtree(folder / "base")
    shutil.copytree(folder / "taught" / "last", folder / "base")
    return folder


@pytest.fixture
def place(home: Path, tmp_path: Path) -> Path:
    """The same for one test, which may spoil it."""
    return shutil.copytree(home, tmp_path / "home")


def settings(folder: Path, **changes: Any) -> Grpo:
    """Four rounds of two prompts with four replies, a checkpoint after every second."""
    fields: dict[str, Any] = {
        "base": str(folder / "base"), "train": (str(folder / "train" / "training"),),
        "val": (str(folder / "val" / "training"),), "out": str(folder / "out"), "rank": 4,
        "alpha": 8, "prompts": 2, "replies": 4, "batch": 4, "steps": 4, "save_every": 2,
        "rate": 1e-2, "warmup": 0, "budget": 12, "temperature": 1.0, "device": "cpu",
        "mix": Mix(healthy=0.3, wrong_target=0.3, dense=0.0), "keep_replies": True,
    }  # fmt: skip
    return Grpo(**(fields | changes))


def trained(told: Grpo) -> grpo.Trained:
    return grpo.train(told, silent, lambda _: None)


def tensors(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    (path,) = folder.glob("*.safetensors")
    found: dict[str, Any] = load_file(path)
    return found


def test_a_run_is_paid_watched_validated_and_kept(place: Path) -> None:
    told = settings(place)
    done = trained(told)
    assert [row["step"] for row in done.history] == [1, 2, 3, 4]
    assert (done.steps, done.asked, done.last) == (4, 8, 4)
    # What was learnt from is what `fieldtruth reward` pays for the same replies.
    for row in done.history:
        path = place / "out" / "replies" / f"step-{int(row['step']):06d}.jsonl"
        paid = pay(reward_of(told), list(store.read(path, Rollout)))
        assert len(paid) == 8
        assert row["reward"] == pytest.approx(sum(e.reward for e in paid) / 8, abs=1e-15)
        assert {"kl", "clipped", "zero_spread", "tokens", "truncated", "unread"} <= row.keys()
    assert sum(row["reward"] for row in done.history) > 0
    assert any(row["spread"] > 0 for row in done.history)
    rows = [json.loads(each) for each in (place / "out" / "steps.jsonl").read_text().splitlines()]
    assert rows == done.history
    assert [each.step for each in done.validations] == [0, 2, 4]
    assert done.select == "reward.mean"
    rewards = {each.step: each.by("reward.mean") or 0.0 for each in done.validations}
    assert done.gained == pytest.approx(rewards[done.best] - rewards[0], abs=1e-15)
    assert done.best == max((2, 4), key=lambda step: (rewards[step], -step))
    assert done.validations[0].values["reward"]["mean"].n == 4
    for name in ("best", "last"):
        card = read_card(place / "out" / name)
        assert card is not None
        assert (card.method, card.step) == ("lora", getattr(done, name))
    assert done.mix.examples == 16 == done.mix.taken + sum(done.mix.dropped.values())
    written = msgspec.json.decode((place / "out" / "train.json").read_bytes(), type=grpo.Trained)
    assert written == done == trained(told)  # and is not done again
    words = grpo.line(done, "there")
    assert words.startswith(f"4 steps, 8 prompts: reward {done.history[0]['reward']:.3f} -> ")
    assert words.endswith("In there")
    with pytest.raises(Usage, match="holds another run"):
        trained(settings(place, rate=2e-2))


class Stopped(Exception):
    """Stands for a kill."""


def until(most: int) -> Any:
    def track(records: Any, total: int | None = None) -> Iterator[Any]:
        for number, record in enumerate(records):
            if number == most:
                raise Stopped
            yield record

    return track


@pytest.mark.parametrize(("rank", "updates"), [(4, 1), (0, 2)])
def test_a_killed_run_comes_to_the_same_rewards_and_weights(
    place: Path, rank: int, updates: int
) -> None:
    told = settings(
        place, rank=rank, updates=updates, batch=2, rate=1e-3, steps=6, clip_low=0.2, clip_high=0.2
    )
    straight = trained(told)
    killed = msgspec.structs.replace(told, out=str(place / "killed"))
    with pytest.raises(Stopped):
        grpo.train(killed, until(4), lambda _: None)
    assert not (place / "killed" / "train.json").exists()
    again = trained(killed)
    assert again.history == straight.history
    assert any(row.get("grad_norm", 0) > 0 for row in again.history)
    assert again.validations == straight.validations
    kept, made = tensors(place / "out" / "last"), tensors(place / "killed" / "last")
    assert kept.keys() == made.keys()
    assert all(torch.equal(kept[name], made[name]) for name in kept)
    if not rank:
        base = tensors(place / "base")
        moved = {name for name in made if not torch.equal(base[name], made[name])}
        assert any("language_model" in name for name in moved)
        assert not any("visual" in name for name in moved)


def test_a_run_that_was_killed_after_its_last_step_keeps_its_rows(place: Path) -> None:
    """What is in the way of `train.json` stands for the kill."""
    told = settings(place, steps=2, val=())
    out = place / "out"
    (out / "train.json").mkdir(parents=True)
    (out / "run.json").write_text('{"run": "none"}')
    with pytest.raises((OSError, CannotWrite)):
        trained(told)
    rows = (out / "steps.jsonl").read_bytes()
    (out / "train.json").rmdir()
    done = trained(told)
    assert done.steps == rows.count(b"\n") == 2
    assert (out / "steps.jsonl").read_bytes() == rows


def test_what_another_run_left_before_its_first_checkpoint_is_no_part_of_this_one(
    place: Path,
) -> None:
    """The base is validated before that, by what the other run was paid; and replies are kept."""
    other = settings(place, steps=4, save_every=4, reward="published", mix=Mix(dense=0.0))
    with pytest.raises(Stopped):
        grpo.train(other, until(2), lambda _: None)
    left = (place / "out" / "checkpoints" / "validation-0.json").read_bytes()
    assert len(list((place / "out" / "replies").iterdir())) >= 2
    told = settings(place, steps=1, save_every=1)
    done = trained(told)
    fresh = trained(msgspec.structs.replace(told, out=str(place / "fresh")))
    assert done.validations == fresh.validations
    assert done.validations[0] != msgspec.json.decode(left, type=type(done.validations[0]))
    assert [each.name for each in (place / "out" / "replies").iterdir()] == ["step-000001.jsonl"]


@pytest.mark.parametrize("name", ["run.json", "train.json"])
@pytest.mark.parametrize("raw", [b"", b"{}[", b"[3]", b'{"run": 3}', b"\xff"])
def test_what_another_version_or_hand_left_is_named(tmp_path: Path, name: str, raw: bytes) -> None:
    card = Card(
        method="lora", base="b", base_weights="0", space="norm1000", min_pixels=1, max_pixels=2,
        step=0,
    )  # fmt: skip
    (tmp_path / "run.json").write_text('{"run": "this"}')
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(BadRecord, match=rf"{name}: expected what a training .* remove {tmp_path}"):
        work.finished(tmp_path, "this", Checkpoints(tmp_path, card, ""), grpo.Trained)


def test_the_longest_prompt_counts_though_another_of_its_size_was_looked_at(
    tmp_path: Path,
) -> None:
    """vLLM is told how long a prompt may be."""
    tuned.base(tmp_path)
    examples(tmp_path / "train", 40)
    some = [tuned.one(number, "train", {}) for number in range(40)]
    some[38] = msgspec.structs.replace(some[38], prompt="where? " * 90)
    examples_folder(tmp_path / "train", some)
    told = settings(tmp_path, val=())
    rows = work.rows_of(told.train)
    run = grpo._Work(told, "cpu", rows, None, reward_of(told))
    encoder = run._speaker(run.work.weights.model).encoder
    longest = prompts.check(rows, range(40), run.work.processor, encoder, sign_of(run))
    example, photo = rows[38]
    assert longest == encoder.ask(example.prompt, [open_upright(photo)]).tokens
    assert longest > prompts.check(rows, range(38), run.work.processor, encoder, sign_of(run))


def sign_of(run: Any) -> int:
    found: int = run.work.weights.model.config.image_token_id
    return found


def test_a_sign_of_hacking_is_told_and_can_stop_the_run(place: Path) -> None:
    watch = Watch(window=2, truncated=0.0, zero_spread=1, empty=1, unread=1, first_option=1)
    told, notes = settings(place, watch=watch, budget=1, steps=6, val=()), list[str]()
    done = grpo.train(told, silent, notes.append)
    assert [(each.step, each.sign) for each in done.alarms] == [(2, "truncated")]
    assert notes[-1].startswith("step 2: truncated 1 > 0 (replies that are cut off")
    assert (done.steps, done.stopped, done.gained) == (6, "", None)
    straight = done
    stopping = msgspec.structs.replace(watch, on_alarm="stop")
    told = settings(place, watch=stopping, budget=1, steps=6, val=(), out=str(place / "stopped"))
    done = grpo.train(told, silent, notes.append)
    assert (done.steps, done.best, done.last) == (2, 2, 2)
    assert done.stopped.startswith("step 2: truncated")
    assert "stopped at step 2" in grpo.line(done, "out")
    # As long as alarms stop it, it is done; where they no longer do, it goes on as if they had not.
    assert trained(told) == done
    again = trained(msgspec.structs.replace(told, watch=watch))
    assert (again.steps, again.stopped, again.run) == (6, "", straight.run)
    assert again.history == straight.history
    kept, made = tensors(place / "out" / "last"), tensors(place / "stopped" / "last")
    assert all(torch.equal(kept[name], made[name]) for name in kept)
    assert not (place / "stopped" / "checkpoints").exists()


def test_a_run_is_stopped_at_the_end_of_a_round() -> None:
    """Two steps are made of a round: after the first of them nobody could go on."""
    from fieldtruth.stages.grpo import trainer

    rows, stopped = list[int](), list[int]()

    def alarmed(history: list[int]) -> bool:
        rows.append(history[-1])
        return True

    asked: Any = SimpleNamespace(look=alarmed)
    watching = trainer._Watching(SimpleNamespace(), asked, 2)  # type: ignore[arg-type]
    for step in range(1, 5):
        control = SimpleNamespace(should_save=False, should_training_stop=False)
        watching.on_log(None, SimpleNamespace(global_step=step, log_history=[step]), control)
        assert control.should_save == control.should_training_stop
        stopped += [step] if control.should_training_stop else []
    assert (rows, stopped) == ([1, 2, 3, 4], [2, 4])


@pytest.mark.parametrize(
    ("base", "best", "gain", "said"),
    [
        (0.5, 0.75, 0.25, "best is step 4 (reward.mean 0.750); last is step 6. In out"),
        (0.75, 0.5, -0.25, "the base it began with did better by 0.250: best is no gain on it"),
        (0.5, 0.5, 0.0, "the base it began with did as well: best is no gain on it"),
        (None, 0.5, None, "best is step 4 (reward.mean 0.500); last is step 6. In out"),
    ],
)
def test_a_best_that_is_worse_than_its_base_is_said(
    base: float | None, best: float, gain: float | None, said: str
) -> None:
    judged = [
        Validation(
            step=step, outcomes={},
            values={"reward": {"mean": Value(value=value, low=value, high=value, n=4)}},
        )
        for step, value in ((0, base), (4, best))
    ]  # fmt: skip
    found = grpo.gained("reward.mean", judged, 4)
    assert found == gain
    done = grpo.Trained(
        run="", base="", base_weights="", reward="grounded", asked=8, val_examples=4, steps=6,
        mix=Books(examples=1, taken=1, cells={}, dropped={}), weights=1, caps=Caps(None, None),
        select="reward.mean", best=4, last=6, history=[{"reward": 0.5}], validations=judged,
        alarms=(), stopped="", notes=(), versions={}, gained=found,
    )  # fmt: skip
    assert said in grpo.line(done, "out")
    assert ("no gain" in grpo.line(done, "out")) == ("no gain" in said)


def test_what_trl_is_told(place: Path) -> None:
    from fieldtruth.stages.grpo import trainer

    asked = trainer.Asked(
        shown=None, order=range(12), payer=None, longest=100, look=lambda _: False,  # type: ignore[arg-type]
    )  # fmt: skip
    told = settings(place, prompts=4, replies=8, batch=4, updates=2, steps=6)
    with pretrained.hushed():
        made = trainer._arguments(told, "cpu", asked, place / "checkpoints")
        fast = trainer._arguments(settings(place, vllm=True), "cpu", asked, place / "checkpoints")
    assert (made.importance_sampling_level, made.loss_type) == ("sequence", "grpo")
    assert (made.num_generations, made.generation_batch_size) == (8, 32)
    assert (made.steps_per_generation, made.gradient_accumulation_steps) == (8, 4)
    assert (made.max_steps, made.max_completion_length) == (6, 12)
    assert (made.epsilon, made.epsilon_high, made.beta) == (3e-4, 4e-4, 0.005)
    assert (made.temperature, made.top_p, made.top_k) == (1.0, 0.9, 50)
    assert (made.use_cpu, made.bf16, made.gradient_checkpointing) == (True, False, False)
    assert not made.use_vllm
    assert not fast.vllm_importance_sampling_correction
    assert (fast.use_vllm, fast.vllm_mode, fast.vllm_max_model_length) == (True, "colocate", 112)


def test_parts_of_like_length_say_what_the_whole_says(tmp_path: Path) -> None:
    """Against TRL's own, which lets every reply be as long as the longest."""
    from trl import GRPOTrainer

    from fieldtruth.models.transformers.encoding import batch
    from fieldtruth.stages.grpo import trainer

    tuned.base(tmp_path)
    examples(tmp_path / "train", 16)
    told = settings(tmp_path, val=())
    rows = work.rows_of(told.train)
    run = grpo._Work(told, "cpu", rows, None, reward_of(told))
    asked = run._asked(trainer, lambda _: None)
    rest = trainer.Rest(run.checkpoints, None)
    with pretrained.hushed():
        tuner = trainer.open_tuner(
            told, run.work.weights, "cpu", run.work.processor, asked, rest
        )  # fmt: skip
    speaker = run._speaker(tuner.model)
    shown = [(rows[n][0].prompt, open_upright(rows[n][1])) for n in range(12)]
    given = batch(
        [speaker.encoder.ask(p, [photo]) for p, photo in shown], speaker.pad, "left", "cpu"
    )
    longest, ends = 20, torch.tensor([20, 1, 3, 2, 2, 19, 1, 5, 1, 1, 2, 7])
    said = torch.arange(longest) < ends[:, None]
    words = torch.randint(7, 300, (12, longest)) * said
    parts = {
        "pixel_values": given["pixel_values"], "image_grid_thw": given["image_grid_thw"],
        "num_images": [1] * 12, "compute_entropy": True,
        "mm_token_type_ids": torch.nn.functional.pad(given["mm_token_type_ids"], (0, longest)),
    }  # fmt: skip
    asks = (
        tuner.model, torch.cat([given["input_ids"], words], 1),
        torch.cat([given["attention_mask"], said.long()], 1), longest,
    )  # fmt: skip
    tuner.model.eval()
    ours = tuner._get_per_token_logps_and_entropies(*asks, **parts)
    theirs = GRPOTrainer._get_per_token_logps_and_entropies(tuner, *asks, **parts)
    for a, b in zip(ours[:2], theirs[:2], strict=True):
        assert a.shape == b.shape == (12, longest)
        torch.testing.assert_close(a[said], b[said], atol=2e-5, rtol=1e-4)
        assert bool((a[ends == 1, 3:] == 0).all())  # the eight shortest are of at most three
    assert ours[2] is theirs[2] is None


# --- refused before the first step -------------------------------------------------------------


def test_a_prompt_with_one_of_the_models_own_signs_is_named(place: Path) -> None:
    examples(place / "bad", 8, prompt="what is this <|image_pad|>?")
    told = settings(place, train=(str(place / "bad" / "training"),))
    with pytest.raises(Unreadable, match=r"example 'train-\d': .*own sign '<\|image_pad\|>'"):
        trained(told)
    assert not (place / "out" / "checkpoints").exists()


def test_weights_with_another_image_token_are_named(place: Path) -> None:
    path = place / "base" / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"image_token_id": 6, "video_token_id": 5}))
    with pytest.raises(Unreadable, match=r"expected \d+ image tokens for its photo, got 0"):
        trained(settings(place))


def test_what_cannot_be_learnt_from_says_why(place: Path, tmp_path: Path) -> None:
    shared = examples(tmp_path / "g", 4, "val", group="train3")
    with pytest.raises(Refused, match="groups that are not trained on"):
        trained(settings(place, val=(str(shared),)))
    with pytest.raises(Usage, match=r"vllm: expected (the package vllm|a GPU)"):
        trained(settings(place, vllm=True))
    with pytest.raises(Usage, match="expected 32 prompts that are healthy listed, got 2"):
        trained(settings(place, mix=Mix(size=400)))
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text("{}")
    with pytest.raises(Usage, match="got LoRA weights; merge them with: fieldtruth train merge"):
        trained(settings(place, base=str(adapter)))
    with pytest.raises(Usage, match=r"select: expected one of .*; or reward\.mean"):
        trained(settings(place, select="reward.most"))
    with pytest.raises(ValueError, match="multiple of updates x batch"):
        settings(place, batch=3)
    with pytest.raises(ValueError, match="a round that was begun cannot be gone on with"):
        settings(place, updates=2, save_every=3)
