"""Raw rows: lists in pieces are the whole lists, and what is broken costs itself or is named."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldtruth import rows
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.rows import Bad
from fieldtruth.unique import Unique


class Row(msgspec.Struct, forbid_unknown_fields=True):
    """A row with a list of objects in it, as conversations have."""

    a: str = ""
    more: tuple[dict[str, str], ...] = ()


# Text that looks like the seam between two rows.
TEXT = st.text(st.sampled_from('{}[]",\\: \na\u00e9'), max_size=12)


@settings(deadline=None, max_examples=60)
@given(
    listed=st.lists(
        st.fixed_dictionaries({"a": TEXT, "more": st.lists(st.fixed_dictionaries({"v": TEXT}))}),
        max_size=30,
    ),
    indent=st.sampled_from([None, 0, 2]),
    piece=st.integers(2, 400),
)
def test_a_list_in_pieces_is_the_list(
    tmp_path_factory: pytest.TempPathFactory, listed: list[dict[str, Any]], indent: int | None,
    piece: int,
) -> None:  # fmt: skip
    path = tmp_path_factory.getbasetemp() / "rows.json"
    path.write_text(json.dumps(listed, indent=indent), encoding="utf-8")
    found = list(rows.read_list(path, Row, piece))
    assert [number for number, _ in found] == list(range(1, len(listed) + 1))
    assert [msgspec.to_builtins(row) for _, row in found] == [
        {"a": each["a"], "more": tuple(each["more"])} for each in listed
    ]


def test_a_bad_row_costs_itself(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    good = '{"a": "x"}, ' * 2000
    path.write_bytes(
        b"\xef\xbb\xbf[" + good.encode() + b'{"a": 5}, null, {"a": "\xff"}, ["b"], {"a": "y"}]'
    )
    found = list(rows.read_list(path, Row, 4096))
    assert len(found) == 2005
    assert [type(row) for _, row in found[-6:]] == [Row, Bad, Bad, Bad, Bad, Row]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": "x"}', "expected a JSON list of rows, got b'{"),
        ("", "expected a JSON list of rows, got b''"),
        ('[{"a": "x"}', "after row 0: .*broken JSON"),
        ('[{"a": "x"},]', "after row 0: .*broken JSON"),
        ('[{"a": "x"}] [1]', "after row 0: .*broken JSON"),
        ('[{"a": NaN}]', "after row 0: .*broken JSON"),
        pytest.param("[" * 100_000, "after row 0: .*broken JSON", id="brackets without end"),
        ('[{"a": "x"}, {"hue": 1}]', "row 2: expected only the fields a, more, got: .*`hue`"),
    ],
)
def test_a_broken_list_is_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text)
    with pytest.raises(BadRecord, match=rf"rows\.json: {told}"):
        list(rows.read_list(path, Row))


def test_the_row_before_the_break_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text("[" + '{"a": "x"},' * 3000 + '{"a"')
    with pytest.raises(BadRecord, match=r"after row (?!0)\d+: .*broken JSON"):
        list(rows.read_list(path, Row, 4096))


def test_tables(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with pytest.raises(Usage, match="expected a table, got nothing there"):
        list(rows.read_table(path, ("a",), ("a", "b")))
    path.write_bytes(b'\xef\xbb\xbfa,b\n1,"x,\ny"\n2\n')
    assert list(rows.read_table(path, ("a",), ("a", "b"))) == [
        (1, {"a": "1", "b": "x,\ny"}), (2, Bad("expected 2 columns, got 1")),
    ]  # fmt: skip
    long = "x" * 200_000  # more than python's csv takes by itself
    path.write_text(f"a,b\n{long},2\n3,4\n")
    assert list(rows.read_table(path, ("a",), ("a", "b"))) == [
        (1, {"a": long, "b": "2"}), (2, {"a": "3", "b": "4"}),
    ]  # fmt: skip
    for head in ("b", "a,c", "a,a"):
        path.write_text(f"{head}\n")
        with pytest.raises(BadRecord, match=r"a\.csv:1: expected the columns a"):
            list(rows.read_table(path, ("a",), ("a", "b")))
    path.write_bytes(b"a\n\xff\n")
    with pytest.raises(BadRecord, match="expected CSV in UTF-8"):
        list(rows.read_table(path, ("a",), ("a", "b")))


def test_photos_are_those_within(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "in/deep").mkdir(parents=True)
    for place in ("root/in/a.jpg", "root/in/deep/b#1 \u00e9.jpg", "root/top.jpg", "out.jpg"):
        (tmp_path / place).touch()
    (root / "in/link.jpg").symlink_to(root / "top.jpg")
    (root / "in/out.jpg").symlink_to(tmp_path / "out.jpg")
    (root / "in/loop").symlink_to(root)
    inside = {"in/a.jpg", "in/deep/b#1 \u00e9.jpg", "in/link.jpg"}
    assert rows.Photos(root, "in").there == inside
    assert rows.Photos(root).there == inside | {"top.jpg"}
    photos = rows.Photos(root, "in")
    assert photos.wrong(("in/a.jpg", "in/none.jpg")) == ("no_photo", "in/none.jpg")
    for place in ("../out.jpg", "/etc/passwd", "in/out.jpg", "in\\a.jpg", ""):
        assert photos.wrong((place,))[0] == "unsafe_path", place
    (root / "away").symlink_to(tmp_path)
    with pytest.raises(Refused, match="leads out of it"):
        rows.Photos(root, "away")


def test_ids_are_each_one_rows() -> None:
    names = rows.Names("s")
    assert names.of("1", ("f", 1), "x") == ("s:1", False)
    assert names.of("1", ("f", 2), "x") == ("s:1#f:2", True)
    assert names.of("1", ("f", 3), "y") == ("s:1#f:3", False)
    assert names.of("", ("f", 4), "x") == ("s:f:4", False)
    assert names.of("", ("f", 5), "x") == ("s:f:5", False)


@pytest.mark.parametrize(
    ("answer", "at"),
    [("A", 0), ("b.", 1), ("(B)", 1), ("C", None), ("AB", None), ("", None), ("\u00c4", None)],
)
def test_letters(answer: str, at: int | None) -> None:
    assert rows.letter_of(answer, ("x", "y")) == at


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=12))
def test_ids_are_the_same_where_it_is_known_which_come_again(told: list[tuple[str, int]]) -> None:
    ids = Unique()
    ids.add([own for own, _ in told])
    kept, known = rows.Names("s"), rows.Names("s", ids.doubled())
    for at, (own, what) in enumerate(told, 1):
        assert known.of(own, ("f", at), (what,)) == kept.of(own, ("f", at), (what,))
        assert known.once([own]) == ([each for each, _ in told].count(own) == 1)
        assert not kept.once([own])


def test_photos_are_looked_up_many_at_once(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.jpg").touch()
    photos = rows.Photos(tmp_path)
    there = [f"{number}.jpg" for number in range(300)]
    assert photos.all_there(there * 2)
    assert photos.all_there([])
    for other in ("300.jpg", "", "0.JPG", "./0.jpg"):
        assert not photos.all_there([*there, other])
    assert not rows.Photos(tmp_path / "none").all_there([""])
