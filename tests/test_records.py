"""The nouns: what cannot be is refused with what was expected and got, the rest goes round."""

import json
from math import isnan
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import builders

from fieldtruth import records
from fieldtruth.records import (
    Annotation,
    Dialogue,
    Drop,
    Fact,
    Finding,
    Healthy,
    Item,
    Place,
    Prediction,
    Question,
    Reading,
    Record,
    Sample,
    Target,
    Turn,
)

NAN, INF = float("nan"), float("inf")
BOX = (1.0, 2.0, 3.0, 4.0)
ANNOTATION: dict[str, Any] = {
    "id": "a", "target": "t", "image": "a.jpg", "width": 10, "height": 20, "level": "lesion",
    "boxes": (BOX,), "rule": "hand",
}  # fmt: skip
QUESTION: dict[str, Any] = {
    "id": "q", "form": "mcq", "images": ("a.jpg",), "question": "What?", "options": ("x", "y"),
    "answer": "B", "facts": (), "domain": None, "challenge": None, "crop": None, "qtype": None,
    "group": "g", "evidence": (), "source": "s", "licence": "CC0",
}  # fmt: skip
FACT: dict[str, Any] = {
    "id": "f", "dialogue": "d:1", "category": "pest", "knowledge": "insect/pest",
    "statement": "squash bug", "turn": 1, "words": "squash bugs", "group": "g", "source": "d",
    "licence": "CC0", "extractor": "rules",
}  # fmt: skip
TURNS = (
    Turn(speaker="grower", text="What is it?", time="2024-06-17", images=("a.jpg", "b.jpg")),
    Turn(speaker="expert", text="Squash bugs.", images=("a.jpg",)),
)
HEALTHY: dict[str, Any] = {"level": "healthy", "label": None, "boxes": (), "kind": None}
EVERY = (
    Sample(id="s:1", source="s", images=("a.jpg",), options=("x",), native={"k": "v"}, licence="C"),
    Target(id="t", sample="s:1", kind="pest", label="mite", crop="rice", organ="leaf"),
    Healthy(id="h", sample="s:1"),
    Drop(id="d", sample="s:1", parent="t", stage="label", reason="no_name", detail="why"),
    Annotation(**ANNOTATION, scores=(0.5,)),
    Finding(id="f", check="copies", about=("a", "b"), severity="warning", evidence="distance 0"),
    builders.item(candidates=builders.NAMES, ask_level="object", crop=None),
    builders.item(**HEALTHY),
    Prediction(item="i", protocol="p", model="m", text="\u00e4\n[]", finish="error", error="gone"),
    Question(**QUESTION),
    Question(**{**QUESTION, "form": "open", "options": None, "answer": "Rain."}),
    Reading(outcome="boxes", boxes=(BOX,), labels=("",), repairs=("fence",), truncated=True),
    Reading(outcome="letter", letter="C"),
    Place(id="a.jpg", image_sha256="0" * 64, group="g", split="train"),
    builders.example("e"),
    TURNS[0],
    Dialogue(id="d:1", source="d", turns=TURNS, tags=("pest",), group="g", licence="CC0"),
    Fact(**FACT, label="squash bug", images=("a.jpg",)),
)


def test_a_dialogue_names_each_photo_once_in_the_order_they_were_sent() -> None:
    assert Dialogue(id="d", source="d", turns=TURNS, group="g", licence="C").images == (
        "a.jpg",
        "b.jpg",
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"words": " "}, "the words it rests on"),
        ({"statement": ""}, "a statement"),
        ({"turn": -1}, "a turn from 0"),
    ],
)
def test_a_fact_that_rests_on_nothing(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Fact(**{**FACT, **changes})


def test_a_dialogue_without_a_turn() -> None:
    with pytest.raises(ValueError, match="at least one turn"):
        Dialogue(id="d", source="d", turns=(), group="g", licence="C")


@pytest.mark.parametrize("record", EVERY, ids=lambda record: type(record).__name__)
def test_every_record_comes_back_from_json_as_it_was(record: Record) -> None:
    assert msgspec.json.decode(msgspec.json.encode(record), type=type(record)) == record


def test_no_record_is_left_out_above() -> None:
    nouns = {n for n, k in vars(records).items() if isinstance(k, type) and issubclass(k, Record)}
    assert {type(record).__name__ for record in EVERY} | {"Record"} == nouns


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"boxes": ()}, "boxes iff positive"),
        ({"role": "wrong_target", "boxes": (BOX,)}, "boxes iff positive"),
        ({"role": "healthy", "label": "rust"}, "a label iff ill"),
        ({"label": None}, "a label iff ill"),
        ({"width": 0}, "a size over 0"),
        ({"boxes": ((1.0, 1.0, 1.0, 2.0),)}, "x1 < x2"),
        ({"boxes": ((1.0, 1.0, NAN, 2.0),)}, "x1 < x2"),
    ],
)
def test_an_example_that_cannot_be(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        builders.example("e", **changes)


@pytest.mark.parametrize("record", EVERY, ids=lambda record: type(record).__name__)
def test_unknown_fields_are_refused_and_none_can_be_changed(record: Record) -> None:
    fields = json.loads(msgspec.json.encode(record)) | {"colour": "red"}
    with pytest.raises(msgspec.ValidationError, match="unknown field `colour`"):
        msgspec.json.decode(json.dumps(fields), type=type(record))
    with pytest.raises(AttributeError, match="immutable"):
        record.id = "other"  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="positional"):
        type(record)("a")


@pytest.mark.parametrize(
    ("record", "changes", "told"),
    [
        (0, {"id": 5}, "Expected `str`, got `int` - at `$.id`"),
        (1, {"kind": "fungus"}, "Invalid enum value 'fungus' - at `$.kind`"),
        (3, {"stage": None}, "Expected `str`, got `null`"),
        (4, {"boxes": [[1, 2, 3]]}, "length 4"),
        (5, {"severity": "bad"}, "Invalid enum value"),
        (6, {"width": 10.5}, "Expected `int`"),
        (6, {"width": True}, "Expected `int`"),
        (6, {"level": "leaf"}, "Invalid enum value"),
        (6, {"boxes": [["1", 2, 3, 4]]}, "Expected `float`"),
        (8, {"space": "pixels"}, "Invalid enum value"),
        (8, {"finish": "done"}, "Invalid enum value"),
        (9, {"form": "yes_no"}, "Invalid enum value"),
    ],
)
def test_wrong_types_and_words(record: int, changes: dict[str, Any], told: str) -> None:
    fields = json.loads(msgspec.json.encode(EVERY[record])) | changes
    with pytest.raises(msgspec.ValidationError) as error:
        msgspec.json.decode(json.dumps(fields), type=type(EVERY[record]))
    assert told in str(error.value)


def test_nan_is_no_json() -> None:
    fields = json.loads(msgspec.json.encode(builders.item())) | {"boxes": [[NAN, 1, 2, 3]]}
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(json.dumps(fields), type=Item)


BAD_BOXES = [
    (NAN, 2, 3, 4), (1, NAN, 3, 4), (1, 2, NAN, 4), (1, 2, 3, NAN), (1, 2, INF, 4),
    (-INF, 2, 3, 4), (-0.001, 2, 3, 4), (1, -1, 3, 4), (3, 2, 3, 4), (1, 4, 3, 4), (3, 2, 1, 4),
    (1, 4, 3, 2), (1, 2, 10.001, 4), (1, 2, 3, 20.5),
]  # fmt: skip


@pytest.mark.parametrize("box", BAD_BOXES)
def test_a_box_outside_the_photo_or_without_an_area_cannot_be(box: tuple[float, ...]) -> None:
    told = (
        r"expected boxes \[x1, y1, x2, y2\] with 0 <= x1 < x2 <= 10 and 0 <= y1 < y2 <= 20 in "
        r"pixels of the upright image, got \["
    )
    with pytest.raises(ValueError, match=told):
        Annotation(**{**ANNOTATION, "boxes": (BOX, box)})
    with pytest.raises(ValueError, match=told):
        builders.item(width=10, height=20, boxes=(BOX, box))


def test_a_box_may_touch_every_edge() -> None:
    whole = ((0, 0, 10, 20),)
    assert builders.item(width=10, height=20, boxes=whole).boxes == whole
    assert Annotation(**{**ANNOTATION, "boxes": whole}).boxes == whole


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"boxes": ()}, r"expected at least one box, got \(\)"),
        ({"scores": (0.1, 0.2)}, r"expected a score per box or none, got \(0.1, 0.2\)"),
        ({"scores": (NAN,)}, r"expected finite scores, got \(nan,\)"),
        ({"scores": (INF,)}, r"expected finite scores, got \(inf,\)"),
    ],
)
def test_an_annotation_that_cannot_be(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Annotation(**{**ANNOTATION, **changes})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"id": ""}, "expected a non-empty id, got ''"),
        ({"width": 0}, r"expected a size over 0, got \(0, 80\)"),
        ({"height": -1}, r"expected a size over 0, got \(100, -1\)"),
        ({**HEALTHY, "label": "rust"}, "expected label null on a healthy image, got 'rust'"),
        ({**HEALTHY, "boxes": (BOX,)}, "expected no boxes on a healthy image, got"),
        ({"label": None}, "expected a label on a lesion-level image, got None"),
        ({"label": ""}, "expected a label on a lesion-level image, got ''"),
        ({"level": "object", "boxes": ()}, r"expected boxes on a object-level image, got \(\)"),
        ({"candidates": ()}, r"expected four distinct candidates or null, got \(\)"),
        ({"candidates": ("a", "b", "c")}, "expected four distinct candidates or null"),
        ({"candidates": ("a", "b", "c", "d", "e")}, "expected four distinct candidates or null"),
        ({"candidates": ("a", "b", "c", "a")}, "expected four distinct candidates or null"),
    ],
)
def test_an_item_that_cannot_be(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        builders.item(**changes)


@pytest.mark.parametrize(
    ("changes", "positive", "wording"),
    [
        ({}, True, "lesion"),
        ({"level": "object"}, True, "object"),
        ({"level": "object", "ask_level": "lesion"}, True, "object"),
        (HEALTHY, False, "lesion"),
        ({**HEALTHY, "ask_level": "object"}, False, "object"),
    ],
)
def test_how_an_item_is_worded(changes: dict[str, Any], positive: object, wording: str) -> None:
    made = builders.item(**changes)
    assert (made.positive, made.wording) == (positive, wording)


@pytest.mark.parametrize(
    ("finish", "error", "failed"),
    [
        ("stop", None, False), ("length", None, False), ("error", None, True),
        ("stop", "gone", True), ("stop", "", True),
    ],
)  # fmt: skip
def test_when_a_call_has_failed(finish: Any, error: str | None, failed: object) -> None:
    reply = Prediction(item="i", protocol="p", model="m", text="[]", finish=finish, error=error)
    assert reply.failed == failed


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"id": ""}, "expected a non-empty id, got ''"),
        ({"options": None}, "expected 2 to 26 options on an mcq, got None"),
        ({"options": ("x",)}, r"expected 2 to 26 options on an mcq, got \('x',\)"),
        ({"options": tuple("x" * 27)}, "expected 2 to 26 options on an mcq"),
        ({"answer": "C"}, "expected one of AB, got 'C'"),
        ({"answer": "a"}, "expected one of AB, got 'a'"),
        ({"answer": "AB"}, "expected one of AB, got 'AB'"),
        ({"answer": ""}, "expected one of AB, got ''"),
        ({"form": "open"}, r"expected options null on an open question, got \('x', 'y'\)"),
    ],
)
def test_a_question_that_cannot_be(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Question(**{**QUESTION, **changes})


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"outcome": "boxes"}, r"expected boxes iff so read, got \(\)"),
        ({"outcome": "empty", "boxes": (BOX,), "labels": ("a",)}, "expected boxes iff so read"),
        ({"outcome": "boxes", "boxes": (BOX,)}, r"expected a label per box, got \(\)"),
        ({"outcome": "empty", "labels": ("a",)}, r"expected a label per box, got \('a',\)"),
        ({"outcome": "boxes", "boxes": ((1, 2, 3, NAN),), "labels": ("",)}, "expected finite"),
        ({"outcome": "boxes", "boxes": ((1, 2, INF, 4),), "labels": ("",)}, "expected finite"),
        ({"outcome": "letter"}, "expected a letter iff so read, got None"),
        ({"outcome": "prose", "letter": "A"}, "expected a letter iff so read, got 'A'"),
    ],
)
def test_a_reading_that_cannot_be(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Reading(**fields)


EDGE = st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([0.0, 10.0, 20.0])


@given(st.tuples(EDGE, EDGE, EDGE, EDGE))
def test_exactly_the_boxes_with_an_area_inside_the_photo_can_be(
    box: tuple[float, float, float, float],
) -> None:
    x1, y1, x2, y2 = box
    rows, columns = [0, y1, y2, 20], [0, x1, x2, 10]
    in_order = sorted(rows) == rows and sorted(columns) == columns
    possible = not any(map(isnan, box)) and in_order and x1 != x2 and y1 != y2
    try:
        Annotation(**{**ANNOTATION, "boxes": (box,)})
    except ValueError:
        assert not possible
    else:
        assert possible
