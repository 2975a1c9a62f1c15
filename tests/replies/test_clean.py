"""A clean list is read at once, and as the reader of any reply reads it."""

import json

import pytest
from tests.fuzzed import reply

from fieldtruth.draws import rng
from fieldtruth.records import Finish, Space
from fieldtruth.replies.boxes import read_boxes, repaired
from fieldtruth.replies.clean import read_clean

SPACES: tuple[Space, ...] = ("norm1000", "pixel", "yx1000", "norm1", "loc1024")
ENDS: tuple[Finish, ...] = ("stop", "length")
BOX = '{"bbox_2d": [10, 20.5, 30, 40], "label": "leaf rust"}'


def test_it_says_what_the_other_says() -> None:
    read = 0
    for number in range(2500):
        draw = rng(0, "clean", str(number))
        text, space, finish = reply(draw), SPACES[number % 5], ENDS[number % 2]
        clean = read_clean(text, space, finish)
        if clean is not None:
            read += 1
            assert repr(clean) == repr(repaired(text, space, finish)), text
    assert read > 200


@pytest.mark.parametrize(
    "text",
    [
        "[]", " [ ] ", f"[{BOX}]", f"[{BOX}, {BOX}]", f"```json\n[{BOX}]\n```", "```\n[]\n```",
        '[{"box_2d": [1, 2, 3, 4]}]', '[{"bbox_2d": [1, 2, 3, 4], "label": null}]',
        '[{"bbox_2d": [30, 40, 10, 20]}]', '[{"bbox_2d": [-5, 0, 1e3, 2000]}]',
        f'[{BOX}, {{"bbox_2d": [1, 1, 1, 9], "label": "scab"}}]',
        '[{"bbox_2d": [1, 2, 3, 4], "bbox_2d": [5, 6, 7, 8], "label": "[1, 2, 3, 4] // no"}]',
    ],
)  # fmt: skip
def test_what_it_reads(text: str) -> None:
    for space in SPACES:
        clean = read_clean(text, space, "stop")
        assert clean is not None
        assert (
            repr(clean)
            == repr(repaired(text, space, "stop"))
            == repr(read_boxes(text, space, "stop"))
        )


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "none", f"Here: [{BOX}]", f"[{BOX}", f"[{BOX},]", f"[{BOX}] []", BOX,
        f"<think>[{BOX}]</think>[]", '[{"bbox_2d": [-0, 2, 3, 4]}]', '[{"bbox_2d": [1, 2, 3]}]',
        '[{"bbox_2d": [1, 2, 3, "4"]}]', '[{"bbox_2d": [1, 2, 3, NaN]}]', '[{"bbox_2d": null}]',
        '[{"bbox_2d": [1, 2, 3, 1e13]}]', '[{"bbox_2d": [1, 2, 1, 4]}]', "```json\n[]",
        json.dumps([{"bbox_2d": [1, 2, 3, 4], "label": "rust\n"}]), "[" * 10_000,
        '[{"bbox_2d": [1, 2, 3, 4], "label": "<box>(1,2),(3,4)</box>"}]',
        '[{"bbox_2d": [1, 2, 3, 4], "score": 0.5}]',
        '[{"bbox_2d": [1, 2, 3, 4], "label": "\ud800"}]',
        json.dumps([{"bbox_2d": [1, 2, 3, 4]}] * 5000),
    ],
)  # fmt: skip
def test_what_it_leaves(text: str) -> None:
    assert read_clean(text, "norm1000", "stop") is None
