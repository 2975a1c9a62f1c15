"""Grades that people gave answers, and how far a judge agrees with them.

A line of a file of grades: `{"item", "grade"}`, or `{"item", "grades"}` with one for each true
statement in their order; `protocol` and `model` where the answers graded are of several.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth import store
from fieldtruth.agreement import cohen
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.grading.grades import GRADES, Grade, Grades
from fieldtruth.grading.questions import Answered
from fieldtruth.records import Record


class Hand(Record, frozen=True, kw_only=True):
    """What a person gave one answer."""

    item: str
    grade: Grade | None = None
    grades: Grades = ()
    protocol: str | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        if (self.grade is None) == (not self.grades):
            raise ValueError("expected one of grade and grades, got both or neither")

    @property
    def all(self) -> Grades:
        """One grade for each true statement, or the only one."""
        return self.grades or ((self.grade,) if self.grade else ())


def read_hand(path: Path) -> list[Hand]:
    """The grades in a file; `BadRecord` names the line that is none."""
    store.fields_once(path)
    return list(store.read(path, Hand))


def agreements(graded: Sequence[Answered], hands: Iterable[Hand]) -> list[dict[str, Any]]:
    """Cohen's kappa between the grades in `graded` and those by hand, for each model and protocol.

    Units are grades: one an answer, or one a true statement; those of one group are drawn together
    for the interval. What is unscored or was not graded by hand is left out and counted. Raises
    `Usage` where no answer was graded by hand, or a grade fits several models or protocols;
    `BadRecord` for as many grades as there are no statements.
    """
    rows = list(hands)
    made = [_agreement(one, _mine(one, rows, graded)) for one in graded]
    found = [each for each in made if each["by_hand"]]
    if not found:
        raise Usage("--hand: expected grades of the answers that are scored, got none of them")
    return found


def _mine(one: Answered, rows: Sequence[Hand], graded: Sequence[Answered]) -> dict[str, Grades]:
    mine: dict[str, Grades] = {}
    asked = {question.id for question in one.questions}
    for row in rows:
        if row.protocol not in (None, one.protocol) or row.model not in (None, one.model):
            continue
        if row.item not in asked:
            continue
        others = [
            each
            for each in graded
            if each is not one
            and row.protocol in (None, each.protocol)
            and row.model in (None, each.model)
            and any(question.id == row.item for question in each.questions)
        ]
        if others:
            raise Usage(
                f"--hand: the grade of {row.item} fits several answers; say whose with `model` "
                "and `protocol`"
            )
        if row.item in mine:
            raise BadRecord(f"--hand: expected one line for {row.item}, got another")
        mine[row.item] = row.all
    return mine


def _agreement(one: Answered, hand: dict[str, Grades]) -> dict[str, Any]:
    ours: list[str] = []
    theirs: list[str] = []
    groups: list[str] = []
    left, counted = 0, 0
    for question, verdict in zip(one.questions, one.verdicts, strict=True):
        told = hand.get(question.id)
        if told is None:
            continue
        counted += 1
        if verdict is None:
            left += 1
            continue
        if len(told) != len(verdict.grades):
            raise BadRecord(
                f"--hand: {question.id}: expected {len(verdict.grades)} grades, one for each true "
                f"statement, got {len(told)}"
            )
        ours += verdict.grades
        theirs += told
        groups += [question.group] * len(told)
    table = {
        grade: {
            other: sum(a == grade and b == other for a, b in zip(ours, theirs, strict=True))
            for other in GRADES
        }
        for grade in GRADES
    }
    same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    return {
        "model": one.model,
        "protocol": one.protocol,
        "by_hand": counted,
        "unscored": left,
        "agreement": same / len(ours) if ours else None,
        "kappa": msgspec.to_builtins(cohen(ours, theirs, groups)),
        "table": table,  # the grade here -> the grade by hand -> how often
    }
