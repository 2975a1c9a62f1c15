"""Words that give an answer away, by whole words and their plain forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.taxonomy.giveaways import (
    alike,
    catch_all,
    content_words,
    fold,
    given_away,
    names_it,
)


@pytest.mark.parametrize(
    ("answer", "said", "expected"),
    [
        ("late blight", "What blights it?", ("blight",)),
        ("late blight", "What is later?", ()),
        ("ant", "anthracnose, plants, giant", ()),
        ("tomato hornworm", "On my Tomatoes.", ("tomato",)),
        ("corn rust", "The maize is ill.", ("maize",)),
        ("gray mold", "GREY MOULD", ("gray", "mold")),
        ("spider mites", "a spider-mite", ("spider", "mite")),
        ("leaf spot", "leaves of this plant", ()),  # every plant has leaves
        ("Remove the fruit", "removing fruits", ("remove", "fruit")),
        ("", "anything", ()), ("rust", "", ()), ("the of in", "the of in", ()),
        ("\U0001f331", "\U0001f331", ()), ("rust\0", "rust", ("rust",)),
    ],
)  # fmt: skip
def test_what_is_given_away(answer: str, said: str, expected: tuple[str, ...]) -> None:
    assert given_away(answer, said) == expected


@given(st.text(max_size=60), st.text(max_size=60))
def test_it_is_always_a_part_of_the_answer(answer: str, said: str) -> None:
    told = given_away(answer, said)
    assert len(told) <= len(content_words(answer))
    assert set(content_words(" ".join(told))) <= set(content_words(answer)) | {"maiz"}
    assert len(given_away(answer, f"{said} {answer}")) == len(content_words(answer))
    assert 0 <= alike(answer, said) == alike(said, answer) <= 1


@given(st.from_regex("[a-z]{1,12}", fullmatch=True))
def test_a_folded_word_begins_as_the_word_did(word: str) -> None:
    assert word[: len(fold(word)) - 1] == fold(word)[:-1]
    assert len(fold(word)) >= min(len(word), 3)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("aphid", "Aphids!", True), ("ant", "an anthracnose", False), ("", "x", False),
        ("late blight", "blight of late", False), ("late blight", "late blights", True),
        ("fire blight", "a fire. Blight", True),  # a full stop is no word
    ],
)  # fmt: skip
def test_what_is_named(name: str, text: str, expected: bool) -> None:  # noqa: FBT001
    assert names_it(name, text) is expected


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("All of the above", True), ("none of the above.", True), ("None of these", True),
        ("Both A and B", True), ("A & C", True), ("(A) and (D)", True), ("B or D only", True),
        ("Any of the options", True), ("None", True), ("all", True),
        ("Remove all of the leaves", False), ("Vitamins A and C", False),
        ("Both sides are wet", False),
        ("Neither water nor feed it", False), ("A", False), ("", False),
        ("Some of them curl", False),
        ("Spray above the canopy", False), ("See all answers in the book", True),
    ],
)  # fmt: skip
def test_what_speaks_of_the_others(option: str, expected: bool) -> None:  # noqa: FBT001
    assert catch_all(option) is expected
