"""A folder of examples: whole, the same twice, and open to trainers only."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tests.builders import class_folders
from typer.testing import CliRunner

from fieldtruth import store
from fieldtruth.cli import app
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import Drop, Example, Healthy, Item, Place, Sample, Target
from fieldtruth.run import composing, workspace
from fieldtruth.stages.compose import Mix

DATA = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A source's folder: 32 photos of four diseases and 8 healthy, a box around each leaf."""
    workspace.ingest("folder", class_folders(tmp_path / "release", 8, 8), tmp_path / "set")
    workspace.label(tmp_path / "set")
    workspace.annotate(tmp_path / "set", "leaf_box")
    return tmp_path / "set"


def placed(folder: Path, split: str = "train") -> None:
    """Every photo in one split, in a group of its own, as `split` writes it."""
    images = sorted({each.images[0] for each in store.read(folder / "samples.jsonl", Sample)})
    root = workspace.root(folder)
    rows = [
        {"id": image, "image_sha256": store.sha256(root / image), "group": f"g{n}", "split": split}
        for n, image in enumerate(images)
    ]
    store.write(folder / "splits.jsonl", msgspec.convert(rows, list[Place]))


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.output


def test_the_folder_and_its_books(folder: Path, tmp_path: Path) -> None:
    placed(folder)
    made = composing.compose_training([folder], tmp_path / "mix", Mix(healthy=0.12))
    files = sorted(path.name for path in (tmp_path / "mix").iterdir())
    assert files == ["drops.jsonl", "examples.jsonl", "manifest.json"]
    found = list(store.read(tmp_path / "mix" / "examples.jsonl", Example))
    drops = list(store.read(tmp_path / "mix" / "drops.jsonl", Drop))
    assert (made.name, made.split, made.seed, made.space) == ("mix", "train", 0, "norm1000")
    assert made.counts["role"] == {"healthy": 4, "positive": 32} == Counter(e.role for e in found)
    assert made.counts["protocol"] == Counter(e.protocol for e in found)
    assert made.counts["kind of empty answers"] == {"disease": 4}
    assert made.drops == {"not_drawn": 4}
    assert made.examples == len(found) == 36
    rows = [each.id for each in store.read(folder / "targets.jsonl", Target)]
    rows += [each.id for each in store.read(folder / "healthy.jsonl", Healthy)]
    assert sorted({e.parent for e in found} | {d.parent or "" for d in drops}) == sorted(rows)
    assert made.roots == {"folder": "../release"}
    assert made.files["examples.jsonl"] == store.sha256(tmp_path / "mix" / "examples.jsonl")
    assert set(made.inputs) == {
        f"folder/{name}.jsonl"
        for name in ("samples", "targets", "healthy", "annotations", "splits")
    }
    assert json.loads((tmp_path / "mix" / "manifest.json").read_bytes())["schema"] == 1


def test_the_command_line(folder: Path, tmp_path: Path) -> None:
    placed(folder)
    code, said = run(
        "compose", folder, "--training", "--out", tmp_path / "mix", "--healthy", "0.06",
        "--wrong-target", "0.1", "--assume-absent", "--candidates", "0", "--space", "yx1000",
        "--seed", "3", "--json",
    )  # fmt: skip
    assert code == 0, said
    made = json.loads(said)
    assert made["counts"]["role"] == {"healthy": 2, "positive": 32, "wrong_target": 4}
    assert made["counts"]["protocol"] == {"known_target": 38}
    assert made["settings"] == {
        "candidates": "0.0", "healthy": "0.06", "wrong_target": "0.1", "assume_absent": "True",
    }  # fmt: skip
    one = next(store.read(tmp_path / "mix" / "examples.jsonl", Example))
    assert "[y1, x1, y2, x2]" in one.prompt
    code, said = run("compose", folder, "--training", "--out", tmp_path / "mix")
    assert (code, "expected no such folder or an empty one" in said) == (2, True)
    for words, expected, told in (
        (("--split", "test"), 4, "expected train or val for training"),
        (("--split", "all"), 2, "--split: expected train or val for training"),
        (("--split", "val"), 2, "expected photos of the split 'val', got none"),
        (("--space", "inches"), 2, "--space: expected one of pixel, "),
        (("--healthy", "1.2"), 2, "--healthy: expected a share from 0 to 1"),
    ):
        code, said = run("compose", folder, "--training", "--out", tmp_path / "no", *words)
        assert (code, told in said, (tmp_path / "no").exists()) == (expected, True, False), said
    code, said = run("compose", folder, folder, "--training", "--out", tmp_path / "no")
    assert (code, "expected one folder of each source" in said) == (2, True)
    inside = tmp_path / "release" / "mix"
    assert run("compose", folder, "--training", "--out", inside)[0] == 2


def test_items_take_one_folder_and_no_setting_of_a_mixture(folder: Path, tmp_path: Path) -> None:
    items = tmp_path / "items.jsonl"
    code, said = run("compose", folder, folder, "--out", items)
    assert (code, "expected one folder, got 2" in said) == (2, True)
    code, said = run("compose", folder, "--out", items, "--wrong-target", "0.1")
    assert (code, "--wrong-target: expected --training" in said) == (2, True)
    code, said = run("compose", folder, "--out", items)
    assert (code, said.startswith("40 items")) == (0, True)


def test_items_lie_in_the_split_and_group_that_places_give(folder: Path, tmp_path: Path) -> None:
    placed(folder, "val")
    made = composing.compose_items(folder, tmp_path / "items.jsonl", "val")
    assert made.items == 40
    groups = {each.group for each in store.read(tmp_path / "items.jsonl", Item)}
    assert groups == {f"g{n}" for n in range(40)}
    lines = (folder / "splits.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "splits.jsonl").write_bytes(b"".join(lines[1:]))
    with pytest.raises(Refused, match=r"Tomato___early_blight/0\.png' belongs, got no line for it"):
        composing.compose_items(folder, tmp_path / "items.jsonl", "val")
    with pytest.raises(Refused, match="got no line for it"):
        composing.compose_training([folder], tmp_path / "mix", Mix(split="val"))
    assert not (tmp_path / "mix").exists()


@pytest.mark.slow
def test_two_runs_are_byte_equal_whatever_the_hash_seed(folder: Path, tmp_path: Path) -> None:
    made = []
    for seed in ("1", "2"):
        out = tmp_path / seed / "mix"
        out.parent.mkdir()
        words = ["compose", folder, "--training", "--out", out, "--wrong-target", "0.1"]
        subprocess.run(
            [sys.executable, "-m", "fieldtruth", *map(str, words), "--assume-absent"],
            check=True, env={"PYTHONHASHSEED": seed, "PATH": ""}, capture_output=True,
        )  # fmt: skip
        made.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert made[0] == made[1]


def test_two_sources_at_once(folder: Path, tmp_path: Path) -> None:
    from fieldtruth.sources import drawn

    placed(folder)
    drawn.draw(tmp_path / "leaves", leaves=12, seed=1, held_out_share=0.0)
    workspace.ingest("drawn", tmp_path / "leaves", tmp_path / "other")
    workspace.label(tmp_path / "other")
    workspace.annotate(tmp_path / "other")
    one = composing.compose_training([folder, tmp_path / "other"], tmp_path / "a", Mix())
    two = composing.compose_training([tmp_path / "other", folder], tmp_path / "b", Mix())
    assert one.files == two.files
    assert one.roots == {"drawn": "../leaves", "folder": "../release"}
    assert set(one.counts["source"]) == {"drawn", "folder"}
    found = store.open_examples(tmp_path / "a")
    assert all(found.photo(each).is_file() for each in found)


@pytest.mark.parametrize("key", ["image_sha256", "group"])
def test_sources_that_were_split_apart_are_refused(folder: Path, tmp_path: Path, key: str) -> None:
    """One photo, or two near copies, in train of one source and in test of another."""
    from fieldtruth.sources import drawn

    placed(folder)
    drawn.draw(tmp_path / "leaves", leaves=12, seed=1, held_out_share=0.0)
    other = tmp_path / "other"
    workspace.ingest("drawn", tmp_path / "leaves", other)
    workspace.label(other)
    workspace.annotate(other)
    placed(other, "val")
    ours = list(store.read(folder / "splits.jsonl", Place))
    theirs = [
        msgspec.structs.replace(each, group=f"of drawn {each.group}")
        for each in store.read(other / "splits.jsonl", Place)
    ]
    store.write(other / "splits.jsonl", theirs)
    composing.compose_training([folder, other], tmp_path / "apart", Mix())
    same = msgspec.structs.replace(theirs[0], **{key: getattr(ours[0], key)})
    store.write(other / "splits.jsonl", [same, *theirs[1:]])
    with pytest.raises(Refused, match=r"in one split, got .* in train and .* in val; split these"):
        composing.compose_training([folder, other], tmp_path / "mix", Mix())
    assert not (tmp_path / "mix").exists()


def test_only_the_folder_as_it_was_composed_is_opened(folder: Path, tmp_path: Path) -> None:
    placed(folder)
    mix = tmp_path / "mix"
    made = composing.compose_training([folder], mix, Mix())
    found = store.open_examples(mix)
    assert sum(1 for _ in found) == made.examples
    assert store.sha256(found.photo(next(iter(found)))) == next(iter(found)).image_sha256
    raw = (mix / "examples.jsonl").read_bytes()
    (mix / "examples.jsonl").write_bytes(raw[:-1])
    with pytest.raises(Refused, match=r"expected the file that manifest\.json vouches for"):
        store.open_examples(mix)
    (mix / "examples.jsonl").write_bytes(raw)
    manifest = json.loads((mix / "manifest.json").read_bytes())
    for change, fault, told in (
        ({"split": "test"}, Refused, "got the split test"),
        ({"schema": 99}, Refused, "a newer fieldtruth"),
        ({"files": {}}, Refused, "vouch for examples.jsonl"),
        ({"files": manifest["files"] | {"../x": "0"}}, Refused, "a step up"),
        ({"extra": 1}, BadRecord, "extra"),
    ):
        (mix / "manifest.json").write_text(json.dumps(manifest | change))
        with pytest.raises(fault, match=told):
            store.open_examples(mix)
    (mix / "manifest.json").write_text(json.dumps(manifest | {"split": "val"}))
    with pytest.raises(Refused, match=r"examples\.jsonl:1 .* split val, got one of train"):
        list(store.open_examples(mix))
    (mix / "manifest.json").write_text(json.dumps(manifest | {"roots": {}}))
    with pytest.raises(Usage, match="where the photos of 'folder' are"):
        store.open_examples(mix).photo(next(iter(found)))
    (mix / "manifest.json").unlink()
    with pytest.raises(Usage, match=r"with a manifest\.json, got none"):
        store.open_examples(mix)
    with pytest.raises(Usage, match="expected a file, got nothing"):
        store.open_examples(tmp_path / "absent")


def test_a_file_alone_has_no_test_example_to_give(folder: Path, tmp_path: Path) -> None:
    placed(folder)
    composing.compose_training([folder], tmp_path / "mix", Mix())
    file = tmp_path / "alone.jsonl"
    file.write_bytes((tmp_path / "mix" / "examples.jsonl").read_bytes())
    alone = store.open_examples(file, tmp_path / "release")
    assert all(alone.photo(each).is_file() for each in alone)
    file.write_bytes(file.read_bytes().replace(b'"split":"train"', b'"split":"test"', 1))
    with pytest.raises(Refused, match="expected an example of the split train or val"):
        list(store.open_examples(file))


@pytest.mark.data
@pytest.mark.slow
def test_coffee(tmp_path: Path) -> None:
    """What was measured: 257 stressed leaves of the training split, 80 healthy."""
    if not (DATA / "coffee").is_dir():
        pytest.skip("the real photos are not at hand")
    workspace.ingest("coffee", DATA / "coffee", tmp_path / "set")
    workspace.label(tmp_path / "set")
    workspace.annotate(tmp_path / "set")
    made = composing.compose_training(
        [tmp_path / "set"], tmp_path / "mix", Mix(healthy=0.12, wrong_target=0.1)
    )
    assert made.counts["role"] == {"healthy": 40, "positive": 257, "wrong_target": 33}
    assert made.drops == {"not_drawn": 46, "other_split": 42}
    assert made.counts["notes"]["wrong_target_short"] == 0
