"""What each photo will show: leaf, symptom, ground, size and pose, before anything is painted.

Everything about a leaf is drawn from (seed, its id), everything about a photo from (seed, the
photo's id), so more leaves change none of those that are there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from fieldtruth import draws
from fieldtruth.records import Split
from fieldtruth.sources.drawn.leaves import GREENS, SHAPES, Green, Leaf, Shape
from fieldtruth.sources.drawn.painting import Plan, Planned, Pose
from fieldtruth.sources.drawn.scene import GROUNDS, Size
from fieldtruth.sources.drawn.symptoms import STYLES, SUFFERS, Style

SIZES: tuple[Size, ...] = (
    (320, 320),
    (400, 320),
    (320, 400),
    (420, 420),
    (480, 360),
    (360, 480),
    (512, 384),
    (560, 420),
    (420, 560),
    (640, 480),
)
HEALTHY_SHARE = 0.3
WHOLE_SHARE = 0.35  # of the leaves whose symptom can take a whole leaf
SEVERAL_SHARE = 0.25  # of the other photos show more than one leaf
BOTH_SHARE = 0.4  # of the neighbours of a leaf with lesions have them too
TWICE_SHARE = 0.1  # of the leaves are in two photos
VAL_SHARE = 0.15  # of the leaves that are not held out
SMALLEST_SHARE = 25  # a photo of one size is so many times as wide as its smallest symptom
MOST = 15  # symptoms on a photo of one size

New = Literal["shapes", "palettes", "grounds"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How photos are to look, where it is not as ever.

    `size`: square photos of that side, for models that see little: no symptom under a 25th of it
    either way, at most 15 in all, and some photos out of focus. `new`: what the test split has of
    its own.
    """

    size: int | None = None
    new: tuple[New, ...] = ("shapes", "palettes", "grounds")


AS_EVER = Look()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One leaf as all its photos show it. `whole`: its symptom has taken all of it."""

    name: str
    seed: int
    split: Split
    shape: Shape
    green: Green
    style: Style | None
    whole: bool
    photos: tuple[str, ...]
    look: Look = AS_EVER

    def new(self, what: New) -> bool:
        """Whether this leaf has what training never sees."""
        return self.split == "test" and what in self.look.new


def case(number: int, seed: int, held_out_share: float, look: Look = AS_EVER) -> Case:
    """The leaf of that number."""
    name = f"leaf-{number:05d}"
    rng = draws.rng(seed, "drawn", name)
    test, val = rng.random() < held_out_share, rng.random() < VAL_SHARE
    crop = _pick(sorted(SUFFERS), rng)
    style = STYLES[_pick(SUFFERS[crop], rng)]
    healthy, whole = rng.random() < HEALTHY_SHARE, rng.random() < WHOLE_SHARE
    twice = rng.random() < TWICE_SHARE
    shapes, palettes = (test and what in look.new for what in ("shapes", "palettes"))
    return Case(
        name=name,
        seed=seed,
        split="test" if test else "val" if val else "train",
        shape=_pick([s for s in SHAPES if s.crop == crop and s.held_out == shapes], rng),
        green=_pick([g for g in GREENS if g.held_out == palettes], rng),
        style=None if healthy else style,
        whole=whole and style.engulfs and not healthy,
        photos=(name, f"{name}-again") if twice else (name,),
        look=look,
    )


def plan(leaf: Case, photo: str) -> Plan:
    """One of a leaf's photos: where it lies, on what, and which leaves of its plant lie near."""
    rng = draws.rng(leaf.seed, "drawn photo", photo)
    size, side = _pick(SIZES, rng), leaf.look.size
    ground = _pick([g for g in GROUNDS if g.held_out == leaf.new("grounds")], rng)
    if side is not None:
        size = (side, side)
    main = leaf.shape.grow(draws.rng(leaf.seed, "drawn growth", leaf.name))
    several = rng.random() < SEVERAL_SHARE or leaf.whole
    neighbours = int(rng.integers(1, 4 if leaf.whole else 3)) if several else 0
    fill = rng.uniform(0.52, 0.70) if several else rng.uniform(0.78, 1.04)
    spots = _middles(1 + neighbours, size, rng)
    leaves = []
    for i, spot in enumerate(spots[1:], start=1):
        grown = leaf.shape.grow(draws.rng(leaf.seed, "drawn growth", f"{photo}/{i}"))
        ill = leaf.style is not None and not leaf.whole and rng.random() < BOTH_SHARE
        leaves.append(
            Planned(
                key=f"{photo}/{i}",
                leaf=grown,
                green=leaf.green,
                pose=_pose(grown, spot, fill * rng.uniform(0.85, 1.05), size, rng),
                style=leaf.style if ill else None,
            )
        )
    own = Planned(
        key=leaf.name,
        leaf=main,
        green=leaf.green,
        pose=_pose(main, spots[0], fill, size, rng),
        style=leaf.style,
        whole=leaf.whole,
    )
    under = not leaf.whole and rng.random() < 0.3  # a whole ill leaf is never hidden
    leaves.insert(int(rng.integers(len(leaves) + 1)) if under else len(leaves), own)
    return Plan(
        key=photo, seed=leaf.seed, size=size, ground=ground, leaves=tuple(leaves),
        smallest=0.0 if side is None else side / SMALLEST_SHARE,
        most=None if side is None else MOST,
    )  # fmt: skip


def _middles(count: int, size: Size, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Where leaves lie: one near the middle, several around it, the first anywhere among them."""
    width, height = size
    if count == 1:
        x, y = rng.normal(0.5, 0.025, 2)
        return [(float(x) * width, float(y) * height)]
    start = rng.uniform(0, 2 * np.pi)
    turns = start + 2 * np.pi * np.arange(count) / count + rng.normal(0, 0.15, count)
    far = rng.uniform(0.22, 0.30, count)
    return [
        (float(width * (0.5 + f * np.cos(t))), float(height * (0.5 + f * np.sin(t))))
        for f, t in zip(far, turns, strict=True)
    ]


def _pose(
    leaf: Leaf, middle: tuple[float, float], fill: float, size: Size, rng: np.random.Generator
) -> Pose:
    """A pose in which the leaf spans `fill` of the photo, its tightest side counting."""
    angle, squeeze = rng.uniform(0, 2 * np.pi), rng.uniform(0.84, 1.0)
    bend = rng.normal(0, 0.16)
    trial = Pose(middle=(0.0, 0.0), size=1.0, angle=angle, squeeze=squeeze, bend=bend)
    edge = np.concatenate([trial(blade.outline) for blade in leaf.blades])
    low, high = edge.min(axis=0), edge.max(axis=0)
    scale = fill * float(np.min(np.array(size) / (high - low)))
    centre = np.array(middle) - scale * (low + high) / 2
    return Pose(
        middle=(float(centre[0]), float(centre[1])),
        size=scale,
        angle=angle,
        squeeze=squeeze,
        bend=bend,
    )


def _pick(choices: Sequence[T], rng: np.random.Generator) -> T:
    return choices[int(rng.integers(len(choices)))]
