"""Replies as models send them, and what each is read as; an independent reference; properties."""

import json
from math import isfinite
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.strategies import FINISHES, SPACES, hostile, json_replies

from fieldtruth.records import Box, Finish, Space
from fieldtruth.replies import read_boxes

RUST = '{"bbox_2d": [10, 20, 30, 40], "label": "rust"}'
BLIGHT = '{"bbox_2d": [50, 60, 70, 80], "label": "blight"}'
R, B = (10.0, 20.0, 30.0, 40.0), (50.0, 60.0, 70.0, 80.0)

# words, boxes, labels, repairs
FOUND: list[tuple[str, list[Box], list[str], set[str]]] = [
    (f"[{RUST}, {BLIGHT}]", [R, B], ["rust", "blight"], set()),
    # fences, prose, several blocks
    (f"```json\n[{RUST}]\n```", [R], ["rust"], {"fence"}),
    (f"```\n[{RUST}]\n```", [R], ["rust"], {"fence"}),
    (f"```json\n[{RUST}]", [R], ["rust"], {"fence"}),
    (f"<think>here</think><answer>[{RUST}]</answer>", [R], ["rust"], {"thinking", "tags"}),
    (f"<answer>\n```json\n[{RUST}]\n```\n</answer>", [R], ["rust"], {"fence", "tags"}),
    (f"[{RUST}]<|im_end|>\n", [R], ["rust"], {"tags"}),
    (f"[{RUST}]</s>", [R], ["rust"], {"tags"}),
    (f"<answer>[{RUST}]</answer> as asked", [R], ["rust"], {"tags", "prose"}),
    (f"Here they are: [{RUST}] as asked.", [R], ["rust"], {"prose"}),
    (f"[{RUST}]\n[{BLIGHT}]", [B], ["blight"], {"several_lists"}),
    (f"```json\n[{RUST}]\n```\nno:\n```json\n[{BLIGHT}]\n```", [B], ["blight"],
     {"fence", "several_lists", "prose"}),
    (f"[]\n[{RUST}]", [R], ["rust"], {"several_lists"}),
    (f"[{RUST}]\n[{{\"bbox_2d\": [1, 2]}}]", [R], ["rust"], set()),
    (f"[{RUST}] with a confidence of {{\"score\": 0.9}}", [R], ["rust"], {"prose"}),
    (f"[{RUST}] so the box [1, 2, 3, 4] is it", [R], ["rust"], {"prose"}),
    # brackets in prose are no lists
    (f"Coordinates are in [0, 1000]. [{RUST}]", [R], ["rust"], {"prose"}),
    (f"x in [0, 1000) and y too: [{RUST}]", [R], ["rust"],
     {"prose", "missing_comma", "cut_off", "nested"}),
    (f"[see the leaf's edge] [{RUST}]", [R], ["rust"], {"prose"}),
    (f"The {{target}} is: [{RUST}]", [R], ["rust"], {"prose"}),
    (f"See https://example.org [{RUST}]", [R], ["rust"], {"prose"}),
    # containers of another shape
    (RUST, [R], ["rust"], {"single_object"}),
    (f"{RUST}, {BLIGHT}]", [R, B], ["rust", "blight"], {"no_brackets"}),
    (f"{RUST}\n{BLIGHT}", [R, B], ["rust", "blight"], {"no_brackets"}),
    (f"First {RUST}, then {BLIGHT}", [B], ["blight"], {"single_object", "several_lists", "prose"}),
    (f'{{"boxes": [{RUST}]}}', [R], ["rust"], {"wrapped"}),
    (f'{{"detections": [{RUST}, {BLIGHT}], "count": 2}}', [R, B], ["rust", "blight"], {"wrapped"}),
    ('{"boxes": [[10, 20, 30, 40], [50, 60, 70, 80]], "labels": ["rust", "blight"]}', [R, B],
     ["rust", "blight"], {"wrapped", "bare_boxes"}),
    ('{"label": "rust", "boxes": [[10, 20, 30, 40], [50, 60, 70, 80]]}', [R, B],
     ["rust", "rust"], {"wrapped", "bare_boxes"}),
    ('{"boxes": [10, 20, 30, 40]}', [R], [""], {"wrapped", "bare_box"}),
    ('[{"label": "rust", "bbox_2d": [[10, 20, 30, 40], [50, 60, 70, 80]]}]', [R, B],
     ["rust", "rust"], {"several_boxes", "bare_boxes"}),
    (f"[[{RUST}]]", [R], ["rust"], {"nested"}),
    ("[[10, 20, 30, 40]]", [R], [""], {"bare_boxes"}),
    ("[10, 20, 30, 40]", [R], [""], {"bare_box"}),
    ("[10, 20, 30, 40], [50, 60, 70, 80]", [R, B], ["", ""], {"bare_boxes", "no_brackets"}),
    ("It lies at [10, 20, 30, 40].", [R], [""], {"bare_box", "prose"}),
    # keys
    ('[{"bbox": [10, 20, 30, 40], "name": "rust"}]', [R], ["rust"], set()),
    ('[{"box": [10, 20, 30, 40], "class": "rust"}]', [R], ["rust"], set()),
    ('[{"box_2d": [10, 20, 30, 40], "category": "rust"}]', [R], ["rust"], set()),
    ('[{"BBox_2D": [10, 20, 30, 40], "Label": "Leaf Rust"}]', [R], ["Leaf Rust"], set()),
    ('[{"bbox_2d": [10, 20, 30, 40], "label": 7}]', [R], ["7"], set()),
    ('[{"bbox_2d": [10, 20, 30, 40], "label": null}]', [R], [""], set()),
    ('[{"bbox_2d": [10, 20, 30, 40]}]', [R], [""], set()),
    (r'[{"bbox_2d": [10, 20, 30, 40], "label": "\u00e9 \ud83c\udf31 \ud800"}]', [R],
     ["é 🌱 �"], set()),
    # JSON that is not quite
    ("[{'bbox_2d': [10, 20, 30, 40], 'label': 'rust'}]", [R], ["rust"], {"python"}),
    ("[{'bbox_2d': [10, 20, 30, 40], 'label': 'witches' broom'}]", [R], ["witches' broom"],
     {"python"}),
    ("[{'bbox_2d': [10, 20, 30, 40], 'label': \"witches' broom\", 'sure': True, 'why': None}]",
     [R], ["witches' broom"], {"python"}),
    ("[{bbox_2d: [10, 20, 30, 40], label: 'rust'}]", [R], ["rust"], {"unquoted", "python"}),
    (f"[{RUST}, {BLIGHT},]", [R, B], ["rust", "blight"], {"trailing_comma"}),
    ('[{"bbox_2d": [10, 20, 30, 40,], "label": "rust",},]', [R], ["rust"], {"trailing_comma"}),
    (f"[{RUST} {BLIGHT}]", [R, B], ["rust", "blight"], {"missing_comma"}),
    (f"[{RUST}, // one, [1, 2, 3, 4]\n{BLIGHT}]", [R, B], ["rust", "blight"], {"comment"}),
    (f"[/* all ] of it */ {RUST}]", [R], ["rust"], {"comment"}),
    (f"[{RUST}}}, {BLIGHT}]", [R, B], ["rust", "blight"], {"stray_bracket"}),
    (r'[{\"bbox_2d\": [10, 20, 30, 40], \"label\": \"rust\"}]', [R], ["rust"],
     {"escaped_quotes"}),
    # cut off
    (f'[{RUST}, {{"bbox_2d": [400, 50, 6', [R], ["rust"], {"cut_off", "unclosed"}),
    (f'```json\n[{RUST}, {{"bbox_2d": [400, 50, 6\n```\nThat is all.', [R], ["rust"],
     {"fence", "prose", "cut_off", "unclosed"}),
    (f'[{RUST}, {{"bbox_2d": [50, 60, 70, 80], "label": "bli', [R], ["rust"],
     {"cut_off", "unclosed"}),
    (f"[{RUST},", [R], ["rust"], {"cut_off"}),
    (f'{{"detections": [{RUST}, {{"bbox', [R], ["rust"], {"cut_off", "unclosed", "wrapped"}),
    ("[[10, 20, 30, 40], [50, 60", [R], [""], {"cut_off", "unclosed", "bare_boxes"}),
    # numbers
    ('[{"bbox_2d": [10.5, 20.25, 30, 4e1], "label": "rust"}]', [(10.5, 20.25, 30, 40)], ["rust"],
     set()),
    ('{"bbox_2d": "10,20,30,40"}', [R], [""], {"number_text", "single_object"}),
    ('[{"bbox_2d": ["10", "20", "30", "40"]}]', [R], [""], {"number_text"}),
    ('[{"bbox_2d": "[10, 20, 30, 40]"}]', [R], [""], {"number_text"}),
    ("[640, 480, 120, 90]", [(120, 90, 640, 480)], [""], {"swapped_corners", "bare_box"}),
    ('[{"box_2d": [400, 300, 100, 200]}]', [(100, 200, 400, 300)], [""], {"swapped_corners"}),
    ('[{"bbox_2d": [-5, 20, 30, 40]}]', [(-5, 20, 30, 40)], [""], {"out_of_space"}),
    ('[{"bbox_2d": [10, 20, 1e9, 40]}]', [(10, 20, 1e9, 40)], [""], {"out_of_space"}),
    # a malformed object costs only itself
    *[
        (f'[{{"bbox_2d": {bad}, "label": "x"}}, {RUST}]', [R], ["rust"], {why})
        for bad, why in [
            ("[10, 20, 30]", "wrong_length"), ("[10, 20, 30, 40, 50]", "wrong_length"),
            ("[]", "wrong_length"), ("[10, 20, NaN, 40]", "not_a_number"),
            ("[10, 20, Infinity, 40]", "not_a_number"), ("[10, 20, 1e999, 40]", "not_a_number"),
            ("[10, 20, 1e13, 40]", "not_a_number"), ("[10, 20, true, 40]", "not_a_number"),
            ("[10, 20, null, 40]", "not_a_number"), ("[10, 20, thirty, 40]", "not_a_number"),
            ("[10, 20, 30px, 40]", "not_a_number"), ("[10,, 30, 40]", "not_a_number"),
            ("[0, 0, 0, 0]", "zero_area"), ("[10, 20, 10, 40]", "zero_area"),
            ("null", "no_box"), ("5", "no_box"), ('"left"', "wrong_length"),
        ]
    ],
    (f'[{{"label": "x"}}, {RUST}]', [R], ["rust"], {"no_box"}),
    (f"[5, null, {RUST}]", [R], ["rust"], {"no_box"}),
    (f'[{{"bbox_2d": [1, 2, 3, 4, "label": "x"}}, {RUST}]', [R], ["rust"],
     {"unclosed", "missing_comma"}),
    # thinking
    (f"<think>[] or [{BLIGHT}]?</think>[{RUST}]", [R], ["rust"], {"thinking"}),
    (f"<thinking>[]</thinking>[{RUST}]", [R], ["rust"], {"thinking"}),
    (f"<|think|>[]<|/think|>[{RUST}]", [R], ["rust"], {"thinking"}),
    (f"◁think▷[]◁/think▷[{RUST}]", [R], ["rust"], {"thinking"}),
    (f"[{BLIGHT}] hm</think>[{RUST}]", [R], ["rust"], {"thinking"}),
    (f"[{RUST}]<think>or [{BLIGHT}]", [R], ["rust"], {"thinking"}),
    (f"<think>a<think>b</think>[{BLIGHT}]</think>[{RUST}]", [R], ["rust"], {"thinking"}),
    # special tokens
    ("<ref>rust</ref><box>(10,20),(30,40)</box><box>(50,60),(70,80)</box>", [R, B],
     ["rust", "rust"], {"box_tokens"}),
    ("<|object_ref_start|>rust<|object_ref_end|><|box_start|>(10,20),(30,40)<|box_end|>", [R],
     ["rust"], {"box_tokens"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "boxes", "labels", "repairs"), FOUND)
def test_boxes_are_found(text: str, boxes: list[Box], labels: list[str], repairs: set[str]) -> None:
    reading = read_boxes(text, "norm1000", "stop")
    assert reading.outcome == "boxes"
    assert list(reading.boxes) == boxes
    assert list(reading.labels) == labels
    assert set(reading.repairs) == repairs
    assert not reading.truncated


EMPTY = [
    "[]", "null", " [ ] \n", "```json\n[]\n```", "```json\nnull\n```", "```\nnull```", "```[]",
    "No disease is visible.\n[]", "Here: ```json\nnull\n``` as asked", '{"boxes": []}',
    '{"detections": []}', f"[{RUST}] no, I was wrong: []", "<think>a box? [1,2,3,4]</think>[]",
    "x in [0, 1000), so: []", "\ufeff[]", "<think>hm</think>\n\nnull", "[/* none */]",
]  # fmt: skip
# Words beside an empty answer; in rewards they cost (design, section 8).
TALK = [
    "```healthy\n[]\n```", "``` healthy []", "```healthy```\n[]", "```null``` It is healthy.",
    "Here: ```json\nnull\n``` as asked", '["healthy"] []', '[] ["healthy"]', '[["no rust"]]\n[]',
    '["no", "rust", "is", "here"] []', '{"status": "healthy"} []', '[{"label": "healthy"}]\n[]',
    "[null, the plant is healthy] []", "[] healthy []", "{} it is healthy []",
]  # fmt: skip
SILENT = [
    "```json\n[]\n```", "```JSON\n[]```", "```python\n[]\n```", "```\nnull\n```", "```null```",
    "```json\nnull```", "[1, 2] []", "[null] []", "{} []", '[{"bbox_2d": [1, 2]}] []',
    '["10", "20", "30"] []', "[[]]\r\n[]", '{"boxes": null}, []',
    "<answer>[]</answer>", "[]<|im_end|>", "<think>hm</think>\n<answer>\n[]\n</answer></s>",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "talks"),
    [*((text, True) for text in TALK), *((text, False) for text in SILENT)],
)
def test_words_beside_an_empty_answer_are_noted_wherever_they_stand(
    text: str, *, talks: bool
) -> None:
    reading = read_boxes(text, "norm1000", "stop")
    assert reading.outcome == "empty"
    assert ({"prose", "several_lists"} & set(reading.repairs) != set()) is talks


PROSE = [
    "```healthy```",
    "No disease is visible.", "I cannot help with that.", "HTTP 500", "None", "none", "NULL.",
    "[see figure]", "The value is null.", "{target} was not found", "It covers [0, 1000) and more",
    "<loc0001><loc0002><loc0003><loc0004> rust", "...", "it's [3 lesions] at most", "5 lesions",
]  # fmt: skip
UNREADABLE = [
    "", " \n\t", "\x00", "\ufeff", "5", "-1.5e3", '"none"', "true", "false", "{}", "[{}]", "[[]]",
    "[null]", '["rust"]', "[0, 1000]", "[1, 2, 3]", '{"boxes": null}', '{"bbox_2d": null}',
    '{"label": "rust"}', '{"answer": "none"}', '[{"bbox_2d": [], "label": "none"}]',
    '[{"bbox_2d": [0, 0, 0, 0], "label": "healthy"}]', "[0, 0, 0, 0]",
    '[{"bbox_2d": [102, 210, 340', '[{"bbox_2d": [10, 20, 30, 40], "label": "ru', "[", "[[10, 20",
    '[{"bbox_2d": [10, 20, 30, 40]', "```json\n```", "```json\n5\n```", "<think>[]</think>",
    "<think>[]", "<thinking>null</thinking> ", f"[{RUST}]</think>", "<box>(1,2)</box>",
    '{"bbox_2d": "not visible"}', "[true, true, true, true]", '["a", "b", "c", "d"]',
]  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        *[("empty", text) for text in EMPTY],
        *[("prose", text) for text in PROSE],
        *[("unreadable", text) for text in UNREADABLE],
    ],
)
def test_only_an_explicit_empty_answer_abstains(outcome: str, text: str) -> None:
    reading = read_boxes(text, "norm1000", "stop")
    assert (reading.outcome, reading.boxes, reading.labels) == (outcome, (), ())


def test_what_was_left_out_is_named_where_nothing_is_left() -> None:
    reading = read_boxes('[{"bbox_2d": [1, 2, 3]}, {"bbox_2d": [5, 5, 5, 5]}]', "norm1", "stop")
    assert reading.outcome == "unreadable"
    assert set(reading.repairs) == {"wrong_length", "zero_area"}


def test_truncated_is_what_the_server_said_and_cut_off_what_the_words_say() -> None:
    whole, cut = f"[{RUST}]", f"[{RUST}, "
    assert read_boxes(whole, "pixel", "length").truncated
    assert "cut_off" not in read_boxes(whole, "pixel", "length").repairs
    assert not read_boxes(cut, "pixel", "stop").truncated
    assert "cut_off" in read_boxes(cut, "pixel", "stop").repairs


@pytest.mark.parametrize(
    ("space", "edge", "beyond"),
    [("norm1000", 1000, 1000.5), ("yx1000", 1000, 1001), ("loc1024", 1024, 1025), ("norm1", 1, 2)],
)
def test_values_beyond_the_space_are_kept_and_flagged(
    space: Space, edge: float, beyond: float
) -> None:
    within = read_boxes(f"[[0, 0, {edge}, {edge}]]", space, "stop")
    outside = read_boxes(f"[[0, 0, {edge}, {beyond}]]", space, "stop")
    assert within.repairs == ("bare_boxes",)
    assert outside.boxes == ((0, 0, edge, beyond),)
    assert "out_of_space" in outside.repairs


def test_the_numbers_stay_in_the_order_of_the_declared_space() -> None:
    for space in SPACES:
        assert read_boxes("[[1, 2, 3, 4]]", space, "stop").boxes == ((1, 2, 3, 4),)


def test_pali_gemma_tokens_are_read_in_their_own_space_only() -> None:
    text = "<loc0102><loc0051><loc0307><loc0205> leaf rust ; <loc0600><loc0500><loc0400><loc0700> b"
    reading = read_boxes(text, "loc1024", "stop")
    assert reading.boxes == ((102, 51, 307, 205), (400, 500, 600, 700))
    assert reading.labels == ("leaf rust", "b")
    assert set(reading.repairs) == {"loc_tokens", "swapped_corners"}
    assert read_boxes(text, "norm1000", "stop").outcome == "prose"
    assert read_boxes("<loc0102><loc0051>", "loc1024", "stop").outcome == "unreadable"


def reference(text: str) -> tuple[list[list[float]], list[str]]:
    """Of well-formed JSON: the objects with four finite numbers and an area, corners in order."""
    boxes, labels = [], []
    for row in json.loads(text):
        values: list[Any] = [float(v) if v == "7" else v for v in row["bbox_2d"]]
        if len(values) == 4 and all(type(v) in (int, float) and isfinite(v) for v in values):
            (x1, x2), (y1, y2) = sorted(values[::2]), sorted(values[1::2])
            if x1 < x2 and y1 < y2:
                boxes.append([x1, y1, x2, y2])
                labels.append(row["label"])
    return boxes, labels


@given(json_replies, st.sampled_from(SPACES))
def test_well_formed_json_is_read_as_a_json_library_reads_it(text: str, space: Space) -> None:
    boxes, labels = reference(text)
    reading = read_boxes(text, space, "stop")
    assert [list(box) for box in reading.boxes] == boxes
    assert list(reading.labels) == labels
    if not boxes:
        assert reading.outcome == ("empty" if text == "[]" else "unreadable")


@given(json_replies, st.integers(0, 400))
def test_a_cut_list_keeps_a_prefix_of_the_whole_ones_and_never_abstains(text: str, at: int) -> None:
    cut = text[:at]
    whole, part = read_boxes(text, "norm1000", "stop"), read_boxes(cut, "norm1000", "length")
    assert part.boxes == whole.boxes[: len(part.boxes)]
    assert part.labels == whole.labels[: len(part.labels)]
    assert part.outcome != "empty" or cut == "[]"


@given(json_replies, st.sampled_from(["", "Sure.\n", "```json\n", "<think>[1,2,3,4]</think>"]))
def test_what_stands_before_changes_no_box(text: str, before: str) -> None:
    plain, decorated = (read_boxes(t, "norm1", "stop") for t in (text, before + text))
    assert decorated.outcome == plain.outcome
    assert decorated.boxes == plain.boxes
    assert decorated.labels == plain.labels


@given(hostile, st.sampled_from(SPACES), st.sampled_from(FINISHES))
@example("[" + '{"bbox_2d":' * 40, "pixel", "length")
@example("[1e308, -1e308, 1e308, 1e308]", "norm1", "stop")
def test_any_words_are_read_as_one_thing_and_that_reading_is_stable(
    text: str, space: Space, finish: Finish
) -> None:
    reading = read_boxes(text, space, finish)
    assert reading.outcome in {"boxes", "empty", "prose", "unreadable"}
    assert reading == read_boxes(text, space, finish)
    assert len(set(reading.repairs)) == len(reading.repairs)
    for x1, y1, x2, y2 in reading.boxes:
        assert x1 < x2
        assert y1 < y2
    if reading.outcome in ("boxes", "empty"):
        said = json.dumps(
            [
                {"bbox_2d": box, "label": label}
                for box, label in zip(reading.boxes, reading.labels, strict=True)
            ]
        )
        again = read_boxes(said, space, finish)
        assert again.boxes == reading.boxes
        assert again.labels == reading.labels
        assert set(again.repairs) <= {"out_of_space"}
