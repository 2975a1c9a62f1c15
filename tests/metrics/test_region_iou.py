"""`region_iou`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 1.0),
        ("lesion", "one of two", 0.5),
        ("lesion", "loose", 0.8),
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
def test_region_iou_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("region_iou", (photo, words)) == pytest.approx(expected)


def test_a_positive_photo_without_boxes_is_0() -> None:
    assert value(
        "region_iou", ("lesion", "right"), ("lesion", "prose"), ("healthy", "right")
    ) == pytest.approx(0.5)
