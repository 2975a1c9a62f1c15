"""The published reward: its numbers, its reader, and a second one in plain loops."""

import json
from math import ceil, floor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzzed import reply
from tests.rewards import reference
from tests.rewards.replies import FOUR, SPECK, TRUE, absent, one, rollout, words

from fieldtruth import geometry
from fieldtruth.draws import rng
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.rewards.contract import Rollout, pay
from fieldtruth.rewards.published import (
    RECOGNITION_WEIGHTED,
    REWARD,
    Published,
    Weights,
    parse,
    region,
)

FAR = (800, 800, 950, 950)
BOX = '{"bbox_2d": [1, 2, 3, 4], "label": "Leaf  RUST"}'


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (rollout(words(*TRUE)), 1.0),
        (rollout(words(*TRUE, name="scab")), 1.0),  # a known target's name is not looked at
        (rollout(words(*TRUE, name=None)), 1.0),
        (rollout(words(*TRUE), choose=True), 1.0),
        (rollout("[]"), 0.10),
        (rollout("[]", choose=True), 0.10),
        (absent("[]"), 1.0),
        (absent("[]", choose=True), 1.0),
        (absent(words(FAR)), 0.10),
        (absent("fine"), 0.0),
        (rollout("rust"), 0.0),
        (rollout(words(SPECK), choose=True), 0.50),
        (rollout(words(FAR), choose=True), 0.50),
        (rollout(words(FAR, name="scab"), choose=True), 0.3125),
        (rollout(words(FAR, name="gall"), choose=True), 0.25),
        (rollout(words(FAR, name=None), choose=True), 0.25),
        (rollout(words(*TRUE, name="gall"), choose=True), 0.75),
        (rollout(words(SPECK)), 0.25),
        (absent(words(FAR), healthy=False), 0.25),  # boxes where there is nothing: over the empty
        (absent("[]", healthy=False), 0.10),
        (rollout(words(TRUE[0]), true=TRUE[:2]),
         0.10 + 0.525 * (2 / 3 + 1 / 2) / 2 + 0.1125 + 0.15),
        # 4 true of 5 said: specks stay in the precision
        (rollout(words(*TRUE, SPECK)), 0.10 + 0.525 * (6 / 7 + 1) / 2 + 0.225 + 0.15),
        # two specks outvote one real box
        (rollout(json.dumps([{"bbox_2d": TRUE[0], "label": "scab"}]
            + 2 * [{"bbox_2d": SPECK, "label": "rust"}]), true=TRUE[:1], choose=True),
         0.10 + 0.35 * (1 / 2 + 1) / 2 + 0.15 + 0.25 + 0.15),
    ],
)  # fmt: skip
def test_its_numbers(asked: Rollout, expected: float) -> None:
    assert one(REWARD, asked).reward == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"[{BOX}]", ([(1, 2, 3, 4)], ["leaf rust"])),
        (f"```json\n[{BOX}]\n```", ([(1, 2, 3, 4)], ["leaf rust"])),
        (f"```\n[{BOX}]", ([(1, 2, 3, 4)], ["leaf rust"])),
        (" [] ", ([], [])),
        ('[{"bbox_2d": [30, -4, 10, 2000]}]', ([(10, 0, 30, 1000)], [""])),
        ('[{"bbox_2d": [1, 2, 3, 4], "label": null}]', ([(1, 2, 3, 4)], [""])),
        (BOX, None),
        ("null", None),
        (f"Here: [{BOX}]", None),
        (f"[{BOX}", None),
        (f"[{BOX}, 7]", None),
        (f'[{BOX}, {{"label": "rust"}}]', None),
        ('[{"bbox_2d": [1, 2, 3]}]', None),
        ('[{"bbox_2d": [1, 2, 3, "4"]}]', None),
        ('[{"bbox_2d": [1, 2, 3, NaN]}]', None),
        ('[{"bbox_2d": [1, 2, 3, 1e999]}]', None),
        (f'[{{"bbox_2d": [1, 2, 3, {"9" * 400}]}}]', None),
        (f'[{{"bbox_2d": [1, 2, 3, {"9" * 5000}]}}]', None),
        ("[" * 100_000, None),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_its_reader(text: object, read: object) -> None:
    assert parse(text) == read


def test_plain_loops_say_the_same() -> None:
    asked = []
    for number in range(1000):
        draw = rng(0, "published reward", str(number))
        corners = (draw.random((int(draw.integers(0, 5)), 2)) * 700).round(1)
        true = [(x, y, x + w, y + h) for x, y in corners for w, h in [draw.integers(5, 300, 2)]]
        text = reply(draw)
        if number % 2 and true:
            shift = draw.normal(0, 25, (len(true), 4)).round(1)
            moved = [
                [a + b for a, b in zip(*p, strict=True)] for p in zip(true, shift, strict=True)
            ]
            text = words(*moved, name=str(draw.choice(FOUR)))
        healthy = not true and number % 3 == 0
        asked.append(rollout(text, true=true, choose=number % 4 < 2, healthy=healthy))
    paid = pay(REWARD, asked)
    for each, row in zip(asked, paid, strict=True):
        truth = {
            "boxes": each.boxes, "label": "rust", "candidates": FOUR,
            "choose": each.protocol == "candidates", "healthy": each.healthy,
        }  # fmt: skip
        assert row.reward == pytest.approx(reference.published(each.text, truth), abs=1e-9), each
    assert len({round(row.reward, 6) for row in paid}) > 200


tens = st.tuples(*[st.integers(0, 100)] * 4).map(
    lambda of: (min(of[0], of[2]) * 10, min(of[1], of[3]) * 10,
                max(of[0], of[2]) * 10 + 10, max(of[1], of[3]) * 10 + 10)
).filter(lambda box: max(box) <= 1000)  # fmt: skip
several = st.lists(tens, min_size=1, max_size=5)
off = st.lists(st.floats(-4.9, 4.9), min_size=40, max_size=40)


@given(said=several, true=several, by=off)
def test_its_raster_and_the_exact_region(*, said: Any, true: Any, by: list[float]) -> None:
    """The same where corners lie on cells; else both lie between what whole cells allow."""
    exact = geometry.region_iou(geometry.as_boxes(said), geometry.as_boxes(true))
    assert region(said, true) == pytest.approx(exact, abs=1e-9)
    shift = iter(by)
    moved = [
        [tuple(min(1000.0, max(0.0, part + next(shift))) for part in box) for box in boxes]
        for boxes in (said, true)
    ]
    (a, b), (c, d) = ([cells(boxes) for cells in (reference.cells, whole)] for boxes in moved)
    low, high = len(b & d) / len(a | c), len(a & c) / max(1, len(b | d))
    exact = geometry.region_iou(*map(geometry.as_boxes, moved))
    for value in (exact, region(*moved)):
        assert low - 1e-9 <= value <= high + 1e-9


def whole(boxes: list[Any]) -> set[tuple[int, int]]:
    """Cells that lie whole in a box."""
    return {
        (x, y)
        for a, b, c, d in boxes
        for x in range(ceil(a / 10), floor(c / 10))
        for y in range(ceil(b / 10), floor(d / 10))
    }


def test_other_weights_are_of_one_call_only() -> None:
    asked = [rollout(words(FAR), choose=True), rollout(words(*TRUE[:1]), true=TRUE[:2])]
    before = pay(REWARD, asked)
    other = pay(Published(RECOGNITION_WEIGHTED), asked)
    assert other[0].reward == pytest.approx(0.60)
    place, recall = (2 / 3 + 1 / 2) / 2, 1 / 2
    assert other[1].reward == pytest.approx(0.25 + 1.875 * (0.30 * place + 0.10 * recall))
    assert pay(REWARD, asked) == before


@pytest.mark.parametrize(
    "weights",
    [
        {"format": 0.2},
        {"format": -0.1, "recognition": 0.45},
        {"format": float("nan")},
        {"localization": 0.0, "multi": 0.0, "recognition": 0.75},
    ],
)
def test_weights_that_are_no_shares(weights: dict[str, float]) -> None:
    with pytest.raises(Usage, match="expected"):
        Weights(**weights)


def test_coordinates_of_another_space() -> None:
    with pytest.raises(BadRecord, match=r"^reply 0: expected boxes in norm1000.*got pixel"):
        one(REWARD, rollout("[]", space="pixel"))
