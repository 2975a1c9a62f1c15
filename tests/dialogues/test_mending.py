"""Broken JSON is mended where its meaning is plain, and costs its row alone where it is not."""

from pathlib import Path

import pytest

from fieldtruth.dialogues import mending
from fieldtruth.faults import BadRecord


@pytest.mark.parametrize(
    ("text", "value", "note"),
    [
        ('{"a": [1, "x"]}', {"a": [1, "x"]}, ""),
        ('{"a": [1, 2,], }', {"a": [1, 2]}, "a comma too many"),
        ("{'a': None, 'b': True}", {"a": None, "b": True}, "written as Python"),
        ('{"a": NaN}', {"a": None}, "NaN, or line ends in a text"),
        ('{"a": "x\ny"}', {"a": "x\ny"}, "NaN, or line ends in a text"),
    ],
)
def test_what_can_be_mended(text: str, value: object, note: str) -> None:
    assert mending.mended(text) == (value, note)


@pytest.mark.parametrize(
    "text",
    ['{"a": "it"s"}', '{"a": 1', "", "a", "__import__('os').getcwd()", "{'a': x}", "[" * 5_000],
    ids=lambda text: text[:20],
)
def test_what_cannot(text: str) -> None:
    with pytest.raises(ValueError, match="expected JSON"):
        mending.mended(text)


def test_a_broken_row_of_a_list_costs_itself(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(
        '[{"id": 1, "t": "x"},\n {"id": 2, "t": "it"s"},\n {"id": 3, "t": "z",},\n {"id": 4, "t'
    )
    read = list(mending.rows(path, "id"))
    assert [(each.number, each.row, each.note) for each in read] == [
        (1, {"id": 1, "t": "x"}, ""), (2, None, ""), (3, {"id": 3, "t": "z"}, "a comma too many"),
        (4, None, ""),
    ]  # fmt: skip
    assert "expected JSON" in read[1].why


def test_an_object_a_line_and_a_mark_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": 1}\n{"id": 2}\n')
    assert [each.row for each in mending.rows(path, "id")] == [{"id": 1}, {"id": 2}]


def test_what_is_no_object_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text('[{"id": 1}, 2]')
    assert [each.why for each in mending.rows(path, "id")] == ["", "expected an object, got a int"]
    path.write_text("hello")
    with pytest.raises(BadRecord, match=r"rows.json: expected rows that begin with 'id'"):
        list(mending.rows(path, "id"))
