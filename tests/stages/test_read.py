"""`fieldtruth read`: one row per saved reply, in file order, in the shape of the contract."""

from typing import Any

import pytest

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Prediction, Question
from fieldtruth.stages.read import outcomes, read_file

RUST = '[{"bbox_2d": [30, 40, 10, 20], "label": "Leaf Rust"}]'


def said(text: str, **changes: Any) -> Prediction:
    fields: dict[str, Any] = {
        "item": "i", "protocol": "known_target", "model": "m", "text": text, "space": "norm1000",
    }  # fmt: skip
    return Prediction(**(fields | changes))


def question(**changes: Any) -> Question:
    fields: dict[str, Any] = {
        "id": "q", "form": "mcq", "images": (), "question": "What is it?", "answer": "B",
        "options": ("late blight", "early blight"), "facts": (), "domain": None, "challenge": None,
        "crop": None, "qtype": None, "group": "g", "evidence": (), "source": "s", "licence": "CC0",
    }  # fmt: skip
    return Question(**(fields | changes))


def test_a_row_has_the_keys_of_the_contract() -> None:
    rows = read_file([said(RUST, finish="length")])
    assert rows == [
        {
            "item": "i",
            "protocol": "known_target",
            "outcome": "boxes",
            "boxes": [[10.0, 20.0, 30.0, 40.0]],
            "labels": ["Leaf Rust"],
            "letter": None,
            "repairs": ["swapped_corners"],
            "truncated": True,
        }
    ]


@pytest.mark.parametrize("words", ["", "[]", RUST, "HTTP 500"])
@pytest.mark.parametrize("wrong", [{"finish": "error"}, {"error": "timed out"}])
@pytest.mark.parametrize("protocol", ["known_target", "candidates", "choice"])
def test_a_failed_call_is_an_error_whatever_its_words(
    words: str, wrong: dict[str, str], protocol: str
) -> None:
    (row,) = read_file([said(words, protocol=protocol, space=None, **wrong)])
    assert (row["outcome"], row["boxes"], row["letter"]) == ("error", [], None)


def test_rows_keep_the_order_of_the_file_and_duplicates() -> None:
    rows = read_file([said("[]", item=name) for name in ("b", "a", "b")])
    assert [row["item"] for row in rows] == ["b", "a", "b"]


def test_a_control_is_read_as_its_protocol() -> None:
    (row,) = read_file([said("[]", protocol="candidates+rotate1")])
    assert (row["protocol"], row["outcome"]) == ("candidates+rotate1", "empty")


@pytest.mark.parametrize("protocol", ["choice", "reasoned_choice"])
def test_letters_are_read_with_the_options_and_without(protocol: str) -> None:
    spoken = [said(text, item="q", protocol=protocol, space=None) for text in ("b", "Early blight")]
    assert [row["letter"] for row in read_file(spoken)] == ["B", None]
    rows = read_file(spoken, [question()])
    assert [row["letter"] for row in rows] == ["B", "B"]
    assert {row["outcome"] for row in rows} == {"letter"}


def test_counts_are_per_protocol_with_truncation_beside() -> None:
    rows = read_file(
        [
            said("[]"), said(RUST, finish="length"), said("no"), said(""), said("", error="gone"),
            said("B", protocol="choice", space=None),
        ]
    )  # fmt: skip
    assert outcomes(rows) == {
        "known_target": {
            "boxes": 1, "empty": 1, "prose": 1, "unreadable": 1, "error": 1, "truncated": 1,
        },
        "choice": {"letter": 1, "truncated": 0},
    }  # fmt: skip


def test_an_unknown_protocol_is_named_with_those_there_are() -> None:
    with pytest.raises(Usage, match=r"protocols has no 'guess'.*known_target"):
        read_file([said("[]", protocol="guess")])


def test_boxes_without_a_space_are_refused() -> None:
    with pytest.raises(BadRecord, match=r"item i under known_target.*got null"):
        read_file([said("[]", space=None)])
