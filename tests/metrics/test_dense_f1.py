"""`dense_f1`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("dense", "dense", 8 / 9),
        ("dense", "empty", 0.0),
        ("dense", "prose", 0.0),
        ("dense", "unreadable", 0.0),
        ("lesion", "right", None),
        ("object", "right object", None),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_dense_f1_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("dense_f1", (photo, words)) == pytest.approx(expected)


def test_photos_with_under_five_true_boxes_are_left_out() -> None:
    assert value("dense_f1", ("dense", "dense"), ("lesion", "empty")) == pytest.approx(8 / 9)
