"""Anchoring and agreement against plain loops, and where there is nothing to measure."""

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldtruth.records import Box
from fieldtruth.stages.review.agreement import agree, line
from fieldtruth.stages.review.anchoring import Reviewed, anchoring
from fieldtruth.stages.review.decisions import Decision


def iou(a: Box, b: Box) -> float:
    across = min(a[2], b[2]) - max(a[0], b[0])
    down = min(a[3], b[3]) - max(a[1], b[1])
    shared = max(across, 0) * max(down, 0)
    both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    return shared / both


def best(a: list[Box], b: list[Box]) -> list[float]:
    """The IoUs of the one-to-one matching with the largest total among pairs of at least 0.5."""
    few, many = sorted((a, b), key=len)
    tries = [
        [over for over in (iou(x, y) for x, y in zip(few, order, strict=True)) if over >= 0.5]
        for order in permutations(many, len(few))
    ]
    return max(tries, key=sum)


sides = st.integers(0, 12)
boxes = st.tuples(sides, sides, st.integers(1, 8), st.integers(1, 8)).map(
    lambda b: (float(b[0]), float(b[1]), float(b[0] + b[2]), float(b[1] + b[3]))
)
lists = st.lists(boxes, max_size=4)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.booleans(), lists, lists.filter(bool)), max_size=5))
def test_anchoring_is_what_loops_say(rows: list[tuple[bool, list[Box], list[Box]]]) -> None:
    photos = [
        Reviewed(
            item=str(at), source="ab"[at % 2], blind=blind, proposed=tuple(said), final=tuple(true)
        )
        for at, (blind, said, true) in enumerate(rows)
    ]
    found = anchoring(photos)
    for part, chosen in (
        (found.overall, rows), (found.shown, [row for row in rows if not row[0]]),
        (found.blind, [row for row in rows if row[0]]),
    ):  # fmt: skip
        matched = [best(said, true) for _, said, true in chosen]
        kept = sum(over >= 0.9 for row in matched for over in row)
        count = sum(len(row) for row in matched)
        proposed = sum(len(said) for _, said, _ in chosen)
        final = sum(len(true) for _, _, true in chosen)
        assert (part.photos, part.proposals, part.final) == (len(chosen), proposed, final)
        assert part.proposals == part.kept + part.adjusted + part.deleted
        assert part.final == part.kept + part.adjusted + part.new
        total = sum(over for row in matched for over in row)
        told = part.overlap.value or 0.0
        assert told * (part.kept + part.adjusted) == pytest.approx(total)
        assert (part.kept, part.kept + part.adjusted) == (kept, count) or ties(chosen)
        assert (part.kept_share.value is None) == (proposed == 0) == (part.kept_share.n == 0)
    assert anchoring(photos[::-1]) == found
    assert set(found.sources) == {photo.source for photo in photos}


def ties(rows: list[tuple[bool, list[Box], list[Box]]]) -> bool:
    """Whether two matchings have the largest total: which of them is taken is nobody's business."""
    for _, said, true in rows:
        few, many = sorted((said, true), key=len)
        totals = [
            round(sum(v for v in (iou(x, y) for x, y in zip(few, o, strict=True)) if v >= 0.5), 9)
            for o in permutations(many, len(few))
        ]
        if totals.count(max(totals)) > 1:
            return True
    return False


def photo(at: int, *, blind: bool, kept: int, deleted: int) -> Reviewed:
    stand = [(10.0 * n, 0.0, 10.0 * n + 8, 8.0) for n in range(kept + deleted)]
    final = stand[:kept] or [(500.0, 0.0, 510.0, 10.0)]
    return Reviewed(
        item=f"{at:03}", source="s", blind=blind, proposed=tuple(stand), final=tuple(final)
    )


def test_what_showing_the_boxes_did() -> None:
    """Shown, 3 of 4 were kept; held back, people drew 1 of 4 of them by themselves."""
    rows = [photo(at, blind=at % 2 == 1, kept=1 if at % 2 else 3, deleted=3 if at % 2 else 1)
            for at in range(60)]  # fmt: skip
    found = anchoring(rows)
    assert (found.shown.kept_share.value, found.blind.kept_share.value) == (0.75, 0.25)
    assert (found.effect.value, found.effect.n) == (0.5, 60)
    assert found.effect.low == found.effect.high == 0.5  # every photo is like the others
    mixed = [photo(at, blind=at % 2 == 1, kept=at % 3 + 1, deleted=2) for at in range(60)]
    effect = anchoring(mixed).effect
    assert effect.low is not None
    assert effect.high is not None
    assert effect.low < 0 < effect.high
    alone = anchoring([each for each in rows if not each.blind])
    assert (alone.effect.value, alone.effect.n, alone.blind.photos) == (None, 0, 0)


def test_the_edges_of_kept_and_adjusted() -> None:
    """Ten by ten against itself, cut to nine (IoU 0.9), to eight, to five and to four."""
    whole = (0.0, 0.0, 10.0, 10.0)
    told = []
    for width in (10.0, 9.0, 8.0, 5.0, 4.0):
        row = Reviewed(
            item="a", source="s", blind=False, proposed=(whole,), final=((0.0, 0.0, width, 10.0),)
        )
        part = anchoring([row]).overall
        told.append((part.kept, part.adjusted, part.deleted, part.new))
    assert told == [(1, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 1, 0, 0), (0, 0, 1, 1)]


# --- agreement ---------------------------------------------------------------------------------


def decision(item: str, who: str, said: Any = "boxes", **more: Any) -> Decision:
    fields: dict[str, Any] = {
        "task": item, "item": item, "annotation": 1, "who": who, "at": "1", "seconds": None,
        "said": said, "reasons": (), "note": "", "level": "lesion" if said == "boxes" else None,
        "boxes": ((0.0, 0.0, 10.0, 10.0),) if said == "boxes" else (), "remarks": (),
        "faults": (), "blind": False, "ground_truth": False,
    }  # fmt: skip
    return Decision(**(fields | more))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(lists.filter(bool), min_size=1, max_size=3), max_size=5))
def test_agreement_on_boxes_is_what_loops_say(photos: list[list[list[Box]]]) -> None:
    log = [
        decision(str(at), "abc"[who], boxes=tuple(drawn))
        for at, row in enumerate(photos)
        for who, drawn in enumerate(row)
    ]
    found = agree(log)
    pairs = [pair for row in photos for pair in combinations(row, 2)]
    assert found.shared == found.boxes.photos == sum(len(row) > 1 for row in photos)
    if not pairs:
        assert (found.boxes.f1.value, found.boxes.f1.n) == (None, 0)
        return
    matched = [best(a, b) for a, b in pairs]
    total = sum(sum(row) for row in matched)
    count = sum(len(row) for row in matched)
    f1 = 2 * count / sum(len(a) + len(b) for a, b in pairs)
    same = [len(a) == len(b) for a, b in pairs]
    assert found.boxes.equal_count.value == pytest.approx(np.mean(same))
    assert (found.boxes.overlap.value or 0.0) * (found.boxes.f1.value or 0.0) == pytest.approx(
        total * f1 / count if count else 0.0
    )


def test_two_people_who_agree_but_for_one() -> None:
    """Four photos: three boxed alike, one flagged by one of them."""
    log = [decision(str(at), who) for at in range(3) for who in "ab"]
    log += [decision("3", "a"), decision("3", "b", "flag"), decision("4", "a", "absent")]
    log += [decision("5", "b", "skip"), decision("0", "a", "remove", at="0")]  # both without weight
    found = agree(log)
    assert (found.photos, found.shared, found.people) == (5, 4, ("a", "b"))
    assert found.boxes.f1.value == found.boxes.overlap.value == 1.0
    assert found.verdict.agreement.value == 0.75
    # a says boxes four times, b three times: po 3/4, pe 1 x 3/4, so kappa is 0
    assert found.verdict.cohen["a and b"].value == 0.0
    assert found.level.cohen["a and b"].undefined == "one answer only was given"
    assert found.boxes.count.undefined == "one answer only was given"
    assert "4 of 5 photos" in line(found)
    assert "alpha none (one answer only was given)" in line(found)


def test_as_many_people_have_a_fleiss_kappa_and_others_none() -> None:
    three = [decision(str(at), who, "boxes" if at else "flag") for at in range(3) for who in "abc"]
    found = agree(three)
    assert found.verdict.fleiss is not None
    assert found.verdict.fleiss.value == 1.0
    assert set(found.verdict.cohen) == {"a and b", "a and c", "b and c"}
    assert agree(three[:-1]).verdict.fleiss is None
    assert agree([]).verdict.alpha.undefined == "nothing was judged by two"
