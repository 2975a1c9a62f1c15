"""`sparse_f1`: its edge table, and how photos add up."""

import pytest
from tests.metrics.photos import value


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 1.0),
        ("lesion", "empty", 0.0),
        ("lesion", "prose", 0.0),
        ("lesion", "unreadable", 0.0),
        ("object", "right object", 1.0),
        ("object", "empty", 0.0),
        ("dense", "dense", None),
        ("healthy", "right", None),
        ("healthy", "empty", None),
        ("healthy", "prose", None),
        ("healthy", "unreadable", None),
    ],
)
def test_sparse_f1_of_one_photo(photo: str, words: str, expected: float | None) -> None:
    assert value("sparse_f1", (photo, words)) == pytest.approx(expected)


def test_dense_lesion_photos_are_left_out() -> None:
    assert value(
        "sparse_f1", ("dense", "empty"), ("lesion", "right"), ("object", "right object")
    ) == pytest.approx(1.0)
