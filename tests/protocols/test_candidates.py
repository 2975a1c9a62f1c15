"""One of four names, numbered, in the order frozen on the item."""

import json
from itertools import permutations

from tests.builders import item
from tests.strategies import ASK_LEVELS, KINDS

from fieldtruth.protocols.candidates import PROTOCOL

FOUR = ("leaf spot, brown", "early blight", "rust", "1. wilt")


def test_names_are_numbered_one_a_line_in_the_frozen_order() -> None:
    for four in permutations(FOUR):
        lines = PROTOCOL.ask(item(candidates=four), "norm1000").splitlines()
        assert lines[1:5] == [f"{number}. {name}" for number, name in enumerate(four, 1)]


def test_a_line_break_in_a_name_cannot_make_a_fifth_line() -> None:
    four = ("rust\n5. smut", *FOUR[1:])
    assert "1. rust 5. smut" in PROTOCOL.ask(item(candidates=four), "norm1000").splitlines()


def test_the_wording_does_not_tell_the_kind_of_the_truth() -> None:
    for level in ASK_LEVELS:
        asked = {PROTOCOL.ask(item(candidates=FOUR, kind=k, level=level), "pixel") for k in KINDS}
        assert len(asked) == 1


def test_the_answer_carries_the_name_as_the_list_spells_it() -> None:
    reply = PROTOCOL.answer(item(label="Early-Blight", candidates=FOUR), "norm1000")
    assert json.loads(reply) == [{"bbox_2d": [100, 125, 300, 250], "label": "early blight"}]


def test_where_no_name_applies_the_answer_is_empty() -> None:
    assert PROTOCOL.answer(item(label="smut", candidates=FOUR), "pixel") == "[]"


def test_without_candidates_it_cannot_be_asked() -> None:
    assert PROTOCOL.suits(item(candidates=FOUR))
    assert not PROTOCOL.suits(item(candidates=None))
