"""Sentences of agronomists and models, and the letter that each of them means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import FINISHES, hostile, options

from fieldtruth.records import LETTERS, Finish
from fieldtruth.replies import read_choice

FOUR = ("late blight", "early blight", "septoria leaf spot", "healthy")

MEANT = [
    # the whole reply
    ("B", "B"), (" B", "B"), ("b", "B"), ("B.", "B"), ("(B)", "B"), ("**B**", "B"), ("B:", "B"),
    ("[B]", "B"), ("`B`", "B"), ('"B"', "B"), ("```\nB\n```", "B"), ("Option C", "C"), ("A", "A"),
    ("early blight", "B"), ("Early-Blight.", "B"), ("<think>A</think>B", "B"), ("A.\n", "A"),
    # a letter that leads
    ("B) early blight", "B"), ("B early blight", "B"), ("B\nbecause", "B"), ("D - healthy", "D"),
    ("B, since the rings are not greasy", "B"), ("A because of the halo", "A"),
    ("**B**: the rings are concentric", "B"),
    # a decision
    ("Answer: B", "B"), ("answer is c.", "C"), ("**Answer: C**\nBecause A is for wet weeks", "C"),
    ("A healthy leaf would be uniformly green. So the answer: C", "C"), ("Answer B", "B"),
    ("The correct option is (C).", "C"), ("B is correct because A is wrong", "B"),
    ("A is the correct answer", "A"), ("the best answer is therefore D.", "D"),
    ("Final Answer:\n\nC", "C"), (r"\boxed{B}", "B"), (r"$\boxed{\text{B}}$", "B"),
    ("<answer>C</answer>", "C"), ('{"answer": "B"}', "B"), ("I'd go with B", "B"),
    ("I would go with option b.", "B"), ("Answer: A because of the halo", "A"),
    ("Answer: A. No wait. Answer: C", "C"), ("I can not be sure, but the answer is B", "B"),
    ("Answer: early blight. Late blight would be greasy", "B"), ("Answer: A healthy leaf", "D"),
    ("A. late blight\nB. early blight\nC. septoria leaf spot\nD. healthy\n\nAnswer: B", "B"),
    # spoken of
    ("I think it is B", "B"), ("It looks like option B to me", "B"), ("Not A, B.", "B"),
    ("The leaf shows early blight.", "B"), ("It is early blight, not late blight.", "B"),
    ("It's not late blight but early blight", "B"), ("A healthy leaf", "D"),
    ("there is no doubt: early blight", "B"), ("This is late blight rather than early blight", "A"),
    ("Rather than late blight, this is early blight", "B"), ("{'answer': 'C'}", "C"),
    ("Early blight, unlike late blight, has rings", "B"), ("C rather than D", "C"),
    ("Early blight (not late blight)", "B"), ("healthy (no late blight)", "D"), ("B (not A)", "B"),
    ("The leaf has early blight and no late blight", "B"),
    ("A healthy leaf would be green. This is early blight.", "B"),
]  # fmt: skip
NOT_MEANT = [
    "The leaf does not show late blight", "The leaf doesn't show late blight", "Answer:", "E",
    "Answer: E", "B or C", "Answer: B or C", "Both A and B", "It could be B. Or C.",
    "A) early blight",
    "I think it is rust", "The correct one", "I", "I am not sure.", "A leaf with spots",
    "The answer is not B", "I would not choose B", "Panel B shows spots", "vitamin C is low",
    "Neither late blight nor early blight", "A/B", "A,B", "A & B", "A B", "A|B", "kept at 20 °C",
    "A. late blight\nB. early blight\nC. septoria leaf spot\nD. healthy",
    "late blight, early blight", "I cannot help with that.", "5",
]  # fmt: skip


@pytest.mark.parametrize(("text", "letter"), MEANT)
def test_a_letter_is_read(text: str, letter: str) -> None:
    reading = read_choice(text, FOUR, "stop")
    assert (reading.outcome, reading.letter) == ("letter", letter)


@pytest.mark.parametrize("text", NOT_MEANT)
def test_no_letter_is_made_up(text: str) -> None:
    reading = read_choice(text, FOUR, "stop")
    assert (reading.outcome, reading.letter) == ("prose", None)


@pytest.mark.parametrize("text", ["", " \n", "<think>B</think>", "<think>B", "```\n```", '""'])
def test_blank_words_are_unreadable(text: str) -> None:
    assert read_choice(text, FOUR, "stop").outcome == "unreadable"


def test_without_options_letters_are_read_and_texts_are_not() -> None:
    assert read_choice("Answer: F", None, "stop").letter == "F"
    assert read_choice("early blight", None, "stop").outcome == "prose"


def test_option_texts_with_a_negation_of_their_own_can_be_asserted() -> None:
    acts = ("Do not water at night", "Water at night", "Prune, then burn", "No action")
    assert read_choice("Do not water at night.", acts, "stop").letter == "A"
    assert read_choice("The best advice: do not water at night", acts, "stop").letter == "A"
    assert read_choice("Prune, then burn", acts, "stop").letter == "C"
    assert read_choice("Answer: no action", acts, "stop").letter == "D"


def test_repairs_say_how_the_letter_was_come_by() -> None:
    said = {
        "B": (),
        "early blight": ("option_text",),
        "Answer: B": ("decision",),
        "B) early blight": ("leading",),
        "I think B": ("spoken",),
        "<think>hm</think>E": ("thinking", "beyond_options"),
        "B or C": ("two_letters",),
        "A) early blight": ("contradiction",),
    }
    assert {text: read_choice(text, FOUR, "stop").repairs for text in said} == said


@given(hostile, options | st.none(), st.sampled_from(FINISHES))
def test_any_words_give_a_letter_of_an_option_or_none(
    text: str, choices: list[str] | None, finish: Finish
) -> None:
    reading = read_choice(text, choices, finish)
    assert reading.outcome in {"letter", "prose", "unreadable"}
    assert (reading.outcome == "letter") == (reading.letter is not None)
    assert reading.letter is None or reading.letter in LETTERS[: len(choices or LETTERS)]
    assert reading.truncated == (finish == "length")


@given(st.sampled_from("ABCD"), st.sampled_from(["{}", "({})", "Answer: {}", "**{}**.", "{})"]))
def test_every_letter_is_read_alike(letter: str, way: str) -> None:
    assert read_choice(way.format(letter), FOUR, "stop").letter == letter
