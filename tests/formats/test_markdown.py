"""Whatever is put into a card's header or table, it is read back as text."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fieldtruth.formats.markdown import LONGEST, header, inline, legible

HOSTILE = [
    "a | b", "a \\| b", "`x` | `y", "<img src=x onerror=alert(1)>", "**bold** _it_ ~~no~~",
    "[text](https://evil.example)", "![x](y)", "https://evil.example", "www.evil.example",
    "a@b.example", "&lt;b&gt; &amp;", "\\", "$x$", "# head", "a\nb\r\n| c |", "---", "- x", "1. x",
    "leaf_rust", "_x_", "\u202egnp.exe", "\x00\x1b[31m", "\x85\u2028\u2029", "\ufeff", "\ud800",
    "'", '"', "a: b", "key: [", "{{ x }}", "yes", "null", "!!python/object:os.system x", "1e5",
    "*alias", "&anchor", "%tag", "", " ",
]  # fmt: skip


def cells(text: str) -> list[str]:
    """The cells of the one row of a table as a reader of Markdown shows them, tags and all."""
    page = f"| a | b |\n|---|---|\n| {text} | end |\n"
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(page)
    inside = [token for token in tokens if token.type == "inline"][2:]
    kinds = {child.type for token in inside for child in token.children or ()}
    assert kinds <= {"text", "text_special"}
    return ["".join(child.content for child in token.children or ()) for token in inside]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_cell_shows_the_text_and_nothing_else(text: str) -> None:
    assert cells(inline(text)) == [legible(text), "end"]


@given(st.text(max_size=60))
def test_any_text_is_one_cell(text: str) -> None:
    assert cells(inline(text)) == [legible(text), "end"]


def test_no_link_is_made_of_bare_addresses() -> None:
    for text in ("https://e.example", "http://e.example", "www.e.example", "a@e.example"):
        assert not {"://", "www.", "@"} & {part for part in ("://", "www.", "@") if part in text
                                           and part in inline(text)}  # fmt: skip


def test_a_label_keeps_its_spelling() -> None:
    assert (
        inline("Tomato___Late_blight (CC BY 4.0), 50 %") == "Tomato___Late_blight (CC BY 4.0), 50 %"
    )
    assert inline(7) == "7"


def test_a_long_text_is_cut_and_says_so() -> None:
    assert inline("x" * 1000) == "x" * (LONGEST - 1) + "\u2026"
    assert inline("x" * 1000, 1000) == "x" * 1000


def parsed(fields: dict[str, Any]) -> Any:
    text = header(fields)
    assert text.startswith("---\n")
    assert text.endswith("\n---")
    return yaml.safe_load(text[4:-4])


@pytest.mark.parametrize("text", HOSTILE)
def test_the_header_is_read_back_as_text(text: str) -> None:
    fields = {"name": text, "list": [text], "deep": [{"a": text, "b": [{"c": text}]}], "n": 1}
    shown = legible(text)
    assert parsed(fields) == {
        "name": shown, "list": [shown], "deep": [{"a": shown, "b": [{"c": shown}]}], "n": 1,
    }  # fmt: skip


@given(st.text(max_size=60))
def test_any_text_is_read_back_from_the_header(text: str) -> None:
    assert parsed({"a": text, "b": [text]}) == {"a": legible(text), "b": [legible(text)]}


def test_what_is_empty_is_written_too() -> None:
    assert parsed({"a": [], "b": {"c": {}}, "d": True}) == {"a": [], "b": {"c": {}}, "d": True}
