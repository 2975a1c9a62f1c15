"""The right reply of a row, read as a model's reply would be: by `replies.read_boxes`."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from math import ceil

from fieldtruth import taxonomy
from fieldtruth.formats.chat import shown
from fieldtruth.formats.contract import PLACEHOLDER
from fieldtruth.geometry import space_limits
from fieldtruth.records import Reading, Space
from fieldtruth.replies import read_boxes
from fieldtruth.stages.check.problems import Found

BUDGET = 1024  # tokens of a reply that `predict` asks servers for when nobody says otherwise

# What the reader leaves out, whatever else it keeps (`replies.boxes`).
_LEFT_OUT = ("unclosed", "no_box", "wrong_length", "not_a_number", "cut_off", "too_many")
_OF_BOXES = ("zero_area", "swapped_corners", "out_of_space", "several_lists")
_STEP: dict[Space, float] = {"norm1": 1e-4}  # the smallest step that is written; else 1
_SOME_LIST = re.compile(r"[\[{<]")


def answer(
    text: str, space: Space, size: tuple[int, int] | None, *, boxes_only: bool
) -> tuple[Reading, list[Found]]:
    """How a reply is read, and what is wrong with it.

    `size` is the photo's, where it is known: two spaces have limits that depend on it.
    `boxes_only`: it has to be boxes or `[]`, cleanly written; else a reply may also be prose.
    """
    reading = read_boxes(text, space, "stop")
    found = [*literal(text, "the answer"), *_boxes(reading, space, size)]
    found += _readable(text, reading, boxes_only=boxes_only)
    if "several_lists" in reading.repairs:
        found.append(Found("several_answers", shown(text)))
    return reading, found


def literal(text: str, where: str) -> Iterator[Found]:
    """`literal_image` where the words hold what stands for a photo."""
    if seen := PLACEHOLDER.search(text):
        yield Found("literal_image", f"{seen[0]} in {where}")


def too_long(text: str, budget: int) -> Iterator[Found]:
    """`answer_too_long` where the reply and its end may take more tokens than the budget."""
    if len(text.encode()) < budget:
        return  # no byte is more than a token
    count = tokens(text) + 1
    if count > budget:
        yield Found("answer_too_long", f"about {count:,} tokens, expected at most {budget:,}")


_PIECES = re.compile(r"(\d)|([^\W\d_]+)|([^\w\s]+|_+)|(\s+)(?=\d)")


def tokens(text: str) -> int:
    """About how many tokens a text takes, rather too many than too few.

    Pieces as Qwen's tokenizer cuts them: every digit is one, and so is the blank before it; a
    word is one for every four bytes that it begins, signs in a row one for every two. A box with
    a name of two words comes to about 40, where the published 256 tokens held about 7.

    >>> tokens('[{"bbox_2d": [101, 202, 303, 404], "label": "early blight"}]')
    38
    """
    count = 0
    for digit, word, signs, _ in _PIECES.findall(text):
        if word:
            count += ceil(len(word.encode()) / 4)
        else:
            count += 1 if digit else max(1, ceil(len(signs.encode()) / 2))
    return count


def _boxes(reading: Reading, space: Space, size: tuple[int, int] | None) -> Iterator[Found]:
    if "zero_area" in reading.repairs:
        yield Found("degenerate_box", "a box without width or height; it would be left out")
    if "swapped_corners" in reading.repairs:
        yield Found("degenerate_box", "corners out of order, expected the lower one first")
    step = _STEP.get(space, 1.0)
    across, down = space_limits(space, *(size or (None, None)))
    for box in reading.boxes:
        x1, y1, x2, y2 = (round(value / step) for value in box)
        if x1 >= x2 or y1 >= y2:
            yield Found("degenerate_box", f"{list(box)} has no area in whole steps of {space}")
        if min(box) < 0 or box[2] > across or box[3] > down:
            limit = f"{across:g} x {down:g}" if across != down else f"{across:g}"
            yield Found("box_out_of_space", f"{list(box)}, expected 0 to {limit} in {space}")


def _readable(text: str, reading: Reading, *, boxes_only: bool) -> Iterator[Found]:
    left_out = [each for each in reading.repairs if each in _LEFT_OUT]
    mended = [each for each in reading.repairs if each not in (*_LEFT_OUT, *_OF_BOXES)]
    if reading.outcome == "unreadable" and "zero_area" not in reading.repairs:
        # In a chat of another kind a bare number or word may be the answer.
        if boxes_only or not text.strip() or _SOME_LIST.search(text):
            yield Found("unreadable_answer", f"{shown(text)} is no list of boxes")
    elif reading.outcome == "prose" and boxes_only:
        yield Found("unreadable_answer", f"{shown(text)} is prose, expected boxes or []")
    elif left_out and reading.outcome == "boxes":
        yield Found("unreadable_answer", f"a part would be left out: {', '.join(left_out)}")
    elif mended and boxes_only:
        yield Found("unreadable_answer", f"read only when mended: {', '.join(mended)}")


def labels(names: dict[str, None], crop: str | None = None) -> Iterator[Found]:
    """`unknown_label` for each name that the taxonomy does not know; blank ones pass."""
    for name in names:
        if name.strip() and not _known(name, crop):
            yield Found("unknown_label", f"{shown(name)}: see `fieldtruth taxonomy NAME`")


@lru_cache(maxsize=65536)
def _known(name: str, crop: str | None) -> bool:
    """Whether it means a label, one of several, or names a class of them ("leaf miner")."""
    found = taxonomy.resolve(name, crop)
    return bool(found.label or found.collision or found.id in _classes())


@cache
def _classes() -> frozenset[str]:
    """The last words of all labels, as many as there are: "miner", "leaf miner"."""
    words = (name.split() for name in taxonomy.names())
    return frozenset(" ".join(each[at:]) for each in words for at in range(len(each)))
