"""Symptoms: eight styles, each painted on a patch of its own whose mask is the truth.

A painter gets a place and returns opacity and colour.
Opacity under `FAINT` is cut to nothing, so that what is painted and what is boxed are the same
pixels: the box is read from the mask, never from what was planned.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from fieldtruth.records import Kind
from fieldtruth.sources.drawn.leaves import Colour

Plane = NDArray[np.float32]  # (height, width)
Floats = NDArray[np.floating[Any]]
FAINT = 0.25

Stops = tuple[tuple[float, Colour], ...]  # distance from the middle, 1 at the edge, to colour


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A painted symptom: opacity (h, w), 0 or at least `FAINT`, and RGB (h, w, 3), 0 to 255.

    The patch is square with an odd side; its middle pixel lies where the symptom was planted.
    """

    opacity: Plane
    colour: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a symptom grows: radius in pixels, the leaf's direction in radians and its stretch."""

    radius: float
    angle: float
    stretch: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How one named thing looks: who paints it, how large against the leaf, and how many."""

    label: str
    kind: Kind
    radius: tuple[float, float]  # against the square root of the leaf's area
    count: tuple[int, int]  # on one leaf, both ends possible
    paint: Callable[[Place, np.random.Generator], Patch]
    at_edge: bool = False  # begins at the leaf's margin
    engulfs: bool = False  # may take a whole leaf


def _smooth_noise(rng: np.random.Generator, side: int, grain: float) -> Plane:
    """Noise (side, side) of mean 0 and spread about 1 whose blots are `grain` pixels wide."""
    cells = max(2, round(side / grain) + 1)
    small = Image.fromarray(rng.standard_normal((cells, cells), dtype=np.float32))
    return np.asarray(small.resize((side, side), Image.Resampling.BICUBIC))


def _distance(place: Place, rng: np.random.Generator, ragged: float, longer: float = 1.0) -> Plane:
    """Distance from the middle of an uneven blot, 1 at its edge; (s, s) with s odd.

    `longer` is the power of the leaf's stretch that this symptom follows.
    """
    radius, angle, stretch = place.radius, place.angle, place.stretch**longer
    reach = int(np.ceil(radius * stretch * (1.25 + 2 * ragged))) + 2
    line = np.arange(-reach, reach + 1, dtype=np.float32)
    shift_x, shift_y = rng.uniform(-0.5, 0.5, 2).astype(np.float32)
    x, y = line[None, :] - shift_x, line[:, None] - shift_y
    along = (x * np.float32(np.cos(angle)) + y * np.float32(np.sin(angle))) / np.float32(stretch)
    across = y * np.float32(np.cos(angle)) - x * np.float32(np.sin(angle))
    turn = np.arctan2(across, along)
    edge = np.ones_like(turn)
    for waves in (2, 3, 5, 8):
        size, phase = ragged * rng.normal() / waves**0.6, rng.uniform(0, 2 * np.pi)
        edge += np.float32(size) * np.cos(waves * turn + np.float32(phase))
    return np.asarray(np.hypot(along, across) / (np.float32(radius) * np.maximum(edge, 0.35)))


def _colours(distance: Plane, stops: Stops) -> NDArray[np.float32]:
    places = [stop for stop, _ in stops]
    parts = [np.interp(distance, places, [colour[i] for _, colour in stops]) for i in range(3)]
    return np.stack(parts, axis=-1).astype(np.float32)


def _patch(opacity: Floats, colour: Floats) -> Patch:
    return Patch(
        opacity=np.where(opacity < FAINT, 0, opacity).astype(np.float32),
        colour=np.clip(colour, 0, 255).astype(np.float32),
    )


def _edge(distance: Plane, radius: float, soft: float) -> Plane:
    """1 inside, 0 outside, over `soft` pixels."""
    return np.asarray(np.clip((1 - distance) * np.float32(radius / soft) + 0.5, 0, 1))


def _grain(rng: np.random.Generator, shape: tuple[int, ...], size: float) -> Plane:
    return 1 + np.float32(size) * rng.standard_normal(shape, dtype=np.float32)


def _rust(place: Place, rng: np.random.Generator) -> Patch:
    """Raised orange-brown pustules, the leaf yellow around them."""
    d = _distance(place, rng, 0.10, 0.7)
    stops = (
        (0.0, (112, 46, 12)),
        (0.40, (186, 88, 22)),
        (0.68, (204, 118, 34)),
        (0.80, (204, 172, 66)),
        (1.0, (190, 186, 84)),
    )
    colour = _colours(d, stops) * _grain(rng, d.shape, 0.07)[..., None]
    return _patch(_edge(d, place.radius, 1.2) * np.where(d < 0.74, 0.97, 0.62), colour)


def _mildew(place: Place, rng: np.random.Generator) -> Patch:
    """White, floury growth that thins out to its edge."""
    d = _distance(place, rng, 0.16, 0.0)
    side = d.shape[0]
    floury = 0.72 + 0.13 * _smooth_noise(rng, side, 5) + 0.07 * _smooth_noise(rng, side, 2)
    opacity = np.clip(1.35 * (1 - d), 0, 1) ** 0.55 * np.clip(floury, 0.35, 0.95)
    white = np.array([231, 233, 225], np.float32) * _grain(rng, d.shape, 0.03)[..., None]
    return _patch(opacity, white)


def _bacterial(place: Place, rng: np.random.Generator) -> Patch:
    """Small, dark, water-soaked spots, each in a yellow halo."""
    d = _distance(place, rng, 0.12, 0.5)
    stops = (
        (0.0, (58, 40, 26)),
        (0.30, (40, 28, 20)),
        (0.52, (66, 48, 24)),
        (0.66, (196, 186, 62)),
        (1.0, (186, 190, 84)),
    )
    opacity = _edge(d, place.radius, 1.5) * np.interp(d, [0.5, 0.7, 1.0], [0.96, 0.66, 0.40])
    return _patch(opacity, _colours(d, stops) * _grain(rng, d.shape, 0.06)[..., None])


def _angular(place: Place, rng: np.random.Generator) -> Patch:
    """Brown flecks with straight sides: veins stop them."""
    radius, angle = place.radius, place.angle
    reach = int(np.ceil(1.5 * radius)) + 2
    line = np.arange(-reach, reach + 1, dtype=np.float32)
    x, y = line[None, :], line[:, None]
    d = np.zeros((line.size, line.size), np.float32)
    sides = int(rng.integers(4, 7))
    for i in range(sides):
        turn = angle + 2 * np.pi * (i + rng.uniform(-0.22, 0.22)) / sides
        side = radius * rng.uniform(0.62, 1.05)
        d = np.maximum(d, (x * np.float32(np.cos(turn)) + y * np.float32(np.sin(turn))) / side)
    stops = (
        (0.0, (158, 128, 88)),
        (0.62, (132, 98, 60)),
        (0.86, (84, 56, 32)),
        (1.0, (96, 74, 40)),
        (1.08, (166, 164, 78)),
    )
    mottled = 1 + 0.07 * _smooth_noise(rng, d.shape[0], 4)
    colour = _colours(d, stops) * (mottled * _grain(rng, d.shape, 0.04))[..., None]
    return _patch(_edge(d * 0.93, place.radius, 1.2) * 0.96, colour)


def _target(place: Place, rng: np.random.Generator) -> Patch:
    """Brown spots with rings inside rings."""
    d = _distance(place, rng, 0.06, 0.6)
    stops = (
        (0.0, (122, 92, 62)),
        (0.5, (150, 114, 74)),
        (0.74, (104, 72, 44)),
        (0.82, (80, 52, 32)),
        (0.90, (176, 166, 78)),
        (1.0, (170, 176, 86)),
    )
    rings = max(2.5, min(6.0, place.radius / 4.5))
    waves = 1 + 0.17 * np.cos(2 * np.pi * rings * d + rng.uniform(0, 1)) * (d < 0.84)
    colour = _colours(d, stops) * (waves * _grain(rng, d.shape, 0.05))[..., None]
    return _patch(_edge(d, place.radius, 1.4) * np.where(d < 0.86, 0.95, 0.55), colour)


BLIGHT: Stops = (
    (0.0, (96, 72, 48)),
    (0.45, (78, 58, 38)),
    (0.78, (94, 74, 42)),
    (0.90, (118, 118, 60)),
    (1.0, (150, 160, 88)),
)
SCORCH: Stops = (
    (0.0, (196, 164, 112)),
    (0.62, (182, 142, 88)),
    (0.78, (140, 92, 52)),
    (0.86, (104, 62, 36)),
    (0.92, (190, 172, 72)),
    (1.0, (176, 180, 82)),
)
MILDEW: Stops = ((0.0, (232, 234, 226)), (1.0, (214, 220, 206)))


def _blight(place: Place, rng: np.random.Generator) -> Patch:
    """Large, dead, irregular areas with a soaked, paler rim."""
    d = _distance(place, rng, 0.20)
    d = d + 0.05 * _smooth_noise(rng, d.shape[0], max(4.0, place.radius / 5))
    mottled = 1 + 0.10 * _smooth_noise(rng, d.shape[0], 7)
    colour = _colours(d, BLIGHT) * (mottled * _grain(rng, d.shape, 0.05))[..., None]
    return _patch(_edge(d, place.radius, 2.5) * np.where(d < 0.85, 0.95, 0.75), colour)


def _scorch(place: Place, rng: np.random.Generator) -> Patch:
    """Straw-coloured, dry tissue from the margin inwards, with a brown front."""
    d = _distance(place, rng, 0.16, 0.0)
    d = d + 0.04 * _smooth_noise(rng, d.shape[0], max(3.0, place.radius / 7))
    mottled = 1 + 0.06 * _smooth_noise(rng, d.shape[0], 5)
    colour = _colours(d, SCORCH) * (mottled * _grain(rng, d.shape, 0.04))[..., None]
    return _patch(_edge(d, place.radius, 1.6) * np.where(d < 0.90, 0.96, 0.55), colour)


def _miner(place: Place, rng: np.random.Generator) -> Patch:
    """A pale winding mine that widens as the larva grows, with its dark frass inside."""
    steps = int(rng.integers(26, 44))
    bends = np.cumsum(rng.normal(0, 0.33, steps)) + 0.9 * np.sin(np.arange(steps) / 3.2)
    heading = rng.uniform(0, 2 * np.pi) + bends
    walk = np.cumsum(np.stack([np.cos(heading), np.sin(heading)], axis=1), axis=0)
    walk -= (walk.min(axis=0) + walk.max(axis=0)) / 2
    radius = place.radius
    walk *= radius / np.abs(walk).max()
    reach = int(np.ceil(radius)) + 6
    zoom = 2  # painted at twice the size, so that the edge is soft
    canvas = Image.new("L", (zoom * (2 * reach + 1),) * 2)
    frass = canvas.copy()
    points = [((x + reach + 0.5) * zoom, (y + reach + 0.5) * zoom) for x, y in walk]
    widest = float(np.clip(radius / 6, 2.4, 6.5))
    for i, (start, end) in enumerate(pairwise(points)):
        wide = zoom * (1.4 + (widest - 1.4) * i / steps)
        _stroke(canvas, start, end, wide)
        if i % 3 != 2:
            _stroke(frass, start, end, 0.3 * wide)
    opacity = np.asarray(canvas.reduce(zoom), dtype=np.float32) / 255
    dark = np.asarray(frass.reduce(zoom), dtype=np.float32)[..., None] / 255
    pale = np.array([206, 208, 164], np.float32) * _grain(rng, opacity.shape, 0.05)[..., None]
    brown = np.array([104, 92, 58], np.float32)
    return _patch(0.92 * opacity, pale + (brown - pale) * 0.75 * dark)


def _stroke(
    canvas: Image.Image, start: tuple[float, float], end: tuple[float, float], wide: float
) -> None:
    pen = ImageDraw.Draw(canvas)
    pen.line([start, end], fill=255, width=max(1, round(wide)))
    round_end = wide / 2
    x, y = end
    pen.ellipse([x - round_end, y - round_end, x + round_end, y + round_end], fill=255)


STYLES: dict[str, Style] = {
    style.label: style
    for style in (
        Style(label="rust", kind="disease", radius=(0.013, 0.034), count=(4, 15), paint=_rust),
        Style(
            label="powdery mildew",
            kind="disease",
            radius=(0.045, 0.15),
            count=(1, 7),
            paint=_mildew,
            engulfs=True,
        ),
        Style(
            label="bacterial spot",
            kind="disease",
            radius=(0.018, 0.042),
            count=(3, 15),
            paint=_bacterial,
        ),
        Style(
            label="angular leaf spot",
            kind="disease",
            radius=(0.028, 0.075),
            count=(2, 12),
            paint=_angular,
        ),
        Style(
            label="target spot", kind="disease", radius=(0.03, 0.11), count=(1, 8), paint=_target
        ),
        Style(
            label="blight",
            kind="disease",
            radius=(0.09, 0.27),
            count=(1, 3),
            paint=_blight,
            engulfs=True,
        ),
        Style(label="leaf miner", kind="pest", radius=(0.10, 0.24), count=(1, 4), paint=_miner),
        Style(
            label="leaf scorch",
            kind="stress",
            radius=(0.10, 0.24),
            count=(1, 3),
            paint=_scorch,
            at_edge=True,
            engulfs=True,
        ),
    )
}
WHOLE: dict[str, Stops] = {"blight": BLIGHT, "powdery mildew": MILDEW, "leaf scorch": SCORCH}

# What each crop can have: at least five, so that a list of four rivals always leaves one that is
# certainly absent.
SUFFERS: dict[str, tuple[str, ...]] = {
    "apple": ("blight", "leaf miner", "leaf scorch", "powdery mildew", "rust"),
    "bean": (
        "angular leaf spot",
        "blight",
        "leaf miner",
        "leaf scorch",
        "powdery mildew",
        "rust",
    ),
    "cucumber": (
        "angular leaf spot",
        "blight",
        "leaf miner",
        "leaf scorch",
        "powdery mildew",
        "target spot",
    ),
    "grape": ("blight", "leaf miner", "leaf scorch", "powdery mildew", "rust"),
    "maize": ("bacterial spot", "blight", "leaf miner", "leaf scorch", "rust"),
    "peach": ("bacterial spot", "leaf miner", "leaf scorch", "powdery mildew", "rust"),
    "tomato": (
        "bacterial spot",
        "blight",
        "leaf miner",
        "leaf scorch",
        "powdery mildew",
        "target spot",
    ),
}
