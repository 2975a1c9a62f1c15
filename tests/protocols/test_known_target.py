"""The target is named, in words that fit its kind."""

import json

import pytest
from tests.builders import item
from tests.strategies import ASK_LEVELS, KINDS

from fieldtruth.protocols.known_target import PROTOCOL
from fieldtruth.records import AskLevel, Kind


def asked(kind: Kind, level: AskLevel, name: str = "aphid") -> str:
    return PROTOCOL.ask(item(kind=kind, level=level, label=name, query=name), "norm1000")


def test_a_pest_is_not_on_the_leaf_and_a_weed_is_a_plant() -> None:
    for level in ASK_LEVELS:
        for kind in ("pest", "object", "weed"):
            assert "leaf" not in asked(kind, level)
            assert "affected" not in asked(kind, level)
        assert "plant" in asked("weed", level)
        assert "plant" not in asked("pest", level)
    assert "region that shows" in asked("symptom", "lesion")
    assert "region of the plant" in asked("stress", "lesion")


@pytest.mark.parametrize("kind", KINDS)
def test_the_wording_follows_the_level(kind: Kind) -> None:
    assert "whole" in asked(kind, "object")
    assert "whole " not in asked(kind, "lesion").replace("whole numbers", "")


def test_a_name_with_commas_and_quotes_stays_one_name() -> None:
    prompt = asked("disease", "lesion", 'spot, "brown"')
    assert prompt.count('"spot, \\"brown\\""') == 4
    reply = PROTOCOL.answer(item(label='spot, "brown"', query='spot, "brown"'), "norm1000")
    assert json.loads(reply)[0]["label"] == 'spot, "brown"'


def test_a_target_that_is_absent_has_the_empty_answer() -> None:
    assert PROTOCOL.answer(item(query="late blight"), "pixel") == "[]"
    assert PROTOCOL.answer(item(query="Early-Blight"), "pixel") != "[]"


def test_without_a_query_it_cannot_be_asked() -> None:
    assert PROTOCOL.suits(item())
    assert not PROTOCOL.suits(item(query=None))
    assert PROTOCOL.names(item(query=None)) == ()
