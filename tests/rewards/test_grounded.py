"""Our reward: what each kind of reply earns, and what must hold of any."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rewards import reference
from tests.rewards.replies import FOUR, SPECK, TRUE, Corners, absent, one, rollout, words
from tests.strategies import hostile, json_replies

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.rewards.contract import Rollout, pay
from fieldtruth.rewards.grounded import REWARD, Grounded, Weights

FAR, BESIDE = (800, 800, 950, 950), (700, 700, 790, 790)
LEAST = 0.05


def worth(text: str, **of: Any) -> float:
    return one(REWARD, rollout(text, **of)).reward


def mixed(*pairs: tuple[Corners, str]) -> str:
    return json.dumps([{"bbox_2d": list(box), "label": name} for box, name in pairs])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (rollout(words(*TRUE)), 1.0),
        (rollout(words(*TRUE), choose=True), 1.0),
        (rollout(words(*TRUE, name="1"), choose=True), 1.0),  # the number of a name is the name
        (rollout(words(*TRUE, name="RUST ")), 1.0),
        (rollout("```json\n" + words(*TRUE) + "\n```"), 1.0),
        (rollout("<think>rust?</think>" + words(*TRUE)), 1.0),
        (rollout(words(*TRUE, name="scab")), 0.85),
        (rollout(words(*TRUE, name=None)), 0.925),
        (rollout(words(*TRUE, name="scab"), choose=True), 0.75),
        (rollout(words(*TRUE, name=None), choose=True), 0.75),
        (rollout("Here: " + words(*TRUE)), 0.90),
        (rollout(f'{{"boxes": {words(*TRUE)}}}'), 0.90),
        (rollout(words(*TRUE)[:-1] + " // three of them\n]"), 0.90),
        (rollout("[]"), 0.10),
        (rollout("null", choose=True), 0.10),
        (rollout("There is no rust."), 0.0),
        (rollout('[{"bbox_2d": [1, 2], "label": "rust"}]'), 0.0),
        (rollout(words(FAR), choose=True), 0.45),
        (rollout(words(FAR)), 0.35),
        (rollout(words(FAR, name="scab"), choose=True), 0.20),
        (rollout(words(SPECK), choose=True), 0.10),
        (rollout(words(SPECK)), 0.10),
        (rollout(words(SPECK, SPECK, SPECK), choose=True), 0.0),
        (rollout(words(*TRUE[:1]), true=TRUE[:2]),
         0.10 + 0.10 + 0.35 * (2 / 3 + 1 / 2) / 2 + 0.20 / 2 + 0.10 / 2 + 0.15),
        # specks have no vote, but are false boxes
        (rollout(mixed((TRUE[0], "scab"), (SPECK, "rust"), (SPECK, "rust")), true=TRUE[:1]),
         0.10 + 0.35 * (2 / 4 + 40_000 / 40_400) / 2 + 0.20 + 0.10 / 9),
        (rollout(mixed((TRUE[0], "rust"), (TRUE[1], "scab")), true=TRUE[:2]), 0.925),
        # a speck that finds a speck is no speck
        (rollout(words(SPECK), true=[SPECK], choose=True), 1.0),
        (absent("[]"), 1.0),
        (absent("[]", choose=True), 1.0),
        (absent("[]", healthy=False), 1.0),
        (absent("[]", healthy=False, protocol="known_target+wrong_target"), 1.0),
        (absent("It is healthy. []"), 0.90),
        (absent(words(FAR) + " []"), 0.90),
        (absent("It is healthy."), 0.0),
        (absent(words(FAR)), 0.10),
        (absent("See: " + words(FAR)), 0.0),
        (absent(words(FAR, FAR)), 0.0),
        (absent(words(FAR, (802, 800, 950, 948))), 0.0),
        (absent('{"boxes": []}'), 0.90),
        (absent(f'{{"boxes": [], "objects": {words(FAR)}}}'), 0.90),
        (absent(""), 0.0),
    ],
)  # fmt: skip
def test_what_replies_earn(asked: Rollout, expected: float) -> None:
    paid = one(REWARD, asked)
    assert paid.reward == pytest.approx(expected, abs=1e-12)
    assert sum(paid.terms.values()) == pytest.approx(paid.reward)


def test_the_best_is_exactly_1() -> None:
    for choose in (False, True):
        assert worth(words(*TRUE), choose=choose) == 1.0
        assert one(REWARD, absent("[]", choose=choose)).reward == 1.0


# --- what each liberty costs -------------------------------------------------------------------


@pytest.mark.parametrize("choose", [False, True])
@pytest.mark.parametrize("said", [TRUE, TRUE[:1], (FAR,), (*TRUE, FAR), (SPECK,)])
@pytest.mark.parametrize("shift", [(0, 0, 0, 0), (4, 3, -3, -5)])
@pytest.mark.parametrize("name", ["rust", "scab", None])
def test_saying_it_twice(
    *, choose: bool, said: tuple[Corners, ...], shift: Corners, name: str | None
) -> None:
    again = [a + b for a, b in zip(said[0], shift, strict=True)]
    if said[0] == SPECK and any(shift):
        return  # a second false box, for of one so small the other is not nine tenths
    without = worth(words(*said, name=name), choose=choose)
    assert worth(words(*said, again, name=name), choose=choose) <= without - LEAST


@given(
    said=st.lists(
        st.tuples(st.sampled_from((*TRUE, FAR, BESIDE)), st.sampled_from((*FOUR, ""))),
        min_size=1, max_size=5, unique_by=lambda pair: pair[0],
    ),
    which=st.integers(0, 4), at=st.integers(0, 5), many=st.integers(1, 3), choose=st.booleans(),
    aside=st.sampled_from((0, 3)),
)  # fmt: skip
def test_no_name_is_carried_by_saying_it_twice(
    *, said: list[Any], which: int, at: int, many: int, choose: bool, aside: int
) -> None:
    """Whatever the names: a box more for the right one does not pay for the box."""
    (x1, y1, x2, y2), name = said[which % len(said)]
    twice = [*said[:at], ((x1 + aside, y1, x2 + aside, y2), name), *said[at:]]
    of: dict[str, Any] = {"true": TRUE[:many], "choose": choose}
    assert worth(mixed(*twice), **of) <= worth(mixed(*said), **of) - LEAST


@pytest.mark.parametrize(("shift", "free"), [(0, 0), (1, 0), (7, 0), (8, 0.1), (60, 0.1)])
def test_boxes_that_find_nothing_and_are_all_but_the_same(shift: int, free: float) -> None:
    """From an IoU of 0.9 on: of 150 units aside, 7 at most."""
    paid = one(REWARD, rollout(words(FAR, (800 + shift, 800, 950 + shift, 950), TRUE[0])))
    assert paid.terms["answer"] == free


def test_what_lies_outside_the_photo_is_all_the_same() -> None:
    beside, below = (1000, 100, 1200, 300), (100, 1000, 300, 1200)
    terms = [
        one(REWARD, rollout(words(*TRUE, *out))).terms["answer"]
        for out in ((beside,), (beside, beside), (beside, below))
    ]
    assert terms == [0.10, 0.0, 0.0]


def test_of_hundreds_of_boxes_some_are_the_same() -> None:
    """What they are compared for grows with the square of their number."""
    many = [(x, y, x + 38, y + 38) for x in range(0, 800, 40) for y in range(0, 800, 40)]
    for number, free in ((300, 0.1), (301, 0.0)):
        paid = one(REWARD, rollout(words(*many[:number]), true=[(900, 900, 950, 950)]))
        assert paid.terms["answer"] == free


def test_twins_of_the_truth_are_no_duplicates() -> None:
    assert worth(words(TRUE[0], TRUE[0]), true=[TRUE[0], TRUE[0]]) == 1.0


@pytest.mark.parametrize("said", [TRUE, (FAR,), (TRUE[0], FAR)])
def test_a_wrong_name_on_a_known_target(said: tuple[Corners, ...]) -> None:
    none, right, wrong = (worth(words(*said, name=name)) for name in (None, "rust", "scab"))
    assert wrong <= none - LEAST
    assert none < right
    some = mixed(*((box, "rust" if n else "scab") for n, box in enumerate(said)))
    unnamed = mixed(*((box, "rust" if n else "") for n, box in enumerate(said)))
    assert worth(some) <= worth(unnamed) - LEAST


@pytest.mark.parametrize("how", [{"healthy": True}, {"healthy": False}])
@pytest.mark.parametrize("choose", [False, True])
def test_on_a_photo_without_it(*, how: dict[str, bool], choose: bool) -> None:
    def earns(text: str) -> float:
        return one(REWARD, absent(text, choose=choose, **how)).reward

    assert earns("No. []") <= earns("[]") - LEAST
    assert earns("[] and so on") <= earns("[]") - LEAST
    assert earns("```healthy\n[]\n```") <= earns("[]") - LEAST
    assert earns('["healthy"] []') <= earns("[]") - LEAST
    assert earns(words(FAR)) <= earns("[]") - LEAST
    assert earns("See: " + words(FAR)) <= earns(words(FAR)) - LEAST
    assert earns(words(SPECK)) <= earns("[]") - LEAST


MALFORMED = (
    '{"bbox_2d": [1, 2, 3], "label": "rust"}', '{"bbox_2d": [1, 2, 3, "x"], "label": "scab"}',
    '{"label": "scab"}', '{"bbox_2d": [5, 5, 5, 5], "label": "scab"}', "7", "null",
    '{"bbox_2d": [1, 2, 3, NaN]}', '{"bbox_2d": [10, 20, 900',
)  # fmt: skip


@pytest.mark.parametrize("bad", MALFORMED)
@pytest.mark.parametrize("said", [TRUE, TRUE[:2], (FAR,)])
def test_a_malformed_object_costs_only_itself(bad: str, said: tuple[Corners, ...]) -> None:
    whole = words(*said)
    assert worth(f"{whole[:-1]}, {bad}]") == worth(whole)
    if not bad.endswith("900"):  # what is cut off takes the rest with it
        assert worth(f"[{bad}, {whole[1:]}") == worth(whole)


def test_a_speck_in_every_space() -> None:
    spaces = {"norm1": 1, "yx1000": 1000, "loc1024": 1024, "pixel840": 840}
    for space, full in spaces.items():
        true = [[side * full for side in (0.1, 0.1, 0.4, 0.4)]]
        small, large = ([side * full for side in (0.6, 0.6, far, far)] for far in (0.631, 0.632))
        of = {"true": true, "space": space, "choose": True}
        assert worth(words(*true), **of) == 1.0
        assert worth(words(small), **of) == pytest.approx(0.10)
        assert worth(words(large), **of) == pytest.approx(0.45)


def test_a_speck_among_pixels() -> None:
    of = {"true": [(100, 100, 400, 400)], "choose": True, "space": "pixel"}
    small = words((600, 600, 631, 631))
    assert worth(small, **of, width=1000, height=1000) == pytest.approx(0.10)
    assert worth(small, **of) == pytest.approx(0.45)  # the photo may be no larger than 400 x 400
    assert worth(words((600, 600, 612, 612)), **of) == pytest.approx(0.10)


def test_a_failed_call_is_an_error_and_earns_nothing() -> None:
    paid = pay(REWARD, [rollout(words(*TRUE), finish="error"), rollout(words(*TRUE))])
    assert [(each.reward, each.outcome) for each in paid] == [(0.0, "error"), (1.0, "boxes")]
    assert paid[0].terms == {}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (rollout("[]", choose=True, candidates=None), "expected the candidates"),
        (rollout("[]", choose=True, candidates=("rust",)), "expected the candidates"),
        (rollout("[]", label=None, query=None), "expected a label beside 3 boxes"),
        (rollout("[]", label=None, choose=True), "expected a label beside 3 boxes"),
    ],
)
def test_what_cannot_be_paid(asked: Rollout, told: str) -> None:
    with pytest.raises(BadRecord, match=told):
        pay(REWARD, [rollout("[]"), asked])


@pytest.mark.parametrize("wrong", [{"name": 0.5}, {"name": float("nan")}, {"name": -0.1}])
def test_weights_that_are_no_shares(wrong: dict[str, float]) -> None:
    with pytest.raises(Usage, match="add up to 1"):
        Weights(**wrong)


def test_other_weights() -> None:
    heavy = Grounded(candidates=Weights(localization=0.20, recall=0.10, name=0.40))
    assert one(heavy, rollout(words(FAR), choose=True)).reward == pytest.approx(0.60)
    assert worth(words(FAR), choose=True) == pytest.approx(0.45)


# --- of any reply ------------------------------------------------------------------------------

corners = st.tuples(*[st.integers(0, 800)] * 2, *[st.integers(40, 200)] * 2).map(
    lambda of: (of[0], of[1], of[0] + of[2], of[1] + of[3])
)
lists = st.lists(st.tuples(corners, st.sampled_from((*FOUR, "", "gall"))), max_size=6)
truths = st.lists(corners, min_size=1, max_size=5)


@given(
    text=st.one_of(hostile, json_replies), true=truths, choose=st.booleans(), there=st.booleans()
)
def test_it_lies_between_0_and_1(*, text: str, true: list[Any], choose: bool, there: bool) -> None:
    paid = one(REWARD, rollout(text, true=true if there else (), choose=choose))
    assert 0 <= paid.reward <= 1
    assert sum(paid.terms.values()) == pytest.approx(paid.reward)


@given(
    said=st.lists(corners, max_size=6),
    true=truths,
    choose=st.booleans(),
    random=st.randoms(use_true_random=False),
)
def test_order_is_nothing(*, said: list[Any], true: list[Any], choose: bool, random: Any) -> None:
    before = worth(words(*said), true=true, choose=choose)
    random.shuffle(said)
    after = worth(words(*said), true=true, choose=choose)
    tied = len({reference.iou(a, b) for a in said for b in true}) < len(said) * len(true)
    assert tied or after == pytest.approx(before)
    random.shuffle(true)
    assert tied or worth(words(*said), true=true, choose=choose) == pytest.approx(before)


tens = st.tuples(*[st.integers(0, 60)] * 2, *[st.integers(4, 40)] * 2).map(
    lambda of: (10 * of[0], 10 * of[1], 10 * (of[0] + of[2]), 10 * (of[1] + of[3]))
)


@given(said=st.lists(tens, min_size=1, max_size=7), true=st.lists(tens, min_size=1, max_size=7))
def test_the_place_is_that_of_whole_cells(said: list[Any], true: list[Any]) -> None:
    """By sets of cells, where these are exact; also where most boxes meet most of the true ones."""
    paid = one(REWARD, rollout(words(*said), true=true))
    f1 = 2 * reference.hits(said, true) / (len(said) + len(true))
    place = (f1 + reference.region(said, true)) / 2
    assert paid.terms["localization"] == pytest.approx(0.35 * place)
    assert paid.terms["recall"] == pytest.approx(0.20 * reference.hits(said, true) / len(true))


@given(two=st.tuples(corners, corners), true=corners, choose=st.booleans())
def test_a_closer_box_never_earns_less(*, two: Any, true: Any, choose: bool) -> None:
    less, more = sorted(two, key=lambda box: reference.iou(box, true))
    of: dict[str, Any] = {"true": [true], "choose": choose}
    assert worth(words(less), **of) <= worth(words(more), **of) + 1e-12


@given(st.integers(0, 2), st.lists(st.integers(-60, 60), min_size=4, max_size=4))
def test_nor_does_one_of_several(which: int, shift: list[int]) -> None:
    """A box that goes straight to its place."""
    earned = []
    for share in (1.0, 0.75, 0.5, 0.25, 0.0):
        moved = [a + share * b for a, b in zip(TRUE[which], shift, strict=True)]
        earned.append(worth(words(*TRUE[:which], moved, *TRUE[which + 1 :])))
    assert earned == pytest.approx(sorted(earned))
    assert earned[-1] == 1.0


@given(
    said=lists,
    true=truths,
    choose=st.booleans(),
    bad=st.sampled_from(MALFORMED[:-1]),
    at=st.integers(0, 6),
)
def test_a_malformed_object_changes_nothing(
    *, said: list[Any], true: list[Any], choose: bool, bad: str, at: int
) -> None:
    parts = [mixed(pair)[1:-1] for pair in said] or [mixed((FAR, "rust"))[1:-1]]
    of: dict[str, Any] = {"true": true, "choose": choose}
    with_it = [*parts[:at], bad, *parts[at:]]
    assert worth(f"[{', '.join(with_it)}]", **of) == worth(f"[{', '.join(parts)}]", **of)


@given(text=st.one_of(hostile, json_replies), choose=st.booleans())
def test_a_wrong_target_is_as_a_healthy_photo(*, text: str, choose: bool) -> None:
    healthy, wrong = (absent(text, healthy=how, choose=choose) for how in (True, False))
    assert one(REWARD, healthy) == one(REWARD, wrong)


@given(st.lists(st.tuples(lists, truths, st.booleans()), min_size=1, max_size=5))
def test_many_at_once_earn_what_each_earns(rows: list[Any]) -> None:
    asked = [rollout(mixed(*said), true=true, choose=how) for said, true, how in rows]
    for together, each in zip(pay(REWARD, asked), asked, strict=True):
        alone = one(REWARD, each)
        assert together.reward == pytest.approx(alone.reward)
        assert together.outcome == alone.outcome
