"""`instance_joint`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 1.0),
        ("lesion", "half right", 1.0),
        ("lesion", "outside", 0.0),
        ("lesion", "wrong name", 0.0),
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
def test_instance_joint_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("instance_joint", (photo, words)) == pytest.approx(expected)


def test_one_matched_box_is_enough() -> None:
    assert value(
        "instance_joint", ("lesion", "half right"), ("lesion", "outside")
    ) == pytest.approx(0.5)
