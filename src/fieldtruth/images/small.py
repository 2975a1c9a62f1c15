"""A photo seen small and in grey: decoded no further than it has to be.

A JPEG can be decoded at 1/2, 1/4 or 1/8 of its size, its brightness alone. What is left of its time
is reading its Huffman codes, so the common JPEG is handed to the decoder at once: Pillow's own look
at its header takes a tenth of a small photo's time, its reading in pieces a twentieth of a larger
one's. All others, and what turns out to be broken, take the road of all photos.
"""

import os
import struct
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from PIL import Image

from fieldtruth.images.opening import (
    BROKEN,
    MOST_PIXELS,
    ON_THEIR_SIDE,
    cut_off,
    decode,
    is_jpeg,
    load,
    orientation_of,
    photo,
)

_MOST_HELD = 1 << 26  # bytes of a file that are read at once
# A named pipe would wait for ever; Windows knows no waiting, and turns line ends in text.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

# ITU-T T.81, table B.1: segments that say nothing of size or turn, and the frames of 8 bits that
# libjpeg decodes. APP1 may hold an orientation; what is not named here is left to Pillow.
_PASSED = {0xC4, 0xDB, 0xDD, 0xFE, 0xE0, *range(0xE2, 0xF0)}
_FRAMES = {0xC0, 0xC1, 0xC2}
_FRAME = struct.Struct(">BBHBHHB")  # lead, marker, length, bits, height, width, components
_START = b"\xff\xd8"


class Glance(NamedTuple):
    """A photo seen small: in grey, as its file stores it, with its full upright size in pixels.

    `orientation`, as EXIF has it, turns `grey` upright. `extent` is how many of its pixels across
    and down the photo takes: at 1/8, 301 pixels end within the 38th. `whole` says that `grey` is
    the photo as `open_upright` gives it, turned to grey; else it was decoded reduced, or its
    brightness was taken for grey.
    """

    grey: Image.Image
    width: int
    height: int
    orientation: int
    extent: tuple[float, float]
    whole: bool


def glance(path: Path, side: int) -> Glance:
    """The photo in grey, as small as its JPEG gives it with the short side still `side` pixels.

    Other formats come whole and upright. A reduced decode reads the file to its end too, so what is
    cut off is found. Raises `Unreadable`.
    """
    return _at_once(path, side) or _by_header(path, side)


def _at_once(path: Path, side: int) -> Glance | None:
    """The common JPEG; None for any other file, and for one that does not decode."""
    data = _read(path)
    found = _frame(data)
    if found is None:
        return None
    width, height = found
    scale = _scale(width, height, side)
    size = -(-width // scale), -(-height // scale)
    try:
        # The decoder trusts the size that it is given: it is the one libjpeg itself will find.
        grey = Image.frombytes("L", size, data, "jpeg", ("L", "", scale, 0))
    except BROKEN:
        return None
    return Glance(grey, width, height, 1, (width / scale, height / scale), whole=False)


def _by_header(path: Path, side: int) -> Glance:
    with photo(path) as (file, _):
        orientation = orientation_of(file) if file.format != "TIFF" else 1
        width, height = file.size
        if orientation in ON_THEIR_SIDE:
            width, height = height, width
        box = file.draft("L", (side, side)) if is_jpeg(file) and file.mode in ("L", "RGB") else None
        if box is None:
            grey = decode(file, path).convert("L")
            return Glance(grey, width, height, 1, grey.size, whole=True)
        try:
            load(file)
            grey = file.copy()
        except BROKEN as fault:
            raise cut_off(path, fault) from fault
        return Glance(grey, width, height, orientation, box[1][2:], whole=False)


def _read(path: Path) -> bytes:
    """The file; nothing where it cannot be read at once. What is wrong with it is found later."""
    try:
        file = os.open(path, _READ)
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return b""
    try:
        status = os.fstat(file)
        held = S_ISREG(status.st_mode) and status.st_size <= _MOST_HELD
        return os.read(file, status.st_size) if held else b""
    except OSError:
        return b""
    finally:
        os.close(file)


def _frame(data: bytes) -> tuple[int, int] | None:
    """Width and height of a grey or three-colour JPEG that says nothing of a turn; else None.

    Never more lenient than libjpeg, so that both find the same frame: segments that follow one
    another without a gap, and nothing else before it.
    """
    if not data.startswith(_START):
        return None
    at = len(_START)
    try:
        while data[at] == 0xFF and data[at + 1] in _PASSED:
            length = data[at + 2] << 8 | data[at + 3]
            if length < 2:
                return None
            at += 2 + length
        lead, marker, _, depth, height, width, components = _FRAME.unpack_from(data, at)
    except (IndexError, struct.error):
        return None
    plain = lead == 0xFF and marker in _FRAMES and depth == 8 and components in (1, 3)
    return (width, height) if plain and 0 < width * height <= MOST_PIXELS else None


def _scale(width: int, height: int, side: int) -> int:
    """The largest of 1, 2, 4, 8 that leaves both sides `side` pixels, as Pillow's `draft`."""
    most = min(width, height) // side
    return next((scale for scale in (8, 4, 2) if scale <= most), 1)
