"""A photo's perceptual hash: 64 bits that copies share and other photos do not.

The convention is ImageHash's `phash`: the upright photo in grey, 32 x 32 pixels by Lanczos, its
cosine transform, of which the 8 x 8 lowest frequencies are held against their median; bits row by
row, the first the highest. Hashes of other libraries mean other things with the same 64 bits, so a
hash that is written down says its convention and is refused where it says another (performance.md,
1c).

A photo is hashed twice. `look` screens: a JPEG is decoded straight to a small grey picture, which
costs a third of the whole. `examine` decides: every pixel is decoded, and the bits are ImageHash's
to the last. Where many frequencies lie near their median, the screen's bits are not trusted and
`look` gives the exact hash itself: for 2 of 640 photos (the coffee, PlantVillage and MIRAGE sets),
and 25 of 3,424 files made of a third of them, 180 to 1,400 pixels wide at qualities 50 and 85. For
the rest, nine in ten had the exact hash and all others came within 2 bits of it.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fieldtruth import images, store
from fieldtruth.faults import Usage

CONVENTION = "imagehash.phash-8x8"
MARGIN = 4  # bits by which the distance of two screening hashes may differ from the exact one
SIDE = 112  # pixels of the short side that the screen decodes at least (performance.md, 1b)
THUMBNAIL = 96  # pixels; what pairs are compared by (agroground.md, section 9)
FLAT = 1.0  # grey levels of standard deviation; below it there is nothing but noise to compare
CONSTANT = 1 << 63  # the hash that a photo of one grey is compared by
POOR = 8  # bits set: at most a row or a column of the frequencies is there at all

Hashes = NDArray[np.uint64]
Floats = NDArray[np.float64]

_GRID, _KEPT = 32, 8
_NOISE = 6  # decimals kept: what is 0 in exact arithmetic comes out as 1e-11, a random bit
_SURE = 40.0  # a frequency further than this from the median keeps its bit in the screen
_UNSURE = 4  # of 64 frequencies that may be nearer, before the screen is not trusted
_LONGEST = 2048  # pixels of a side; a longer one is reduced first, so that operators stay small
_ONE_THREAD = 1 << 18  # multiplications; OpenBLAS shares more among threads, which fight ours
_UPRIGHT = {1: 0, 2: 1, 3: 3, 4: 2, 5: 4, 6: 6, 7: 7, 8: 5}  # EXIF orientation -> place in `turned`

_ANGLES = np.pi * np.outer(np.arange(_KEPT), 2 * np.arange(_GRID) + 1) / (2 * _GRID)
_COSINES: Floats = 2 * np.cos(_ANGLES)
_SIGNS: Floats = np.where(np.arange(_KEPT) % 2, -1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Look:
    """What one reading of a photo tells.

    `hashes` holds the hash and those of its flips and quarter turns (see `turned`), shape (8,);
    `exact` says that they are the exact ones. `bright` is the grey level under which 95 % of the
    photo lies, `spread` the standard deviation of its grey levels, both at 32 x 32; `sharp` is the
    mean change of slope from one pixel to the next in grey levels, at a short side of 112 to 223.
    """

    hashes: Hashes
    exact: bool
    width: int
    height: int
    sha256: str
    spread: float
    bright: float
    sharp: float

    @property
    def flat(self) -> bool:
        """Whether the photo is of one grey, so that there is nothing to compare it by."""
        return self.spread < FLAT

    @property
    def poor(self) -> bool:
        """Whether its hash says next to nothing: photos that share it need not be alike."""
        return self.flat or int(self.hashes[0]).bit_count() <= POOR


@dataclass(frozen=True, slots=True)
class Exact:
    """The exact hash of a photo with those of its flips and turns, shape (8,), and its thumbnail,
    grey, shape (96, 96)."""

    hashes: Hashes
    thumbnail: NDArray[np.uint8]


def look(path: Path) -> Look:
    """Read a photo once, reduced where its format allows. Raises `Unreadable`."""
    seen = images.glance(path, SIDE)
    lowest, exact = _screened(path, seen)
    small = seen.grey.reduce(max(1, min(seen.grey.size) // SIDE))
    grid = np.asarray(small.resize((_GRID, _GRID), Image.Resampling.BOX))
    return Look(
        hashes=_bits_of(lowest),
        exact=exact,
        width=seen.width,
        height=seen.height,
        sha256=store.sha256(path),
        spread=float(grid.std()),
        bright=float(np.sort(grid, axis=None)[int(0.95 * grid.size)]),
        sharp=_sharpness(np.asarray(small)),
    )


def screen(path: Path) -> int:
    """The hash of `look` alone. Raises `Unreadable`."""
    return int(bits(_screened(path, images.glance(path, SIDE))[0]))


def examine(path: Path) -> Exact:
    """The exact hash and the thumbnail, from every pixel. Raises `Unreadable`."""
    grey = images.open_upright(path).convert("L")
    small = grey.resize((THUMBNAIL, THUMBNAIL), Image.Resampling.BILINEAR)
    return Exact(_bits_of(frequencies(_lanczos(grey))), np.asarray(small))


def phash(path: Path) -> int:
    """The exact hash of the upright photo: ImageHash's bits. Raises `Unreadable`."""
    return int(bits(_exact(path)))


def text(value: int) -> str:
    """A hash written down, with its convention.

    >>> text(0x8000_0000_0000_0000)
    'imagehash.phash-8x8:8000000000000000'
    """
    return f"{CONVENTION}:{value:016x}"


def parse(written: str) -> int:
    """A hash read back; `Usage` for one of another convention: its bits mean something else."""
    convention, _, digits = written.rpartition(":")
    if convention != CONVENTION or len(digits) != 16:
        raise Usage(
            f"expected a hash written as {CONVENTION}:<16 hex digits>, got {written!r}; hashes of "
            "two conventions cannot be compared: hash the photos again"
        )
    return int(digits, 16)


def frequencies(grid: NDArray[np.uint8]) -> Floats:
    """The 8 x 8 lowest frequencies of a (32, 32) picture: DCT-II, unnormalised, rows by columns.

    Rounded, so that a blank photo or a plain gradient has zeros where exact arithmetic has them.
    """
    return np.round(_COSINES @ grid.astype(np.float64) @ _COSINES.T, _NOISE)


def bits(lowest: Floats) -> Hashes:
    """(..., 8, 8) frequencies -> (...) hashes: a bit for each that is over their median."""
    flat = lowest.reshape(*lowest.shape[:-2], _KEPT * _KEPT)
    ascending = np.sort(flat, axis=-1)
    middle = (ascending[..., 31:32] + ascending[..., 32:33]) / 2
    packed: Hashes = np.packbits(flat > middle, axis=-1).view(">u8")[..., 0].astype(np.uint64)
    return packed


def _bits_of(lowest: Floats) -> Hashes:
    """(8,): the hash of a photo and of its turns, for comparing.

    All constant photos are alike in it. ImageHash's own bits part a black one from the others,
    by the bit of its brightness, and so would let it pass for another photo (design, section 8).
    """
    if not lowest.ravel()[1:].any():
        return np.full(len(TURNS), CONSTANT, np.uint64)
    return bits(turned(lowest))


def turned(lowest: Floats) -> Floats:
    """(8, 8) frequencies -> (8, 8, 8): of the photo and its seven flips and quarter turns.

    A flip changes the sign of every second frequency along its axis, a transposition swaps the
    axes; no pixel is looked at again. In order: as it is, left to right, top to bottom, by 180
    degrees, and the transposes of the four.
    """
    across, down = lowest * _SIGNS, lowest * _SIGNS[:, None]
    four = np.stack([lowest, across, down, across * _SIGNS[:, None]])
    return np.concatenate([four, four.transpose(0, 2, 1)])


TURNS = (
    "as_is", "left_right", "top_bottom", "rotate_180",
    "transpose", "rotate_90", "rotate_270", "transverse",
)  # fmt: skip


def turn(picture: NDArray[np.uint8], which: int) -> NDArray[np.uint8]:
    """A (h, w) picture flipped or turned as `turned` has it at that place."""
    if which in (1, 3, 5, 7):
        picture = picture[:, ::-1]
    if which in (2, 3, 6, 7):
        picture = picture[::-1]
    return picture.T if which >= 4 else picture


def _screened(path: Path, seen: images.Glance) -> tuple[Floats, bool]:
    """The (8, 8) frequencies of a photo, and whether they are the exact ones."""
    if seen.whole:
        return frequencies(_lanczos(seen.grey)), True
    lowest = _estimate(seen)
    return (_exact(path), True) if _doubtful(lowest) else (lowest, False)


def _doubtful(lowest: Floats) -> bool:
    ascending = np.sort(lowest, axis=None)
    middle = (ascending[31] + ascending[32]) / 2
    below, above = ascending.searchsorted((middle - _SURE, middle + _SURE))
    return int(above - below) > _UNSURE


def _exact(path: Path) -> Floats:
    return frequencies(_lanczos(images.open_upright(path).convert("L")))


def _lanczos(grey: Image.Image) -> NDArray[np.uint8]:
    return np.asarray(grey.resize((_GRID, _GRID), Image.Resampling.LANCZOS))


def _estimate(seen: images.Glance) -> Floats:
    """The frequencies of a small picture: Lanczos and cosine transform in one product an axis.

    Without the whole grey levels that Pillow keeps after each pass, which move no more bits than
    the reduced decode does.
    """
    grey, (across, down) = seen.grey, seen.extent
    wider, higher = (-(-length // _LONGEST) for length in grey.size)
    if wider * higher > 1:
        grey, across, down = grey.reduce((wider, higher)), across / wider, down / higher
    width, height = grey.size
    pixels = np.frombuffer(grey.tobytes(), np.uint8).reshape(height, width).astype(np.float32)
    operator, strip = _operator(width, across).T, max(1, _ONE_THREAD // (width * _KEPT))
    rows = [pixels[y : y + strip] @ operator for y in range(0, height, strip)]
    reduced = rows[0] if len(rows) == 1 else np.concatenate(rows)
    lowest: Floats = (_operator(height, down) @ reduced).astype(np.float64)
    return lowest if seen.orientation == 1 else turned(lowest)[_UPRIGHT[seen.orientation]]


@lru_cache(maxsize=1024)  # of at most 64 KB each
def _operator(length: int, extent: float) -> NDArray[np.float32]:
    """(8, length): what each of `length` pixels gives to each of the 8 lowest frequencies of the
    `extent` of them that the photo takes, reduced to 32 by Lanczos of radius 3."""
    scale = extent / _GRID
    wide = max(scale, 1.0)
    centres = (np.arange(_GRID)[:, None] + 0.5) * scale
    x = (np.arange(length) + 0.5 - centres) / wide
    weights: Floats = np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)
    weights /= weights.sum(axis=1, keepdims=True)
    return (_COSINES @ weights).astype(np.float32)


def _sharpness(small: NDArray[np.uint8]) -> float:
    """The mean size of the second differences along both axes; 0 along one of two pixels."""
    pixels = small.astype(np.int16)
    along = [np.abs(np.diff(half, 2)) for half in (pixels[::2], pixels[:, ::2].T)]
    return float(np.mean([each.mean() if each.size else 0.0 for each in along]))
