"""What a detector is asked: the organ, the look, the crop once, and what a recipe says instead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.taxonomy import label, names
from fieldtruth.taxonomy.data import book
from fieldtruth.taxonomy.prompts import grounding_prompt, organ_of


@pytest.mark.parametrize(
    ("name", "organ"),
    [
        # No root, ear, fruit, crown or stem disease is on a leaf.
        ("root rot", "root"), ("black root rot", "root"), ("ear rot", "ear"), ("corn smut", "ear"),
        ("fusarium head blight", "head"), ("brown rot", "fruit"), ("blossom end rot", "fruit"),
        ("crown rot", "crown"), ("crown gall", "stem base"), ("stem rust", "stem"),
        ("stalk rot", "stalk"), ("cytospora canker", "bark"), ("black knot", "branch"),
        ("fire blight", "shoot"), ("twig blight", "twig"), ("potato wart", ""),
        ("common scab", "tuber"), ("pod rot", "pod"), ("sheath blight", "leaf sheath"),
        ("needle cast", "needles"), ("neck rot", "neck"),
        ("early blight", "leaf"), ("leaf spot", "leaf"), ("powdery mildew", "leaf"),
        ("crown rust", "leaf"), ("verticillium wilt", ""), ("citrus greening", ""),
    ],
)  # fmt: skip
def test_the_organ_is_read_off_the_name(name: str, organ: str) -> None:
    assert organ_of(name) == organ


@pytest.mark.parametrize(
    ("name", "crop", "text"),
    [
        ("early blight", "tomato", "early blight, brown dead patches on tomato leaf"),
        ("root rot", "avocado", "root rot, soft dark decay on avocado root"),
        ("powdery mildew", None, "powdery mildew, white powdery coating on leaf"),
        ("brown spot", "paddy", "brown spot, small round brown spots on rice leaf"),
        ("verticillium wilt", "cotton", "verticillium wilt, drooping parts on cotton"),
        # insects and weeds stand alone; crops are not doubled; corn is maize
        ("aphid", "rose", "aphid"),
        ("Colorado beetle", "potato", "colorado beetle"),
        ("canada goldenrod", "maize", "canada goldenrod"),
        ("bean rust", "bean", "rust, rusty orange pustules on bean leaf"),
        ("corn rust", "maize", "rust, rusty orange pustules on maize leaf"),
        ("northern corn leaf blight", "maize", "northern corn leaf blight, brown dead patches on "
         "leaf"),
        ("tomato mosaic virus", "tomato", "tomato mosaic virus, light and dark green "
         "mottling on leaf"),
        ("discoloration", "apple", "discoloration on apple"),
    ],
)  # fmt: skip
def test_the_whole_prompt(name: str, crop: str | None, text: str) -> None:
    assert grounding_prompt(name, crop=crop).text == text


def test_a_label_has_a_prompt_for_each_crop() -> None:
    """The published lookup keeps one prompt per label, whatever the crop."""
    texts = {
        grounding_prompt("black rot", crop=crop).text for crop in ("apple", "grape", "cabbage")
    }
    assert len(texts) == 3


@pytest.mark.parametrize(
    ("recipe", "cues", "text", "source"),
    [
        ({"late blight": "wet brown blotch"}, {"late blight": "x"}, "wet brown blotch", "recipe"),
        ({"Late-Blight": " wet\nbrown  blotch "}, None, "wet brown blotch", "recipe"),
        ({"late blight@tomatoes": "a", "late blight": "b"}, None, "a", "recipe"),
        ({"late blight@potato": "a", "late blight": "b"}, None, "b", "recipe"),
        ({"late blight@potato": "a"}, {"late blight": "dark wet\nedges"},
         "late blight, dark wet edges on tomato leaf", "cue"),
        ({}, {}, "late blight, brown dead patches on tomato leaf", "words"),
    ],
)  # fmt: skip
def test_the_recipe_comes_before_cues_and_cues_before_words(
    recipe: dict[str, str], cues: dict[str, str] | None, text: str, source: str
) -> None:
    made = grounding_prompt("Late blight", crop="tomato", recipe=recipe, cues=cues)
    assert (made.text, made.source) == (text, source)


def test_the_kind_that_is_given_decides() -> None:
    assert grounding_prompt("rust", kind="object", crop="maize").text == "rust"
    assert grounding_prompt("unheard of", kind="pest", crop="maize").text == "unheard of"
    assert grounding_prompt("unheard of", crop="maize").text == "unheard of on maize"


@given(st.sampled_from(names()), st.none() | st.sampled_from(sorted(book().crops)))
def test_every_prompt_is_one_line_with_its_label_and_its_crop_at_most_once(
    name: str, crop: str | None
) -> None:
    made = grounding_prompt(name, crop=crop)
    what = label(made.label)
    assert what is not None
    assert made.text.isprintable()
    assert made.text.startswith(made.label)
    if crop and f" {crop} " not in f" {made.label} ":
        assert f" {made.text} ".count(f" {crop} ") <= 1
    else:
        assert f" on {crop} " not in made.text.removeprefix(made.label)
    if what.kind in ("pest", "weed"):
        assert made.text == made.label
    if made.text.endswith(" leaf"):
        assert made.organ == "leaf"
