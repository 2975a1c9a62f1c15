"""Walks the room: what holds for every metric, whatever it measures."""

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics import photos
from tests.metrics.reference import Photo, reference

from fieldtruth.grading.bootstrap import room
from fieldtruth.grading.evidence import grade
from fieldtruth.metrics.contract import Bools, Evidence, Ints

# The names of the score contract that have to do with boxes and names (design, 5).
NAMES = (
    "precision", "recall", "f1", "f1_75", "macro_f1", "region_iou", "region_iou_answered",
    "lesion_f1", "object_f1", "dense_f1", "sparse_f1", "abstention", "false_abstention",
    "boxes_per_lesion_image", "recognition", "joint", "instance_joint", "lesion_joint",
    "first_option_share", "off_list", "wrong_target_abstention", "open_strict", "open_lenient",
)  # fmt: skip
COUNTS = {"boxes_per_lesion_image"}  # means of counts; all others are fractions
WIDTH, HEIGHT = 24, 16
HOW = {"list": "candidates", "open": "open_set", "wrong": "known_target+wrong_target"}
SAID = (
    "blight",
    "rust",
    "mold",
    "wilt",
    "leaf",
    "leaf mold",
    "rust pustules",
    "tomato scab",
    "crust",
    "",
)


@st.composite
def boxes(draw: st.DrawFn, least: int = 0, most: int = 6) -> tuple[tuple[int, int, int, int], ...]:
    def one() -> tuple[int, int, int, int]:
        # Few sizes and places, so that boxes often meet, and often by the same amount.
        x, y = draw(st.integers(0, 4)) * 4, draw(st.integers(0, 2)) * 4
        return x, y, x + draw(st.sampled_from((4, 6, 8))), y + draw(st.sampled_from((3, 4, 8)))

    return tuple(one() for _ in range(draw(st.integers(least, most))))


@st.composite
def shown(draw: st.DrawFn, how: str = "list") -> Photo:
    levels = ("lesion", "lesion", "object", "healthy")
    level = draw(st.sampled_from(levels[:3] if how == "wrong" else levels))
    healthy = level == "healthy"
    said = draw(boxes())
    names = st.sampled_from(SAID)
    return Photo(
        level=level,
        label=None if healthy else draw(st.sampled_from(photos.CANDIDATES)),
        true=() if healthy else draw(boxes(1)),
        said=said,
        names=tuple(draw(names) for _ in said),
        empty=not said and draw(st.booleans()),
        candidates=photos.CANDIDATES if how == "list" else (),
        how=how,
        crop="tomato",
    )


rounds = st.sampled_from(sorted(HOW)).flatmap(
    lambda how: st.lists(shown(how), min_size=1, max_size=5)
)


def evidence_of(shots: list[Photo], matching: Any = "greedy") -> Evidence:
    """The same photos through our reader and our grading."""
    items, rows = [], []
    for number, shot in enumerate(shots):
        item = photos.photo(
            shot.level, number, width=WIDTH, height=HEIGHT, boxes=shot.true, label=shot.label
        )
        said = [
            {"bbox_2d": box, "label": name} for box, name in zip(shot.said, shot.names, strict=True)
        ]
        words = json.dumps(said) if said or shot.empty else "I would rather not say."
        items.append(item)
        rows.append(photos.reply(item, words, protocol=HOW[shots[0].how]))
    return grade(items, rows, HOW[shots[0].how], matching=matching).evidence


def part(evidence: Evidence, rows: Ints | Bools) -> Evidence:
    return Evidence(**{f.name: getattr(evidence, f.name)[rows] for f in fields(Evidence)})


def test_the_room_has_the_names_of_the_contract() -> None:
    assert set(NAMES) == set(room())


@settings(max_examples=120, deadline=None)
@given(rounds)
def test_every_metric_is_what_its_sentence_says(shots: list[Photo]) -> None:
    evidence, expected = evidence_of(shots), reference(shots)
    assert expected.keys() == room().keys()
    for name, value in expected.items():
        found, n = photos.measured(name, evidence)
        assert (n == 0) == (value is None), name
        assert found == (value if value is None else pytest.approx(float(value))), name


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    """Sixty photos of every level with replies of every kind, asked in every way."""
    kinds, words = ("lesion", "object", "dense", "healthy"), list(photos.WORDS)
    pairs = [(kinds[n % 4], words[n % len(words)]) for n in range(60)]
    wrong = [(kinds[n % 3], words[n % len(words)]) for n in range(15)]
    parts = [
        photos.graded(*some, protocol=HOW[how]).evidence
        for how, some in (("list", pairs[:30]), ("open", pairs[30:45]), ("wrong", wrong))
    ]
    names = [field.name for field in fields(Evidence)]
    return Evidence(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in names})


@pytest.mark.parametrize("name", NAMES)
def test_sums_add(name: str, evidence: Evidence) -> None:
    metric, half = room()[name], np.arange(60) < 23
    over, sums = metric.over(evidence), metric.sums(evidence)
    assert over.shape == (60,)
    assert sums.shape[0] == 60
    parts = [part(evidence, rows) for rows in (half, ~half)]
    total = sum(metric.sums(p)[metric.over(p)].sum(axis=0) for p in parts)
    assert total == pytest.approx(sums[over].sum(axis=0))


@pytest.mark.parametrize("name", NAMES)
def test_order_does_not_matter(name: str, evidence: Evidence) -> None:
    mixed = part(evidence, np.random.default_rng(1).permutation(60))
    value, n = photos.measured(name, mixed)
    before, n_before = photos.measured(name, evidence)
    assert n == n_before > 0
    assert value == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_fractions_and_totals_may_have_any_shape(name: str, evidence: Evidence) -> None:
    metric = room()[name]
    sums = np.where(metric.over(evidence)[:, None], metric.sums(evidence), 0.0)
    one_by_one = metric.value(sums)
    stacked = metric.value(sums.reshape(6, 10, -1))
    assert stacked.value.ravel().tolist() == one_by_one.value.tolist()
    over = metric.over(evidence)
    if name == "precision":  # speaks of all positives, and has no value where none has a box
        over = over & (evidence.said_boxes > 0)
    assert one_by_one.known.tolist() == over.tolist()
    assert (one_by_one.value >= 0).all()
    assert name in COUNTS or (one_by_one.value <= 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_measure_is_unknown_and_no_warning(name: str, evidence: Evidence) -> None:
    nothing = part(evidence, np.zeros(60, dtype=np.bool_))
    assert photos.measured(name, nothing) == (None, 0)


@settings(max_examples=25, deadline=None)
@given(st.lists(shown(), min_size=1, max_size=4))
def test_better_matching_never_finds_fewer(shots: list[Photo]) -> None:
    greedy, hungarian, maximum = (
        evidence_of(shots, rule) for rule in ("greedy", "hungarian", "maximum")
    )
    for field in ("hits", "hits_75"):
        low, middle, high = (getattr(e, field) for e in (greedy, hungarian, maximum))
        assert (low <= middle).all()
        assert (middle <= high).all()
