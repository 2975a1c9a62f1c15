"""Sentences with their places, quoted words found again, and the lists of doubt and referral."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.stages.facts import filters
from fieldtruth.stages.facts.quoting import span
from fieldtruth.stages.facts.sentences import around, sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("A fungus.It spreads", ["A fungus.", "It spreads"]),
        ("See Dr. Lee, e.g. now. Go", ["See Dr. Lee, e.g. now.", "Go"]),
        ("It is E. coli. J. Doe said so.", ["It is E. coli.", "J. Doe said so."]),
        ("Use 0.5 in. of water. Wait.", ["Use 0.5 in. of water.", "Wait."]),
        ("1. **Cut**: it.\n2) Burn it.\n\u2022 Stop", ["**Cut**: it.", "Burn it.", "Stop"]),
        ('He said "no." Then left', ['He said "no."', "Then left"]),
        ("at https://a.example/b.html?x=1. Next", ["at https://a.example/b.html?x=1.", "Next"]),
        ("no end", ["no end"]),
        ("  \n\t ", []),
        ("", []),
    ],
)  # fmt: skip
def test_a_text_in_sentences(text: str, parts: list[str]) -> None:
    found = sentences(text)
    assert [each.text for each in found] == parts
    assert all(text[each.start : each.end] == each.text for each in found)


@given(st.text(alphabet="aB. !?\n\u2022-1()\"'", max_size=60))
def test_sentences_stand_in_order_and_lose_no_word(text: str) -> None:
    found = sentences(text)
    assert all(text[each.start : each.end] == each.text for each in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    letters = "".join(c for c in text if c in "aB")
    assert "".join(c for each in found for c in each.text if c in "aB") == letters


def test_a_question_and_the_sentences_around_a_span() -> None:
    found = sentences("Is it wet? It is. So be it.")
    assert [each.asks for each in found] == [True, False, False]
    assert [each.text for each in around(found, 5, 13)] == ["Is it wet?", "It is."]


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        ("brown  spots", "The brown\n spots.", "brown\n spots"),
        ('"scab"', "It is \u201cscab\u201d!", "\u201cscab\u201d"),
        ("don't prune", "Don\u2019t prune", "Don\u2019t prune"),
        ("Prune it.", "Then prune it, please", "prune it"),
        ("5-10 feet", "5\u201310 feet", "5\u201310 feet"),
        ("Apply oil", "**Apply** oil", "Apply** oil"),
        ("a\u00a0b", "a b", "a b"),
        ("caf\u00e9", "cafe\u0301", None),  # another spelling is another word
        ("rust", "crusty", None),
        ("rust", "crust, rust", "rust"),
        ("Rust is here", "RUST IS HERE", None),
        ("brown spots and holes", "brown spots or holes", None),
        ("", "text", None),
        ("...", "text...", None),
    ],
)
def test_quoted_words_are_found_or_not(words: str, text: str, found: str | None) -> None:
    place = span(words, text)
    assert (text[place[0] : place[1]] if place else None) == found


@given(st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=8), st.data())
def test_words_with_other_blanks_and_quotes_are_found(
    words: list[str], data: st.DataObject
) -> None:
    blank = st.sampled_from([" ", "  ", "\n", "\t ", "\u00a0", " \u200b"])
    text = "".join(word + data.draw(blank) for word in words)
    first = data.draw(st.integers(0, len(words) - 1))
    some = words[first : data.draw(st.integers(first + 1, len(words)))]
    place = span(" ".join(some), text)
    assert place is not None
    assert text[place[0] : place[1]].replace("\u200b", "").split() == some


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("It may be rust.", "possible"), ("It could be a mite.", "possible"),
        ("This is possibly scab.", "possible"), ("It is likely scab.", "probable"),
        ("Perhaps it is dry.", "probable"), ("It is unlikely to be scab.", "probable"),
        ("I think it is scab.", "opinion"), ("We do suspect a borer.", "opinion"),
        ("My best guess is a rust.", "opinion"), ("It seems to be scab.", "semblance"),
        ("It sounds like rust.", "semblance"), ("I am not sure.", "not known"),
        ("We\u2019re not entirely certain.", "not known"), ("It is hard to tell.", "not known"),
        ("I don\u2019t know.", "not known"), ("I doubt it.", "not known"),
        ("The cause is unclear.", "not known"), ("You cannot tell from a photo.", "not known"),
        # Certain after all.
        ("There is no doubt, it is rust.", None), ("Without a doubt it is rust.", None),
        ("It is not unclear.", None), ("Prune it if possible.", None),
        ("Remove it as soon as possible.", None), ("Sow it in May.", None),
        ("In late May they hatch.", None), ("From April to May, water it.", None),
        ("Mites are more likely to come when it is dry.", None),
        ("This reduces the likelihood of disease.", None), ("It looks like rust.", None),
        # Parts of other words.
        ("Mayapples are mighty.", None), ("The maypole; a doubtlessly fine plant.", None),
        ("Cut the stems of the unseemly weed.", None),
    ],
)  # fmt: skip
def test_doubt(text: str, group: str | None) -> None:
    found = filters.doubt(text)
    assert (found.partition(":")[0] if found else None) == group


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("Send it to a lab.", "call"), ("A lab can tell.", "lab"),
        ("Have a soil test done.", "lab"),
        ("Hire an arborist.", "call"), ("An arborist can do it.", "person"),
        ("Ask your extension office.", "call"), ("Your extension office knows.", "office"),
        ("Contact a professional.", "call"), ("See https://a.example for more.", "text"),
        ("Read more about it here.", "text"), ("Let us know how it goes.", "call"),
        # No need of them.
        ("You do not need an arborist; cut it.", None), ("No need to call an arborist.", None),
        ("Prune it without hiring a professional.", "call"),
        # Parts of other words.
        ("The label says so.", None), ("Collaborate with nature.", None),
        ("Elaborate pruning helps.", None), ("The so-called slime flux.", None),
    ],
)  # fmt: skip
def test_referral(text: str, group: str | None) -> None:
    found = filters.referral(text)
    assert (found.partition(":")[0] if found else None) == group


def test_every_list_says_what_it_holds_in_lower_case() -> None:
    for lists in (filters.DOUBT, filters.OPEN, filters.REFERRAL):
        for words in lists.values():
            assert len(set(words)) == len(words)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Could you provide more details about the leaves?", True),
        ("Can you please send a closer photo?", True),
        ("Please describe the spots.", True),
        ("We need clearer pictures.", True),
        ("Could you cut it down? Do.", False),
        ("Please let me know which day suits you.", False),
    ],
)
def test_asking_back(text: str, *, asks: bool) -> None:
    assert filters.asks_back(text) is asks
