"""100,000 replies through the reader and the grading: no exception, and one outcome everywhere."""

from collections import Counter

import numpy as np
import pytest
from tests.fuzzed import reply
from tests.metrics.photos import photo
from tests.strategies import FINISHES, SPACES

from fieldtruth.draws import rng
from fieldtruth.geometry import space_limits
from fieldtruth.grading import Graded, grade
from fieldtruth.grading.bootstrap import panel
from fieldtruth.grading.published import published
from fieldtruth.records import Prediction, Reading, Space
from fieldtruth.replies import read_boxes
from fieldtruth.rewards.contract import Rollout, pay
from fieldtruth.stages.read import read_file
from fieldtruth.stages.reward import open_reward

REPLIES, BATCH = 100_000, 2_500
KINDS = ("lesion", "object", "dense", "healthy")
PROTOCOLS = (
    "known_target", "candidates", "open_set", "known_target+wrong_target", "candidates+rotate1",
    "candidates+blank",
)  # fmt: skip
ITEMS = [photo(KINDS[n % 4], n, id=f"p{n:04}", absent_query="wilt") for n in range(BATCH)]


def batch(number: int) -> tuple[str, Space, list[Prediction]]:
    """Rows for every item that the protocol of this batch asks about."""
    protocol = PROTOCOLS[number % len(PROTOCOLS)]
    space = SPACES[number // len(PROTOCOLS) % len(SPACES)]
    draw = rng(0, "fuzz", str(number))
    items = [i for i in ITEMS if i.positive or protocol != "known_target+wrong_target"]
    rows = [
        Prediction(
            item=item.id, protocol=protocol, model="m", text=reply(draw), space=space,
            finish=FINISHES[n % 5 == 0],
        )
        for n, item in enumerate(items)
    ]  # fmt: skip
    return protocol, space, rows


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_whatever_is_said_is_read_as_one_thing_everywhere() -> None:
    outcomes: Counter[str] = Counter()
    done = number = 0
    while done < REPLIES:
        protocol, space, rows = batch(number)
        rows = rows[: REPLIES - done]
        readings = [read_boxes(row.text, space, row.finish) for row in rows]
        told = read_file(rows)
        found = grade(ITEMS, rows, protocol)
        assert found.readings == readings
        assert [each["outcome"] for each in told] == [each.outcome for each in readings]
        assert [each["boxes"] for each in told] == [list(map(list, r.boxes)) for r in readings]
        counted = Counter(each.outcome for each in readings)
        outcomes += counted
        assert {name: found.outcomes[name] for name in counted} == dict(counted)
        measured(found, readings, space)
        published(ITEMS, rows, protocol)
        done, number = done + len(rows), number + 1
    assert done == REPLIES
    assert min(outcomes[name] for name in ("boxes", "empty", "prose", "unreadable")) > REPLIES / 50
    assert sum(outcomes.values()) == REPLIES


def measured(found: Graded, readings: list[Reading], space: Space) -> None:
    """What must hold of any grading, whatever was said."""
    seen = found.evidence
    assert seen.empty.tolist() == [each.outcome == "empty" for each in readings]
    assert seen.said_boxes.tolist() == [len(each.boxes) for each in readings]
    assert (seen.hits <= np.minimum(seen.said_boxes, seen.true_boxes)).all()
    assert (seen.hits_75 <= seen.hits).all()
    assert ((seen.region_iou >= 0) & (seen.region_iou <= 1)).all()
    assert not (seen.correct & ~seen.named).any()
    assert not (seen.open & seen.correct & ~seen.akin).any()
    levels = (seen.lesion, seen.object, seen.healthy, seen.absent)
    assert (np.sum(levels, axis=0) == 1).all()
    for item, boxes in zip(found.items, found.said, strict=True):
        assert (boxes >= 0).all()
        assert (boxes[:, 2:] <= (item.width, item.height)).all()
        assert (boxes[:, :2] <= boxes[:, 2:]).all()
    assert np.isfinite(panel(found.items, seen).sums).all()
    sides(readings, space)


def sides(readings: list[Reading], space: Space) -> None:
    """Corners are in order, and a value beyond the space is said to be."""
    limit = space_limits(space)[0]
    for each in readings:
        for box in each.boxes:
            assert box[0] < box[2]
            assert box[1] < box[3]
        out = any(min(box) < 0 or max(box) > limit for box in each.boxes)
        assert not out or "out_of_space" in each.repairs


def test_a_seed_is_a_set_of_replies() -> None:
    one, two = ([reply(rng(0, "fuzz", str(n))) for n in range(50)] for _ in range(2))
    assert one == two
    assert len(set(one)) > 40


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["published", "grounded"])
def test_whatever_is_said_is_paid(kind: str) -> None:
    """10,000 replies: each earns something from 0 to 1, and is what the reader takes it for."""
    draw, paying = rng(0, "fuzz rewards", kind), open_reward(kind)
    spaces = SPACES if kind == "grounded" else ("norm1000",)
    for number in range(100):
        space = spaces[number % len(spaces)]
        wide, high = (min(side, 1000.0) for side in space_limits(space, 640, 480))
        truth = ((0.1 * wide, 0.1 * high, 0.4 * wide, 0.5 * high),) if number % 3 else ()
        rows = [
            Rollout(
                text=reply(draw), space=space, protocol=PROTOCOLS[number % 2], boxes=truth,
                label="rust" if truth else None, candidates=("rust", "scab", "smut", "wilt"),
                healthy=not truth, finish=FINISHES[n % 5 == 0], width=640, height=480,
            )
            for n in range(100)
        ]  # fmt: skip
        paid = pay(paying, rows)
        assert len(paid) == len(rows)
        assert all(0 <= each.reward <= 1 for each in paid)
        assert all(each.reward == pytest.approx(sum(each.terms.values())) for each in paid)
        if kind == "grounded":
            readings = [read_boxes(row.text, space, row.finish) for row in rows]
            assert [each.outcome for each in paid] == [each.outcome for each in readings]
