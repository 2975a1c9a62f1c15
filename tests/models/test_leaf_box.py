"""The baseline: one box around the leaf."""

import json
from pathlib import Path

import pytest
from PIL import Image
from tests.builders import leaf

from fieldtruth.faults import Usage
from fieldtruth.models.contract import Request
from fieldtruth.models.leaf_box import OPEN

NAMES = ("early blight", "late blight")


def said(
    path: Path, options: dict[str, str], names: tuple[str, ...] = NAMES
) -> tuple[list[float], str]:
    (words,) = OPEN(options).reply([Request(id="a", prompt="", images=(path,), names=names)])
    (one,) = json.loads(words.text)
    return one["bbox_2d"], one["label"]


def test_the_box_holds_the_leaf_whether_it_has_spots_or_not(tmp_path: Path) -> None:
    for spots in ([], [(60, 40, 80, 60)], [(20, 50, 40, 70)]):
        box, _ = said(leaf(tmp_path / "a.png", spots), {})
        assert box == pytest.approx([20, 20, 140, 100], abs=2)


def test_the_box_is_in_pixels_of_the_photo_whatever_its_size(tmp_path: Path) -> None:
    path = leaf(tmp_path / "a.png")
    with Image.open(path) as picture:
        picture.resize((1600, 1200), Image.Resampling.NEAREST).save(path)
    box, _ = said(path, {})
    assert box == pytest.approx([200, 200, 1400, 1000], abs=15)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (400, 5), (64, 64)])
def test_a_photo_without_a_leaf_is_boxed_whole(size: tuple[int, int], tmp_path: Path) -> None:
    Image.new("RGB", size, (60, 120, 50)).save(tmp_path / "a.png")
    assert said(tmp_path / "a.png", {}) == ([0, 0, *size], "early blight")


@pytest.mark.parametrize(
    ("options", "names", "name"),
    [
        ({}, NAMES, "early blight"),
        ({"label": "late blight"}, NAMES, "late blight"),
        ({"label": "rust"}, NAMES, "early blight"),
        ({"label": "rust"}, (), "rust"),
        ({}, (), ""),
    ],
)
def test_the_name_is_the_label_where_offered_else_the_first(
    options: dict[str, str], names: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    _, label = said(leaf(tmp_path / "a.png"), options, names)
    assert label == name


def test_the_version_tells_labels_apart_and_none_is_empty() -> None:
    assert len({OPEN({}).version, OPEN({"label": "a"}).version, OPEN({"label": "b"}).version}) == 3
    with pytest.raises(Usage, match="expected the name"):
        OPEN({"label": ""})
