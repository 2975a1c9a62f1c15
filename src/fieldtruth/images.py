"""Photos: opened, turned upright, measured and identified by one policy.

Whatever looks at a photo looks at the same pixels: the first frame, turned as its EXIF
orientation says, as 8-bit RGB. What is transparent lies on white; a 16-bit channel keeps its
high byte; colour profiles are not applied. Every photo is taken to be hostile: only the photo
formats below are ever tried (Pillow would hand an EPS to Ghostscript), and the size in the header
is held against a limit before a pixel is decoded. What cannot be opened is `Unreadable`, never
empty, and no file stays open.
"""

import stat
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest, sha256
from io import BufferedReader
from pathlib import Path

import numpy as np
import PIL
from PIL import Image

from fieldtruth.faults import Unreadable
from fieldtruth.records import Record

FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "BMP", "GIF", "PPM")  # MPO opens as JPEG
MOST_PIXELS = 178_956_970  # where Pillow calls it a bomb, unless a library has lifted its limit

_ORIENTATION = 0x0112  # the EXIF tag; 1 is upright, values and turns: Exif 2.32, table 6
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_ON_THEIR_SIDE = (5, 6, 7, 8)
_DECODER = "pillow" + ".".join(PIL.__version__.split(".")[:2])

# What Pillow's parsers raise on broken files: each plugin lets its own arithmetic fail.
_BROKEN = (
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


class Facts(Record, frozen=True, kw_only=True):
    """What a photo is: its upright size in pixels, its identity, and its hash for grouping.

    `sha256` is of the file's bytes and is the identity. `pixels` hashes the upright RGB pixels
    with their size, to find one picture in two files; decoders differ in the last bit, so it
    starts with the decoder's version and only equal versions compare (design, section 2, rule 10).
    """

    width: int
    height: int
    sha256: str
    pixels: str


def open_upright(path: Path) -> Image.Image:
    """The photo, decoded, upright, RGB, with nothing left of the file: no handle, no EXIF.

    Raises `Unreadable` naming the path, what was expected and what was got.
    """
    with _photo(path) as (file, _):
        return _decode(file, path)


def facts(path: Path) -> Facts:
    """Size, identity and grouping hash in one reading of the file. Raises `Unreadable`."""
    with _photo(path) as (file, stream):
        picture = _decode(file, path)
        stream.seek(0)
        identity = file_digest(stream, "sha256").hexdigest()
    grouping = sha256(f"{picture.width}x{picture.height}:".encode())
    grouping.update(picture.tobytes())
    return Facts(
        width=picture.width,
        height=picture.height,
        sha256=identity,
        pixels=f"{_DECODER}:{grouping.hexdigest()}",
    )


def size(path: Path) -> tuple[int, int]:
    """Width and height of the upright photo in pixels, from the header alone.

    A photo whose pixels are cut off still has a size. Raises `Unreadable`.
    """
    with _photo(path) as (file, _):
        width, height = file.size
        return (height, width) if _orientation(file) in _ON_THEIR_SIDE else (width, height)


def _unreadable(path: Path, got: str) -> Unreadable:
    return Unreadable(
        f"{path}: expected a photo ({', '.join(FORMATS)}) of at most {MOST_PIXELS:,} pixels, "
        f"got {got}; replace it, or save it again as JPEG or PNG"
    )


@contextmanager
def _photo(path: Path) -> Iterator[tuple[Image.Image, BufferedReader]]:
    """The photo with its header read and its stream, both closed on leaving."""
    try:
        status = path.stat()
    except (OSError, ValueError) as fault:  # ValueError: a NUL in the name
        raise _unreadable(path, f"no such file ({fault})") from fault
    if not stat.S_ISREG(status.st_mode):  # a named pipe would wait for ever
        raise _unreadable(path, "something that is not a file")
    if status.st_size == 0:
        raise _unreadable(path, "a file of 0 bytes")
    try:
        stream = path.open("rb")
    except OSError as fault:
        raise _unreadable(path, f"a file that cannot be opened ({fault.strerror})") from fault
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
        raise _unreadable(path, "a file of another kind, or one with a broken header") from fault
    except Image.DecompressionBombError as fault:
        raise _unreadable(path, f"a decompression bomb: {fault}") from fault
    except _BROKEN as fault:
        raise _unreadable(path, f"a broken header ({fault})") from fault
    width, height = file.size
    if not 0 < width * height <= MOST_PIXELS:
        file.close()
        raise _unreadable(path, f"{width} x {height} pixels")
    return file


def _orientation(file: Image.Image) -> int:
    """1 to 8 as the header says; 1 where it says nothing, or nothing that can be read.

    Pillow turns a TIFF by itself. PNG is asked as the base class is: its own `getexif` decodes
    every pixel in search of a late chunk.
    """
    if file.format == "TIFF":
        return 1
    try:
        said = Image.Image.getexif(file).get(_ORIENTATION, 1)
    except _BROKEN:
        return 1  # photo programs show such a photo as it is stored, and so do we
    return said if said in _TURNS else 1


def _decode(file: Image.Image, path: Path) -> Image.Image:
    orientation = _orientation(file)
    try:
        file.load()
        picture = _as_rgb(file)
    except _BROKEN as fault:
        raise _unreadable(path, f"a broken or cut-off file ({fault})") from fault
    if orientation in _TURNS:
        picture = picture.transpose(_TURNS[orientation])
    picture.info.clear()  # else whoever looks at the EXIF turns it a second time
    return picture


def _as_rgb(file: Image.Image) -> Image.Image:
    """A new 8-bit RGB image that shares nothing with the file."""
    if file.mode.startswith("I"):  # I;16 in its byte orders; I is what PPM and old PNG give
        values = np.asarray(file)
        if values.min() < 0 or values.max() > 0xFFFF:
            raise ValueError("32-bit samples")
        return Image.fromarray((values >> 8).astype(np.uint8)).convert("RGB")
    if file.mode == "F":
        raise ValueError("samples that are not whole numbers")
    if file.has_transparency_data:
        layer = file.convert("RGBA")
        ground = Image.new("RGBA", layer.size, "white")
        ground.alpha_composite(layer)
        return ground.convert("RGB")
    return file.convert("RGB")
