"""What equality alone can say of an open answer, and what it leaves open."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import question
from tests.strategies import hostile

from fieldtruth.grading.exact import exact, refused
from fieldtruth.grading.grades import Grade, Verdict, whole
from fieldtruth.records import Question
from fieldtruth.replies import said

CORRECT: Grade = "correct"
INCORRECT: Grade = "incorrect"
NOT_ATTEMPTED: Grade = "not_attempted"


def free(answer: str, *facts: str, **changes: Any) -> Question:
    fields = question("q", form="open", options=None, answer=answer) | changes
    return Question(**(fields | {"images": (), "evidence": (), "facts": facts}))


@pytest.mark.parametrize(
    ("truth", "reply", "grade"),
    [
        # the same words
        ("powdery mildew", "powdery mildew", CORRECT),
        ("powdery mildew", "Powdery Mildew.", CORRECT),
        ("powdery mildew", "**powdery-mildew**", CORRECT),
        ("powdery mildew", "It looks like powdery mildew.", CORRECT),
        ("powdery mildew", "This is most likely powdery mildew", CORRECT),
        ("powdery mildew", "The disease is powdery mildew.", CORRECT),
        ("powdery mildew", "<think>rust?</think>powdery mildew", CORRECT),
        ("overwatering", "Overwatering", CORRECT),
        # the same thing
        ("aphid", "Aphids", CORRECT),
        ("maize", "corn", CORRECT),
        ("late blight", "Phytophthora infestans", CORRECT),
        # another thing, said shortly
        ("early blight", "late blight", INCORRECT),
        ("early blight", "It is late blight.", INCORRECT),
        ("fig", "olive", INCORRECT),
        ("overwatering", "drought", INCORRECT),
        # no attempt
        ("early blight", "I don't know", NOT_ATTEMPTED),
        ("early blight", "I cannot identify the disease from this photo.", NOT_ATTEMPTED),
        ("early blight", "I\u2019m sorry, I can\u2019t help with that.", NOT_ATTEMPTED),
        ("early blight", "Unknown", NOT_ATTEMPTED),
        ("early blight", "N/A", NOT_ATTEMPTED),
        ("early blight", "...", NOT_ATTEMPTED),
        ("early blight", "<think>early blight</think>", NOT_ATTEMPTED),
        # not for equality to say
        ("leaf rust", "rust", None),
        ("rust", "not rust", None),
        ("rust", "rust or scab", None),
        ("early blight", "I cannot tell, but it may be early blight", None),
        ("early blight", "I am not sure, probably a fungus of the leaf", None),
        ("early blight", "The rings on the older leaves speak for a fungal disease.", None),
        ("water less and let the soil dry out between", "less water", None),
        ("", "rust", None),
    ],
)
def test_short_answers(truth: str, reply: str, grade: Grade | None) -> None:
    assert exact(free(truth), reply) == (whole(grade) if grade else None)


def test_a_single_fact_is_another_wording_of_the_truth() -> None:
    assert exact(free("Leaf spots", "brown spots"), "brown spots") == whole(CORRECT)


TWO = ("Leaf tips are brown.", "New leaves curl")


BOTH, FIRST, NONE = (CORRECT, CORRECT), (CORRECT, NOT_ATTEMPTED), (NOT_ATTEMPTED, NOT_ATTEMPTED)


@pytest.mark.parametrize(
    ("reply", "grades"),
    [
        ("Leaf tips are brown. New leaves curl.", BOTH),
        ("new leaves curl\nleaf tips are brown\nThe soil is dry", BOTH),
        ("1. Leaf tips are brown.\n2. New leaves curl.", BOTH),
        ("- New leaves curl\n- Leaf tips are brown", BOTH),
        ("Leaf tips are brown.", FIRST),
        # said three times it counts once (the published sum is 1.5)
        ("Leaf tips are brown. leaf tips are brown! Leaf tips are brown", FIRST),
        ("Leaf tips are brown. The soil is dry.", FIRST),
        ("The soil is dry.", NONE),
        ("I do not know.", NONE),
        ("", NONE),
        # it may mean one that was not said
        ("Leaf tips are brown. The young ones curl inwards.", None),
        ("The tips look scorched", None),
        ("brown tips and curl", None),
        ("The margins of the older foliage seem to have been burnt by salt.", None),
    ],
)
def test_several_statements_are_matched_in_their_own_words(
    reply: str, grades: tuple[Grade, ...] | None
) -> None:
    verdict = exact(free("brown tips and curl", *TWO), reply)
    assert verdict == (Verdict(grades) if grades else None)


def test_other_names_of_a_statement_count_and_one_statement_counts_once() -> None:
    names = free("both", "late blight", "aphid")
    assert exact(names, "Phytophthora infestans.\nAphids") == Verdict((CORRECT, CORRECT))
    twice = free("both", "rust", "rust")
    assert exact(twice, "rust") == Verdict((CORRECT, NOT_ATTEMPTED))


@given(
    st.lists(st.sampled_from([*TWO, "The soil is dry.", "Rain fell."]), max_size=6),
    st.sampled_from([". ", "\n", "; "]),
)
def test_saying_more_never_earns_more_than_all(said_so: list[str], joint: str) -> None:
    verdict = exact(free("x", *TWO), joint.join(each.strip(".") for each in said_so))
    assert verdict is not None
    assert verdict.shares.correct == len(set(said_so) & set(TWO)) / 2


@pytest.mark.parametrize(
    ("reply", "declines"),
    [
        ("I cannot answer that.", True), ("I'm sorry, I can't help with this photo.", True),
        ("Unknown", True), ("I cannot tell, but it may be rust", False), ("rust", False),
        ("", False),
    ],
)  # fmt: skip
def test_a_refusal_goes_on_to_nothing_else(reply: str, declines: object) -> None:
    assert refused(reply) is declines


@given(hostile, hostile)
def test_any_words_can_be_compared(truth: str, reply: str) -> None:
    verdict = exact(free(truth), reply)
    assert verdict is None or sum(verdict.shares) == 1
    if reply == truth == said(reply) and verdict is not None:
        assert verdict in (whole(CORRECT), whole(NOT_ATTEMPTED))
