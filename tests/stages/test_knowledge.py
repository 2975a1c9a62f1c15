"""Facts to learn from: what may come in, and how it is asked and answered."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.faults import BadRecord
from fieldtruth.records import Fact
from fieldtruth.stages import knowledge
from fieldtruth.stages.knowledge import Known, Settings, build, general, share_of

ISSUE, PEST, SPECIES = "disease/issue identification", "insect/pest", "species"
DO, SEE = "management instructions", "symptom/visual description"


def fact(name: str, kind: str, statement: str, **changes: Any) -> Fact:
    fields: dict[str, Any] = {
        "id": name, "dialogue": "d:1", "category": "disease", "knowledge": kind,
        "statement": statement, "turn": 1, "words": statement, "species": "tomato", "group": "g1",
        "source": "d", "licence": "CC0", "extractor": "hand", "images": (),
    }  # fmt: skip
    return Fact(**(fields | changes))


BLIGHT = fact("f1", ISSUE, "early blight")
RINGS = fact("f2", SEE, "Dark rings on lower leaves")
MULCH = fact("f3", DO, "Mulch the soil.")
PRUNE = fact("f4", DO, "Remove the lowest leaves")


def asked(*facts: Fact, photos: dict[str, str] | None = None, **settings: Any) -> Any:
    base = build(facts, photos or {}, Known(), Settings(**settings))
    return [(pair.question, pair.answer) for talk in base.talks for pair in talk.pairs]


def test_without_a_photo_a_name_is_never_asked_for() -> None:
    assert asked(BLIGHT, RINGS, MULCH, PRUNE) == [
        ("What does early blight look like on the tomato?", "Dark rings on lower leaves."),
        (
            "What can be done about early blight on the tomato?",
            "Mulch the soil. Remove the lowest leaves.",
        ),
    ]


def test_with_a_photo_the_name_is_asked_for_first_and_never_given_away() -> None:
    shown = [
        fact(each.id, each.knowledge, each.statement, images=("a.jpg",))
        for each in (MULCH, RINGS, BLIGHT)
    ]
    assert asked(*shown, photos={"a.jpg": "0" * 64}) == [
        ("What disease or other issue does the tomato have?", "early blight"),
        ("What signs can be seen on the tomato?", "Dark rings on lower leaves."),
        ("What should be done about this problem of the tomato?", "Mulch the soil."),
    ]


def test_a_photo_that_is_not_there_is_no_photo() -> None:
    assert asked(fact("f", ISSUE, "rust", images=("gone.jpg",))) == []


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ((RINGS, MULCH), "nothing says of what"),
        (
            (fact("f", ISSUE, "rust", species=None), fact("g", DO, "Spray", species=None)),
            "no plant",
        ),
    ],
)
def test_what_cannot_be_asked_is_kept_to_be_looked_up(facts: tuple[Fact, ...], why: str) -> None:
    base = build(facts, {}, Known(), Settings())
    assert (base.talks, base.kept, base.drops) == ([], list(facts), []), why


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (fact("f", ISSUE, "rust", group="used"), "benchmark_conversation"),
        (fact("f", ISSUE, "rust", images=("x/a.jpg",)), "benchmark_photo"),
        (fact("f", ISSUE, "borers", species="Tree"), "vague_species"),
        (fact("f", DO, "Call Ann at 410-555-0134."), "personal data"),
        (fact("f", SPECIES, "Mushrooms", species=None), "vague_species"),
        (fact("f", SPECIES, "apple tree", species="tree"), None),  # its name is what it states
        (fact("f", ISSUE, "borers", species="peach tree"), None),
    ],
)
def test_what_is_left_out(one: Fact, reason: str | None) -> None:
    known = Known(groups={"used"}, photos={"7" * 64})
    base = build([one], {"x/a.jpg": "7" * 64}, known, Settings())
    assert [(drop.parent, drop.reason) for drop in base.drops] == (
        [("f", reason)] if reason else []
    )
    assert base.kept == ([] if reason else [one])


def test_species_alone_and_what_is_vague_by_wish() -> None:
    plant = fact("s", SPECIES, "tree", images=("a.jpg",))
    photos = {"a.jpg": "0" * 64}
    told = Settings(only="species", vague="keep")
    base = build([BLIGHT, plant], photos, Known(), told)
    assert [drop.reason for drop in base.drops] == ["other_knowledge"]
    assert [pair.answer for pair in base.talks[0].pairs] == ["tree"]


def test_names_that_differ_are_one_answer() -> None:
    some = [
        fact(str(n), PEST, name, images=("a",)) for n, name in enumerate(("mite", "aphid", "mite"))
    ]
    assert [answer for _, answer in asked(*some, photos={"a": "0" * 64})] == ["mite; aphid"]


@given(st.permutations(range(12)), st.integers(0, 3))
def test_the_order_of_the_talks_is_drawn_and_not_that_of_the_file(
    order: list[int], seed: int
) -> None:
    some = [fact(f"f{n}", ISSUE, "rust", dialogue=f"d:{n}", images=("a",)) for n in range(12)]

    def names(facts: list[Fact]) -> list[str]:
        base = build(facts, {"a": "0" * 64}, Known(), Settings(seed=seed))
        return [talk.id for talk in base.talks]

    assert names([some[n] for n in order]) == names(some)


@pytest.mark.parametrize(
    ("talks", "told", "want"),
    [
        (100, {"share": 0.5}, 100),
        (57_079, {"share": 0.5}, 57_079),  # the paper's second mixture
        (90, {"share": 0.1}, 10),
        (100, {"rows": 10_000}, 10_000),
        (100, {}, 0),
    ],
)
def test_how_many_general_rows(talks: int, told: dict[str, Any], want: int) -> None:
    assert share_of(talks, Settings(**told)) == want


def test_rows_and_a_share_are_not_both() -> None:
    with pytest.raises(ValueError, match="got both"):
        Settings(rows=1, share=0.5)


def lines(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


LLAVA = (
    '{"id": "%s", "image": "coco/%s.jpg", "conversations": [{"from": "human", "value": "<image>\\n'
    'What is it?"}, {"from": "gpt", "value": "A cat."}]}'
)


def test_a_general_set_in_the_shape_of_llava(tmp_path: Path) -> None:
    said = '{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yes"}'
    one = f'[{{"id": "1", "conversations": [{said}]}},'
    [first, second] = general.read(lines(tmp_path / "g.json", one, LLAVA % (2, 2), "]"))
    assert (first.turns, first.images) == ((("user", "Hi"), ("assistant", "Yes")), ())
    assert (second.turns[0], second.images) == (("user", "What is it?"), ("coco/2.jpg",))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"text": "no conversation"}', "row 1: expected a conversation"),
        ("{broken", "row 1: expected one JSON object"),
        (
            (LLAVA % (1, 1)).replace("coco/1", "../../etc/1"),
            "expected photos below --general-images",
        ),
        (
            (LLAVA % (1, 1)).replace("<image>\\n", ""),
            "expected a place for each of 1 photos, got 0",
        ),
    ],
)
def test_a_general_row_that_cannot_be_used(tmp_path: Path, row: str, said: str) -> None:
    with pytest.raises(BadRecord, match=said):
        list(general.read(lines(tmp_path / "g.jsonl", row)))


@given(st.permutations(range(30)), st.integers(0, 40), st.integers(0, 5))
def test_general_rows_are_drawn_by_what_stands_in_them(
    order: list[int], want: int, seed: int
) -> None:
    some = [general.General(f"general:{n}", (), (), n) for n in range(30)]
    chosen, seen = general.drawn([some[n] for n in order] * 2, want, seed)
    again, _ = general.drawn(some, want, seed)
    more, _ = general.drawn(some, want + 1, seed)
    assert (seen, len(chosen)) == (60, min(want, 30))
    assert chosen == again == more[: len(chosen)]
    assert knowledge.Settings().rows is None
