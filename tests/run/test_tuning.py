"""`train sft` and `train merge` as they are called: the recipe, what is checked, exit codes."""

import json
import shutil
from pathlib import Path

import pytest
from tests.builders import examples_folder, four, frozen, row
from tests.stages import tuned
from tests.stages.tuned import examples
from typer.testing import CliRunner

from fieldtruth.cli import app
from fieldtruth.faults import Usage
from fieldtruth.run import tuning
from fieldtruth.stages.sft import PRESETS, Sft

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
RECIPE = """[sft]
base = "base"
train = ["train/training"]
out = "out"
rank = 4
batch = 4
accumulate = 1
steps = 2
save_every = 2
device = "cpu"
"""


def ran(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("trl")
    folder = tmp_path_factory.mktemp("home")
    tuned.base(folder)
    examples(folder / "train")
    (folder / "recipe.toml").write_text(RECIPE)
    return folder


@pytest.fixture
def place(home: Path, tmp_path: Path) -> Path:
    return shutil.copytree(home, tmp_path / "home")


# --- the recipe --------------------------------------------------------------------------------


def write(folder: Path, text: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(text)
    return path


SHORT = '[sft]\nbase = "a/b"\ntrain = ["t"]\nout = "o"\n'


def test_defaults_are_the_papers(tmp_path: Path) -> None:
    """AgroGround, appendix D; reference, section 12."""
    told = tuning.read(write(tmp_path, SHORT))
    assert told.base == "a/b"
    assert (told.rank, told.alpha, told.dropout, told.vision) == (64, 128, 0.05, "frozen")
    assert (told.rate, told.schedule, told.warmup, told.decay) == (1e-4, "cosine", 0.03, 0)
    assert (told.batch * told.accumulate, told.epochs, told.length) == (32, 1, 4096)
    assert (told.min_pixels, told.max_pixels) == (784, 50_176)
    assert (told.train, told.out) == ((str(tmp_path / "t"),), str(tmp_path / "o"))


def test_plantxpert_is_a_preset_that_the_recipe_stands_over(tmp_path: Path) -> None:
    """PlantXpert's settings; reference, section 19."""
    told = tuning.read(write(tmp_path, f'{SHORT}preset = "plantxpert"\n'))
    assert (told.rank, told.alpha, told.dropout, told.rate) == (16, 32, 0.05, 1e-4)
    assert (told.schedule, told.warmup, told.batch, told.accumulate) == ("cosine", 0.03, 1, 4)
    assert (told.epochs, told.max_pixels) == (3, None)
    own = tuning.read(write(tmp_path, f'{SHORT}preset = "plantxpert"\nrank = 8\n'), ["sft.seed=3"])
    assert (own.rank, own.alpha, own.seed) == (8, 32, 3)
    assert all(set(each) <= set(Sft.__struct_fields__) for each in PRESETS.values())


def test_a_base_that_is_a_folder_beside_the_recipe_is_taken(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    told = tuning.read(write(tmp_path, SHORT.replace("a/b", "weights")))
    assert told.base == str(tmp_path / "weights")
    assert tuning.read(write(tmp_path, SHORT.replace("a/b", "../w"))).base == str(
        tmp_path.parent / "w"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{SHORT}ranks = 8\n", r"\[sft\] has no setting 'ranks' \(did you mean 'rank'\?\)"),
        (f"{SHORT}rank = 'eight'\n", r"sft\.rank: expected `int`, got `str`"),
        (f"{SHORT}rank = -1\n", r"sft\.rank: expected `int` >= 0"),
        (f"{SHORT}dropout = 1.5\n", r"sft\.dropout: expected `float` < 1"),
        (
            f"{SHORT}preset = 'mine'\n",
            "preset: expected one of agroground, agmmu, plantxpert, got 'mine'",
        ),
        (SHORT.replace('["t"]', "[]"), "at least one folder of examples"),
        (SHORT.replace('out = "o"\n', ""), "missing required field `out`"),
        ("sft = 3\n", r"expected a table \[sft\]"),
        ("[sft\n", "expected a recipe in TOML"),
        (f"{SHORT}[rows.all]\n", r"got one for: fieldtruth train ablation .*recipe\.toml"),
        ('[ingest]\nsource = "coffee"\n', r"got one for: fieldtruth run .*recipe\.toml"),
    ],
)
def test_a_slip_in_the_recipe_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(Usage, match=told):
        tuning.read(write(tmp_path, text))


# --- as it is called ---------------------------------------------------------------------------


def test_a_recipe_becomes_an_adapter_that_predicts_and_merges(place: Path) -> None:
    code, out, err = ran("train", "sft", place / "recipe.toml")
    assert (code, err) == (0, "fieldtruth: no val: nothing is validated, and best is last\n")
    assert out.startswith("2 steps on 8 examples: loss ")
    assert out.endswith(f"best is step 2; last is step 2. In {place / 'out'}\n")
    code, out, _ = ran("train", "sft", place / "recipe.toml", "--json", "--quiet")
    assert (code, json.loads(out)["steps"]) == (0, 2)  # done already, told again
    code, out, _ = ran("train", "merge", place / "out" / "best", "--out", place / "merged")
    assert code == 0
    assert "merged into" in out
    bench = four(place / "bench")
    asked = (
        f"path={place / 'base'},adapter={place / 'out' / 'best'},max_new_tokens=4,max_pixels=4096"
    )
    code, out, err = ran(
        "predict", bench, "--model", "transformers", "--model-args", asked,
        "--protocol", "candidates", "--out", place / "said.jsonl",
    )  # fmt: skip
    assert code == 0, err
    assert (
        "it was trained on photos of 784..50176px and is asked about photos of 784..4096px" in err
    )
    assert "784..4096px" in (place / "said.manifest.json").read_text()  # the caps stay with it


def test_examples_with_a_problem_are_refused_before_anything_is_loaded(place: Path) -> None:
    examples(place / "bad", 4, boxes=(), answer="[[1, 2]]", role="healthy", label=None)
    code, _, err = ran(
        "train", "sft", place / "recipe.toml", "--set", f"sft.train={place / 'bad' / 'training'}"
    )
    assert code == 3
    assert "expected examples without a problem, got" in err
    assert "see all with: fieldtruth check" in err
    assert not (place / "out").exists()


def test_a_photo_of_a_test_benchmark_is_refused(place: Path) -> None:
    bench = frozen(place / "bench", [row("p0")])
    release = place / "train" / "release"
    photo = place / "photos" / "a.png"
    shutil.copyfile(photo, release / "train0.png")
    shutil.rmtree(place / "train" / "training")
    changes = {"width": 32, "height": 24, "boxes": ((1.0, 1.0, 9.0, 9.0),)}
    examples_folder(place / "train", [tuned.one(0, "train", changes)])
    code, _, err = ran("train", "sft", place / "recipe.toml", "--set", f"sft.tests={bench}")
    assert code == 3
    assert "test" in err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--set", "sft.base=nobody/nothing"), 2, "nobody/nothing: expected"),
        (("--set", "sft.space=norm1"), 2, "the box space of the base"),
        (("--set", "sft.train=nowhere"), 2, "expected"),
        (("--set", "sft.preset=mine"), 2, "preset: expected one of"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    place: Path, words: tuple[str, str], code: int, told: str
) -> None:
    ended, out, err = ran("train", "sft", place / "recipe.toml", "--quiet", *words)
    assert (ended, out) == (code, "")
    assert told in err
    assert err.count("\n") == 1


def test_a_merge_into_nothing_known_is_one_line(place: Path) -> None:
    code, _, err = ran("train", "merge", place / "base", "--out", place / "merged")
    assert (code, err.count("\n")) == (2, 1)
    assert "expected a folder with adapter_model.safetensors and adapter_config.json" in err
    code, _, err = ran("train", "merge", place / "base", "--out", place / "m", "--dtype", "int4")
    assert (code, err.count("\n")) == (2, 1)
    assert "--dtype: expected one of" in err
