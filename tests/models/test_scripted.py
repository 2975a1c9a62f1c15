"""Replies from a table."""

from pathlib import Path

import pytest
from tests.builders import table

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.models.contract import Request, Words
from fieldtruth.models.scripted import OPEN


def ask(*names: str) -> list[Request]:
    return [Request(id=name, prompt="", images=()) for name in names]


def test_each_id_gets_its_line_verbatim(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"id": "a", "text": " [] \\n"}\n\n'
        '{"id": "b", "text": "[{", "finish": "length"}\n'
        '{"id": "c", "finish": "error", "error": "timeout"}\n'
    )
    assert list(OPEN({"table": str(path)}).reply(ask("b", "a", "c", "d"))) == [
        Words(text="[{", finish="length"),
        Words(text=" [] \n"),
        Words(text="", finish="error", error="timeout"),
        Words(text="", finish="error", error="no scripted reply for d"),
    ]


def test_it_dies_after_so_many_calls_and_stays_dead(tmp_path: Path) -> None:
    path = table(tmp_path / "t.jsonl", {"a": "[]"})
    model = OPEN({"table": str(path), "dies_after": "2"})
    first = [words.error for words in model.reply(ask("a", "a", "a"))]
    assert first == [None, None, "connection refused"]
    assert [words.finish for words in model.reply(ask("a"))] == ["error"]


def test_the_version_follows_the_replies_and_the_space_but_not_the_dying(tmp_path: Path) -> None:
    path = table(tmp_path / "t.jsonl", {"a": "[]", "b": "no"})
    turned = table(tmp_path / "turned.jsonl", {"b": "no", "a": "[]"})
    other = table(tmp_path / "other.jsonl", {"a": "[]", "b": "yes"})
    here = OPEN({"table": str(path)})
    assert here.space == "norm1000"
    assert here.version == OPEN({"table": str(turned)}).version
    assert here.version == OPEN({"table": str(path), "dies_after": "0"}).version
    assert here.version != OPEN({"table": str(other)}).version
    assert here.version != OPEN({"table": str(path), "space": "pixel"}).version


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"table": "nowhere.jsonl"},
        {"table": "t.jsonl", "space": "inches"},
        {"table": "t.jsonl", "dies_after": "-1"},
        {"table": "t.jsonl", "dies_after": "soon"},
    ],
)
def test_options_that_cannot_be_used_are_refused(options: dict[str, str], tmp_path: Path) -> None:
    table(tmp_path / "t.jsonl", {"a": "[]"})
    placed = options | {"table": str(tmp_path / options["table"])} if "table" in options else {}
    with pytest.raises(Usage, match=r"expected|needs"):
        OPEN(placed)


@pytest.mark.parametrize(
    "line",
    ['{"id": "b", "txt": "[]"}', "[]", '{"text": "[]"}', '{"id": "a"}', '{"id": "b', "\udcff"],
)
def test_a_line_that_is_no_line_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"id": "a"}\n' + line.encode("utf-8", "surrogateescape") + b"\n")
    with pytest.raises(BadRecord, match=r"t\.jsonl:2: expected"):
        OPEN({"table": str(path)})
