"""Items: what is asked about a photo does not tell what is on it, and depends on nothing else."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace as altered
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import pytest
from msgspec.structs import replace
from PIL import Image
from tests.builders import boxed, healthy, plain, sample, target

from fieldtruth.faults import Refused
from fieldtruth.records import Annotation, AskLevel, Drop, Healthy, Item, Sample, Target
from fieldtruth.stages.compose import REASONS, Labelled, compose, keyed_split
from fieldtruth.taxonomy import conflict, same

TOMATO = ("early blight", "late blight", "leaf mold", "septoria leaf spot", "target spot", "Blight")
CHI_SQUARE_3 = 16.27  # of 3 degrees of freedom, p = 0.001


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """a.png, 32 x 24 pixels; again.png has its pixels in other bytes; text.png is no photo."""
    plain(tmp_path / "a.png", 1)
    plain(tmp_path / "b.png", 2)
    (tmp_path / "text.png").write_text("no photo")
    (tmp_path / "again.png").write_bytes((tmp_path / "a.png").read_bytes() + b"\0")
    return tmp_path


def own_photo(root: Path, name: str) -> str:
    """A photo of a colour that no other name has."""
    image = f"{name.replace(' ', '_').replace(':', '_')}.png"
    if not (root / image).exists():
        colour = sha256(name.encode()).digest()[:3]
        Image.new("RGB", (32, 24), (colour[0], colour[1], colour[2])).save(root / image)
    return image


def labelled(
    root: Path,
    targets: Sequence[Target] = (),
    well: Sequence[Healthy] = (),
    samples: Sequence[Sample] = (),
    *,
    level: AskLevel = "lesion",
    exhaustive: bool = True,
) -> Labelled:
    """Every target has one box, and every record without a sample given gets one with its photo."""
    shown = {each.sample for each in targets} | {each.sample for each in well}
    parents = {name: sample(name, own_photo(root, name)) for name in sorted(shown)}
    parents |= {each.id: each for each in samples}
    marks = {
        each.id: boxed(each, level=level, image=parents[each.sample].images[0]) for each in targets
    }
    return Labelled(
        samples=parents, targets=targets, healthy=well,
        annotations=marks, exhaustive=exhaustive, root=root,
    )  # fmt: skip


def join(a: Labelled, b: Labelled) -> Labelled:
    return altered(
        a, samples={**a.samples, **b.samples}, targets=[*a.targets, *b.targets],
        healthy=[*a.healthy, *b.healthy], annotations={**a.annotations, **b.annotations},
    )  # fmt: skip


def items(source: Labelled, split: str = "all", seed: int = 0) -> dict[str, Item]:
    made = [each for each in compose(source, split, seed) if isinstance(each, Item)]
    assert len({each.id for each in made}) == len(made)
    return {each.id: each for each in made}


def many(crop: str, names: Sequence[str], count: int) -> list[Target]:
    return [target(f"{crop}{n}", names[n % len(names)], crop) for n in range(count)]


def test_what_an_item_holds(root: Path) -> None:
    marked = replace(sample("s:1", group="plant 4", split="val"), licence="CC BY 4.0")
    source = labelled(root, [target("s:1", "rust")], [healthy("s:2")], [marked])
    sick, well = items(source).values()
    assert (sick.id, sick.image, sick.source, sick.licence) == ("s:1", "a.png", "s", "CC BY 4.0")
    assert (sick.width, sick.height, len(sick.image_sha256), sick.group) == (32, 24, 64, "plant 4")
    assert (sick.kind, sick.label, sick.query, sick.crop) == ("disease", "rust", "rust", "tomato")
    assert (sick.level, sick.boxes) == ("lesion", ((10, 8, 20, 16),))
    assert (sick.absent_query, sick.candidates, sick.ask_level) == (None, None, None)
    assert (well.label, well.kind, well.boxes, well.crop) == (None, None, (), "tomato")
    assert (well.query, well.absent_query, well.wording) == ("rust", "rust", "lesion")
    assert well.group.startswith("pillow")
    assert len(well.image_sha256) == 64


def test_lists_hold_four_names_that_exclude_each_other_and_the_truth(root: Path) -> None:
    corn = ("rust", "Leaf Rust", "smut"), ("rusts", "Smut", "gall")
    crops = {"tomato": TOMATO, "Corn": corn[0], "maize": corn[1]}
    known = {"tomato": TOMATO, "Corn": corn[0] + corn[1], "maize": corn[0] + corn[1]}
    sick = [one for crop, names in crops.items() for one in many(crop, names, 30)]
    well = [healthy(f"well-{crop}{n}", crop) for crop in crops for n in range(10)]
    made = items(labelled(root, sick, well))
    assert len(made) == 120
    listed = [item for item in made.values() if item.candidates]
    assert len(listed) == 120
    for item in listed:
        assert item.candidates is not None
        assert len(set(item.candidates)) == 4
        assert not any(conflict(a, b) for a, b in combinations(item.candidates, 2))
        assert (item.label or item.query) in item.candidates
        assert item.query is not None
        if item.positive:
            assert item.query == item.label
            assert item.absent_query is not None
            assert not conflict(item.absent_query, item.query)
        assert item.absent_query in known[item.crop or ""]
    asked = {item.absent_query for item in made.values() if item.crop == "Corn"}
    assert "gall" in asked  # corn and maize are one crop


def test_fewer_than_four_names_are_no_list(root: Path) -> None:
    sick = many("tomato", TOMATO[:3], 6)
    made = items(labelled(root, sick, [healthy("w"), healthy("other crop", "rice")]))
    assert {item.candidates for item in made.values()} == {None}
    assert {item.absent_query for item in made.values() if item.positive} <= set(TOMATO[:3])
    assert made["w"].query in TOMATO[:3]
    assert (made["other crop"].query, made["other crop"].absent_query) == (None, None)


def test_lists_are_of_the_same_crop_and_kind_where_it_has_four_names(root: Path) -> None:
    pests = ("mite", "whitefly", "leaf miner", "thrips", "hornworm")
    sick = many("tomato", TOMATO[:5], 60)
    sick += [target(f"p{n}", pests[n % 5], "tomato", kind="pest") for n in range(40)]
    sick += [target(f"a{n}", name, "apple") for n, name in enumerate(("scab", "canker"))]
    well = [healthy(f"w{n}") for n in range(20)]
    for item in items(labelled(root, sick, well)).values():
        of = set(pests) if item.query in pests else set(TOMATO)
        assert item.crop == "apple" or set(item.candidates or ()) < of


def test_a_kind_of_few_names_takes_them_all_first_then_the_crops_others(root: Path) -> None:
    sick = many("tomato", TOMATO[:5], 60)
    sick += [target(f"p{n}", ("mite", "whitefly")[n % 2], "tomato", kind="pest") for n in range(6)]
    sick += [target(f"r{n}", "weevil", "rice", kind="pest") for n in range(6)]
    for item in items(labelled(root, sick)).values():
        if item.kind == "pest" and item.crop == "tomato":
            assert {"mite", "whitefly"} < set(item.candidates or ())
            assert "weevil" not in (item.candidates or ())


@pytest.mark.parametrize("pests", [("mite",), ("mite", "whitefly"), ("mite", "whitefly", "thrips")])
def test_a_kind_of_few_names_does_not_give_the_answer_away(
    root: Path, pests: Sequence[str]
) -> None:
    """Its names are on other lists too, so often that each name of a list is as often the truth."""
    sick = many("tomato", TOMATO[:5], 1600)
    sick += [target(f"p{n}", pests[n % len(pests)], "tomato", kind="pest") for n in range(200)]
    made = items(labelled(root, sick)).values()
    held = [item for item in made if set(item.candidates or ()) & set(pests)]
    assert all(set(pests) < set(item.candidates or ()) for item in held)
    true = sum(item.kind == "pest" for item in held)
    share = len(pests) / 4
    assert true == 200
    assert abs(len(held) - true / share) < 4 * (true / share * (1 - share)) ** 0.5
    # What stands beside them is drawn as the others' lists are, by how often it is shown.
    beside = [Counter(name for i in held if (i.kind == "pest") is is_pest
                      for name in i.candidates or () if name not in pests)
              for is_pest in (True, False)]  # fmt: skip
    told = [(is_pest, name) for is_pest, seen in zip((True, False), beside, strict=True)
            for name in seen.elements()]  # fmt: skip
    assert cramer(told) < 0.2


def test_where_every_photo_is_of_a_lone_kind_every_list_names_it(root: Path) -> None:
    sick = many("tomato", TOMATO[:5], 20)
    sick += [target(f"p{n}", "mite", "tomato", kind="pest") for n in range(60)]
    assert all("mite" in (item.candidates or ()) for item in items(labelled(root, sick)).values())


def test_three_diseases_and_a_pest_are_one_list(root: Path) -> None:
    sick = [*many("tomato", TOMATO[:3], 30), target("p", "mite", "tomato", kind="pest")]
    lists = {frozenset(item.candidates or ()) for item in items(labelled(root, sick)).values()}
    assert lists == {frozenset((*TOMATO[:3], "mite"))}


def test_the_crops_own_names_come_before_its_other_kinds_and_those_before_other_crops(
    root: Path,
) -> None:
    near = [target("1", "scab", "apple"), target("2", "canker", "apple")]
    kind = [target("3", "mite", "apple", kind="pest")]
    far = many("rice", ("blast", "tungro", "sheath rot"), 9)
    elsewhere = [target("4", "weevil", "rice", kind="pest")]
    one = items(labelled(root, [*near, *kind, *far, *elsewhere]))["1"]
    assert one.candidates is not None
    assert {"scab", "canker", "mite"} < set(one.candidates)
    assert set(one.candidates) & {"blast", "tungro", "sheath rot"}
    assert one.absent_query == "canker"  # of its own kind
    only = items(labelled(root, [near[0], *kind, *far]))["1"]
    assert only.absent_query == "mite"  # of the crop, though of another kind


def test_what_lies_on_other_crops_changes_nothing(root: Path) -> None:
    own = labelled(root, many("tomato", TOMATO, 60), [healthy(f"w{n}") for n in range(60)])
    other = labelled(
        root, many("rice", ("blast", "tungro", "sheath rot", "rust"), 40),
        [healthy(f"x{n}", "rice") for n in range(10)], level="object",
    )  # fmt: skip
    before, after = items(own), items(join(other, own))
    assert len(before) == 120
    assert {name: after[name] for name in before} == before


def test_draws_do_not_move_each_other(root: Path) -> None:
    """Two names on the crop: the third comes from afar, and the absent query stays what it was."""
    own = labelled(root, many("tomato", TOMATO[:3], 40), [healthy(f"w{n}") for n in range(40)])
    far = labelled(root, many("rice", [f"{chr(97 + n)}rot" for n in range(20)], 20))
    before, after = items(own), items(join(own, far))
    assert all(after[name].candidates for name in before)
    same_fields = [
        (replace(after[name], candidates=None) == replace(before[name], candidates=None))
        for name in before
    ]
    assert same_fields == [True] * 80


def test_the_order_of_what_comes_in_tells_nothing(root: Path) -> None:
    sick, well = many("tomato", TOMATO, 40), [healthy(f"w{n}") for n in range(20)]
    forth, back = labelled(root, sick, well), labelled(root, sick[::-1], well[::-1])
    assert items(forth) == items(back)
    assert list(compose(forth)) == list(compose(forth))


def test_another_seed_draws_anew(root: Path) -> None:
    source = labelled(root, many("tomato", TOMATO, 40))
    one, two = items(source, seed=1), items(source, seed=2)
    assert one.keys() == two.keys()
    assert sum(one[name].candidates != two[name].candidates for name in one) > 20


def chi_square(counts: Counter[int] | Counter[str], kinds: int) -> float:
    mean = counts.total() / kinds
    seen = [*counts.values(), *[0] * (kinds - len(counts))]
    assert len(seen) == kinds
    return float(sum((each - mean) ** 2 / mean for each in seen))


def cramer(pairs: Sequence[tuple[object, object]]) -> float:
    """Cramer's V of two things that were drawn: 0 where one tells nothing about the other."""
    rows, columns = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    seen, count = Counter(pairs), len(pairs)
    expected = {(a, b): rows[a] * columns[b] / count for a in rows for b in columns}
    square = sum((seen[cell] - mean) ** 2 / mean for cell, mean in expected.items())
    return float((square / count / (min(len(rows), len(columns)) - 1)) ** 0.5)


def test_one_draw_tells_nothing_about_another(root: Path) -> None:
    sick = many("tomato", TOMATO[:5], 1000)
    source = labelled(root, sick, [healthy(f"w{n}") for n in range(1000)])
    objects = {
        each.id: boxed(each, level="object", image=own_photo(root, each.sample))
        for each in sick[::2]
    }
    made = items(altered(source, annotations={**source.annotations, **objects}))
    well = [item for item in made.values() if not item.positive]
    places = [(item.candidates or ()).index(item.query or "") for item in well]
    queries, wordings = [item.query for item in well], [item.wording for item in well]
    assert len(set(queries)) == 5
    assert set(wordings) == {"lesion", "object"}
    # A thousand independent draws stay under these bounds in all but one of 10,000 cases.
    assert cramer(list(zip(queries, places, strict=True))) < 0.12
    assert cramer(list(zip(queries, wordings, strict=True))) < 0.16
    assert cramer(list(zip(places, wordings, strict=True))) < 0.16
    one = [item for item in made.values() if item.positive]
    told = [((i.candidates or ()).index(i.label or ""), i.absent_query) for i in one]
    assert cramer(told) < 0.12
    least = [(i.absent_query in (i.candidates or ()), i.absent_query) for i in one]
    assert cramer(least) < 0.16


def test_the_truth_stands_anywhere_and_every_rival_is_as_likely(root: Path) -> None:
    sick = many("tomato", TOMATO[:1], 2000)
    rest = [target(f"r{n}", name, "tomato") for n, name in enumerate(TOMATO[1:5])]
    source = labelled(root, [*sick, *rest])
    made = [item for item in items(source).values() if item.label == TOMATO[0]]
    assert len(made) == 2000
    places = Counter((item.candidates or ()).index(TOMATO[0]) for item in made)
    assert chi_square(places, 4) < CHI_SQUARE_3
    shown = Counter(name for item in made for name in item.candidates or () if name != TOMATO[0])
    assert chi_square(shown, 4) < CHI_SQUARE_3
    assert chi_square(Counter(item.absent_query or "" for item in made), 4) < CHI_SQUARE_3


def test_a_healthy_photo_is_asked_for_any_name_and_worded_as_the_positives_of_its_crop(
    root: Path,
) -> None:
    sick = many("tomato", TOMATO[:4], 8)
    source = labelled(root, sick, [healthy(f"w{n}") for n in range(1000)])
    objects = {
        each.id: boxed(each, level="object", image=own_photo(root, each.sample))
        for each in sick[2:]
    }
    source = altered(source, annotations={**source.annotations, **objects})
    made = [item for item in items(source).values() if not item.positive]
    assert len(made) == 1000
    lesions = sum(item.wording == "lesion" for item in made)
    assert abs(lesions - 250) < 4 * (1000 * 0.25 * 0.75) ** 0.5
    assert chi_square(Counter(item.query or "" for item in made), 4) < CHI_SQUARE_3
    places = Counter((item.candidates or ()).index(item.query or "") for item in made)
    assert chi_square(places, 4) < CHI_SQUARE_3


@pytest.mark.parametrize(("crop", "wording"), [("tomato", "lesion"), ("rice", "object")])
def test_the_wording_does_not_give_a_crops_healthy_photos_away(
    root: Path, crop: str, wording: str
) -> None:
    well = [healthy(f"{name}-w{n}", name) for name in ("tomato", "rice") for n in range(20)]
    lesions = labelled(root, many("tomato", TOMATO, 6), well)
    source = join(lesions, labelled(root, many("rice", ("blast",), 6), level="object"))
    assert {i.wording for i in items(source).values() if i.crop == crop} == {wording}


def test_where_a_photo_may_show_more_than_it_names_no_name_is_certainly_absent(root: Path) -> None:
    sick = many("tomato", TOMATO, 12)
    made = items(labelled(root, sick, [healthy("w")], exhaustive=False))
    assert {item.absent_query for item in made.values() if item.positive} == {None}
    assert made["w"].query in TOMATO
    assert made["w"].absent_query == made["w"].query


def test_several_targets_on_a_photo_are_items_of_their_own_and_never_rivals(root: Path) -> None:
    both = [target("s", "Late-Blight"), target("s", "leaf mold"), target("s", "mite", kind="pest")]
    names = ("early blight", "target spot", "blight", "leaf mold", "rust", "wilt")
    rest = many("tomato", names, 60)
    source = labelled(root, [*both, *rest])
    marks = {name: mark for name, mark in source.annotations.items() if name != both[2].id}
    source = altered(source, annotations=marks)  # the mite is there, and nobody boxed it
    for seed in range(20):
        made = items(source, seed=seed)
        assert {name for name in made if name.startswith("s")} == {"s#late blight", "s#leaf mold"}
        for name in ("s#late blight", "s#leaf mold"):
            one = made[name]
            others = [each for each in one.candidates or () if each != one.label]
            assert len(others) == 3
            for other in [*others, one.absent_query or "late blight"]:
                assert not any(conflict(other, each.label) for each in both)


def test_what_cannot_become_an_item_is_a_drop_with_its_reason(root: Path) -> None:
    samples = [
        sample("broken", "text.png"), sample("broken too", "absent.png"),
        sample("later", "b.png", split="val"), sample("now", split="train"),
        sample("the same photo", "again.png", split="train"),
    ]  # fmt: skip
    sick = [target("broken", "scab"), target("later", "scab"), target("now", "scab")]
    well = [healthy("broken too"), healthy("the same photo")]
    source = labelled(root, sick, well, samples)
    bare = target("now", "gall")
    made = list(compose(altered(source, targets=[*sick, bare]), "train"))
    drops = {each.id: each for each in made if isinstance(each, Drop)}
    assert len(made) == 6
    assert {(d.sample, d.parent, d.reason) for d in drops.values()} == {
        ("broken", "broken:scab", "unreadable_photo"),
        ("broken too", "broken too:healthy", "unreadable_photo"),
        ("later", "later:scab", "other_split"),
        ("now", "now:gall", "no_annotation"),
        ("the same photo", "the same photo:healthy", "also_diseased"),
    }
    assert {drop.stage for drop in drops.values()} == {"compose"}
    assert {drop.reason for drop in drops.values()} == set(REASONS)
    assert "text.png" in drops["broken:scab#compose"].detail
    assert drops["later:scab#compose"].detail == "val"
    assert [each.id for each in made if isinstance(each, Item)] == ["now#scab"]


def test_what_another_row_names_on_the_same_picture_is_no_rival(root: Path) -> None:
    """again.png has the pixels of a.png: what is on the one is on the other."""
    sick = many("tomato", TOMATO, 40)
    pair = [target("one", "early blight"), target("two", "late blight")]
    rows = [sample("one", "a.png"), sample("two", "again.png")]
    for seed in range(20):
        made = items(labelled(root, [*sick, *pair], samples=rows), seed=seed)
        for name, other in (("one", "late blight"), ("two", "early blight")):
            assert other not in (made[name].candidates or ())
            assert made[name].absent_query != other
    alone = labelled(root, [*sick, pair[0]], samples=rows[:1])
    lists = [items(alone, seed=seed)["one"].candidates or () for seed in range(20)]
    assert any("late blight" in names for names in lists)


def test_a_row_of_several_photos_may_mean_any_of_them(root: Path) -> None:
    """The boxes are on a.png; b.png is of the same row, and healthy by another."""
    rows = [replace(sample("both"), images=("a.png", "b.png")), sample("well", "b.png")]
    source = labelled(root, [target("both"), *many("tomato", TOMATO, 6)], [healthy("well")], rows)
    made = {each.id: each for each in compose(source)}
    assert isinstance(made["well:healthy#compose"], Drop)
    assert made["well:healthy#compose"].reason == "also_diseased"


def test_a_healthy_photo_is_asked_for_what_is_certainly_not_on_it(root: Path) -> None:
    """A healthy plant may have a weed beside it, and a row may even say which."""
    weeds = ("pigweed", "ryegrass", "thistle", "dock", "nettle")
    sick = [*many("tomato", TOMATO[:4], 8)]
    sick += [target(f"weed{n}", weeds[n % 5], kind="weed") for n in range(40)]
    rows = [sample(f"w{n}", own_photo(root, f"w{n}")) for n in range(60)]
    beside = [target(each.id, "pigweed", kind="weed") for each in rows[:30]]
    well = [healthy(each.id) for each in rows]
    source = altered(labelled(root, [*sick, *beside], well, rows), exhaustive=False)
    source = altered(source, annotations={
        name: mark for name, mark in source.annotations.items() if name.startswith(("t", "weed"))
    })  # fmt: skip
    for exhaustive in (False, True):
        found = compose(altered(source, exhaustive=exhaustive))
        made = [each for each in found if isinstance(each, Item) and not each.positive]
        assert len(made) == 60
        with_weed = [each for each in made if int(each.id[1:]) < 30]
        assert not any("pigweed" in (each.query, *(each.candidates or ())) for each in with_weed)
        # A source that names all there is tells that no weed is there.
        assert any(each.query in weeds for each in made) == exhaustive


def test_a_path_that_leaves_the_release_is_refused(root: Path) -> None:
    source = labelled(root, [target("s")], samples=[sample("s", "../a.png")])
    with pytest.raises(Refused, match=r"a step up"):
        list(compose(source))


def test_boxes_drawn_on_a_photo_of_another_size_are_refused(root: Path) -> None:
    source = labelled(root, [target("s")])
    mark = boxed(target("s"), width=64, height=48, image="s.png")
    annotations: dict[str, Annotation] = {mark.target: mark}
    source = altered(source, annotations=annotations)
    with pytest.raises(Refused, match=r"s\.png \(s:rust:boxes\): expected .* 64 x 48 .* 32 x 24;"):
        list(compose(source))


def test_a_group_lies_in_one_split_and_every_photo_in_one(root: Path) -> None:
    """By its release's group or by its pixels: a.png and again.png are one photo in two files."""
    sick = [target(f"s{n}", "scab") for n in range(120)]
    kept = [sample(f"s{n}", group=f"plant {n // 4}") for n in range(100)]
    kept += [sample(f"s{n}", ("a.png", "again.png")[n % 2]) for n in range(100, 120)]
    source = labelled(root, sick, samples=kept)
    parts = {split: items(source, split) for split in ("train", "val", "test")}
    assert sum(len(part) for part in parts.values()) == 120
    groups = {split: {item.group for item in part.values()} for split, part in parts.items()}
    assert sum(len(each) for each in groups.values()) == len(set().union(*groups.values())) == 26
    assert all(groups.values())
    assert set().union(*parts.values()) == set(items(source))


def test_a_release_of_its_own_splits_is_left_as_it_is(root: Path) -> None:
    sick = [target(f"s{n}", "scab") for n in range(9)]
    kept = [sample(f"s{n}", split=("train", "val", "test")[n % 3], group="one") for n in range(9)]
    source = labelled(root, sick, samples=kept)
    assert set(items(source, "val")) == {"s1", "s4", "s7"}


def test_the_keyed_split_is_this_one() -> None:
    assert [n for n in range(12) if keyed_split(f"g{n}", 0) == "test"] == [5, 11]
    assert [n for n in range(12) if keyed_split(f"g{n}", 0) == "val"] == [8]
    assert keyed_split("g3", 7) == "test"
    found = Counter(keyed_split(f"group {n}", 0) for n in range(2000))
    expected = {"train": 1200, "val": 200, "test": 600}
    assert sum((found[k] - n) ** 2 / n for k, n in expected.items()) < 13.82  # 2 degrees, p = 0.001


def test_one_name_in_two_spellings_is_asked_as_its_photo_has_it(root: Path) -> None:
    sick = [target("a", "Leaf-Mold"), target("b", "leaf mold"), *many("tomato", TOMATO, 12)]
    made = items(labelled(root, sick))
    for name, label in (("a", "Leaf-Mold"), ("b", "leaf mold")):
        one = made[name]
        assert one.label == one.query == label
        assert label in (one.candidates or ())
        assert sum(same(label, each) for each in one.candidates or ()) == 1
