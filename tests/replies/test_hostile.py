"""A megabyte of brackets, quotes or tags is read in about a second, whatever they are."""

from time import process_time

import pytest

from fieldtruth.replies import read_boxes, read_choice

OPTIONS = ("late blight", "early blight", "septoria leaf spot", "healthy")
RUST = '{"bbox_2d":[10,20,30,40],"label":"rust"}'
UNITS = [
    "[", "]", "{", "[{", "[]", "{}", "][", '{"a":', '{"a":[', "[[]]", "[1,", "[1]", "{a:", RUST,
    RUST + ",", "[" * 24 + "]" * 24, '"', "'", '["', "['", " '", "\\", '\\"', "9", "-", ".", "1e",
    "/*", "//", "/", "```", "``` ", "```json\n", " ", "\n", "\x00", "\ud800", "<think>", "</think>",
    "<", "<loc0001>", "<box>", "<ref>", "<box>(1,2),(3,4)", "(", "A ", "B ", "Answer: ", "answer",
    "Answer: A\n", "A\n", "option ", "not B, ", "B is ", "is right ", "late ", "late blight ",
    "not late blight, ", "**", "_", "a", "null", "é",
]  # fmt: skip


def seconds(text: str) -> float:
    begun = process_time()
    read_boxes(text, "loc1024", "stop")
    read_choice(text, OPTIONS, "stop")
    return process_time() - begun


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("head", ["", "[", '[{"bbox_2d":', "Answer: "])
def test_no_words_take_more_than_their_share_of_time(head: str, unit: str) -> None:
    text = head + unit * (50_000 // len(unit))
    assert seconds(text) < 10  # about 0.05 on a quiet machine; a quadratic reader takes minutes


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["[", "[{", "[]", "][", "{}", "[1]", "[1,", '["', "/*", RUST])
def test_a_megabyte_is_read_in_about_a_second(unit: str) -> None:
    assert (
        seconds(unit * (1_000_000 // len(unit))) < 30
    )  # about 0.5 on a quiet machine; a quadratic reader takes hours


def test_twice_the_words_take_about_twice_the_time() -> None:
    def taken(size: int) -> float:
        text = '[{"bbox_2d":[1,2,' * size
        begun = process_time()
        read_boxes(text, "pixel", "stop")
        return process_time() - begun

    small = min(taken(2_000) for _ in range(3))
    assert min(taken(20_000) for _ in range(3)) < 40 * small  # a quadratic reader: 100 times
