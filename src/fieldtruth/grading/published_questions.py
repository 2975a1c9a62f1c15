"""The published arithmetic on answers to questions, frozen, to reproduce old numbers.

Follows agroground.md, sections 15.3 to 15.6, faults included: a letter is read only from the text
up to the first blank, so "(A)" and "Answer: A" are wrong; a short answer that the judge did not
grade is wrong; an answer in which no statement was found leaves the denominator; statements of one
grade about one true statement all count, so a question may earn more than 1. Used by
`score --as-published` on questions and by nothing else.

Not reproduced, for it is not defined without what was never released: the judge's own words (any
judge of ours stands in its place, whose statements speak about one true statement each, so the
`repeat` of 15.5 stays empty), and answers that the published code lost with a traceback.
"""

from collections.abc import Sequence

from fieldtruth.grading.grades import Shares, Statement, Verdict
from fieldtruth.records import Question

_ORDER = ("correct", "partial", "incorrect")
WRONG = Shares(incorrect=1.0)


def published_letter(question: Question, text: str) -> Shares:
    """A reply to a question with options (15.3)."""
    said = text.split(" ", 1)[0].strip().lower().replace(".", "")
    return Shares(correct=1.0) if said == question.answer.lower() else WRONG


def published_open(question: Question, verdict: Verdict | None) -> Shares | None:
    """An open answer by its verdict (15.4 to 15.6); None where it leaves the denominator."""
    if len(question.facts) < 2:
        grade = verdict.grades[0] if verdict else "incorrect"
        if grade in ("correct", "partial"):
            return Shares(correct=float(grade == "correct"), partial=float(grade == "partial"))
        return WRONG  # an answer that was not attempted, and one that was not graded, as well
    if verdict is None:
        return None
    if verdict.statements:
        return _normalised(verdict.statements, question)
    return Shares(correct=1.0) if set(verdict.grades) == {"correct"} else None


def _normalised(statements: Sequence[Statement], question: Question) -> Shares:
    """Statements by grade over the number of true statements (15.6).

    A true statement that a higher grade holds takes its statements of lower grades away; within
    one grade they all stay.
    """
    held: set[int] = set()
    counts = []
    for grade in _ORDER:
        mine = [each.fact for each in statements if each.grade == grade and each.fact not in held]
        held |= set(mine)
        counts.append(len(mine) / len(question.facts))
    return Shares(*counts)
