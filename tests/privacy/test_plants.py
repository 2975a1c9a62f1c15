"""Daisy, rose, Septoria and Bradford pear are not people; Johnson by himself is."""

import pytest

from fieldtruth import taxonomy
from fieldtruth.privacy import plants
from fieldtruth.taxonomy.data import label


@pytest.mark.parametrize(
    "name",
    ["daisy", "Rose", "Septoria", "Bradford", "Bradford pears", "Daisies", "Johnson grass",
     "Queen Anne's lace", "Black-eyed Susan", "sweet William", "Phytophthora infestans",
     "Japanese beetles", "Tomato", "Puccinia graminis f. sp. tritici", "Douglas fir"],
)  # fmt: skip
def test_they_are_plants_pests_and_pathogens(name: str) -> None:
    assert plants.covers(name)


@pytest.mark.parametrize(
    "name",
    ["Johnson", "Anne", "Susan", "William", "Daisy Miller", "Ann Rose", "Poe", "", "Stevens"],
)
def test_they_are_not(name: str) -> None:
    assert not plants.covers(name)


def test_every_name_of_the_taxonomy_is_covered_in_a_sentence() -> None:
    for name in taxonomy.names():
        known = label(name)
        assert known is not None
        for each in (name, *known.synonyms, *known.organisms, *known.hosts):
            text = f"We have {each} here"
            found = plants.spans(text)
            words = [at for at in range(8, 8 + len(each)) if text[at].isalpha()]
            inside = {at for start, end in found for at in range(start, end)}
            ranks = {"sp", "spp", "f", "subsp", "var", "pv", "cv", "ssp", "x", "candidatus"}
            left = "".join(text[at] if at not in inside else " " for at in words).split()
            assert not [word for word in left if word.casefold() not in ranks], (each, left)


def test_the_longest_name_counts() -> None:
    text = "my rose of sharon and a rose"
    assert [text[start:end] for start, end in plants.spans(text)] == ["rose of sharon", "rose"]
