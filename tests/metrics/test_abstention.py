"""`abstention`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("healthy", "empty", 1.0),
        ("healthy", "null", 1.0),
        ("healthy", "right", 0.0),
        ("healthy", "outside", 0.0),
        ("healthy", "prose", 0.0),
        ("healthy", "unreadable", 0.0),
        ("lesion", "right", None),
        ("lesion", "empty", None),
        ("lesion", "prose", None),
        ("lesion", "unreadable", None),
        ("object", "empty", None),
    ],
)
def test_abstention_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("abstention", (photo, words)) == pytest.approx(expected)


def test_prose_abstains_from_nothing() -> None:
    assert value(
        "abstention", ("healthy", "empty"), ("healthy", "prose"), ("lesion", "empty")
    ) == pytest.approx(0.5)
