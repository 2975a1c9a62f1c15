"""Ask Extension's nested rows: who speaks, the order of photos, what is mended and what is not."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sources.talks import ask_extension

from fieldtruth.records import Dialogue, Drop
from fieldtruth.sources.ask_extension import SOURCE


def made(root: Path) -> dict[str, Dialogue | Drop]:
    return {each.id: each for each in SOURCE.dialogues(root)}


def one(folder: Path, text: str) -> list[Dialogue | Drop]:
    (folder / "rows.json").write_text(text)
    return list(SOURCE.dialogues(folder))


def test_who_speaks_and_in_what_order(tmp_path: Path) -> None:
    rows = made(ask_extension(tmp_path / "release").root)
    talk = rows["ask_extension:12"]
    assert isinstance(talk, Dialogue)
    assert [(turn.speaker, turn.text) for turn in talk.turns] == [
        ("grower", "It has spots."), ("expert", "It is rust.\n\nckc"), ("grower", "Cut it?"),
        ("expert", "Yes."),
    ]  # fmt: skip
    assert talk.title == "Rust?"
    assert (talk.place, talk.time, talk.tags) == ("Maryland", "2018-07-12T11:00:10", ("shrubs",))
    assert talk.notes == ("HTML taken out: 2 turns", "signature taken out: 1 turn")


def test_photos_keep_the_order_in_which_they_were_sent(tmp_path: Path) -> None:
    rows = made(ask_extension(tmp_path / "release").root)
    talk = rows["ask_extension:11"]
    assert isinstance(talk, Dialogue)
    assert talk.images == ("photos/11-1.jpg", "images/11-2.jpg")
    assert talk.missing == ("images/11-2.jpg",)
    assert [turn.images for turn in talk.turns] == [talk.images, ()]


def test_what_was_mended_is_noted(tmp_path: Path) -> None:
    rows = made(ask_extension(tmp_path / "release").root)
    notes = {
        name: [note for note in each.notes if note.startswith("mended")]
        for name, each in rows.items()
        if isinstance(each, Dialogue)
    }
    assert notes == {
        "ask_extension:11": [], "ask_extension:12": [], "ask_extension:18": [],
        "ask_extension:13": ["mended: JSON in a text"],
        "ask_extension:19": ["mended: a comma too many"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "native", ["../../etc", "", "a b", "x" * 65, "1/2", "<b>", "1\n2"], ids=repr
)
def test_a_number_that_is_none_costs_its_row(tmp_path: Path, native: str) -> None:
    row: dict[str, Any] = {"faq-id": native, "question": "Rust?", "answer": "Yes."}
    (drop,) = one(tmp_path, json.dumps([row]))
    assert isinstance(drop, Drop)
    assert drop.reason == "bad_row"


@pytest.mark.parametrize(
    "answer", [None, {}, [], [{}], {"1": {"response": None}}, [[]], "", 0, [{"response": 5}]]
)
def test_an_answer_that_is_none_is_a_drop(tmp_path: Path, answer: object) -> None:
    (drop,) = one(tmp_path, json.dumps([{"faq-id": 1, "question": "Rust?", "answer": answer}]))
    assert isinstance(drop, Drop)
    assert drop.reason in ("no_answer", "bad_row")


@pytest.mark.parametrize(
    "raw", ["[]", "{}", "[[1]]", "[1]", '{"faq-id": 1', '[{"faq-id": ' + "[" * 2_000], ids=repr
)
def test_hostile_files_are_drops_or_faults(tmp_path: Path, raw: str) -> None:
    from fieldtruth.faults import Fault

    try:
        rows = one(tmp_path, raw)
    except Fault:
        return
    assert all(isinstance(row, Drop) for row in rows)
