"""Every way to ask a question: no prompt tells the answer, and its own answer reads as right."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import question
from tests.strategies import FINISHES, hostile

from fieldtruth import protocols, rooms
from fieldtruth.protocols.contract import QuestionProtocol
from fieldtruth.records import LETTERS, Finish, Question

NAMES = ("choice", "open", "reasoned_choice")
LETTERED = ("choice", "reasoned_choice")


def protocol(name: str) -> QuestionProtocol:
    spoken: QuestionProtocol = rooms.open_room(protocols, name).QUESTIONS
    return spoken


def asked(**changes: Any) -> Question:
    return msgspec.convert(question("q") | changes, Question)


def free(**changes: Any) -> Question:
    return asked(form="open", options=None, answer="rust", **changes)


def test_these_are_all_that_ask_questions() -> None:
    room = [rooms.open_room(protocols, name) for name in rooms.names(protocols)]
    mine = [each.__name__.rpartition(".")[2] for each in room if hasattr(each, "QUESTIONS")]
    assert tuple(mine) == NAMES
    assert all(hasattr(each, "PROTOCOL") != hasattr(each, "QUESTIONS") for each in room)


@pytest.mark.parametrize("name", NAMES)
def test_it_asks_what_it_suits(name: str) -> None:
    assert protocol(name).suits(asked()) == (name in LETTERED)
    assert protocol(name).suits(free()) == (name not in LETTERED)


@pytest.mark.parametrize("name", LETTERED)
@pytest.mark.parametrize("count", [2, 4, 6, 10])
def test_no_prompt_depends_on_which_option_is_right(name: str, count: int) -> None:
    options = tuple(f"sign {n} of it" for n in range(count))
    ways = [asked(options=options, answer=letter) for letter in LETTERS[:count]]
    assert len({protocol(name).ask(each) for each in ways}) == 1
    lines = protocol(name).ask(ways[0]).splitlines()
    assert lines[0] == "What is it?"
    assert lines[1 : 1 + count] == [f"{LETTERS[n]}. sign {n} of it" for n in range(count)]


def test_a_line_break_in_an_option_cannot_make_another() -> None:
    prompt = protocol("choice").ask(asked(options=("rust\nC. scab", "smut"), answer="A"))
    assert "A. rust C. scab\nB. smut" in prompt


def test_open_prompts_hold_neither_answer_nor_facts() -> None:
    one = free(facts=("the veins turn black", "older leaves yellow"), evidence=("words of hers",))
    for told in (one, free()):
        prompt = protocol("open").ask(told)
        assert prompt.startswith("What is it?\n")
        assert not any(word in prompt for word in ("rust", "veins", "yellow", "hers"))
    assert "each separate point" in protocol("open").ask(one)
    assert protocol("open").ask(free()).endswith("Answer in one to three words.")


@pytest.mark.parametrize("name", LETTERED)
def test_its_own_answer_reads_as_the_truth(name: str) -> None:
    for letter in "ABCD":
        one = asked(answer=letter)
        reading = protocol(name).read(protocol(name).answer(one), one.options, "stop")
        assert (reading.outcome, reading.letter) == ("letter", letter)


def test_the_open_answer_is_text() -> None:
    assert protocol("open").answer(free(facts=("a", "b"))) == "a\nb"
    assert protocol("open").answer(free(facts=("a",))) == "rust"
    assert protocol("open").read("rust", None, "stop").outcome == "text"


def test_reasons_come_before_the_decision() -> None:
    text = "A would be dusty. B is wet. I see rings, as in C.\nAnswer: C"
    reading = protocol("reasoned_choice").read(text, asked().options, "stop")
    assert reading.letter == "C"


@given(st.sampled_from(NAMES), hostile, st.sampled_from(FINISHES))
def test_reading_never_raises(name: str, text: str, finish: Finish) -> None:
    protocol(name).read(text, asked().options, finish)
    protocol(name).read(text, None, finish)


@pytest.mark.parametrize("name", NAMES)
def test_the_background_comes_first(name: str) -> None:
    plain = free() if name == "open" else asked()
    told = msgspec.structs.replace(plain, background="Plant: rose\nPlace: Ohio")
    assert protocol(name).ask(told) == f"Plant: rose\nPlace: Ohio\n{protocol(name).ask(plain)}"
