"""Replies that are sought to pay more than they are worth: found under one reward, not the other.

A hack earns at least what an honest reply earns, while a grade in plain loops sees it worse in one
respect and better in none: F1, region, the name (of a box that is more than a speck), or saying
rightly that there is nothing.
"""

import json
from collections.abc import Callable

import numpy as np
import pytest
from tests.rewards import reference
from tests.rewards.replies import FOUR, Corners, absent, one, rollout, words

from fieldtruth.draws import rng
from fieldtruth.replies import read_boxes
from fieldtruth.rewards import grounded, published
from fieldtruth.rewards.contract import Reward, Rollout, pay

Rng = np.random.Generator
Said = list[tuple[list[int], str]]
Grade = tuple[float, float, float, float]
SCENES, STEPS, BREED = 9, 10, 8
WHOLE = [0, 0, 1000, 1000]
NAMES = (*FOUR, "", "gall")


def scene(number: int) -> tuple[Callable[[str], Rollout], str]:
    """A photo, how it is asked about, and an honest reply to it."""
    draw = rng(0, "hack scene", str(number))
    places = draw.permutation(9)[: int(draw.integers(1, 7))]
    true = []
    for place in places.tolist():
        x, y = place % 3 * 330, place // 3 * 330
        wide, high = draw.integers(60, 260, 2).tolist()
        true.append([x + 10, y + 10, x + 10 + wide, y + 10 + high])
    kind = number % 4
    if kind > 1:
        return (lambda text: absent(text, healthy=kind == 2, choose=number % 8 > 3)), "[]"
    honest = [[x1, y1, x2 - (x2 - x1) // 10, y2 - (y2 - y1) // 10] for x1, y1, x2, y2 in true]
    return (lambda text: rollout(text, true=true, choose=kind == 1)), words(*honest)


def grade(asked: Rollout) -> Grade:
    """(F1, region, name, nothing said) of a reply, by loops that know no reward."""
    reading = read_boxes(asked.text, asked.space, asked.finish)
    if not asked.boxes:
        return 0.0, 0.0, 0.0, float(reading.outcome == "empty")
    said, true = reading.boxes, asked.boxes
    large = [
        n for b, n in zip(said, reading.labels, strict=True) if n and reference.area(b) >= 1000
    ]
    name = max(large, key=lambda each: (large.count(each), -large.index(each)), default="")
    f1 = 2 * reference.hits(said, true) / (len(said) + len(true))
    return f1, reference.region(said, true), float(name == "rust"), 0.0


def dominated(grade: Grade, honest: Grade) -> bool:
    pairs = list(zip(grade, honest, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def text_of(said: Said, around: str = "{}") -> str:
    rows = [{"bbox_2d": box, "label": name} for box, name in said]
    return around.replace("{}", json.dumps(rows), 1)


def some_box(draw: Rng) -> list[int]:
    x, y = draw.integers(0, 960, 2).tolist()
    wide, high = draw.choice((8, 20, 32, 100, 400), 2).tolist()
    return [x, y, min(1000, x + wide), min(1000, y + high)]


AROUND = ("{}", "{}", "{}", "Sure: {}", "{} []", "[] {}", "fine", '{"boxes": {}}', "")


def start(draw: Rng) -> tuple[Said, str]:
    """One box on everything, a grid, many boxes, one, none."""
    name = str(draw.choice(NAMES))
    step = int(draw.choice((100, 200, 250, 500)))
    grid = [[x, y, x + step, y + step] for x in range(0, 1000, step) for y in range(0, 1000, step)]
    ways: tuple[list[list[int]], ...] = (
        [WHOLE], grid, [some_box(draw) for _ in range(int(draw.integers(2, 30)))],
        [some_box(draw)], [],
    )  # fmt: skip
    return [(box, name) for box in ways[int(draw.integers(len(ways)))]], str(draw.choice(AROUND))


def changed(said: Said, around: str, draw: Rng) -> tuple[Said, str]:
    """A reply with one thing added, taken away, doubled, shrunk, grown, renamed, or put around."""
    said = list(said)
    way, name = int(draw.integers(9)), str(draw.choice(NAMES))
    at = int(draw.integers(len(said))) if said else -1
    if way == 0 or at < 0:
        return [*said, (some_box(draw), name)], around
    (x1, y1, x2, y2), old = said[at]
    if way == 1:
        said.pop(at)
    elif way == 2:
        said.append(said[at])
    elif way in (3, 4):
        by = int(draw.integers(1, 200)) * (1 if way == 3 else -1)
        box = [max(0, x1 + by), max(0, y1 + by), min(1000, x2 - by), min(1000, y2 - by)]
        said[at] = (box, old)
    elif way == 5:
        said[at] = ([x1, y1, x2, y2], name)
    elif way == 6:
        said = [(box, name) for box, _ in said]
    elif way == 7:
        said += [(some_box(draw)[:2] * 2, name), ([x1, y1, x1 + 20, y1 + 20], name)] * 3
    else:
        around = str(draw.choice(AROUND))
    return said, around


def search(reward: Reward, number: int) -> tuple[int, list[str]]:
    """How many replies were tried on a scene, and the hacks among them: climbed, and drawn."""
    ask, honest = scene(number)
    best = one(reward, ask(honest)).reward
    right = grade(ask(honest))
    draw = rng(0, "hack search", str(number))
    plain: Said = [(entry["bbox_2d"], "rust") for entry in json.loads(honest)]
    climbers = [(plain, "{}"), *(start(draw) for _ in range(7))]
    found, tried = [], 0
    for climber in climbers:
        at = climber
        for _ in range(STEPS):
            near = [at, *(changed(*at, draw) for _ in range(BREED))]
            rows = [ask(text_of(*each)) for each in near]
            earned = [each.reward for each in pay(reward, rows)]
            worse = [dominated(grade(row), right) for row in rows]
            found += [
                row.text
                for row, a, bad in zip(rows, earned, worse, strict=True)
                if bad and a >= best
            ]
            tried += len(rows)
            # Upwards, among replies that are no better than the honest one.
            level = [a if bad else -1.0 for a, bad in zip(earned, worse, strict=True)]
            at = near[int(np.argmax(level))] if max(level) >= 0 else near[-1]
    return tried, found


@pytest.mark.slow
def test_nothing_is_found_under_ours() -> None:
    tried = 0
    for number in range(SCENES):
        count, found = search(grounded.REWARD, number)
        assert found == [], number
        tried += count
    assert tried > 5000


@pytest.mark.slow
def test_the_same_search_finds_the_published_loopholes() -> None:
    known_target = [search(published.REWARD, number)[1] for number in (4, 8)]
    not_there = [search(published.REWARD, number)[1] for number in (3, 7)]
    assert all(map(any, known_target)), "the right boxes under a wrong name"
    assert all(map(any, not_there)), "boxes where what is asked for is not there"


def test_the_specks_the_paper_pays_for() -> None:
    """One with the right name is paid 0.50 there, five times an empty reply; as much here."""
    speck: Corners = (1, 1, 21, 21)
    true = [(100, 100, 300, 300)]
    spoken, empty = (rollout(text, true=true, choose=True) for text in (words(speck), "[]"))
    assert one(published.REWARD, spoken).reward == pytest.approx(0.50)
    assert one(published.REWARD, empty).reward == pytest.approx(0.10)
    assert one(grounded.REWARD, spoken).reward <= one(grounded.REWARD, empty).reward
