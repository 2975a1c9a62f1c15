"""What changed between two benchmarks, by id and field."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.stages.diff import diff, line
from fieldtruth.stages.freeze import Settings, freeze

ROW: dict[str, Any] = {
    "image": "a.png", "source": "hand", "licence": "CC0", "label": "rust", "level": "lesion",
    "boxes": [[1, 2, 3, 4]],
}  # fmt: skip
ASKED: dict[str, Any] = {
    "id": "q", "form": "open", "images": ["a.png"], "question": "Why?", "answer": "Rain.",
    "source": "hand", "licence": "CC0",
}  # fmt: skip


def frozen(root: Path, version: str, *rows: dict[str, Any]) -> Path:
    (root / "photos").mkdir(exist_ok=True)
    Image.new("RGB", (9, 9), (0, 99, 0)).save(root / "photos" / "a.png")
    Image.new("RGB", (9, 9), (0, 98, 0)).save(root / "photos" / "b.png")
    records = root / "rows.jsonl"
    records.write_text("".join(json.dumps(row) + "\n" for row in rows))
    freeze(records, root / "photos", root / version, Settings(name="set", version=version))
    return root / version


def test_added_removed_and_changed_with_the_fields(tmp_path: Path) -> None:
    a = frozen(tmp_path, "1", {**ROW, "id": "z"}, {**ROW, "id": "y"}, {**ROW, "id": "x"})
    b = frozen(
        tmp_path, "2", {**ROW, "id": "w"}, {**ROW, "id": "y"},
        {**ROW, "id": "z", "boxes": [[1, 2, 3, 5]], "image": "b.png", "crop": "rice"},
    )  # fmt: skip
    found = diff(a, b)
    assert found["items"]["added"] == ["w"]
    assert found["items"]["removed"] == ["x"]
    assert found["items"]["changed"] == [
        {"id": "z", "fields": ["image", "image_sha256", "crop", "boxes", "group"]}
    ]
    assert found["questions"] == {"added": [], "removed": [], "changed": []}
    assert line(found).splitlines() == [
        "set 1 -> set 2: 1 added, 1 removed, 1 changed",
        "+ w", "- x", "~ z: image, image_sha256, crop, boxes, group",
    ]  # fmt: skip
    assert json.loads(json.dumps(found)) == found


def test_of_many_some_are_named_unless_all_are_asked_for(tmp_path: Path) -> None:
    a = frozen(tmp_path, "1", {**ROW, "id": "z"})
    b = frozen(tmp_path, "2", *({**ROW, "id": f"y{n}"} for n in range(9)))
    told = [f"+ y{n}" for n in range(9)]
    counts = "set 1 -> set 2: 9 added, 1 removed, 0 changed"
    shown = [counts, *told[:5], "+ and 4 more; --all names them", "- z"]
    assert line(diff(a, b)).splitlines() == shown
    assert line(diff(a, b), None).splitlines() == [counts, *told, "- z"]


def test_no_difference(tmp_path: Path) -> None:
    a = frozen(tmp_path, "1", {**ROW, "id": "z"})
    assert line(diff(a, a)) == "set 1 -> set 1: 0 added, 0 removed, 0 changed"


def test_questions_too(tmp_path: Path) -> None:
    a = frozen(tmp_path, "1", ASKED)
    b = frozen(tmp_path, "2", {**ASKED, "answer": "Wind."}, {**ASKED, "id": "p"})
    assert diff(a, b)["questions"] == {
        "added": ["p"], "removed": [], "changed": [{"id": "q", "fields": ["answer"]}],
    }  # fmt: skip


def test_an_edited_benchmark_can_be_compared(tmp_path: Path) -> None:
    a, b = (frozen(tmp_path, version, {**ROW, "id": "z"}) for version in "12")
    text = (b / "items.jsonl").read_text().replace('"rust"', '"mite"')
    (b / "items.jsonl").write_text(text)
    assert store.verify(b) != []
    assert diff(a, b)["items"]["changed"] == [{"id": "z", "fields": ["label", "query"]}]


@pytest.mark.parametrize("what", ["absent", "photos"])
def test_what_is_no_benchmark_is_a_matter_of_usage(tmp_path: Path, what: str) -> None:
    a = frozen(tmp_path, "1", {**ROW, "id": "z"})
    with pytest.raises(Usage, match="expected"):
        diff(a, tmp_path / what)
