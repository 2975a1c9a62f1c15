"""Lines read and written: one clear error for a bad one, and files whole or not at all."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldtruth import store
from fieldtruth.faults import BadRecord, CannotWrite, Usage
from fieldtruth.records import Annotation, Item, Prediction, Record

ITEM: dict[str, Any] = {
    "id": "leaf-1", "image": "a.jpg", "image_sha256": "0" * 64, "width": 10, "height": 10,
    "source": "hand", "licence": "CC0", "crop": None, "kind": "disease", "label": "rust",
    "level": "lesion", "boxes": [[1, 1, 2, 2]], "query": None, "absent_query": None,
    "candidates": None, "group": "g",
}  # fmt: skip
GOOD = json.dumps(ITEM)
NAN = float("nan")


def changed(**fields: object) -> str:
    return json.dumps({**ITEM, **fields})


def without(name: str) -> str:
    return json.dumps({key: value for key, value in ITEM.items() if key != name})


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (changed(colour="red"), "(id 'leaf-1'): expected only fields of Item"),
        (without("kind")[:-1] + ', "knd": null}', "got 'knd'; did you mean 'kind'?"),
        (without("group"), "expected the field 'group' of Item, got none"),
        (changed(width="10"), 'expected a whole number in width, got "10"'),
        (changed(width=1.5), "expected a whole number in width, got 1.5"),
        (changed(width=None), "expected a whole number in width, got null"),
        (changed(crop=5), "expected text or null in crop, got 5"),
        (changed(kind="fungus"), "expected one of disease, object, pest, stress, symptom, weed"),
        (changed(boxes=[[1, 1, 2]]), "expected a list of length 4 in boxes[0], got [1, 1, 2]"),
        (changed(boxes=[[1, 1, 2, "2"]]), 'expected a number in boxes[0][3], got "2"'),
        (changed(boxes=[[1, 1, 2, NAN]]), "expected a finite number in boxes[0][3], got NaN"),
        (changed(boxes=[[1, 1, float("inf"), 2]]), "a finite number in boxes[0][2], got Infinity"),
        (GOOD.replace("[[1, 1, 2, 2]]", "[[1, 1, 1e999, 2]]"), "a finite number in boxes[0][2]"),
        (changed(boxes=[[1, 1, 20, 2]]), "x1 < x2 <= 10"),
        (changed(label=None), "expected a label on a lesion-level image, got None"),
        (changed(candidates=["a", "a", "b", "c"]), "expected four distinct candidates or null"),
        (GOOD[:-1], "got broken JSON (Expecting ',' delimiter"),
        (GOOD + GOOD, "got broken JSON (Extra data"),
        ("", "got a blank line; remove the line"),
        ("   ", "got a blank line; remove the line"),
        ("[1]", "expected a JSON object {...}, got [1]"),
        ("null", "expected a JSON object {...}, got null"),
        ("[" * 100_000, "got JSON nested too deeply"),
        (GOOD.replace("rust", "\\ud800"), "got half a surrogate pair"),
        ("items:", "got broken JSON"),
    ],
)  # fmt: skip
def test_a_bad_line_is_one_error_with_file_line_expected_and_got(
    tmp_path: Path, line: str, told: str
) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(f"{GOOD}\n{line}\n{GOOD}\n")
    records = store.read(path, Item)
    assert next(records).id == "leaf-1"
    with pytest.raises(BadRecord) as error:
        next(records)
    said = str(error.value)
    assert said.startswith(f"{path}:2")
    assert told in said
    assert "; " in said, "and what to do"


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(GOOD.replace("rust", "r\u00fcst").encode("latin-1") + b"\n")
    with pytest.raises(BadRecord, match=r"expected UTF-8 text, got the byte 0xfc at position"):
        list(store.read(path, Item))


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [b"", b"\r\n", b"\n"])
def test_byte_order_mark_crlf_and_a_missing_last_line_end_are_tolerated(
    tmp_path: Path, start: bytes, end: bytes, last: bytes
) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(start + GOOD.encode() + end + GOOD.encode() + last)
    assert [item.label for item in store.read(path, Item)] == ["rust", "rust"]


@pytest.mark.parametrize("name", ["absent.jsonl", "."])
def test_no_such_file_is_a_matter_of_usage(tmp_path: Path, name: str) -> None:
    with pytest.raises(Usage, match="expected a file, got"):
        list(store.read(tmp_path / name, Item))


def test_two_records_of_one_id_are_named_by_both_lines(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join([GOOD, changed(id="leaf-2"), GOOD]))
    with pytest.raises(BadRecord, match=r"items\.jsonl:3 \(id 'leaf-1'\): .* line 1;"):
        list(store.read_unique(path, Item))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (GOOD[:-1] + ', "label": "scab"}', "'label'"),
        (GOOD[:-1] + ', "labe\\u006c": "scab"}', "'label'"),  # the same name, written otherwise
        ('{"id": "leaf-1", "facts": [{"a": 1, "b": {}, "a": 1}]}', "'a'"),
        (GOOD, None), ('{"id": "leaf-1", "facts": [{"id": 1}, {"id": 1}]}', None),
        ("", None), ("{", None), ("[" * 100_000, None), ("\udcff", None),
    ],
)  # fmt: skip
def test_a_field_that_stands_twice_is_named(tmp_path: Path, line: str, told: str | None) -> None:
    """What is no JSON is left to whoever reads the lines."""
    path = tmp_path / "items.jsonl"
    path.write_text(f"\ufeff{GOOD}\n{line}\n", encoding="utf-8", errors="surrogateescape")
    if told is None:
        store.fields_once(path)
        return
    with pytest.raises(BadRecord, match=rf":2 \(id 'leaf-1'\): expected .* once, got {told} twice"):
        store.fields_once(path)


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@settings(deadline=None, max_examples=50)  # every example is flushed to the disk
@given(texts=st.lists(TEXT))
def test_any_words_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "words.jsonl"
    said = [Prediction(item="a", protocol="p", model="m", text=text) for text in texts]
    assert store.write(path, said) == len(texts)
    assert list(store.read(path, Prediction)) == said
    lines = path.read_bytes().split(b"\n")[:-1]
    assert [json.loads(line)["text"] for line in lines] == texts


def breaking(records: list[Record]) -> Iterator[Record]:
    yield from records
    raise RuntimeError("the work broke off")


def test_a_write_that_breaks_off_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    old = Prediction(item="a", protocol="p", model="m", text="[]")
    assert store.write(path, [old]) == 1
    before = path.read_bytes()
    with pytest.raises(RuntimeError):
        store.write(path, breaking([old] * 1000))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


MARK = {
    "id": "m", "target": "t", "image": "a", "width": 9, "height": 9, "level": "lesion",
    "boxes": ((1.0, 1.0, 2.0, 2.0),), "rule": "hand",
}  # fmt: skip


@pytest.mark.parametrize(
    "record",
    [
        Prediction(item="a", protocol="p", model="m", text="\ud800"),
        Annotation(**{**MARK, "boxes": [[1, 1, 2, 2]]}),  # type: ignore[arg-type]
        Prediction(item="a", protocol="p", model="m", text=5),  # type: ignore[arg-type]
    ],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path: Path, record: Record) -> None:
    with pytest.raises(BadRecord, match="expected values that can be read back"):
        store.write(tmp_path / "a.jsonl", [record])
    assert list(tmp_path.iterdir()) == []


class Score(Record, frozen=True, kw_only=True):
    """A value that may be unknown: the case in which a NaN would slip through as null."""

    id: str
    value: float | None


def test_only_a_plain_file_is_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "folder", "link"):
        before = (tmp_path / name).lstat()
        with pytest.raises(CannotWrite, match=f"{name}: expected a file or nothing there"):
            store.write(tmp_path / name, [])
        assert (tmp_path / name).lstat().st_ino == before.st_ino
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link", "pipe"]


def test_a_place_that_cannot_be_is_one_clear_error() -> None:
    with pytest.raises(CannotWrite, match="expected a place where a file or folder can be made"):
        store.write(Path("/proc/none/records.jsonl"), [])
    with (
        pytest.raises(CannotWrite, match="expected a place where a file or folder can be made"),
        store.lock(Path("/proc/none/bench")),
    ):
        pass


def test_a_nan_does_not_become_unknown(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match="Score 'a' cannot be written"):
        store.write(tmp_path / "a.jsonl", [Score(id="a", value=NAN)])
    assert store.write(tmp_path / "a.jsonl", [Score(id="a", value=None)]) == 1


def test_two_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with store.replacing(path) as first:
        first.write(b"first")
        with store.replacing(path) as second:
            second.write(b"second, which is longer")
        assert path.read_bytes() == b"second, which is longer"
        assert sorted(each.name for each in tmp_path.iterdir()) == [".a.txt.0.part", "a.txt"]
    assert path.read_bytes() == b"first"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_what_a_killed_writer_left_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / ".a.txt.0.part").write_bytes(b"much longer than what is written now")
    with store.replacing(tmp_path / "a.txt") as file:
        file.write(b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_a_link_in_the_place_of_the_part_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("keep me")
    (tmp_path / ".a.txt.0.part").symlink_to(tmp_path / "precious")
    with store.replacing(tmp_path / "a.txt") as file:
        file.write(b"new")
    assert (tmp_path / "precious").read_text() == "keep me"
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    assert not (tmp_path / "a.txt").is_symlink()


@pytest.mark.parametrize(
    "text",
    [
        f"{GOOD}\n\n{GOOD}{GOOD}\n",  # as many records as lines, and none of them right
        GOOD.replace('"boxes": [[', '"boxes":\n[[') + "\n" + f"{GOOD}{GOOD}\n",
        f"{GOOD}\n{GOOD.replace('{', '[{', 1)}\n",
    ],
)
def test_lines_that_only_look_right_together_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(text)
    with pytest.raises(BadRecord, match=r"items\.jsonl:\d"):
        list(store.read(path, Item))


def test_lines_longer_than_a_block_and_the_last_without_its_end(tmp_path: Path) -> None:
    path = tmp_path / "words.jsonl"
    said = [Prediction(item=str(at), protocol="p", model="m", text="x" * size)
            for at, size in enumerate((3 * 2**20, 5, 2**20, 0))]  # fmt: skip
    store.write(path, said)
    assert list(store.read(path, Prediction)) == said
    path.write_bytes(path.read_bytes()[:-1])
    assert list(store.read(path, Prediction)) == said
    with path.open("ab") as file:
        file.write(b"\n{")
    with pytest.raises(BadRecord, match=r"words\.jsonl:5: "):
        list(store.read(path, Prediction))


def test_records_of_two_classes_in_one_file_keep_their_order(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    one, other = Score(id="a", value=1.0), Prediction(item="b", protocol="p", model="m", text="")
    store.write(path, [one, other, one, one] * 200)
    names = [json.loads(line).get("id", "other") for line in path.read_text().splitlines()]
    assert names == ["a", "other", "a", "a"] * 200
