"""One road into a photo's file: opened, its header held against the limits, decoded upright.

Everything that looks at a photo goes through `photo` and `decode`; what cannot be opened is
`Unreadable` with its outcome.
"""

import stat
import struct
import unicodedata
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Literal

import numpy as np
import PIL
from PIL import Image, ImageFile

from fieldtruth.faults import Unreadable

FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "BMP", "GIF", "PPM")  # MPO opens as JPEG
MOST_PIXELS = 178_956_970  # where Pillow calls it a bomb, unless a library has lifted its limit

Outcome = Literal[
    "readable",
    "missing",  # no such file, or a name that no file can have
    "other_form",  # missing, and the folder has that name in the other Unicode form
    "other_case",  # missing, and the folder has that name in other case
    "not_a_file",  # a folder, a pipe, a device
    "empty",  # 0 bytes
    "not_allowed",  # there, and not to be opened by this user
    "not_a_photo",  # none of FORMATS, by its content
    "broken_header",
    "too_large",  # more than MOST_PIXELS by its header: a decompression bomb, or as good as one
    "broken_pixels",  # cut off, or damaged
    "unsupported_samples",  # 32-bit or fractional: not a photo's
]

_ORIENTATION = 0x0112  # the EXIF tag; 1 is upright, values and turns: Exif 2.32, table 6
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
ON_THEIR_SIDE = (5, 6, 7, 8)

# What Pillow's parsers raise on broken files: each plugin lets its own arithmetic fail.
BROKEN = (
    OSError,
    EOFError,
    SyntaxError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    NotImplementedError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)


@contextmanager
def photo(path: Path) -> Iterator[tuple[Image.Image, BufferedReader]]:
    """The photo with its header read and its stream, both closed on leaving."""
    try:
        status = path.stat()
    except PermissionError as fault:
        raise unreadable(path, "not_allowed", "a folder that may not be entered") from fault
    except (OSError, ValueError) as fault:  # ValueError: a NUL in the name
        raise missing(path) from fault
    if not stat.S_ISREG(status.st_mode):  # a named pipe would wait for ever
        raise unreadable(path, "not_a_file", "something that is not a file")
    if status.st_size == 0:
        raise unreadable(path, "empty", "a file of 0 bytes")
    try:
        stream = path.open("rb")
    except OSError as fault:
        said = f"a file that cannot be opened ({fault.strerror})"
        raise unreadable(path, "not_allowed", said) from fault
    with stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # broken EXIF, large but allowed: settled below
        file = _read_header(stream, path)
        try:
            yield file, stream
        finally:
            file.close()


def _read_header(stream: BufferedReader, path: Path) -> Image.Image:
    try:
        file = Image.open(stream, formats=FORMATS)
    except PIL.UnidentifiedImageError as fault:
        said = "a file of another kind, or one with a broken header"
        raise unreadable(path, "not_a_photo", said) from fault
    except Image.DecompressionBombError as fault:
        raise unreadable(path, "too_large", f"a decompression bomb: {fault}") from fault
    except BROKEN as fault:
        raise unreadable(path, "broken_header", f"a broken header ({fault})") from fault
    width, height = file.size
    if not 0 < width * height <= MOST_PIXELS:
        file.close()
        raise unreadable(path, "too_large", f"{width} x {height} pixels")
    return file


def orientation_of(file: Image.Image) -> int:
    """1 to 8 as the header says; 1 where it says nothing, or nothing that can be read.

    PNG is asked as the base class is: its own `getexif` decodes every pixel in search of a late
    chunk.
    """
    try:
        said = Image.Image.getexif(file).get(_ORIENTATION, 1)
    except BROKEN:
        return 1  # photo programs show such a photo as it is stored, and so do we
    return said if said in TURNS else 1


def is_jpeg(file: Image.Image) -> bool:
    """Whether its pixels are a JPEG's; a camera's several views (MPO) are too."""
    return file.format in ("JPEG", "MPO")


def load(file: Image.Image) -> None:
    """Decode the pixels; one of `BROKEN` where the file does not have them all."""
    # Other libraries ask Pillow, for the whole process, to fill what is cut off with grey.
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    file.load()


def decode(file: Image.Image, path: Path) -> Image.Image:
    """The pixels, upright, as 8-bit RGB, sharing nothing with the file. Raises `Unreadable`."""
    orientation = orientation_of(file)
    try:
        load(file)
        picture = _as_rgb(file)
    except _Samples as fault:
        raise unreadable(path, "unsupported_samples", str(fault)) from fault
    except BROKEN as fault:
        raise cut_off(path, fault) from fault
    if orientation in TURNS and file.format != "TIFF":  # Pillow turns a TIFF by itself
        picture = picture.transpose(TURNS[orientation])
    picture.info.clear()  # else whoever looks at the EXIF turns it a second time
    return picture


class _Samples(ValueError):
    """Samples that are no photo's."""


def _as_rgb(file: Image.Image) -> Image.Image:
    """A new 8-bit RGB image that shares nothing with the file."""
    if file.mode.startswith("I"):  # I;16 in its byte orders; I is what PPM and old PNG give
        values = np.asarray(file)
        if values.min() < 0 or values.max() > 0xFFFF:
            raise _Samples("32-bit samples")
        return Image.fromarray((values >> 8).astype(np.uint8)).convert("RGB")
    if file.mode == "F":
        raise _Samples("samples that are not whole numbers")
    if file.has_transparency_data:
        layer = file.convert("RGBA")
        ground = Image.new("RGBA", layer.size, "white")
        ground.alpha_composite(layer)
        return ground.convert("RGB")
    return file.convert("RGB")


def unreadable(path: Path, outcome: Outcome, got: str) -> Unreadable:
    """The fault of a file that is no photo to us, and what to do about it."""
    return Unreadable(
        f"{path}: expected a photo ({', '.join(FORMATS)}) of at most {MOST_PIXELS:,} pixels, "
        f"got {got}; replace it, or save it again as JPEG or PNG",
        outcome,
    )


def cut_off(path: Path, fault: BaseException) -> Unreadable:
    """The fault of a photo whose pixels are not all there."""
    return unreadable(path, "broken_pixels", f"a broken or cut-off file ({fault})")


def missing(path: Path) -> Unreadable:
    """The fault of a file that is not there, and whether its folder has another spelling of it.

    Such a file is not taken for the one that was named: on another machine it would be found, or
    a second one with it, and the two must not give different benchmarks.
    """
    form = unicodedata.normalize("NFC", path.name)
    try:
        names = [other.name for other in path.parent.iterdir()]
    except (OSError, ValueError):  # no such folder; a NUL in the name
        names = []
    for name in sorted(names):
        plain = unicodedata.normalize("NFC", name)
        if plain == form:
            hint = f"no such file, but {name!r}, the same name in the other Unicode form"
            return unreadable(path, "other_form", hint)
        if plain.casefold() == form.casefold():
            return unreadable(path, "other_case", f"no such file, but {name!r} in other case")
    return unreadable(path, "missing", "no such file")
