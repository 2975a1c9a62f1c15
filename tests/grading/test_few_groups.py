"""How many groups a number stands on lies apart from it, and comes back where it is shown."""

from copy import deepcopy
from typing import Any

from fieldtruth.grading.few_groups import aside, marked


def a_number(groups: int | None = None, n: int = 8) -> dict[str, Any]:
    made: dict[str, Any] = {"value": 0.5, "low": 0.5, "high": 0.5, "n": n}
    return made if groups is None else made | {"groups": groups}


def a_result(*, counted: bool) -> dict[str, Any]:
    one, four = (1, 4) if counted else (None, None)
    return {
        "models": {"m": {"open": {"all": {"accuracy": a_number(), "n": 8},
                                  "types": {"pest": {"accuracy": a_number(one)}}}}},
        "paired": [{"a": "m", **a_number()}, {"a": "m", **a_number(four)}],
        "settings": {"groups": 3},
    }  # fmt: skip


def test_the_numbers_keep_the_keys_of_the_contract() -> None:
    plain = a_result(counted=False)
    assert aside(a_result(counted=True)) == plain | {
        "few_groups": {
            "models": {"m": {"open": {"types": {"pest": {"accuracy": 1}}}}},
            "paired": {"1": 4},
        }
    }
    assert aside(deepcopy(plain)) == plain


def test_they_come_back_in_a_copy() -> None:
    told = aside(a_result(counted=True))
    before = deepcopy(told)
    assert marked(told) == a_result(counted=True)
    assert told == before
    assert marked(a_result(counted=False)) == a_result(counted=False)


def test_a_tree_of_another_result_marks_nothing() -> None:
    plain = a_result(counted=False)
    wrong = {"models": {"other": {"open": 1}, "m": {"open": 2}}, "paired": {"9": 1}, "settings": 1}
    assert marked(plain | {"few_groups": wrong}) == plain
