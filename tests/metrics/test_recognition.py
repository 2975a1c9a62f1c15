"""`recognition`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 1.0),
        ("lesion", "outside", 1.0),
        ("lesion", "wrong name", 0.0),
        ("lesion", "no name", 0.0),
        ("lesion", "unlisted", 0.0),
        ("lesion", "empty", 0.0),
        ("lesion", "prose", 0.0),
        ("lesion", "unreadable", 0.0),
        ("object", "right", 1.0),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_recognition_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("recognition", (photo, words)) == pytest.approx(expected)


def test_prose_has_no_name_and_healthy_photos_do_not_count() -> None:
    assert value(
        "recognition", ("lesion", "right"), ("lesion", "prose"), ("healthy", "right")
    ) == pytest.approx(0.5)
