"""An example asked and answered in another box space, in the same words otherwise.

A prompt says how to write boxes in the words of `replies.spelling`, whatever is around them, so
those words are what changes. The answer is written anew from the example's pixels.
"""

import re
from functools import cache

import msgspec

from fieldtruth.faults import BadRecord
from fieldtruth.records import Example, Space
from fieldtruth.replies import read_boxes, spelling, write_boxes

_HOLE = "HOLE"


def in_space(example: Example, space: Space) -> Example:
    """The example in `space`; `BadRecord` where its prompt does not say a space as prompts do."""
    if example.space == space:
        return example
    found = _said(example.space).findall(example.prompt)
    if len(found) != 1:
        raise BadRecord(
            f"{example.id!r}: expected one sentence in the prompt that says how to write boxes in "
            f"{example.space}, got {len(found)}; compose the examples anew with that space"
        )
    prompt = _said(example.space).sub(lambda seen: spelling(seen[1], space), example.prompt)
    names = read_boxes(example.answer, example.space, "stop").labels
    answer = write_boxes(
        example.boxes,
        names[0] if names else "",
        space,
        width=example.width,
        height=example.height,
    )
    return msgspec.structs.replace(example, space=space, prompt=prompt, answer=answer)


@cache
def _said(space: Space) -> re.Pattern[str]:
    """`spelling` in this space, with whatever stands for the label."""
    before, after = spelling(_HOLE, space).split(_HOLE)
    return re.compile(f"{re.escape(before)}(.*?){re.escape(after)}", re.DOTALL)
