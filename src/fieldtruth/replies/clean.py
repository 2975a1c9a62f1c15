"""The list that most replies are, read at once: nothing about it has to be repaired.

    [{"bbox_2d": [10, 20, 30, 40], "label": "rust"}, ...]

As it stands, or within one code fence, and also where the last tokens cut it off. `boxes` reads
every reply; this reads some of them to the same end in a tenth of the time, and leaves to it
whatever might be read in another way: other fields, escapes, tags of thoughts and of boxes, words
around the list.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import get_args

import msgspec

from fieldtruth.geometry import space_limits
from fieldtruth.records import Box, Finish, Reading, Space
from fieldtruth.replies.answers import FARTHEST, in_order

_MOST: dict[Space, float] = {
    space: min(space_limits(space)[0], FARTHEST) for space in get_args(Space)
}
_LONGEST = 100_000  # letters: far fewer brackets than `boxes` would count
_STARTS = ("```json\n", "```\n")
_END = "\n```"
# A backslash is an escape, the brackets begin tags; of -0 it is not told here that it is negative.
_ODD = ("\\", "<", "\u25c1", "`", "-0")
# What follows the last whole object of a list that was cut off: nothing, or part of an object.
_NUMBER = r"-?[0-9]++(?:\.[0-9]++)?+"
_PART = re.compile(
    rf"""\s*+(?:,\s*+(?P<object>\{{\s*+
          (?:"[^"\n]*+"\s*+:\s*+ (?:"[^"\n]*+" | \[{_NUMBER}(?:,\s*+{_NUMBER})*+\])\s*+,\s*+)*+
          (?:"[^"\n]*+ (?:"\s*+ (?::\s*+
              (?:"[^"\n]*+"?\s*+ | \[(?:{_NUMBER},\s*+)*+(?:{_NUMBER}\]?)?+\s*+)?+
          )?+)?+)?+
        )?+)?+""",
    re.VERBOSE | re.ASCII,
)


class _Qwen(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    bbox_2d: Box
    label: str | None = None


class _Gemini(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    bbox_2d: Box = msgspec.field(name="box_2d")
    label: str | None = None


_List = list[_Qwen] | list[_Gemini]
_Read = Callable[[str], _List]
_qwen: _Read = msgspec.json.Decoder(list[_Qwen]).decode
_gemini: _Read = msgspec.json.Decoder(list[_Gemini]).decode


def read_clean(text: str, space: Space, finish: Finish) -> Reading | None:
    """What `boxes` makes of a reply that is such a list; None for any other."""
    words = text
    notes: dict[str, None] = {}
    if text.startswith(_STARTS):
        end = -len(_END) if text.endswith(_END) else None
        words, notes = text[text.index("\n") + 1 : end], {"fence": None}
    if len(words) > _LONGEST:
        return None
    for part in _ODD:  # a loop, since `any` takes three times as long
        if part in words:
            return None
    read = _gemini if '"box_2d"' in words else _qwen
    try:
        said, part_follows = read(words), False
    except ValueError:
        said, part_follows = _cut_off(words, read)
        if not said:
            return None
        notes["cut_off"] = None
    boxes, labels = _kept(said, space, notes)
    if said and not boxes:
        return None
    if part_follows:
        notes["unclosed"] = None
    return Reading(
        outcome="boxes" if boxes else "empty",
        boxes=tuple(boxes),
        labels=tuple(labels),
        repairs=tuple(notes),
        truncated=finish == "length",
    )


def _kept(said: _List, space: Space, notes: dict[str, None]) -> tuple[list[Box], list[str]]:
    """Boxes that have an area, and their labels; none where a number is none of any photo."""
    most = _MOST[space]
    boxes: list[Box] = []
    labels: list[str] = []
    for each in said:
        box: Box | None = each.bbox_2d
        a1, b1, a2, b2 = each.bbox_2d
        if not (0 <= a1 < a2 <= most and 0 <= b1 < b2 <= most):
            if max(map(abs, each.bbox_2d)) > FARTHEST:
                return [], []
            box = in_order(each.bbox_2d, space, notes)
        if box is not None:
            boxes.append(box)
            labels.append(each.label or "")
    return boxes, labels


def _cut_off(words: str, read: _Read) -> tuple[_List, bool]:
    """The whole objects of a list that was cut off, and whether part of another follows."""
    end = words.rfind("}") + 1
    part = _PART.fullmatch(words, end)
    if end and part is not None:
        with suppress(ValueError):
            return read(f"{words[:end]}]"), part["object"] is not None
    return [], False
