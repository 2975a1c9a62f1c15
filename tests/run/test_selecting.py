"""Files in, a folder out: rounds, training photos, photos copied along, nothing half."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.builders import item, plain
from typer.testing import CliRunner

from fieldtruth import cli, store
from fieldtruth.faults import BadRecord, Fault, Refused, Unreadable, Usage
from fieldtruth.records import Drop, Item, Place
from fieldtruth.run import selecting
from fieldtruth.stages.freeze import Settings as Freezing
from fieldtruth.stages.freeze import freeze
from fieldtruth.stages.select import Selection, Settings

WANT = {"lesion": 3}


def source(folder: Path, name: str, count: int = 6, shade: int = 0) -> Path:
    """FOLDER/NAME.jsonl: items of photos that lie in FOLDER/NAME."""
    path = folder / f"{name}.jsonl"
    rows = []
    for n in range(count):
        file = plain(folder / name / f"{n}.png", shade + n, (100, 80))
        rows.append(
            item(f"{name}:{n}", image=file.name, image_sha256=store.sha256(file), source=name,
                 group=f"{name}-{n}")
        )  # fmt: skip
    store.write(path, rows)
    return path


def run(out: Path, *items: Path, want: dict[str, int] = WANT, **job: Any) -> Selection:
    return selecting.select(selecting.Job(items=items, **job), Settings(want=want), out)


def rows(folder: Path) -> list[Item]:
    return list(store.read(folder / "items.jsonl", Item))


def shown(folder: Path) -> set[str]:
    return {each.image_sha256 for each in rows(folder)}


def test_a_selection_is_a_folder_that_can_be_frozen(tmp_path: Path) -> None:
    a, b = source(tmp_path, "a"), source(tmp_path, "b", shade=50)
    homes = tmp_path / "a", tmp_path / "b"
    report = run(tmp_path / "out", a, b, want={"lesion": 8}, images=homes)
    out = tmp_path / "out"
    assert sorted(each.name for each in out.iterdir()) == [
        "drops.jsonl", "images", "items.jsonl", "select.json",
    ]  # fmt: skip
    chosen = rows(out)
    assert {each.source for each in chosen} == {"a", "b"}
    assert [each.image for each in chosen] == [f"images/{each.id}.png" for each in chosen]
    assert all(store.sha256(out / each.image) == each.image_sha256 for each in chosen)
    assert len(list((out / "images").iterdir())) == len(chosen) == report.chosen == 8
    assert [each.parent for each in store.read(out / "drops.jsonl", Drop)] == sorted(
        {f"{name}:{n}" for name in "ab" for n in range(6)} - set(report.parents.values())
    )
    assert json.loads((out / "select.json").read_bytes())["strata"]["lesion"] == {
        "wanted": 8, "chosen": 8, "short": 0,
    }  # fmt: skip
    freeze(out / "items.jsonl", out, tmp_path / "bench", Freezing(name="n", version="1"))
    assert store.verify(tmp_path / "bench") == []


def test_rounds_share_nothing_whatever_they_are_told_by(tmp_path: Path) -> None:
    items = source(tmp_path, "a", count=8)
    run(tmp_path / "one", items, want={"lesion": 2})
    run(tmp_path / "two", items, want={"lesion": 2}, earlier=[tmp_path / "one"])
    assert not shown(tmp_path / "one") & shown(tmp_path / "two")
    freezing = Freezing(name="n", version="1")
    freeze(tmp_path / "two" / "items.jsonl", tmp_path / "a", tmp_path / "bench", freezing)
    earlier = [tmp_path / "one" / "items.jsonl", tmp_path / "bench"]
    report = run(tmp_path / "three", items, want={"lesion": 8}, earlier=earlier)
    assert report.chosen == 4
    assert report.drops == {"earlier_round": 4}
    assert not shown(tmp_path / "three") & (shown(tmp_path / "one") | shown(tmp_path / "two"))


def test_photos_that_a_trainer_sees_are_left_out(tmp_path: Path) -> None:
    items = source(tmp_path, "a")
    hashes = {each.id: each.image_sha256 for each in store.read(items, Item)}
    folder = tmp_path / "set"
    places = [
        Place(id="0.png", image_sha256=hashes["a:0"], group="x", split="train"),
        Place(id="1.png", image_sha256="f" * 64, group="a-1", split="val"),
        Place(id="2.png", image_sha256=hashes["a:2"], group="a-2", split="test"),
    ]
    store.write(folder / "splits.jsonl", places)
    for number, told in enumerate((folder, folder / "splits.jsonl")):
        report = run(tmp_path / str(number), items, want={"lesion": 6}, trained=[told])
        dropped = {drop.parent for drop in store.read(tmp_path / str(number) / "drops.jsonl", Drop)}
        assert dropped == {"a:0", "a:1"}
        assert report.drops == {"in_training": 2}
    report = run(tmp_path / "all", items, trained=[items])
    assert (report.chosen, report.drops) == (0, {"in_training": 6})
    mixture = tmp_path / "mixture" / store.EXAMPLES  # as `compose --training` leaves it
    mixture.parent.mkdir()
    mixture.write_bytes(items.read_bytes())
    report = run(tmp_path / "mixed", items, trained=[mixture.parent])
    assert (report.chosen, report.drops) == (0, {"in_training": 6})


def test_a_release_own_group_is_left_out_as_a_mixture_calls_it(tmp_path: Path) -> None:
    items = source(tmp_path, "a")
    other = {"id": "x", "image_sha256": "e" * 64, "group": "a:a-3", "source": "a", "split": "train"}
    mixture = tmp_path / "mixture" / store.EXAMPLES
    mixture.parent.mkdir()
    mixture.write_text(json.dumps(other) + "\n")
    report = run(tmp_path / "out", items, want={"lesion": 6}, trained=[mixture.parent])
    assert (report.chosen, report.drops) == (5, {"in_training": 1})
    assert "a:3" not in report.parents.values()


def test_the_same_words_make_the_same_bytes(tmp_path: Path) -> None:
    a, b = source(tmp_path, "a"), source(tmp_path, "b", shade=50)
    homes = [tmp_path / "a", tmp_path / "b"]
    run(tmp_path / "one", a, b, images=homes)
    run(tmp_path / "two", b, a, images=homes[::-1])
    for path in (tmp_path / "one").rglob("*"):
        if path.is_file():
            other = tmp_path / "two" / path.relative_to(tmp_path / "one")
            assert path.read_bytes() == other.read_bytes()


def _twice(folder: Path) -> dict[str, Any]:
    (folder / "b.jsonl").write_bytes((folder / "a.jsonl").read_bytes())
    return {}


def _no_hash(folder: Path) -> dict[str, Any]:
    store.write(folder / "b.jsonl", [item("b:1", image_sha256="unknown")])
    return {}


def _changed(folder: Path) -> dict[str, Any]:
    for n in range(6):
        plain(folder / "a" / f"{n}.png", 900 + n, (100, 80))
    return {"images": [folder / "a", folder / "b"]}


def _gone(folder: Path) -> dict[str, Any]:
    return {"images": [folder / "a", folder]}


def _leads_out(folder: Path) -> dict[str, Any]:
    store.write(folder / "b.jsonl", [item("b:1", image="../x.png", image_sha256="a" * 64)])
    return {"images": [folder / "a", folder / "b"]}


def _nothing_there(folder: Path) -> dict[str, Any]:
    return {"earlier": [folder / "a"]}


def _three(folder: Path) -> dict[str, Any]:
    return {"images": [folder / "a"] * 3}


def _full(folder: Path) -> dict[str, Any]:
    (folder / "out").mkdir()
    (folder / "out" / "mine.txt").touch()
    return {}


@pytest.mark.parametrize(
    ("prepare", "fault", "said"),
    [
        (_twice, BadRecord, r"b.jsonl \(id 'a:0'\): expected an id of its own"),
        (_no_hash, BadRecord, "expected an image_sha256 of 64 hex digits"),
        (_changed, Refused, "expected the photo that was composed"),
        (_gone, Unreadable, "no such file"),
        (_leads_out, Refused, "expected a path inside"),
        (_nothing_there, Usage, "expected a frozen benchmark, or a folder with"),
        (_three, Usage, "expected one folder for all 2 files"),
        (_full, Usage, "expected no such folder or an empty one"),
        (lambda _: {}, Usage, "expected one photo at a path"),
    ],
)
def test_what_is_refused_leaves_no_folder(
    prepare: Any, fault: type[Fault], said: str, tmp_path: Path
) -> None:
    a, b = source(tmp_path, "a"), source(tmp_path, "b", shade=50)
    job = prepare(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(fault, match=said):
        run(tmp_path / "out", a, b, want={"lesion": 12}, **job)
    assert sorted(tmp_path.rglob("*")) == before


def test_select_as_its_users_meet_it(tmp_path: Path) -> None:
    items = source(tmp_path, "a")
    words = ["select", str(items), "--out", str(tmp_path / "out"), "--want"]
    good = CliRunner().invoke(cli.app, [*words, "lesion=2", "--cap", "1", "--json"])
    assert good.exit_code == 0, good.output
    assert json.loads(good.stdout)["strata"]["lesion"] == {"wanted": 2, "chosen": 2, "short": 0}
    words[3] = str(tmp_path / "short")
    short = CliRunner().invoke(cli.app, [*words, "lesion=4,dense=2", "--cap", "0.5", "--json"])
    assert short.exit_code == 3
    told = json.loads(short.stdout)
    assert told["strata"]["lesion"] == {"wanted": 4, "chosen": 2, "short": 2}
    assert told["strata"]["dense"]["short"] == 2
    assert "expected 6 photos, got 2, short of 2 dense, 2 lesion; over_cap 4" in short.stderr
    assert len(rows(tmp_path / "short")) == 2
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    none = ["select", str(empty), "--out", str(tmp_path / "none"), "--want", "lesion=4"]
    assert CliRunner().invoke(cli.app, none).exit_code == 3
    for wrong in ("lesion", "lesion=x", "lesion=1,lesion=2", "=3", "lesion=1.5", ""):
        bad = CliRunner().invoke(cli.app, [*words, wrong])
        assert bad.exit_code == 2, wrong
    floor = CliRunner().invoke(
        cli.app, [*words[:3], str(tmp_path / "x"), "--want", "lesion=9", "--floor", "7,b=2"]
    )
    assert floor.exit_code == 4
    assert not (tmp_path / "x").exists()
