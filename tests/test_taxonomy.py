"""One thing under many spellings, and what may stand beside it in a list."""

from collections.abc import Callable, Mapping
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.taxonomy import (
    CROPS,
    SYNONYMS,
    akin,
    conflict,
    crop_id,
    label_id,
    normalise,
    rivals,
    same,
)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Early Blight", "early blight"),
        ("  early   blight\t\n", "early blight"),
        ("early-blight", "early blight"),
        ("Early_Blight", "early blight"),
        ("early\u2010blight", "early blight"),  # hyphen
        ("early\u2011blight", "early blight"),  # non-breaking hyphen
        ("early\u2013blight", "early blight"),  # en dash
        ("early\u2212blight", "early blight"),  # minus
        ("early\u00a0blight", "early blight"),  # non-breaking blank
        ("early\u3000blight", "early blight"),  # ideographic blank
        ("leaf/stem rust", "leaf stem rust"),
        ("--Tomato___Late_blight--", "tomato late blight"),
        ("\uff25\uff41\uff52\uff4c\uff59 blight", "early blight"),  # full width
        ("Cercospora caf\u00e9", "cercospora caf\u00e9"),
        ("Cercospora cafe\u0301", "cercospora caf\u00e9"),  # decomposed
        ("STRASSENFLECK", "strassenfleck"),
        ("Stra\u00dfenfleck", "strassenfleck"),
        ("witches' broom", "witches broom"),
        ("witches\u2019 broom", "witches broom"),
        ("rust.", "rust"),
        ("\u201crust\u201d", "rust"),
        ("rust (leaf)", "rust leaf"),
        ("ru\u00adst", "rust"),  # soft hyphen
        ("rust\u200b", "rust"),  # zero width blank
        ("rust\ufe0f", "rust"),  # variation selector
        ("\ufb01re blight", "fire blight"),  # ligature
        ("Type 2", "type 2"),
        ("\u0930\u094b\u0917", "\u0930\u094b\u0917"),  # Hindi: the vowel is a mark and stays
        ("\u09a8\u09be\u09ac\u09bf-\u09a7", "\u09a8\u09be\u09ac\u09bf \u09a7"),  # Bengali
        ("\u7a3b\u761f\u75c5", "\u7a3b\u761f\u75c5"),
        ("", ""),
        (" -_/. ", ""),
    ],
)  # fmt: skip
def test_spellings(written: str, plain: str) -> None:
    assert normalise(written) == plain


@pytest.mark.parametrize(
    ("a", "b", "one", "rival"),
    [
        ("Early-Blight", "early blight", True, False),
        ("Powder Mildew", "powdery mildew", True, False),
        ("late leaf blight", "Late_Blight", True, False),
        ("rusts", "rust", True, False),
        ("leaf rust", "rust", False, False),
        ("rust", "cedar apple rust", False, False),
        ("apple rust", "cedar-apple rust", False, False),
        ("leaf rust", "stem rust", False, True),
        ("cedar rust", "cedar apple rust", False, True),  # its words, and not side by side
        ("rust leaf", "leaf rust", False, True),
        ("ant", "anthracnose", False, True),
        ("spot", "spotted wilt", False, True),
        ("early blight", "late blight", False, True),
        ("\u0930\u094b\u0917", "\u0930\u0917", False, True),  # differ in a vowel mark alone
        ("corn rust", "maize rust", True, False),  # corn and maize are one crop
    ],
)
def test_one_thing_rivals_and_neither(a: str, b: str, one: object, rival: object) -> None:
    assert (same(a, b), not conflict(a, b)) == (one, rival)
    assert (same(b, a), not conflict(b, a)) == (one, rival)


@pytest.mark.parametrize(
    ("name", "crop"),
    [
        ("corn", "maize"), ("Maize", "maize"), ("CORN ", "maize"), ("Bell-Pepper", "pepper"),
        ("Pepper,_bell", "pepper"), ("capsicum", "pepper"), ("popcorn", "popcorn"),
        ("sweet corn", "sweet corn"), ("tomato", "tomato"),
    ],
)  # fmt: skip
def test_crops(name: str, crop: str) -> None:
    assert crop_id(name) == crop


@pytest.mark.parametrize(
    ("table", "known"), [(SYNONYMS, label_id), (CROPS, crop_id)], ids=["labels", "crops"]
)
def test_the_tables_lead_in_one_step_to_a_name_that_stays(
    table: Mapping[str, str], known: Callable[[str], str]
) -> None:
    for written, meant in table.items():
        assert normalise(written) == written != meant
        assert known(written) == known(meant) == meant


@pytest.mark.parametrize(
    ("truth", "pool", "left"),
    [
        ([], [], []),
        (["rust"], ["Rust", "leaf rust", "rusts"], []),
        (["rust"], ["late blight", "Early Blight"], ["Early Blight", "late blight"]),
        ([], ["late-blight", "Late blight", "late_blight"], ["Late blight"]),
        ([], ["rust", "leaf rust", "stem rust"], ["leaf rust", "stem rust"]),
        (["rust", "ant"], ["anthracnose", "fire ant", "mite"], ["anthracnose", "mite"]),
        (["late blight"], ["late leaf blight", "blight", "scab"], ["scab"]),
    ],
)
def test_what_may_stand_in_a_list(truth: list[str], pool: list[str], left: list[str]) -> None:
    assert rivals(truth, pool) == left


NAME = st.text() | st.builds(
    " ".join,
    st.lists(st.sampled_from(["leaf", "Leaf", "rust", "rusts", "early", "blight", "ant"])),
)


@given(NAME)
def test_a_normal_name_stays(name: str) -> None:
    plain = normalise(name)
    assert normalise(plain) == plain
    assert label_id(label_id(name)) == label_id(name)
    assert plain == plain.strip()
    assert "  " not in plain
    assert normalise(f" {name}-") == plain


@given(NAME, NAME)
def test_conflict_is_mutual_and_one_thing_is_in_conflict_with_itself(a: str, b: str) -> None:
    assert conflict(a, b) == conflict(b, a)
    assert same(a, b) == same(b, a)
    assert conflict(a, a)
    assert same(a, a)
    if same(a, b):
        assert conflict(a, b)


@given(st.lists(NAME, max_size=3), st.lists(NAME, max_size=8), st.randoms())
def test_rivals_exclude_each_other_in_whatever_order_the_pool_comes(
    truth: list[str], pool: list[str], shuffler: Random
) -> None:
    found = rivals(truth, pool)
    assert not any(conflict(a, b) for a, b in combinations(found, 2))
    assert not any(conflict(name, other) for name in found for other in truth)
    for name in pool:  # and nothing is left out without a reason
        assert name in found or any(conflict(name, other) for other in (*truth, *found))
    mixed = [*pool, *pool]
    shuffler.shuffle(mixed)
    shuffler.shuffle(truth)
    assert rivals(truth, mixed) == found


@pytest.mark.parametrize(
    ("said", "true", "crop", "expected"),
    [
        ("late blight", "Late-Blight", None, True),
        ("powder mildew", "powdery mildew", None, True),
        ("late blight of potato", "late blight", "potato", True),
        ("late blight of potato", "late blight", None, True),
        ("blight of the potato", "late blight", "potato", True),
        ("blight of the potato", "late blight", None, False),
        ("potato late blight", "late blight of potatoes", "potato", True),
        ("corn rust", "maize common rust", "maize", True),
        ("corn rust", "maize rust", "Corn", True),
        ("corn rust", "maize rust", None, True),
        ("bell pepper spot", "bacterial spot", "Pepper, bell", True),
        ("late leaf blight of potato", "late blight", "potato", True),  # a synonym once stripped
        ("rot", "carrot weevil", None, False),  # a run of letters is no word
        ("rust", "crust", None, False),
        ("ant", "anthracnose", None, False),
        ("leaf rust", "rust of leaf", None, False),  # another order
        ("root rot", "root weevil", None, False),
        ("rot", "root rot", None, True),
        ("miner", "leaf miner", None, True),
        ("leaf", "leaf miner", None, False),  # a part of the plant is no name
        ("plant disease", "leaf disease of maize", "maize", False),
        ("potato", "potato scab", "potato", False),
        ("potato", "potato", "potato", True),
        ("the", "the rust", None, False),
        ("", "rust", None, False),
        ("rust", "", None, False),
        ("", "", None, False),
        ("-", "...", None, False),
    ],
)
def test_open_names(said: str, true: str, crop: str | None, expected: object) -> None:
    assert akin(said, true, crop) is expected
    assert akin(true, said, crop) is expected


@given(st.text(max_size=12), st.text(max_size=12), st.none() | st.sampled_from(["maize", "x y"]))
def test_open_names_never_raise_and_one_thing_is_always_akin(
    said: str, true: str, crop: str | None
) -> None:
    if same(said, true) and label_id(true):
        assert akin(said, true, crop)
    if akin(said, true, crop):
        assert akin(true, said, crop)
        assert label_id(said)


@pytest.mark.parametrize(
    ("said", "crop", "label"),
    [
        ("Esca (Black Measles)", "grape", "esca"),
        ("Huanglongbing (Citrus greening)", "citrus", "citrus greening"),
        ("Haunglongbing_(Citrus_greening)", "orange", "citrus greening"),  # known by the brackets
        ("Leaf_blight_(Isariopsis_Leaf_Spot)", "grape", "leaf blight"),
        ("Late blight (Phytophthora infestans", "potato", "late blight"),  # never closed
        ("flurb (gnarl)", None, "flurb gnarl"),  # nobody knows either
        ("(", None, ""),
    ],
)
def test_another_name_in_brackets(said: str, crop: str | None, label: str) -> None:
    assert label_id(said, crop) == label
    assert label_id(label, crop) == label


def test_what_is_too_long_for_a_name_is_read_and_not_kept() -> None:
    before = normalise.cache_info().currsize
    names = [f"Rust-{number} " * 500 for number in range(20)]
    assert label_id(names[3]) == label_id(names[3].lower()) == " ".join(["rust 3"] * 500)
    assert len(set(map(label_id, names))) == 20
    assert normalise.cache_info().currsize == before
