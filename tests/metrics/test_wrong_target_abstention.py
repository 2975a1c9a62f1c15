"""`wrong_target_abstention`: its edge table, and that nothing else speaks under that control."""

import pytest
from tests.metrics.photos import graded, measured, value

from fieldtruth.grading.bootstrap import room

WRONG = "known_target+wrong_target"


@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "empty", 1.0),
        ("lesion", "null", 1.0),
        ("object", "empty", 1.0),
        ("dense", "empty", 1.0),
        ("lesion", "right", 0.0),  # the boxes of what is there are no answer to what was asked
        ("lesion", "outside", 0.0),
        ("lesion", "prose", 0.0),
        ("lesion", "unreadable", 0.0),
    ],
)
def test_wrong_target_abstention_of_one_photo(photo: str, words: str, expected: float) -> None:
    assert value("wrong_target_abstention", (photo, words), protocol=WRONG) == expected


def test_it_is_a_share_of_the_photos_asked() -> None:
    shown = [("lesion", "empty"), ("object", "prose"), ("dense", "empty"), ("lesion", "right")]
    assert value("wrong_target_abstention", *shown, protocol=WRONG) == 0.5


@pytest.mark.parametrize("protocol", ["known_target", "candidates", "open_set", "candidates+blank"])
def test_it_speaks_of_no_other_instruction(protocol: str) -> None:
    shown = [("lesion", "empty"), ("healthy", "empty")]
    assert value("wrong_target_abstention", *shown, protocol=protocol) is None


def test_under_it_all_other_metrics_have_nothing_to_measure() -> None:
    evidence = graded(("lesion", "empty"), ("object", "right"), protocol=WRONG).evidence
    found = {name: measured(name, evidence) for name in room()}
    assert found.pop("wrong_target_abstention") == (0.5, 2)
    assert set(found.values()) == {(None, 0)}
