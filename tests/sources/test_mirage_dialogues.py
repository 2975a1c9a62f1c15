"""MIRAGE as talks: the real files, and what becomes of replies, prompts and photos."""

import re
from collections import Counter
from pathlib import Path

import pytest
from tests.sources.talks import mirage_dialogues

from fieldtruth.records import Dialogue, Drop
from fieldtruth.sources import mirage_dialogues as source

MIRAGE = Path(__file__).parents[3] / "shared" / "data" / "mirage"


def test_turns_in_order_the_longest_of_a_talk_and_the_reply_at_its_end(tmp_path: Path) -> None:
    release = mirage_dialogues(tmp_path / "release")
    made = {each.id: each for each in source.SOURCE.dialogues(release.root)}
    talk = made["mirage_dialogues:1"]
    assert isinstance(talk, Dialogue)
    assert [(turn.speaker, turn.text) for turn in talk.turns] == [
        ("grower", "Is it rust?"), ("expert", "Send a photo."), ("grower", "Here."),
        ("expert", "It is rust, cut it."),
    ]  # fmt: skip
    assert talk.turns[0].images == ("images/#1_0.jpg", "images/#1_1.jpg")
    assert talk.missing == ("images/#1_1.jpg",)
    assert talk.group == "ask_extension:1"
    assert talk.notes == ("quoted mail taken out: 1 turn", source.REPLY)
    same = [
        each for each in made.values() if isinstance(each, Drop) and each.reason.startswith("same")
    ]
    assert {each.detail for each in same} == {
        "mirage_dialogues:1: its beginning", "mirage_dialogues:1: the same words",
    }  # fmt: skip


def test_a_question_stands_without_the_prompt_and_the_place(tmp_path: Path) -> None:
    release = mirage_dialogues(tmp_path / "release")
    made = {each.id: each for each in source.SOURCE.dialogues(release.root)}
    talk = made["mirage_dialogues:7"]
    assert isinstance(talk, Dialogue)
    assert [turn.text for turn in talk.turns] == ["Mold?", "Yes."]
    assert (talk.place, talk.time) == ("North Carolina", "2022-09-01T07:17:00")
    assert talk.tags == ("Plant Disease Identification",)
    assert talk.images == ("sample_images/#7_0.jpg",)


def test_without_the_replies_there_are_talks_without_an_expert(tmp_path: Path) -> None:
    release = mirage_dialogues(tmp_path / "release")
    without = source.open_source({"replies": "none"})
    made = {each.id.removesuffix(":ingest"): each for each in without.dialogues(release.root)}
    talk = made["mirage_dialogues:1"]
    assert isinstance(talk, Dialogue)
    assert [turn.text for turn in talk.turns] == ["Is it rust?", "Send a photo.", "Here."]
    assert source.REPLY not in talk.notes
    question = made["mirage_dialogues:7"]
    assert isinstance(question, Drop)
    assert question.reason == "no_answer"


@pytest.mark.data
@pytest.mark.skipif(not MIRAGE.is_dir(), reason="the real rows are not at hand")
def test_the_real_files() -> None:
    made = list(source.SOURCE.dialogues(MIRAGE))
    talks = [each for each in made if isinstance(each, Dialogue)]
    assert Counter(each.reason for each in made if isinstance(each, Drop)) == {
        "same_conversation": 260
    }
    assert len(talks) == 256
    assert len({each.group for each in talks}) == 256
    photos = [image for each in talks for image in each.images if image not in each.missing]
    assert len(photos) == len(set(photos)) == 40
    assert sum(each.place is not None for each in talks) == 16
    words = "\n".join(turn.text for each in talks for turn in each.turns)
    assert not re.search(r"\bwrote:|^From:|EXTERNAL EMAIL|Sent from my|\(asked at", words, re.M)
    none = list(source.open_source({"replies": "none"}).dialogues(MIRAGE))
    assert Counter(type(each).__name__ for each in none) == {"Dialogue": 62, "Drop": 454}
