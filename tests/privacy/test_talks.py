"""Placeholders stand for what was found, notes count it, and the gate stays shut till then."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldtruth.privacy import Finding, rules, scrub, still_personal, talks
from fieldtruth.records import Dialogue, Turn


def talk(*texts: str, title: str = "", notes: tuple[str, ...] = ()) -> Dialogue:
    turns = tuple(Turn(speaker="grower", text=text) for text in texts)
    return Dialogue(
        id="x:1", source="x", turns=turns, title=title, group="g", licence="CC0", notes=notes
    )


def test_the_words_are_replaced_and_counted_by_kind() -> None:
    made = scrub(
        talk(
            "Hi Ann, call 410-555-0134.", "I met Ann and Ann's son.",
            title="For poe@example.org", notes=("quoted mail taken out: 1 turn",),
        )
    )  # fmt: skip
    assert made.title == "For <<mail>>"
    assert [turn.text for turn in made.turns] == [
        "Hi <<name>>, call <<phone>>.", "I met <<name>> and <<name>> son.",
    ]  # fmt: skip
    assert made.notes == (
        "quoted mail taken out: 1 turn", "mail hidden: 1", "name hidden: 3", "phone hidden: 1",
    )  # fmt: skip


def test_a_word_that_is_also_written_small_is_no_name_elsewhere() -> None:
    made = scrub(talk("Hi Mark, it is rust.", "Mark the branch. I mark it, too."))
    assert [turn.text for turn in made.turns] == [
        "Hi <<name>>, it is rust.", "Mark the branch. I mark it, too.",
    ]  # fmt: skip


def test_a_plant_that_is_called_like_somebody_stays() -> None:
    made = scrub(talk("Hi Rose, it is rust.", "My Rose of Sharon and my Rose wilt."))
    assert [turn.text for turn in made.turns] == [
        "Hi <<name>>, it is rust.", "My Rose of Sharon and my Rose wilt.",
    ]  # fmt: skip


def test_the_gate_names_turn_place_and_kind_and_never_the_value() -> None:
    dialogue = talk("It is rust.", "Ask ann@example.org", title="#0147642")
    assert still_personal(dialogue) == (
        Finding(turn=-1, start=0, end=8, kind="number"),
        Finding(turn=1, start=4, end=19, kind="mail"),
    )
    assert "ann" not in repr(still_personal(dialogue))
    assert still_personal(scrub(dialogue)) == ()


PIECES = st.sampled_from(
    ["Hi Ann,", "410-555-0134", "ann@example.org", "Weld County", "It is rust.", "<<name>>",
     "Thanks, Bo Poe", "3221 Eastwick Rd.", "\n", "Dr. Poe", "#0147642", "https://x.example/?id=7",
     "39.0458, -76.6413", "Ann", "My name is Bo", "--", "9876543210", "and"]
)  # fmt: skip


@settings(deadline=None)  # the first call reads the taxonomy
@given(st.lists(st.lists(PIECES, min_size=1, max_size=6), min_size=1, max_size=3))
def test_once_scrubbed_the_gate_is_open_and_a_second_time_changes_nothing(
    pieces: list[list[str]],
) -> None:
    made = scrub(talk(*(" ".join(some) for some in pieces)))
    assert still_personal(made) == ()
    assert scrub(made) == made


def test_notes_are_read_back() -> None:
    made = scrub(scrub(talk("Hi Ann, call 410-555-0134.")))
    assert dict(talks.hidden(made.notes)) == {"name": 1, "phone": 1}


def test_somebody_else_may_look_for_names_as_well() -> None:
    class Capitals:
        def find(self, text: str) -> list[rules.Found]:
            at = text.find("Zoe")
            return [rules.Found(at, at + 3, "name")] if at >= 0 else []

        def common(self, word: str) -> bool:
            return word == "Zoe"  # so it is not looked for elsewhere

    made = scrub(talk("We met Zoe.", "She said Zoe Zoe."), Capitals())
    assert [turn.text for turn in made.turns] == ["We met <<name>>.", "She said <<name>> Zoe."]


@pytest.mark.parametrize("kind", [*rules.Kind.__args__])  # type: ignore[attr-defined]
def test_a_placeholder_is_nothing_personal(kind: str) -> None:
    assert rules.find(f"Hi <<{kind}>>, call <<{kind}>>") == []
