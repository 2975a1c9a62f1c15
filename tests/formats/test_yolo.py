"""YOLO: read back by a reader of the published format that imports nothing of ours."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.builders import frozen, healthy_row, question, row
from tests.strategies import boxes_within

from fieldtruth.faults import Usage
from fieldtruth.formats.yolo import line
from fieldtruth.stages.export import Options, export


def load(folder: Path, split: str) -> dict[str, list[tuple[str, list[float]]]]:
    """What Ultralytics' documentation says of the format: photo -> (class, pixel corners)."""
    told: dict[str, Any] = yaml.safe_load((folder / "data.yaml").read_text())
    assert {"train", "val", "names"} <= told.keys()
    assert sorted(told["names"]) == list(range(len(told["names"])))
    found: dict[str, list[tuple[str, list[float]]]] = {}
    for photo in sorted((folder / told["path"] / told[split]).iterdir()):
        labels = folder / "labels" / f"{photo.stem}.txt"
        with Image.open(photo) as picture:
            width, height = picture.size
        rows = [text.split() for text in labels.read_text().splitlines()]
        assert len({tuple(each) for each in rows}) == len(rows)
        found[photo.name] = []
        for each in rows:
            assert len(each) == 5
            cx, cy, w, h = map(float, each[1:])
            assert all(0 <= share <= 1 for share in (cx, cy, w, h))
            corners = [(cx - w / 2) * width, (cy - h / 2) * height]
            corners += [(cx + w / 2) * width, (cy + h / 2) * height]
            found[photo.name].append((told["names"][int(each[0])], corners))
    assert len(list((folder / "labels").iterdir())) == len(found)
    return found


def test_photos_with_their_boxes_and_healthy_ones_without(tmp_path: Path) -> None:
    rows = [
        row("p0"), row("p1", label="leaf mold", boxes=[[0, 0, 32, 24], [0, 0, 32, 24]]),
        healthy_row("h"),
    ]  # fmt: skip
    made = export("yolo", frozen(tmp_path / "bench", rows), tmp_path / "out")
    assert (made.rows, made.photos, made.absent) == (3, 2, 0)
    found = sorted(load(tmp_path / "out", "test").values(), key=len)
    assert found[0] == []
    assert [name for name, _ in found[1]] == ["early blight", "leaf mold"]
    assert found[1][0][1] == pytest.approx([10, 8, 20, 16], abs=1e-6)
    assert found[1][1][1] == [0, 0, 32, 24]
    told = (tmp_path / "out" / "data.yaml").read_text().splitlines()
    assert told == [
        "path: .", "train: null", "val: null", "test: images", "names:", '  0: "early blight"',
        '  1: "leaf mold"',
    ]  # fmt: skip


def test_labels_that_yaml_would_take_for_something_else(tmp_path: Path) -> None:
    names = ["no", "1", 'a: "b" #c', "- x", "{y}"]
    rows = [row(f"p{at}", label=name, candidates=None) for at, name in enumerate(names)]
    bench = frozen(tmp_path / "bench", rows, split="train")
    export("yolo", bench, tmp_path / "out")
    (found,) = load(tmp_path / "out", "train").values()
    assert sorted(name for name, _ in found) == sorted(names)


def test_photos_that_may_not_be_handed_on(tmp_path: Path) -> None:
    rows = [row("p", licence="unknown"), healthy_row("h")]
    bench = frozen(tmp_path / "bench", rows)
    made = export("yolo", bench, tmp_path / "out")
    assert (made.photos, made.absent) == (1, 1)
    assert (tmp_path / "out" / "fetch.py").is_file()
    assert len(list((tmp_path / "out" / "labels").iterdir())) == 2


def test_a_set_without_diseases_and_one_of_questions(tmp_path: Path) -> None:
    export("yolo", frozen(tmp_path / "bench", [healthy_row("h")]), tmp_path / "out", Options())
    assert [*load(tmp_path / "out", "test").values()] == [[]]
    asked = frozen(tmp_path / "asked", [question("q", images=["a.png"])])
    with pytest.raises(Usage, match="expected items with boxes, got questions"):
        export("yolo", asked, tmp_path / "no")


@given(st.data(), st.integers(1, 6000), st.integers(1, 6000))
def test_shares_hold_a_box_to_a_thousandth_of_a_pixel(
    data: st.DataObject, width: int, height: int
) -> None:
    box = data.draw(boxes_within(width, height))
    _, cx, cy, w, h = map(float, line(0, box, width, height).split())
    read = [(cx - w / 2) * width, (cy - h / 2) * height]
    read += [(cx + w / 2) * width, (cy + h / 2) * height]
    assert read == pytest.approx(box, abs=1e-3)
    assert max(cx, cy, w, h) <= 1
