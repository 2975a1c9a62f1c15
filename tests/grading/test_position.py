"""The position probe, against models that do one thing."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.metrics.photos import CANDIDATES, LESION, photo, reply, said

from fieldtruth.grading import Graded, grade, position
from fieldtruth.records import Item

ORDERS = ("candidates", "candidates+rotate1", "candidates+rotate2", "candidates+rotate3")
ITEMS = [
    *(photo("lesion", n, label=CANDIDATES[n % 4]) for n in range(8)),
    photo("healthy", 8),
    photo("lesion", 9, candidates=None),
    photo("lesion", 10, label="wilt"),  # the truth is not on its list
]
Answers = Callable[[Item, Sequence[str]], str]


def asked(answers: Answers, orders: Sequence[str] = ORDERS, model: str = "m") -> list[Graded]:
    found = []
    for order in orders:
        by = int(order[-1]) if order[-1].isdigit() else 0
        turned = CANDIDATES[by:] + CANDIDATES[:by]
        rows = [
            reply(item, answers(item, turned), protocol=order, model=model)
            for item in ITEMS
            if item.candidates
        ]
        found.append(grade(ITEMS, rows, order))
    return found


def probe(answers: Answers, orders: Sequence[str] = ORDERS) -> dict[str, Any]:
    found = position(asked(answers, orders))
    assert list(found) == ["m"]
    assert list(found["m"]) == ["candidates"]
    only: dict[str, Any] = found["m"]["candidates"]
    return only


def shares(cells: Sequence[dict[str, Any]]) -> list[tuple[float | None, int]]:
    return [(cell["value"], cell["n"]) for cell in cells]


def test_a_model_that_knows() -> None:
    found = probe(lambda item, _: said(LESION, item.label or ""))
    assert found["orders"] == list(ORDERS)
    assert (found["complete"], found["items"]) == (True, 8)
    assert found["answers"] == {"n": 32, "counts": [8] * 4, "shares": [0.25] * 4}
    assert shares(found["accuracy"]) == [(1.0, 8)] * 4
    assert found["same_answer"] == {"value": 1.0, "n": 8}


def test_a_model_that_takes_the_first() -> None:
    found = probe(lambda _, turned: said(LESION, turned[0]))
    assert found["answers"] == {"n": 32, "counts": [32, 0, 0, 0], "shares": [1.0, 0.0, 0.0, 0.0]}
    assert shares(found["accuracy"]) == [(1.0, 8), (0.0, 8), (0.0, 8), (0.0, 8)]
    assert found["same_answer"] == {"value": 0.0, "n": 8}


def test_a_model_that_knows_one_name() -> None:
    found = probe(lambda *_: said(LESION, "Rust"))
    assert found["answers"]["counts"] == [8] * 4
    assert shares(found["accuracy"]) == [(0.25, 8)] * 4
    assert found["same_answer"]["value"] == 1.0


@pytest.mark.parametrize("words", ["[]", "no idea", "", said(LESION, "wilt"), said(LESION, "")])
def test_what_names_nothing_on_the_list_stands_nowhere(words: str) -> None:
    found = probe(lambda *_: words)
    assert found["answers"] == {"n": 0, "counts": [0] * 4, "shares": [None] * 4}
    assert shares(found["accuracy"]) == [(0.0, 8)] * 4
    assert found["same_answer"] == {"value": 0.0, "n": 8}


def test_fewer_orders_are_said_to_be_fewer() -> None:
    found = probe(lambda item, _: said(LESION, item.label or ""), ORDERS[1:3])
    assert (found["complete"], found["orders"]) == (False, list(ORDERS[1:3]))
    assert found["answers"]["n"] == 16
    assert position(asked(lambda *_: "[]", ORDERS[:1])) == {}
    assert position(asked(lambda *_: "[]", ORDERS[1:2])) == {}


def test_only_items_measured_in_every_order_count() -> None:
    some = asked(lambda item, _: said(LESION, item.label or ""))
    rows = [reply(item, "right", protocol=ORDERS[3], model="m") for item in ITEMS[2:6]]
    some[3] = grade(ITEMS, rows, ORDERS[3])
    found = position(some)["m"]["candidates"]
    assert (found["items"], found["same_answer"]["n"]) == (4, 4)
    assert sum(n for _, n in shares(found["accuracy"])) == 16


def test_models_and_other_controls_are_kept_apart() -> None:
    one = asked(lambda *_: said(LESION, "rust"), model="a")
    other = asked(lambda *_: "[]", ORDERS[:2], model="b")
    blank = [reply(item, "right", protocol="candidates+blank", model="a") for item in ITEMS[:8]]
    found = position([*one, *other, grade(ITEMS, blank, "candidates+blank")])
    assert found["a"]["candidates"]["answers"]["n"] == 32
    assert (found["b"]["candidates"]["answers"]["n"], found["b"]["candidates"]["complete"]) == (
        0,
        False,
    )
    assert position([]) == {}
