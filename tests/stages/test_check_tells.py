"""What gives the right option away is told, and a set without tells is left in peace."""

import json
from collections.abc import Sequence
from math import comb
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import question

from fieldtruth.drafts import QuestionDraft
from fieldtruth.stages.check import Settings, check, line
from fieldtruth.stages.check.tells import Tally, of_row

NAMES = ("late blight", "early blight", "leaf mold", "target spot")


def row(**changes: Any) -> QuestionDraft:
    given: dict[str, Any] = {
        "id": "q", "form": "mcq", "question": "What is seen here?", "options": NAMES,
        "answer": "A", "source": "s", "licence": "CC0", "crop": "tomato",
    }  # fmt: skip
    return QuestionDraft(**(given | changes))


TELLS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"question": "Which blight is it?"}, []),  # two options hold the word
    ({"question": "Which mold is it?"}, []),  # it leads astray, and tells nothing
    ({"question": "Which mold is it?", "answer": "C"}, ["answer_in_question"]),
    ({"background": "The grower speaks of molds.", "answer": "C"}, ["answer_in_question"]),
    ({"question": "What is on this leaf?", "answer": "C"}, []),  # every leaf has one
    ({"form": "open", "options": None, "answer": "leaf mold", "question": "A mold?"},
     ["answer_in_question"]),
    ({"form": "open", "options": None, "answer": "leaf mold"}, []),
    ({"form": "open", "options": None, "answer": "Prune.", "facts": ("Prune.",),
      "question": "When to prune?"}, []),
    ({"options": ("rust", "scab", "All of the above")}, ["catch_all"]),
    ({"options": ("rust", "scab", "Both A and B")}, ["catch_all"]),
    ({"options": ("Cut all of the leaves off", "Water it", "Wait")}, []),
    ({"options": ("huanglongbing", "scab", "citrus greening")}, ["also_right"]),
    ({"options": ("leaf rust", "rust", "scab"), "crop": "wheat"}, ["also_right"]),
    ({"options": ("scab", "rust", "leaf rust"), "crop": "wheat"}, []),  # both are wrong
    ({"options": ("Water it", "Water it well", "Prune it")}, []),  # no names: nobody can know
]  # fmt: skip


@pytest.mark.parametrize(("changes", "expected"), TELLS)
def test_a_row(changes: dict[str, Any], expected: list[str]) -> None:
    assert [each.problem for each in of_row(row(**changes))] == expected


def told(rows: Sequence[QuestionDraft]) -> list[str]:
    tally = Tally()
    for each in rows:
        tally.add(each)
    return [each.problem for each in tally.found()]


def mcqs(
    answers: str, options: Sequence[str] = ("aaa", "bbb", "ccc", "ddd")
) -> list[QuestionDraft]:
    return [row(options=tuple(options), answer=each) for each in answers]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("A" * 5, []),  # 4 x 1/4^5 = 0.004
        ("A" * 6, ["answer_position"]),  # 4 x 1/4^6 = 0.00098
        ("ABCD" * 10, []),
        ("ABC" * 20, ["answer_position"]),
    ],
)
def test_where_the_right_one_stands(answers: str, expected: list[str]) -> None:
    assert told(mcqs(answers)) == expected


def lengths(longest: int, others: int) -> list[QuestionDraft]:
    """Choices in which the right option is the longest, and others in which a wrong one is."""
    long, short = ("aaaa", "bbb", "ccc", "ddd"), ("aaa", "bbbb", "ccc", "ddd")
    place = "ABCD"
    return [
        row(options=tuple(options[(at - n) % 4] for at in range(4)), answer=place[n % 4])
        for n, options in enumerate([long] * longest + [short] * others)
    ]


def test_how_long_the_right_one_is() -> None:
    assert told(lengths(16, 48)) == []
    assert told(lengths(40, 24)) == ["answer_length"]
    # Far from chance, but not far enough to help anybody: 31 % of 2,000.
    assert told(lengths(620, 1_380)) == []


def test_the_shortest_tells_as_well() -> None:
    rows = [row(options=("a", "bb", "cc", "dd"), answer="A")] * 3
    rows += [row(options=("aa", "b", "cc", "dd"), answer="B")] * 3
    rows += [row(options=("aa", "bb", "c", "dd"), answer="C")] * 3
    assert told(rows) == ["answer_length"]


def test_the_one_that_is_written_otherwise() -> None:
    odd = [
        row(options=tuple("Abc." if at == n else "abcd" for at in range(4)), answer="ABCD"[n])
        for n in range(4)
    ]
    assert told(odd * 3) == ["answer_form"]
    wrong = [row(options=("abcd", "Abc.", "abcd", "abcd"), answer="ABCD"[n]) for n in (0, 2, 3)]
    assert told(wrong * 3) == []


@given(st.integers(1, 40), st.data())
@settings(max_examples=60)
def test_the_places_are_told_as_the_binomial_says(n: int, data: st.DataObject) -> None:
    """Held against the tails counted out one by one."""
    answers = data.draw(st.text("ABCD", min_size=n, max_size=n))

    def exact(k: int) -> float:
        weight = [comb(n, j) * 0.25**j * 0.75 ** (n - j) for j in range(n + 1)]
        return sum(each for each in weight if each <= weight[k] * (1 + 1e-7))

    p = min(exact(answers.count(each)) for each in "ABCD") * 4
    if abs(p - 0.001) > 1e-9:
        assert told(mcqs(answers)) == (["answer_position"] if p < 0.001 else [])


def test_the_set_is_told_of_as_row_0(tmp_path: Path) -> None:
    rows = [question(f"q{n}", options=["aa", "bb", "cc", "dd"], answer="A") for n in range(8)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    report = check(path, Settings())
    assert [(each.row, each.id, each.problem) for each in report.problems] == [
        (0, None, "answer_position")
    ]
    assert report.problems[0].detail == "A is right in 8 of 8 choices of 4 (p 6e-05)"
    assert "the set: A is right in 8 of 8" in line(report, path)
    assert line(report, path).endswith("8 rows of questions: 1 problems of the set")
