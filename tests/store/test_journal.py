"""Work that is killed goes on where it was, and not under other settings."""

from operator import attrgetter
from pathlib import Path

import pytest

from fieldtruth import store
from fieldtruth.faults import BadRecord, Busy, Usage
from fieldtruth.records import Prediction

MADE_WITH = {"model": "colour 1", "benchmark": "abc"}


def reply(item: str, text: str = "[]") -> Prediction:
    return Prediction(item=item, protocol="known_target", model="m", text=text)


def opened(path: Path, made_with: dict[str, str] | None = None) -> store.Journal[Prediction]:
    return store.Journal(path, Prediction, made_with or MADE_WITH, key=attrgetter("item"))


def begin(path: Path, *items: str) -> Path:
    with opened(path) as journal:
        for item in items:
            journal.append(reply(item, f"\u00e4\n{item}"))
    return path.with_name(path.name + ".journal")


def test_finished_in_the_order_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    begin(path, "c", "a")
    assert not path.exists()
    with opened(path) as journal:
        assert journal.note is None
        assert ("a" in journal, "b" in journal, len(journal)) == (True, False, 2)
        journal.append(reply("b"))
        assert [record.item for record in journal.done()] == ["c", "a", "b"]
        assert journal.finish(["a", "b", "c"]) == 3
    assert [r.item for r in store.read(path, Prediction)] == ["a", "b", "c"]
    assert list(tmp_path.iterdir()) == [path]


def test_of_one_key_the_last_record_counts(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    begin(path, "a", "b")
    with opened(path) as journal:
        journal.append(reply("a", "again"))
        assert [record.item for record in journal.done()] == ["b", "a"]
        assert journal.finish(["a", "b"]) == 2
    assert [r.text for r in store.read(path, Prediction)] == ["again", "\u00e4\nb"]


def test_a_last_line_broken_off_at_any_byte_costs_only_that_record(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    whole = begin(path, "a", "b", "c").read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for end in range(last, len(whole)):
        journal_file = tmp_path / "replies.jsonl.journal"
        journal_file.write_bytes(whole[:end])
        with opened(path) as journal:
            kept = ["a", "b"] + ["c"] * (end == len(whole) - 1)  # only its line end is lost
            assert [record.item for record in journal.done()] == kept
            assert (journal.note is None) == (end in (last, len(whole) - 1))
            if "c" not in journal:
                journal.append(reply("c", "\u00e4\nc"))
        assert journal_file.read_bytes() == whole


def test_a_first_line_broken_off_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    first = begin(path).read_bytes()
    for end in range(len(first)):
        (tmp_path / "replies.jsonl.journal").write_bytes(first[:end])
        with opened(path) as journal:
            assert len(journal) == 0
        assert (tmp_path / "replies.jsonl.journal").read_bytes() == first


def test_a_broken_line_that_is_not_the_last_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    journal = begin(path, "a", "b")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + lines[1][:20] + b"\n" + lines[2])
    with (
        pytest.raises(BadRecord, match=r"journal:2 \(id 'a'\): expected one JSON object"),
        opened(path),
    ):
        pass


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({**MADE_WITH, "model": "colour 2"}, "model: begun with 'colour 1', now 'colour 2'"),
        ({"model": "colour 1"}, "benchmark: begun with 'abc', now None"),
        ({**MADE_WITH, "seed": "1"}, "seed: begun with None, now '1'"),
    ],
)
def test_other_settings_are_refused_and_nothing_is_lost(
    tmp_path: Path, now: dict[str, str], told: str
) -> None:
    path = tmp_path / "replies.jsonl"
    journal = begin(path, "a")
    before = journal.read_bytes()
    with pytest.raises(Usage, match=told), opened(path, now):
        pass
    assert journal.read_bytes() == before
    with opened(path) as again:
        assert "a" in again


def test_a_second_one_at_work_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    with (
        opened(path),
        pytest.raises(Busy, match=r"replies\.jsonl: expected no other"),
        opened(path),
    ):
        pass


@pytest.mark.parametrize("order", [["a"], ["a", "b", "c"], ["a", "b", "b"]])
def test_an_order_that_is_not_of_its_records_writes_nothing(
    tmp_path: Path, order: list[str]
) -> None:
    path = tmp_path / "replies.jsonl"
    begin(path, "a", "b")
    with opened(path) as journal, pytest.raises(ValueError, match="done"):
        journal.finish(order)
    assert not path.exists()
    with opened(path) as journal:
        assert len(journal) == 2
