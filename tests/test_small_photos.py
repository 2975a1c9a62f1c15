"""A photo seen small is what Pillow's own reduced decode shows, or as unreadable as it says."""

import io
import os
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fieldtruth import images
from fieldtruth.faults import Unreadable

SIDE = 112


def picture(size: tuple[int, int] = (301, 233)) -> Image.Image:
    rng = np.random.default_rng(0)
    coarse = Image.fromarray(rng.integers(0, 256, (20, 30, 3), dtype=np.uint8))
    return coarse.resize(size, Image.Resampling.BICUBIC)


def jpeg(mode: str = "RGB", size: tuple[int, int] = (301, 233), **options: Any) -> bytes:
    stream = io.BytesIO()
    picture(size).convert(mode).save(stream, "JPEG", **options)
    return stream.getvalue()


def upright_at(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def reduced(path: Path) -> Image.Image:
    """Pillow's own, as the file stores it."""
    with Image.open(path) as file:
        file.draft("L", (SIDE, SIDE))
        file.load()
        return file.copy()


KINDS = {
    "plain": jpeg(),
    "grey": jpeg("L"),
    "progressive": jpeg(progressive=True),
    "full colour": jpeg(subsampling=0, quality=95),
    "restarts": jpeg(restart_marker_rows=2),
    "with a profile and a comment": jpeg(icc_profile=b"x" * 900, comment=b"a leaf"),
    "upright by its header": jpeg(exif=upright_at(1)),
    "colours not transformed": jpeg(keep_rgb=True),
    "followed by more": jpeg() + b"\xff\xd8 and more",
    "with a gap before the frame": jpeg()[:2] + b"\xff" + jpeg()[2:],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_jpeg(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(KINDS[kind])
    seen = images.glance(path, SIDE)
    assert (seen.width, seen.height, seen.orientation, seen.whole) == (301, 233, 1, False)
    assert (seen.grey.mode, seen.grey.size, seen.extent) == ("L", (151, 117), (150.5, 116.5))
    assert seen.grey.tobytes() == reduced(path).tobytes()


@pytest.mark.parametrize(
    ("size", "small"),
    [
        ((111, 400), (111, 400)), ((223, 400), (223, 400)), ((224, 225), (112, 113)),
        ((447, 448), (224, 224)), ((448, 901), (112, 226)), ((895, 900), (224, 225)),
        ((896, 900), (112, 113)), ((3000, 2000), (375, 250)), ((1, 1), (1, 1)),
    ],
)  # fmt: skip
def test_as_small_as_the_side_allows(
    tmp_path: Path, size: tuple[int, int], small: tuple[int, int]
) -> None:
    path = tmp_path / "a.jpg"
    for data in (jpeg(size=size), jpeg(size=size, exif=upright_at(1))):
        path.write_bytes(data)
        seen = images.glance(path, SIDE)
        assert seen.grey.size == small == reduced(path).size
        assert (seen.width, seen.height) == size


@pytest.mark.parametrize("orientation", range(2, 9))
def test_a_turn_is_told_and_not_made(tmp_path: Path, orientation: int) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg(exif=upright_at(orientation)))
    seen = images.glance(path, SIDE)
    assert seen.orientation == orientation
    assert (seen.width, seen.height) == images.open_upright(path).size
    assert seen.grey.tobytes() == reduced(path).tobytes()


def test_what_is_not_reduced_is_whole_and_upright(tmp_path: Path) -> None:
    for name in ("a.png", "a.webp", "a.tif", "cmyk.jpg"):
        path = tmp_path / name
        mode = "CMYK" if name == "cmyk.jpg" else "RGB"
        picture().convert(mode).save(path, exif=upright_at(6))
        seen = images.glance(path, SIDE)
        upright = images.open_upright(path)
        assert seen.whole
        assert (seen.width, seen.height) == seen.grey.size == seen.extent == upright.size
        assert seen.orientation == 1
        assert seen.grey.tobytes() == upright.convert("L").tobytes()


def damaged(rng: random.Random, whole: bytes) -> bytes:
    """One to four bytes changed, put in or left out, most of them in the header; or cut off."""
    data, at = bytearray(whole), rng.randrange(2, rng.choice([700, len(whole)]))
    match rng.choice(["changed", "put in", "left out", "cut off"]):
        case "changed":
            for place in (at, *(rng.randrange(2, 660) for _ in range(rng.randrange(3)))):
                data[place] = rng.randrange(256)
        case "put in":
            data[at:at] = rng.randbytes(rng.randint(1, 4))
        case "left out":
            del data[at : at + rng.randint(1, 4)]
        case _:
            del data[-rng.randint(1, len(data) - 1) :]
    return bytes(data)


def by_pillow(path: Path) -> bytes | None:
    """The pixels in grey; None where Pillow refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return reduced(path).convert("L").tobytes()
    except Exception:  # noqa: BLE001 - whatever its parsers raise
        return None


def by_glance(path: Path) -> bytes | str:
    """The pixels; else what became of the file."""
    try:
        return images.glance(path, SIDE).grey.tobytes()
    except Unreadable as fault:
        return fault.outcome


def test_damaged_files_are_seen_as_pillow_sees_them(tmp_path: Path) -> None:
    """Around Pillow's header: nothing is read that Pillow refuses, nothing read otherwise."""
    rng, path, refused = random.Random(7), tmp_path / "a.jpg", 0
    kinds = list(KINDS.values())
    for _ in range(300):
        path.write_bytes(damaged(rng, rng.choice(kinds)))
        expected, seen = by_pillow(path), by_glance(path)
        refused += expected is None
        assert isinstance(seen, str) if expected is None else seen in (expected, "too_large")
    assert 50 < refused < 250


def test_a_file_too_large_to_be_held(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg())
    expected = images.glance(path, SIDE).grey.tobytes()
    os.truncate(path, 1 << 27)  # sparse
    assert images.glance(path, SIDE).grey.tobytes() == expected


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    os.mkfifo(path)
    with pytest.raises(Unreadable) as fault:
        images.glance(path, SIDE)
    assert fault.value.outcome == "not_a_file"
