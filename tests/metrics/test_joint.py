"""`joint`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 1.0),
        ("lesion", "one of two", 1.0),
        ("lesion", "half right", 0.0),
        ("lesion", "wrong name", 0.0),
        ("lesion", "no name", 0.0),
        ("lesion", "empty", 0.0),
        ("lesion", "prose", 0.0),
        ("lesion", "unreadable", 0.0),
        ("object", "right object", 1.0),
        ("object", "right", 0.0),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_joint_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("joint", (photo, words)) == pytest.approx(expected)


def test_name_and_place_must_both_be_right() -> None:
    assert value("joint", ("lesion", "right"), ("lesion", "wrong name")) == pytest.approx(0.5)
