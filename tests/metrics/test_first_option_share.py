"""`first_option_share`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "first name", 1.0),
        ("lesion", "right", 0.0),
        ("lesion", "wrong name", 0.0),
        ("lesion", "unlisted", None),
        ("lesion", "no name", None),
        ("lesion", "empty", None),
        ("lesion", "prose", None),
        ("lesion", "unreadable", None),
        ("object", "first name", 1.0),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_first_option_share_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("first_option_share", (photo, words)) == pytest.approx(expected)


def test_only_answers_on_the_list_count() -> None:
    assert value(
        "first_option_share",
        ("lesion", "first name"),
        ("lesion", "right"),
        ("lesion", "unlisted"),
        ("healthy", "first name"),
    ) == pytest.approx(0.5)


def test_a_prompt_without_a_list_has_none() -> None:
    assert value("first_option_share", ("lesion", "first name"), protocol="known_target") is None
