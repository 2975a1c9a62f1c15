"""A search for replies that pay more than they are worth: drawn, then climbed.

A hack earns at least what an honest reply earns, while a grade that knows no reward sees it worse
in one respect and better in none: F1, region, the name (of a box that is more than a speck), or
saying rightly that there is nothing. An honest reply is the truth, a little off.

    python -m tests.rewards.hacks

prints what it finds under each reward.
"""

import json
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from tests.rewards import reference
from tests.rewards.replies import FOUR, absent, one, rollout

from fieldtruth.draws import rng
from fieldtruth.replies import read_boxes
from fieldtruth.rewards import grounded, published
from fieldtruth.rewards.contract import Reward, Rollout, pay

Rng = np.random.Generator
Said = list[tuple[list[int], str]]
Grade = tuple[float, float, float, float]
WHOLE = [0, 0, 1000, 1000]
NAMES = (*FOUR, "", "gall", "2", "rust, scab, wilt, mold", "rust or scab", "scab (rust)",
         "1. scab", "not rust", "ru\u0455t", "rust\u0301", "!", "\u200b")  # fmt: skip
STEPS, BREED, CLIMBERS, MOST = 10, 7, 8, 60
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "talk": "Sure: {}".format,
    "an empty list after": "{} []".format,
    "an empty list before": "[] {}".format,
    "twice": lambda text: f"{text} {text}",
    "fenced": "```json\n{}\n```".format,
    "wrapped": lambda text: f'{{"boxes": {text}}}',
    "nested": "[[], {}]".format,
    "deep": lambda text: "[" * 30 + text + "]" * 30,
    "cut off": lambda text: text[: -max(2, len(text) // 5)],
    "cut off at the end": lambda text: text[:-1],
    "far numbers": lambda text: text[:-1] + ', {"bbox_2d": [0, 0, 1e300, 1e300]}]',
    "an empty list within": lambda text: f"[[], {text[1:]}",
    "two lists in one": lambda text: f'{{"boxes": {text}, "objects": []}}',
    "no list, and one": lambda text: f'{{"boxes": [], "objects": {text}}}',
    "a comment": lambda text: f"{text[:-1]} // a leaf\n]",
    "no area": lambda text: text[:-1] + ', {"bbox_2d": [5, 5, 5, 5], "label": "rust"}]',
    "nobody knows": lambda text: text[:-1] + ', {"bbox_2d": [7, 8], "label": "rust"}, 7, null]',
    "no numbers": lambda text: text[:-1] + ', {"bbox_2d": [NaN, 0, null, 9], "label": "rust"}]',
    "words": lambda _: "There is rust on the leaf.",
    "nothing": lambda _: "",
}


class Scene(NamedTuple):
    """A photo and how it is asked about; what is written of it honestly."""

    name: str
    ask: Callable[[str], Rollout]
    honest: Said


class Hack(NamedTuple):
    """A reply that pays what it is not worth."""

    scene: str
    earned: float
    honest: float
    text: str


# --- photos ------------------------------------------------------------------------------------


def scenes(rounds: int) -> list[Scene]:
    """Of each kind some; healthy photos, and such that lack what is asked for.

    One to three lesions, many, a leaf; tiny ones, some within others.
    """
    made = []
    for number in range(rounds):
        draw = rng(0, "hack scene", str(number))
        for choose in (False, True):
            how = ", to choose" if choose else ""
            many = {"few": int(draw.integers(1, 4)), "many": int(draw.integers(7, 13)), "leaf": 1}
            shapes = {kind: places(draw, n, large=kind == "leaf") for kind, n in many.items()}
            shapes["tiny"] = [
                [x, y, x + side, y + side]
                for side, (x, y, _, _) in enumerate(places(draw, 4, large=False), 20)
            ]
            shapes["nested"] = nested(draw)
            for kind, true in shapes.items():
                made.append(Scene(f"{kind}{how}", shown(true, choose=choose), near(draw, true)))
            made.append(Scene(f"healthy{how}", gone(choose=choose, healthy=True), []))
            made.append(Scene(f"wrong target{how}", gone(choose=choose, healthy=False), []))
    return made


def places(draw: Rng, count: int, *, large: bool) -> list[list[int]]:
    """Boxes in cells of their own; a leaf fills most of the photo."""
    if large:
        x, y, wide, high = (*draw.integers(20, 150, 2), *draw.integers(500, 800, 2))
        return [[int(x), int(y), int(x + wide), int(y + high)]]
    true = []
    for place in draw.permutation(16)[:count].tolist():
        x, y = place % 4 * 250 + 10, place // 4 * 250 + 10
        wide, high = draw.integers(50, 230, 2).tolist()
        true.append([x, y, x + wide, y + high])
    return true


def nested(draw: Rng) -> list[list[int]]:
    """A leaf, two lesions on it, one of them on the other, and one that hangs over its edge."""
    (leaf,) = places(draw, 1, large=True)
    x, y, far, _ = leaf
    spot = [x + 40, y + 40, x + 240, y + 240]
    return [leaf, spot, [x + 60, y + 60, x + 150, y + 190], [far - 60, y + 90, far + 50, y + 170]]


def shown(true: list[list[int]], *, choose: bool) -> Callable[[str], Rollout]:
    return lambda text: rollout(text, true=true, choose=choose)


def gone(*, choose: bool, healthy: bool) -> Callable[[str], Rollout]:
    return lambda text: absent(text, healthy=healthy, choose=choose)


def near(draw: Rng, true: list[list[int]]) -> Said:
    """The truth, each corner off by at most a tenth of its side; of many boxes one is missing."""
    said: Said = []
    for x1, y1, x2, y2 in true[: len(true) - (len(true) > 6)]:
        off = draw.uniform(-0.1, 0.1, 4) * (x2 - x1, y2 - y1, x2 - x1, y2 - y1)
        box = np.clip(np.array([x1, y1, x2, y2]) + off, 0, 1000).round().astype(int)
        said.append((box.tolist(), "rust"))
    return said


# --- what a reply is worth ---------------------------------------------------------------------


def grade(asked: Rollout) -> Grade:
    """(F1, region, name, nothing said) of a reply, by loops and a raster of single units."""
    reading = read_boxes(asked.text, asked.space, asked.finish)
    if not asked.boxes:
        return 0.0, 0.0, 0.0, float(reading.outcome == "empty")
    said = [tuple(min(1000.0, max(0.0, part)) for part in box) for box in reading.boxes]
    named = [(b, n) for b, n in zip(said, reading.labels, strict=True) if any(map(str.isalnum, n))]
    large = [n for b, n in named if reference.area(b) >= 1e3]
    name = max(large, key=lambda each: (large.count(each), -large.index(each)), default="")
    f1 = 2 * reference.hits(said, asked.boxes) / (len(said) + len(asked.boxes))
    a, b = painted(said), painted(asked.boxes)
    right = name == "rust"
    return f1, float((a & b).sum() / max(1, (a | b).sum())), float(right), 0.0


def painted(boxes: Sequence[Sequence[float]]) -> np.ndarray:
    field = np.zeros((1000, 1000), dtype=np.bool_)
    for x1, y1, x2, y2 in boxes:
        field[int(y1) : int(y2), int(x1) : int(x2)] = True
    return field


def dominated(grade: Grade, honest: Grade) -> bool:
    pairs = list(zip(grade, honest, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


# --- moves -------------------------------------------------------------------------------------


def some_box(draw: Rng) -> list[int]:
    x, y = draw.integers(0, 960, 2).tolist()
    wide, high = draw.choice((1, 8, 20, 32, 100, 400), 2).tolist()
    return [x, y, min(1000, x + wide), min(1000, y + high)]


def grid(draw: Rng, _: list[int]) -> list[list[int]]:
    step = int(draw.choice((125, 200, 250, 500)))
    return [[x, y, x + step, y + step] for x in range(0, 1000, step) for y in range(0, 1000, step)]


def split(draw: Rng, box: list[int]) -> list[list[int]]:
    """Side by side, or with the larger part still a hit."""
    x1, y1, x2, y2 = box
    at = x1 + int((x2 - x1) * draw.choice((0.25, 0.45, 0.5, 0.6)))
    return [[x1, y1, at, y2], [at, y1, x2, y2]]


def jittered(draw: Rng, box: list[int]) -> list[list[int]]:
    """Copies that are just too far off to find anything, or just not."""
    x1, y1, x2, y2 = box
    by = int((x2 - x1) * draw.choice((0.02, 0.3, 0.34, 0.4, 0.5)))
    return [box, *([x1 + way * by, y1, x2 + way * by, y2] for way in (-1, 1))]


def resized(draw: Rng, box: list[int]) -> list[list[int]]:
    x1, y1, x2, y2 = box
    by = int(draw.integers(-120, 120))
    return [[max(0, x1 + by), max(0, y1 + by), min(1000, x2 - by), min(1000, y2 - by)]]


def specks(draw: Rng, box: list[int]) -> list[list[int]]:
    """Just under 0.001 of the photo, within the box, beside it."""
    x, y, side = box[0], box[1], int(draw.choice((1, 20, 31)))
    return [box, *([x + n * side, y, x + n * side + side, y + side] for n in range(3))]


def shaken(draw: Rng, box: list[int]) -> list[list[int]]:
    """Copies that are all but the same."""
    off = draw.integers(-4, 5, (int(draw.choice((1, 3, 20))), 4))
    return [box, *np.clip(np.array(box) + off, 0, 1000).tolist()]


def within(draw: Rng, box: list[int]) -> list[list[int]]:
    """One in the other, with half of its area, or a little more or less."""
    x1, y1, x2, y2 = box
    by = draw.choice((0.1, 0.146, 0.147, 0.2)) * np.array([x2 - x1, y2 - y1])
    return [box, [x1 + int(by[0]), y1 + int(by[1]), x2 - int(by[0]), y2 - int(by[1])]]


def dust(draw: Rng, box: list[int]) -> list[list[int]]:
    """Many that are no specks, hardly: over the photo, or over a box."""
    side, over = int(draw.choice((32, 40))), np.clip([WHOLE, box], 0, 1000)
    x1, y1, x2, y2 = draw.choice(over).tolist()
    step = max(side, int(draw.choice((side, 2 * side, (x2 - x1) // 7))))
    corners = [(x, y) for x in range(x1, x2 - side, step) for y in range(y1, y2 - side, step)]
    return [[x, y, x + side, y + side] for x, y in corners]


def sliver(_: Rng, box: list[int]) -> list[list[int]]:
    """As large as a box must be, and as thin as can be."""
    return [box, [0, box[1], 1000, box[1] + 1]]


MOVES: tuple[Callable[[Rng, list[int]], list[list[int]]], ...] = (
    grid, split, jittered, resized, specks, sliver, shaken, within, dust,
    lambda _, __: [],
    lambda _, box: [box, box],
    lambda _, box: [box] * 6,
    lambda draw, box: [box, some_box(draw)],
    lambda _, box: [box, WHOLE],
    lambda _, __: [WHOLE],
    lambda _, box: [[*box[:2], 10**9, 10**9]],
    lambda _, box: [[box[2], box[3], box[0], box[1]]],
    lambda _, box: [[-5, -5, box[2], box[3]]],
    lambda _, box: [box, [1001, 0, 1200, 90], [0, -90, 90, -1]],
)  # fmt: skip


def changed(said: Said, form: str, draw: Rng) -> tuple[Said, str]:
    """A reply with one thing done to it: a box, all boxes, names, or what stands around."""
    way, name = int(draw.integers(10)), str(draw.choice(NAMES))
    if way == 0:
        return said, str(draw.choice(list(FORMS)))
    if way == 1:
        return [(box, name) for box, _ in said], form
    if way == 2:  # a name for everybody
        return [(box, FOUR[n % 4]) for n, (box, _) in enumerate(said)], form
    if not said or way == 3:
        return [*said, (some_box(draw), name)], form
    at = int(draw.integers(len(said)))
    box, old = said[at]
    if way == 4:
        return [*said[:at], (box, name), *said[at + 1 :]], form
    move = MOVES[int(draw.integers(len(MOVES)))]
    put = [(each, str(draw.choice((old, name)))) for each in move(draw, box)]
    return [*said[:at], *put, *said[at + 1 :]][:MOST], form


def start(draw: Rng) -> tuple[Said, str]:
    """One box on everything, a grid, many boxes, one, none."""
    name = str(draw.choice(NAMES))
    ways: tuple[list[list[int]], ...] = (
        [WHOLE], grid(draw, WHOLE), [some_box(draw) for _ in range(int(draw.integers(2, 30)))],
        [some_box(draw)], [],
    )  # fmt: skip
    return [(box, name) for box in ways[int(draw.integers(len(ways)))]], "plain"


# --- the search --------------------------------------------------------------------------------


def written(said: Said, form: str = "plain") -> str:
    return FORMS[form](json.dumps([{"bbox_2d": box, "label": name} for box, name in said]))


def search(reward: Reward, scene: Scene, seed: str) -> tuple[int, list[Hack]]:
    """How many replies were tried on a photo, and the hacks among them."""
    honest = scene.ask(written(scene.honest))
    best, right, draw = one(reward, honest).reward, grade(honest), rng(0, "hack search", seed)
    climbers = [(scene.honest, "plain"), *(start(draw) for _ in range(CLIMBERS - 1))]
    found, tried = list[Hack](), 0
    for climber in climbers:
        at = climber
        for _ in range(STEPS):
            near_by = [(scene.honest, "plain")] * 3 + [at] * BREED
            tries = [at, *(changed(*each, draw) for each in near_by)]
            rows = [scene.ask(written(*each)) for each in tries]
            earned = [each.reward for each in pay(reward, rows)]
            worse = [dominated(grade(row), right) for row in rows]
            found += [
                Hack(scene.name, a, best, row.text)
                for row, a, bad in zip(rows, earned, worse, strict=True)
                if bad and a >= best
            ]
            tried += len(rows)
            # Upwards, among replies that are no better than the honest one.
            level = [a if bad else -1.0 for a, bad in zip(earned, worse, strict=True)]
            at = tries[int(np.argmax(level))] if max(level) >= 0 else tries[-1]
    return tried, found


def report(name: str, reward: Reward, rounds: int) -> tuple[int, dict[str, list[Hack]]]:
    """How many replies were tried; what was found of each kind of photo, the dearest first."""
    found, tried = dict[str, list[Hack]](), 0
    for number, scene in enumerate(scenes(rounds)):
        count, hacks = search(reward, scene, str(number))
        tried += count
        found.setdefault(scene.name, []).extend(hacks)
    for kind, hacks in found.items():
        hacks.sort(key=lambda each: each.honest - each.earned)
        sys.stdout.write(f"{name}, {kind}: {len(hacks)} hacks\n")
        for hack in hacks[:1]:
            told = f"{hack.earned:.3f} where an honest reply earns {hack.honest:.3f}"
            sys.stdout.write(f"    {told}: {hack.text[:120]}\n")
    return tried, found


if __name__ == "__main__":
    for room in (published, grounded):
        report(room.__name__, room.REWARD, 2)
