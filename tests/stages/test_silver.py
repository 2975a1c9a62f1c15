"""Gold and silver: as published with its leak, and apart."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import question

from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Question
from fieldtruth.stages import silver


def asked(name: str, **changes: Any) -> Question:
    return msgspec.convert(question(name, **changes), Question)


def papers(count: int, figures: int, each: int) -> list[Question]:
    """So many papers of so many figures with so many questions."""
    return [
        asked(f"p{p}f{f}q{at}", images=[f"p{p}f{f}.png"], group=f"p{p}", evidence=["spots"])
        for p in range(count)
        for f in range(figures)
        for at in range(each)
    ]


def test_the_published_way_trains_on_the_figures_of_gold() -> None:
    """The paper's own books: one gold candidate a figure, silver all the rest: 2,707 of 3,076."""
    some = papers(385, 1, 8)[:3076]  # 4 short of 3,080, as 4 questions of theirs were lost
    candidates = [f"p{at}f0q0" for at in range(385)]
    gold = dict.fromkeys(candidates[:369], "A")
    made = silver.part(some, gold, candidates, "published")
    assert (len(made.gold), len(made.silver), len(made.drops)) == (369, 2707, 0)
    assert made.leak == made.published
    assert (made.leak.figure, made.leak.group, made.leak.not_settled) == (369, 369, 16)
    apart = silver.part(some, gold, candidates)
    assert apart.published == made.leak
    assert (apart.leak.figure, apart.leak.group, apart.leak.not_settled) == (0, 0, 0)
    assert len(apart.silver) == 3076 - 369 * 8 - 16


def test_whole_papers_for_gold_leave_silver_whole() -> None:
    some = papers(4, 2, 8)
    seen = [each.id for each in some if each.group == "p1"]
    made = silver.part(some, dict.fromkeys(seen[1:], "A"), seen)
    assert {each.group for each in made.silver} == {"p0", "p2", "p3"}
    assert [(each.sample, each.reason) for each in made.drops] == [("p1f0q0", "not_settled")]


def test_one_figure_that_two_papers_print_is_one_figure() -> None:
    some = [
        asked("g", images=["a.png"], group="1"), asked("again", images=["b.png"], group="2"),
        asked("far", images=["c.png"], group="3"),
    ]  # fmt: skip
    same = {"a.png": "0" * 64, "b.png": "0" * 64}  # c.png is not at hand
    made = silver.part(some, {"g": "A"}, ["g"], photos=same)
    assert [each.id for each in made.silver] == ["far"]
    assert [(each.sample, each.reason) for each in made.drops] == [("again", "figure_in_gold")]
    assert (made.leak.figure, made.published.figure, made.published.group) == (0, 1, 0)


def test_reasons() -> None:
    some = [
        asked("g", images=["a.png"], group="1"), asked("lost", images=["z.png"], group="9"),
        asked("figure", images=["b.png", "a.png"], group="2"), asked("group", group="1"),
        asked("far", images=["c.png"], group="3"),
    ]  # fmt: skip
    made = silver.part(some, {"g": "A"}, ["g", "lost"])
    assert {each.sample: each.reason for each in made.drops} == {
        "lost": "not_settled", "figure": "figure_in_gold", "group": "group_in_gold",
    }  # fmt: skip
    assert [each.id for each in made.silver] == ["far"]


def test_the_settled_answer_is_golds() -> None:
    """Evidence was written for the generated answer and goes with it."""
    some = [asked("a", evidence=["spots"]), asked("b", evidence=["spots"])]
    made = silver.part(some, {"a": "A", "b": "C"}, ["a", "b"])
    assert [(each.answer, each.evidence) for each in made.gold] == [("A", ("spots",)), ("C", ())]


@pytest.mark.parametrize(
    ("gold", "says"),
    [({"a": "E"}, "settled letter"), ({"x": "A"}, "got none for 1: x")],
)
def test_gold_of_another_set_is_refused(gold: dict[str, str], says: str) -> None:
    with pytest.raises(Refused, match=says):
        silver.part([asked("a")], gold, gold)
    with pytest.raises(Usage, match="--silver"):
        silver.part([asked("a")], {}, [], "half")


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from("gln")), max_size=20
    )
)
def test_apart_means_apart_and_books_balance(rows: list[tuple[int, int, str]]) -> None:
    some = [
        asked(f"{at:02}", images=[f"{figure}.png"], group=str(group))
        for at, (figure, group, _) in enumerate(rows)
    ]
    seen = {each.id: row[2] for each, row in zip(some, rows, strict=True) if row[2] != "n"}
    gold = {name: "B" for name, sort in seen.items() if sort == "g"}
    made = silver.part(some[::-1], gold, seen)
    ids = [e.id for e in made.gold] + [e.id for e in made.silver] + [e.sample for e in made.drops]
    assert sorted(ids) == [each.id for each in some]
    assert not {e.images for e in made.gold} & {e.images for e in made.silver}
    assert not {e.group for e in made.gold} & {e.group for e in made.silver}
    assert (made.leak.figure, made.leak.group, made.leak.not_settled) == (0, 0, 0)


def test_what_is_written(tmp_path: Path) -> None:
    made = silver.part(papers(2, 1, 2), {"p0f0q0": "A"}, ["p0f0q0"], "published")
    silver.write(made, tmp_path)
    counts = {path.name: len(path.read_text().splitlines()) for path in tmp_path.glob("*.jsonl")}
    assert counts == {silver.GOLD: 1, silver.SILVER: 3, silver.DROPS: 0}
    told = json.loads((tmp_path / silver.LEAK).read_text())
    assert told["leak"] == {"gold": 1, "silver": 3, "figure": 1, "group": 1, "not_settled": 0}
    assert "gold questions with a figure in silver 1, with a group 1" in silver.line(made)
