"""What lies around the leaves, and the camera: grounds, shade, specks, dew, and the photo's faults.

A canvas is float32 RGB of shape (height, width, 3), 0 to 255. Everything here is drawn from the
generator it is given, so that a photo is the same in every run.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from fieldtruth.sources.drawn.leaves import Colour
from fieldtruth.sources.drawn.symptoms import Plane

Canvas = NDArray[np.float32]
Size = tuple[int, int]  # width, height


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A background, and whether it is kept for the test split."""

    name: str
    held_out: bool
    paint: Callable[[Size, np.random.Generator], Canvas]


def clouds(size: Size, grain: float, rng: np.random.Generator) -> Plane:
    """Soft noise (height, width), mean 0, spread about 1, with blots of `grain` pixels."""
    width, height = size
    cells = (max(2, round(height / grain) + 1), max(2, round(width / grain) + 1))
    small = Image.fromarray(rng.standard_normal(cells, dtype=np.float32))
    return np.asarray(small.resize(size, Image.Resampling.BICUBIC))


def _grain(size: Size, rng: np.random.Generator) -> Plane:
    return rng.standard_normal((size[1], size[0]), dtype=np.float32)


def _flat(size: Size, colour: Colour) -> Canvas:
    canvas = np.empty((size[1], size[0], 3), np.float32)
    canvas[:] = colour
    return canvas


def _choice(rng: np.random.Generator, colours: tuple[Colour, ...]) -> Colour:
    return colours[int(rng.integers(len(colours)))]


def _plain(size: Size, rng: np.random.Generator) -> Canvas:
    colours = ((186, 188, 190), (120, 124, 132), (66, 70, 76), (150, 170, 196), (206, 200, 188))
    canvas = _flat(size, _choice(rng, colours))
    canvas *= (1 + 0.05 * clouds(size, max(size) / 2.5, rng) + 0.01 * _grain(size, rng))[..., None]
    return canvas


def _paper(size: Size, rng: np.random.Generator) -> Canvas:
    canvas = _flat(size, _choice(rng, ((232, 231, 226), (240, 240, 240), (226, 218, 200))))
    fibres = 0.012 * clouds(size, 2.5, rng) + 0.02 * clouds(size, max(size) / 2, rng)
    canvas *= (1 + fibres)[..., None]
    if rng.random() < 0.4:  # a ruled page
        gap, start = float(rng.uniform(18, 34)), float(rng.uniform(0, 18))
        rows = np.arange(start, size[1] - 1, gap).astype(int)
        canvas[rows] *= np.array([0.86, 0.90, 0.96], np.float32)
    return canvas


def _soil(size: Size, rng: np.random.Generator) -> Canvas:
    canvas = _flat(size, _choice(rng, ((104, 78, 56), (84, 66, 52), (128, 92, 64), (70, 58, 50))))
    crumbs = 0.13 * clouds(size, 22, rng) + 0.12 * clouds(size, 7, rng)
    crumbs += 0.12 * clouds(size, 3, rng) + 0.06 * _grain(size, rng)
    canvas *= (1 + crumbs)[..., None]
    return canvas


def _foliage(size: Size, rng: np.random.Generator) -> Canvas:
    """Other leaves, dark and out of focus; painted at a quarter of the size."""
    width, height = size[0] // 4 + 1, size[1] // 4 + 1
    picture = Image.new("RGB", (width, height), (26, 40, 22))
    pen = ImageDraw.Draw(picture)
    for _ in range(46):
        x, y, turn = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(0, 2 * np.pi)
        long, wide = rng.uniform(12, 34), rng.uniform(4, 10)
        t = np.linspace(-1, 1, 9)
        edge = wide * (1 - t**2)
        outline = np.concatenate(
            [np.stack([long * t, edge], 1), np.stack([long * t[::-1], -edge[::-1]], 1)]
        )
        spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        shade = rng.uniform(0.45, 1.0)
        green = tuple(int(shade * part) for part in rng.uniform((40, 78, 26), (92, 128, 58)))
        pen.polygon([(a + x, b + y) for a, b in outline @ spin], fill=green)
    blurred = picture.filter(ImageFilter.GaussianBlur(float(rng.uniform(0.8, 1.8))))
    canvas = np.asarray(blurred.resize(size, Image.Resampling.BICUBIC), dtype=np.float32)
    return canvas * (1 + 0.02 * _grain(size, rng))[..., None]


def _gravel(size: Size, rng: np.random.Generator) -> Canvas:
    picture = Image.new("RGB", size, (58, 54, 50))
    pen = ImageDraw.Draw(picture)
    stones = size[0] * size[1] // 260
    places = rng.uniform((0, 0), size, (stones, 2))
    radii = rng.uniform(6, 15, (stones, 2))
    for (x, y), (a, b), grey, warm in zip(
        places, radii, rng.uniform(92, 184, stones), rng.uniform(-8, 14, stones), strict=True
    ):
        tone = (int(grey + warm), int(grey), int(grey - warm))
        pen.ellipse([x - a, y - b, x + a, y + b], fill=tone, outline=(52, 48, 46))
        shine = tuple(min(255, part + 16) for part in tone)
        pen.ellipse([x - 0.7 * a, y - 0.75 * b, x + 0.3 * a, y + 0.2 * b], fill=shine)
    canvas = np.asarray(picture.filter(ImageFilter.BoxBlur(1)), dtype=np.float32)
    return canvas * (1 + 0.05 * _grain(size, rng))[..., None]


def _sky(size: Size, rng: np.random.Generator) -> Canvas:
    down = np.linspace(0, 1, size[1], dtype=np.float32)[:, None, None]
    top = np.array(_choice(rng, ((98, 146, 206), (126, 166, 212), (150, 160, 172))), np.float32)
    low = np.array([212, 222, 230], np.float32)
    canvas = np.repeat(top + (low - top) * down, size[0], axis=1)
    cover = np.clip(0.30 * clouds(size, max(size) / 4, rng) + 0.1, 0, 0.6)[..., None]
    return np.asarray(canvas + (244 - canvas) * cover, dtype=np.float32)


def _wood(size: Size, rng: np.random.Generator) -> Canvas:
    width, height = size
    canvas = _flat(size, _choice(rng, ((150, 116, 82), (122, 96, 72), (172, 146, 112))))
    along = Image.fromarray(
        rng.standard_normal((height // 2 + 1, max(2, width // 90)), dtype=np.float32)
    )
    canvas *= (1 + 0.09 * np.asarray(along.resize(size, Image.Resampling.BICUBIC)))[..., None]
    for row in range(int(rng.integers(30, 90)), height, int(rng.integers(90, 150))):
        canvas[row : row + 2] *= 0.45
        canvas[row + 2 :] *= np.float32(rng.uniform(0.9, 1.1))
    return canvas


GROUNDS = (
    Ground(name="plain", held_out=False, paint=_plain),
    Ground(name="paper", held_out=False, paint=_paper),
    Ground(name="soil", held_out=False, paint=_soil),
    Ground(name="foliage", held_out=False, paint=_foliage),
    Ground(name="gravel", held_out=True, paint=_gravel),
    Ground(name="sky", held_out=True, paint=_sky),
    Ground(name="wood", held_out=True, paint=_wood),
)


def shade(canvas: Canvas, rng: np.random.Generator) -> None:
    """The shadow of something outside the photo: a soft dark band, in place."""
    height, width = canvas.shape[:2]
    small = Image.new("L", (width // 8 + 1, height // 8 + 1))
    middle = rng.uniform((0, 0), small.size)
    turn, half = rng.uniform(0, np.pi), rng.uniform(4, 12)
    ahead = np.array([np.cos(turn), np.sin(turn)]) * 200
    aside = np.array([-np.sin(turn), np.cos(turn)]) * half
    corners = (ahead + aside, ahead - aside, -ahead - aside, -ahead + aside)
    ImageDraw.Draw(small).polygon(
        [tuple(float(v) for v in middle + corner) for corner in corners], fill=255
    )
    soft = small.filter(ImageFilter.GaussianBlur(1.0)).resize(
        (width, height), Image.Resampling.BILINEAR
    )
    dark = np.float32(rng.uniform(0.25, 0.42) / 255) * np.asarray(soft, dtype=np.float32)
    canvas *= (1 - dark)[..., None]


def specks(canvas: Canvas, free: NDArray[np.bool_], rng: np.random.Generator) -> None:
    """Soil, grit and pollen that is no symptom: small blots on free pixels only, in place."""
    for _ in range(int(rng.integers(0, 22))):
        tone = _choice(rng, ((58, 44, 32), (34, 30, 28), (140, 118, 84), (206, 196, 150)))
        blot = _disc(float(rng.uniform(0.7, 1.9)))
        _stamp(canvas, free, 0.85 * blot, np.array(tone, np.float32), rng)


def dew(canvas: Canvas, free: NDArray[np.bool_], rng: np.random.Generator) -> None:
    """Drops: darker above, bright below, with a glint; on free pixels only, in place."""
    for _ in range(int(rng.integers(8, 44))):
        radius = float(rng.uniform(2.0, 5.0))
        drop = _disc(radius)
        side = drop.shape[0]
        rise = np.linspace(-1, 1, side, dtype=np.float32)[:, None]
        tone = np.where(rise > 0, 214, 40) * np.ones((side, side), np.float32)
        glint = _disc(radius, (-0.35 * radius, -0.4 * radius), 0.28 * radius)
        _stamp(canvas, free, np.maximum(0.22 * drop, 0.9 * glint), tone + (250 - tone) * glint, rng)


def _disc(
    radius: float, middle: tuple[float, float] = (0.0, 0.0), inner: float | None = None
) -> Plane:
    """A soft disc (s, s), s odd; with `inner`, a smaller one off the middle on the same grid."""
    reach = int(radius) + 2
    line = np.arange(-reach, reach + 1, dtype=np.float32)
    far = np.hypot(line[None, :] - middle[0], line[:, None] - middle[1])
    edge = np.float32((radius if inner is None else inner) + 0.5)
    return np.asarray(np.clip(edge - far, 0, 1), dtype=np.float32)


def _stamp(
    canvas: Canvas,
    free: NDArray[np.bool_],
    opacity: Plane,
    colour: NDArray[np.float32],
    rng: np.random.Generator,
) -> None:
    height, width = free.shape
    side = opacity.shape[0]
    x, y = int(rng.integers(0, width - side)), int(rng.integers(0, height - side))
    there = (slice(y, y + side), slice(x, x + side))
    if not free[there].all():
        return
    if colour.ndim == 2:
        colour = colour[..., None]
    canvas[there] += (colour - canvas[there]) * opacity[..., None]


def defocus(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """A lens that is a little out of focus."""
    return picture.filter(ImageFilter.GaussianBlur(float(rng.uniform(0.4, 1.1))))


def photograph(canvas: Canvas, rng: np.random.Generator) -> Image.Image:
    """What a camera makes of it: white balance, exposure, vignetting and sensor noise."""
    height, width = canvas.shape[:2]
    gains = rng.uniform((0.92, 0.96, 0.90), (1.10, 1.04, 1.10)) * rng.uniform(0.84, 1.14)
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    fall = np.float32(rng.uniform(0.0, 0.16))
    light = (1 - fall * (x * x + y * y)) * (1 + np.float32(rng.normal(0, 0.04)) * x)
    sigma = np.float32(rng.uniform(1.0, 4.5))
    picture = canvas * light[..., None]
    picture *= gains.astype(np.float32)
    picture += (sigma * _grain((width, height), rng))[..., None]
    np.clip(picture, 0, 255, out=picture)
    return Image.fromarray(picture.astype(np.uint8))
