"""Items before they are frozen: composed or by hand, each row with all that is wrong with it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.builders import four, plain
from tests.test_cli import asked, out_of

from fieldtruth.stages.check import Settings, check

ILL: dict[str, Any] = {
    "id": "a", "image": "a.png", "source": "field", "licence": "CC0", "crop": "tomato",
    "kind": "disease", "label": "late blight", "level": "lesion", "boxes": [[1, 2, 30, 40]],
}  # fmt: skip
WELL: dict[str, Any] = {
    "id": "w", "image": "a.png", "source": "field", "licence": "CC0", "level": "healthy",
    "query": "late blight",
}  # fmt: skip
FOUR = ["late blight", "early blight", "leaf mold", "target spot"]


def found(folder: Path, *rows: dict[str, Any]) -> list[tuple[int, str]]:
    plain(folder / "a.png", 1, (100, 80))
    (folder / "text.png").write_text("no photo")
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    report = check(path, Settings())
    assert report.kind == "items"
    return [(each.row, each.problem) for each in report.problems]


def test_what_can_be_frozen_has_no_problem(tmp_path: Path) -> None:
    assert found(tmp_path, ILL, WELL, ILL | {"id": "c", "candidates": FOUR}) == []


def test_a_frozen_benchmarks_items(tmp_path: Path) -> None:
    made = out_of(3, "check", four(tmp_path / "bench") / "items.jsonl")
    assert (made["kind"], made["rows"]) == ("items", 4)
    assert {each["problem"] for each in made["problems"]} == {"image_too_small"}


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        ({"boxes": []}, ["bad_row"]),
        ({"boxes": [[1, 2, 101, 40]]}, ["bad_row"]),
        ({"level": "leaf"}, ["bad_row"]),
        ({"colour": "green"}, ["bad_row"]),
        ({"label": None}, ["bad_row"]),
        ({"query": "leaf mold"}, ["bad_row"]),
        ({"absent_query": "blight"}, ["bad_row"]),
        ({"candidates": FOUR[1:]}, ["bad_row"]),
        ({"candidates": [*FOUR[1:], "scab"]}, ["bad_row"]),
        ({"candidates": [*FOUR[:3], "Leaf-Mold"]}, ["bad_row"]),
        ({"label": "zzyzx gloom"}, ["unknown_label"]),
        ({"label": "zzyzx gloom", "kind": "object"}, []),
        ({"licence": " "}, ["empty_text"]),
        ({"width": 80}, ["wrong_size"]),
        ({"image": "b.png"}, ["image_missing"]),
        ({"image": "../a.png"}, ["image_unsafe"]),
        ({"image": "text.png"}, ["image_unreadable"]),
    ],
)
def test_what_is_wrong(change: dict[str, Any], problems: list[str], tmp_path: Path) -> None:
    assert found(tmp_path, WELL, ILL | change) == [(2, each) for each in problems]


def test_an_id_twice_and_a_test_photo(tmp_path: Path) -> None:
    assert found(tmp_path, ILL, ILL | {"level": "object"}) == [(2, "duplicate_id")]
    bench = four(tmp_path / "bench")
    told = asked(3, "check", bench / "items.jsonl", "--test", bench).stdout
    assert "test_image" in told
