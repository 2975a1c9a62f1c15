"""`recall`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 1.0),
        ("lesion", "half right", 0.5),
        ("lesion", "one of two", 0.5),
        ("lesion", "outside", 0.0),
        ("lesion", "empty", 0.0),
        ("lesion", "prose", 0.0),
        ("lesion", "unreadable", 0.0),
        ("object", "right object", 1.0),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_recall_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("recall", (photo, words)) == pytest.approx(expected)


def test_counts_are_pooled() -> None:
    assert value("recall", ("lesion", "right"), ("object", "empty")) == pytest.approx(2 / 3)
