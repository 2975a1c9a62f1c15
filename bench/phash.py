"""A perceptual hash of a JPEG beside ImageHash's, and beside the bare grey decode it cannot beat.

    python bench/phash.py

One run hashes the same files in turn: ImageHash.phash, ours by the screen, and Pillow's own
decode of the grey picture at the scale the screen uses. Photos are those of ../shared/data where
they lie there, saved again at the sizes below in the quality of the web; else painted ones. CPU
time of this process on one thread; medians of the ratios of interleaved rounds. Exits 1 when a
target is missed.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

import imagehash
import numpy as np
from PIL import Image

from fieldtruth import hashing, images

ROUNDS, PHOTOS, QUALITY = 9, 12, 75
DATA = Path(__file__).parents[2] / "shared" / "data"


class Size(NamedTuple):
    """A width (4:3), how many times ImageHash, and how many times the bare decode at most."""

    width: int
    faster: float
    slower: float | None


SIZES = (Size(640, 3.0, 1.25), Size(800, 3.0, 1.25), Size(1200, 4.0, 1.25), Size(1600, 4.0, 1.25))
SMALL = Size(300, 3.0, None)


def photos() -> list[Image.Image]:
    """Real photos, else pictures with the detail of photos."""
    found = [*sorted(DATA.glob("mirage/sample_images/*"))[::4]]
    found += sorted(DATA.glob("coffee/images/*/*.jpg"))[::200]
    if found:
        return [images.open_upright(path) for path in found[:PHOTOS]]
    rng = np.random.default_rng(0)
    return [
        Image.fromarray(rng.integers(0, 256, (90, 120, 3), dtype=np.uint8)).resize((1200, 900))
        for _ in range(PHOTOS)
    ]


def peer(path: Path) -> None:
    """ImageHash, as its users call it."""
    with Image.open(path) as photo:
        imagehash.phash(photo)


def decode(path: Path) -> None:
    """The grey picture at the screen's scale, and nothing else."""
    with Image.open(path) as photo:
        photo.draft("L", (hashing.SIDE, hashing.SIDE))
        photo.load()


def ours(path: Path) -> None:
    """The screening hash."""
    hashing.screen(path)


def measured(files: list[Path]) -> dict[str, list[float]]:
    """CPU seconds for all files, by way, a value each round."""
    ways: dict[str, Callable[[Path], None]] = {"peer": peer, "decode": decode, "ours": ours}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            begun = time.process_time()
            for path in files:
                way(path)
            spent[name].append(time.process_time() - begun)
    return spent


def compared(size: Size, files: list[Path]) -> bool:
    """Print a row; whether its targets are reached."""
    spent = measured(files)
    faster = median(p / o for p, o in zip(spent["peer"], spent["ours"], strict=True))
    slower = median(o / d for o, d in zip(spent["ours"], spent["decode"], strict=True))
    most = median(p / d for p, d in zip(spent["peer"], spent["decode"], strict=True))
    reached = faster >= size.faster and (size.slower is None or slower <= size.slower)
    kilobytes = sum(path.stat().st_size for path in files) / len(files) / 1000
    bound = f", at most {size.slower:g}x" if size.slower else ""
    print(
        f"{size.width**2 * 0.75e-6:4.2f} MP {kilobytes:4.0f} KB  ours "
        f"{median(spent['ours']) / len(files) * 1e3:6.2f} ms   ImageHash / ours {faster:4.1f}x "
        f"(decode alone {most:4.1f}x)   ours / decode {slower:4.2f}x   target {size.faster:g}x"
        f"{bound}: {'reached' if reached else 'MISSED'}"
    )
    return reached


def main() -> int:
    """The table; 1 when a target is missed."""
    pictures, missed = photos(), 0
    with tempfile.TemporaryDirectory() as folder:
        for size in (SMALL, *SIZES):
            files = []
            for number, picture in enumerate(pictures):
                path = Path(folder, f"{size.width}-{number}.jpg")
                picture.resize((size.width, size.width * 3 // 4)).save(path, quality=QUALITY)
                files.append(path)
            missed += not compared(size, files)
    return int(missed > 0)


if __name__ == "__main__":
    if os.environ.get("OMP_NUM_THREADS") != "1":  # has to be set before numpy is there
        os.execve(
            sys.executable, [sys.executable, *sys.argv], {**os.environ, "OMP_NUM_THREADS": "1"}
        )
    sys.exit(main())
