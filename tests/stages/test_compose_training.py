"""Training mixtures: what is asked is possible, what is answered is true, and shares are nested."""

import json
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from tests.mixtures import APPLE, TOMATO, Field, examples, mixed, picture, roles

from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Drop, Example, Place
from fieldtruth.stages.compose import TRAINING_REASONS, Mix, mix
from fieldtruth.store import sha256
from fieldtruth.taxonomy import conflict


def in_prompt(example: Example) -> tuple[str, ...]:
    return example.candidates or (example.query or "",)


@pytest.fixture
def field(tmp_path: Path) -> Field:
    return Field(tmp_path)


def test_what_each_role_holds(field: Field) -> None:
    sick = field.ill("early blight", level="object")
    field.healthy()
    other = field.ill("leaf mold")
    made = examples(field, settings=Mix(candidates=0, healthy=0.25, wrong_target=0.25))
    assert Counter(each.role for each in made.values()) == {
        "positive": 2, "healthy": 1, "wrong_target": 1,
    }  # fmt: skip
    one = made[f"{sick.id}:object"]
    assert (one.parent, one.image, one.source, one.licence) == (sick.id, "s0.ppm", "s", "CC0")
    assert one.image_sha256 == sha256(field.root / "s0.ppm")
    assert (one.width, one.height, one.split, one.space) == (2, 2, "train", "norm1000")
    assert (one.protocol, one.level, one.crop, one.kind) == (
        "known_target", "object", "tomato", "disease",
    )  # fmt: skip
    assert (one.label, one.query, one.candidates, one.boxes) == (
        "early blight", "early blight", None, ((0, 0, 1, 1),),
    )  # fmt: skip
    assert json.loads(one.answer) == [{"bbox_2d": [0, 0, 500, 500], "label": "early blight"}]
    (well,) = roles(made, "healthy")
    assert (well.parent, well.image, well.label, well.boxes) == ("s:1:healthy", "s1.ppm", None, ())
    assert (well.answer, well.kind, well.crop) == ("[]", "disease", "tomato")
    (wrong,) = roles(made, "wrong_target")
    assert {wrong.label, wrong.query} == {"early blight", "leaf mold"}
    assert wrong.parent == {"early blight": sick.id, "leaf mold": other.id}[wrong.label or ""]
    assert (wrong.answer, wrong.boxes) == ("[]", ())
    prompts = {each.prompt for each in roles(made, "positive")}
    assert {well.prompt, wrong.prompt} <= prompts  # word for word


def test_a_half_is_asked_with_a_list_of_four_that_exclude_each_other(field: Field) -> None:
    field.grow("tomato", (*TOMATO, "Blight", "mould of the leaf"), 600, 100)
    for number in range(60):
        field.ill(("mite", "whitefly")[number % 2], kind="pest")
    made = examples(field, settings=Mix(wrong_target=0.1))
    listed = [each for each in made.values() if each.candidates]
    assert abs(len(listed) - len(made) / 2) < 4 * (len(made) / 4) ** 0.5
    places = Counter[int]()
    for each in listed:
        names = each.candidates or ()
        assert len(set(names)) == 4
        assert not any(conflict(a, b, "tomato") for a, b in combinations(names, 2))
        assert (each.protocol, each.query) == ("candidates", None)
        assert all(f"{n}. {name}\n" in each.prompt for n, name in enumerate(names, 1))
        if each.role == "positive":
            places[names.index(each.label or "")] += 1
            assert {box["label"] for box in json.loads(each.answer)} == {each.label}
        elif each.role == "wrong_target":
            assert not any(conflict(name, each.label or "", "tomato") for name in names)
    assert all(
        abs(count - places.total() / 4) < 4 * places.total() ** 0.5 for count in places.values()
    )
    assert {each.protocol for each in made.values() if not each.candidates} == {"known_target"}


@pytest.mark.parametrize(("share", "protocol"), [(0.0, "known_target"), (1.0, "candidates")])
def test_all_or_none_with_a_list(field: Field, share: float, protocol: str) -> None:
    field.grow("tomato", TOMATO, 20, 20)
    made = examples(field, settings=Mix(candidates=share))
    assert {each.protocol for each in made.values()} == {protocol}


def test_fewer_than_four_names_fall_back_and_are_counted(field: Field) -> None:
    field.grow("tomato", TOMATO[:3], 60, 60)
    made = mixed(field)
    assert {each.protocol for each in made} == {"known_target"}
    coins = sum(each.role == "positive" for each in made)
    assert 15 < made.notes["without_list"] < coins


def test_names_of_one_crop_come_first_and_of_the_kind_elsewhere_fill_up(field: Field) -> None:
    field.grow("apple", APPLE[:2], 40).grow("tomato", TOMATO, 40)
    made = examples(field, settings=Mix(candidates=1))
    for each in roles(made, "positive"):
        own = set(APPLE[:2] if each.crop == "apple" else TOMATO)
        assert len(own & set(each.candidates or ())) == (2 if each.crop == "apple" else 4)


def test_nothing_of_another_split_and_nothing_without_boxes_is_ever_named(field: Field) -> None:
    field.grow("tomato", TOMATO[:4], 40, 10)
    for split in ("val", "test"):
        field.ill("wilt", sample=field.row(split=split))
        field.healthy(sample=field.row(split=split))
    bare = field.ill("crown gall", level=None)
    made = mixed(field, settings=Mix(candidates=1, wrong_target=0.1))
    text = " ".join(each.prompt + each.answer for each in made)
    assert "early blight" in text
    assert "wilt" not in text
    assert "gall" not in text
    assert {each.split for each in made} == {"train"}
    assert Counter(each.reason for each in made.drops)["other_split"] == 4
    assert [each.reason for each in made.drops if each.parent == bare.id] == ["no_annotation"]
    val = mixed(field, settings=Mix(split="val", candidates=0))
    assert {each.query for each in val} == {"wilt"}


def test_what_another_row_names_on_the_same_content_is_no_rival(tmp_path: Path) -> None:
    """One picture in two files of two sources, and a third row of one of them."""
    here, there = Field(tmp_path, "a"), Field(tmp_path, "b")
    for each in (here, there):
        each.grow("tomato", TOMATO, 30)
    image = picture(tmp_path / "one.ppm", 5)
    again = picture(tmp_path / "two.ppm", 5, "again")
    one = here.ill("early blight", sample=here.row(image))
    here.ill("leaf mold", sample=here.row(image), level=None)
    two = there.ill("late blight", sample=there.row(again))
    shown = {"early blight", "leaf mold", "late blight"}
    for seed in range(12):
        made = examples(here, there, settings=Mix(seed=seed, candidates=1, wrong_target=0.3))
        on_it = [each for each in made.values() if each.image in (image, again)]
        assert {f"{one.id}:lesion", f"{two.id}:lesion"} <= {each.id for each in on_it}
        for example in on_it:
            true = {example.label} if example.role == "positive" else set()
            assert not (set(in_prompt(example)) - true) & shown
    alone = examples(here, settings=Mix(candidates=1, seed=3))
    assert alone[f"{one.id}:lesion"].candidates is not None


def test_a_share_is_exact_and_the_larger_holds_the_smaller_line_for_line(field: Field) -> None:
    field.grow("tomato", TOMATO, 300, 40).grow("apple", APPLE, 140, 60, "object")
    for wrong in (0.0, 0.1):
        less = examples(field, settings=Mix(healthy=0.06, wrong_target=wrong))
        more = examples(field, settings=Mix(healthy=0.12, wrong_target=wrong))
        for made, share in ((less, 0.06), (more, 0.12)):
            assert len(roles(made, "healthy")) == round(440 * share / (1 - share - wrong))
        assert {name: more[name] for name in less if less[name].role != "wrong_target"} == {
            name: each for name, each in less.items() if each.role != "wrong_target"
        }
        both = [name for name in more if name in less]
        assert both == [name for name in less if name in more]  # in the same order
    few = examples(field, settings=Mix(healthy=0, wrong_target=0.05))
    many = examples(field, settings=Mix(healthy=0, wrong_target=0.2))
    assert {name: many[name] for name in few} == few
    assert len(roles(many, "wrong_target")) == round(440 * 0.2 / 0.8)


def test_healthy_photos_are_not_repeated_to_make_up_a_share(field: Field) -> None:
    field.grow("tomato", TOMATO, 100, 5)
    made = mixed(field, settings=Mix(healthy=0.3))
    well = roles(made, "healthy")
    assert len(well) <= 10
    assert max(Counter((each.image, each.protocol) for each in well).values()) == 1
    assert made.notes["healthy_short"] == round(100 * 0.3 / 0.7) - len(well)
    assert "not_drawn" not in {each.reason for each in made.drops}


def test_a_photo_that_another_row_calls_diseased_is_not_healthy(tmp_path: Path) -> None:
    here, there = Field(tmp_path, "a"), Field(tmp_path, "b")
    here.grow("tomato", TOMATO, 60)
    image = picture(tmp_path / "one.ppm", 5)
    again = picture(tmp_path / "two.ppm", 5, "again")
    wrong = here.healthy(sample=here.row(image))
    there.ill("leaf mold", sample=there.row(again), level=None)
    plant = here.healthy(sample=here.row(group="plant 7"))
    here.ill("leaf mold", sample=here.row(group="plant 7"))
    other = there.healthy(sample=there.row(group="plant 7"))  # of another release, so another
    weedy = here.row()
    kept = here.healthy(sample=weedy)
    here.ill("pigweed", kind="weed", sample=weedy)
    twin = here.healthy(sample=here.row(weedy.images[0]))
    made = mixed(here, there, settings=Mix(healthy=0.4))
    why = {each.parent: each.reason for each in made.drops}
    assert (why[wrong.id], why[plant.id]) == ("also_diseased", "also_diseased")
    assert why[twin.id] == "same_photo"
    asked = {each.parent for each in roles(made, "healthy")}
    assert asked == {other.id, kept.id}
    for each in made:
        assert each.parent != kept.id or "pigweed" not in in_prompt(each)


def test_wrong_targets_are_asked_only_where_they_are_certainly_absent(tmp_path: Path) -> None:
    sure, unsure = Field(tmp_path, "a"), Field(tmp_path, "b", exhaustive=False)
    for each in (sure, unsure):
        each.grow("tomato", (*TOMATO, "blight", "Leaf-Mold"), 140)
        each.grow("apple", APPLE, 100)
    made = roles(examples(sure, unsure, settings=Mix(healthy=0, wrong_target=0.3)), "wrong_target")
    assert len(made) == round(480 * 0.3 / 0.7)
    assert {each.source for each in made} == {"a"}
    for one in made:
        assert one.label is not None
        assert not any(conflict(name, one.label, one.crop) for name in in_prompt(one))
    asked = {"tomato": {*TOMATO, "blight", "Leaf-Mold"}, "apple": set(APPLE)}
    of_crop = [bool(set(in_prompt(one)) & asked[one.crop or ""]) for one in made]
    assert of_crop.count(True) > 0.8 * len(made)  # a list with "blight" leaves none of its crop
    none = mixed(unsure, settings=Mix(healthy=0, wrong_target=0.1))
    assert none.notes["wrong_target_short"] == round(240 * 0.1 / 0.9)
    told = mixed(unsure, settings=Mix(healthy=0, wrong_target=0.1, assume_absent=True))
    assert len(roles(told, "wrong_target")) == round(240 * 0.1 / 0.9)


def test_no_photo_is_asked_twice_for_the_same_names(field: Field) -> None:
    field.grow("tomato", TOMATO[:2], 40)
    made = roles(
        mixed(field, settings=Mix(candidates=0, healthy=0, wrong_target=0.45)), "wrong_target"
    )
    assert made
    assert max(Counter((each.image, in_prompt(each)) for each in made).values()) == 1


def test_where_lists_leave_no_photo_for_a_wrong_target_healthy_ones_stand_in(field: Field) -> None:
    """Four names on the only crop: every list holds what each photo shows."""
    field.grow("tomato", TOMATO[:4], 400, 200)
    made = mixed(field, settings=Mix(healthy=0.15, wrong_target=0.1))
    wrong = roles(made, "wrong_target")
    assert {each.protocol for each in wrong} == {"known_target"}
    empty = Counter(each.protocol for each in made if each.role != "positive")
    every = Counter(each.protocol for each in made)
    shares = [empty[name] / every[name] for name in ("candidates", "known_target")]
    assert abs(shares[0] - shares[1]) < 0.1
    alone = mixed(field, settings=Mix(healthy=0, wrong_target=0.1))
    assert alone.notes["wrong_target_short"] > 30  # a list would always be true otherwise


def test_healthy_photos_are_asked_for_no_weed_and_no_object_and_wrong_targets_make_up(
    field: Field,
) -> None:
    field.grow("tomato", TOMATO, 300, 200)
    for number in range(100):
        field.ill(("pigweed", "ryegrass", "thistle", "dock", "nettle")[number % 5], kind="weed")
    made = examples(field, settings=Mix(candidates=0, healthy=0.1, wrong_target=0.1))
    assert {each.kind for each in roles(made, "healthy")} == {"disease"}
    every = Counter(each.kind for each in made.values())
    empty = Counter(each.kind for each in made.values() if each.role != "positive")
    assert abs(empty["weed"] / every["weed"] - 0.2) < 0.01
    assert abs(empty["disease"] / every["disease"] - 0.2) < 0.01


def test_crops_without_healthy_photos_are_asked_in_vain_as_often(field: Field) -> None:
    field.grow("tomato", TOMATO, 400, 400).grow("apple", APPLE, 400)
    made = mixed(field, settings=Mix(healthy=0.2))
    asked = Counter(bool(set(in_prompt(each)) & set(APPLE)) for each in roles(made, "healthy"))
    assert abs(asked[True] - asked[False]) < 4 * asked.total() ** 0.5
    assert made.notes["healthy_of_another_crop"] == asked[True]


def test_the_photo_is_the_annotated_one_and_both_levels_are_examples(field: Field) -> None:
    images = [picture(field.root / f"{n}.ppm", n) for n in range(3)]
    seen = field.ill("leaf mold", sample=field.row(images), level=None)
    field.mark(seen, images[2], "lesion")
    field.mark(seen, images[1], "object")
    made = examples(field, settings=Mix(candidates=0))
    assert {(each.image, each.level, each.parent) for each in made.values()} == {
        (images[2], "lesion", seen.id), (images[1], "object", seen.id),
    }  # fmt: skip
    astray = field.ill("rust", level=None)
    field.mark(astray, images[0], "lesion")
    with pytest.raises(Refused, match=r"expected a photo of s:1, s1\.ppm, got 0\.ppm"):
        mixed(field)


def test_another_source_changes_only_what_it_adds_names_to(tmp_path: Path) -> None:
    own = Field(tmp_path, "m").grow("tomato", TOMATO, 200, 200)
    far = Field(tmp_path, "b").grow("apple", APPLE, 90, 60, "object")
    settings = Mix(wrong_target=0.1)
    before, after = examples(own, settings=settings), examples(far, own, settings=settings)
    kept = [name for name in before if name in after]
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert len(kept) > 0.97 * len(before)
    near = Field(tmp_path, "z").grow("tomato", TOMATO, 90, 60)
    after = examples(own, near, settings=settings)
    kept = [name for name in before if name in after and before[name].role != "wrong_target"]
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert len(kept) > 0.97 * len(before) - len(roles(before, "wrong_target"))


def test_the_order_of_what_comes_in_tells_nothing(tmp_path: Path) -> None:
    a, b = Field(tmp_path, "a"), Field(tmp_path, "b")
    a.grow("tomato", TOMATO, 60, 30)
    b.grow("tomato", TOMATO, 60, 30).grow("apple", APPLE, 20)
    settings = Mix(wrong_target=0.1)
    forth = list(mixed(a, b, settings=settings))
    for each in (a, b):
        each.targets.reverse()
        each.well.reverse()
        each.marks = dict(reversed(each.marks.items()))
    assert list(mixed(b, a, settings=settings)) == forth


def test_another_seed_draws_anew(field: Field) -> None:
    field.grow("tomato", TOMATO, 80, 80)
    one, two = (examples(field, settings=Mix(seed=seed)) for seed in (1, 2))
    same = [name for name in one if two.get(name) == one[name]]
    assert len(same) < len(one) * 0.7
    assert list(one) != list(two)


@pytest.mark.parametrize("seed", range(3))
def test_every_record_is_in_an_example_or_in_one_drop(tmp_path: Path, seed: int) -> None:
    a = Field(tmp_path, "a").grow("tomato", TOMATO, 60, 50)
    a.ill("wilt", level=None)
    a.healthy(sample=a.row(split="test"))
    (tmp_path / "broken.ppm").write_bytes(b"P6")
    a.healthy(sample=a.row("broken.ppm"))
    a.ill("wilt", sample=a.row("broken.ppm"))
    a.healthy(sample=a.row("a0.ppm"))
    a.healthy(sample=a.row("a60.ppm"))
    made = mixed(a, settings=Mix(seed=seed, healthy=0.1, wrong_target=0.1))
    parents = {each.parent for each in made}
    rows = [*(each.id for each in a.targets), *(each.id for each in a.well)]
    dropped = Counter(each.parent or "" for each in made.drops)
    assert set(dropped.values()) == {1}
    assert not parents & set(dropped)
    assert parents | set(dropped) == set(rows)
    assert {each.reason for each in made.drops} == set(TRAINING_REASONS)
    assert isinstance(made.drops[0], Drop)
    assert len(made) == len(list(made))


def test_places_say_where_photos_belong_and_groups_stand_for_content(field: Field) -> None:
    field.grow("tomato", TOMATO, 40)
    row = field.row(split="test")  # which splits.jsonl overrules
    shown, near = field.ill("early blight", sample=row), field.ill("leaf mold", sample=field.row())
    well = field.healthy(sample=field.row())
    source = field.labelled()
    together = {
        row.images[0],
        field.samples[near.sample].images[0],
        field.samples[well.sample].images[0],
    }
    places = {
        image: Place(
            id=image, image_sha256=sha256(field.root / image), split="train",
            group="one plant" if image in together else image,
        )
        for each in field.samples.values() for image in each.images
    }  # fmt: skip
    placed = replace(source, places=places)
    for seed in range(8):
        made = {
            e.id: e
            for e in mix([placed], Mix(seed=seed, candidates=1, healthy=0.3), lambda r, _=None: r)
        }
        one, two = made[f"{shown.id}:lesion"], made[f"{near.id}:lesion"]
        assert one.group == two.group == "one plant"
        assert "leaf mold" not in (one.candidates or ())
        assert "early blight" not in (two.candidates or ())
        assert not roles(made, "healthy")  # its near copy is diseased
    cut = {name: place for name, place in places.items() if name != row.images[0]}
    with pytest.raises(Refused, match=rf"'{row.images[0]}' belongs, got no line for it"):
        mix([replace(source, places=cut)], Mix(), lambda r, _=None: r)
    other = places | {
        row.images[0]: Place(id=row.images[0], image_sha256="0" * 64, group="g", split="train")
    }
    with pytest.raises(Refused, match="a line for other bytes"):
        mix([replace(source, places=other)], Mix(), lambda r, _=None: r)


def test_a_row_names_what_is_on_its_photos_in_whatever_split_the_others_lie(field: Field) -> None:
    """Its first photo cannot be read, so it lies in test; the second is healthy by another row."""
    field.grow("tomato", TOMATO, 40)
    images = [picture(field.root / f"{n}.ppm", n) for n in range(2)]
    field.ill("leaf mold", sample=field.row(images), level=None)
    well = field.healthy(sample=field.row(images[1]))
    source = field.labelled()
    places = {
        image: Place(
            id=image, image_sha256=sha256(field.root / image), group=image,
            split="test" if image == images[0] else "train",
        )
        for each in field.samples.values() for image in each.images
    }  # fmt: skip
    made = mix([replace(source, places=places)], Mix(healthy=0.1), lambda r, _=None: r)
    assert not roles(made, "healthy")
    assert {each.reason for each in made.drops if each.parent == well.id} == {"also_diseased"}


def test_boxes_of_another_size_and_paths_that_lead_out_are_refused(field: Field) -> None:
    seen = field.ill("rust", level=None)
    mark = field.mark(seen, "s0.ppm", "lesion")
    field.marks[mark.id] = type(mark)(
        id=mark.id, target=seen.id, image="s0.ppm", width=4, height=4, level="lesion",
        boxes=((0, 0, 3, 3),), rule="hand",
    )  # fmt: skip
    with pytest.raises(Refused, match="4 x 4 pixels, got 2 x 2"):
        mixed(field)
    field.marks.clear()
    field.healthy(sample=field.row("../a.ppm"))
    with pytest.raises(Refused, match="a step up"):
        mixed(field)


@pytest.mark.parametrize(
    ("wrong", "fault", "told"),
    [
        ({"split": "test"}, Refused, "expected train or val"),
        ({"healthy": -0.1}, Usage, "--healthy: expected a share from 0 to 1, got -0.1"),
        ({"wrong_target": float("nan")}, Usage, "--wrong-target: expected a share"),
        ({"candidates": 1.5}, Usage, "--candidates: expected a share"),
        ({"healthy": 0.5, "wrong_target": 0.5}, Usage, "leave some for positives"),
    ],
)
def test_settings_that_cannot_be_used(
    wrong: dict[str, float], fault: type[Exception], told: str
) -> None:
    with pytest.raises(fault, match=told):
        Mix(**wrong)  # type: ignore[arg-type]
