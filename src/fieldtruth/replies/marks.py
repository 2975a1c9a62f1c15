"""Boxes written in special tokens instead of JSON.

PaliGemma: `<loc0102><loc0051><loc0307><loc0205> rust ; ...`, read in the space `loc1024` only.
Qwen-VL: `<ref>rust</ref><box>(102,51),(307,205)</box>`, and the same with `<|object_ref_start|>`
and `<|box_start|>`. Numbers are taken in the order of the declared space.
"""

import re

from fieldtruth.records import Space
from fieldtruth.replies.answers import Found

_LOC = re.compile(r"((?:<loc[0-9]{4}>)+)([^;<\n]*+)")
_DIGITS = re.compile(r"[0-9]{4}")
_BOX = re.compile(
    r"""(?:<ref>|<\|object_ref_start\|>)(?P<label>[^<]{0,200}+)
      | (?:<box>|<\|box_start\|>)(?P<box>[^<]{0,200}+)""",
    re.VERBOSE,
)
_PAIRS = re.compile(r"\s*\(([^(),]*),([^(),]*)\)\s*,?\s*\(([^(),]*),([^(),]*)\)\s*")


def found(seen: str, space: Space) -> list[Found]:
    """All the boxes written in one of the two ways, as one answer; none where there are none."""
    ways = [_qwen(seen, space)]
    if space == "loc1024":
        ways.append(_paligemma(seen, space))
    return [way for way in ways if way is not None]


def _paligemma(seen: str, space: Space) -> Found | None:
    answer: Found | None = None
    for run in _LOC.finditer(seen):
        answer = answer or Found(start=run.start(), notes={"loc_tokens": None})
        answer.add([float(digits) for digits in _DIGITS.findall(run[1])], run[2].strip(), space)
    return answer


def _qwen(seen: str, space: Space) -> Found | None:
    answer: Found | None = None
    label = ""
    for mark in _BOX.finditer(seen):
        if mark["box"] is None:
            label = mark["label"].strip()
            continue
        answer = answer or Found(start=mark.start(), notes={"box_tokens": None})
        numbers = _PAIRS.fullmatch(mark["box"])
        answer.add([part.strip() for part in numbers.groups()] if numbers else [], label, space)
    if answer is not None:
        answer.notes.pop("number_text", None)
    return answer
