"""Ablations: rows that are done once, set side by side, and told over their seeds."""

import gzip
import json
import threading
from pathlib import Path
from statistics import mean
from typing import Any

import msgspec
import pytest
from tests.builders import HIT, NAMES, four, table
from tests.stages import tuned
from typer.testing import CliRunner

from fieldtruth import store
from fieldtruth.cli import app
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.run import ablation
from fieldtruth.run.ablation import kept
from fieldtruth.run.ablation.seeds import over_seeds
from fieldtruth.run.ablation.table import Table

RECIPE = """
name = "small"
work = "work"
out = "kept"
[benchmarks.hand]
path = "bench"
protocols = ["known_target", "candidates+blank"]
[rows.right]
model = "scripted"
ask = { space = "pixel" }
files = { table = "right.jsonl" }
[rows.half]
model = "scripted"
ask = { space = "pixel" }
files = { table = "half.jsonl" }
versus = ["right"]
note = "knows one of two"
"""
RIGHT = {"p0": HIT, "p1": HIT, "h0": "[]", "h1": "[]"}


def laid(folder: Path, text: str = RECIPE) -> Path:
    four(folder / "bench")
    table(folder / "right.jsonl", RIGHT)
    table(folder / "half.jsonl", RIGHT | {"p1": "[]", "h1": HIT})
    path = folder / "recipe.toml"
    path.write_text(text)
    return path


def did(path: Path, most: int | None = None) -> list[tuple[str, str]]:
    return [(each.row, each.did) for each in ablation.do(ablation.read(path), most)]


def files(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(each) for each in gzip.decompress(path.read_bytes()).splitlines()]


# --- rows --------------------------------------------------------------------------------------


def test_a_row_that_is_done_is_not_done_again_and_the_next_one_is(tmp_path: Path) -> None:
    path = laid(tmp_path)
    assert did(path, 1) == [("right", "done"), ("half", "left")]
    first = files(tmp_path / "kept/right-seed0")
    assert set(first) == {"scores.json", "predictions.jsonl.gz"}
    assert did(path) == [("right", "kept"), ("half", "done")]
    assert did(path) == [("right", "kept"), ("half", "kept")]
    assert files(tmp_path / "kept/right-seed0") == first


def test_two_runs_keep_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        path = laid(tmp_path / name)
        did(path)
        ablation.summarise(ablation.read(path))
    assert files(tmp_path / "a/kept") == files(tmp_path / "b/kept")


def test_only_the_row_whose_making_changed_is_done_again(tmp_path: Path) -> None:
    path = laid(tmp_path)
    did(path)
    before = kept.scores(tmp_path / "kept/half-seed0")
    table(tmp_path / "half.jsonl", RIGHT)
    assert did(path) == [("right", "kept"), ("half", "done")]
    after = kept.scores(tmp_path / "kept/half-seed0")
    assert before is not None
    assert after is not None
    assert before.key != after.key
    assert after.benchmarks["hand"].metrics["known_target"]["f1"]["value"] == 1


def test_a_row_that_another_process_is_at_is_left_to_it(tmp_path: Path) -> None:
    path = laid(tmp_path)
    did(path)
    right = kept.scores(tmp_path / "kept/right-seed0")
    assert right is not None
    for each in (tmp_path / "kept/right-seed0").iterdir():
        each.unlink()
    with store.lock(tmp_path / f"work/right-seed0-{right.key}"):
        found: list[tuple[str, str]] = []
        other = threading.Thread(target=lambda: found.extend(did(path)))
        other.start()
        other.join()
    assert found == [("right", "busy"), ("half", "kept")]


def test_several_processes_of_a_launcher_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One would wait in a row for the others, which another process's lock sends to the next."""
    path = laid(tmp_path)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(Usage, match="train ablation: expected one process, got several"):
        did(path)
    assert not (tmp_path / "kept").exists()


def test_what_is_kept_are_the_words_and_the_values(tmp_path: Path) -> None:
    path = laid(tmp_path)
    did(path)
    folder = tmp_path / "kept/half-seed0"
    said = lines(folder / "predictions.jsonl.gz")
    known = {
        each["reply"]["item"]: each["reply"]["text"]
        for each in said
        if each["reply"]["protocol"] == "known_target"
    }
    assert known == RIGHT | {"p1": "[]", "h1": HIT}
    assert {each["benchmark"] for each in said} == {"hand"}
    scores = json.loads((folder / "scores.json").read_text())
    metrics = scores["benchmarks"]["hand"]["metrics"]["known_target"]
    assert (metrics["abstention"]["value"], metrics["abstention"]["n"]) == (0.5, 2)
    assert metrics["recall"]["value"] == 0.5  # one box of two
    assert scores["learnt"] is None
    kept_items = lines(tmp_path / "kept/benchmarks/hand.jsonl.gz")
    assert [each["id"] for each in kept_items] == ["h0", "h1", "p0", "p1"]


def test_a_row_that_failed_calls_is_not_kept(tmp_path: Path) -> None:
    path = laid(tmp_path)
    table(tmp_path / "half.jsonl", {"p0": HIT})
    with pytest.raises(Exception, match="3 of 4 calls failed"):
        did(path)
    assert (tmp_path / "kept/right-seed0/scores.json").is_file()
    assert not (tmp_path / "kept/half-seed0").exists()


@pytest.mark.parametrize("name", ["scores.json", "predictions.jsonl.gz"])
@pytest.mark.parametrize("raw", [b"", b"{}", b"\x1f\x8b\x08\x00broken", b"\xff\xfe"])
def test_what_is_broken_in_the_folder_is_one_clear_error(
    tmp_path: Path, name: str, raw: bytes
) -> None:
    path = laid(tmp_path)
    did(path)
    place = tmp_path / "kept/right-seed0" / name
    place.write_bytes(raw)
    with pytest.raises(BadRecord, match=name.replace(".", r"\.")):
        ablation.summarise(ablation.read(path))


# --- the table ---------------------------------------------------------------------------------


def test_differences_are_of_the_same_photos_and_signed(tmp_path: Path) -> None:
    path = laid(tmp_path)
    did(path)
    made = ablation.summarise(ablation.read(path))
    known = {d.metric: d for d in made.differences if d.protocol == "known_target"}
    assert {(d.row, d.versus) for d in known.values()} == {("half", "right")}
    assert known["abstention"].value == pytest.approx(0.5 - 1.0)
    low, high = known["abstention"].low, known["abstention"].high
    assert low is not None
    assert high is not None
    assert -1 <= low <= -0.5 <= high <= 0
    page = (tmp_path / "kept/table.md").read_text()
    assert "| half | knows one of two | 1 | - | - | - |" in page
    assert "| half | right | 0 |" in page
    assert msgspec.json.decode((tmp_path / "kept/table.json").read_bytes(), type=Table) == made


def test_the_table_is_of_what_is_done_and_needs_no_photo(tmp_path: Path) -> None:
    path = laid(tmp_path)
    with pytest.raises(Usage, match="expected at least one row"):
        ablation.summarise(ablation.read(path))
    did(path, 1)
    (tmp_path / "bench").rename(tmp_path / "gone")
    made = ablation.summarise(ablation.read(path))
    assert made.rows == {"right": (0,)}
    assert made.differences == ()


def test_over_seeds_is_the_mean_and_the_sample_deviation() -> None:
    """AgroGround, appendix N: F1 of three seeds 0.440, 0.436, 0.432 is 0.436 +- 0.004."""
    found = over_seeds([{"value": v, "n": 1480} for v in (0.440, 0.436, 0.432)])
    assert found.mean == pytest.approx(0.436)
    assert found.deviation == pytest.approx(0.004)
    assert (found.seeds, found.n, found.low) == (3, 1480, None)
    one = over_seeds([{"value": 0.5, "low": 0.4, "high": 0.6, "n": 9}])
    assert (one.mean, one.deviation, one.low, one.high) == (0.5, None, 0.4, 0.6)
    assert over_seeds([]).mean is None
    none = over_seeds([{"value": 0.5, "n": 9}, {"value": None, "n": 0}])
    assert (none.mean, none.deviation, none.n) == (None, None, 0)


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.2, 0.2, 0.2), (0.1, 0.4, 0.5, 0.9)])
def test_the_deviation_divides_by_one_less_than_the_seeds(values: tuple[float, ...]) -> None:
    middle = mean(values)
    wanted = (sum((v - middle) ** 2 for v in values) / (len(values) - 1)) ** 0.5
    assert over_seeds([{"value": v, "n": 1} for v in values]).deviation == pytest.approx(wanted)


# --- the recipe --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('versus = ["right"]', 'versus = ["wrong"]', "rows.half.versus: expected another row"),
        ('versus = ["right"]', 'versus = ["half"]', "rows.half.versus: expected another row"),
        ('versus = ["right"]', "seeds = [1, 1]", "rows.half.seeds: expected each once"),
        ('versus = ["right"]', "seeds = []", "rows.half.seeds|seeds"),
        ('versus = ["right"]', 'train = ["t"]', "rows.half.train: expected none, for scripted"),
        ('versus = ["right"]', "grpo = { steps = 2 }", "rows.half.grpo: expected none, for scrip"),
        ('versus = ["right"]', "grpo = {}", "rows.half.grpo: expected none, for scripted"),
        ('versus = ["right"]', 'after = "right"', "rows.half.after: expected none, for scripted"),
        ('versus = ["right"]', 'model = "transformers"', "recipe in TOML"),
        ('"candidates+blank"', '"candidates+nothing"', "nothing"),
        ('"known_target", "candidates+blank"', "", "hand.protocols: expected at least one"),
        ("[rows.right]", '[rows."../right"]', "rows"),
        ("[rows.right]", "[sft]\nseed = 3\n[rows.right]", "sft.seed: expected it of the rows"),
        ("[rows.right]", "[rows.sees]\n[rows.right]", "rows.sees: expected `base`"),
        (
            "[rows.right]",
            '[rows.sees]\nbase = "b"\ntrain = ["t"]\nsft = { rnk = 2 }\n[rows.right]',
            "rows.sees.sft.*rnk",
        ),
        ("[rows.right]", '[rows.sees]\nbase = "b"\nseeds = [0, 1]\n[rows.right]', "expected one"),
        ('name = "small"', 'name = "small"\nspeed = 3', "no setting 'speed'"),
    ],
)
def test_a_slip_in_the_recipe_is_named(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert RECIPE.count(old) == 1
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE.replace(old, new))
    with pytest.raises(Usage, match=told):
        ablation.read(path)


def test_a_setting_of_the_training_may_be_replaced(tmp_path: Path) -> None:
    """What `train sft` is told may be of any type; it is read as the recipe would be."""
    path = tmp_path / "recipe.toml"
    path.write_text(TRAINED)
    told = ["sft.steps=7", "rows.adapted.sft.rate=1e-3", "sft.vision=frozen"]
    opened = ablation.read(path, told)
    assert opened.ablation.sft["steps"] == 7
    assert opened.ablation.sft["vision"] == "frozen"
    assert opened.ablation.rows["adapted"].sft == {"rank": 2, "limit": 4, "rate": 1e-3}
    told = ["grpo.mix.healthy=0.2", "rows.adapted.sft.average=square", "grpo.watch.on_alarm=stop"]
    opened = ablation.read(path, told)
    assert opened.ablation.grpo == {"mix": {"healthy": 0.2}, "watch": {"on_alarm": "stop"}}
    with pytest.raises(Usage, match=r"sft\.steps is no table"):
        ablation.read(path, ["sft.steps.most=2"])
    with pytest.raises(Usage, match="rate"):
        ablation.read(path, ["sft.rate=fast"])


def test_the_first_seed_of_all_rows_comes_before_the_second_of_any(tmp_path: Path) -> None:
    text = RECIPE.replace('versus = ["right"]', "seeds = [0, 4]").replace(
        "[rows.half]", "seeds = [0, 4]\n[rows.half]"
    )
    opened = ablation.read(laid(tmp_path, text))
    assert [(each.row, each.seed) for each in ablation.do(opened)] == [
        ("right", 0), ("half", 0), ("right", 4), ("half", 4),
    ]  # fmt: skip
    assert ablation.summarise(opened).rows == {"right": (0, 4), "half": (0, 4)}


RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.mark.parametrize("name", ["tiny-vlm", "tiny-coffee", "tiny-scale", "qwen3-vl"])
def test_the_recipes_of_this_project_read(name: str) -> None:
    opened = ablation.read(RECIPES / f"{name}.toml")
    assert len(opened.ablation.rows) >= 2
    compared = [row for row in opened.ablation.rows.values() if row.versus]
    assert compared


def test_rows_with_as_many_steps_as_another_are_told_as_many(tmp_path: Path) -> None:
    """Of more or fewer leaves than the recipe was written for, too."""
    opened = ablation.read(RECIPES / "tiny-scale.toml")
    rows = opened.ablation.rows
    told = {name: opened.tuning(row, 0, tmp_path) for name, row in rows.items()}
    alike = [name for name in rows if name.endswith("-steps")]
    assert len(alike) == 2
    for name in alike:
        assert told[name].steps == told["all"].steps is not None
        assert told[name].batch * told[name].accumulate == 32


def test_rows_of_equal_size_have_as_many_examples(tmp_path: Path) -> None:
    opened = ablation.read(RECIPES / "tiny-scale.toml")
    exact, annotated = (
        opened.tuning(opened.ablation.rows[name], 0, tmp_path) for name in ("exact", "annotated")
    )
    assert exact.limit == annotated.limit == 3000
    assert (exact.epochs, exact.steps) == (annotated.epochs, annotated.steps)
    opened = ablation.read(RECIPES / "qwen3-vl.toml")
    half, one_way = (opened.ablation.rows[name] for name in ("half", "named-only"))
    assert len(half.train) * half.sft["limit"] == 292  # coffee's training photos, each once
    assert len(one_way.train) == 1
    assert "limit" not in one_way.sft


# --- with a model ------------------------------------------------------------------------------

TRAINED = """
name = "real"
base = "base"
work = "work"
out = "kept"
[benchmarks.hand]
path = "bench"
protocols = ["known_target"]
[sft]
rank = 0
vision = "trained"
batch = 2
accumulate = 1
steps = 2
device = "cpu"
[ask]
max_new_tokens = 4
[rows.base]
[rows.taught]
train = ["train/training"]
seeds = [0, 1]
versus = ["base"]
[rows.adapted]
train = ["train/training"]
sft = { rank = 2, limit = 4 }
versus = ["taught"]
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_rows_are_trained_from_one_base_and_asked(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    tuned.base(tmp_path)
    tuned.examples(tmp_path / "train")
    path = laid(tmp_path, TRAINED)
    done = CliRunner().invoke(app, ["train", "ablation", str(path)], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == (
        f"4 runs of 3 rows in the table: {tmp_path / 'kept/table.md'}. The report:\n"
        f"{tmp_path / 'kept/report.html'}\n"
    )
    assert "<td>8</td><td>2</td>" in (tmp_path / "kept/report.html").read_text()
    rows = {
        (name, seed): kept.scores(kept.place(tmp_path / "kept", name, seed))
        for name, seed in (("base", 0), ("taught", 0), ("taught", 1), ("adapted", 0))
    }
    learnt = {which: made.learnt for which, made in rows.items() if made}
    assert learnt["base", 0] is None
    taught, adapted = learnt["taught", 0], learnt["adapted", 0]
    assert taught is not None
    assert adapted is not None
    assert (taught.examples, taught.steps) == (8, 2)
    assert adapted.examples == 4
    assert adapted.weights < taught.weights
    assert len({made.key for made in rows.values() if made}) == 4
    again = CliRunner().invoke(app, ["train", "ablation", str(path)], catch_exceptions=False)
    assert "done before: base-seed0, taught-seed0, adapted-seed0, taught-seed1" in again.stderr
    items = lines(tmp_path / "kept/benchmarks/hand.jsonl.gz")
    assert [each["label"] for each in items] == [None, None, NAMES[0], NAMES[0]]
