"""The dry run: every recipe that trains comes to its first step, and what is wrong is told."""

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.stages import tuned
from typer.testing import CliRunner

from fieldtruth.cli import app
from fieldtruth.faults import Usage
from fieldtruth.models.transformers.first_step import Learning, Range
from fieldtruth.run import ablation, rehearsing, tuning
from fieldtruth.run.rehearsing import Rehearsed
from fieldtruth.stages.grpo import Grpo
from fieldtruth.stages.sft import Sft

RECIPES = Path(__file__).parents[2] / "recipes"
TRAINS = sorted(
    path.name for path in RECIPES.glob("*.toml") if re.search(r"^\[sft\]", path.read_text(), re.M)
)


LEARNS = ("agroground-2b.toml", "agroground-8b.toml")


def ran(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


def copied(name: str, folder: Path) -> Path:
    """A recipe where nothing that it names lies beside it, so that leaves are drawn."""
    (folder / "recipes").mkdir()
    return Path(shutil.copy(RECIPES / name, folder / "recipes" / name))


# --- the recipes -------------------------------------------------------------------------------


def test_there_are_the_recipes_of_the_full_systems() -> None:
    assert {
        "agroground-2b.toml", "agroground-8b.toml", "plantseg-training.toml",
        "plantxpert-training.toml", "agmmu-training.toml",
    } <= set(TRAINS)  # fmt: skip


@pytest.mark.parametrize("name", TRAINS)
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_recipe_that_trains_comes_to_its_first_step(name: str, tmp_path: Path) -> None:
    pytest.importorskip("trl")
    path = copied(name, tmp_path)
    rows = "[rows." in path.read_text()
    code, said, err = ran(
        "train", "ablation" if rows else "sft", path, "--dry-run", "--json", "--quiet"
    )
    assert code == 0, err
    made = json.loads(said)
    for row, done in made.items() if rows else [("", made)]:
        seen = msgspec.convert(done, Rehearsed)
        rehearsing.check(seen)
        assert (seen.base, seen.data) == ("tiny", "drawn")
        assert seen.grad_norm > 0
        told = told_of(path, row)
        if told.rank and told.vision == "frozen":
            # The pairs of seven projections in four layers; the first of each waits.
            assert (seen.learning.learning, seen.learning.waiting) == (28, 28)
            assert seen.learning.weights == 4 * told.rank * (4 * 2 * 192 + 3 * (192 + 384))
        elif (
            told.rank
        ):  # and of four in each of the four blocks of the eyes, and two of two mergers
            assert (seen.learning.learning, seen.learning.waiting) == (48, 48)
        assert (seen.learning.eyes > 0) == (told.vision == "trained")
        assert 1 <= seen.image_tokens.least <= seen.image_tokens.most < seen.tokens.most
        if told.max_pixels:
            assert seen.image_tokens.most <= told.max_pixels // 32**2
        assert seen.taught is not None
        if isinstance(told, Grpo):
            assert seen.examples == 4 * told.replies
            continue
        assert 0 < seen.loss < 20
        assert seen.tokens.most <= told.length
        assert seen.taught.least >= 2  # an empty list and the end of the turn
        assert seen.examples >= min(told.batch * told.accumulate, 30)
    assert {each.name for each in tmp_path.iterdir()} == {"recipes"}  # nothing is kept


@pytest.mark.parametrize("name", LEARNS)
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_recipe_that_is_paid_for_answers_comes_to_its_first_step(
    name: str, tmp_path: Path
) -> None:
    pytest.importorskip("trl")
    path = copied(name, tmp_path)
    code, said, err = ran("train", "grpo", path, "--dry-run", "--json", "--quiet")
    assert code == 0, err
    seen = msgspec.convert(json.loads(said), Rehearsed)
    rehearsing.check(seen)
    assert (seen.base, seen.data, seen.examples) == ("tiny", "drawn", 4 * 8)
    assert seen.reward is not None
    assert 0.3 < seen.reward < 1  # the packaged model knows drawn leaves
    assert (seen.learning.learning, seen.learning.waiting, seen.learning.eyes) == (28, 28, 0)
    assert seen.image_tokens.most == 64  # 256 x 256 pixels, not made smaller
    assert seen.grad_norm > 0
    assert {each.name for each in tmp_path.iterdir()} == {"recipes"}


def told_of(path: Path, row: str) -> Sft | Grpo:
    """What a row is told, or the recipe itself."""
    if not row:
        return tuning.read(path)
    opened = ablation.read(path)
    there = opened.ablation.rows[row]
    make = opened.tuning if there.grpo is None else opened.learning
    return make(there, 0, Path("out"), "base")


def test_the_papers_settings_stand_in_the_recipes() -> None:
    """AgroGround, appendices D and J; PlantXpert, implementation settings; AgMMU, appendix C."""
    small, large = (tuning.read(RECIPES / f"agroground-{size}.toml") for size in ("2b", "8b"))
    for told in (small, large):
        assert (told.rank, told.alpha, told.dropout, told.vision) == (64, 128, 0.05, "frozen")
        assert (told.rate, told.schedule, told.warmup, told.decay) == (1e-4, "cosine", 0.03, 0)
        assert (told.batch * told.accumulate, told.epochs, told.length) == (32, 1, 4096)
        assert (told.min_pixels, told.max_pixels) == (784, 50_176)
        assert (told.dtype, told.recompute) == ("bfloat16", True)
    assert (small.base, large.base) == (
        "Qwen/Qwen3-VL-2B-Instruct", "Qwen/Qwen3-VL-8B-Instruct",
    )  # fmt: skip
    for size in ("2b", "8b"):
        rl = tuning.read_grpo(RECIPES / f"agroground-{size}.toml")
        assert (rl.prompts, rl.replies, rl.budget, rl.epochs) == (128, 8, 512, 2)
        assert (rl.temperature, rl.top_p, rl.top_k, rl.beta) == (0.7, 0.9, 50, 0.005)
        assert (rl.rate, rl.warmup, rl.save_every) == (3e-6, 10, 10)
        assert (rl.mix.size, rl.mix.healthy, rl.mix.dense, rl.mix.dense_boxes) == (
            18_750, 0.16, 0.5, 4,
        )  # fmt: skip
        assert rl.mix.photo_pixels == 500_000
        assert int(rl.epochs * (rl.mix.size or 0) / rl.prompts) == 292
    expert = tuning.read(RECIPES / "plantxpert-training.toml")
    assert (expert.rank, expert.alpha, expert.dropout, expert.rate) == (16, 32, 0.05, 1e-4)
    assert (expert.batch, expert.accumulate, expert.epochs, expert.length) == (1, 4, 3, 4096)
    llava = tuning.read(RECIPES / "agmmu-training.toml")
    assert (llava.rate, llava.decay, llava.warmup, llava.epochs) == (2e-4, 0, 0.03, 2)
    assert (llava.batch, llava.batch * llava.accumulate) == (16, 64)


# --- examples at hand, and what is refused -----------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("trl")
    folder = tmp_path_factory.mktemp("home")
    tuned.base(folder)
    tuned.examples(folder / "train")
    tuned.examples(folder / "val", 4, "val")
    return folder


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_examples_at_hand_and_a_base_that_is_named_are_used(home: Path) -> None:
    told = tuned.settings(home, base="Some/Model", val=(str(home / "val" / "training"),))
    done = rehearsing.rehearse(told, str(home / "base"))
    assert (done.data, done.missing, done.recipe_base) == ("recipe", (), "Some/Model")
    assert (done.base, done.examples, done.validated) == (str(home / "base"), 4, 2)
    assert not (home / "out").exists()
    assert rehearsing.line(done).startswith(
        f"dry run: {home / 'base'} in place of Some/Model, on the examples of the recipe.\n"
        "one step of 4 examples: loss "
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_checkpoints_are_compared_by_need_not_be_in_the_two_replies(home: Path) -> None:
    """The first two examples are asked one way alone, and nothing of the other is measured."""
    one = str(tuned.examples(home / "one", 1, "val"))
    told = tuned.settings(
        home, val=(one, one, str(home / "val" / "training")), select="candidates.abstention"
    )
    assert rehearsing.rehearse(told, str(home / "base")).validated == 2
    for few in (1, 2):
        slip = msgspec.structs.replace(told, val_limit=few)
        with pytest.raises(Usage, match=r"select: expected one of known_target\.f1"):
            rehearsing.rehearse(slip, str(home / "base"))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_without_lora_the_head_that_no_reply_needs_is_no_trouble(home: Path) -> None:
    """All weights that learn are reached, those of the eyes only where they learn."""
    for vision in ("frozen", "trained"):
        done = rehearsing.rehearse(tuned.settings(home, rank=0, vision=vision), str(home / "base"))
        rehearsing.check(done)
        assert done.learning.waiting == 0
        assert (done.learning.eyes > 0) == (vision == "trained")


def test_a_base_without_a_dry_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('[sft]\nbase = "a/b"\ntrain = ["t"]\nout = "o"\n')
    code, said, err = ran("train", "sft", path, "--base", "tiny")
    assert (code, said) == (2, "")
    assert "--base: expected it with --dry-run" in err


LEARNING: dict[str, Any] = {
    "weights": 9, "eyes": 0, "learning": 3, "waiting": 3, "resting": (), "leaked": (),
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "learning", "said"),
    [
        ({"loss": math.nan}, {}, "a loss of nan"),
        ({"grad_norm": math.inf}, {}, "gradients of norm inf"),
        ({}, {"learning": 0}, "no weight with a gradient"),
        ({}, {"resting": ("a.lora_B", "b")}, "2 that learn without one (a.lora_B)"),
        ({}, {"leaked": ("visual.x",)}, "1 frozen with one (visual.x)"),
    ],
)
def test_what_would_not_train_is_told(
    changes: dict[str, Any], learning: dict[str, Any], said: str
) -> None:
    with pytest.raises(Usage, match=re.escape(said)):
        rehearsing.check(seen(changes, learning))
    rehearsing.check(seen({}, {}))


def seen(changes: dict[str, Any], learning: dict[str, Any]) -> Rehearsed:
    some = Range(least=1, mean=2.0, most=3)
    fields: dict[str, Any] = {
        "recipe_base": "a/b", "base": "tiny", "data": "drawn", "missing": ("x",), "examples": 4,
        "loss": 1.0, "grad_norm": 1.0, "learning": Learning(**(LEARNING | learning)),
        "tokens": some, "image_tokens": some, "taught": some, "validated": 0, "device": "cpu",
        "seconds": 1.0, "memory": 10**9, "notes": (),
    }  # fmt: skip
    return Rehearsed(**(fields | changes))
