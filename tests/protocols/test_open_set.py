"""No names given: nothing in the words tells what the photo shows."""

import re

from tests.builders import NAMES, item
from tests.strategies import ASK_LEVELS, KINDS

from fieldtruth.protocols.open_set import PROTOCOL
from fieldtruth.records import AskLevel, Item


def asked(of: Item) -> str:
    return PROTOCOL.ask(of, "norm1000")


def test_the_prompt_depends_on_the_wording_and_on_nothing_else() -> None:
    for level in ASK_LEVELS:
        shown = {asked(item(kind=k, label=n, query=n, level=level)) for k in KINDS for n in NAMES}
        other = item(crop="wheat", candidates=NAMES, level=level, boxes=((0, 0, 1, 1),), width=9999)
        healthy = item(
            level="healthy", kind=None, label=None, boxes=(), ask_level=level, ask_kind="weed"
        )
        assert shown == {asked(other)} == {asked(healthy)}
    first, second = (asked(item(level=level)) for level in ASK_LEVELS)
    assert first != second


def test_no_name_of_anything_is_in_it() -> None:
    words = set(re.findall(r"[a-z]+", asked(item()).lower()))
    assert not words & {
        "blight",
        "rust",
        "mold",
        "mildew",
        "rot",
        "scab",
        "aphid",
        "healthy",
        "tomato",
    }
    assert PROTOCOL.names(item(candidates=NAMES)) == ()


def test_it_can_be_asked_of_anything() -> None:
    assert PROTOCOL.suits(item(query=None, candidates=None, crop=None))


def test_places_are_those_of_the_wording() -> None:
    places: dict[AskLevel, str] = {"lesion": "separate place", "object": "whole thing"}
    for level, words in places.items():
        assert words in asked(item(level=level))
