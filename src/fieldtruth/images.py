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

import stat
import struct
import unicodedata
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest, sha256
from io import BufferedReader
from pathlib import Path
from typing import Literal, NamedTuple, cast

import numpy as np
import PIL
from numpy.typing import NDArray
from PIL import Image, ImageFile

from fieldtruth.faults import Unreadable
from fieldtruth.records import Record

FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "BMP", "GIF", "PPM")  # MPO opens as JPEG
MOST_PIXELS = 178_956_970  # where Pillow calls it a bomb, unless a library has lifted its limit
PATCH = 28  # pixels; a side below it is less than one patch of Qwen2.5-VL
MOST_STRETCH = 200  # long side over short side: beyond it Qwen's processor refuses a photo

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
        with _photo(path) as (file, stream):
            before = _notes(file, path)
            picture = _decode(file, path)
            seen = _facts(picture, stream)
    except Unreadable as fault:
        return Look(outcome=cast(Outcome, fault.outcome), detail=str(fault))
    return Look(outcome="readable", notes=before, facts=seen)


def open_upright(path: Path) -> Image.Image:
    """The photo, decoded, upright, RGB, with nothing left of the file: no handle, no EXIF.

    Raises `Unreadable` naming the path, what was expected and what was got.
    """
    with _photo(path) as (file, _):
        return _decode(file, path)


def facts(path: Path) -> Facts:
    """Size, identity and grouping hash in one reading of the file. Raises `Unreadable`."""
    with _photo(path) as (file, stream):
        return _facts(_decode(file, path), stream)


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


class Glance(NamedTuple):
    """A photo seen small: upright, in grey, with its full upright size in pixels.

    `whole` says that `grey` is the photo as `open_upright` gives it, turned to grey; else it was
    decoded reduced, or its brightness channel was taken for grey.
    """

    grey: Image.Image
    width: int
    height: int
    whole: bool


def glance(path: Path, side: int) -> Glance:
    """The photo in grey, as small as its JPEG gives it with the short side still `side` pixels.

    Other formats come whole. A reduced decode reads the file to its end too, so what is cut off
    is found. Raises `Unreadable`.
    """
    with _photo(path) as (file, _):
        width, height = file.size
        orientation = _orientation(file) if file.format != "TIFF" else 1
        if orientation in _ON_THEIR_SIDE:
            width, height = height, width
        reduced = _is_jpeg(file) and file.draft("L", (side, side)) is not None
        if reduced and file.mode == "L":
            grey = _grey(file, path)
            grey = grey.transpose(_TURNS[orientation]) if orientation in _TURNS else grey
        else:
            grey = _decode(file, path).convert("L")
        return Glance(grey, width, height, not reduced)


def _is_jpeg(file: Image.Image) -> bool:
    return file.format in ("JPEG", "MPO")


def _grey(file: Image.Image, path: Path) -> Image.Image:
    try:
        _load(file)
        return file.copy()
    except _BROKEN as fault:
        raise _cut_off(path, fault) from fault


def size(path: Path) -> tuple[int, int]:
    """Width and height of the upright photo in pixels, from the header alone.

    A photo whose pixels are cut off still has a size. Raises `Unreadable`.
    """
    with _photo(path) as (file, _):
        width, height = file.size
        turned = _orientation(file) in _ON_THEIR_SIDE and file.format != "TIFF"
        return (height, width) if turned else (width, height)


def label_map(path: Path) -> NDArray[np.int64]:
    """A mask's stored values, shape (height, width): palette indices, or grey values in full.

    A mask is no photo: its numbers are names, so nothing is turned, scaled or laid on white. A
    colour mask gives the number 0xRRGGBB. Raises `Unreadable`.
    """
    with _photo(path) as (file, _):
        try:
            _load(file)
            if file.mode in ("1", "L", "P") or file.mode.startswith("I"):
                return np.asarray(file).astype(np.int64)
            colours = np.asarray(file.convert("RGB")).astype(np.int64)
        except _BROKEN as fault:
            raise _cut_off(path, fault) from fault
    red, green, blue = colours.transpose(2, 0, 1)
    values: NDArray[np.int64] = (red << 16) + (green << 8) + blue
    return values


def turned(path: Path) -> bool:
    """Whether the pixels as stored are not upright, from the header alone. Raises `Unreadable`."""
    with _photo(path) as (file, _):
        return _orientation(file) in _TURNS


def _unreadable(path: Path, outcome: Outcome, got: str) -> Unreadable:
    return Unreadable(
        f"{path}: expected a photo ({', '.join(FORMATS)}) of at most {MOST_PIXELS:,} pixels, "
        f"got {got}; replace it, or save it again as JPEG or PNG",
        outcome,
    )


def _cut_off(path: Path, fault: BaseException) -> Unreadable:
    return _unreadable(path, "broken_pixels", f"a broken or cut-off file ({fault})")


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
            return _unreadable(path, "other_form", hint)
        if plain.casefold() == form.casefold():
            return _unreadable(path, "other_case", f"no such file, but {name!r} in other case")
    return _unreadable(path, "missing", "no such file")


@contextmanager
def _photo(path: Path) -> Iterator[tuple[Image.Image, BufferedReader]]:
    """The photo with its header read and its stream, both closed on leaving."""
    try:
        status = path.stat()
    except PermissionError as fault:
        raise _unreadable(path, "not_allowed", "a folder that may not be entered") from fault
    except (OSError, ValueError) as fault:  # ValueError: a NUL in the name
        raise missing(path) from fault
    if not stat.S_ISREG(status.st_mode):  # a named pipe would wait for ever
        raise _unreadable(path, "not_a_file", "something that is not a file")
    if status.st_size == 0:
        raise _unreadable(path, "empty", "a file of 0 bytes")
    try:
        stream = path.open("rb")
    except OSError as fault:
        said = f"a file that cannot be opened ({fault.strerror})"
        raise _unreadable(path, "not_allowed", said) from fault
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
        raise _unreadable(path, "not_a_photo", said) from fault
    except Image.DecompressionBombError as fault:
        raise _unreadable(path, "too_large", f"a decompression bomb: {fault}") from fault
    except _BROKEN as fault:
        raise _unreadable(path, "broken_header", f"a broken header ({fault})") from fault
    width, height = file.size
    if not 0 < width * height <= MOST_PIXELS:
        file.close()
        raise _unreadable(path, "too_large", f"{width} x {height} pixels")
    return file


def _orientation(file: Image.Image) -> int:
    """1 to 8 as the header says; 1 where it says nothing, or nothing that can be read.

    PNG is asked as the base class is: its own `getexif` decodes every pixel in search of a late
    chunk.
    """
    try:
        said = Image.Image.getexif(file).get(_ORIENTATION, 1)
    except _BROKEN:
        return 1  # photo programs show such a photo as it is stored, and so do we
    return said if said in _TURNS else 1


def _notes(file: Image.Image, path: Path) -> tuple[Note, ...]:
    """What is special about a photo, from its header: nothing is decoded yet."""
    try:
        several = getattr(file, "is_animated", False)
        sixteen = any(";16" in str(tile.args) for tile in getattr(file, "tile", ()))
    except _BROKEN:
        several = sixteen = False
    claimed = _EXTENSIONS.get(path.suffix.lower().removeprefix("."))
    actual = "JPEG" if _is_jpeg(file) else file.format
    short, long = sorted(file.size)
    found: dict[Note, bool] = {
        "turned": _orientation(file) != 1,
        "other_extension": claimed is not None and claimed != actual,
        "first_of_several": bool(several),
        "on_white": file.has_transparency_data,
        "cmyk": file.mode == "CMYK",
        "sixteen_bit": sixteen or file.mode.startswith("I"),
        "tiny": short < PATCH,
        "sliver": long > MOST_STRETCH * short,
    }
    return tuple(note for note, holds in found.items() if holds)


def _load(file: Image.Image) -> None:
    # Other libraries ask Pillow, for the whole process, to fill what is cut off with grey.
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    file.load()


def _decode(file: Image.Image, path: Path) -> Image.Image:
    orientation = _orientation(file)
    try:
        _load(file)
        picture = _as_rgb(file)
    except _Samples as fault:
        raise _unreadable(path, "unsupported_samples", str(fault)) from fault
    except _BROKEN as fault:
        raise _cut_off(path, fault) from fault
    if orientation in _TURNS and file.format != "TIFF":  # Pillow turns a TIFF by itself
        picture = picture.transpose(_TURNS[orientation])
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
