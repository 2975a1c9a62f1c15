"""The mix of prompts: what cannot be asked is left out before quotas are met, and they are met."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import NAMES, example, examples_folder, leaf

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Example
from fieldtruth.stages.grpo import mix
from fieldtruth.stages.grpo.mix import draw, order, shares
from fieldtruth.stages.grpo.settings import Mix
from fieldtruth.tuning.rows import Rows

BOX = (10.0, 8.0, 30.0, 24.0)


def one(name: str, role: str, boxes: int = 1, **changes: Any) -> Example:
    listed: dict[str, Any] = {"protocol": "candidates", "candidates": NAMES, "query": None}
    fields: dict[str, Any] = {"role": role, "image": "a.png", "group": name}
    if role == "positive":
        fields["boxes"] = (BOX,) * boxes
        fields["answer"] = "[]"
    return example(name, **(fields | (listed if changes.pop("listed", False) else {}) | changes))


def rows(folder: Path, some: list[Example]) -> Rows:
    leaf(folder / "release" / "a.png")
    return Rows([store.open_examples(examples_folder(folder, some))])


def plenty(each: int = 12) -> list[Example]:
    return [
        one(f"{role}-{boxes}-{listed}-{number}", role, boxes, listed=listed)
        for role, boxes in (("positive", 1), ("positive", 5), ("healthy", 0), ("wrong_target", 0))
        for listed in (False, True)
        for number in range(each)
    ]


def fit(_: Example) -> bool:
    return False


def kinds(asked: Rows, taken: list[int]) -> Counter[str]:
    return Counter(mix.kind_of(asked[number][0], Mix()) for number in taken)


def test_quotas_are_met_to_the_last_prompt(tmp_path: Path) -> None:
    asked = rows(tmp_path, plenty())
    taken, books = draw(asked, Mix(size=50, healthy=0.16, wrong_target=0.12), 0, fit)
    assert kinds(asked, taken) == {
        "healthy listed": 4, "healthy named": 4, "wrong_target listed": 3, "wrong_target named": 3,
        "dense listed": 9, "dense named": 9, "sparse listed": 9, "sparse named": 9,
    }  # fmt: skip
    assert (books.examples, books.taken, dict(books.dropped)) == (96, 50, {"spare": 46})
    assert books.cells["dense listed"].had == 12
    assert sum(cell.taken for cell in books.cells.values()) == 50


def test_the_published_quotas_are_missed_by_none(tmp_path: Path) -> None:
    """Reference, section 13: 4,000 x 4 + 1,500 x 2, of which its filter left 18,750 of 19,000."""
    told = shares(Mix(healthy=3000 / 19_000))
    made = mix._quotas(told, 19_000)
    assert {kind: made[kind] for kind in ("dense listed", "healthy named")} == {
        "dense listed": 4000, "healthy named": 1500,
    }  # fmt: skip
    some = plenty(8)
    large = [one(f"large-{n}", "positive", 5, width=1000, height=501) for n in range(8)]
    taken, books = draw(rows(tmp_path, [*large, *some]), Mix(size=20, healthy=0.2), 0, fit)
    assert len(taken) == 20
    assert books.dropped["too_large"] == 8
    assert books.cells["dense named"].had == 8


def test_what_the_reward_cannot_pay_is_left_out_first(tmp_path: Path) -> None:
    asked = rows(tmp_path, plenty())
    unfit = {asked[number][0].id for number in range(0, len(asked), 3)}
    taken, books = draw(asked, Mix(size=30), 0, lambda each: each.id in unfit)
    assert not unfit & {asked[number][0].id for number in taken}
    assert (len(taken), books.dropped["unfit"]) == (30, 32)


def test_a_uniform_mix_takes_positives_as_they_come(tmp_path: Path) -> None:
    assert shares(Mix(healthy=0.2, uniform=True)) == pytest.approx(
        {"healthy listed": 0.1, "healthy named": 0.1, "positive listed": 0.4, "positive named": 0.4}
    )
    _, books = draw(rows(tmp_path, plenty()), Mix(size=40, uniform=True), 0, fit)
    assert books.cells["positive named"].had == 24


def test_without_a_size_it_is_as_large_as_its_shares_allow(tmp_path: Path) -> None:
    asked = rows(tmp_path, plenty(4))
    taken, books = draw(asked, Mix(healthy=0.5), 0, fit)
    found = kinds(asked, taken)
    assert found["healthy listed"] == 4  # all there are of what is wanted most
    assert sum(found.values()) == books.taken == 16


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (Mix(size=200), "expected 16 prompts that are healthy listed, got 12"),
        (Mix(healthy=0, wrong_target=0, dense_boxes=9), "dense listed, got 0"),
    ],
)
def test_too_few_of_a_kind_is_said(tmp_path: Path, told: Mix, words: str) -> None:
    with pytest.raises(Usage, match=words):
        draw(rows(tmp_path, plenty()), told, 0, fit)


@pytest.mark.parametrize("role", ["healthy", "wrong_target", "dense", "sparse"])
@pytest.mark.parametrize("listed", [False, True])
def test_a_kind_that_there_is_none_of_is_said_whatever_the_size(
    tmp_path: Path, role: str, *, listed: bool
) -> None:
    """Without a size the mix would be of no prompts at all; it was of one."""
    told = Mix(healthy=0.2, wrong_target=0.2)
    missing = f"{role} {'listed' if listed else 'named'}"
    some = [each for each in plenty() if mix.kind_of(each, told) != missing]
    with pytest.raises(Usage, match=f"expected 1 prompts that are {missing}, got 0"):
        draw(rows(tmp_path, some), told, 0, fit)


def test_rounding_makes_no_kind_and_takes_no_prompt(tmp_path: Path) -> None:
    assert 1 - 0.18 - 0.82 > 0  # what floats leave for positives
    told = Mix(healthy=0.18, wrong_target=0.82)
    assert set(shares(told)) == {
        f"{role} {form}" for role in ("healthy", "wrong_target") for form in ("listed", "named")
    }
    some = [each for each in plenty(50) if each.role in ("healthy", "wrong_target")]
    assert draw(rows(tmp_path, some), told, 0, fit)[1].taken == 121  # 50 / 0.41
    assert 56 / 0.56 < 100
    assert mix._wanted({"a": 0.56, "b": 0.44}, {"a": 56, "b": 44}, None) == {"a": 56, "b": 44}


def test_what_is_drawn_is_keyed_by_the_example(tmp_path: Path) -> None:
    some = plenty()
    one_way, other_way = rows(tmp_path / "a", some), rows(tmp_path / "b", some[::-1])
    told = Mix(size=24)
    names = [
        [asked[number][0].id for number in draw(asked, told, seed, fit)[0]]
        for asked, seed in ((one_way, 0), (other_way, 0), (one_way, 1))
    ]
    assert names[0] == names[1]
    assert set(names[0]) != set(names[2])


def test_each_pass_has_an_order_of_its_own_and_all_of_the_mix(tmp_path: Path) -> None:
    asked = rows(tmp_path, plenty(2))
    taken, _ = draw(asked, Mix(), 0, fit)
    asks = order(asked, taken, 0, 2 * len(taken) + 3)
    first, second, rest = asks[: len(taken)], asks[len(taken) : 2 * len(taken)], asks[-3:]
    assert sorted(first) == sorted(second) == sorted(taken)
    assert first != second
    assert set(rest) <= set(taken)


@given(shares=st.lists(st.integers(1, 50), min_size=1, max_size=8), size=st.integers(1, 20_000))
def test_quotas_add_up_and_are_the_nearest(shares: list[int], size: int) -> None:
    told = {f"kind {place}": each / sum(shares) for place, each in enumerate(shares)}
    made = mix._quotas(told, size)
    assert sum(made.values()) == size
    assert all(abs(made[kind] - size * told[kind]) < 1 + 1e-6 for kind in told)
