"""`f1`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 1.0),
        ("lesion", "half right", 0.5),
        ("lesion", "one of two", 2 / 3),
        ("lesion", "loose", 1.0),
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
def test_f1_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("f1", (photo, words)) == pytest.approx(expected)


def test_counts_are_pooled_over_positives_only() -> None:
    assert value(
        "f1", ("lesion", "right"), ("object", "empty"), ("healthy", "right")
    ) == pytest.approx(4 / 5)
