"""`false_abstention`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "empty", 1.0),
        ("lesion", "null", 1.0),
        ("lesion", "right", 0.0),
        ("lesion", "outside", 0.0),
        ("lesion", "prose", 0.0),
        ("lesion", "unreadable", 0.0),
        ("object", "empty", 1.0),
        ("healthy", "empty", None),
        ("healthy", "right", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_false_abstention_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("false_abstention", (photo, words)) == pytest.approx(expected)


def test_prose_abstains_from_nothing() -> None:
    assert value(
        "false_abstention", ("lesion", "empty"), ("lesion", "prose"), ("healthy", "empty")
    ) == pytest.approx(0.5)
