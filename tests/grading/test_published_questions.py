"""The published arithmetic, faults included, by literal numbers of the reference (section 15)."""

from typing import Any

import msgspec
import pytest
from tests.builders import question
from tests.grading.test_exact import free

from fieldtruth.grading.grades import Shares, Statement, Verdict, whole
from fieldtruth.grading.published_questions import WRONG, published_letter, published_open
from fieldtruth.records import Question

RIGHT = Shares(correct=1.0)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("A", True), ("A.", True), ("A. word", True), ("a", True),
        ("A)", False), ("(A)", False), ("A,", False), ("**A**", False), ("Answer: A", False),
        ("The answer is A", False), (" A", False), ("A\nbecause", False), ("rust", False),
        ("", False), ("B", False),
    ],
)  # fmt: skip
def test_letters_as_they_were_read(text: str, right: object) -> None:
    asked = msgspec.convert(question("q"), Question)
    assert published_letter(asked, text) == (RIGHT if right else WRONG)


@pytest.mark.parametrize(
    ("verdict", "shares"),
    [
        (whole("correct"), RIGHT),
        (whole("partial"), Shares(partial=1.0)),
        (whole("incorrect"), WRONG),
        (whole("not_attempted"), WRONG),  # grade C is 0, as B is
        (None, WRONG),  # what cannot be parsed as well
    ],
)
def test_short_answers(verdict: Verdict | None, shares: Shares) -> None:
    assert published_open(free("rust"), verdict) == shares


def judged(*told: tuple[int, Any]) -> Verdict:
    """The grades do not matter here: the published sums are over statements."""
    statements = tuple(Statement(f"t{n}", fact, grade) for n, (fact, grade) in enumerate(told))
    return Verdict(("not_attempted", "not_attempted"), statements)


@pytest.mark.parametrize(
    ("verdict", "shares"),
    [
        (judged((0, "correct"), (1, "correct")), Shares(1, 0, 0)),
        (judged((0, "correct")), Shares(0.5, 0, 0)),
        # three statements on one of two true ones give 1.5
        (judged((0, "correct"), (0, "correct"), (0, "correct")), Shares(1.5, 0, 0)),
        # a higher grade takes the true statement away from the lower ones
        (judged((0, "correct"), (0, "partial"), (1, "partial")), Shares(0.5, 0.5, 0)),
        (judged((0, "incorrect"), (0, "partial"), (1, "incorrect")), Shares(0, 0.5, 0.5)),
        (judged((0, "partial"), (0, "partial")), Shares(0, 1, 0)),
        # no statements, or a split that failed: out of the denominator
        (whole("not_attempted", 2), None),
        (None, None),
        (whole("correct", 2), RIGHT),  # right in its own words, without a judge
    ],
)
def test_several_statements(verdict: Verdict | None, shares: Shares | None) -> None:
    assert published_open(free("x", "one", "two"), verdict) == shares
