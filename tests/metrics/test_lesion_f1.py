"""`lesion_f1`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 1.0),
        ("lesion", "half right", 0.5),
        ("lesion", "empty", 0.0),
        ("lesion", "prose", 0.0),
        ("lesion", "unreadable", 0.0),
        ("dense", "dense", 8 / 9),
        ("object", "right object", None),
        ("object", "empty", None),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_lesion_f1_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("lesion_f1", (photo, words)) == pytest.approx(expected)


def test_objects_are_left_out() -> None:
    assert value("lesion_f1", ("lesion", "right"), ("object", "empty")) == pytest.approx(1.0)
