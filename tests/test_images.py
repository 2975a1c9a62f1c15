"""Photos opened by one policy: upright, RGB, identified; hostile ones refused by name."""

import gc
import os
import struct
import zlib
from hashlib import sha256
from pathlib import Path

import numpy as np
import PIL
import pytest
from numpy.typing import NDArray
from PIL import Image

from fieldtruth import images
from fieldtruth.faults import Unreadable

ORIENTATION = 0x0112
RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)

# The upright scene, and how a camera that says orientation N has stored it (Exif 2.32: where row 0
# and column 0 of what is stored lie on the scene).
SCENE = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3) * 2
STORED: dict[int, NDArray[np.uint8]] = {
    1: SCENE,
    2: SCENE[:, ::-1],  # row 0 top, column 0 right
    3: SCENE[::-1, ::-1],  # bottom, right
    4: SCENE[::-1],  # bottom, left
    5: SCENE.transpose(1, 0, 2),  # left, top
    6: SCENE[:, ::-1].transpose(1, 0, 2),  # right, top
    7: SCENE[::-1, ::-1].transpose(1, 0, 2),  # right, bottom
    8: SCENE[::-1].transpose(1, 0, 2),  # left, bottom
}


def photo(path: Path, pixels: NDArray[np.uint8], orientation: int | None = None) -> Path:
    exif = Image.Exif()
    if orientation is not None:
        exif[ORIENTATION] = orientation
    Image.fromarray(np.ascontiguousarray(pixels)).save(path, exif=exif, lossless=True)
    return path


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_header(width: int, height: int) -> bytes:
    """A PNG that promises a size and holds no pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b""))


def open_files() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("suffix", [".png", ".tif", ".webp"])
@pytest.mark.parametrize("orientation", STORED)
def test_every_exif_orientation_opens_upright(
    tmp_path: Path, orientation: int, suffix: str
) -> None:
    path = photo(tmp_path / f"leaf{suffix}", STORED[orientation], orientation)
    opened = images.open_upright(path)
    np.testing.assert_array_equal(np.asarray(opened), SCENE)
    assert images.size(path) == (7, 5)
    assert (images.facts(path).width, images.facts(path).height) == (7, 5)


@pytest.mark.parametrize("orientation", STORED)
def test_a_turned_jpeg_shows_the_same_scene(tmp_path: Path, orientation: int) -> None:
    blocks = np.kron(np.eye(3, dtype=np.uint8)[:2], np.full((16, 16), 200, np.uint8))
    scene = np.repeat(blocks[:, :, None], 3, axis=2)
    stored = {
        1: scene,
        2: scene[:, ::-1],
        3: scene[::-1, ::-1],
        4: scene[::-1],
        5: scene.transpose(1, 0, 2),
        6: scene[:, ::-1].transpose(1, 0, 2),
        7: scene[::-1, ::-1].transpose(1, 0, 2),
        8: scene[::-1].transpose(1, 0, 2),
    }[orientation]
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    path = tmp_path / "leaf.jpg"
    Image.fromarray(np.ascontiguousarray(stored)).save(path, quality=95, exif=exif)
    opened = np.asarray(images.open_upright(path)).astype(int)
    assert opened.shape == (32, 48, 3)
    assert np.abs(opened - scene).max() <= 12
    assert images.size(path) == (48, 32)


@pytest.mark.parametrize("said", [0, 9, 255])
def test_an_orientation_that_does_not_exist_is_upright(tmp_path: Path, said: int) -> None:
    path = photo(tmp_path / "leaf.png", SCENE, said)
    np.testing.assert_array_equal(np.asarray(images.open_upright(path)), SCENE)


def test_broken_exif_is_shown_as_stored(tmp_path: Path) -> None:
    path = tmp_path / "leaf.jpg"
    Image.fromarray(SCENE).save(path, exif=b"Exif\x00\x00MM\x00\x2a\xff\xff\xff\xff")
    assert images.open_upright(path).size == (7, 5)
    assert images.size(path) == (7, 5)


def test_what_is_opened_cannot_be_turned_again(tmp_path: Path) -> None:
    opened = images.open_upright(photo(tmp_path / "leaf.png", STORED[6], 6))
    assert opened.info == {}
    assert dict(opened.getexif()) == {}


@pytest.mark.parametrize(
    ("mode", "pixel", "expected"),
    [
        ("1", 1, WHITE),
        ("L", 77, (77, 77, 77)),
        ("LA", (77, 255), (77, 77, 77)),
        ("LA", (0, 0), WHITE),
        ("RGBA", (10, 20, 30, 255), (10, 20, 30)),
        ("RGBA", (10, 20, 30, 0), WHITE),  # transparent lies on white
        ("RGBA", (0, 0, 0, 51), (204, 204, 204)),
        ("I;16", 0x4D33, (0x4D, 0x4D, 0x4D)),  # the high byte
        ("I;16", 0xFFFF, WHITE),
    ],
)
def test_every_mode_becomes_8_bit_rgb(
    tmp_path: Path, mode: str, pixel: int | tuple[int, ...], expected: tuple[int, int, int]
) -> None:
    path = tmp_path / "leaf.png"
    Image.new(mode, (3, 2), pixel).save(path)
    opened = images.open_upright(path)
    assert opened.mode == "RGB"
    assert opened.getpixel((1, 1)) == expected


def test_palettes_and_their_transparent_entry(tmp_path: Path) -> None:
    picture = Image.new("P", (2, 1))
    picture.putpalette([*RED, *GREEN])
    picture.putdata([0, 1])
    picture.save(tmp_path / "leaf.png", transparency=1)
    opened = images.open_upright(tmp_path / "leaf.png")
    assert [opened.getpixel((x, 0)) for x in range(2)] == [RED, WHITE]


def test_cmyk_jpeg(tmp_path: Path) -> None:
    Image.new("CMYK", (16, 16), (0, 255, 255, 0)).save(tmp_path / "leaf.jpg", quality=95)
    red, green, blue = np.asarray(images.open_upright(tmp_path / "leaf.jpg"))[8, 8].tolist()
    assert (red > 240, green < 15, blue < 15) == (True, True, True)


def test_16_bit_pgm_keeps_its_high_byte(tmp_path: Path) -> None:
    (tmp_path / "leaf.pgm").write_bytes(b"P5 2 1 65535\n" + bytes([0x12, 0x34, 0xFF, 0xFF]))
    opened = images.open_upright(tmp_path / "leaf.pgm")
    assert [opened.getpixel((x, 0)) for x in range(2)] == [(0x12,) * 3, WHITE]


def test_the_first_frame_of_an_animation(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in (RED, BLUE)]
    frames[0].save(tmp_path / "leaf.gif", save_all=True, append_images=frames[1:])
    assert images.open_upright(tmp_path / "leaf.gif").getpixel((0, 0)) == RED


def test_identity_is_the_bytes_and_grouping_the_pixels(tmp_path: Path) -> None:
    plain = photo(tmp_path / "plain.png", SCENE)
    turned = photo(tmp_path / "turned.png", STORED[6], 6)
    other = photo(tmp_path / "other.png", SCENE[::-1])
    facts = {path: images.facts(path) for path in (plain, turned, other)}
    assert facts[plain].sha256 == sha256(plain.read_bytes()).hexdigest()
    assert facts[plain].sha256 != facts[turned].sha256
    assert facts[plain].pixels == facts[turned].pixels
    assert facts[plain].pixels != facts[other].pixels
    decoder, digest = facts[plain].pixels.split(":")
    assert decoder == "pillow" + ".".join(PIL.__version__.split(".")[:2])
    assert digest == sha256(b"7x5:" + SCENE.tobytes()).hexdigest()


def test_the_grouping_hash_knows_the_size(tmp_path: Path) -> None:
    wide = photo(tmp_path / "wide.png", np.zeros((2, 3, 3), np.uint8))
    tall = photo(tmp_path / "tall.png", np.zeros((3, 2, 3), np.uint8))
    assert images.facts(wide).pixels != images.facts(tall).pixels


def test_a_large_photo_within_the_limit_has_a_size_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "leaf.png").write_bytes(png_header(12_000, 10_000))
    assert images.size(tmp_path / "leaf.png") == (12_000, 10_000)


def broken_files(folder: Path) -> dict[str, Path]:
    """One file of each way to be no photo, by what the message says about it."""
    whole = folder / "whole"
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    contents = {
        "0 bytes": b"",
        "another kind, or": b"not a photo",
        "another kind, or one": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n",
        "another kind, or one ": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        "bomb": png_header(60_000, 60_000),
        "pixels": png_header(13_500, 13_500),
        "cut-off": b"",
        "cut-off file": b"",
        "cut-off file ": png_header(64, 64),
        "32-bit": b"",
        "whole numbers": b"",
    }
    for suffix, name in ((".jpg", "cut-off"), (".png", "cut-off file")):
        Image.fromarray(noise).save(f"{whole}{suffix}")
        data = Path(f"{whole}{suffix}").read_bytes()
        contents[name] = data[: len(data) // 2]
    for name, values in (
        ("32-bit", np.full((4, 4), 70_000, np.int32)),
        ("whole numbers", np.full((4, 4), 0.5, np.float32)),
    ):
        Image.fromarray(values).save(f"{whole}.tif")
        contents[name] = Path(f"{whole}.tif").read_bytes()
    made = {}
    for i, (name, data) in enumerate(contents.items()):
        made[name] = folder / f"{i}.jpg"
        made[name].write_bytes(data)
    return made


def test_what_is_no_photo_is_unreadable_by_name_and_leaves_no_file_open(tmp_path: Path) -> None:
    files = broken_files(tmp_path)
    (tmp_path / "folder.jpg").mkdir()
    os.mkfifo(tmp_path / "pipe.jpg")
    files |= {
        "not a file": tmp_path / "folder.jpg",
        "is not a file": tmp_path / "pipe.jpg",
        "no such file": tmp_path / "none.jpg",
        "no such file ": Path("a\0b.jpg"),
    }
    before = open_files()
    for name, path in files.items():
        for read in (images.open_upright, images.facts):
            with pytest.raises(Unreadable) as caught:
                read(path)
            said = str(caught.value)
            assert said.startswith(f"{path}: expected a photo"), name
            assert name.strip() in said, said
            assert "save it again" in said
    assert open_files() == before


def test_a_good_photo_leaves_no_file_open(tmp_path: Path) -> None:
    path = photo(tmp_path / "leaf.png", SCENE)
    before = open_files()
    kept = [images.open_upright(path), images.facts(path), images.size(path)]
    assert open_files() == before
    assert len(kept) == 3


def test_a_bomb_is_refused_from_the_header_even_where_pillow_would_allow_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "leaf.png"
    path.write_bytes(png_header(13_500, 13_500))
    with pytest.raises(Unreadable, match="182250000 pixels"):
        images.size(path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)  # as other libraries do
    with pytest.raises(Unreadable, match="13500 x 13500 pixels"):
        images.size(path)


def test_random_damage_gives_pixels_or_unreadable_and_nothing_else(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (24, 24, 3), np.uint8)
    rng = np.random.default_rng(2)
    outcomes = {"read": 0, "refused": 0}
    for suffix in (".jpg", ".png", ".tif", ".webp", ".bmp", ".gif"):
        path = tmp_path / f"leaf{suffix}"
        photo(path, noise, 6)
        whole = path.read_bytes()
        for _ in range(40):
            data = bytearray(whole)
            for at in rng.integers(0, len(data), 6):
                data[at] = int(rng.integers(256))
            path.write_bytes(data)
            try:
                opened = images.open_upright(path)
            except Unreadable:
                outcomes["refused"] += 1
            else:
                outcomes["read"] += 1
                assert opened.mode == "RGB"
    assert min(outcomes.values()) > 10, outcomes
