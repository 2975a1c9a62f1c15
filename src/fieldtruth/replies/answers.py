"""Containers -> answers: which lists and objects hold boxes, and what each object says."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from fieldtruth.geometry import space_limits
from fieldtruth.records import Box, Space
from fieldtruth.replies.loose import Array, Junk, Node, Table

BOX_KEYS = ("bbox_2d", "box_2d", "bbox", "box", "bounding_box")
LABEL_KEYS = ("label", "name", "class", "category")
LIST_KEYS = ("boxes", "bboxes", "detections", "objects", "annotations", "predictions", "results",
             "regions", "lesions", "answer", "output")  # fmt: skip
_ANSWERS = (*BOX_KEYS, *LIST_KEYS)
LABELS_KEYS = ("labels", "names", "classes", "categories")  # beside a list of bare boxes
FARTHEST = 1e12  # a coordinate beyond is no number of any photo, and would overflow an area

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(slots=True)
class Found:
    """One thing in a reply that is an answer, or would be if it were whole and right.

    `weak`: a lone `[x1, y1, x2, y2]`, which prose also uses. `start`: where special tokens begin.
    """

    kind: Literal["boxes", "empty", "wrong"] = "wrong"
    start: int = 0
    pairs: list[tuple[Box, str]] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    weak: bool = False

    def add(self, value: Node | Sequence[Node], label: str, space: Space) -> None:
        """One more box, or the reason why it is none."""
        box = _box(value, space, self.notes)
        if box is not None:
            self.kind = "boxes"
            self.pairs.append((box, label))


def of_node(node: Node, space: Space) -> Iterator[Found]:
    """Every answer that a container is or holds, in order."""
    if isinstance(node, Array):
        yield from of_list(node, space)
    elif isinstance(node, Table):
        yield from _of_table(node, space)


def of_list(array: Array, space: Space, labels: Sequence[str] = ()) -> Iterator[Found]:
    """A list of objects or bare boxes is one answer; so is each list of lists within it.

    `labels` runs parallel to the items where it is given; an object's own label goes first.
    """
    if not array.items:
        yield Found("empty" if array.whole else "wrong")
        return
    if not any(isinstance(item, Array | Table) for item in array.items):
        yield from _of_scalars(array, space, labels)
        return
    own, nested = Found(), list[Array]()
    for place, item in enumerate(array.items):
        if isinstance(item, Array) and _holds_containers(item):
            nested.append(item)
        else:
            _element(item, labels[place] if labels else "", space, own)
    if own.pairs or not nested:
        yield own
    spoilt = not (array.whole and array.clean)
    if spoilt and not own.pairs and any(i == Array([], whole=True) for i in array.items):
        yield Found("empty")  # a prose bracket that was never closed, then an explicit []
    for inner in nested:
        for found in of_list(inner, space):
            found.notes["nested"] = None
            yield found


def _of_scalars(array: Array, space: Space, labels: Sequence[str]) -> Iterator[Found]:
    """Four numbers are a box; words between brackets are prose, and no answer at all."""
    if array.clean:
        found = Found(weak=True)
        if array.whole:
            found.add(array, labels[0] if labels else "", space)
            found.notes |= {"bare_box": None} if found.pairs else {}
        yield found


def _of_table(table: Table, space: Space) -> Iterator[Found]:
    found = Found()
    if first_of(table, BOX_KEYS) is not None:
        _element(table, "", space, found)
        found.notes["single_object"] = None
        yield found
        return
    key = first_of(table, LIST_KEYS)
    inner = table.fields[key] if key is not None else None
    if isinstance(inner, Array):
        answers = of_list(inner, space, _labels(table, len(inner.items)))
    else:
        answers = of_node(inner, space)
    within = list(answers)
    for found in within:
        found.notes["wrapped"] = None
        found.weak = False
        yield found
    if not within and (table.fields or not table.loose):
        yield Found(notes={"no_box": None})
    for loose in table.loose:
        yield from of_node(loose, space)


def _element(item: Node, label: str, space: Space, found: Found) -> None:
    """One item of an answer list: an object, or a bare box."""
    if isinstance(item, Array):
        before = len(found.pairs)
        found.add(item, label, space)
        if len(found.pairs) > before:
            found.notes["bare_boxes"] = None
    elif not isinstance(item, Table):
        found.notes["no_box"] = None
    elif not item.whole:
        found.notes["unclosed"] = None
    else:
        _object(item, label, space, found)


def _object(table: Table, label: str, space: Space, found: Found) -> None:
    """An object with a box, or with several under one name."""
    label = _label(table) or label
    key = first_of(table, BOX_KEYS) or first_of(table, LIST_KEYS)
    value = table.fields[key] if key is not None else None
    if not isinstance(value, Array | str):
        found.notes["no_box"] = None
    elif isinstance(value, Array) and any(isinstance(i, Array | Table) for i in value.items):
        found.notes["several_boxes"] = None
        labels = _labels(table, len(value.items))
        for item, own in zip(value.items, labels, strict=True):
            _element(item, own or label, space, found)
    else:
        found.add(value, label, space)


def first_of(table: Table, keys: Sequence[str]) -> str | None:
    """The first of the keys that an object has."""
    return next((key for key in keys if key in table.fields), None)


def is_element(node: Node) -> bool:
    """Whether it can stand in an answer list: an object with a box, or four scalars."""
    if isinstance(node, Table):
        return first_of(node, BOX_KEYS) is not None
    return isinstance(node, Array) and len(node.items) == 4 and not _holds_containers(node)


def is_words(node: Node) -> bool:
    """Whether a container says something and nothing of a box: prose, though in brackets."""
    if isinstance(node, Table):
        return bool(node.fields) and not node.loose and first_of(node, _ANSWERS) is None
    if isinstance(node, Array):
        said = [item for item in node.items if item is not None and not isinstance(item, bool)]
        return bool(said) and all(map(is_words, said))
    return node is Junk.WORD or (isinstance(node, str) and not any(map(str.isdigit, node)))


def _holds_containers(array: Array) -> bool:
    return any(isinstance(item, Array | Table) for item in array.items)


def _label(table: Table) -> str:
    for key in LABEL_KEYS:
        value = table.fields.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, float):
            return f"{value:g}"
    return ""


def _labels(table: Table, count: int) -> list[str]:
    """A label for each of `count` boxes: a list as long as they are, or the object's own."""
    key = first_of(table, LABELS_KEYS)
    names = table.fields[key] if key is not None else None
    if isinstance(names, Array) and len(names.items) == count:
        return [name if isinstance(name, str) else "" for name in names.items]
    return [_label(table)] * count


def _box(value: Node | Sequence[Node], space: Space, notes: dict[str, None]) -> Box | None:
    """Four numbers in order, or None with the reason in `notes`."""
    if isinstance(value, str):
        parts: Sequence[Node] = re.split(r"[\s,;]+", value[:400].strip(" []()"))
    elif isinstance(value, Array):
        if not value.whole:
            notes["unclosed"] = None
            return None
        parts = value.items
    else:
        parts = value if isinstance(value, Sequence) else ()
    if len(parts) != 4:
        notes["wrong_length"] = None
        return None
    numbers = [_number(part) for part in parts]
    if any(number is None for number in numbers):
        notes["not_a_number"] = None
        return None
    if any(isinstance(part, str) for part in parts):
        notes["number_text"] = None
    a1, b1, a2, b2 = (number or 0.0 for number in numbers)
    return in_order((a1, b1, a2, b2), space, notes)


def _number(part: Node) -> float | None:
    if isinstance(part, str):
        part = float(part) if _NUMBER.fullmatch(part.strip()) else None
    fit = isinstance(part, float) and isfinite(part) and abs(part) <= FARTHEST
    return part if fit and isinstance(part, float) else None


def in_order(box: Box, space: Space, notes: dict[str, None]) -> Box | None:
    """The low corner first on each axis; a box without area is none."""
    a1, b1, a2, b2 = box
    if a1 == a2 or b1 == b2:
        notes["zero_area"] = None
        return None
    if a1 > a2 or b1 > b2:
        a1, b1, a2, b2 = box = (min(a1, a2), min(b1, b2), max(a1, a2), max(b1, b2))
        notes["swapped_corners"] = None
    limit = space_limits(space)[0]  # the same on both axes, wherever no size is needed
    if a1 < 0 or b1 < 0 or a2 > limit or b2 > limit:
        notes["out_of_space"] = None
    return box
