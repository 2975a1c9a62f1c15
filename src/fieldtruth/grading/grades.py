"""What an answer to a question is worth: one grade, or one for each of its true statements.

A question of several true statements is worth the shares of them that were graded so (AgMMU,
appendix C: grades are normalised by the number of statements), so that every question weighs 1.
"""

from collections import Counter
from typing import Literal, NamedTuple, get_args

Grade = Literal["correct", "partial", "incorrect", "not_attempted"]
Grades = tuple[Grade, ...]
GRADES: tuple[Grade, ...] = get_args(Grade)


class Shares(NamedTuple):
    """How one question's answer splits; the four lie within [0, 1] and add to 1."""

    correct: float = 0.0
    partial: float = 0.0
    incorrect: float = 0.0
    not_attempted: float = 0.0


class Statement(NamedTuple):
    """What a judge took out of a reply, and what it speaks about: a true statement, from 0."""

    text: str
    fact: int
    grade: Literal["correct", "partial", "incorrect"]


class Verdict(NamedTuple):
    """The grades of an answer. `statements` are those of a judge that speak about a fact."""

    grades: Grades
    statements: tuple[Statement, ...] = ()

    @property
    def shares(self) -> Shares:
        """The share of each grade."""
        count = Counter(self.grades)
        return Shares(*(count[grade] / len(self.grades) for grade in GRADES))


def whole(grade: Grade, count: int = 1) -> Verdict:
    """The same grade for all `count` true statements."""
    return Verdict((grade,) * max(count, 1))
