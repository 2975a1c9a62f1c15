"""`boxes_per_lesion_image`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 2.0),
        ("lesion", "one of two", 1.0),
        ("lesion", "outside", 1.0),
        ("lesion", "empty", 0.0),
        ("lesion", "prose", 0.0),
        ("lesion", "unreadable", 0.0),
        ("object", "right object", None),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_boxes_per_lesion_image_of_one_photo(
    photo: str, words: str, expected: float | None
) -> None:
    assert value("boxes_per_lesion_image", (photo, words)) == pytest.approx(expected)


def test_a_mean_over_lesion_photos() -> None:
    assert value(
        "boxes_per_lesion_image",
        ("lesion", "right"),
        ("dense", "dense"),
        ("object", "right object"),
    ) == pytest.approx(3.0)
