"""Every instruction: what it asks never gives the truth away, and its own answer reads as right."""

import json
import re
from typing import Any, get_args

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import FINISHES, SPACES, hostile, items

from fieldtruth import protocols, rooms
from fieldtruth.geometry import as_boxes, to_pixels
from fieldtruth.protocols.contract import Protocol
from fieldtruth.records import Finish, Item, Kind, Space

ROOM = [rooms.open_room(protocols, name) for name in rooms.names(protocols)]
EVERY = [module for module in ROOM if hasattr(module, "PROTOCOL")]  # the others ask questions
HEADLINES = {
    "precision", "recall", "f1", "region_iou", "recognition", "joint", "abstention",
    "false_abstention", "first_option_share", "open_strict", "open_lenient",
}  # fmt: skip
# The step a space is written in, in its own units (design: whole numbers; four digits in norm1).
STEPS: dict[Space, float] = {"norm1": 1e-4}
SCALES: dict[Space, str] = {
    "pixel": "pixels", "pixel_resized": "pixels of the photo as you see it",
    "pixel840": "drawn out to 840 by 840", "norm1": "0 to 1 ",
    "norm1000": "0 to 1000 across", "yx1000": "0 to 1000 down", "loc1024": "0 to 1024 down",
}  # fmt: skip

each = st.sampled_from(EVERY).map(lambda module: module.PROTOCOL)
spaces = st.sampled_from(SPACES)


def changed(item: Item, **fields: Any) -> Item:
    return Item(**(msgspec.structs.asdict(item) | fields))


@pytest.mark.parametrize("module", EVERY, ids=lambda module: module.__name__)
def test_it_says_what_it_is_and_leads_with_known_metrics(module: Any) -> None:
    assert len(module.__doc__) > 100
    assert set(module.PROTOCOL.headline) <= HEADLINES


@given(each, items(), spaces)
def test_its_own_answer_reads_as_the_truth(spoken: Protocol, item: Item, space: Space) -> None:
    text = spoken.answer(item, space)
    reading = spoken.read(text, space, "stop")
    assert reading.repairs == ()
    assert reading.outcome == ("boxes" if item.positive else "empty")
    assert set(reading.labels) <= {item.label}
    assert len(reading.boxes) == len(item.boxes)
    if item.boxes:
        size = (item.width, item.height)
        got = to_pixels(as_boxes(reading.boxes), space, *size)
        step = STEPS.get(space, 1.0)
        one = to_pixels(as_boxes([(step, step, step, step)]), space, *size)
        assert (np.abs(got - as_boxes(item.boxes)) <= one * 1.001 + 1e-9).all()


@given(
    each,
    items(positive=True),
    spaces,
    st.sampled_from(["lesion", "object"]),
    st.sampled_from(get_args(Kind)),
)
def test_a_healthy_photo_is_asked_in_the_same_words(
    spoken: Protocol, item: Item, space: Space, level: Any, kind: Any
) -> None:
    shown = changed(item, kind=kind, level=level)
    healthy = changed(
        item, kind=None, label=None, level="healthy", boxes=(), ask_level=level, ask_kind=kind,
        id="other", source="elsewhere", group="h", absent_query=item.query, width=9, height=9,
    )  # fmt: skip
    assert spoken.ask(shown, space).encode() == spoken.ask(healthy, space).encode()


@given(each, items(positive=True), spaces)
def test_the_prompt_does_not_depend_on_where_the_truth_is(
    spoken: Protocol, item: Item, space: Space
) -> None:
    moved = changed(item, boxes=((0.0, 0.0, item.width * 0.5, item.height * 0.5),))
    assert spoken.ask(item, space) == spoken.ask(moved, space)


@given(each, items(), spaces)
def test_an_echo_of_the_prompt_holds_no_box(spoken: Protocol, item: Item, space: Space) -> None:
    plain = changed(item, query="rust", candidates=("rust", "smut", "wilt", "scab"))
    assert spoken.read(spoken.ask(plain, space), space, "stop").boxes == ()


@given(each, items(), spaces)
def test_all_names_stand_in_the_prompt_in_their_order(
    spoken: Protocol, item: Item, space: Space
) -> None:
    plain = changed(item, query="zinc, lack of", candidates=("rot, soft", "zinc", "ants", "mites"))
    prompt, names = spoken.ask(plain, space), spoken.names(plain)
    assert len(names) == {"KnownTarget": 1, "Candidates": 4, "OpenSet": 0}[type(spoken).__name__]
    at = [prompt.index(name) for name in names]
    assert at == sorted(at)
    assert prompt.splitlines()[-1].endswith("answer with the empty list [] and nothing else.")


@pytest.mark.parametrize("module", EVERY, ids=lambda module: module.__name__)
def test_the_prompt_says_the_order_and_scale_of_each_space(module: Any) -> None:
    asked = {space: module.PROTOCOL.ask(EXAMPLE, space) for space in SPACES}
    assert len(set(asked.values())) == len(SPACES)
    for space, prompt in asked.items():
        y_first = space in ("yx1000", "loc1024")
        order = '"box_2d": [y1, x1, y2, x2]' if y_first else '"bbox_2d": [x1, y1, x2, y2]'
        assert order in prompt
        assert SCALES[space] in prompt
    assert not re.search(r"\[\d", "".join(asked.values()))


@given(each, hostile, spaces, st.sampled_from(FINISHES))
def test_reading_never_raises(spoken: Protocol, text: str, space: Space, finish: Finish) -> None:
    spoken.read(text, space, finish)


EXAMPLE = Item(
    id="leaf", image="leaf.jpg", image_sha256="0" * 64, width=200, height=100, source="hand",
    licence="CC0", crop="bean", kind="disease", label="rust", level="lesion",
    boxes=((20.0, 10.0, 60.0, 30.0), (0.1, 0.1, 0.2, 0.2), (199.5, 99.5, 200.0, 100.0)),
    query="rust", absent_query="smut", candidates=("smut", "wilt", "rust", "scab"), group="g",
)  # fmt: skip


@pytest.mark.parametrize("module", EVERY, ids=lambda module: module.__name__)
@pytest.mark.parametrize(
    ("space", "first", "speck", "corner"),
    [
        ("pixel", [20, 10, 60, 30], [0, 0, 1, 1], [199, 99, 200, 100]),
        ("norm1000", [100, 100, 300, 300], [0, 1, 1, 2], [998, 995, 1000, 1000]),
        ("norm1", [0.1, 0.1, 0.3, 0.3], [0.0005, 0.001, 0.001, 0.002], [0.9975, 0.995, 1.0, 1.0]),
        ("yx1000", [100, 100, 300, 300], [1, 0, 2, 1], [995, 998, 1000, 1000]),
        ("loc1024", [102, 102, 307, 307], [1, 0, 2, 2], [1019, 1021, 1024, 1024]),
    ],
)
def test_answers_are_rounded_and_never_to_nothing(
    module: Any, space: Space, first: list[float], speck: list[float], corner: list[float]
) -> None:
    rows = json.loads(module.PROTOCOL.answer(EXAMPLE, space))
    key = "box_2d" if space in ("yx1000", "loc1024") else "bbox_2d"
    assert [row[key] for row in rows] == [first, speck, corner]
    assert {row["label"] for row in rows} == {"rust"}
