"""Turns are cleaned, none is empty or said twice, no photo is lost; places and times are coarse."""

import pytest

from fieldtruth.dialogues import moment, settled, state_of
from fieldtruth.records import Turn

QUOTE = "On Tue, Jun 18, 2024, 12:37 PM Ask Extension <<mail>> wrote:"


def said(speaker: str, text: str, *images: str) -> Turn:
    assert speaker in ("grower", "expert")
    return Turn(speaker="grower" if speaker == "grower" else "expert", text=text, images=images)


def test_turns_of_nothing_and_turns_said_twice_go_and_their_photos_stay() -> None:
    turns, notes = settled(
        [
            said("grower", QUOTE, "a.jpg"),
            said("grower", "Is it rust?", "b.jpg"),
            said("grower", f"Is it rust? {QUOTE}", "c.jpg", "b.jpg"),
            said("expert", "Is it rust?"),
            said("expert", "", "d.jpg"),
        ]
    )
    assert [(turn.speaker, turn.text, turn.images) for turn in turns] == [
        ("grower", "Is it rust?", ("a.jpg", "b.jpg", "c.jpg")),
        ("expert", "Is it rust?", ("d.jpg",)),
    ]
    assert notes == (
        "nothing said: 2 turns", "quoted mail taken out: 2 turns", "said twice: 1 turn",
    )  # fmt: skip


def test_a_clean_talk_has_no_notes() -> None:
    turns = (said("grower", "Is it rust?"), said("expert", "It is."))
    assert settled(turns) == (turns, ())


@pytest.mark.parametrize(
    ("place", "state"),
    [
        ("North Carolina", "North Carolina"), ("Guilford County, North Carolina", "North Carolina"),
        ("MADHYA  PRADESH", "Madhya Pradesh"), ("DELHI", "Delhi"), ("MN", "MN"), ("", None),
        (None, None), ("Guilford County", None), ("27403", None), ("5 Elm St", None),
        ("a@b.example", None), ("x" * 60, None), ("Nagar, Delhi 110001", None),
    ],
)  # fmt: skip
def test_of_a_place_the_state_is_kept(place: str | None, state: str | None) -> None:
    assert state_of(place) == state


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2022-09-01 07:17:00", "2022-09-01T07:17:00"), ("2022-09-01", "2022-09-01T00:00:00"),
        ("2016-02-07T11:23:50.77", "2016-02-07T11:23:50"), ("06/19/2024", "2024-06-19T00:00:00"),
        ("30-01-2017 12:05", "2017-01-30T12:05:00"), ("Jun 19, 2024", "2024-06-19T00:00:00"),
        ("2024-13-01", None), ("yesterday", None), ("", None), (None, None), (20240101, None),
        ("9" * 5_000, None),
    ],
)  # fmt: skip
def test_a_moment_is_iso_or_none(text: object, time: str | None) -> None:
    assert moment(text) == time
