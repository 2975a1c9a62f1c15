"""`open_strict` and `open_lenient`: names given without a list, and what counts as the true one."""

import pytest
from tests.metrics.photos import LESION, measured, photo, reply, said, value

from fieldtruth.grading import grade

BOTH = pytest.mark.parametrize("metric", ["open_strict", "open_lenient"])


@pytest.mark.parametrize(
    ("name", "truth", "strict", "lenient"),
    [
        ("rust", "rust", 1.0, 1.0),
        ("Rust.", "rust", 1.0, 1.0),
        ("powder mildew", "Powdery-Mildew", 1.0, 1.0),
        ("late blight of potato", "late blight", 0.0, 1.0),
        ("potato late blight", "late blight", 0.0, 1.0),
        ("tomato late blight", "late blight", 0.0, 1.0),
        ("blight", "late blight", 0.0, 1.0),
        ("late blight", "blight", 0.0, 1.0),
        ("potato blight", "late blight of potato", 0.0, 1.0),
        ("rot", "carrot weevil", 0.0, 0.0),
        ("carrot weevil", "rot", 0.0, 0.0),
        ("ant", "anthracnose", 0.0, 0.0),
        ("potato", "late blight", 0.0, 0.0),
        ("potato", "potato scab", 0.0, 0.0),
        ("leaf", "leaf rust", 0.0, 0.0),
        ("disease", "leaf disease of potato", 0.0, 0.0),
        ("blight late", "late blight", 0.0, 0.0),
        ("scab", "rust", 0.0, 0.0),
        ("", "rust", 0.0, 0.0),
    ],
)
def test_one_name(name: str, truth: str, strict: float, lenient: float) -> None:
    item = photo("lesion", label=truth, crop="potato")
    rows = [reply(item, said(LESION, name), protocol="open_set")]
    evidence = grade([item], rows, "open_set").evidence
    assert measured("open_strict", evidence) == (strict, 1)
    assert measured("open_lenient", evidence) == (lenient, 1)


@BOTH
@pytest.mark.parametrize(
    ("photo", "words", "expected"),
    [
        ("lesion", "right", 1.0),
        ("object", "right", 1.0),  # the name is right, wherever the boxes are
        ("lesion", "wrong name", 0.0),
        ("lesion", "no name", 0.0),
        ("lesion", "empty", 0.0),
        ("lesion", "prose", 0.0),
        ("lesion", "unreadable", 0.0),
        ("healthy", "right", None),
        ("healthy", "empty", None),
    ],
)
def test_one_photo(metric: str, photo: str, words: str, expected: float | None) -> None:
    assert value(metric, (photo, words), protocol="open_set") == expected


@BOTH
def test_photos_add_up(metric: str) -> None:
    shown = [("lesion", "right"), ("dense", "empty"), ("object", "unlisted"), ("healthy", "right")]
    assert value(metric, *shown, protocol="open_set") == pytest.approx(1 / 3)


@BOTH
@pytest.mark.parametrize("protocol", ["known_target", "candidates", "known_target+wrong_target"])
def test_where_a_name_was_given_there_is_nothing_to_measure(metric: str, protocol: str) -> None:
    assert value(metric, ("lesion", "right"), protocol=protocol) is None
