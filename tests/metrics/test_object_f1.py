"""`object_f1`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("object", "right object", 1.0),
        ("object", "right", 0.0),
        ("object", "empty", 0.0),
        ("object", "prose", 0.0),
        ("object", "unreadable", 0.0),
        ("lesion", "right", None),
        ("lesion", "empty", None),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_object_f1_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("object_f1", (photo, words)) == pytest.approx(expected)


def test_lesions_are_left_out() -> None:
    assert value("object_f1", ("object", "right object"), ("lesion", "empty")) == pytest.approx(1.0)
