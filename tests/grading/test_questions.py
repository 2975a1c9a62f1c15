"""Replies to questions: what is measured, what is graded, and what is only counted."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from tests.builders import question
from tests.grading.test_exact import free

from fieldtruth.faults import Usage
from fieldtruth.grading import open_protocol, open_questions
from fieldtruth.grading.grades import whole
from fieldtruth.grading.judge import Judge
from fieldtruth.grading.questions import OUTCOMES, Answered, answered
from fieldtruth.models.contract import Request, Words
from fieldtruth.records import Prediction, Question, Space

CORRECT, PARTIAL, INCORRECT, NOT_ATTEMPTED = (
    whole(each).shares for each in ("correct", "partial", "incorrect", "not_attempted")
)


def mcq(name: str, **changes: Any) -> Question:
    return msgspec.convert(question(name, **changes), Question)


def said(name: str, text: str, **changes: Any) -> Prediction:
    fields: dict[str, Any] = {"item": name, "protocol": "choice", "model": "m", "text": text}
    return Prediction(**(fields | changes))


def lettered(*rows: Prediction, count: int = 3) -> Answered:
    return answered([mcq(f"q{n}") for n in range(count)], rows, "choice")


@pytest.mark.parametrize(
    ("text", "outcome", "shares"),
    [
        ("A", "letter", CORRECT),
        ("The answer is (A).", "letter", CORRECT),
        ("rust", "letter", CORRECT),
        ("B", "letter", INCORRECT),
        ("scab", "letter", INCORRECT),
        ("E", "prose", NOT_ATTEMPTED),  # beyond the options
        ("A or B", "prose", NOT_ATTEMPTED),
        ("I cannot help with that.", "prose", NOT_ATTEMPTED),
        ("", "unreadable", NOT_ATTEMPTED),
    ],
)
def test_a_letter_is_right_or_wrong_and_no_letter_is_no_attempt(
    text: str, outcome: str, shares: Any
) -> None:
    one = lettered(said("q0", text), count=1)
    assert one.shares == [shares]
    assert one.outcomes == dict.fromkeys(OUTCOMES, 0) | {outcome: 1}


def test_errors_and_missing_ones_are_not_measured() -> None:
    one = lettered(said("q2", "A"), said("q0", "", finish="error", error="HTTP 500"))
    assert [each.id for each in one.questions] == ["q2"]
    assert one.asked == 3
    counts = {"letter": 1, "error": 1, "missing": 1}
    assert one.outcomes == dict.fromkeys(OUTCOMES, 0) | counts


def test_the_first_of_two_rows_counts_and_strangers_are_extra() -> None:
    questions = [mcq("q0"), free("rust", id="f")]
    rows = [said("q0", "A"), said("q0", "B"), said("f", "A"), said("x", "A")]
    one = answered(questions, rows, "choice")
    assert one.shares == [CORRECT]
    assert one.outcomes == dict.fromkeys(OUTCOMES, 0) | {"letter": 1, "duplicate": 1, "extra": 2}


def test_a_cut_reply_is_told() -> None:
    assert lettered(said("q0", "A", finish="length")).outcomes["truncated"] == 1


class Partly:
    space: Space = "norm1000"
    version = "1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        for each in requests:
            self.asked.append(each.id)
            yield Words(text='{"grade": "partial"}')


def test_a_judge_is_asked_only_about_free_words_that_are_not_plainly_right() -> None:
    names = {"a": "rust", "b": "scab", "c": "", "d": "I do not know", "e": "rusty, I think"}
    rows = [said(name, text, protocol="open") for name, text in names.items()]
    questions = [free("rust", id=name) for name in names]
    alone = answered(questions, rows, "open")
    assert alone.shares == [CORRECT, INCORRECT, NOT_ATTEMPTED, NOT_ATTEMPTED, INCORRECT]
    backend = Partly()
    judged = answered(questions, rows, "open", Judge(backend, backend))
    assert judged.shares == [CORRECT, PARTIAL, NOT_ATTEMPTED, PARTIAL, PARTIAL]
    assert backend.asked == ["b", "d", "e"]
    assert judged.outcomes == alone.outcomes | {}
    lettered_too = Partly()
    answered([mcq("q0")], [said("q0", "who knows")], "choice", Judge(lettered_too, lettered_too))
    assert lettered_too.asked == []


def test_one_model_at_a_time_and_something_to_ask() -> None:
    with pytest.raises(Usage, match="one model under choice"):
        answered([mcq("q0")], [said("q0", "A"), said("q0", "A", model="n")], "choice")
    with pytest.raises(Usage, match="got none"):
        answered([mcq("q0")], [said("q0", "A", protocol="open")], "open")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("known_target", "got one of items"),
        ("choice+shuffle", "control of questions .blank, textonly."),
        ("choice+grey", "controls has no 'grey'"),
        ("guess", "protocols has no 'guess'"),
    ],
)
def test_what_asks_no_questions_is_refused(name: str, told: str) -> None:
    with pytest.raises(Usage, match=told):
        open_questions(name)


@pytest.mark.parametrize("name", ["choice", "open", "choice+blank"])
def test_what_asks_questions_is_not_asked_of_items(name: str) -> None:
    with pytest.raises(Usage, match="got one that asks questions"):
        open_protocol(name)
