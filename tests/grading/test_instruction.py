"""Replies under a control: whose truth they are held against, who is asked, what is beside."""

import pytest
from tests.metrics.photos import LESION, graded, measured, photo, reply, said

from fieldtruth.faults import Usage
from fieldtruth.grading import grade, open_protocol
from fieldtruth.grading.published import published
from fieldtruth.records import Item, Prediction

WRONG = "known_target+wrong_target"
ITEMS = [photo("lesion", 0), photo("healthy", 1), photo("object", 2, absent_query=None)]


def rows(protocol: str, items: list[Item], words: str = "empty") -> list[Prediction]:
    return [reply(item, words, protocol=protocol) for item in items]


def test_an_instruction_is_a_protocol_with_or_without_a_control() -> None:
    alone, both = open_protocol("candidates"), open_protocol("candidates+blank")
    assert alone.control is None
    assert both.control is not None
    assert alone.protocol is both.protocol
    assert (alone.changes_photo, both.changes_photo) == (False, True)
    with pytest.raises(Usage, match=r"protocols has no 'guess'"):
        open_protocol("guess+blank")
    for odd in ("candidates+", "candidates+blank+shuffle", "candidates+contract"):
        with pytest.raises(Usage, match=r"controls has no '"):
            open_protocol(odd)


def test_items_that_a_control_cannot_ask_are_not_missing() -> None:
    found = grade(ITEMS, rows(WRONG, ITEMS[:1]), WRONG)
    assert (found.asked, found.outcomes["missing"], found.outcomes["empty"]) == (1, 0, 1)
    assert [item.query for item in found.items] == ["wilt"]


def test_rows_beside_a_control_are_extra_and_measure_nothing() -> None:
    found = grade(ITEMS, rows(WRONG, [*ITEMS, photo("lesion", 9)]), WRONG)
    assert (found.outcomes["extra"], found.beside) == (3, 2)
    assert [item.id for item in found.items] == ["photo-000"]
    assert measured("wrong_target_abstention", found.evidence) == (1.0, 1)


def test_a_control_that_nothing_can_be_asked_under_is_said() -> None:
    for protocol in ("known_target+rotate1", "candidates+wrong_target"):
        with pytest.raises(Usage, match="expected items that can be asked this way, got none"):
            grade(ITEMS, rows(protocol, ITEMS), protocol)
    with pytest.raises(Usage, match="got none"):
        grade(ITEMS[1:], rows(WRONG, ITEMS[1:]), WRONG)


@pytest.mark.parametrize(
    ("answered", "asked", "missing"), [([0, 2], 2, 0), ([0, 1, 2], 3, 0), ([0], 2, 1), ([1], 3, 2)]
)
def test_a_control_may_be_asked_of_positives_only(
    answered: list[int], asked: int, missing: int
) -> None:
    some = [ITEMS[n] for n in answered]
    found = grade(ITEMS, rows("candidates+blank", some), "candidates+blank")
    assert (found.asked, found.outcomes["missing"]) == (asked, missing)
    whole = grade(ITEMS, rows("candidates", some), "candidates")
    assert whole.outcomes["missing"] == 3 - len(some)


def test_a_failed_call_abstains_under_no_control() -> None:
    row = reply(ITEMS[0], "empty", protocol=WRONG, error="gone")
    found = grade(ITEMS, [row], WRONG)
    assert (found.outcomes["error"], found.outcomes["empty"]) == (1, 0)
    assert measured("wrong_target_abstention", found.evidence) == (None, 0)


def test_the_first_name_is_that_of_the_list_as_it_was_shown() -> None:
    # blight, rust, mold, scab
    for by, first in enumerate(("blight", "rust", "mold", "scab")):
        protocol = "candidates" + (f"+rotate{by}" if by else "")
        for name in ("blight", "rust", "mold", "scab"):
            item = photo("lesion")
            found = grade([item], [reply(item, said(LESION, name), protocol=protocol)], protocol)
            assert measured("first_option_share", found.evidence) == (float(name == first), 1)
            assert measured("recognition", found.evidence) == (float(name == "rust"), 1)
            (panel,) = (published([item], rows(protocol, [item], said(LESION, name)), protocol),)
            assert panel.over.any()


def test_a_number_points_at_the_list_as_it_was_shown() -> None:
    item = photo("lesion")
    right = {"candidates": "2", "candidates+rotate1": "1", "candidates+rotate3": "3. "}
    for protocol, number in right.items():
        found = grade([item], [reply(item, said(LESION, number), protocol=protocol)], protocol)
        assert found.answers == ["rust"]


def test_a_blank_photo_is_held_against_the_truth_that_was_taken_away() -> None:
    shown = [
        ("lesion", "right"),
        ("lesion", "empty"),
        ("healthy", "empty"),
        ("object", "first name"),
    ]
    found = graded(*shown, protocol="candidates+blank").evidence
    assert measured("recognition", found) == (1 / 3, 3)
    assert measured("false_abstention", found) == (1 / 3, 3)
    assert measured("abstention", found) == (1.0, 1)


def test_the_published_way_takes_a_failed_call_for_an_abstention_here_too() -> None:
    failed = [reply(ITEMS[0], "", protocol=WRONG, error="gone")]
    naive, ours = published(ITEMS, failed, WRONG), grade(ITEMS, failed, WRONG)
    assert (naive.ids, len(ours.items)) == (("photo-000",), 0)


def test_the_published_lenient_rule_is_letters_and_ours_is_words() -> None:
    item = photo("lesion", label="carrot weevil")
    row = reply(item, said(LESION, "rot"), protocol="open_set")
    assert measured("open_lenient", grade([item], [row], "open_set").evidence) == (0.0, 1)
    panel = published([item], [row], "open_set")
    at = 2 * sorted_names().index("open_lenient")
    assert panel.sums[0, at : at + 2].tolist() == [1.0, 1.0]


def sorted_names() -> list[str]:
    from fieldtruth.grading.bootstrap import room

    names = list(room())
    assert all(
        room()[name].sums(graded(("lesion", "right")).evidence).shape[1] == 2 for name in names
    )
    return names
