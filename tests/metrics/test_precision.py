"""`precision`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 1.0),
        ("lesion", "half right", 0.5),
        ("lesion", "one of two", 1.0),
        ("lesion", "outside", 0.0),
        ("lesion", "empty", None),
        ("lesion", "prose", None),
        ("lesion", "unreadable", None),
        ("object", "right object", 1.0),
        ("object", "right", 0.0),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_precision_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("precision", (photo, words)) == pytest.approx(expected)


def test_counts_are_pooled_and_boxes_on_healthy_photos_cost_nothing_here() -> None:
    assert value(
        "precision", ("lesion", "right"), ("lesion", "outside"), ("healthy", "right")
    ) == pytest.approx(2 / 3)


def test_an_empty_reply_adds_no_predicted_box() -> None:
    assert value("precision", ("lesion", "half right"), ("lesion", "empty")) == pytest.approx(0.5)
