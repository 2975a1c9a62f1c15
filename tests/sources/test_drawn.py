"""Drawn leaves: boxes that are exact, draws that are keyed, and a test split of its own."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fieldtruth import draws, images, store
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Drop, Healthy, Sample, Target
from fieldtruth.sources import drawn
from fieldtruth.sources.drawn import planning
from fieldtruth.sources.drawn.leaves import GREENS, SHAPES
from fieldtruth.sources.drawn.painting import Plan, paint, paint_leaves
from fieldtruth.sources.drawn.scene import GROUNDS
from fieldtruth.sources.drawn.symptoms import FAINT, STYLES, SUFFERS, Place, Style


def plans(start: int, stop: int, seed: int = 3) -> list[tuple[planning.Case, Plan]]:
    cases = [planning.case(number, seed, 0.3) for number in range(start, stop)]
    return [(case, planning.plan(case, photo)) for case in cases for photo in case.photos]


def bare(plan: Plan) -> Plan:
    """The same photo of the same leaves in good health."""
    return replace(
        plan, leaves=tuple(replace(leaf, style=None, whole=False) for leaf in plan.leaves)
    )


def files(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def bounds(mask: NDArray[np.bool_]) -> tuple[float, float, float, float]:
    """x1, y1, x2, y2 of the set pixels, far edge exclusive; written from the sentence."""
    rows, columns = np.nonzero(mask)
    return (
        float(min(columns)),
        float(min(rows)),
        float(max(columns)) + 1,
        float(max(rows)) + 1,
    )


@pytest.mark.slow
@pytest.mark.parametrize("start", [0, 25, 50])
def test_what_symptoms_change_is_what_is_boxed_and_nothing_else(start: int) -> None:
    lesions = 0
    for case, plan in plans(start, start + 25):
        canvas, marks, _ = paint_leaves(plan)
        healthy, none, _ = paint_leaves(bare(plan))
        assert none == []
        changed = (np.abs(canvas - healthy) > 0).any(axis=2)
        painted = np.zeros(changed.shape, bool)
        for mark in marks:
            painted |= mark
        if case.whole:  # green islands are left on a leaf that is boxed as a whole
            assert not (changed & ~painted).any()
            assert changed.sum() > 0.4 * painted.sum()
            continue
        lesions += len(marks)
        assert not (changed & ~painted).any()
        assert (painted & ~changed).sum() <= 0.002 * painted.sum()
        for mark in marks:
            x1, y1, x2, y2 = bounds(mark & changed)
            assert (x1, y1, x2, y2) == bounds(mark)
            assert x2 - x1 >= 4
            assert y2 - y1 >= 4
    assert lesions > 30


def test_boxes_are_the_bounds_of_the_painted_masks() -> None:
    for case, plan in plans(0, 8):
        _, marks, leafy = paint_leaves(plan)
        _, boxes = paint(plan)
        assert boxes == tuple(bounds(mark) for mark in marks)
        assert all(not (mark & ~leafy).any() for mark in marks)
        if case.style is None:
            assert boxes == ()


def test_specks_and_dew_never_touch_a_symptom() -> None:
    for _, plan in plans(0, 9):
        canvas, _ = paint(plan)
        before, marks, _ = paint_leaves(plan)
        for mark in marks:
            if mark.any():
                ratio = canvas[mark] / np.maximum(before[mark], 1e-3)
                assert (ratio < 1.01).all()  # a shadow darkens; nothing else is laid on it


@pytest.mark.parametrize("style", STYLES.values(), ids=list(STYLES))
@pytest.mark.parametrize("radius", [3.0, 14.0, 60.0])
def test_a_painter_leaves_nothing_faint(style: Style, radius: float) -> None:
    place = Place(radius=radius, angle=0.7, stretch=1.5)
    patch = style.paint(place, np.random.default_rng(4))
    seen = patch.opacity[patch.opacity > 0]
    assert seen.size > 0
    assert seen.min() >= FAINT
    assert seen.max() <= 1
    assert patch.colour.min() >= 0
    assert patch.colour.max() <= 255
    side = patch.opacity.shape[0]
    assert patch.opacity.shape == (side, side)
    assert side % 2 == 1
    edge = np.concatenate([patch.opacity[[0, -1]].ravel(), patch.opacity[:, [0, -1]].ravel()])
    assert (edge > 0).mean() < 0.2  # the patch holds the symptom


def test_one_seed_gives_the_same_bytes_and_more_leaves_change_none(tmp_path: Path) -> None:
    few, again, more, other = (tmp_path / name for name in ("few", "again", "more", "other"))
    drawn.draw(few, leaves=3, seed=9)
    drawn.draw(again, leaves=3, seed=9)
    drawn.draw(more, leaves=5, seed=9)
    drawn.draw(other, leaves=1, seed=10)
    assert files(few) == files(again)
    larger = files(more)
    assert {place: larger[place] for place in files(few) if place != "truth.jsonl"} == {
        place: data for place, data in files(few).items() if place != "truth.jsonl"
    }
    assert larger["truth.jsonl"].startswith(files(few)["truth.jsonl"])
    assert files(other)["images/leaf-00000.jpg"] != files(few)["images/leaf-00000.jpg"]


def test_what_is_drawn_reads_back(tmp_path: Path) -> None:
    count = drawn.draw(tmp_path / "set", leaves=10, seed=1)
    truths = list(store.read(tmp_path / "set/truth.jsonl", drawn.Drawn))
    assert len(truths) == count >= 10
    for truth in truths:
        assert images.size(tmp_path / "set" / truth.image) == (truth.width, truth.height)
        assert 320 <= max(truth.width, truth.height) <= 640
        assert bool(truth.boxes) == (truth.label is not None)
        for x1, y1, x2, y2 in truth.boxes:
            assert 0 <= x1 < x2 <= truth.width
            assert 0 <= y1 < y2 <= truth.height
    assert not [path for path in tmp_path.iterdir() if path.name != "set"]


def test_two_photos_of_one_leaf_are_one_group_and_one_split(tmp_path: Path) -> None:
    number = next(n for n in range(99) if len(planning.case(n, 0, 0.3).photos) == 2)
    drawn.draw(tmp_path / "set", leaves=number + 1, seed=0)
    samples = [s for s in drawn.SOURCE.samples(tmp_path / "set") if isinstance(s, Sample)]
    own = [s for s in samples if s.native["group"] == f"leaf-{number:05d}"]
    assert [s.id for s in own] == [f"drawn:leaf-{number:05d}", f"drawn:leaf-{number:05d}-again"]
    assert own[0].native["split"] == own[1].native["split"]
    assert len({s.native["group"] for s in samples}) == number + 1


def test_the_shares_of_splits_healthy_leaves_and_whole_leaves() -> None:
    cases = [planning.case(number, 0, 0.3) for number in range(4000)]
    splits = Counter(case.split for case in cases)
    assert splits["test"] / 4000 == pytest.approx(0.3, abs=0.03)
    assert splits["val"] / 4000 == pytest.approx(0.105, abs=0.02)
    assert sum(case.style is None for case in cases) / 4000 == pytest.approx(0.3, abs=0.03)
    assert 0.05 < sum(case.whole for case in cases) / 4000 < 0.2
    assert {case.style.label for case in cases if case.style} == set(STYLES)
    assert {case.shape.crop for case in cases} == set(SUFFERS)


def test_the_test_split_has_outlines_greens_and_grounds_of_its_own() -> None:
    used: dict[bool, set[str]] = {True: set(), False: set()}
    for number in range(400):
        case = planning.case(number, 2, 0.5)
        plan = planning.plan(case, case.name)
        test = case.split == "test"
        used[test] |= {case.shape.name, case.green.name, plan.ground.name}
    assert not used[True] & used[False]
    for names, held_out in (
        (SHAPES, [shape.name for shape in SHAPES if shape.held_out]),
        (GREENS, [green.name for green in GREENS if green.held_out]),
        (GROUNDS, [ground.name for ground in GROUNDS if ground.held_out]),
    ):
        assert set(held_out) <= used[True]
        assert 0 < len(held_out) < len(names)


def test_eight_styles_and_a_rival_for_every_list_of_four() -> None:
    assert len(STYLES) == 8
    kinds = Counter(style.kind for style in STYLES.values())
    assert kinds == {"disease": 6, "pest": 1, "stress": 1}
    assert set(SUFFERS) == {shape.crop for shape in SHAPES}
    assert len(SUFFERS) >= 5
    for labels in SUFFERS.values():
        assert len(set(labels)) == len(labels) >= 5
        assert set(labels) <= set(STYLES)
    for style in STYLES.values():
        assert 1 <= style.count[0] <= style.count[1] <= 15


@pytest.mark.parametrize("new", [(), ("palettes",), ("shapes",), ("grounds",)])
def test_the_test_split_has_of_its_own_what_is_said(new: tuple[planning.New, ...]) -> None:
    look = planning.Look(size=256, new=new)
    held = [{each.name for each in some if each.held_out} for some in (GREENS, SHAPES, GROUNDS)]
    seen: list[set[bool]] = [set(), set(), set()]
    for number in range(120):
        case = planning.case(number, 2, 1.0, look)
        plan = planning.plan(case, case.name)
        assert case.split == "test"
        for what, names, name in zip(
            seen, held, (case.green.name, case.shape.name, plan.ground.name), strict=True
        ):
            what.add(name in names)
    assert seen == [{name in new} for name in ("palettes", "shapes", "grounds")]


def test_photos_of_one_size_show_at_most_15_symptoms_and_none_that_is_tiny(
    tmp_path: Path,
) -> None:
    """A 25th of the side either way at least; more than one size of crowd, both levels."""
    look = drawn.Look(size=200)
    drawn.draw(tmp_path / "set", leaves=40, seed=3, held_out_share=0.0, look=look)
    truths = list(store.read(tmp_path / "set/truth.jsonl", drawn.Drawn))
    assert {(truth.width, truth.height) for truth in truths} == {(200, 200)}
    assert {truth.split for truth in truths} == {"train", "val"}
    crowds = [len(truth.boxes) for truth in truths if truth.level == "lesion"]
    assert 10 <= max(crowds) <= 15
    assert {truth.level for truth in truths} == {"lesion", "object", None}
    for truth in truths:
        for x1, y1, x2, y2 in truth.boxes:
            assert min(x2 - x1, y2 - y1) >= 8


def test_no_more_symptoms_are_painted_than_there_is_room_for() -> None:
    look = planning.Look(size=256)
    crowded = 0
    for number in range(60):
        case = planning.case(number, 5, 0.0, look)
        _, marks, _ = paint_leaves(replace(planning.plan(case, case.name), most=2))
        assert len(marks) <= 2
        crowded += len(marks) == 2
    assert crowded > 10


@pytest.mark.parametrize("size", [0, 127, 1025])
def test_a_size_that_cannot_be_drawn_is_refused(tmp_path: Path, size: int) -> None:
    with pytest.raises(Usage, match=f"size: expected 128 to 1024 pixels, got {size}"):
        drawn.draw(tmp_path / "set", leaves=1, look=drawn.Look(size=size))


def test_the_look_that_is_not_asked_for_changes_no_byte(tmp_path: Path) -> None:
    drawn.draw(tmp_path / "set", leaves=1, seed=7)
    drawn.draw(tmp_path / "same", leaves=1, seed=7, look=drawn.Look())
    assert files(tmp_path / "set") == files(tmp_path / "same")


def test_a_neighbour_never_brings_a_second_symptom() -> None:
    for case, plan in plans(0, 200):
        labels = {leaf.style.label for leaf in plan.leaves if leaf.style}
        assert labels <= ({case.style.label} if case.style else set())
        if case.whole:
            assert [leaf.whole for leaf in plan.leaves].count(True) == 1
            assert plan.leaves[-1].whole


def test_labels_and_boxes_come_from_the_truth(tmp_path: Path) -> None:
    drawn.draw(tmp_path / "set", leaves=14, seed=4)
    truths = {t.id: t for t in store.read(tmp_path / "set/truth.jsonl", drawn.Drawn)}
    seen = 0
    for sample in drawn.SOURCE.samples(tmp_path / "set"):
        assert isinstance(sample, Sample)
        truth = truths[sample.id.removeprefix("drawn:")]
        (record,) = drawn.SOURCE.label(sample)
        if isinstance(record, Healthy):
            assert (truth.label, record.crop) == (None, truth.crop)
            continue
        assert isinstance(record, Target)
        assert (record.label, record.kind, record.crop, record.organ) == (
            truth.label,
            truth.kind,
            truth.crop,
            "leaf",
        )
        made = drawn.SOURCE.annotate(sample, record, tmp_path / "set")
        assert not isinstance(made, Drop)
        assert (made.boxes, made.level) == (truth.boxes, truth.level)
        seen += 1
    assert seen >= 5


@pytest.mark.parametrize(("leaves", "share"), [(0, 0.3), (-1, 0.3), (3, 1.1), (3, float("nan"))])
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, leaves: int, share: float) -> None:
    with pytest.raises(Usage, match="at least 1 leaf and a held-out share"):
        drawn.draw(tmp_path / "set", leaves=leaves, held_out_share=share)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(Usage, match="empty or not there"):
        drawn.draw(tmp_path, leaves=1)
    assert files(tmp_path) == {"notes.txt": b"mine"}


def test_an_empty_folder_is_drawn_into(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    assert drawn.draw(tmp_path / "set", leaves=1) >= 1
    assert (tmp_path / "set/truth.jsonl").is_file()


def test_a_folder_without_truth_says_how_to_draw(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(Usage, match="draw one"):
            list(drawn.SOURCE.samples(root))


def test_a_broken_truth_line_and_a_path_that_leaves(tmp_path: Path) -> None:
    drawn.draw(tmp_path / "set", leaves=2, seed=draws.key(0, "test", "a") % 1000)
    truth = tmp_path / "set/truth.jsonl"
    lines = truth.read_text(encoding="utf-8").splitlines()
    truth.write_text(lines[0].replace("images/", "../images/") + "\n", encoding="utf-8")
    (drop,) = drawn.SOURCE.samples(tmp_path / "set")
    assert isinstance(drop, Drop)
    assert drop.reason == "unsafe_path"
    truth.write_text(lines[0] + "\n{]\n", encoding="utf-8")
    with pytest.raises(BadRecord, match=r"truth\.jsonl:2"):
        list(drawn.SOURCE.samples(tmp_path / "set"))
