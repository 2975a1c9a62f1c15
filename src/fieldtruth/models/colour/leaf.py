"""Where the leaf is, and its colours in CIE L*a*b*: what lesions are told apart from.

No training: the frame of the photo is taken for background, and what differs from it in colour
is leaf. Brightness counts little, since a leaf's shadow differs from the paper in nothing else.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

Array = NDArray[np.float32]
Mask = NDArray[np.bool_]

WORK = 1024  # pixels of the longer side lesions are looked for at; smaller photos stay as they are
COARSE = 256  # pixels of the longer side the leaf is looked for at
FLOOR = np.array([14.0, 3.0, 3.0], np.float32)  # least spread of the frame's L*, a*, b*
FRAME = 0.03  # width of the frame, as a share of the shorter side
_SRGB_TO_XYZ = np.array(  # IEC 61966-2-1, rows divided by the D65 white
    [
        [0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505],
        [0.2126, 0.7152, 0.0722],
        [0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089],
    ],
    np.float32,
)


def shrink(photo: Image.Image, longer: int) -> Image.Image:
    """The photo with its longer side at most `longer` pixels; never enlarged."""
    scale = longer / max(photo.size)
    if scale >= 1:
        return photo
    width, height = (max(1, round(side * scale)) for side in photo.size)
    return photo.resize((width, height), Image.Resampling.BOX, reducing_gap=2.0)


def lab(rgb: NDArray[np.uint8]) -> Array:
    """(h, w, 3) sRGB bytes to L* (0 to 100), a* and b* (about -100 to 100)."""
    step = np.arange(256, dtype=np.float32) / 255
    linear = np.where(step <= 0.04045, step / 12.92, ((step + 0.055) / 1.055) ** 2.4)
    red, green, blue = np.moveaxis(linear.astype(np.float32)[rgb], -1, 0)
    # Not a matrix product: its last bits hang on the number of threads.
    xyz = np.stack([red * r + green * g + blue * b for r, g, b in _SRGB_TO_XYZ], axis=-1)
    curve = np.where(xyz > 216 / 24389, np.cbrt(xyz), xyz * (841 / 108) + 4 / 29)
    light = 116 * curve[..., 1] - 16
    green_red = 500 * (curve[..., 0] - curve[..., 1])
    blue_yellow = 200 * (curve[..., 1] - curve[..., 2])
    return np.stack([light, green_red, blue_yellow], axis=-1).astype(np.float32)


def find_leaf(colours: Array) -> Mask:
    """(h, w, 3) L*a*b* to the (h, w) mask of the leaf or leaves, holes filled.

    All of the photo where nothing, or nearly everything, differs from the frame: a close-up.
    """
    height, width = colours.shape[:2]
    step = max(1, max(height, width) // COARSE)
    mask = _differs(blocks(colours, step))
    mask = ndimage.binary_opening(mask, iterations=1)
    mask = ndimage.binary_closing(np.pad(mask, 4), _disc(3))[4:-4, 4:-4]
    mask = ndimage.binary_fill_holes(_largest(mask))
    if not 0.02 < mask.mean() < 0.97:
        return np.ones((height, width), bool)
    return mask[np.ix_(np.arange(height) // step, np.arange(width) // step)]


def blocks(values: Array, step: int) -> Array:
    """(h, w, k) to its means over blocks of `step` by `step`, those at the far edges cut off."""
    height, width, layers = values.shape
    told = np.pad(values, ((0, -height % step), (0, -width % step), (0, 0)), mode="edge")
    parted = told.reshape(told.shape[0] // step, step, told.shape[1] // step, step, layers)
    return np.asarray(parted.mean((1, 3), dtype=np.float32))


def leaf_box(mask: Mask) -> tuple[int, int, int, int]:
    """The box (x1, y1, x2, y2) around all of a mask that is not empty, far edges exclusive."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _differs(small: Array) -> Mask:
    """Which pixels are unlike the frame: Otsu's threshold on the logarithm of the distance."""
    band = max(1, round(FRAME * min(small.shape[:2])))
    inner = np.zeros(small.shape[:2], bool)
    inner[band:-band, band:-band] = True
    frame = small[~inner]
    centre = np.median(frame, axis=0)
    spread = np.maximum(1.4826 * np.median(np.abs(frame - centre), axis=0), FLOOR)
    distance = np.sqrt((((small - centre) / spread) ** 2).sum(-1))
    level = np.log(distance + 0.5)
    return np.asarray(level > _otsu(level))


def _otsu(values: NDArray[Any]) -> float:
    """The cut that parts values in two with the most variance between (Otsu 1979)."""
    counts, edges = np.histogram(values, 128)
    middle = (edges[1:] + edges[:-1]) / 2
    below = np.cumsum(counts)
    above = below[-1] - below
    total = np.cumsum(counts * middle)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = below * above * (total / below - (total[-1] - total) / above) ** 2
    return float(edges[1 + int(np.nanargmax(between[:-1]))]) if np.isfinite(between).any() else 0.0


def _largest(mask: Mask) -> Mask:
    """The largest 8-connected part, and all that are at least a third of it."""
    parts, count = ndimage.label(mask, np.ones((3, 3)))
    if count == 0:
        return mask
    sizes = np.bincount(parts.ravel())
    sizes[0] = 0
    return np.asarray((sizes >= sizes.max() / 3)[parts] & mask)


def _disc(radius: int) -> Mask:
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    return np.asarray(x * x + y * y <= radius * radius)
