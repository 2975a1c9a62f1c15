"""The list that most replies are, read at once: nothing about it has to be repaired.

    [{"bbox_2d": [10, 20, 30, 40], "label": "rust"}, ...]

As it stands, or within one code fence. `boxes` reads every reply; this reads some of them to the
same end in a tenth of the time, and leaves to it whatever might be read in another way: other
fields, escapes, corners out of order, tags of thoughts and of boxes, words around the list.
"""

from collections.abc import Callable
from contextlib import suppress

import msgspec

from fieldtruth.geometry import space_limits
from fieldtruth.records import Box, Finish, Reading, Space
from fieldtruth.replies.answers import FARTHEST, in_order

_LONGEST = 100_000  # letters: far fewer brackets than `boxes` would count
_STARTS = ("```json\n", "```\n")
_END = "\n```"
# A backslash is an escape, the brackets begin tags; of -0 it is not told here that it is negative.
_ODD = ("\\", "<", "\u25c1", "`", "-0")


class _Qwen(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    bbox_2d: Box
    label: str | None = None


class _Gemini(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    bbox_2d: Box = msgspec.field(name="box_2d")
    label: str | None = None


_Read = Callable[[str], list[_Qwen] | list[_Gemini]]
_qwen: _Read = msgspec.json.Decoder(list[_Qwen]).decode
_gemini: _Read = msgspec.json.Decoder(list[_Gemini]).decode


def read_clean(text: str, space: Space, finish: Finish) -> Reading | None:
    """What `boxes` makes of a reply that is such a list; None for any other."""
    words, notes = text, dict[str, None]()
    if text.startswith(_STARTS) and text.endswith(_END):
        words, notes = text[text.index("\n") + 1 : -len(_END)], {"fence": None}
    if len(words) > _LONGEST or any(part in words for part in _ODD):
        return None
    with suppress(ValueError):
        said = (_gemini if '"box_2d"' in words else _qwen)(words)
        boxes, labels, most = list[Box](), list[str](), min(space_limits(space)[0], FARTHEST)
        for each in said:
            box: Box | None = each.bbox_2d
            a1, b1, a2, b2 = each.bbox_2d
            if not (0 <= a1 < a2 <= most and 0 <= b1 < b2 <= most):
                if max(map(abs, each.bbox_2d)) > FARTHEST:
                    return None
                box = in_order(each.bbox_2d, space, notes)
            if box is not None:
                boxes.append(box)
                labels.append(each.label or "")
        if boxes or not said:
            return Reading(
                outcome="boxes" if boxes else "empty",
                boxes=tuple(boxes),
                labels=tuple(labels),
                repairs=tuple(notes),
                truncated=finish == "length",
            )
    return None
