"""A perceptual hash of a JPEG beside ImageHash's, and beside the bare grey decode it cannot beat.

    python bench/phash.py

One run hashes the same files in turn: ImageHash.phash as its users call it, ours by the screen,
what the audit asks of a photo (the screen, its flips and turns, the identity of the file, dark,
blurred), and Pillow's own decode of the grey picture at the scale the screen uses. CPU time of this
process on one thread; medians of the ratios of rounds, in each of which every way has its turn, in
another order.

The photos are those of ../shared/data: as found, and saved again at the sizes and qualities below,
4:3. MIRAGE's have at most 0.45 megapixels: larger ones are enlarged, which leaves them soft and
their files small, or four photos side by side, which gives the densest files there are. Where the
folder is absent, painted ones stand in.

How many times ImageHash is decided by the file: both have to read its Huffman codes, a third of
ImageHash's time in a file of 2 bits a pixel, more in a denser one. A row whose bare decode leaves
less than a twentieth to everything else is marked out of reach, with what the decode alone makes.
Exits 1 where any other row misses its target, or any row takes too much more than its decode.
"""

import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import imagehash
import numpy as np
from PIL import Image

from fieldtruth import hashing, images

ROUNDS, PHOTOS, ROOM = 8, 12, 1.05
TURN = 0.05  # seconds at least that one way goes on: an audit hashes thousands in a row
QUALITIES = (75, 85, 95)
WIDTHS, ENLARGED, TILED = (300, 640), (800, 1200, 1600), (1200, 1600)
DATA = Path(__file__).parents[2] / "shared" / "data"


class Set(NamedTuple):
    """Files of one size, and the megapixels of their mean."""

    name: str
    files: list[Path]
    megapixels: float

    @property
    def faster(self) -> float:
        """How many times ImageHash it should be."""
        return 3.0 if self.megapixels < 1 else 4.0

    @property
    def slower(self) -> float | None:
        """How many times the bare decode it may be."""
        return 1.25 if self.megapixels >= 0.3 else None


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


def as_found() -> Iterator[Set]:
    """The files of each data set, as they are."""
    for name, pattern, step in (
        ("PlantVillage", "plantvillage/*/*", 1),
        ("MIRAGE", "mirage/sample_images/*", 1),
        ("coffee", "coffee/images/*/*.jpg", 40),
    ):
        files = sorted(DATA.glob(pattern))[::step]
        if files:
            sizes = [images.size(path) for path in files]
            megapixels = sum(width * height for width, height in sizes) / len(files) / 1e6
            yield Set(f"{name} as found", files, megapixels)


def tiled(pictures: list[Image.Image], width: int) -> list[Image.Image]:
    """Four photos side by side, for each photo."""
    half, tall = width // 2, width * 3 // 8
    every = []
    for first in range(len(pictures)):
        whole = Image.new("RGB", (2 * half, 2 * tall))
        for place in range(4):
            part = pictures[(first + place) % len(pictures)].resize((half, tall))
            whole.paste(part, (place % 2 * half, place // 2 * tall))
        every.append(whole)
    return every


def saved_again(folder: Path) -> Iterator[Set]:
    """The photos at every size and quality."""
    pictures = photos()
    for name, widths in (("reduced", WIDTHS), ("enlarged", ENLARGED), ("four in one", TILED)):
        for width in widths:
            tall = width * 3 // 4
            if name == "four in one":
                sized = tiled(pictures, width)
            else:
                sized = [picture.resize((width, tall)) for picture in pictures]
            for quality in QUALITIES:
                files = []
                for number, picture in enumerate(sized):
                    files.append(folder / f"{name}-{width}-{quality}-{number}.jpg")
                    picture.save(files[-1], quality=quality)
                yield Set(f"{name}, quality {quality}", files, width * tall / 1e6)


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


def look(path: Path) -> None:
    """All that the audit's first reading tells."""
    hashing.look(path)


def measured(files: list[Path]) -> dict[str, list[float]]:
    """CPU seconds for all files, by way, a value each round."""
    ways: dict[str, Callable[[Path], None]] = {
        "peer": peer, "decode": decode, "ours": ours, "look": look
    }  # fmt: skip
    spent: dict[str, list[float]] = {name: [] for name in ways}
    order, laps = list(ways), 1
    for number in range(-1, ROUNDS):  # the first warms up, and says how many laps a turn lasts
        for name in order:
            begun = time.process_time()
            for _ in range(laps):
                for path in files:
                    ways[name](path)
            spent[name].append((time.process_time() - begun) / laps)
        if number < 0:
            laps = math.ceil(TURN / spent["ours"][0])
        order.append(order.pop(0))
    return {name: each[1:] for name, each in spent.items()}


def times(more: list[float], less: list[float]) -> float:
    """The median of the ratios of the rounds."""
    return median(m / n for m, n in zip(more, less, strict=True))


def compared(row: Set) -> str:
    """Print a row; "reached", "out of reach" or "MISSED"."""
    spent = measured(row.files)
    faster, most = times(spent["peer"], spent["ours"]), times(spent["peer"], spent["decode"])
    slower = times(spent["ours"], spent["decode"])
    if row.slower is not None and slower > row.slower:
        verdict = "MISSED"
    elif faster >= row.faster:
        verdict = "reached"
    else:
        verdict = "out of reach" if most < row.faster * ROOM else "MISSED"
    kilobytes = sum(path.stat().st_size for path in row.files) / len(row.files) / 1000
    per_photo = {name: median(each) / len(row.files) * 1e3 for name, each in spent.items()}
    bound = f", at most {row.slower:g}x" if row.slower else ""
    print(
        f"{row.name:23} {len(row.files):3} files {row.megapixels:4.2f} MP {kilobytes:4.0f} KB "
        f" {kilobytes * 0.008 / row.megapixels:3.1f} bit/px  ours {per_photo['ours']:5.2f} ms  "
        f"audit's {per_photo['look']:5.2f} ms  ImageHash / ours {faster:5.2f}x "
        f"(decode alone {most:5.2f}x)  ours / decode {slower:4.2f}x  target {row.faster:g}x"
        f"{bound}: {verdict}",
        flush=True,
    )
    return verdict


def main() -> int:
    """The table; 1 when a target is missed."""
    with tempfile.TemporaryDirectory() as folder:
        verdicts = [
            compared(row) for rows in (as_found(), saved_again(Path(folder))) for row in rows
        ]
    for verdict in ("reached", "out of reach", "MISSED"):
        print(f"{verdict}: {verdicts.count(verdict)} of {len(verdicts)} rows")
    return int("MISSED" in verdicts)


if __name__ == "__main__":
    if os.environ.get("OMP_NUM_THREADS") != "1":  # has to be set before numpy is there
        os.execve(
            sys.executable, [sys.executable, *sys.argv], {**os.environ, "OMP_NUM_THREADS": "1"}
        )
    sys.exit(main())
