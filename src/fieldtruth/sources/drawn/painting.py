"""One photo painted from its plan: ground, shadows, leaves back to front, symptoms, specks.

Which part of a leaf can be seen is settled before anything is painted, and a symptom is painted
on that part only. So its box is the extent of the pixels that it truly changed: clipped by its
leaf, by the leaves above it and by the photo's border. Where symptoms overlap each keeps its own.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from fieldtruth import draws
from fieldtruth.records import Box
from fieldtruth.sources.drawn import scene
from fieldtruth.sources.drawn.leaves import Green, Leaf, Points
from fieldtruth.sources.drawn.scene import Canvas, Ground, Size
from fieldtruth.sources.drawn.symptoms import WHOLE, Patch, Place, Plane, Style

ZOOM = 2  # leaves are rastered at twice the size, so that their edge is soft
SMALLEST = (4, 14)  # a symptom shows at least 4 pixels each way and 14 in all, or is not painted
MOST_HIDDEN = 0.55  # of a symptom under later ones
SEEN = 0.5  # opacity from which on a pixel belongs to the leaf

Surface = tuple[NDArray[np.bool_], Plane]  # a leaf's visible pixels, and how they catch the light


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """Leaf units to pixels: bend along the midrib, squeeze by tilt, turn, size, middle."""

    middle: tuple[float, float]
    size: float
    angle: float
    squeeze: float = 1.0
    bend: float = 0.0

    def __call__(self, points: Points) -> Points:
        x = points[:, 0]
        y = (points[:, 1] + self.bend * x * x) * self.squeeze
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.stack([c * x - s * y, s * x + c * y], axis=1) * self.size + self.middle


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A leaf in a photo. `key` names its draws, so that two photos of one leaf show one leaf."""

    key: str
    leaf: Leaf
    green: Green
    pose: Pose
    style: Style | None
    whole: bool = False  # the style has taken the whole leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A photo before it is painted; leaves from the lowest to the topmost."""

    key: str
    seed: int
    size: Size
    ground: Ground
    leaves: tuple[Planned, ...]
    smallest: float = 0.0  # pixels either way that a symptom shows at least, `SMALLEST` aside
    most: int | None = None  # symptoms


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A leaf on the photo's grid: all planes (height, width), 0 to 1."""

    solid: Plane
    half: Plane
    veins: Plane


def paint(plan: Plan) -> tuple[Canvas, tuple[Box, ...]]:
    """The canvas before the camera, and the truth: a box per symptom, or the whole leaf's."""
    canvas, marks, leafy = paint_leaves(plan)
    free = np.ones(leafy.shape, bool)
    for mark in marks:
        free &= ~mark
    _finish(canvas, free, leafy, draws.rng(plan.seed, "drawn finish", plan.key))
    return canvas, tuple(extent(mark) for mark in marks)


def paint_leaves(plan: Plan) -> tuple[Canvas, list[NDArray[np.bool_]], NDArray[np.bool_]]:
    """Ground and leaves; the mask (height, width) of each thing to be boxed, and of all leaves."""
    rng = draws.rng(plan.seed, "drawn scene", plan.key)
    canvas = plan.ground.paint(plan.size, rng).copy()
    shown = [_raster(planned, plan) for planned in plan.leaves]
    marks: list[NDArray[np.bool_]] = []
    leafy = np.zeros(canvas.shape[:2], bool)
    for i, planned in enumerate(plan.leaves):
        seen = shown[i].solid >= SEEN
        for later in shown[i + 1 :]:
            seen &= later.solid == 0
        leafy |= seen
        _cast(canvas, shown[i].solid, rng)
        light = _paint_leaf(canvas, planned, shown[i], plan)
        if planned.whole:
            _paint_whole(canvas, planned, seen, plan)
            marks.append(seen)
        elif planned.style is not None:
            room = None if plan.most is None else plan.most - len(marks)
            marks += _paint_symptoms(canvas, planned, (seen, light), plan, room)
    return canvas, marks, leafy


def extent(mark: NDArray[np.bool_]) -> Box:
    """The box of a mask's set pixels, far edge exclusive; the mask must have some."""
    columns, rows = np.flatnonzero(mark.any(axis=0)), np.flatnonzero(mark.any(axis=1))
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)


def _finish(
    canvas: Canvas, free: NDArray[np.bool_], leafy: NDArray[np.bool_], rng: np.random.Generator
) -> None:
    """What is no symptom comes last, and never onto one."""
    if rng.random() < 0.5:
        scene.specks(canvas, free, rng)
    if rng.random() < 0.25:
        scene.dew(canvas, free & leafy, rng)
    if rng.random() < 0.25:
        scene.shade(canvas, rng)


def _raster(planned: Planned, plan: Plan) -> Shown:
    width, height = plan.size
    layers = [Image.new("L", (width * ZOOM, height * ZOOM)) for _ in range(3)]
    solid, half, veins = (ImageDraw.Draw(layer) for layer in layers)

    def placed(points: Points) -> list[tuple[float, float]]:
        return [(x, y) for x, y in (planned.pose(points) * ZOOM).tolist()]

    scale = planned.pose.size * ZOOM
    for blade in planned.leaf.blades:
        solid.polygon(placed(blade.outline), fill=255)
        half.polygon(placed(blade.half), fill=255)
        for line, wide in blade.veins:
            veins.line(placed(line), fill=255, width=max(1, round(wide * scale)), joint="curve")
    _bite(solid, placed(planned.leaf.blades[-1].outline), planned, plan)
    planes = [
        np.asarray(layer.reduce(ZOOM), dtype=np.float32) / np.float32(255) for layer in layers
    ]
    return Shown(solid=planes[0], half=planes[1], veins=planes[2])


def _bite(
    solid: ImageDraw.ImageDraw, edge: list[tuple[float, float]], planned: Planned, plan: Plan
) -> None:
    """Holes and notches that a beetle left: no symptom of anything asked about."""
    rng = draws.rng(plan.seed, "drawn bites", planned.key)
    if rng.random() > 0.22:
        return
    for _ in range(int(rng.integers(1, 5))):
        x, y = edge[int(rng.integers(len(edge)))]
        radius = ZOOM * rng.uniform(0.008, 0.03) * planned.pose.size
        for _ in range(3):  # three discs in a row: a bite, not a punched hole
            dx, dy = rng.normal(0, 0.6 * radius, 2)
            solid.ellipse(
                [x + dx - radius, y + dy - radius, x + dx + radius, y + dy + radius], fill=0
            )


def _cast(canvas: Canvas, solid: Plane, rng: np.random.Generator) -> None:
    """The leaf's shadow on what lies below it."""
    height, width = solid.shape
    far = rng.uniform(2, 9)
    small = Image.fromarray((solid[::4, ::4] * 255).astype(np.uint8))
    soft = small.filter(ImageFilter.GaussianBlur(float(0.2 + far / 6)))
    shift = (-far / 4 * rng.uniform(0.4, 1.0), -far / 4)
    moved = soft.transform(soft.size, Image.Transform.AFFINE, (1, 0, shift[0], 0, 1, shift[1]))
    dark = np.asarray(moved.resize((width, height), Image.Resampling.BILINEAR), dtype=np.float32)
    canvas *= (1 - np.float32(rng.uniform(0.3, 0.5) / 255) * dark)[..., None]


def _paint_leaf(canvas: Canvas, planned: Planned, shown: Shown, plan: Plan) -> Plane:
    """The leaf itself, in place; how its surface catches the light (height, width), 1 on average.

    Only the leaf's own window of the photo is worked on: half of the time otherwise.
    """
    rng = draws.rng(plan.seed, "drawn leaf", planned.key)
    blade, vein, tint = (
        np.array(colour, np.float32) * rng.uniform(0.93, 1.07, 3).astype(np.float32)
        for colour in (planned.green.blade, planned.green.vein, planned.green.tint)
    )
    _paint_stalk(canvas, planned, 0.8 * vein)
    light = np.ones(canvas.shape[:2], np.float32)
    if not shown.solid.any():
        return light
    x1, y1, x2, y2 = (int(side) for side in extent(shown.solid > 0))
    window, size = (slice(y1, y2), slice(x1, x2)), (x2 - x1, y2 - y1)
    veins, solid = shown.veins[window], shown.solid[window]
    light[window] = _relief(veins, shown.half[window], planned.pose.size, rng)
    patches = np.clip(0.4 + 0.35 * scene.clouds(size, planned.pose.size / 5, rng), 0, 1)
    colour = blade + (tint - blade) * patches[..., None]
    colour += (vein - colour) * (0.75 * veins)[..., None]
    if rng.random() < 0.3:  # a waxy sheen where the sky is mirrored
        sheen = np.clip(scene.clouds(size, planned.pose.size / 3, rng) - 0.7, 0, 1) * 0.28
        colour += (np.float32(225) - colour) * sheen[..., None]
    colour *= light[window][..., None]
    colour -= canvas[window]
    colour *= solid[..., None]
    canvas[window] += colour
    return light


def _relief(veins: Plane, half: Plane, size: float, rng: np.random.Generator) -> Plane:
    """Light on the leaf's surface: veins stand out, the halves are folded, tissue is grained."""
    drawn = Image.fromarray((veins * 255).astype(np.uint8))
    soft = drawn.filter(ImageFilter.GaussianBlur(max(1.2, size / 130)))
    rise = np.asarray(soft, dtype=np.float32) / np.float32(255)
    fold = np.float32(rng.choice([-1, 1]) * rng.uniform(0.03, 0.09))
    light = np.asarray(1 + fold * (2 * half - 1) - np.float32(0.10) * rise, dtype=np.float32)
    light[1:, 1:] += np.float32(1.6) * (rise[1:, 1:] - rise[:-1, :-1])
    light += np.float32(0.035) * scene.clouds(drawn.size, 2.2, rng)
    return light * (1 + np.float32(rng.normal(0, 0.04)) * scene.clouds(drawn.size, size / 2, rng))


def _paint_stalk(canvas: Canvas, planned: Planned, colour: NDArray[np.float32]) -> None:
    height, width = canvas.shape[:2]
    points = planned.pose(planned.leaf.stalk)
    wide = max(1.0, planned.leaf.stalk_width * planned.pose.size)
    x1, y1 = np.clip(points.min(axis=0) - wide - 1, 0, (width, height)).astype(int)
    x2, y2 = np.clip(points.max(axis=0) + wide + 2, 0, (width, height)).astype(int)
    if x1 >= x2 or y1 >= y2:
        return
    layer = Image.new("L", (int(x2 - x1) * ZOOM, int(y2 - y1) * ZOOM))
    line = [(x, y) for x, y in ((points - (x1, y1)) * ZOOM).tolist()]
    ImageDraw.Draw(layer).line(line, fill=255, width=round(wide * ZOOM), joint="curve")
    solid = np.asarray(layer.reduce(ZOOM), dtype=np.float32)[..., None] / np.float32(255)
    canvas[y1:y2, x1:x2] += (colour - canvas[y1:y2, x1:x2]) * solid


def _paint_whole(canvas: Canvas, planned: Planned, seen: NDArray[np.bool_], plan: Plan) -> None:
    """A symptom that has taken nearly all of the leaf; a few green islands are left."""
    assert planned.style is not None
    rng = draws.rng(plan.seed, "drawn whole", planned.key)
    depth = 0.34 + 0.22 * scene.clouds(plan.size, planned.pose.size / 7, rng)
    depth += 0.07 * scene.clouds(plan.size, planned.pose.size / 25, rng)
    stops = WHOLE[planned.style.label]
    places = [place for place, _ in stops]
    colour = np.stack(
        [np.interp(depth, places, [tone[i] for _, tone in stops]) for i in range(3)], axis=-1
    )
    colour *= (1 + 0.06 * scene.clouds(plan.size, 3, rng))[..., None]
    dense = 0.72 if planned.style.label == "powdery mildew" else 0.93  # veins show through it
    opacity = np.clip((0.78 - depth) * 8, 0, dense) * seen
    canvas += (colour - canvas) * opacity[..., None]


def _paint_symptoms(
    canvas: Canvas, planned: Planned, surface: Surface, plan: Plan, room: int | None
) -> list[NDArray[np.bool_]]:
    """Symptom after symptom, in place; the mask (height, width) of each that was painted.

    No more than there is `room` for.
    """
    assert planned.style is not None
    seen, light = surface
    rng = draws.rng(plan.seed, "drawn symptoms", planned.key)
    low, high = planned.style.count
    count = int(np.clip(round(low + (high - low) * rng.beta(1.1, 1.3)), low, high))
    count = count if room is None else min(count, room)
    tone = rng.normal(1, 0.05, 3).astype(np.float32)
    top = np.full(seen.shape, -1, np.int16)  # which symptom lies uppermost
    marks: list[NDArray[np.bool_]] = []
    area = float(np.sqrt(seen.sum()))
    for i in range(count + 40):
        if len(marks) >= (count if i < 2 * count else min(count, 1)):
            break
        spot = draws.rng(plan.seed, "drawn symptom", f"{planned.key}/{i}")
        patch, middle = _plant(planned, area, plan.smallest, spot)
        there, here = overlap(middle, patch.opacity.shape[0], plan.size)
        opacity = np.where(seen[there], patch.opacity[here], 0)
        mark = opacity > 0
        if not shows(mark, plan.smallest) or hides(top, there, mark, marks):
            continue
        top[there][opacity > 0] = len(marks)
        colour = patch.colour[here] * tone * light[there][..., None]
        canvas[there] += (np.clip(colour, 0, 255) - canvas[there]) * opacity[..., None]
        mark = np.zeros(seen.shape, bool)
        mark[there] = opacity > 0
        marks.append(mark)
    return marks


def _plant(
    planned: Planned, area: float, smallest: float, rng: np.random.Generator
) -> tuple[Patch, tuple[int, int]]:
    """One symptom painted on its patch, and the pixel its middle lies on."""
    style = planned.style
    assert style is not None
    blade = planned.leaf.blades[int(rng.integers(len(planned.leaf.blades)))]
    edge = blade.outline[int(rng.integers(len(blade.outline)))]
    inwards = 1.0 if style.at_edge else float(np.sqrt(rng.uniform(0, 0.85)))
    rib = blade.veins[0][0]
    along = np.clip(rng.normal(0.5, 0.25), 0.02, 0.98)
    root = rib[0] + along * (rib[-1] - rib[0])
    at = planned.pose((root + inwards * (edge - root))[None])[0]
    low, high = style.radius
    radius = max(2.6, area * (low + (high - low) * rng.beta(1.1, 2.0)))
    radius = float(np.hypot(radius, 0.6 * smallest))  # large ones stay as they are
    heading = planned.pose(rib)[-1] - planned.pose(rib)[0]
    place = Place(
        radius=radius,
        angle=float(np.arctan2(heading[1], heading[0])),
        stretch=planned.leaf.stretch,
    )
    return style.paint(place, rng), (int(at[0]), int(at[1]))


def overlap(
    middle: tuple[int, int], side: int, size: Size
) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Where a patch of that side meets the photo: the place on the photo, and on the patch."""
    there, here = [], []
    for at, limit in zip(middle[::-1], size[::-1], strict=True):
        start = at - side // 2
        low, high = max(0, start), max(0, min(limit, start + side))
        low = min(low, high)
        there.append(slice(low, high))
        here.append(slice(low - start, high - start))
    return (there[0], there[1]), (here[0], here[1])


def shows(mark: NDArray[np.bool_], smallest: float = 0.0) -> bool:
    """Whether a mark, (height, width), is at least as large as the smallest that counts."""
    side, pixels = SMALLEST
    if int(mark.sum()) < pixels:
        return False
    x1, y1, x2, y2 = extent(mark)
    return min(x2 - x1, y2 - y1) >= max(side, smallest)


def hides(
    top: NDArray[np.int16],
    there: tuple[slice, slice],
    mark: NDArray[np.bool_],
    marks: list[NDArray[np.bool_]],
) -> bool:
    """Whether a new symptom would leave too little of one below it."""
    met = np.unique(top[there][mark])
    for number in met[met >= 0]:
        left = int((top == number).sum()) - int((top[there][mark] == number).sum())
        if left < (1 - MOST_HIDDEN) * int(marks[number].sum()):
            return True
    return False
