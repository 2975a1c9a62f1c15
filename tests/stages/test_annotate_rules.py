"""Which of a detector's boxes are kept: the published rules step by step, and where ours differ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldtruth.box_rules import Kept, Name, Seen, keep
from fieldtruth.geometry import as_boxes
from fieldtruth.records import Kind

SIZE = (100, 100)
Box = tuple[float, float, float, float]


def seen(*rows: tuple[float, ...], masks: list[float] | None = None) -> Seen:
    """Rows of four edges and a score."""
    boxes = as_boxes([row[:4] for row in rows])
    scores = np.array([row[4] for row in rows])
    return Seen(boxes, scores, True, None if masks is None else np.array(masks))


def left(kept: Kept) -> dict[str, list[list[float]]]:
    return {level: boxes.tolist() for level, (boxes, _) in kept.levels.items()}


SMALL, TINY = (10, 10, 30, 30, 0.5), (10, 10, 13, 13, 0.9)
BIG, BIGGER, WHOLE = (0, 0, 80, 80, 0.4), (0, 20, 100, 100, 0.6), (0, 0, 100, 100, 0.99)


@pytest.mark.parametrize(
    ("rows", "kind", "levels", "removed"),
    [
        ([], "disease", {}, {}),
        ([SMALL], "disease", {"lesion": [SMALL[:4]]}, {}),
        # 9 of 10,000 pixels are under a thousandth; 10 are not
        ([TINY], "disease", {}, {"too_small": 1}),
        ([(10, 10, 15, 12, 0.9)], "disease", {"lesion": [(10, 10, 15, 12)]}, {}),
        ([WHOLE], "disease", {}, {"too_large": 1}),
        ([(0, 0, 100, 95, 0.9)], "disease", {"object": [(0, 0, 100, 95)]}, {}),
        # exactly half of the photo is a lesion
        ([(0, 0, 100, 50, 0.9)], "disease", {"lesion": [(0, 0, 100, 50)]}, {}),
        ([(0, 0, 100, 50.01, 0.9)], "disease", {"object": [(0, 0, 100, 50.01)]}, {}),
        # both levels of one photo, each with its own
        ([SMALL, BIG], "disease", {"lesion": [SMALL[:4]], "object": [BIG[:4]]}, {}),
        # the lesions inside the object are not taken for overlapping it
        (
            [BIG, BIGGER, SMALL],
            "disease",
            {"lesion": [SMALL[:4]], "object": [BIGGER[:4]]},
            {"not_best_object": 1},
        ),
        # an IoU of exactly one half stays; over it the worse goes
        (
            [(0, 0, 20, 10, 0.5), (0, 0, 10, 10, 0.9)],
            "pest",
            {"lesion": [(0, 0, 10, 10), (0, 0, 20, 10)]},
            {},
        ),
        (
            [(0, 0, 19, 10, 0.5), (0, 0, 10, 10, 0.9)],
            "pest",
            {"lesion": [(0, 0, 10, 10)]},
            {"overlapping": 1},
        ),
        ([SMALL, SMALL], "symptom", {"lesion": [SMALL[:4]]}, {"repeated": 1}),
        ([(-5, -5, 30, 30, 0.5)], "weed", {"lesion": [(0, 0, 30, 30)]}, {}),
        ([(100, 0, 140, 90, 0.5)], "weed", {}, {"no_area": 1}),
        # objects and stress keep the best alone, whatever its level
        ([SMALL, BIG], "object", {"lesion": [SMALL[:4]]}, {"not_best_of_its_kind": 1}),
        ([SMALL, BIGGER], "stress", {"object": [BIGGER[:4]]}, {"not_best_of_its_kind": 1}),
        ([SMALL, (40, 40, 60, 60, 0.5)], "object", {"lesion": [SMALL[:4]]},
         {"not_best_of_its_kind": 1}),
    ],
)  # fmt: skip
def test_the_published_rules(
    rows: list[tuple[float, ...]], kind: Kind, levels: dict[str, list[Box]], removed: dict[str, int]
) -> None:
    kept = keep(seen(*rows), kind, SIZE, "published")
    assert left(kept) == {
        level: [pytest.approx(box) for box in boxes] for level, boxes in levels.items()
    }
    assert dict(kept.removed) == removed


@pytest.mark.parametrize("kind", ["pest", "weed", "object"])
def test_ours_takes_whole_things_for_objects_however_small(kind: Kind) -> None:
    kept = keep(seen(SMALL, BIG), kind, SIZE, "ours")
    assert left(kept) == {"object": [list(SMALL[:4]), list(BIG[:4])]}


def test_ours_keeps_two_large_leaves() -> None:
    halves = [(0, 0, 51, 100, 0.9), (49, 0, 100, 100, 0.8)]
    assert len(left(keep(seen(*halves), "disease", SIZE, "ours"))["object"]) == 2
    assert len(left(keep(seen(*halves), "disease", SIZE, "published"))["object"]) == 1


@pytest.mark.parametrize("rules", ["ours", "published"])
def test_a_box_with_an_empty_mask_is_gone(rules: Name) -> None:
    kept = keep(seen(SMALL, (40, 40, 60, 60, 0.9), masks=[0.2, 0.0]), "disease", SIZE, rules)
    assert left(kept) == {"lesion": [list(SMALL[:4])]}
    assert kept.removed == {"empty_mask": 1}


def overlap(a: Box, b: Box) -> float:
    across = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    down = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    both = across * down
    return both / (area(a) + area(b) - both)


def area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def as_published(
    rows: list[tuple[Box, float]], kind: str, size: tuple[int, int]
) -> dict[str, list[Box]]:
    """The published steps on plain lists, one after the other."""
    whole = size[0] * size[1]
    first: list[tuple[Box, float]] = []
    for box, score in rows:
        if 0.001 <= area(box) / whole <= 0.95 and box not in [other for other, _ in first]:
            first.append((box, score))
    if kind in ("object", "stress") and first:
        best = max(score for _, score in first)
        first = [next(row for row in first if row[1] == best)]
    made = {}
    for level in ("lesion", "object"):
        group = [row for row in first if (area(row[0]) / whole > 0.5) == (level == "object")]
        kept: list[Box] = []
        for box, _ in sorted(group, key=lambda row: -row[1]):
            if all(overlap(box, other) <= 0.5 for other in kept):
                kept.append(box)
        if kept:
            made[level] = kept[:1] if level == "object" else kept
    return made


@st.composite
def rows(draw: st.DrawFn) -> tuple[Box, float]:
    x, y = draw(st.integers(0, 60)), draw(st.integers(0, 60))
    across, down = draw(st.integers(1, 64)), draw(st.integers(1, 64))
    box = (float(x), float(y), float(min(64, x + across)), float(min(64, y + down)))
    return box, draw(st.sampled_from([0.3, 0.5, 0.7, 0.9]))


@given(
    st.lists(rows().filter(lambda row: area(row[0]) > 0), max_size=12),
    st.sampled_from(["disease", "pest", "stress", "object"]),
)
def test_the_published_rules_are_those_of_a_plain_reading(
    given_rows: list[tuple[Box, float]], kind: Kind
) -> None:
    kept = keep(seen(*[(*box, score) for box, score in given_rows]), kind, (64, 64), "published")
    expected = as_published(given_rows, kind, (64, 64))
    assert left(kept) == {level: [list(box) for box in boxes] for level, boxes in expected.items()}
    counted = sum(len(boxes) for boxes in left(kept).values()) + kept.removed.total()
    assert counted == len(given_rows)  # every box is kept or counted


@given(st.lists(rows().filter(lambda row: area(row[0]) > 0), max_size=12))
def test_scores_stay_with_their_boxes(given_rows: list[tuple[Box, float]]) -> None:
    kept = keep(seen(*[(*box, score) for box, score in given_rows]), "disease", (64, 64), "ours")
    for boxes, scores in kept.levels.values():
        for box, score in zip(boxes.tolist(), scores.tolist(), strict=True):
            assert (tuple(box), score) in given_rows
