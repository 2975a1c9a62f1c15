"""Free words: there are some, or there are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import FINISHES, hostile

from fieldtruth.records import Finish
from fieldtruth.replies import read_text, said


@pytest.mark.parametrize(
    ("text", "outcome", "words"),
    [
        ("Powdery mildew.", "text", "Powdery mildew."),
        ("```\nrust\n```", "text", "rust"),
        ("```rust```", "text", "rust"),  # a name, and no language
        ("```json\nrust\n```", "text", "rust"),
        ("<think>rust?</think> scab ", "text", "scab"),
        ("[]", "unreadable", "[]"),
        ("", "unreadable", ""),
        (" \n", "unreadable", ""),
        ("...", "unreadable", "..."),
        ("<think>rust", "unreadable", ""),
        ("\u9508\u75c5", "text", "\u9508\u75c5"),
    ],
)
def test_what_was_meant_for_the_reader(text: str, outcome: str, words: str) -> None:
    assert read_text(text, "stop").outcome == outcome
    assert said(text) == words


def test_thinking_and_a_cut_are_told() -> None:
    assert read_text("<think>hm</think>rust", "length").repairs == ("thinking",)
    assert read_text("rust", "length").truncated
    assert not read_text("rust", "stop").truncated


@given(hostile, st.sampled_from(FINISHES))
def test_any_words_are_text_or_unreadable(text: str, finish: Finish) -> None:
    reading = read_text(text, finish)
    assert reading.outcome == ("text" if any(c.isalnum() for c in said(text)) else "unreadable")
