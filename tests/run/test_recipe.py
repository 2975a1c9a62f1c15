"""A recipe is read as it is written, and a slip of the pen is never a default."""

import re
import shlex
from pathlib import Path

import pytest

from fieldtruth.faults import Usage
from fieldtruth.run import recipe

SMALL = """
name = "small"
out = "made"
seed = 3
[draw]
leaves = 9
[ingest]
source = "drawn"
[freeze.bench]
split = "test"
version = "1"
"""
ASKED = """
[predict]
benchmark = "bench"
protocols = ["candidates", "candidates+blank"]
[models.box]
backend = "leaf_box"
options = { label = "leaf rust", depth = 2, share = 0.5, fast = true }
[score]
[report]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "my.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_setting_has_its_type_and_the_rest_their_defaults(tmp_path: Path) -> None:
    got, folder = recipe.read(written(tmp_path, SMALL + ASKED))
    assert folder == tmp_path
    assert got == recipe.Recipe(
        name="small", out="made", seed=3, draw=recipe.Draw(leaves=9),
        ingest=recipe.Ingest(source="drawn"), annotate=recipe.Annotate(model="source"),
        freeze={"bench": recipe.Freeze(split="test", version="1")},
        predict=recipe.Predict(benchmark="bench", protocols=("candidates", "candidates+blank")),
        models={"box": recipe.Model(backend="leaf_box", options={
            "label": "leaf rust", "depth": 2, "share": 0.5, "fast": True,
        })},
        score=recipe.Score(allow_missing=0.0, unit="group", matching="greedy"),
        report=recipe.Report(note=None),
    )  # fmt: skip


def test_paths_are_relative_to_the_recipe(tmp_path: Path) -> None:
    opened = recipe.read(written(tmp_path, SMALL))
    assert opened.at("../photos") == tmp_path.parent / "photos"
    assert opened.at("/photos") == Path("/photos")


@pytest.mark.parametrize(
    ("setting", "name", "value"),
    [
        ("seed=8", "seed", 8),
        ("name=2024", "name", "2024"),
        ("draw.leaves=24", "draw", recipe.Draw(leaves=24)),
        ("draw.onto=a=b, c", "draw", recipe.Draw(leaves=9, onto="a=b, c")),
        ("report.note=12", "report", recipe.Report(note="12")),
        ("score.allow_missing=0.25", "score", recipe.Score(allow_missing=0.25)),
        ("score.allow_missing=1", "score", recipe.Score(allow_missing=1.0)),
        ("score.unit=image", "score", recipe.Score(unit="image")),
        ("ingest.options.crop=tomato", "ingest",
         recipe.Ingest(source="drawn", options={"crop": "tomato"})),
        ("annotate.model=leaf_box", "annotate", recipe.Annotate(model="leaf_box")),
    ],
)  # fmt: skip
def test_a_setting_replaced_on_the_command_line(
    tmp_path: Path, setting: str, name: str, value: object
) -> None:
    plain = recipe.read(written(tmp_path, SMALL + ASKED)).recipe
    got = recipe.read(written(tmp_path, SMALL + ASKED), [setting]).recipe
    assert getattr(got, name) == value
    for other in set(recipe.Recipe.__struct_fields__) - {name}:
        assert getattr(got, other) == getattr(plain, other)


def test_lists_switches_and_names_with_dots(tmp_path: Path) -> None:
    settings = [
        "predict.protocols= known_target, candidates+blank ,", "predict.skip_unsuited=true",
        'models."qwen2.5".backend=openai', 'models."qwen2.5".options.temperature=0.5',
    ]  # fmt: skip
    got = recipe.read(written(tmp_path, SMALL + ASKED), settings).recipe
    assert got.predict is not None
    assert got.predict.protocols == ("known_target", "candidates+blank")
    assert got.predict.skip_unsuited is True
    assert got.models["qwen2.5"].options == {"temperature": "0.5"}
    last = recipe.read(written(tmp_path, SMALL), ["seed=1", "seed=2"]).recipe
    assert last.seed == 2


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ("[drew]\nleaves = 4", r"the recipe has no setting 'drew' \(did you mean 'draw'\?\); it "),
        ("[predict]\nprotocls = []", r"\[predict\] has no setting 'protocls' \(did you mean 'prot"),
        ("[models.box]\nbackend = 'x'\nscript = { die_at = 1 }",
         r"\[models\.box\.script\] has no setting 'die_at' \(did you mean 'dies_at'\?\)"),
        ("[score]\nzzz = 1", r"\[score\] has no setting 'zzz'; it has: allow_missing, unit, match"),
        ("[freeze.other]\nsplit = 'dev'\nversion = '1'", r"freeze\[\.\.\.\]\.split: .*'dev'"),
        ("[freeze.other]\nsplit = 'val'", r"freeze\[\.\.\.\]: expected the setting `version`"),
        ("[score]\nunit = 4", r"score\.unit: .*got `int`"),
        ("[score]\nallow_missing = 'few'", r"score\.allow_missing: expected `float`, got `str`"),
        ("[predict]\nbenchmark = 'bench'\nprotocols = 'candidates'", r"protocols: expected `array"),
    ],
)  # fmt: skip
def test_what_is_not_a_setting_is_named_with_the_file(
    tmp_path: Path, extra: str, told: str
) -> None:
    with pytest.raises(Usage, match=rf"my\.toml: .*{told}"):
        recipe.read(written(tmp_path, SMALL + extra))


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("draw.leafs=4", r"--set: \[draw\] has no setting 'leafs' \(did you mean 'leaves'\?\)"),
        ("draw.leaves=few", "--set draw.leaves=few: expected a whole number, got 'few'"),
        ("score.allow_missing=few", "expected a number, got 'few'"),
        ("predict.skip_unsuited=maybe", "expected true or false, got 'maybe'"),
        ("draw=4", "this is a table of settings; set one in it"),
        ("models.box=4", "this is a table of settings; set one in it"),
        ("seed.more=4", "seed is no table"),
        ("seed", "expected key=value"),
        ("=4", "expected key=value"),
        ("a b=4", "expected key=value"),
        ("seed\n=4", "expected key=value"),
        ("score.unit=leaf", r"my\.toml: score\.unit: .*'leaf'"),
        ("score.allow_missing=2", r"score\.allow_missing: expected a share from 0 to 1, got 2"),
        ("score.allow_missing=nan", r"score\.allow_missing: expected a share from 0 to 1, got nan"),
        ("models.box.allow_errors=-1", r"models\.box\.allow_errors: expected a share"),
        ("models.box.script.dies_at=1.5", r"models\.box\.script\.dies_at: expected a share"),
        ("models.box.fitted=colour", r"fitted: expected a \[train\.NAME\] of this recipe \(none\)"),
        ("models.poor.majority_of=b", r"expected the setting `backend`"),
        ("predict.benchmark=b", r"predict\.benchmark: expected a \[freeze\.NAME\] .*, got 'b'"),
        ("train.colour.on=b", r"train\.colour\.on: expected a \[freeze\.NAME\]"),
        ("models.box.majority_of=bench", r"box\.majority_of: the option 'label' is given twice"),
        ("models.box.files.depth=a", r"box\.files: the option 'depth' is given twice"),
        ("predict.protocols=", r"predict\.protocols: expected at least one, got none"),
        ("ingest.path=here", r"expected either \[draw\] or ingest\.path"),
        ('models."a/b".backend=openai', r"expected a name of letters, digits and -_\.@, got 'a/b'"),
        ('models."..".backend=openai', r"expected a name of letters, digits and -_\.@, got '\.\.'"),
    ],
)
def test_settings_that_cannot_be_used(tmp_path: Path, setting: str, told: str) -> None:
    with pytest.raises(Usage, match=told):
        recipe.read(written(tmp_path, SMALL + ASKED), [setting])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name = ", r"my\.toml: expected a recipe in TOML, got: "),
        ("", r"my\.toml: the recipe: expected the setting `name`"),
        (SMALL.replace("[draw]\nleaves = 9", ""), r"expected either \[draw\] or ingest\.path"),
        (SMALL.split("[freeze")[0], r"expected at least one \[freeze\.NAME\] or \[compose\.NAME\]"),
        (SMALL.split("[freeze")[0] + "[freeze]", r"expected at least one \[freeze\.NAME\]"),
        (SMALL + "[score]", r"expected \[predict\], which \[models\] and \[score\] need"),
        (SMALL + "[report]", r"expected \[score\], which \[report\] needs"),
        (SMALL + ASKED.split("[models")[0], r"expected at least one \[models\.NAME\] to ask"),
    ],
)
def test_recipes_that_cannot_be_used(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(Usage, match=told):
        recipe.read(written(tmp_path, text))


SEVERAL = """
name = "several"
out = "made"
[sources.mine]
source = "folder"
path = "photos"
[sources.coffee]
path = "far"
optional = true
annotate = { model = "sam2", files = { path = "weights" } }
[split]
[compose.all]
"""


def test_several_sources(tmp_path: Path) -> None:
    settings = [
        'annotate.options."detector.path"=tiny', "sources.mine.annotate.rules=ours",
        "sources.mine.annotate.workers=2", "split.shares.train=0.5", "compose.all.healthy=0.06",
        "compose.all.assume_absent=true", "compose.all.space=pixel",
        "sources.mine.options.crop=pea",
    ]  # fmt: skip
    got = recipe.read(written(tmp_path, SEVERAL), settings).recipe
    assert got.ingest is None
    assert got.annotate == recipe.Annotate(model="source", options={"detector.path": "tiny"})
    assert got.sources == {
        "mine": recipe.Source(
            path="photos", source="folder", options={"crop": "pea"},
            annotate=recipe.Annotate(rules="ours", workers=2),
        ),
        "coffee": recipe.Source(
            path="far", optional=True,
            annotate=recipe.Annotate(model="sam2", files={"path": "weights"}),
        ),
    }  # fmt: skip
    assert got.split == recipe.Splits(radius=6, flips=False, shares={"train": 0.5})
    mixture = recipe.Compose(split="train", healthy=0.06, assume_absent=True, space="pixel")
    assert got.compose == {"all": mixture}


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ("[ingest]\nsource = 'x'\npath = 'y'", r"expected either \[ingest\] or \[sources\.NAME\]"),
        ("[draw]", r"\[draw\]: expected \[ingest\] beside it"),
        ("[sources.more]\nsource = 'folder'\npath = 'y'",
         r"\[sources\.more\]: expected a source of its own, got the one of \[sources\.mine\]"),
        ("[sources.folder]\npath = 'y'", r"\[sources\.folder\]: expected a source of its own"),
        ("[sources.'a b']\npath = 'y'", "expected a name of letters"),
        ("[sources.voc]", "expected the setting `path`"),
        ("[sources.voc]\npth = 'y'", r"\[sources\.voc\] has no setting 'pth' \(did you mean"),
        ("[freeze.all]\nsplit = 'test'\nversion = '1'\nsource = 'mine'",
         r"\[compose\.all\]: expected a name of its own, got that of a \[freeze\.NAME\]"),
        ("[freeze.one]\nsplit = 'test'\nversion = '1'",
         r"freeze\.one\.source: expected which of the \[sources\.NAME\], got none"),
        ("[freeze.one]\nsplit = 'test'\nversion = '1'\nsource = 'tea'",
         r"freeze\.one\.source: expected a \[sources\.NAME\] .*\(mine, coffee\), got 'tea'"),
        ("[compose.two]\nsplit = 'test'", r"compose\[\.\.\.\]\.split: .*'test'"),
        ("[compose.two]\nhealthy = 1.5", r"compose\.two\.healthy: expected a share .* got 1\.5"),
        ("[compose.two]\ncandidates = nan", r"compose\.two\.candidates: expected a share .* nan"),
        ("[annotate]\nallow_errors = -1", r"annotate\.allow_errors: expected a share"),
        ("[annotate]\nrules = 'mine'", r"annotate\.rules: .*'mine'"),
        ("[sources.voc]\npath = 'y'\nannotate = { allow_errors = 2 }",
         r"sources\.voc\.annotate\.allow_errors: expected a share"),
    ],
)  # fmt: skip
def test_several_sources_that_cannot_be_used(tmp_path: Path, extra: str, told: str) -> None:
    with pytest.raises(Usage, match=told):
        recipe.read(written(tmp_path, SEVERAL + extra))


def test_no_source_at_all(tmp_path: Path) -> None:
    with pytest.raises(Usage, match=r"expected either \[ingest\] or \[sources\.NAME\]"):
        recipe.read(written(tmp_path, "name = 'a'\nout = 'b'\n[compose.all]"))


def test_a_model_that_names_no_benchmark(tmp_path: Path) -> None:
    settings = ["models.poor.backend=leaf_box", "models.poor.majority_of=b"]
    told = r"models\.poor\.majority_of: expected a \[freeze\.NAME\] of .* \(bench\), got 'b'"
    with pytest.raises(Usage, match=told):
        recipe.read(written(tmp_path, SMALL + ASKED), settings)


def test_a_recipe_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Usage, match=r"none\.toml: expected a recipe, got: No such file"):
        recipe.read(tmp_path / "none.toml")
    with pytest.raises(Usage, match="expected a recipe, got: "):
        recipe.read(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(Usage, match="expected a recipe in TOML"):
        recipe.read(tmp_path / "bytes.toml")


RECIPES = Path(__file__).parents[2] / "recipes"
# Those with photos or papers of their own; those of training are read in test_ablation.py.
RUNS = [
    each
    for each in sorted(RECIPES.glob("*.toml"))
    if re.search(r"^\[(ingest|sources|papers)", each.read_text(), re.M)
]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
def test_the_recipes_that_are_handed_out_can_be_read(path: Path) -> None:
    got = recipe.read(path).recipe
    assert got.name == path.stem
    assert got.out.startswith("../out/")


def test_the_published_annotator_is_set_as_the_recipe_says() -> None:
    path = RECIPES / "agroground.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    said = [shlex.split(line.strip("# "), comments=True) for line in lines if "#     --set" in line]
    got = recipe.read(path, [setting for _, setting in said]).recipe
    assert got.annotate == recipe.Annotate(
        model="sam2", rules="published", engine="ray",
        options={
            "path": "facebook/sam2.1-hiera-large", "detector": "grounding_dino",
            "detector.path": "IDEA-Research/grounding-dino-tiny",
        },
    )  # fmt: skip


def test_the_packaged_demo_is_the_recipe_of_the_repository() -> None:
    packaged = Path(recipe.__file__).with_name("demo.toml")
    assert packaged.read_bytes() == (RECIPES / "demo.toml").read_bytes()
