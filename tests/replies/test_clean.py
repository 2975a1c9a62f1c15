"""A clean list is read at once, and as the reader of any reply reads it."""

import json

import numpy as np
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


def test_a_list_that_was_cut_off_anywhere() -> None:
    """Every beginning of a reply, and some with a letter that does not belong there."""
    read = 0
    for number in range(30):
        draw = rng(0, "cut off", str(number))
        rows = [
            {"bbox_2d": np.round(draw.normal(500, 400, 4), number % 3).tolist(),
             "label": str(draw.choice(["rust", "b}", "[1, 2]", "a{ b", "//", "it's", "\u00e9"]))}
            for _ in range(2)
        ]  # fmt: skip
        text = json.dumps(rows, ensure_ascii=False, indent=(None, 1)[number % 2])
        text = ("", "```json\n")[number % 3 == 0] + text
        for end in range(1, len(text) + 1):
            odd = str(draw.choice(list('[]{}",: 1-.e\n`')))
            for words in (text[:end], text[:end] + odd, text[:end] + odd + text[end + 1 : end + 9]):
                clean = read_clean(words, "norm1000", "length")
                if clean is not None:
                    read += 1
                    assert repr(clean) == repr(repaired(words, "norm1000", "length")), words
    assert read > 1500


@pytest.mark.parametrize(
    "text",
    [
        "[]", " [ ] ", f"[{BOX}]", f"[{BOX}, {BOX}]", f"```json\n[{BOX}]\n```", "```\n[]\n```",
        '[{"box_2d": [1, 2, 3, 4]}]', '[{"bbox_2d": [1, 2, 3, 4], "label": null}]',
        '[{"bbox_2d": [30, 40, 10, 20]}]', '[{"bbox_2d": [-5, 0, 1e3, 2000]}]',
        f'[{BOX}, {{"bbox_2d": [1, 1, 1, 9], "label": "scab"}}]',
        '[{"bbox_2d": [1, 2, 3, 4], "bbox_2d": [5, 6, 7, 8], "label": "[1, 2, 3, 4] // no"}]',
        f"[{BOX}", f"[{BOX},", f'[{BOX}, {{"bbox_2d": [5, 6.5,', f"[{BOX}, {BOX[:-3]}",
        "```json\n[]",
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
        "", "null", "none", f"Here: [{BOX}]", f"[{BOX},]", f"[{BOX}] []", BOX,
        f"<think>[{BOX}]</think>[]", '[{"bbox_2d": [-0, 2, 3, 4]}]', '[{"bbox_2d": [1, 2, 3]}]',
        '[{"bbox_2d": [1, 2, 3, "4"]}]', '[{"bbox_2d": [1, 2, 3, NaN]}]', '[{"bbox_2d": null}]',
        '[{"bbox_2d": [1, 2, 3, 1e13]}]', '[{"bbox_2d": [1, 2, 1, 4]}]', "[", "```json\n[", "```",
        f"[{BOX}, {{{{", f"[{BOX}, {{\"bbox_2d\": [1 2", f"[{BOX}, 7", f"[{BOX}\n```json",
        json.dumps([{"bbox_2d": [1, 2, 3, 4], "label": "rust\n"}]), "[" * 10_000,
        '[{"bbox_2d": [1, 2, 3, 4], "label": "<box>(1,2),(3,4)</box>"}]',
        '[{"bbox_2d": [1, 2, 3, 4], "score": 0.5}]',
        '[{"bbox_2d": [1, 2, 3, 4], "label": "\ud800"}]',
        json.dumps([{"bbox_2d": [1, 2, 3, 4]}] * 5000),
    ],
)  # fmt: skip
def test_what_it_leaves(text: str) -> None:
    assert read_clean(text, "norm1000", "stop") is None
