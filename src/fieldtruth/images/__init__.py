"""Photos: opened, turned upright, measured and identified by one policy.

Whatever looks at a photo looks at the same pixels: the first frame, turned as its EXIF
orientation says, as 8-bit RGB. What is transparent lies on white; a 16-bit channel keeps its
high byte; CMYK is read as Adobe writes it; colour profiles are not applied. The content decides
what a file is, never its extension. Every photo is taken to be hostile: only the photo formats
below are ever tried (Pillow would hand an EPS to Ghostscript), and the size in the header is held
against a limit before a pixel is decoded. What cannot be opened is `Unreadable`, never empty, and
no file stays open. Every file ends in exactly one `Outcome`, with `Note`s of what was done to it:
`examine` gives both, so that an audit can count them.
"""

from hashlib import file_digest, sha256
from io import BufferedReader
from pathlib import Path
from typing import Literal, cast

import numpy as np
import PIL
from numpy.typing import NDArray
from PIL import Image

from fieldtruth.faults import Unreadable
from fieldtruth.images.opening import (
    BROKEN,
    FORMATS,
    MOST_PIXELS,
    ON_THEIR_SIDE,
    TURNS,
    Outcome,
    cut_off,
    decode,
    is_jpeg,
    load,
    missing,
    orientation_of,
    photo,
)
from fieldtruth.images.small import Glance, glance
from fieldtruth.records import Record

__all__ = [
    "FORMATS", "MOST_PIXELS", "MOST_STRETCH", "PATCH", "Facts", "Glance", "Look", "Note",
    "Outcome", "examine", "facts", "glance", "label_map", "missing", "open_upright", "size",
    "turned",
]  # fmt: skip

PATCH = 28  # pixels; a side below it is less than one patch of Qwen2.5-VL
MOST_STRETCH = 200  # long side over short side: beyond it Qwen's processor refuses a photo

Note = Literal[
    "turned",  # as its EXIF orientation says
    "other_extension",  # its name says another format than its content; the content decides
    "first_of_several",  # animated, several pages, or a camera's several views: the first is used
    "on_white",  # it is transparent in places
    "cmyk",
    "sixteen_bit",  # the high byte is used
    "tiny",  # a side under PATCH pixels
    "sliver",  # stretched beyond MOST_STRETCH
]

_EXTENSIONS = {
    "jpg": "JPEG", "jpeg": "JPEG", "jpe": "JPEG", "jfif": "JPEG", "mpo": "JPEG", "png": "PNG",
    "webp": "WEBP", "tif": "TIFF", "tiff": "TIFF", "bmp": "BMP", "gif": "GIF", "ppm": "PPM",
    "pgm": "PPM", "pbm": "PPM",
}  # fmt: skip

_DECODER = "pillow" + ".".join(PIL.__version__.split(".")[:2])


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


class Look(Record, frozen=True, kw_only=True):
    """What became of a file: its outcome, what was done to it, and its facts when readable.

    `detail` is the message for a person when it is not.
    """

    outcome: Outcome
    notes: tuple[Note, ...] = ()
    detail: str = ""
    facts: Facts | None = None


def examine(path: Path) -> Look:
    """What becomes of this file, whatever it is: never raises for a bad photo."""
    try:
        with photo(path) as (file, stream):
            before = _notes(file, path)
            picture = decode(file, path)
            seen = _facts(picture, stream)
    except Unreadable as fault:
        return Look(outcome=cast(Outcome, fault.outcome), detail=str(fault))
    return Look(outcome="readable", notes=before, facts=seen)


def open_upright(path: Path) -> Image.Image:
    """The photo, decoded, upright, RGB, with nothing left of the file: no handle, no EXIF.

    Raises `Unreadable` naming the path, what was expected and what was got.
    """
    with photo(path) as (file, _):
        return decode(file, path)


def facts(path: Path) -> Facts:
    """Size, identity and grouping hash in one reading of the file. Raises `Unreadable`."""
    with photo(path) as (file, stream):
        return _facts(decode(file, path), stream)


def _facts(picture: Image.Image, stream: BufferedReader) -> Facts:
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
    with photo(path) as (file, _):
        width, height = file.size
        turned = orientation_of(file) in ON_THEIR_SIDE and file.format != "TIFF"
        return (height, width) if turned else (width, height)


def label_map(path: Path) -> NDArray[np.int64]:
    """A mask's stored values, shape (height, width): palette indices, or grey values in full.

    A mask is no photo: its numbers are names, so nothing is turned, scaled or laid on white. A
    colour mask gives the number 0xRRGGBB. Raises `Unreadable`.
    """
    with photo(path) as (file, _):
        try:
            load(file)
            if file.mode in ("1", "L", "P") or file.mode.startswith("I"):
                return np.asarray(file).astype(np.int64)
            colours = np.asarray(file.convert("RGB")).astype(np.int64)
        except BROKEN as fault:
            raise cut_off(path, fault) from fault
    red, green, blue = colours.transpose(2, 0, 1)
    values: NDArray[np.int64] = (red << 16) + (green << 8) + blue
    return values


def turned(path: Path) -> bool:
    """Whether the pixels as stored are not upright, from the header alone. Raises `Unreadable`."""
    with photo(path) as (file, _):
        return orientation_of(file) in TURNS


def _notes(file: Image.Image, path: Path) -> tuple[Note, ...]:
    """What is special about a photo, from its header: nothing is decoded yet."""
    try:
        several = getattr(file, "is_animated", False)
        sixteen = any(";16" in str(tile.args) for tile in getattr(file, "tile", ()))
    except BROKEN:
        several = sixteen = False
    claimed = _EXTENSIONS.get(path.suffix.lower().removeprefix("."))
    actual = "JPEG" if is_jpeg(file) else file.format
    short, long = sorted(file.size)
    found: dict[Note, bool] = {
        "turned": orientation_of(file) != 1,
        "other_extension": claimed is not None and claimed != actual,
        "first_of_several": bool(several),
        "on_white": file.has_transparency_data,
        "cmyk": file.mode == "CMYK",
        "sixteen_bit": sixteen or file.mode.startswith("I"),
        "tiny": short < PATCH,
        "sliver": long > MOST_STRETCH * short,
    }
    return tuple(note for note, holds in found.items() if holds)
