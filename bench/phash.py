"""A perceptual hash of a JPEG beside ImageHash's, and beside the bare grey decode it cannot beat.

    python bench/phash.py

One run hashes the same files in turn: ImageHash.phash as its users call it, ours by the screen,
what the audit asks of a photo (the screen, its flips and turns, the identity of the file, dark,
blurred), and Pillow's own decode of the grey picture at the scale the screen uses. CPU time of this
process on one thread; medians of the ratios of rounds, in each of which every way has its turn, in
another order.

Targets, of every row: 3 times ImageHash under 1 megapixel, 4 times from there on, and from 0.3
megapixels up within 1.25 of the bare decode. Rows are files as data sets have them (small, from the
web, 2 megapixels), painted leaves of 1 and 12 megapixels, and photos saved again at three
qualities, 4:3, enlarged where they are smaller, or four side by side.

How many times ImageHash is decided by the file: both have to read its Huffman codes, which take a
quarter of ImageHash's time in a file of 1.5 bits a pixel and two fifths in one of 4. "decode alone"
is what no hash can exceed that decodes the file with libjpeg at all.
Exits 1 where a row misses a target, and says what its decode alone makes.
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
from PIL import Image, ImageDraw

from fieldtruth import hashing, images

ROUNDS, PHOTOS = 8, 12
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
        return 3.0 if round(self.megapixels, 1) < 1 else 4.0

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


def painted(folder: Path) -> Iterator[Set]:
    """Leaves with veins and spots on soft ground, as the reference's own pictures."""
    for width, height, count in ((1152, 864, PHOTOS), (4000, 3000, 3)):
        files = []
        for number in range(count):
            files.append(folder / f"painted-{width}-{number}.jpg")
            leaf(np.random.default_rng(number), width, height).save(files[-1])
        yield Set("painted leaves", files, width * height / 1e6)


def leaf(draw: np.random.Generator, width: int, height: int) -> Image.Image:
    """One picture: coarse and fine noise for the ground, an ellipse, lines, spots."""
    coarse, fine = (
        Image.fromarray(draw.integers(60, 200, (part * 3 // 4, part, 3), dtype=np.uint8)).resize(
            (width, height), Image.Resampling.BICUBIC
        )
        for part in (16, 200)
    )
    picture = Image.blend(coarse, fine, 0.15)
    pen = ImageDraw.Draw(picture)
    pen.ellipse((width // 8, height // 6, width * 7 // 8, height * 5 // 6), fill=(70, 130, 50))
    for at in range(12):
        x = width * (2 + at) // 16
        pen.line((x, height // 2, x + width // 16, height // 4), fill=(110, 160, 80), width=3)
    for x, y, size in draw.uniform((0.2, 0.25, 0.005), (0.8, 0.75, 0.04), (30, 3)):
        box = (x * width, y * height, (x + size) * width, y * height + size * width)
        pen.ellipse(box, fill=(140, 90, 40))
    return Image.blend(picture, fine, 0.08)


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


def ratios(more: list[float], less: list[float]) -> list[float]:
    """Round by round."""
    return [m / n for m, n in zip(more, less, strict=True)]


def spread(values: list[float]) -> str:
    """The median, with the least and the most."""
    return f"{median(values):.2f} [{min(values):.2f}, {max(values):.2f}]"


def compared(row: Set) -> str:
    """Print a row; "reached" or "MISSED"."""
    spent = measured(row.files)
    faster, most = ratios(spent["peer"], spent["ours"]), ratios(spent["peer"], spent["decode"])
    slower = ratios(spent["ours"], spent["decode"])
    quick = median(faster) >= row.faster
    lean = row.slower is None or median(slower) <= row.slower
    verdict = "reached" if quick and lean else "MISSED"
    kilobytes = sum(path.stat().st_size for path in row.files) / len(row.files) / 1000
    ms = {name: median(each) / len(row.files) * 1e3 for name, each in spent.items()}
    targets = [f"{row.faster:g}x"]
    targets += [f"decode {row.slower:g}x"] if row.slower else []
    print(
        f"{row.name:23} {len(row.files):3} files {row.megapixels:5.2f} MP {kilobytes:4.0f} KB "
        f"{kilobytes * 0.008 / row.megapixels:3.1f} bit/px  ImageHash {ms['peer']:6.2f} ms  ours "
        f"{ms['ours']:5.2f}  decode {ms['decode']:5.2f}  audit's {ms['look']:5.2f}  "
        f"ImageHash / ours {spread(faster)}, decode alone {median(most):.2f}  ours / decode "
        f"{spread(slower)}  target {', '.join(targets)}: {verdict}",
        flush=True,
    )
    if not quick and median(most) < row.faster * 1.05:
        print(f"  no hash reaches {row.faster:g}x here: decoding alone makes {median(most):.2f}")
    return verdict


def main() -> int:
    """The table; 1 when a target is missed."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        made = (as_found(), painted(place), saved_again(place))
        verdicts = [compared(row) for rows in made for row in rows]
    for verdict in ("reached", "MISSED"):
        print(f"{verdict}: {verdicts.count(verdict)} of {len(verdicts)} rows")
    return int("MISSED" in verdicts)


if __name__ == "__main__":
    if os.environ.get("OMP_NUM_THREADS") != "1":  # has to be set before numpy is there
        os.execve(
            sys.executable, [sys.executable, *sys.argv], {**os.environ, "OMP_NUM_THREADS": "1"}
        )
    sys.exit(main())
