"""What may stand beside what: one organism on that host, base names, synonyms, contained words."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.draws import rng
from fieldtruth.records import Target
from fieldtruth.stages.compose.pools import Pools
from fieldtruth.taxonomy import conflict, label, names, rivals, same
from fieldtruth.taxonomy.data import book
from fieldtruth.taxonomy.resolve import kin

ON = {
    crop: [name for name in names() if (what := label(name)) and crop in what.hosts]
    for crop in ("potato", "maize")
}
CROP = st.sampled_from(sorted(ON))


@pytest.mark.parametrize(
    ("a", "b", "crop", "why"),
    [
        ("cedar-apple rust", "cedar apple rust", "apple", "spelling"),
        ("corn rust", "maize rust", None, "crop's other name"),
        ("black scurf", "stem canker", "potato", "Rhizoctonia solani on potato"),
        ("leaf blast", "neck blast", "rice", "Pyricularia oryzae on rice"),
        ("gray mold", "botrytis rot", "peach", "Botrytis cinerea on peach"),
        ("scab of sour orange", "apple scab", None, "base label: scab"),
        ("tomato blight", "late blight", "tomato", "base label within the other"),
        ("root knot", "root-knot nematode", None, "synonym"),
        ("bcmv", "common mosaic", None, "a synonym of two labels, and one of them"),
        ("leaf rust", "rust", None, "contained words"),
        ("bacterial spot of tomato", "bacterial spot", "tomato", "one label on its crop"),
        ("japanese knotweed", "fallopia japonica", None, "a weed's Latin name"),
    ],
)
def test_two_names_that_are_no_rivals(a: str, b: str, crop: str | None, why: str) -> None:
    assert conflict(a, b, crop), why
    assert conflict(b, a, crop), why


@pytest.mark.parametrize(
    ("a", "b", "crop"),
    [
        ("early blight", "late blight", "potato"),
        ("leaf mold", "septoria leaf spot", "tomato"),
        ("rust", "phoma leaf spot", "coffee"),
        ("cercospora leaf spot", "coffee leaf miner", "coffee"),
        ("tomato mosaic virus", "tomato yellow leaf curl virus", "tomato"),
        ("blast", "brown spot", "rice"),
        ("ant", "anthracnose", None),
        ("canada goldenrod", "spotted spurge", None),
        ("common rust", "gray leaf spot", "maize"),
        ("black scurf", "sheath blight", None),  # one fungus, and no host that they share
    ],
)
def test_two_names_that_are_rivals(a: str, b: str, crop: str | None) -> None:
    assert not conflict(a, b, crop)
    assert not conflict(b, a, crop)


@pytest.mark.parametrize(
    ("a", "b", "one"),
    [
        ("Fusarium oxysporum f. sp. batatas", "Fusarium oxysporum", True),
        ("Cercospora", "Cercospora zeae-maydis", True),
        ("Phomopsis sp.", "Phomopsis phaseoli", True),
        ("'Candidatus Phytoplasma pruni'", "Phytoplasma", True),
        ("Alternaria solani", "Alternaria alternata", False),
        ("Potato virus X", "Potato virus Y", False),
        ("Tomato mosaic virus", "Tobacco mosaic virus", False),
        ("", "", False),
    ],
)
def test_one_organism_under_two_names(a: str, b: str, one: object) -> None:
    assert (kin(a, b), kin(b, a)) == (one, one)


@given(CROP.flatmap(lambda c: st.tuples(st.just(c), *[st.sampled_from(ON[c])] * 2)))
def test_conflict_is_mutual_and_holds_what_the_data_say(drawn: tuple[str, str, str]) -> None:
    crop, a, b = drawn
    assert conflict(a, b, crop) == conflict(b, a, crop)
    assert conflict(a, a, crop)
    one, two = label(a), label(b)
    assert one is not None
    assert two is not None
    if same(a, b, crop) or set(one.hosts[crop]) & set(two.hosts[crop]):
        assert conflict(a, b, crop)
    if b in one.synonyms:
        assert conflict(a, b)


@given(CROP.flatmap(lambda c: st.tuples(st.just(c), st.lists(st.sampled_from(ON[c]), max_size=20))))
def test_no_two_rivals_share_an_organism(drawn: tuple[str, list[str]]) -> None:
    crop, pool = drawn
    found = rivals(pool[:1], pool[1:], crop)
    assert found == rivals(pool[:1], reversed(pool[1:]), crop)
    causes = [set(book_entry.hosts[crop]) for n in found if (book_entry := label(n))]
    assert not any(a & b for a, b in combinations(causes, 2))


def test_a_list_of_candidates_never_holds_two_names_of_one_organism() -> None:
    pool = ["black scurf", "stem canker", "early blight", "late blight", "common scab", "pink rot"]
    pools = Pools(
        Target(id=name, sample=name, kind="disease", label=name, crop="potato") for name in pool
    )
    for n in range(40):
        listed = pools.distractors(["black scurf"], ("potato", "disease"), rng(n, "test", "list"))
        assert len(listed) == 3
        assert "stem canker" not in listed
    assert "rhizoctonia canker and black scurf" in book().lines
