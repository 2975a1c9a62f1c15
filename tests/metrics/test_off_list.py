"""`off_list`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "unlisted", 1.0),
        ("lesion", "right", 0.0),
        ("lesion", "first name", 0.0),
        ("lesion", "no name", 0.0),
        ("lesion", "empty", 0.0),
        ("lesion", "prose", 0.0),
        ("lesion", "unreadable", 0.0),
        ("object", "unlisted", 1.0),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_off_list_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("off_list", (photo, words)) == pytest.approx(expected)


def test_no_answer_is_not_a_name_off_the_list() -> None:
    assert value(
        "off_list", ("lesion", "unlisted"), ("lesion", "empty"), ("healthy", "unlisted")
    ) == pytest.approx(0.5)


def test_a_prompt_without_a_list_has_none() -> None:
    assert value("off_list", ("lesion", "first name"), protocol="known_target") is None
