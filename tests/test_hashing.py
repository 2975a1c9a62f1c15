"""The perceptual hash is ImageHash's to the bit; the screen stays within its margin of it."""

from pathlib import Path

import imagehash
import numpy as np
import pytest
from PIL import Image, ImageEnhance
from tests.scenes import at_distance, save

from fieldtruth import hashing, images
from fieldtruth.faults import Unreadable, Usage

DATA = Path(__file__).parents[2] / "shared/data"
REAL = [
    *sorted(DATA.glob("coffee/images/*/*.jpg"))[::60],
    *sorted(DATA.glob("plantvillage/*/*"))[::6],
    *sorted(DATA.glob("mirage/sample_images/*"))[::3],
]
needs_photos = pytest.mark.skipif(not REAL, reason="the real photos are not at hand")


def peer(path: Path) -> int:
    """ImageHash's own, of the upright photo."""
    return int(str(imagehash.phash(images.open_upright(path))), 16)


def apart(a: int, b: int) -> int:
    return (a ^ b).bit_count()


@pytest.mark.data
@needs_photos
@pytest.mark.slow
def test_real_photos() -> None:
    screened = []
    for path in REAL:
        assert hashing.phash(path) == peer(path), path
        seen = hashing.look(path)
        assert hashing.screen(path) == int(seen.hashes[0])
        screened.append(apart(int(seen.hashes[0]), peer(path)))
        assert int(hashing.examine(path).hashes[0]) == peer(path)
    assert max(screened) <= hashing.MARGIN // 2
    assert np.mean(screened) < 0.5


@pytest.mark.data
@needs_photos
@pytest.mark.slow
def test_a_reduced_photo_that_ends_within_a_pixel(tmp_path: Path) -> None:
    """301 pixels at 1/2 are 150.5 and not 151: taken for 151, twice as many bits would move."""
    path, screened = tmp_path / "a.jpg", []
    for source in REAL[::2]:
        photo = images.open_upright(source)
        for width in (301, 450):
            photo.resize((width, width * photo.height // photo.width)).save(path, quality=75)
            screened.append(apart(hashing.screen(path), peer(path)))
    assert max(screened) <= hashing.MARGIN // 2
    assert np.mean(screened) < 0.4


@pytest.mark.data
@needs_photos
@pytest.mark.slow
def test_near_misses_are_screened_and_decided_as_by_imagehash(tmp_path: Path) -> None:
    """Copies, and photos with another mixed in so far that 4, 6 or 8 bits move, at four sizes."""
    found: dict[int, int] = {}
    for number, source in enumerate(REAL[::2]):
        photo, other = images.open_upright(source), images.open_upright(REAL[2 * number - 1])
        photo.thumbnail(((256, 301, 450, 700)[number % 4],) * 2)
        one = save(photo, tmp_path / "one.jpg")
        near = [at_distance(photo, other, distance) for distance in (4, 6, 8)]
        copy = photo.resize((photo.width * 2 // 3, photo.height * 2 // 3))
        for mixed in (copy, *near):
            if mixed is None:
                continue
            two = save(mixed, tmp_path / "two.jpg", quality=75)
            distance = apart(peer(one), peer(two))
            found[distance] = found.get(distance, 0) + 1
            screened = apart(hashing.screen(one), hashing.screen(two))
            assert abs(screened - distance) <= hashing.MARGIN
            exact = apart(hashing.phash(one), hashing.phash(two))
            for radius in range(4, 9):
                decided = screened <= radius + hashing.MARGIN and exact <= radius
                assert decided == (distance <= radius)
    assert min(found.get(distance, 0) for distance in (0, 4, 6, 8)) >= 8, found


@pytest.mark.data
@needs_photos
@pytest.mark.slow
@pytest.mark.parametrize("contrast", [0.3, 0.1, 0.03, 0.01])
def test_faint_photos_are_not_left_to_the_screen(tmp_path: Path, contrast: float) -> None:
    path = tmp_path / "faint.jpg"
    for source in REAL[::4]:
        faint = ImageEnhance.Contrast(images.open_upright(source)).enhance(contrast)
        faint.save(path, quality=90)
        seen = hashing.look(path)
        assert apart(int(seen.hashes[0]), peer(path)) <= (0 if seen.exact else 2)


WIDE = np.linspace(0, 255, 64)
PICTURES = {
    "black": np.zeros((64, 64)),
    "white": np.full((64, 64), 255),
    "grey": np.full((64, 48), 97),
    "left to right": np.tile(WIDE, (64, 1)),
    "top to bottom": np.tile(WIDE[:, None], (1, 40)),
    "corner to corner": (WIDE[:, None] + WIDE) / 2,
    "one dot": np.pad([[255]], ((20, 43), (10, 53))),
    "half": np.repeat([[0], [200]], 32, axis=0).repeat(64, axis=1),
    "stripes": np.tile([0, 0, 0, 0, 255, 255, 255, 255], (64, 8)),
    "one pixel": np.array([[5]]),
    "a row": WIDE[None, :],
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_exact_zeros(tmp_path: Path, name: str) -> None:
    path = tmp_path / "picture.png"
    Image.fromarray(PICTURES[name].astype(np.uint8)).save(path)
    assert hashing.phash(path) == peer(path) == hashing.screen(path)


@pytest.mark.parametrize(("shade", "expected"), [(0, 0), (1, 1 << 63), (255, 1 << 63)])
def test_blank_photos(tmp_path: Path, shade: int, expected: int) -> None:
    """ImageHash parts black from white; what photos are compared by does not (design, 8)."""
    for name in ("blank.png", "blank.jpg"):
        path = tmp_path / name
        Image.new("RGB", (300, 200), (shade, shade, shade)).save(path)
        seen = hashing.look(path)
        assert hashing.phash(path) == peer(path) == expected
        assert set(seen.hashes.tolist()) == {1 << 63}
        assert set(hashing.examine(path).hashes.tolist()) == {1 << 63}
        assert (seen.flat, seen.poor, seen.exact) == (True, True, True)


@pytest.mark.parametrize(
    "size", [(600, 400), (900, 1300), (130, 131), (40, 300), (7, 5), (113, 9000), (5001, 113)]
)
@pytest.mark.parametrize("name", ["a.jpg", "a.png"])
def test_noise_of_every_size(tmp_path: Path, size: tuple[int, int], name: str) -> None:
    rng = np.random.default_rng(size[0])
    coarse = Image.fromarray(rng.integers(0, 256, (9, 9, 3), dtype=np.uint8))
    path = tmp_path / name
    coarse.resize(size, Image.Resampling.BICUBIC).save(path)
    seen = hashing.look(path)
    assert (seen.width, seen.height) == size
    assert hashing.phash(path) == peer(path)
    assert apart(int(seen.hashes[0]), peer(path)) <= (0 if seen.exact else 2)
    assert not seen.poor


@pytest.mark.parametrize("size", [(400, 300), (451, 227)])
@pytest.mark.parametrize("turn", range(1, 9))
def test_photos_are_hashed_upright(tmp_path: Path, turn: int, size: tuple[int, int]) -> None:
    """As the header says, whatever way the pixels lie, in the screen and in the exact hash."""
    rng = np.random.default_rng(3)
    scene = Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)).resize(size)
    path = tmp_path / "a.jpg"
    exif = Image.Exif()
    exif[0x0112] = turn
    scene.save(path, exif=exif, quality=95)
    upright = peer(path)
    assert hashing.phash(path) == upright
    assert apart(hashing.screen(path), upright) <= 2
    seen = hashing.look(path)
    assert (seen.width, seen.height) == images.open_upright(path).size


def test_turns_are_those_of_the_pixels(tmp_path: Path) -> None:
    """The frequencies' signs and axes do what flipping the picture does."""
    rng = np.random.default_rng(8)
    grid = rng.integers(0, 256, (32, 32), dtype=np.uint8)
    every = hashing.bits(hashing.turned(hashing.frequencies(grid)))
    assert len(set(every.tolist())) == len(hashing.TURNS) == 8
    for which, value in enumerate(every.tolist()):
        seen = hashing.turn(grid, which)
        assert int(hashing.bits(hashing.frequencies(seen))) == value
    by_hand = {"rotate_90": np.rot90(grid), "left_right": np.fliplr(grid), "transpose": grid.T}
    for name, expected in by_hand.items():
        assert (hashing.turn(grid, hashing.TURNS.index(name)) == expected).all()


def test_a_written_hash_says_what_it_is() -> None:
    assert hashing.parse(hashing.text(0x1234)) == 0x1234
    for other in ("1234", "opencv.phash:8000000000000000", hashing.text(1)[:-1]):
        with pytest.raises(Usage, match="hash the photos again"):
            hashing.parse(other)


def test_what_can_be_seen_of_quality(tmp_path: Path) -> None:
    sharp, dark = tmp_path / "a.png", tmp_path / "b.png"
    rng = np.random.default_rng(1)
    noise = rng.integers(0, 256, (200, 200), dtype=np.uint8)
    Image.fromarray(noise).save(sharp)
    Image.fromarray(noise // 8).save(dark)
    one, other = hashing.look(sharp), hashing.look(dark)
    assert one.bright > 120 > 31 > other.bright
    assert one.sharp > 50 > other.sharp > 5
    assert one.sha256 != other.sha256


@pytest.mark.parametrize("content", [b"", b"no photo"])
def test_what_cannot_be_read_has_no_hash(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(content)
    for read in (hashing.look, hashing.examine, hashing.phash, hashing.screen):
        with pytest.raises(Unreadable):
            read(path)


def test_a_photo_cut_off_has_no_hash_in_the_screen_either(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    rng = np.random.default_rng(2)
    Image.fromarray(rng.integers(0, 256, (512, 512, 3), dtype=np.uint8)).save(path)
    path.write_bytes(path.read_bytes()[:-2000])
    for read in (hashing.look, hashing.phash):
        with pytest.raises(Unreadable) as fault:
            read(path)
        assert fault.value.outcome == "broken_pixels"
