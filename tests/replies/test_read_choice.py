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
    ("```B```", "B"), ("```text\nB\n```", "B"),
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
    ("A or maybe B. I'd say B", "B"), ("I would say (b).", "B"), ("I guess C!", "C"),
    ("Answer: A\n\nB is too wet for this.", "A"), ("**Answer:** B", "B"), ("The letter is B", "B"),
    (r"\boxed{B) early blight}", "B"), ("<think>It could be A.</think>\n\nB", "B"),
    ("<think>A? No.</think><answer>B</answer>", "B"), ("Answer: A\nAnswer: B", "B"),
    ("Answer is: **(B) early blight**", "B"), ("Answer: B, not C", "B"), ("Answer: B</s>", "B"),
    # a decision taken back
    ("My final answer is A. Wait, B.", "B"), ("Answer: A\n\nActually, no: D.", "D"),
    ("Answer: A. Actually it's C.", "C"), ("Answer: B. Wait, A greasy halo is rare", "B"),
    ("The answer is A. No, B is too dry.", "A"), ("Answer: C. On second thought, (D).", "D"),
    ("**Answer:** _B_", "B"), ("__Answer: B__", "B"), ("_C_", "C"),
    # gone through one by one
    ("A: no. B: no. C: yes", "C"), ("A? No. B? No. C? Yes.", "C"), ("A. No. B. No. C. Yes.", "C"),
    ("A - incorrect\nB - correct\nC - incorrect\nD - incorrect", "B"),
    ("A: false, because wet; B: true, because of the rings", "B"), ("A is wrong. B is right.", "B"),
    ("(A) ❌\n(B) ✅".replace(" ", ": "), "B"),
    # spoken of
    ("I think it is B", "B"), ("It looks like option B to me", "B"), ("Not A, B.", "B"),
    ("The leaf shows early blight.", "B"), ("It is early blight, not late blight.", "B"),
    ("It's not late blight but early blight", "B"), ("A healthy leaf", "D"),
    ("there is no doubt: early blight", "B"), ("This is late blight rather than early blight", "A"),
    ("Rather than late blight, this is early blight", "B"), ("{'answer': 'C'}", "C"),
    ("Early blight, unlike late blight, has rings", "B"), ("C rather than D", "C"),
    ("It's A.", "A"), ("### B", "B"), ("- B", "B"), ("1. B", "B"), ("So, B.", "B"), ("B。", "B"),
    ("C is wrong, so B", "B"), ("The correct answer is not A but B.", "B"), ("B<|im_end|>", "B"),
    ("Answer\uff1aB", "B"), ("=> B", "B"), ("Response: B", "B"), ("Not sure, maybe B", "B"),
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
    "Answer: (A)\n(B)", "Answer: A\nB", "(A)\n(B)", "A\nB", "Plan B", "Plan B alone",
    "I'd say A is wrong",
    "All except C", "Anything but C", "Could be A; could be B. Hard to say.", "A: yes, B: yes",
    "A: incorrect\nB: incorrect", "It is not A, not B, not D.", "A, B and D are wrong",
    "vitamin A.",
    "None of the above", "Answer: None", "Answer: early blight or late blight", "A leaf",
    "I would rule out A and C. That leaves B and D.", "C or maybe D",
    "<think>B</think>Hard to say.",
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


_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
TEN = tuple(f"sign {word}" for word in _NUMBERS)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("J", "J"), ("j)", "J"), ("**J**", "J"), ("Answer: J", "J"), ("The answer is I.", "I"),
        ("I", "I"), ("(I)", "I"), ("Option J", "J"), ("I think it is H", "H"), ("K", None),
        ("Answer: K", None), ("sign ten", "J"), ("It shows sign nine.", "I"), ("I or J", None),
        ("H or I", None),
        ("A: no, B: no, J: yes", "J"), ("I am not sure", None), (r"\boxed{I}", "I"),
    ],
)  # fmt: skip
def test_ten_options(text: str, letter: str | None) -> None:
    assert read_choice(text, TEN, "stop").letter == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("blight", "A"), ("early blight", "B"), ("Early blight of potato", "C"),
        ("It is early blight of potato", "C"), ("This looks like early blight to me", "B"),
        ("Answer: blight", "A"), ("Answer: early blight of potato.", "C"),
        ("early blight of potato, not late blight", "C"), ("B) early blight of potato", None),
        ("C) early blight of potato", "C"), ("late blight or blight", None),
    ],
)  # fmt: skip
def test_an_option_whose_text_holds_another(text: str, letter: str | None) -> None:
    nested = ("blight", "early blight", "early blight of potato", "late blight")
    assert read_choice(text, nested, "stop").letter == letter


def test_options_that_are_words_of_assent_are_not_gone_through() -> None:
    assert read_choice("A: Yes\nB: No", ("Yes", "No"), "stop").letter is None
    assert read_choice("Yes", ("Yes", "No"), "stop").letter == "A"
    assert read_choice("Plan B", ("Plan A", "Plan B"), "stop").letter == "B"


@given(st.permutations("ABCD"), st.integers(0, 3), st.sampled_from([": ", "? ", " - "]))
def test_whatever_order_they_are_gone_through_in(order: list[str], at: int, sign: str) -> None:
    told = [f"{each}{sign}{'yes' if n == at else 'no'}." for n, each in enumerate(order)]
    assert read_choice(" ".join(told), FOUR, "stop").letter == order[at]


@given(st.lists(st.sampled_from("ABCD"), min_size=2, max_size=4, unique=True))
def test_several_letters_alone_are_never_guessed_between(letters: list[str]) -> None:
    for joint in (" or ", ", ", "\n", "/", " and "):
        assert read_choice(joint.join(letters), FOUR, "stop").letter is None


def test_the_table_is_long_enough() -> None:
    assert len({text for text, _ in MEANT} | set(NOT_MEANT)) >= 140


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
