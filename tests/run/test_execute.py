"""What is done stays done; what hangs on a change is done anew, and nothing else."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.builders import class_folders, leaf
from typer.testing import CliRunner

from fieldtruth import cli, store
from fieldtruth.faults import Busy, Refused, TooManyFailed, Usage
from fieldtruth.run import recipe
from fieldtruth.run.execute import STAMPS, Done, Part, code_version, execute, line

RECIPE = """
name = "small"
out = "made"
seed = 3
[draw]
leaves = 14
[ingest]
source = "drawn"
[freeze.training]
split = "train"
version = "1"
[freeze.bench]
split = "test"
version = "1"
[predict]
benchmark = "bench"
protocols = ["known_target"]
[models.box]
backend = "leaf_box"
majority_of = "training"
[models.perfect]
backend = "scripted"
script = {}
[score]
[report]
"""
DRAWN = ["draw", "ingest", "label", "annotate"]
COMPOSED = ["compose training", "freeze training", "compose bench", "freeze bench"]
ASKED = ["predict box known_target", "predict perfect known_target"]
TOLD = ["score", "report"]
STEPS = [*DRAWN, *COMPOSED, *ASKED, *TOLD]


def run(folder: Path, *settings: str, part: Part | None = None) -> list[Done]:
    opened = recipe.read(folder / "small.toml", settings)
    return list(execute(opened, part=part or Part(), quiet=True).steps)


def redone(folder: Path, *settings: str, part: Part | None = None) -> list[str]:
    return [each.step for each in run(folder, *settings, part=part) if each.did == "done"]


def everything(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def begun(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "small.toml").write_text(RECIPE)
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = begun(tmp_path_factory.mktemp("finished") / "one")
    assert redone(folder) == STEPS
    return folder


@pytest.fixture
def made(finished: Path, tmp_path: Path) -> Path:
    """A folder with a finished run, copied: where it lies changes nothing."""
    return Path(shutil.copytree(finished, tmp_path / "copied"))


def test_a_second_run_does_nothing_and_says_so(made: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (made / "made").rglob("*")}
    told: list[Done] = []
    opened = recipe.read(made / "small.toml")
    ran = execute(opened, each=told.append)
    assert list(ran.steps) == told
    assert [(each.step, each.did) for each in told] == [(step, "unchanged") for step in STEPS]
    page = made / "made" / "report.html"
    assert line(ran) == f"nothing to do: all 12 steps are done and unchanged. The report:\n{page}"
    assert {path: path.stat().st_mtime_ns for path in (made / "made").rglob("*")} == before


def test_a_run_in_a_fresh_folder_gives_the_same_bytes(finished: Path, tmp_path: Path) -> None:
    again = begun(tmp_path / "elsewhere" / "deeper")
    run(again)
    assert everything(again) == everything(finished)


def test_the_resolved_recipe_lies_beside_the_results(made: Path) -> None:
    kept = json.loads((made / "made" / "recipe.json").read_text())
    assert (kept["seed"], kept["draw"]) == (
        3,
        {
            "leaves": 14, "onto": None, "test": 0.3, "size": None,
            "new": ["shapes", "palettes", "grounds"],
        },
    )  # fmt: skip
    assert kept["score"] == {
        "allow_missing": 0.0,
        "matching": "greedy",
        "unit": "group",
        "pairs": [],
    }
    run(made, "report.note=mine")
    kept = json.loads((made / "made" / "recipe.json").read_text())
    assert kept["report"] == {"note": "mine"}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("report.note=drawn", ["report"]),
        ("score.unit=image", TOLD),
        ("models.perfect.script.dies_at=0.5", ["predict perfect known_target"]),
        ("predict.protocols=open_set", ["predict box open_set", "predict perfect open_set", *TOLD]),
        ("models.first.backend=leaf_box", ["predict first known_target", *TOLD]),
        ("freeze.bench.version=2", ["freeze bench", *ASKED, *TOLD]),
        ("freeze.training.version=2", ["freeze training", "predict box known_target"]),
        ("annotate.model=leaf_box", ["annotate", *COMPOSED, *ASKED, *TOLD]),
        ("draw.leaves=18", STEPS),
        ("name=large", ["freeze training", "freeze bench", *ASKED, *TOLD]),
        ("out=./made/", []),
        ("models.box.allow_errors=0.5", []),
    ],
)
def test_a_changed_setting_redoes_what_hangs_on_it(
    made: Path, setting: str, expected: list[str]
) -> None:
    settings = [setting]
    if "dies_at" in setting:
        settings += ["models.perfect.allow_errors=1", "score.allow_missing=0.9"]
        expected = [*expected, *TOLD]
    assert redone(made, *settings) == expected
    assert redone(made, *settings) == []


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ("edited leaves/truth.jsonl", ["draw"]),
        ("gone source/samples.jsonl", ["ingest", "label", "annotate"]),
        ("edited source/annotations.jsonl", ["annotate"]),
        ("gone items/bench.jsonl", ["compose bench"]),
        ("edited bench/bench/items.jsonl", ["freeze bench"]),
        ("extra bench/bench/notes.txt", ["freeze bench"]),
        ("gone replies/box.known_target.jsonl", ["predict box known_target"]),
        ("edited replies/box.known_target.jsonl", ["predict box known_target"]),
        ("gone results/score.json", ["score"]),
        ("edited report.html", ["report"]),
        ("edited .steps/label.json", ["label", "annotate"]),
        ("gone .steps/predict.box.known_target.json", ["predict box known_target"]),
    ],
)
def test_what_was_damaged_is_made_again_and_nothing_after_it(
    made: Path, damage: str, expected: list[str]
) -> None:
    """The same bytes come out, so nothing that reads them has changed."""
    before, (how, name) = everything(made), damage.split()
    path = made / "made" / name
    if how == "gone":
        path.unlink()
    else:
        with path.open("a") as file:
            file.write("more\n")
    assert redone(made) == expected
    assert everything(made) == before


def test_other_code_does_everything_again(made: Path) -> None:
    before = everything(made)
    for path in (made / "made" / STAMPS).iterdir():
        stamp = json.loads(path.read_text())
        stamp["code"] = "0.0.9 of last year"
        path.write_text(json.dumps(stamp))
    again = run(made)
    assert [(each.step, each.why) for each in again] == [(s, "the code changed") for s in STEPS]
    assert everything(made) == before


@pytest.mark.parametrize("name", ["rules.py", "labels.tsv", "prompt.toml", "model.safetensors"])
def test_whatever_lies_in_the_package_is_code(tmp_path: Path, name: str) -> None:
    for each in ("rules.py", name):
        (tmp_path / each).write_text("one")
    before = code_version(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "rules.pyc").write_text("compiled")
    code_version.cache_clear()
    assert code_version(tmp_path) == before
    (tmp_path / name).write_text("two")
    code_version.cache_clear()
    assert code_version(tmp_path) != before


def test_a_photo_of_a_release_that_changed(tmp_path: Path) -> None:
    """The photo is of the test split only: the training benchmark is composed, and is the same."""
    photos = class_folders(tmp_path / "photos", each=6, healthy=6)
    folder = begun(tmp_path / "run")
    text = RECIPE.replace("[draw]\nleaves = 14\n", "").replace(
        'source = "drawn"', 'source = "folder"\npath = "../photos"\n[annotate]\nmodel = "leaf_box"'
    )
    (folder / "small.toml").write_text(text)
    steps = [step for step in STEPS if step != "draw"]
    assert redone(folder) == steps
    tested = {
        json.loads(each)["image"]
        for each in (folder / "made" / "items" / "bench.jsonl").read_text().splitlines()
    }
    shutil.copy(photos / min(tested), tmp_path / "kept.png")
    leaf(photos / min(tested), [(60, 60, 75, 75), (90, 50, 99, 60)], 63)
    again = redone(folder)
    assert again[:4] == ["ingest", "label", "annotate", "compose training"]
    assert "report" in again
    shutil.copy(tmp_path / "kept.png", photos / min(tested))
    (photos / "readme.md").write_text("about these photos")
    redone(folder)
    assert redone(folder) == []


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Part(since="report"), ["report"]),
        (Part(since="score"), TOLD),
        (Part(since="predict"), [*ASKED, *TOLD]),
        (Part(since="predict", until="predict"), ASKED),
        (Part(since="freeze", until="freeze"), ["freeze training", "freeze bench"]),
        (Part(until="compose"), []),
    ],
)
def test_a_part_is_done_in_any_case(made: Path, part: Part, expected: list[str]) -> None:
    before = everything(made)
    assert redone(made, part=part) == expected
    assert everything(made) == before
    assert redone(made) == []


def test_a_run_stops_after_a_stage_and_goes_on_later(tmp_path: Path, finished: Path) -> None:
    folder = begun(tmp_path / "run")
    until = run(folder, part=Part(until="freeze"))
    assert [each.step for each in until] == [*DRAWN, *COMPOSED]
    assert not (folder / "made" / "replies").exists()
    assert redone(folder) == [*ASKED, *TOLD]
    assert everything(folder) == everything(finished)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (Part(since="training"), "--from: expected a stage of the recipe (draw, ingest, label, "),
        (Part(until="train"), "--until: expected a stage of the recipe (draw, ingest, label, "),
        (Part(since="score", until="freeze"), "--from score --until freeze: nothing lies between"),
    ],
)
def test_parts_that_are_none(made: Path, part: Part, told: str) -> None:
    with pytest.raises(Usage) as caught:
        run(made, part=part)
    assert str(caught.value).startswith(told)
    assert redone(made) == []


@pytest.mark.parametrize("after", [0, 6, 8])
def test_a_run_that_was_interrupted_goes_on(tmp_path: Path, finished: Path, after: int) -> None:
    folder = begun(tmp_path / "run")
    opened = recipe.read(folder / "small.toml")

    def stop(done: Done) -> None:
        if done.step == STEPS[after]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(opened, each=stop, quiet=True)
    assert redone(folder) == STEPS[after + 1 :]
    assert everything(folder) == everything(finished)


def test_from_a_stage_on_is_not_forgotten_where_it_was_interrupted(made: Path) -> None:
    def stop(done: Done) -> None:
        raise KeyboardInterrupt if done.step == ASKED[0] else ValueError(done.step)

    opened = recipe.read(made / "small.toml")
    with pytest.raises(ValueError, match="draw"):
        execute(opened, part=Part(since="predict"), each=stop, quiet=True)
    assert redone(made) == [*ASKED, *TOLD]


def test_calls_that_failed_are_asked_again_and_no_others(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    dying = "models.perfect.script.dies_at=0.5"
    with pytest.raises(TooManyFailed, match="calls failed"):
        run(folder, dying)
    said = folder / "made" / "replies" / "perfect.known_target.jsonl"
    before = said.read_bytes()
    with pytest.raises(TooManyFailed, match="calls failed"):
        run(folder, dying)
    settings = [dying, "models.perfect.allow_errors=0.7", "score.allow_missing=0.7"]
    done = {each.step: each for each in run(folder, *settings)}
    told = done["predict perfect known_target"]
    assert (told.did, told.why) == ("done", "it was cut short")
    replies = [json.loads(each) for each in said.read_text().splitlines()]
    failed = sum(each["error"] is not None for each in replies)
    assert 0 < failed < len(replies)
    assert f"{len(replies)} replies, {failed} asked now, {len(replies) - failed} kept" in told.said
    assert said.read_bytes() == before


def test_nothing_that_no_run_made_is_touched(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    (folder / "made").mkdir()
    (folder / "made" / "thesis.txt").write_text("mine")
    with pytest.raises(Usage, match="expected an empty folder or one of an earlier run"):
        run(folder)
    assert everything(folder / "made") == {"thesis.txt": b"mine"}
    with pytest.raises(Usage, match=r"small\.toml: expected a folder for the results, got a file"):
        run(folder, "out=small.toml")


def test_one_run_at_a_time(made: Path) -> None:
    with store.lock(made / "made"), pytest.raises(Busy):
        run(made)


def test_a_test_split_cannot_be_trained_on(made: Path) -> None:
    with pytest.raises(Refused, match="expected a benchmark to train on"):
        run(made, "train.colour.on=bench")


def words(*more: str) -> Sequence[str]:
    return [sys.executable, "-m", "fieldtruth", "run", "small.toml", *more]


def told(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words(*more), cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_as_a_process(made: Path) -> None:
    plain = told(made)
    assert (plain.returncode, plain.stderr) == (0, "")
    lines = plain.stdout.splitlines()
    assert lines[:2] == ["draw: unchanged", "ingest: unchanged"]
    assert lines[-2:] == [
        "nothing to do: all 12 steps are done and unchanged. The report:", "made/report.html",
    ]  # fmt: skip
    some = told(made, "--from", "score", "--until", "score", "--json")
    got = json.loads(some.stdout)
    assert (some.returncode, got["report"]) == (0, None)
    assert [each["step"] for each in got["steps"] if each["did"] == "done"] == ["score"]
    wrong = told(made, "--set", "draw.leafs=3")
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)
    assert "did you mean 'leaves'?" in wrong.stderr


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1, 5, 9])
def test_a_run_that_was_killed_goes_on_to_the_same_bytes(
    tmp_path: Path, finished: Path, lines: int
) -> None:
    folder = begun(tmp_path / "run")
    with subprocess.Popen(words(), cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(lines):
            assert process.stdout.readline()
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert set(redone(folder)) <= set(STEPS[lines:])
    left = everything(folder)
    left.pop("made.lock", None)  # its holder is gone, and it is taken over
    assert left == everything(finished)


@pytest.mark.slow
def test_ctrl_c_prints_the_line_that_resumes(made: Path) -> None:
    more = ["--from", "draw", "--set", "report.note=a b"]
    with subprocess.Popen(
        words(*more), cwd=made, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("draw (not done yet)")
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert said == (
        "fieldtruth: interrupted; what was done is kept. Go on with: "
        "fieldtruth run small.toml --set 'report.note=a b'\n"
    )
    redo = redone(made, "report.note=a b")
    assert redo[-1] == "report"
    assert redo == STEPS[-len(redo) :]


def test_lines_for_people(made: Path) -> None:
    shown = CliRunner().invoke(cli.app, ["run", str(made / "small.toml"), "--from", "score"])
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[:10] == [f"{step}: unchanged" for step in STEPS[:10]]
    assert lines[10] == "score (not done yet):"
    assert lines[11].startswith("known_target: values with 95 % intervals")
    assert lines[-2] == "2 of 12 steps done now, the rest unchanged. The report:"
    assert lines[-1] == str(made / "made" / "report.html")
    assert (made / "made" / STAMPS).is_dir()
