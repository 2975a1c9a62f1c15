"""What properties draw from: boxes, items, well-formed replies, and words nobody meant to send."""

import json
from typing import Any, get_args

from hypothesis import strategies as st

from fieldtruth.records import LETTERS, AskLevel, Finish, Item, Kind, Space
from fieldtruth.taxonomy import label_id

SPACES: tuple[Space, ...] = get_args(Space)
FINISHES: tuple[Finish, ...] = get_args(Finish)
KINDS: tuple[Kind, ...] = get_args(Kind)
ASK_LEVELS: tuple[AskLevel, ...] = get_args(AskLevel)

names = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=20
).filter(label_id)
coordinates = st.integers(-50, 1100) | st.floats(-50, 1100).map(lambda value: round(value, 2))
sides = st.integers(1, 500)


@st.composite
def boxes_within(draw: st.DrawFn, width: int, height: int) -> tuple[float, float, float, float]:
    """A box of at least a tenth of a pixel on the photo, its corners in order."""
    x1 = draw(st.floats(0, width - 0.1))
    y1 = draw(st.floats(0, height - 0.1))
    x2 = draw(st.floats(x1 + 0.1, width)) if x1 + 0.1 < width else float(width)
    y2 = draw(st.floats(y1 + 0.1, height)) if y1 + 0.1 < height else float(height)
    return x1, y1, x2, y2


@st.composite
def items(draw: st.DrawFn, *, positive: bool | None = None) -> Item:
    """An item with a query and four candidates, its own name among them when it shows one."""
    width, height = draw(st.integers(1, 4000)), draw(st.integers(1, 4000))
    four = draw(st.lists(names, min_size=4, max_size=4, unique_by=label_id))
    shows = draw(st.booleans()) if positive is None else positive
    fields: dict[str, Any] = {
        "id": "i", "image": "i.jpg", "image_sha256": "0" * 64, "width": width, "height": height,
        "source": "s", "licence": "CC0", "crop": "tomato", "query": four[0],
        "absent_query": None if shows else four[0], "group": "g",
        "candidates": tuple(draw(st.permutations(four))),
    }  # fmt: skip
    if shows:
        boxes = draw(st.lists(boxes_within(width, height), min_size=1, max_size=6))
        return Item(
            **fields,
            kind=draw(st.sampled_from(KINDS)),
            label=four[0],
            level=draw(st.sampled_from(ASK_LEVELS)),
            boxes=tuple(boxes),
        )
    return Item(
        **fields,
        kind=None,
        label=None,
        level="healthy",
        boxes=(),
        ask_level=draw(st.sampled_from(ASK_LEVELS)),
    )


# Objects as a model means to write them, good and bad, for `json.dumps`.
objects: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "bbox_2d": st.lists(
            coordinates | st.sampled_from([None, True, "7", "x", [1], {}]), min_size=3, max_size=5
        )
        | st.lists(coordinates, min_size=4, max_size=4),
        "label": names,
    }
)
json_replies = st.tuples(
    st.lists(objects, max_size=5), st.sampled_from([None, 1, 4]), st.booleans()
).map(lambda of: json.dumps(of[0], indent=of[1], ensure_ascii=of[2]))

_PIECES = (
    '{"bbox_2d": [10, 20, 30, 40], "label": "rust"}', "[", "]", "{", "}", ",", ":", '"', "'", "\\",
    "```", "```json", "\n", " ", "//", "/*", "*/", "<think>", "</think>", "null", "None", "true",
    "NaN", "1e999", "-5", "[]", "[0, 1000]", "[10, 20, 30, 40]", "bbox_2d", "label", "boxes",
    "<loc0001>", "<box>", "(1,2),(3,4)", "leaf's", "\ud800", "\x00", "\ufeff", "Answer: ", "A", "B",
    "not ", "early blight", "healthy", "9" * 400, '{"boxes": ', '\\"',
)  # fmt: skip
hostile = st.lists(st.sampled_from(_PIECES), max_size=25).map("".join) | st.text(max_size=60)
options = st.lists(st.text(max_size=15), min_size=2, max_size=len(LETTERS))
