"""Photos painted for audits: each of its own frequencies, and copies, near and far."""

from collections.abc import Iterable
from pathlib import Path

import imagehash
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import fft

Pixels = NDArray[np.uint8]


def scene(seed: int, size: tuple[int, int] = (240, 180)) -> Image.Image:
    """A picture like no other: a few large blots, and grain that makes it sharp."""
    rng = np.random.default_rng(seed)
    blots = rng.integers(0, 256, (10, 12, 3), dtype=np.uint8)
    smooth = np.asarray(Image.fromarray(blots).resize(size, Image.Resampling.BICUBIC))
    grain = rng.integers(-16, 17, (size[1], size[0], 1))
    return Image.fromarray((smooth + grain).clip(0, 255).astype(np.uint8))


def save(picture: Image.Image, path: Path, quality: int = 90) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, quality=quality)  # which only a JPEG heeds
    return path


def scenes(folder: Path, seeds: Iterable[int]) -> list[Path]:
    """`SEED.jpg` for each."""
    return [save(scene(seed), folder / f"{seed}.jpg") for seed in seeds]


def blank(path: Path, shade: int = 120) -> Path:
    return save(Image.new("RGB", (200, 150), (shade, shade, shade)), path)


def phash(picture: Image.Image) -> int:
    """ImageHash's own."""
    return int(str(imagehash.phash(picture)), 16)


def apart(a: Image.Image, b: Image.Image) -> int:
    return (phash(a) ^ phash(b)).bit_count()


def at_distance(picture: Image.Image, other: Image.Image, distance: int) -> Image.Image | None:
    """`picture` with as much of `other` mixed in as moves its hash by so many bits."""
    other = other.resize(picture.size)
    for share in np.linspace(0, 1, 160):
        mixed = Image.blend(picture, other, float(share))
        if apart(picture, mixed) == distance:
            return mixed
    return None


def collision(picture: Image.Image, seed: int) -> Image.Image:
    """Another photo with the same hash, or nearly: the low frequencies of `picture`, which are all
    that a hash sees, under a stronger pattern of higher ones."""
    rng = np.random.default_rng(seed)
    grey = np.asarray(picture.convert("L").resize((96, 96))).astype(np.float64)
    waves = np.zeros((96, 96))
    waves[:8, :8] = 0.35 * fft.dctn(grey, norm="ortho")[:8, :8]
    waves[0, 0] = 96 * 128
    waves[12:30, 12:30] = rng.normal(0, 200, (18, 18))
    pixels = fft.idctn(waves, norm="ortho").clip(0, 255).astype(np.uint8)
    return Image.fromarray(pixels).resize((288, 288), Image.Resampling.BICUBIC).convert("RGB")
