"""Whatever lies where a photo should be ends in one named outcome, the same at every door."""

import os
import struct
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np
import pytest
from PIL import Image, ImageFile

from fieldtruth import images, store
from fieldtruth.faults import Refused, Unreadable

NOISE = np.random.default_rng(3).integers(0, 256, (64, 64, 3), np.uint8)
E_ACUTE, E_PLUS_ACUTE = "caf\u00e9.png", "cafe\u0301.png"


def png(path: Path, size: tuple[int, int] = (64, 64), mode: str = "RGB") -> Path:
    Image.new(mode, size).save(path, format="PNG")
    return path


def png_header(width: int, height: int) -> bytes:
    """A PNG that promises a size and holds no pixels."""
    fields = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    made = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", fields), (b"IDAT", zlib.compress(b""))):
        made += struct.pack(">I", len(data)) + kind + data
        made += struct.pack(">I", zlib.crc32(kind + data))
    return made


def saved(folder: Path, name: str, picture: Image.Image, **how: object) -> Path:
    picture.save(folder / name, **how)  # type: ignore[arg-type]
    return folder / name


def cut(folder: Path, kind: str, share: float) -> Path:
    whole = saved(folder, f"whole.{kind}", Image.fromarray(NOISE))
    data = whole.read_bytes()
    (folder / f"cut.{kind}").write_bytes(data[: int(len(data) * share)])
    return folder / f"cut.{kind}"


def written(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without root's right to open every file."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(me)


def piped(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.png")
    return folder / "pipe.png"


def turned(folder: Path, kind: str) -> Path:
    exif = Image.Exif()
    exif[0x0112] = 6
    return saved(folder, f"turned.{kind}", Image.new("RGB", (64, 40)), exif=exif)


def animated(folder: Path, kind: str) -> Path:
    frames = [Image.fromarray(NOISE), Image.fromarray(NOISE[::-1])]
    return saved(folder, f"two.{kind}", frames[0], save_all=True, append_images=frames[1:])


def named(folder: Path, name: str, ask: str) -> Path:
    png(folder / name)
    return folder / ask


BAD: dict[str, tuple[images.Outcome, Callable[[Path], Path]]] = {
    "not there": ("missing", lambda at: at / "none.png"),
    "no such folder": ("missing", lambda at: at / "none/none.png"),
    "a NUL in the name": ("missing", lambda at: at / "a\0b.png"),
    "composed, asked for decomposed": ("other_form", lambda at: named(at, E_ACUTE, E_PLUS_ACUTE)),
    "decomposed, asked for composed": ("other_form", lambda at: named(at, E_PLUS_ACUTE, E_ACUTE)),
    "other case": ("other_case", lambda at: named(at, "Leaf.PNG", "leaf.png")),
    "a percent code for a blank": ("missing", lambda at: named(at, "a%20b.png", "a b.png")),
    "a folder": ("not_a_file", lambda at: at),
    "a pipe": ("not_a_file", piped),
    "zero bytes": ("empty", lambda at: written(at, "a.jpg", b"")),
    "a page saved for a photo": ("not_a_photo", lambda at: written(at, "a.jpg", b"<html>404")),
    "PostScript": ("not_a_photo", lambda at: written(at, "a.jpg", b"%!PS-Adobe-3.0 EPSF-3.0\n")),
    "the first bytes of a JPEG": ("not_a_photo", lambda at: written(at, "a.jpg", b"\xff\xd8\xff")),
    "20,000 x 20,000 by its header": (
        "too_large",
        lambda at: written(at, "a.png", png_header(20_000, 20_000)),
    ),
    "over the limit": ("too_large", lambda at: written(at, "a.png", png_header(13_500, 13_500))),
    "a size of nothing": ("not_a_photo", lambda at: written(at, "a.png", png_header(0, 4))),
    "half a JPEG": ("broken_pixels", lambda at: cut(at, "jpg", 0.5)),
    "half a PNG": ("broken_pixels", lambda at: cut(at, "png", 0.5)),
    "most of a WebP": ("broken_header", lambda at: cut(at, "webp", 0.9)),
    "a header without pixels": ("broken_pixels", lambda at: written(at, "a", png_header(64, 64))),
    "32-bit samples": (
        "unsupported_samples",
        lambda at: saved(at, "a.tif", Image.fromarray(np.full((64, 64), 70_000, np.int32))),
    ),
    "fractional samples": (
        "unsupported_samples",
        lambda at: saved(at, "a.tif", Image.fromarray(np.full((64, 64), 0.5, np.float32))),
    ),
}  # fmt: skip

GOOD: dict[str, tuple[tuple[images.Note, ...], tuple[int, int], Callable[[Path], Path]]] = {
    "plain": ((), (64, 64), lambda at: png(at / "a.png")),
    "# in the name": ((), (64, 64), lambda at: png(at / "a#1.png")),
    "%20 in the name": ((), (64, 64), lambda at: png(at / "a%20b.png")),
    "a blank in the name": ((), (64, 64), lambda at: png(at / " a b .png")),
    "a backslash in the name": ((), (64, 64), lambda at: png(at / "a\\b.png")),
    "a composed name": ((), (64, 64), lambda at: png(at / E_ACUTE)),
    "a decomposed name": ((), (64, 64), lambda at: png(at / E_PLUS_ACUTE)),
    "no extension": ((), (64, 64), lambda at: png(at / "a")),
    "capitals": ((), (64, 64), lambda at: png(at / "A.PNG")),
    "a PNG called .jpg": (("other_extension",), (64, 64), lambda at: png(at / "a.jpg")),
    "a JPEG called .png": (
        ("other_extension",),
        (64, 64),
        lambda at: saved(at, "a.png", Image.fromarray(NOISE), format="JPEG"),
    ),
    "a turned JPEG": (("turned",), (40, 64), lambda at: turned(at, "jpg")),
    "a turned TIFF": (("turned",), (40, 64), lambda at: turned(at, "tif")),
    "an animated GIF": (("first_of_several",), (64, 64), lambda at: animated(at, "gif")),
    "an animated WebP": (("first_of_several",), (64, 64), lambda at: animated(at, "webp")),
    "an animated PNG": (("first_of_several",), (64, 64), lambda at: animated(at, "png")),
    "two pages of TIFF": (("first_of_several",), (64, 64), lambda at: animated(at, "tif")),
    "a camera's two views": (("first_of_several",), (64, 64), lambda at: animated(at, "mpo")),
    "transparent": (("on_white",), (64, 64), lambda at: png(at / "a.png", mode="RGBA")),
    "a palette with a transparent entry": (
        ("on_white",),
        (64, 64),
        lambda at: saved(at, "a.png", Image.new("P", (64, 64)), transparency=0),
    ),
    "CMYK": (("cmyk",), (64, 64), lambda at: saved(at, "a.jpg", Image.new("CMYK", (64, 64)))),
    "16 bit": (("sixteen_bit",), (64, 64), lambda at: png(at / "a.png", mode="I;16")),
    "one pixel": (("tiny",), (1, 1), lambda at: png(at / "a.png", (1, 1))),
    "27 pixels": (("tiny",), (27, 64), lambda at: png(at / "a.png", (27, 64))),
    "28 pixels": ((), (28, 64), lambda at: png(at / "a.png", (28, 64))),
    "2048 x 9": (("tiny", "sliver"), (2048, 9), lambda at: png(at / "a.png", (2048, 9))),
    "200 to 1": (("tiny",), (2000, 10), lambda at: png(at / "a.png", (2000, 10))),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_photo_has_one_outcome_at_every_door(tmp_path: Path, case: str) -> None:
    expected, make = BAD[case]
    path = make(tmp_path)
    look = images.examine(path)
    assert (look.outcome, look.facts) == (expected, None)
    assert str(path) in look.detail
    for door in (images.open_upright, images.facts):
        with pytest.raises(Unreadable) as caught:
            door(path)
        assert caught.value.outcome == expected
        assert str(caught.value) == look.detail


@pytest.mark.parametrize("case", GOOD)
def test_what_is_odd_is_read_and_noted(tmp_path: Path, case: str) -> None:
    notes, size, make = GOOD[case]
    path = make(tmp_path)
    look = images.examine(path)
    assert (look.outcome, look.notes, look.detail) == ("readable", notes, "")
    assert look.facts == images.facts(path)
    assert images.size(path) == images.open_upright(path).size == size


def test_a_file_or_folder_that_is_closed_to_us() -> None:
    with TemporaryDirectory() as folder:  # pytest's own folders are closed to others throughout
        Path(folder).chmod(0o755)
        path = png(Path(folder) / "closed.png")
        path.chmod(0)
        with as_nobody():
            assert images.examine(path).outcome == "not_allowed"
        path.chmod(0o644)
        Path(folder).chmod(0)
        with as_nobody():
            assert images.examine(path).outcome == "not_allowed"
        Path(folder).chmod(0o755)


def test_the_tables_name_every_outcome_and_note() -> None:
    shown = {outcome for outcome, _ in BAD.values()} | {"readable", "not_allowed"}
    assert shown == set(get_args(images.Outcome))
    assert {note for notes, *_ in GOOD.values() for note in notes} == set(get_args(images.Note))


def test_the_wrong_name_is_told_with_the_right_one(tmp_path: Path) -> None:
    png(tmp_path / "Leaf.JPG")
    assert "'Leaf.JPG' in other case" in images.examine(tmp_path / "leaf.jpg").detail
    png(tmp_path / unicodedata.normalize("NFD", "é.png"))
    assert "other Unicode form" in images.examine(tmp_path / "\u00e9.png").detail


def test_two_files_that_differ_in_case_are_two_photos(tmp_path: Path) -> None:
    Image.new("RGB", (64, 64), "red").save(tmp_path / "a.png")
    Image.new("RGB", (64, 64), "blue").save(tmp_path / "A.png")
    assert images.open_upright(tmp_path / "a.png").getpixel((0, 0)) == (255, 0, 0)
    assert images.open_upright(tmp_path / "A.png").getpixel((0, 0)) == (0, 0, 255)


@pytest.mark.parametrize("name", ["a\\b.png", "../a.png", "/a.png", "C:/a.png", "a\nb.png", ""])
def test_a_record_cannot_name_what_is_no_safe_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused):
        store.inside(tmp_path, name)


@pytest.mark.parametrize("marked", ["marked", "unmarked"])
def test_cmyk_as_adobe_writes_it_and_without_its_marker(tmp_path: Path, marked: str) -> None:
    """No cyan, full magenta and yellow is red; the marker (APP14) is 14 bytes after its length."""
    path = saved(tmp_path, "a.jpg", Image.new("CMYK", (64, 64), (0, 255, 255, 0)), quality=95)
    data = path.read_bytes()
    at = data.index(b"\xff\xee\x00\x0eAdobe")
    if marked == "unmarked":
        path.write_bytes(data[:at] + data[at + 16 :])
    red, green, blue = np.asarray(images.open_upright(path))[32, 32].tolist()
    assert (red > 240, green < 15, blue < 15) == (True, True, True)


def test_a_cut_off_photo_stays_unreadable_whatever_other_libraries_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cut(tmp_path, "jpg", 0.5)
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    assert images.examine(path).outcome == "broken_pixels"


@pytest.mark.parametrize("mode", ["L", "P", "I;16", "1"])
def test_a_masks_numbers_are_read_as_they_are_stored(tmp_path: Path, mode: str) -> None:
    values = np.array([[0, 1, 0], [1, 0, 1]], np.uint8) * (1 if mode == "1" else 115)
    if mode == "I;16":
        picture = Image.fromarray(values.astype(np.uint16))
    else:
        picture = Image.fromarray(values * (255 if mode == "1" else 1)).convert("L")
        picture = picture.convert("1") if mode == "1" else picture
    if mode == "P":  # a palette that paints the ground in white and 115 in black
        picture = Image.fromarray(values, "L")
        picture = picture.convert("P")
        picture.putpalette([255, 255, 255] + [0, 0, 0] * 255)
    picture.save(tmp_path / "mask.png")
    np.testing.assert_array_equal(images.label_map(tmp_path / "mask.png"), values)


def test_a_colour_mask_gives_a_number_a_colour(tmp_path: Path) -> None:
    Image.new("RGB", (3, 2), (1, 2, 3)).save(tmp_path / "mask.png")
    assert images.label_map(tmp_path / "mask.png").tolist() == [[0x010203] * 3] * 2


def test_a_broken_mask_is_unreadable_by_name(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as caught:
        images.label_map(cut(tmp_path, "png", 0.5))
    assert caught.value.outcome == "broken_pixels"
