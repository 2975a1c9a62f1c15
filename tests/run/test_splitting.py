"""Sources' folders split together: a file in each, and a check that sees what has changed."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.builders import class_folders, leaf
from tests.scenes import save, scene
from typer.testing import CliRunner

from fieldtruth import cli, store
from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Place
from fieldtruth.run import splitting, workspace
from fieldtruth.stages.split import Settings

FILES = ("leakage.json", "splits.jsonl")
DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    """Two sources that have one photo in common, as files of other bytes."""
    for name, seeds in (("a", range(1, 8)), ("b", range(10, 14))):
        for seed in seeds:
            save(scene(seed), tmp_path / f"{name}-photos" / "Tomato___rust" / f"{seed}.jpg")
    save(scene(3), tmp_path / "b-photos" / "Tomato___rust" / "copy.png")
    for name in "ab":
        workspace.ingest("folder", tmp_path / f"{name}-photos", tmp_path / name)
    return [tmp_path / "a", tmp_path / "b"]


def places(folder: Path) -> dict[str, Place]:
    return {each.id.split("/")[-1]: each for each in store.read(folder / "splits.jsonl", Place)}


def run(code: int, *words: object) -> Any:
    result = CliRunner().invoke(cli.app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def test_each_folder_has_its_photos_and_one_report(two: list[Path]) -> None:
    leakage = splitting.split(two, Settings())
    a, b = map(places, two)
    assert (len(a), len(b)) == (7, 5)
    assert a["3.jpg"].group == b["copy.png"].group
    assert a["3.jpg"].split == b["copy.png"].split
    assert list(a) == sorted(a)
    assert (
        two[0].joinpath("leakage.json").read_bytes() == two[1].joinpath("leakage.json").read_bytes()
    )
    told = json.loads(two[0].joinpath("leakage.json").read_bytes())
    assert told["crossing"] == {"slots": 12, "contents": 0, "groups": 0}
    assert (told["files"], told["groups"], leakage.groups) == (12, 11, 11)


def test_twice_the_same_bytes_whatever_the_order(two: list[Path]) -> None:
    splitting.split(two, Settings())
    before = [(folder / name).read_bytes() for folder in two for name in FILES]
    splitting.split(two[::-1], Settings())
    assert before == [(folder / name).read_bytes() for folder in two for name in FILES]


def test_a_folder_that_cannot_be_split_changes_none(two: list[Path]) -> None:
    splitting.split(two, Settings())
    before = [(folder / name).read_bytes() for folder in two for name in FILES]
    path = two[1] / "samples.jsonl"
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(Refused, match="expected the 5 records"):
        splitting.split(two, Settings(seed=7))
    with pytest.raises(Usage, match="expected each folder once"):
        splitting.split([two[0], two[0] / "." / "../a"], Settings())
    with pytest.raises(Usage, match="run `ingest` first"):
        splitting.split([two[0], two[0].parent], Settings())
    loop = two[0].parent / "loop"
    loop.symlink_to(loop)
    with pytest.raises(Usage, match="run `ingest` first"):
        splitting.split([two[0], loop], Settings())
    assert before == [(folder / name).read_bytes() for folder in two for name in FILES]
    assert not list(two[0].parent.rglob("*.part"))


def test_ingest_forgets_the_split_of_what_lay_there(two: list[Path]) -> None:
    splitting.split(two, Settings())
    root = class_folders(two[0].parent / "other")
    workspace.ingest("folder", root, two[0])
    assert not any((two[0] / name).exists() for name in FILES)
    with pytest.raises(Usage, match="run `split` first"):
        splitting.check(two, Settings())


def test_split_and_check_as_their_users_meet_them(two: list[Path]) -> None:
    said = run(0, "split", *two).stdout
    assert "12 photos, 12 files, 12 contents, 11 groups (largest 2), 0 unverified" in said
    assert "crossing: 0 contents, 0 groups (by sample id:" in said
    assert "nothing leaks" in run(0, "split", "--check", *two).stdout
    before = [(folder / name).read_bytes() for folder in two for name in FILES]
    raw = (two[1] / "splits.jsonl").read_text().splitlines()
    kept = places(two[0])["3.jpg"].split
    other = "test" if kept == "train" else "train"
    moved = [
        each.replace(f'"{kept}"', f'"{other}"') if "copy.png" in each else each for each in raw
    ]
    (two[1] / "splits.jsonl").write_text("\n".join(moved) + "\n")
    told = run(4, "split", "--check", *two)
    assert "1 groups in two splits" in told.stderr
    assert "copy.png in" in told.stderr
    assert run(0, "split", "--check", two[1]).exit_code == 0  # the other photo is not looked at
    run(0, "split", *two)
    assert before == [(folder / name).read_bytes() for folder in two for name in FILES]


def test_a_photo_that_changed_is_seen(two: list[Path]) -> None:
    run(0, "split", *two, "--json")
    leaf(two[0].parent / "a-photos" / "Tomato___rust" / "2.jpg")
    told = json.loads(run(4, "split", "--check", *two, "--json").stdout)
    assert (told["changed"], told["unplaced"], told["crossing"]["groups"]) == (1, 0, 0)
    assert told["examples"] == ["Tomato___rust/2.jpg gone or with other bytes"]


@pytest.mark.parametrize(
    "shares", ["train", "train=x", "train=0.5", "train=0.9,dev=0.1", "train=nan,test=1", ""]
)
def test_shares_that_are_none(shares: str, two: list[Path]) -> None:
    assert "--shares" in run(2, "split", *two, "--shares", shares).stderr


def test_photos_given_out_in_shares(two: list[Path]) -> None:
    told = json.loads(run(0, "split", *two, "--shares", "val=1", "--json").stdout)
    assert {name: part["files"] for name, part in told["splits"].items()} == {
        "train": 0, "val": 12, "test": 0,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason="the real photos are not at hand")
def test_real_photos_that_two_sources_share(tmp_path: Path) -> None:
    """150 PlantVillage photos, none a copy of another at radius 6, each in two sources."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        workspace.ingest("folder", DATA / "plantvillage", folder)
    leakage = splitting.split(folders, Settings())
    assert (leakage.files, leakage.contents, leakage.groups) == (300, 150, 150)
    assert (leakage.crossing.contents, leakage.crossing.groups) == (0, 0)
    assert leakage.by_sample.contents == leakage.by_sample.groups > 0
    assert places(folders[0]) == places(folders[1])
