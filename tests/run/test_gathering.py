"""Several sources in one recipe: each on its own road, then split and composed together."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.builders import table
from typer.testing import CliRunner

from fieldtruth import cli, store
from fieldtruth.faults import TooManyFailed, Usage
from fieldtruth.records import Annotation, Drop, Example, Healthy, Place, Sample, Target
from fieldtruth.run import recipe
from fieldtruth.run.execute import Done, Part, execute, line
from fieldtruth.sources import drawn

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"

RECIPE = """
name = "two"
out = "made"
seed = 3
[sources.drawn]
path = "leaves"
[sources.mine]
source = "folder"
path = "photos"
annotate = { model = "leaf_box" }
[sources.folklore]
source = "coffee"
path = "far"
optional = true
[split]
shares = { train = 0.5, val = 0.1, test = 0.4 }
[compose.mixture]
healthy = 0.2
[freeze.bench]
split = "test"
version = "1"
source = "drawn"
"""
EACH = [
    "ingest drawn", "ingest mine", "label drawn", "label mine", "annotate drawn", "annotate mine",
]  # fmt: skip
STEPS = [*EACH, "split", "compose mixture", "compose bench", "freeze bench"]
PLACED = STEPS[6:]  # what comes of a split


def photo(path: Path, number: int) -> None:
    """Squares of shades of green, drawn anew for every number: no two are near each other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shades = np.random.default_rng(number).integers(0, 256, (6, 8), np.uint8)
    green = np.stack([shades // 2, shades // 2 + 120, shades // 4], axis=-1)
    Image.fromarray(green).resize((128, 96), Image.Resampling.NEAREST).save(path)


def begun(folder: Path) -> Path:
    drawn.draw(folder / "leaves", leaves=14, seed=3)
    for number, name in enumerate(["rust", "leaf_mold", "early_blight", "healthy"] * 4):
        photo(folder / "photos" / f"Tomato___{name}" / f"{number}.png", number)
    (folder / "two.toml").write_text(RECIPE)
    return folder


def run(folder: Path, *settings: str, until: str | None = None) -> list[Done]:
    opened = recipe.read(folder / "two.toml", settings)
    return list(execute(opened, part=Part(until=until), quiet=True).steps)


def redone(folder: Path, *settings: str, until: str | None = None) -> list[str]:
    return [each.step for each in run(folder, *settings, until=until) if each.did == "done"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = begun(tmp_path_factory.mktemp("finished") / "one")
    assert redone(folder) == STEPS
    return folder


@pytest.fixture
def made(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "copied"))


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted((folder / "made").rglob("*"))
        if path.is_file()
    }


def test_a_second_run_does_nothing_and_says_what_is_not_there(made: Path) -> None:
    ran = execute(recipe.read(made / "two.toml"), quiet=True)
    assert [each.step for each in ran.steps if each.did == "unchanged"] == STEPS
    (skipped,) = [each for each in ran.steps if each.did == "skipped"]
    assert (skipped.step, skipped.stage) == ("ingest folklore", "ingest")
    assert skipped.why == f"its release is not there: {made / 'far'}"
    assert line(ran) == (
        "nothing to do: all 10 steps are done and unchanged; skipped, for there is no release: "
        "ingest folklore"
    )


def test_what_is_skipped_is_a_line_on_the_terminal(made: Path) -> None:
    words = ["run", str(made / "two.toml"), "--until", "compose", "--quiet"]
    done = CliRunner().invoke(cli.app, words)
    assert done.exit_code == 0
    told = done.stdout.splitlines()
    assert told[0] == f"ingest folklore: skipped, its release is not there: {made / 'far'}"
    assert told[-2] == "compose bench: unchanged"


def test_two_runs_give_the_same_bytes(finished: Path, tmp_path: Path) -> None:
    again = begun(tmp_path / "elsewhere" / "deeper")
    run(again)
    assert files(again) == files(finished)


def test_the_benchmark_is_of_the_splits_test_photos_and_the_mixture_of_its_train(
    finished: Path,
) -> None:
    out = finished / "made"
    places = {
        name: {p.id: p for p in store.read(out / "sources" / name / "splits.jsonl", Place)}
        for name in ("drawn", "mine")
    }
    shown = list(store.read(out / "training" / "mixture" / "examples.jsonl", Example))
    assert {each.source for each in shown} == {"drawn", "folder"}
    for each in shown:
        place = places["mine" if each.source == "folder" else "drawn"][each.image]
        assert (place.split, place.image_sha256) == ("train", each.image_sha256)
    asked = store.open_bench(out / "bench" / "bench").items
    test = {p.image_sha256: p.group for p in places["drawn"].values() if p.split == "test"}
    assert asked
    assert {each.image_sha256: each.group for each in asked}.items() <= test.items()
    manifest = json.loads((out / "bench" / "bench" / "manifest.json").read_text())
    assert manifest["config"]["source"] == "drawn"


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("sources.mine.annotate.model=source", ["annotate mine", "compose mixture"]),
        ("annotate.model=leaf_box", ["annotate drawn", *PLACED[1:]]),
        ("compose.mixture.healthy=0.1", ["compose mixture"]),
        ("compose.second.split=val", ["compose second"]),
        ("split.shares.train=0.3", []),
        ("split.radius=2", ["split"]),
        ("freeze.bench.version=2", ["freeze bench"]),
        ("annotate.engine=ray", []),
        ("annotate.allow_errors=0.5", []),
        ("seed=4", PLACED),
    ],
)
def test_a_changed_setting_redoes_what_hangs_on_it(
    made: Path, setting: str, expected: list[str]
) -> None:
    if setting.startswith("split.shares"):
        with pytest.raises(Usage, match=r"--shares: expected shares .* that add up to 1"):
            run(made, setting)
        return
    assert redone(made, setting) == expected
    assert redone(made, setting) == []


@pytest.mark.parametrize(
    ("lost", "expected"),
    [
        ("sources/mine/samples.jsonl", [*EACH[1::2], "split"]),
        ("sources/drawn/splits.jsonl", ["split"]),
        ("training/mixture/drops.jsonl", ["compose mixture"]),
        ("training/mixture", ["compose mixture"]),
    ],
)
def test_what_was_made_and_is_gone_is_made_again(
    made: Path, finished: Path, lost: str, expected: list[str]
) -> None:
    path = made / "made" / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert redone(made) == expected
    assert files(made) == files(finished)


def test_a_photo_more_is_seen_by_its_source_and_by_what_looks_at_all(made: Path) -> None:
    photo(made / "photos" / "Tomato___rust" / "new.png", 77)
    assert redone(made) == [
        "ingest mine",
        "label mine",
        "annotate mine",
        "split",
        "compose mixture",
    ]


def test_a_release_that_comes_is_read_and_one_that_goes_is_left_out(made: Path) -> None:
    text = (made / "two.toml").read_text().replace('"photos"', '"photos"\noptional = true')
    (made / "two.toml").write_text(text)
    (made / "photos").rename(made / "away")
    assert redone(made) == ["split", "compose mixture"]
    examples = store.read(made / "made" / "training" / "mixture" / "examples.jsonl", Example)
    assert {each.source for each in examples} == {"drawn"}
    (made / "away").rename(made / "photos")
    assert redone(made) == ["split", "compose mixture"]


def test_a_release_that_has_to_be_there_is_named(made: Path) -> None:
    (made / "photos").rename(made / "away")
    with pytest.raises(Usage, match=rf"{made / 'photos'}: expected the raw release of folder"):
        run(made)


def test_no_release_at_all(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(
        'name = "two"\nout = "made"\n[sources.coffee]\npath = "a"\noptional = true\n[compose.all]\n'
    )
    with pytest.raises(Usage, match=rf"at least one source, got none at {tmp_path / 'a'}; name"):
        run(tmp_path)
    assert not (tmp_path / "made").exists()


def test_a_benchmark_of_a_release_that_is_not_there(made: Path) -> None:
    with pytest.raises(Usage, match=rf"freeze\.bench\.source: expected .* {made / 'far'}"):
        run(made, "freeze.bench.source=folklore")


def test_without_split_the_places_of_an_earlier_run_are_no_more(made: Path) -> None:
    text = (made / "two.toml").read_text()
    before, _, rest = text.partition("[split]")
    (made / "two.toml").write_text(before + rest[rest.index("[compose") :])
    assert redone(made) == ["compose mixture", "compose bench", "freeze bench"]
    assert not list((made / "made" / "sources").rglob("splits.jsonl"))
    (made / "two.toml").write_text(text)
    assert redone(made) == PLACED


def test_until_split_leaves_the_rest(tmp_path: Path) -> None:
    folder = begun(tmp_path / "one")
    assert redone(folder, until="split") == STEPS[:7]
    assert redone(folder) == STEPS[7:]


def test_a_model_with_its_table_and_its_failed_calls(tmp_path: Path) -> None:
    """The table counts as an input; a run ends with what failed until so much is allowed."""
    folder = begun(tmp_path / "one")
    run(folder, until="label")
    source = folder / "made" / "sources" / "mine"
    images = {each.id: each.images[0] for each in store.read(source / "samples.jsonl", Sample)}
    names = [f"{t.id}:{images[t.sample]}" for t in store.read(source / "targets.jsonl", Target)]
    box = '[{"bbox_2d": [10, 10, 60, 50], "label": "x"}]'
    table(folder / "said.jsonl", dict.fromkeys(names[1:], box))
    asked = [
        "sources.mine.annotate.model=scripted", "sources.mine.annotate.options.space=pixel",
        "sources.mine.annotate.files.table=said.jsonl", "sources.mine.annotate.rules=ours",
    ]  # fmt: skip
    with pytest.raises(TooManyFailed, match=f"1 of {len(names)} targets"):
        run(folder, *asked, until="compose")
    lenient = [*asked, "sources.mine.annotate.allow_errors=0.5"]
    assert redone(folder, *lenient, until="compose") == ["annotate mine", *PLACED[:-1]]
    marks = list(store.read(source / "annotations.jsonl", Annotation))
    assert {mark.boxes for mark in marks} == {((10.0, 10.0, 60.0, 50.0),)}
    assert len(marks) == len(names) - 1
    table(folder / "said.jsonl", dict.fromkeys(names, box))
    assert redone(folder, *asked, until="annotate") == ["annotate mine"]
    assert len(list(store.read(source / "annotations.jsonl", Annotation))) == len(names)


def books(out: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((out / "sources").iterdir()):
        yield path.name, json.loads((path / "manifest.json").read_text())


def ids(path: Path, kind: type[Any], field: str = "id") -> Counter[str]:
    return Counter(getattr(record, field) for record in store.read(path, kind))


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the real photos are not at hand")
def test_agroground_on_the_rows_and_photos_at_hand(tmp_path: Path) -> None:
    """What came in went out or was dropped, at every stage of every source and in each mixture."""
    opened = recipe.read(ROOT / "recipes" / "agroground.toml")
    ran = execute(opened, tmp_path / "out", Part(until="compose"), quiet=True)
    out = tmp_path / "out"
    there = {each.step.partition(" ")[2] for each in ran.steps if each.stage == "label"}
    gone = {each.step.partition(" ")[2] for each in ran.steps if each.did == "skipped"}
    assert there | gone == set(opened.recipe.sources)
    assert {"agromind", "mirage", "plantvillage", "coffee"} <= there
    owed = Counter[str]()
    for name, told in books(out):
        folder, counts = out / "sources" / name, told["counts"]
        drops = list(store.read(folder / "drops.jsonl", Drop))
        dropped = {
            stage: [each for each in drops if each.stage == stage]
            for stage in ("ingest", "label", "annotate")
        }
        assert len(drops) == sum(map(len, dropped.values()))
        assert counts["rows"] == counts["samples"] + len(dropped["ingest"])
        assert counts["rows"] == {"mirage": 516, "agromind": 6320, "plantvillage": 150,
                                  "coffee": 1747}.get(name, counts["rows"])  # fmt: skip
        samples = set(ids(folder / "samples.jsonl", Sample))
        kept = set(ids(folder / "targets.jsonl", Target, "sample"))
        kept |= set(ids(folder / "healthy.jsonl", Healthy, "sample"))
        lost = Counter(each.sample for each in dropped["label"])
        assert set(lost.values()) <= {1}
        assert (samples, kept & set(lost)) == (kept | set(lost), set())
        targets = set(ids(folder / "targets.jsonl", Target))
        boxed = set(ids(folder / "annotations.jsonl", Annotation, "target"))
        boxless = Counter(each.parent or "" for each in dropped["annotate"])
        assert set(boxless.values()) <= {1}
        assert (targets, boxed & set(boxless)) == (boxed | set(boxless), set())
        assert sum(told["kinds"].values()) == counts["targets"] == len(targets)
        owed += Counter(targets) + ids(folder / "healthy.jsonl", Healthy)
    assert set(owed.values()) == {1}
    mixtures = sorted((out / "training").iterdir())
    assert [each.name for each in mixtures] == sorted(opened.recipe.compose)
    for mixture in mixtures:
        examples = list(store.read(mixture / "examples.jsonl", Example))
        made = json.loads((mixture / "manifest.json").read_text())
        parents = {each.parent for each in examples}
        left = ids(mixture / "drops.jsonl", Drop, "parent")
        assert len(examples) == made["examples"] == sum(made["counts"]["role"].values()) > 0
        assert sum(made["drops"].values()) == left.total() == len(left)
        assert (parents | set(left), parents & set(left)) == (set(owed), set())
