"""`region_iou_answered`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 1.0),
        ("lesion", "one of two", 0.5),
        ("lesion", "outside", 0.0),
        ("lesion", "empty", None),
        ("lesion", "prose", None),
        ("lesion", "unreadable", None),
        ("object", "right object", 1.0),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_region_iou_answered_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("region_iou_answered", (photo, words)) == pytest.approx(expected)


def test_photos_without_boxes_are_left_out() -> None:
    assert value(
        "region_iou_answered", ("lesion", "right"), ("lesion", "prose"), ("lesion", "one of two")
    ) == pytest.approx(0.75)
