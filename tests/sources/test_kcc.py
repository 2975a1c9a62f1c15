"""Kisan Call Centre: a call is two turns; the state is kept, and the labels that say something."""

from pathlib import Path

import pytest
from tests.sources.talks import kcc

from fieldtruth.faults import BadRecord
from fieldtruth.privacy import scrub
from fieldtruth.records import Dialogue, Turn
from fieldtruth.sources.kcc import SOURCE

HEAD = "StateName,QueryText,KccAns"


def test_a_call(tmp_path: Path) -> None:
    made = {each.id: each for each in SOURCE.dialogues(kcc(tmp_path / "release").root)}
    call = made["kcc:a:row 1"]
    assert isinstance(call, Dialogue)
    assert [(turn.speaker, turn.text) for turn in call.turns] == [
        ("grower", "Rust in wheat?"), ("expert", "Spray PROPICONAZOLE 25 EC 200 ml per acre."),
    ]  # fmt: skip
    assert (call.place, call.time) == ("Uttar Pradesh", "2016-02-07T11:23:50")
    assert call.tags == ("RABI", "AGRICULTURE", "Wheat", "Plant Protection")
    assert call.images == ()
    hindi = made["kcc:b:row 1"]
    assert isinstance(hindi, Dialogue)
    assert hindi.turns[1].text == "छिड़काव करें"


@pytest.mark.parametrize("number", ["9726633777", "079-23257758", "02716-231911", "+91 9726633777"])
def test_telephone_numbers_of_answers_are_hidden(number: str) -> None:
    turn = Turn(speaker="expert", text=f"Capital Nursury Gandhinagar {number}")
    call = Dialogue(id="kcc:1", source="kcc", turns=(turn,), group="g", licence="GODL-India")
    assert scrub(call).turns[0].text == "Capital Nursury Gandhinagar <<phone>>"


def test_a_table_without_answers_is_another_one(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("StateName,QueryText\nDELHI,Rust?\n")
    with pytest.raises(BadRecord, match="KccAns"):
        list(SOURCE.dialogues(tmp_path))
    (tmp_path / "a.csv").unlink()
    (tmp_path / "a.json").write_text('{"records": [{"QueryText": "Rust?", "Farmer": "Poe"}]}')
    with pytest.raises(BadRecord, match="Farmer"):
        list(SOURCE.dialogues(tmp_path))


@pytest.mark.parametrize("answer", ["", "NA", "0", "-", "null"])
def test_what_says_nothing_is_no_answer(tmp_path: Path, answer: str) -> None:
    (tmp_path / "a.csv").write_text(f"{HEAD}\nDELHI,Rust?,{answer}\n")
    (made,) = SOURCE.dialogues(tmp_path)
    assert not isinstance(made, Dialogue)
    assert made.reason == "no_answer"
