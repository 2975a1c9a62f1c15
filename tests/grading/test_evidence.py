"""From words to readings to arrays: what is counted, what is left unmeasured, what is an answer."""

from typing import get_args

import numpy as np
import pytest
from tests.metrics.photos import LESION, graded, photo, reply, said

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.geometry import Rule
from fieldtruth.grading.evidence import OUTCOMES, answer, grade, resolve
from fieldtruth.records import Item, Prediction
from fieldtruth.taxonomy import label_id

ITEMS = [photo("lesion", 0), photo("object", 1), photo("healthy", 2), photo("lesion", 3)]


def outcomes(items: list[Item], rows: list[Prediction]) -> dict[str, int]:
    """The counts that are not 0."""
    found = grade(items, rows, "candidates").outcomes
    assert tuple(found) == OUTCOMES
    return {name: count for name, count in found.items() if count}


def test_every_outcome_is_counted_once() -> None:
    rows = [
        reply(ITEMS[0], "right"),
        reply(ITEMS[1], "prose", finish="length"),
        reply(ITEMS[2], "empty"),
        reply(ITEMS[3], "unreadable"),
    ]
    assert outcomes(ITEMS, rows) == {
        "boxes": 1, "prose": 1, "empty": 1, "unreadable": 1, "truncated": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "failed", [{"error": "timed out"}, {"finish": "error"}, {"error": "", "space": None}]
)
def test_a_failed_call_is_an_error_and_never_an_abstention(failed: dict[str, str]) -> None:
    rows = [reply(ITEMS[2], "empty", **failed), reply(ITEMS[0], "right")]
    found = grade(ITEMS, rows, "candidates")
    assert (found.outcomes["error"], found.outcomes["missing"], found.outcomes["empty"]) == (
        1, 2, 0,
    )  # fmt: skip
    assert [item.id for item in found.items] == ["photo-000"]
    assert found.evidence.empty.tolist() == [False]
    assert found.asked == 4


def test_the_first_of_several_rows_is_used_and_the_rest_are_counted() -> None:
    rows = [reply(ITEMS[2], "empty"), reply(ITEMS[2], "right"), reply(ITEMS[2], "empty")]
    found = grade(ITEMS[2:3], rows, "candidates")
    assert found.outcomes["duplicate"] == 2
    assert found.evidence.empty.tolist() == [True]


def test_rows_for_unknown_items_are_extra_and_not_measured() -> None:
    rows = [reply(ITEMS[0], "right"), reply(photo("lesion", 9), "right")]
    assert outcomes(ITEMS[:1], rows) == {"boxes": 1, "extra": 1}


def test_items_a_protocol_does_not_suit_are_not_missing() -> None:
    plain = photo("healthy", 5, candidates=None)
    assert outcomes([ITEMS[0], plain], [reply(ITEMS[0], "right")]) == {"boxes": 1}
    both = [reply(ITEMS[0], "right"), reply(plain, "empty")]
    assert outcomes([ITEMS[0], plain], both) == {"boxes": 1, "empty": 1}


def test_rows_stand_by_id_whatever_order_they_came_in() -> None:
    rows = [reply(item, "right") for item in reversed(ITEMS)]
    found = grade(reversed(ITEMS), rows, "candidates")
    assert [item.id for item in found.items] == [item.id for item in ITEMS]
    assert len(found.readings) == len(found.said) == len(found.answers) == 4
    assert found.evidence.healthy.tolist() == [False, False, True, False]


def test_boxes_are_meant_in_the_space_their_row_declares() -> None:
    item = photo("lesion", 0, width=200, height=50, boxes=[(20, 10, 100, 40)])
    for space, written in (
        ("pixel", [20, 10, 100, 40]),
        ("norm1000", [100, 200, 500, 800]),
        ("yx1000", [200, 100, 800, 500]),
        ("norm1", [0.1, 0.2, 0.5, 0.8]),
    ):
        found = grade([item], [reply(item, said([written]), space=space)], "candidates")
        assert found.said[0] == pytest.approx(np.array([[20, 10, 100, 40]])), space
        assert found.evidence.region_iou[0] == pytest.approx(1)


def test_boxes_are_put_in_order_and_clipped_and_none_is_forgotten() -> None:
    words = said([(30, 30, 10, 10), (90, 90, 300, 300), (200, 200, 300, 300)])
    found = grade(ITEMS[:1], [reply(ITEMS[0], words)], "candidates")
    assert found.said[0].tolist() == [
        [10, 10, 30, 30], [90, 90, 100, 100], [100, 100, 100, 100],
    ]  # fmt: skip
    assert found.evidence.said_boxes.tolist() == [3]
    assert found.evidence.hits.tolist() == [1]


def test_a_row_without_a_space_says_which() -> None:
    with pytest.raises(BadRecord, match=r"item photo-000 under candidates.*got null"):
        grade(ITEMS, [reply(ITEMS[0], "right", space=None)], "candidates")


def test_unknown_protocols_and_controls_are_named() -> None:
    with pytest.raises(Usage, match=r"'known'; it has: .*known_target"):
        grade(ITEMS, [reply(ITEMS[0], "right")], "known")
    with pytest.raises(Usage, match=r"controls has no 'bank'; it has: blank, rotate1, "):
        grade(ITEMS, [reply(ITEMS[0], "right")], "candidates+bank")


def test_one_model_at_a_time() -> None:
    rows = [reply(ITEMS[0], "right"), reply(ITEMS[1], "right", model="two")]
    with pytest.raises(Usage, match=r"\['one', 'two'\]"):
        grade(ITEMS, rows, "candidates")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([], None),
        (["", ""], None),
        (["rust"], "rust"),
        (["rust", "scab", "scab"], "scab"),
        (["rust", "scab", "scab", "rust"], "rust"),  # a tie goes to the first given
        (["scab", "Early-Blight", "early blight", ""], "early blight"),  # one thing, two spellings
        (["", "", "rust"], "rust"),
    ],
)
def test_the_answer_is_the_majority(labels: list[str], expected: str | None) -> None:
    assert answer(labels, ()) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("This is rust, certainly.", None),
        ('It is rust: [{"bbox_2d": [10, 10, 30, 30]}]', None),
        ('Trust me: [{"bbox_2d": [10, 10, 30, 30]}]', None),
        ("The whole leaf was looked at, side by side. " * 12 + said(LESION), "rust"),
    ],
)
def test_a_name_is_that_of_a_box_however_late_and_never_one_in_the_prose(
    words: str, expected: str | None
) -> None:
    found = grade(ITEMS[:1], [reply(ITEMS[0], words)], "candidates")
    assert found.answers == [expected]
    assert found.evidence.correct.tolist() == [expected == "rust"]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("2", "leaf rust"),
        ("2.", "leaf rust"),
        ("(2)", "leaf rust"),
        ("[2] leaf rust", "leaf rust"),
        ("2. Leaf Rust", "leaf rust"),
        ("option 2: leaf rust", "leaf rust"),
        ("Leaf-Rust", "leaf rust"),
        ("2. scab", "scab"),  # the name, not its number
        ("2. wilt", "2 wilt"),
        ("0", "0"),
        ("5", "5"),
        ("22", "22"),
        ("2,4-D injury", "2,4-D injury"),
        ("wilt", "wilt"),
    ],
)
def test_a_number_stands_for_the_candidate(label: str, expected: str) -> None:
    shown = ("blight", "Leaf rust", "mold", "scab")
    assert resolve(label, shown) == label_id(expected)
    assert resolve(label, ()) == label_id(label)


def test_numbers_name_a_candidate_only_where_a_list_was_shown() -> None:
    for protocol, right in (("candidates", True), ("known_target", False)):
        rows = [reply(ITEMS[0], said(LESION, "2"), protocol=protocol)]
        found = grade(ITEMS[:1], rows, protocol).evidence
        assert found.correct.tolist() == [right]
        assert found.listed.tolist() == [right]


def test_a_healthy_photo_is_never_named_rightly() -> None:
    found = graded(("healthy", "right")).evidence
    assert (found.named[0], found.correct[0], found.in_list[0]) == (True, False, True)


def test_grading_nothing_but_failures_leaves_nothing_measured() -> None:
    found = grade(ITEMS[:1], [reply(ITEMS[0], "", error="gone")], "candidates")
    assert found.items == []
    assert found.evidence.healthy.shape == found.evidence.region_iou.shape == (0,)


def test_exactly_half_a_region_is_half_in_every_box_space() -> None:
    """200 px wide, 5 of `norm1000` a pixel: the left 71 of 142 columns were said."""
    truth = ((26, 115, 168, 163),)
    item = photo("lesion", boxes=truth, width=200, height=200)
    for space, box in (("pixel", (26, 115, 97, 163)), ("norm1000", (130, 575, 485, 815))):
        found = grade([item], [reply(item, said([box]), space=space)], "candidates")
        assert found.evidence.region_iou.tolist() == [0.5], space
        for rule in get_args(Rule):
            rows = [reply(item, said([box]), space=space)]
            found = grade([item], rows, "candidates", matching=rule)
            assert found.evidence.hits.tolist() == [1], (space, rule)
