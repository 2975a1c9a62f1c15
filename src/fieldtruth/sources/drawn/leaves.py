"""Leaves: the outlines, veins and greens of seven crops.

A leaf is polygons and polylines in leaf units: the leaf points along +x, is about one unit long
and lies around the origin. Every crop has shapes for training and one or more that are held out
for the test split; so have the greens.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]  # (n, 2), x then y
Colour = tuple[float, float, float]  # RGB, 0 to 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Blade:
    """One flat part of a leaf: its edge, the half that lies in the light, and its veins."""

    outline: Points
    half: Points
    veins: tuple[tuple[Points, float], ...]  # polyline and width in leaf units


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """Blades and the stalk that carries them, all in leaf units."""

    blades: tuple[Blade, ...]
    stalk: Points
    stalk_width: float
    stretch: float  # how much longer than wide a lesion grows, along the leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One outline of a crop, and whether it is kept for the test split."""

    crop: str
    name: str
    held_out: bool
    grow: Callable[[np.random.Generator], Leaf]


@dataclass(frozen=True, slots=True, kw_only=True)
class Green:
    """The colours of one leaf surface."""

    name: str
    blade: Colour
    vein: Colour
    tint: Colour  # what the blade leans to in patches
    held_out: bool = False


GREENS = (
    Green(name="grass", blade=(72, 122, 48), vein=(142, 172, 96), tint=(98, 142, 50)),
    Green(name="deep", blade=(44, 92, 42), vein=(106, 146, 82), tint=(58, 108, 44)),
    Green(name="spring", blade=(108, 150, 58), vein=(172, 192, 112), tint=(134, 166, 62)),
    Green(name="olive", blade=(88, 108, 50), vein=(148, 160, 98), tint=(112, 122, 54)),
    Green(name="fresh", blade=(62, 130, 62), vein=(136, 182, 112), tint=(84, 146, 58)),
    Green(
        name="bluish", blade=(58, 106, 76), vein=(134, 166, 132), tint=(72, 120, 74), held_out=True
    ),
    Green(name="forest", blade=(36, 78, 34), vein=(110, 138, 72), tint=(54, 92, 34), held_out=True),
    Green(
        name="lime", blade=(126, 162, 52), vein=(188, 202, 112), tint=(150, 172, 58), held_out=True
    ),
)


def _blade(left: Points, right: Points, veins: list[tuple[Points, float]]) -> Blade:
    """`left` and `right` run from base to tip; the midrib runs from the origin to the tip."""
    return Blade(
        outline=np.concatenate([left, right[::-1]]),
        half=np.concatenate([left, np.zeros((1, 2))]),
        veins=tuple(veins),
    )


def _profile(steps: Points, fat: tuple[float, float]) -> Points:
    """Half width along the midrib, 1 at its widest; `fat` rules how fast base and tip narrow."""
    low, high = fat
    peak = low / (low + high)
    top = peak**low * (1 - peak) ** high
    return np.asarray(steps**low * (1 - steps) ** high / top)


def _pinnate(
    rng: np.random.Generator,
    half_width: float,
    fat: tuple[float, float],
    teeth: tuple[int, float] = (0, 0.0),
    pairs: int = 7,
) -> Blade:
    """A blade of one midrib from (0, 0) to (1, 0) with side veins; `teeth` is (count, depth)."""
    count, depth = teeth
    t = np.linspace(0, 1, 121)
    width = half_width * _profile(t, fat)
    saw = (t * count) % 1.0 if count else np.zeros_like(t)
    phase = rng.uniform(0, 2 * np.pi, 2)
    sides = []
    for sign, shift in zip((1, -1), phase, strict=True):
        wavy = 1 + 0.025 * np.sin(9 * t + shift) + 0.02 * np.sin(23 * t + 2 * shift)
        edge = width * wavy * (1 - depth * saw)
        sides.append(np.stack([t + 0.4 * depth * width * saw, sign * edge], axis=1))
    veins = [(np.array([[0.0, 0.0], [0.97, 0.0]]), 0.014)]
    for i in range(pairs):
        start = 0.05 + 0.78 * (i + rng.uniform(-0.12, 0.12)) / pairs
        reach = np.linspace(0, 1, 8)
        run = np.minimum(start + (0.10 + 0.35 * half_width) * (1.1 - start) * reach**1.25, 0.97)
        for sign in (1, -1):
            edge = np.interp(run, t, width)
            end = 0.94 * edge[-1]
            veins.append((np.stack([run, sign * end * reach**0.9], axis=1), 0.0065))
    return _blade(sides[0], sides[1], veins)


def _parallel(rng: np.random.Generator, half_width: float, fat: tuple[float, float]) -> Blade:
    """A grass blade: a pale midrib and veins that run its whole length."""
    t = np.linspace(0, 1, 90)
    width = half_width * _profile(t, fat) * (1 + 0.03 * np.sin(14 * t + rng.uniform(0, 6)))
    sides = [np.stack([t, sign * width], axis=1) for sign in (1, -1)]
    veins = [(np.array([[0.0, 0.0], [0.98, 0.0]]), half_width * 0.16)]
    for share in np.linspace(-0.88, 0.88, 12):
        veins.append((np.stack([t[2:-2], share * width[2:-2]], axis=1), 0.0022))
    return _blade(sides[0], sides[1], veins)


def _palmate(
    rng: np.random.Generator,
    lobes: tuple[tuple[float, float], ...],
    cut: float,
    teeth: tuple[int, float],
) -> Blade:
    """A blade whose main veins leave one point; `lobes` are (degrees, length), `cut` their depth.

    `lobes` lists one side, the first being the tip; the other side mirrors it.
    """
    count, depth = teeth
    sides = []
    for sign in (1, -1):
        angle = np.linspace(np.radians(172), 0, 160)
        radius = np.full_like(angle, 0.0)
        for degrees, length in lobes:
            away = np.abs(angle - np.radians(degrees)) / np.radians(38)
            radius = np.maximum(radius, length * (1 - cut * np.minimum(away, 1.6) ** 1.5))
        radius *= 1 - depth * ((angle * count / np.pi) % 1.0)
        radius *= 1 + 0.02 * np.sin(11 * angle + rng.uniform(0, 6))
        sides.append(np.stack([radius * np.cos(angle), sign * radius * np.sin(angle)], axis=1))
    veins: list[tuple[Points, float]] = []
    for degrees, length in lobes:
        for sign in (1,) if degrees == 0 else (1, -1):
            veins += _lobe_veins(np.radians(degrees) * sign, 0.93 * length)
    return _blade(sides[0], sides[1], veins)


def _lobe_veins(angle: float, length: float) -> list[tuple[Points, float]]:
    ahead = np.array([np.cos(angle), np.sin(angle)])
    aside = np.array([-ahead[1], ahead[0]])
    veins = [(np.stack([0 * ahead, length * ahead]), 0.012)]
    for share in (0.32, 0.5, 0.68, 0.84):
        for sign in (1, -1):
            start = share * length * ahead
            reach = 0.26 * length * (1.15 - share)
            veins.append((np.stack([start, start + reach * (ahead + sign * aside)]), 0.005))
    return veins


def _moved(blade: Blade, length: float, angle: float, base: tuple[float, float]) -> Blade:
    turn = length * np.array(
        [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]], dtype=np.float64
    )
    return Blade(
        outline=blade.outline @ turn + base,
        half=blade.half @ turn + base,
        veins=tuple((line @ turn + base, width * length) for line, width in blade.veins),
    )


def _single(blade: Blade, base: float = -0.5, stretch: float = 1.0) -> Leaf:
    return Leaf(
        blades=(_moved(blade, 1.0, 0.0, (base, 0.0)),),
        stalk=np.array([[base - 0.22, 0.02], [base, 0.0]]),
        stalk_width=0.022,
        stretch=stretch,
    )


def _feather(rng: np.random.Generator, make: Callable[[], Blade], pairs: int) -> Leaf:
    """A compound leaf: an end leaflet and pairs along the stalk, smaller towards the base."""
    blades = [_moved(make(), 0.46, rng.uniform(-0.08, 0.08), (0.10, 0.0))]
    for i in range(pairs):
        at = 0.10 - 0.27 * i - (0.06 if i else 0.0)
        for sign in (1, -1):
            angle = sign * (1.0 + 0.12 * i + rng.uniform(-0.08, 0.08))
            base = (at + rng.uniform(-0.02, 0.02), 0.015 * sign)
            blades.append(_moved(make(), 0.38 - 0.03 * i + rng.uniform(-0.02, 0.02), angle, base))
    return Leaf(
        blades=tuple(blades[::-1]),
        stalk=np.array([[-0.52, 0.015], [-0.2, 0.0], [0.12, 0.0]]),
        stalk_width=0.020,
        stretch=1.0,
    )


def _apple(rng: np.random.Generator) -> Leaf:
    return _single(_pinnate(rng, rng.uniform(0.27, 0.33), (0.50, 0.72), (34, 0.07), 8))


def _apple_held_out(rng: np.random.Generator) -> Leaf:
    return _single(_pinnate(rng, rng.uniform(0.21, 0.25), (0.72, 0.56), (26, 0.10), 6))


def _peach(rng: np.random.Generator) -> Leaf:
    blade = _pinnate(rng, rng.uniform(0.12, 0.15), (0.58, 0.84), (44, 0.05), 12)
    return _single(blade, stretch=1.2)


def _peach_held_out(rng: np.random.Generator) -> Leaf:
    blade = _pinnate(rng, rng.uniform(0.16, 0.18), (0.44, 1.15), (36, 0.08), 10)
    return _single(blade, stretch=1.2)


def _maize(rng: np.random.Generator) -> Leaf:
    return _single(_parallel(rng, rng.uniform(0.085, 0.105), (0.16, 0.42)), stretch=2.3)


def _maize_held_out(rng: np.random.Generator) -> Leaf:
    return _single(_parallel(rng, rng.uniform(0.062, 0.075), (0.10, 0.60)), stretch=2.3)


def _bean(rng: np.random.Generator) -> Leaf:
    return _single(_pinnate(rng, rng.uniform(0.36, 0.41), (0.34, 0.80), (0, 0.0), 6))


def _bean_held_out(rng: np.random.Generator) -> Leaf:
    def leaflet() -> Blade:
        return _pinnate(rng, rng.uniform(0.34, 0.38), (0.36, 0.78), (0, 0.0), 5)

    side = rng.uniform(1.15, 1.3)
    blades = (
        _moved(leaflet(), 0.50, side, (-0.06, 0.02)),
        _moved(leaflet(), 0.50, -side, (-0.06, -0.02)),
        _moved(leaflet(), 0.58, 0.0, (0.02, 0.0)),
    )
    stalk = np.array([[-0.42, 0.02], [0.02, 0.0]])
    return Leaf(blades=blades, stalk=stalk, stalk_width=0.018, stretch=1.0)


def _tomato(rng: np.random.Generator) -> Leaf:
    return _feather(rng, lambda: _pinnate(rng, 0.27, (0.50, 0.74), (6, 0.30), 5), 2)


def _tomato_held_out(rng: np.random.Generator) -> Leaf:
    return _feather(rng, lambda: _pinnate(rng, 0.33, (0.42, 0.70), (4, 0.20), 5), 2)


def _grape(rng: np.random.Generator) -> Leaf:
    lobes = ((0.0, 0.62), (52.0, 0.56), (108.0, 0.44))
    return _single(_palmate(rng, lobes, rng.uniform(0.30, 0.38), (30, 0.09)), -0.18)


def _grape_held_out(rng: np.random.Generator) -> Leaf:
    lobes = ((0.0, 0.66), (48.0, 0.60), (100.0, 0.46))
    return _single(_palmate(rng, lobes, rng.uniform(0.46, 0.54), (22, 0.13)), -0.18)


def _cucumber(rng: np.random.Generator) -> Leaf:
    lobes = ((0.0, 0.58), (58.0, 0.50), (120.0, 0.46))
    return _single(_palmate(rng, lobes, rng.uniform(0.12, 0.17), (26, 0.04)), -0.12)


def _cucumber_held_out(rng: np.random.Generator) -> Leaf:
    lobes = ((0.0, 0.64), (66.0, 0.46), (128.0, 0.40))
    return _single(_palmate(rng, lobes, rng.uniform(0.20, 0.25), (18, 0.06)), -0.12)


SHAPES = (
    Shape(crop="apple", name="ovate", held_out=False, grow=_apple),
    Shape(crop="apple", name="obovate", held_out=True, grow=_apple_held_out),
    Shape(crop="bean", name="broad ovate", held_out=False, grow=_bean),
    Shape(crop="bean", name="trifoliate", held_out=True, grow=_bean_held_out),
    Shape(crop="cucumber", name="shallow lobes", held_out=False, grow=_cucumber),
    Shape(crop="cucumber", name="long middle lobe", held_out=True, grow=_cucumber_held_out),
    Shape(crop="grape", name="palmate", held_out=False, grow=_grape),
    Shape(crop="grape", name="deeply cut", held_out=True, grow=_grape_held_out),
    Shape(crop="maize", name="blade", held_out=False, grow=_maize),
    Shape(crop="maize", name="narrow blade", held_out=True, grow=_maize_held_out),
    Shape(crop="peach", name="lanceolate", held_out=False, grow=_peach),
    Shape(crop="peach", name="long-tipped", held_out=True, grow=_peach_held_out),
    Shape(crop="tomato", name="pinnate", held_out=False, grow=_tomato),
    Shape(crop="tomato", name="broad leaflets", held_out=True, grow=_tomato_held_out),
)
