"""Candidates of a benchmark: whatever the items are, the books balance and no photo comes twice."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import NAMES, item

from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Drop, Item
from fieldtruth.stages.select import (
    EVERY,
    REASONS,
    STRATA,
    Photos,
    Selection,
    Settings,
    line,
    select,
)  # fmt: skip

NONE = Photos()
BOX = (10.0, 10.0, 30.0, 20.0)
LEVELS: Mapping[str, dict[str, Any]] = {
    "dense": {"level": "lesion", "boxes": (BOX,) * 5},
    "lesion": {"level": "lesion", "boxes": (BOX,) * 4},
    "object": {"level": "object"},
    "healthy": {"level": "healthy", "label": None, "kind": None, "boxes": ()},
}


def photo(number: int) -> str:
    """A SHA-256 whose first digits say which photo it is."""
    return f"{number:012x}{0:052x}"


def made(name: str, number: int, stratum: str = "lesion", **changes: Any) -> Item:
    """An item of a photo; each photo is a group of its own."""
    fields = {"image_sha256": photo(number), "group": f"g{number}", **LEVELS[stratum]}
    return item(name, **(fields | changes))


def many(source: str, count: int, stratum: str = "lesion", start: int = 0) -> list[Item]:
    return [made(f"{source}:{n}", start + n, stratum, source=source) for n in range(count)]


def chosen(report: Selection, stratum: str = "lesion") -> dict[str, int]:
    return {row.source: row.chosen for row in report.rows if row.stratum == stratum}


def run(
    items: Sequence[Item], trained: Photos = NONE, earlier: Photos = NONE, **settings: Any
) -> tuple[list[Item], dict[str, str], Selection]:
    """The chosen items, why each other one is not chosen, and the report."""
    out, drops, report = select(items, Settings(**settings), trained, earlier)
    return out, {drop.parent or "": drop.reason for drop in drops}, report


@pytest.mark.parametrize(
    ("boxes", "level", "stratum"),
    [
        (1, "lesion", "lesion"), (4, "lesion", "lesion"), (5, "lesion", "dense"),
        (9, "lesion", "dense"), (9, "object", "object"), (0, "healthy", "healthy"),
    ],
)  # fmt: skip
def test_strata(boxes: int, level: str, stratum: str) -> None:
    one = made("a", 1, "healthy" if level == "healthy" else "object", level=level,
               boxes=(BOX,) * boxes)  # fmt: skip
    for wanted in STRATA:
        out, drops, _ = run([one], want={wanted: 1})
        assert len(out) == (wanted == stratum)
        assert drops == ({} if wanted == stratum else {"a": "not_wanted"})


def test_every_reason() -> None:
    items = [
        made("object", 1, "object"),
        made("no crop", 2, "healthy", crop=None),
        made("no query", 3, "healthy", query=None),
        made("trained by bytes", 4),
        made("trained by group", 5),
        made("earlier by bytes", 6),
        made("earlier by group", 7),
        made("dense", 8, "dense", group="plant"),
        made("its twin", 8, "lesion", label=NAMES[1], group="another name"),
        made("its neighbour", 9, group="plant"),
        *many("much", 9, "healthy", start=20),
        *many("more", 9, "healthy", start=40),
    ]
    out, drops, report = run(
        items,
        Photos({photo(4)}, {"g5"}),
        Photos({photo(6)}, {"g7"}),
        want={"lesion": 3, "dense": 1, "healthy": 6},
        cap={"much": 0.5},
    )
    healthy = {name: why for name, why in drops.items() if name[:4] in ("much", "more")}
    assert Counter(healthy.values()) == {"over_cap": 6, "enough": 6}
    assert {why for name, why in healthy.items() if name[:4] == "much"} == {"over_cap"}
    assert {name: why for name, why in drops.items() if name not in healthy} == {
        "object": "not_wanted", "no crop": "incomplete", "no query": "incomplete",
        "trained by bytes": "in_training", "trained by group": "in_training",
        "earlier by bytes": "earlier_round", "earlier by group": "earlier_round",
        "its twin": "same_photo", "its neighbour": "same_group",
    }  # fmt: skip
    assert set(drops.values()) == set(REASONS)
    assert len(out) == 7
    short = {name: each.short for name, each in report.strata.items()}
    assert short == {"dense": 0, "lesion": 3, "healthy": 0}
    assert "short of: 3 lesion" in line(report)


def test_sources_in_turn_and_the_scarce_one_gives_all() -> None:
    items = [*many("a", 50), *many("b", 20, start=100), *many("c", 3, start=200)]
    assert chosen(run(items, want={"lesion": 23})[2]) == {"a": 10, "b": 10, "c": 3}
    assert chosen(run(items, want={"lesion": 24})[2]) == {"a": 11, "b": 10, "c": 3}
    assert chosen(run(items, want={"lesion": 60})[2]) == {"a": 37, "b": 20, "c": 3}


def test_a_cap_is_a_share_of_what_is_wanted() -> None:
    """Round 2 of the paper: CDDM at most 40 % of each stratum (agroground.md, section 10.1)."""
    items = [*many("cddm", 900), *many("b", 90, start=1000), *many("c", 3, start=2000)]
    for share in ({"cddm": 0.4}, {"cddm": 0.4, "c": 0.01}):
        report = run(items, want={"lesion": 100}, cap=share)[2]
        assert chosen(report) == {
            "cddm": 40,
            "b": 57 + 2 * ("c" in share),
            "c": 3 - 2 * ("c" in share),
        }
    few = [*many("cddm", 900), *many("b", 20, start=1000)]
    report = run(few, want={"lesion": 100}, cap={"cddm": 0.4})[2]
    assert chosen(report) == {"cddm": 40, "b": 20}
    assert report.strata["lesion"].short == 40
    report = run(few, want={"lesion": 100}, cap={"cddm": 0.4}, lift_cap=True)[2]
    assert chosen(report) == {"cddm": 80, "b": 20}
    assert {row.source: (row.cap, row.lifted) for row in report.rows} == {
        "cddm": (40, 40), "b": (None, 0),
    }  # fmt: skip
    assert "40 beyond its cap" in line(report)


def test_a_cap_for_every_source() -> None:
    items = [*many("a", 50), *many("b", 50, start=100)]
    report = run(items, want={"lesion": 100}, cap={EVERY: 0.29, "b": 0.3})[2]
    assert chosen(report) == {"a": 29, "b": 30}


def test_floors_are_held_before_anything_else() -> None:
    items = [*many("a", 50), *many("b", 50, start=100), *many("c", 2, start=200)]
    report = run(items, want={"lesion": 10}, floor={EVERY: 0, "c": 2, "b": 6})[2]
    assert chosen(report) == {"a": 1, "b": 7, "c": 2}  # the two that are left go in turn


def test_floors_of_strata_that_share_photos() -> None:
    """The dense stratum leaves its source's lesion photos to another, until floors are held."""
    dense = [made(f"a:{n}", n, "dense", source="a") for n in range(3)]
    twins = [made(f"a:{n}#2", n, "lesion", source="a") for n in range(2, 5)]
    report = run([*dense, *twins], want={"dense": 3, "lesion": 2}, floor={"a": 2})[2]
    assert report.strata["lesion"].chosen == 2


@pytest.mark.parametrize(
    ("settings", "fault", "said"),
    [
        ({"floor": {EVERY: 4}}, Refused, "c gives 2 of 4 lesion photos"),
        ({"floor": {"b": 30}}, Usage, "floors within the 20 lesion photos"),
        ({"floor": {EVERY: 9, "c": 2, "b": 10}}, Usage, "floors within the 20 lesion photos"),
        ({"floor": {"b": 5}, "cap": {"b": 0.2}}, Usage, "within its cap, which is 4"),
        ({"floor": {"b": -1}}, Usage, "numbers of 0 and more"),
        ({"cap": {"b": 0.0}}, Usage, "shares over 0"),
        ({"cap": {"b": float("nan")}}, Usage, "shares over 0"),
        ({"cap": {"b": 1.1}}, Usage, "shares over 0"),
        ({"want": {}}, Usage, "expected some of dense, lesion, object, healthy"),
        ({"want": {"lesion": 0}}, Usage, "a number over 0"),
        ({"want": {"lesions": 5}}, Usage, "lesions=5"),
    ],
)
def test_what_cannot_be_held_is_refused(
    settings: dict[str, Any], fault: type[Exception], said: str
) -> None:
    items = [*many("a", 50), *many("b", 50, start=100), *many("c", 2, start=200)]
    with pytest.raises(fault, match=said):
        run(items, **({"want": {"lesion": 20}} | settings))


def test_an_id_tells_the_photo_and_nothing_else() -> None:
    one = made("a:1#rust", 7, source="Ågro Mind")
    other = made("another row", 7, "dense", source="Ågro Mind")
    assert run([one], want={"lesion": 1})[0][0].id == "gro-mind-000000000007"
    out, _, report = run([other, *many("b", 5, "dense", start=50)], want={"dense": 6}, seed=3)
    assert report.parents["gro-mind-000000000007"] == "another row"
    assert [each.id for each in out] == sorted(each.id for each in out)


def test_two_photos_of_one_id_are_refused() -> None:
    items = [made("a", 1), made("b", 2, image_sha256=photo(1)[:12] + "f" * 52)]
    with pytest.raises(Refused, match="differ in the first 12 digits"):
        run(items, want={"lesion": 2})


@st.composite
def pools(draw: st.DrawFn) -> list[Item]:
    """Items of few photos and groups, so that many meet."""
    count = draw(st.integers(0, 40))
    items = []
    for n in range(count):
        number = draw(st.integers(0, 25))
        stratum = draw(st.sampled_from(STRATA))
        crop = draw(st.sampled_from(["tomato", "tomato", None]))
        items.append(
            made(
                f"i{n}", number, stratum, source=draw(st.sampled_from("abc")), crop=crop,
                group=f"g{number // draw(st.sampled_from([1, 1, 2]))}",
            )
        )  # fmt: skip
    return items


wants = st.dictionaries(st.sampled_from(STRATA), st.integers(1, 12), min_size=1)
caps = st.dictionaries(st.sampled_from(["a", "b", EVERY]), st.sampled_from([0.2, 0.5, 1.0]))
floors = st.dictionaries(st.sampled_from(["a", "b", EVERY]), st.integers(0, 2))
blocked = st.builds(
    Photos,
    st.sets(st.integers(0, 25).map(photo), max_size=4),
    st.sets(st.integers(0, 25).map("g{}".format), max_size=4),
)


settings_of = st.fixed_dictionaries(
    {
        "want": wants, "cap": caps, "floor": floors, "lift_cap": st.booleans(),
        "seed": st.integers(0, 3),
    }
)  # fmt: skip


@given(pools(), settings_of, blocked, blocked)
def test_whatever_comes_the_books_balance(
    items: list[Item], knobs: dict[str, Any], trained: Photos, earlier: Photos
) -> None:
    settings = Settings(**knobs)
    try:
        out, drops, report = select(items, settings, trained, earlier)
    except (Refused, Usage):
        if any(settings.floor.values()):
            return
        raise  # nothing else is refused here
    parents = [report.parents[each.id] for each in out]
    assert sorted([*parents, *(drop.parent or "" for drop in drops)]) == sorted(
        each.id for each in items
    )
    assert {drop.reason for drop in drops} <= set(REASONS)
    assert report.items == len(items) == report.chosen + sum(report.drops.values())
    assert len({each.image_sha256 for each in out}) == len({each.group for each in out}) == len(out)
    for each in out:
        assert each.image_sha256 not in trained.contents | earlier.contents
        assert each.group not in trained.groups | earlier.groups
        assert each.level != "healthy" or (each.crop and each.query)
    _holds(items, out, settings, report)


def _holds(
    items: Sequence[Item], out: Sequence[Item], settings: Settings, report: Selection
) -> None:
    """Counts, caps and floors by plain loops."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for each in out:
        counts[_stratum(each), each.source] += 1
    there = {(_stratum(each), each.source) for each in items}
    for stratum, wanted in settings.want.items():
        got = sum(counts[stratum, source] for source in "abc")
        filled = report.strata[stratum]  # type: ignore[index]
        assert (filled.chosen, filled.short) == (got, wanted - got)
        assert got <= wanted
        for source in "abc":
            share = settings.cap.get(source, settings.cap.get(EVERY, 1.0))
            if not settings.lift_cap:
                assert counts[stratum, source] <= share * wanted + 1e-9
            if (stratum, source) in there:
                least = settings.floor.get(source, settings.floor.get(EVERY, 0))
                assert counts[stratum, source] >= least
    assert all(stratum in settings.want for stratum, _ in counts)


def _stratum(one: Item) -> str:
    return "dense" if one.level == "lesion" and len(one.boxes) >= 5 else one.level


@given(pools(), wants, st.randoms(use_true_random=False))
def test_the_order_of_lines_is_of_no_account(
    items: list[Item], want: dict[str, int], random: Any
) -> None:
    shuffled, wants_back = list(items), dict(reversed(want.items()))
    random.shuffle(shuffled)
    assert select(items, Settings(want=want), NONE, NONE) == select(
        shuffled, Settings(want=wants_back), NONE, NONE
    )


@given(st.integers(1, 12), st.integers(1, 30), st.integers(1, 12), st.integers(0, 5))
def test_another_source_changes_nobodys_order(a: int, want: int, b: int, seed: int) -> None:
    """Of a source's photos those first in its order are chosen, fewer or more of them."""
    mine, other = many("a", a), many("b", b, start=500)
    alone = run(mine, want={"lesion": want}, seed=seed)[0]
    both = run([*other, *mine], want={"lesion": want}, seed=seed)[0]
    kept = {each.id for each in both if each.source == "a"}
    assert kept <= {each.id for each in alone}
    fewer = run(mine, want={"lesion": max(1, len(kept))}, seed=seed)[0]
    assert kept in ({each.id for each in fewer}, set())


@given(pools(), wants, st.integers(0, 3))
def test_rounds_share_no_photo(items: list[Item], want: dict[str, int], seed: int) -> None:
    seen = Photos()
    ids: list[str] = []
    for _ in range(4):
        out, drops, _ = select(items, Settings(want=want, seed=seed), NONE, seen)
        earlier = {drop.parent for drop in drops if drop.reason == "earlier_round"}
        known = {each.id for each in items if seen.hold(each) and _may(each, want)}
        assert earlier == known
        assert not any(seen.hold(each) for each in out)
        seen.contents.update(each.image_sha256 for each in out)
        seen.groups.update(each.group for each in out)
        ids += [each.id for each in out]
    assert len(set(ids)) == len(ids)


def _may(one: Item, want: Mapping[str, int]) -> bool:
    return _stratum(one) in want and (one.level != "healthy" or bool(one.crop and one.query))


def test_other_seeds_draw_others() -> None:
    items = many("a", 40)
    drawn = [
        frozenset(each.id for each in run(items, want={"lesion": 10}, seed=seed)[0])
        for seed in range(4)
    ]
    assert len(set(drawn)) == 4
    assert drawn[0] == frozenset(each.id for each in run(items, want={"lesion": 10}, seed=0)[0])


def test_a_drop_names_its_item_and_its_sample() -> None:
    _, drops, _ = select([made("s:1#rust", 1)], Settings(want={"object": 1}), NONE, NONE)
    assert drops == [
        Drop(id="s:1#rust#select", sample="s:1", parent="s:1#rust", stage="select",
             reason="not_wanted")
    ]  # fmt: skip
