"""Whole words: every wrong hit that a search for substrings is known for, and the right ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.taxonomy.lexicon import (
    asked_for,
    crop_in,
    disease_after_no,
    measurement,
    words_in,
)


@pytest.mark.parametrize(
    ("text", "crop"),
    [
        ("What is eating my hibiscus?", "hibiscus"),
        ("TOMATOES", "tomato"),
        ("my tomato's lower leaves", "tomato"),
        ("Tomato___Late_blight", "tomato"),
        ("bell peppers or tomatoes", "pepper"),
        ("corn, not wheat", "maize"),
        ("Maize", "maize"),
        ("cherries, strawberries and peaches", "cherry"),
        ("sweet potatoes", "sweet potato"),
        ("an ear of sweet corn", "maize"),
        ("grape vines", "grape"),
        ("Vitis", "grape"),
        ("grapefruit", "grapefruit"),
        ("a watermelon", "watermelon"),
        ("the pineapple", "pineapple"),
        ("wild rice", "wild rice"),
        ("black pepper vine", "black pepper"),
        ("acorn squash", "squash"),
        ("figs", "fig"),
        ("orange tree with scale", "orange"),
        ("orange scab", "orange"),
        ("cherry leaf spot", "cherry"),
        ("rose bushes", "rose"),
        ("a boxwood hedge", "box"),
        ("limes", "lime"),
        ("cashews", "cashew"),
        ("potato beetles on eggplant", "eggplant"),
        ("black-spotted tea", "tea"),
    ],
)
def test_the_crop_that_a_text_names(text: str, crop: str) -> None:
    assert crop_in(text) == crop


@pytest.mark.parametrize(
    "text",
    [
        "",
        "beetle",
        "beetles",
        "instead",
        "steam",
        "the price",
        "a figure",
        "Fig. 3",
        "fig 2",
        "acorn",
        "limestone",
        "goat",
        "popcorn-like",
        "orange spots",
        "bright orange pustules",
        "orange and black wings",
        "it is bright orange.",
        "olive green",
        "lemon yellow",
        "cherry red",
        "pea-sized",
        "coffee grounds",
        "cotton ball",
        "soy sauce",
        "neem and coconut oil",
        "tea tree oil",
        "Colorado potato beetle",
        "tomato hornworm",
        "squash vine borer",
        "rice weevil",
        "boxelder bug",
        "box elder",
        "the red box in the image",
        "poison oak",
        "prickly pear",
        "palm of a hand",
        "wood ash",
        "temperature rose",
        "\u0936\u0915\u0930\u0915\u0902\u0926",
    ],
)
def test_a_text_that_names_no_crop(text: str) -> None:
    assert crop_in(text) is None


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("healthy", "healthy"),
        ("Yes, it is healthy.", "healthy"),
        ("No, it is healthy", "healthy"),
        ("no disease", "healthy"),
        ("The leaf is normal", "healthy"),
        ("not diseased", "healthy"),
        ("unhealthy", ""),
        ("abnormal", ""),
        ("not healthy", ""),
        ("It isn't healthy", ""),
        ("It does not look very healthy", ""),
        ("no longer healthy", ""),
        ("no healthy tissue", ""),
        ("cutworm", "pest"),
        ("bagworms", "pest"),
        ("It was discovered in May", ""),
        ("because of rain", "cause"),
        ("caused by overwatering", "cause stress"),
        ("covered with digits, dignified and limited", ""),
        ("land use and leaf cover", ""),
        ("Use a trap", "action"),
        ("Cut back the canes", "action"),
        ("You should cut it", "action"),
        ("apply fungicide", "action"),
        ("Hand-pick: remove cutworms", "action pest"),
        ("Whiteflies", "pest"),
        ("stinkbug", "pest"),
        ("scale insects", "pest"),
        ("Euonymus scale", "pest"),
        ("on a large scale", ""),
        ("scale of 1 to 5", ""),
        ("earthworms", ""),
        ("butterfly weed", "pest weed"),
        ("crabgrass", "weed"),
        ("common ragweed", "weed"),
        ("seaweed", ""),
        ("nitrogen deficiency", "stress"),
        ("herbicide injury", "stress"),
        ("Herbicide", "action"),
        ("sun scorch", "stress"),
        ("bacterial leaf scorch", ""),
        ("frogeye leaf spot", ""),
        ("distress", ""),
        ("briefly and chiefly flying, bugle, permit, antler, plant", ""),
    ],
)
def test_which_lists_a_text_touches(text: str, lists: str) -> None:
    assert words_in(text) == frozenset(lists.split())


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("12", True),
        ("0%~10%", True),
        ("-5 \u00b0C", True),
        ("3.52m", True),
        ("[21000-21100]square meters", True),
        ("[0.334, 0.146, 0.479, 0.681]", True),
        ("10 to 15 days", True),
        ("0.2:1", True),
        ("3 mites", False),
        ("in", False),
        ("", False),
        ("Emergency weeding (coverage\u226530%)", False),
        ("2,4-D injury", False),
    ],
)
def test_what_is_only_numbers_and_units(text: str, *, is_one: bool) -> None:
    assert measurement(text) is is_one


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("No, it has Late Blight Water Mold", "Late Blight"),
        ("No, it has Late Blight Fungus", "Late Blight"),
        ("no it has powdery mildew", "powdery mildew"),
        ("No, it has Leaf Mold", "Leaf Mold"),
        ("No, it has Leaf Mold Fungus", "Leaf Mold"),
        ("No, it has dwarf mosaic virus", "dwarf mosaic virus"),
        ("No, it has Mosaic Virus", "Mosaic Virus"),
        ("No, it has YLCV Virus.", "YLCV Virus"),
        ("No, it has Spider Mite Damage", "Spider Mite"),
        ("No, it has zeaemaydis Tehon and Daniels", "zeaemaydis"),
        ("No, it has Cercospora zeae-maydis Tehon & E.Y. Daniels, 1925", "Cercospora zeae-maydis"),
        ("No, it has Fungus", "Fungus"),
        ("No, it has Black and White Rot", "Black and White Rot"),
        ("Yes", None),
        ("No", None),
        ("Nothing: it has scab", None),
        ("No, it has ", None),
    ],
)
def test_the_name_after_no(text: str, name: str | None) -> None:
    assert disease_after_no(text) == name


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How many rice leaf roller are in this image?", "count"),
        ("Where are the mangos mostly distributed?", "place"),
        ("What is the cause of this?", "cause"),
        ("What causes these spots?", "cause"),
        ("How can I get rid of this beetle?", "action"),
        ("What measures should be taken?", "action"),
        ("Are the pests rice leaf caterpillar?", "yes_no"),
        ("What symptoms are visible?", "symptom"),
        ("What pests are in this image?", "pest"),
        ("Which weed is this?", "weed"),
        ("What disease does it have?", "disease"),
        ("What is wrong with this plant?", "disease"),
        ("What plant is this?", "plant"),
        ("Hm?", None),
    ],
)
def test_what_a_question_asks_about(question: str, asked: str | None) -> None:
    assert asked_for(question) == asked


@given(st.text())
def test_any_text_can_be_asked(text: str) -> None:
    crop_in(text)
    words_in(text)
    asked_for(text)
    measurement(text)
    disease_after_no(text)


@given(st.sampled_from(["tomato", "sweet potato", "rice", "tea"]), st.from_regex("[a-z]{1,8}"))
def test_a_crop_within_a_word_is_none(crop: str, more: str) -> None:
    """Letters put before a crop's name make another word of it."""
    if more.strip() and crop_in(more.strip()) is None:
        assert crop_in(f"{more.strip()}{crop.replace(' ', '')}q") is None
