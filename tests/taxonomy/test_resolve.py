"""How a name is come by, what a crop tells, and what no synonym may do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.taxonomy import crop_id, label, label_id, names, resolve, same
from fieldtruth.taxonomy.data import book
from fieldtruth.taxonomy.spelling import CROPS
from fieldtruth.taxonomy.synonyms import OF_CROP, SYNONYMS

KNOWN = st.sampled_from(sorted({*names(), *book().synonyms}))
CROP = st.none() | st.sampled_from(sorted(book().crops | CROPS.keys()))
PARTS = ["leaf", "rust", "corn", "bell", "pepper", "rusts", "grey", "mould", "virus", "of"]
NAME = (
    st.text(max_size=20)
    | KNOWN
    | st.builds("{} {}".format, CROP, KNOWN)
    | st.builds("{} of {}".format, KNOWN, CROP)
    | st.builds("the {} fungus".format, KNOWN)
    | st.lists(st.sampled_from(PARTS)).map(" ".join)
)


@pytest.mark.parametrize(
    ("name", "crop", "id_", "how"),
    [
        ("early blight", None, "early blight", ("label",)),
        ("Early Blight", None, "early blight", ("case", "label")),
        ("early_blight", None, "early blight", ("punctuation or blanks", "label")),
        ("grey mould", None, "gray mold", ("spelling", "label")),
        ("aphids", None, "aphid", ("spelling", "label")),
        ("powder mildew", None, "powdery mildew", ("synonym of ours",)),
        ("plum curculio", None, "american plum weevil", ("synonym",)),
        ("army worm", None, "armyworm", ("blanks",)),
        ("maize smut", None, "corn smut", ("blanks",)),
        ("reynoutria japonica", None, "japanese knotweed", ("organism",)),
        ("phytophthora infestans", "potato", "late blight", ("organism",)),
        ("hemileia vastatrix", "coffee", "rust", ("organism",)),
        ("early blight fungus", None, "early blight", ("without 'fungus'", "label")),
        ("leaf early blight", "potato", "early blight", ("without 'leaf'", "label")),
        ("apple black rot", "apple", "black rot", ("crop apple", "label")),
        ("corn rust", "maize", "rust", ("crop maize", "label")),
        ("apple scab", "apple", "scab", ("label", "on apple")),
        (
            "leaf miner",
            "coffee",
            "coffee leaf miner",
            ("without 'leaf'", "synonym of ours on coffee"),
        ),
        ("mosaic virus", "tomato", "tomato mosaic virus", ("label of tomato",)),
        ("dwarf mosaic virus", None, "maize dwarf mosaic virus", ("label without its host",)),
        ("cordana", "banana", "cordana leaf spot", ("first word of one label of banana",)),
        ("corn rust", None, "maize rust", ("crop's other name",)),
        ("no such thing", None, "no such thing", ("as written",)),
    ],
)
def test_the_ways_to_a_label(name: str, crop: str | None, id_: str, how: tuple[str, ...]) -> None:
    found = resolve(name, crop)
    assert (found.id, found.how) == (id_, how)
    assert label_id(name, crop) == id_
    assert (found.label is not None) == (id_ in names())


@pytest.mark.parametrize(
    "written",
    [
        # The 25 pairs of the two published files (agroground.md, 2.3), but for sentences.
        ("asochyta blight", "ascochyta blight"), ("powder mildew", "powdery mildew"),
        ("witches'-broom", "witches' broom"), ("damping off", "damping-off"), ("rusts", "rust"),
        ("earwigs", "earwig"), ("cedar-apple rust", "cedar apple rust"),
        ("box elder bug", "boxelder bug"), ("leaf-footed bug", "leaffooted bug"),
        ("boxelder bug nymph", "boxelder bug"), ("alga", "algae"),
        ("spotted lanternfly nymph", "spotted lanternfly"),
        ("bacterial leaf streak disease", "bacterial leaf streak"),
        ("tomato spotted wilt", "tomato spotted wilt virus"), ("target leaf spot", "target spot"),
    ],
)  # fmt: skip
def test_the_published_synonyms_hold_for_labels_and_not_for_prompts_alone(
    written: tuple[str, str],
) -> None:
    assert same(*written)


@pytest.mark.parametrize(
    ("written", "crop"),
    [
        (("potato early blight", "early blight"), "potato"),
        (("potato late blight", "late blight"), "potato"),
        (("plum leaf scald", "leaf scald"), "plum"),
        (("corn rust", "maize rust"), "corn"),
        (("bell pepper bacterial spot", "bacterial spot"), "capsicum"),
    ],
)
def test_on_its_crop_a_name_does_not_need_the_crop(written: tuple[str, str], crop: str) -> None:
    assert same(*written, crop)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("apple black rot", "grape black rot"),  # two fungi
        ("hemileia vastatrix", "puccinia allii"),  # the rusts of coffee and onion
        ("dead nettle", "hemp nettle"),
        ("stinking smut", "bunt"),  # a synonym of two labels
        ("stinking smut", "dwarf bunt"),
        ("scarab", "scab"),
        ("mosaic virus", "mosaic"),
        ("frog-eye spot", "frogeye leaf spot"),
        ("pinyon blister rust", "pine blister rust"),
        ("black pepper wilt", "pepper wilt"),
    ],
)
def test_different_things_stay_apart(a: str, b: str) -> None:
    assert not same(a, b)


def test_on_one_crop_two_diseases_of_its_kinds_stay_apart() -> None:
    assert not same("pinyon blister rust", "pine blister rust", "pine")


def test_a_synonym_of_two_labels_is_neither_and_a_crop_may_tell() -> None:
    found = resolve("CMV")
    assert (found.id, found.label) == ("cmv", None)
    assert found.collision == ("cucumber mosaic", "cucumber mosaic virus")
    assert resolve("CMV", "potato").id == "cucumber mosaic virus"
    assert resolve("CMV", "potato").collision == ()


def test_no_synonym_of_several_labels_merges_them() -> None:
    shared = {name: owners for name, owners in book().synonyms.items() if len(owners) > 1}
    assert len(shared) >= 40
    for name in shared.keys() - SYNONYMS.keys() - book().lines.keys():
        assert label_id(name) == name


def test_a_synonym_that_is_itself_a_label_is_that_label() -> None:
    assert [
        name for name in book().synonyms if name in book().lines and label_id(name) != name
    ] == []


def test_every_label_is_its_own_id() -> None:
    assert [name for name in names() if label_id(name) != name] == []
    assert [name for name in names() if resolve(name).how != ("label",)] == []


@pytest.mark.parametrize(
    ("crop", "names_of_it"),
    [
        ("maize", ["corn", "Corn"]), ("pepper", ["bell pepper", "Pepper, bell", "capsicum"]),
        ("rice", ["paddy", "Paddy rice"]), ("eggplant", ["aubergine", "brinjal", "egg plant"]),
        ("soybean", ["soy", "soya", "soyabean", "soya bean", "Soybeans"]),
        ("tomato", ["tomatoes"]), ("grape", ["grapes", "grapevine", "Vitis"]),
        ("peanut", ["groundnut"]), ("canola", ["oilseed rape"]), ("cherry", ["cherries"]),
        ("sweet corn", ["sweet corn"]), ("black pepper", ["black pepper"]),
    ],
)  # fmt: skip
def test_crops_under_all_their_names(crop: str, names_of_it: list[str]) -> None:
    assert {crop_id(name) for name in [crop, *names_of_it]} == {crop}


def test_our_own_tables_lead_in_one_step_to_a_name_that_stays() -> None:
    for written, meant in SYNONYMS.items():
        assert label_id(written) == label_id(meant) == meant
        assert written not in book().lines
    for (crop, written), meant in OF_CROP.items():
        assert label_id(written, crop) == label_id(meant, crop) == meant
        assert crop_id(crop) == crop


@given(NAME, CROP)
def test_an_id_stays_and_never_fails(name: str, crop: str | None) -> None:
    found = resolve(name, crop)
    assert label_id(name, crop) == found.id
    assert label_id(found.id, crop) == found.id
    assert found.label is None or found.label.id == found.id
    assert found.label == label(found.id)
    assert found.how
    assert crop_id(crop_id(name)) == crop_id(name)


@given(NAME, CROP)
def test_case_and_hyphens_never_matter(name: str, crop: str | None) -> None:
    assert label_id(name.replace(" ", "-"), crop) == label_id(name, crop)
    assert label_id(name.upper(), crop) == label_id(name.upper().lower(), crop)


@pytest.mark.parametrize(
    ("name", "crop", "label"),
    [
        ("Corn (maize) common rust", None, "maize common rust"),
        ("Corn_(maize)___Common_rust_", None, "maize common rust"),
        ("Corn_(maize)___Common_rust_", "corn", "common rust"),
        ("Pepper, bell (capsicum) bacterial spot", "pepper", "bacterial spot"),
        ("Esca (Black Measles)", None, "esca"),
    ],
)
def test_a_crop_under_two_names_is_said_once(name: str, crop: str | None, label: str) -> None:
    assert resolve(name, crop).id == label
