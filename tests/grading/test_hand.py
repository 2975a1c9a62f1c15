"""A judge beside people: Cohen's kappa on literal tables, and what cannot be compared."""

from pathlib import Path
from typing import Any

import pytest
from tests.grading.test_exact import free

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.grading.grades import GRADES, Grades, Shares, Verdict, whole
from fieldtruth.grading.hand import Hand, agreements, read_hand
from fieldtruth.grading.questions import OUTCOMES, Answered
from fieldtruth.records import Reading


def answers(verdicts: list[Verdict | None], model: str = "m") -> Answered:
    count = len(verdicts)
    return Answered(
        model=model,
        protocol="open",
        questions=[free("rust", id=f"q{n}", group=f"g{n // 2}") for n in range(count)],
        texts=[""] * count,
        readings=[Reading(outcome="text")] * count,
        verdicts=verdicts,
        outcomes=dict.fromkeys(OUTCOMES, 0),
        asked=count,
    )


def graded(*grades: Any) -> list[Hand]:
    return [Hand(item=f"q{n}", grade=grade) for n, grade in enumerate(grades) if grade]


OURS = ["correct", "correct", "incorrect", "incorrect", "partial", "correct"]
THEIRS = ["correct", "correct", "incorrect", "correct", "incorrect", None]


def test_kappa_of_a_table_by_hand() -> None:
    (found,) = agreements([answers([whole(g) for g in OURS])], graded(*THEIRS))  # type: ignore[arg-type]
    # 5 graded by both: 3 agree; chance = (2*3 + 2*2 + 1*0) / 25
    assert found["agreement"] == pytest.approx(3 / 5)
    assert found["kappa"]["value"] == pytest.approx((3 / 5 - 10 / 25) / (1 - 10 / 25))
    assert found["kappa"]["low"] <= found["kappa"]["value"] <= found["kappa"]["high"]
    assert (found["kappa"]["n"], found["by_hand"], found["unscored"]) == (5, 5, 0)
    assert found["table"]["incorrect"]["correct"] == 1
    assert sum(sum(row.values()) for row in found["table"].values()) == 5


def test_what_is_unscored_is_left_out_and_counted() -> None:
    (found,) = agreements([answers([whole("correct"), None])], graded("correct", "incorrect"))
    assert (found["by_hand"], found["unscored"], found["agreement"]) == (2, 1, 1.0)
    assert found["kappa"]["value"] is None  # one answer only was given


def test_statements_are_compared_one_by_one() -> None:
    one = answers([Verdict(("correct", "not_attempted"))])
    told: Grades = ("correct", "incorrect")
    (found,) = agreements([one], [Hand(item="q0", grades=told)])
    assert found["agreement"] == 0.5
    with pytest.raises(BadRecord, match="expected 2 grades, one for each true statement, got 1"):
        agreements([one], graded("correct"))


def test_a_grade_of_several_answers_has_to_say_whose() -> None:
    both = [answers([whole("correct")], name) for name in "mn"]
    with pytest.raises(Usage, match="fits several answers"):
        agreements(both, graded("correct"))
    (found,) = agreements(both, [Hand(item="q0", grade="partial", model="n")])
    assert (found["model"], found["agreement"]) == ("n", 0.0)
    with pytest.raises(Usage, match="got none of them"):
        agreements(both, [Hand(item="elsewhere", grade="partial")])
    with pytest.raises(BadRecord, match="expected one line for q0"):
        agreements(both[:1], graded("correct") * 2)


def test_the_interval_draws_groups_together() -> None:
    verdicts: list[Verdict | None] = [whole(GRADES[n % 3]) for n in range(40)]
    hands = graded(*(GRADES[(n + n // 9) % 3] for n in range(40)))
    (found,) = agreements([answers(verdicts)], hands)
    assert found["kappa"]["n"] == 40
    assert found["kappa"]["low"] < found["kappa"]["value"] < found["kappa"]["high"]


@pytest.mark.parametrize(
    "line",
    ['{"item": "q0"}', '{"item": "q0", "grade": "good"}', '{"item": "q0", "grades": []}',
     '{"item": "q0", "grade": "correct", "grades": ["correct"]}', '{"grade": "correct"}',
     '{"item": "q0", "grade": "correct", "grade": "incorrect"}'],
)  # fmt: skip
def test_lines_that_are_no_grades(tmp_path: Path, line: str) -> None:
    path = tmp_path / "hand.jsonl"
    path.write_text(f'{{"item": "a", "grade": "correct"}}\n{line}\n')
    with pytest.raises(BadRecord, match=":2"):
        read_hand(path)


def test_shares_of_grades() -> None:
    mixed = Verdict(("correct", "partial", "incorrect", "not_attempted", "correct"))
    assert mixed.shares == Shares(0.4, 0.2, 0.2, 0.2)
    assert whole("partial", 3).shares == Shares(0, 1, 0, 0)
