"""A face on a photo is flagged where it is; leaves are not; what nobody can see is flagged too."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image
from tests.builders import leaf
from tests.privacy.faces_drawn import face

from fieldtruth.faults import Unreadable
from fieldtruth.privacy import faces

pytestmark = pytest.mark.skipif(
    find_spec("cv2") is None, reason="photos are looked at with the extra faces"
)


@pytest.mark.parametrize("scale", [1, 3])
@pytest.mark.parametrize("orientation", [1, 6])
def test_a_face_is_found_where_it_is_on_the_upright_photo(
    tmp_path: Path, scale: int, orientation: int
) -> None:
    photo = Image.new("RGB", (640, 480), (40, 110, 40))
    photo.paste(face(), (300, 200))  # 180 x 200: the face itself is some 100 wide
    photo = photo.resize((640 * scale, 480 * scale))
    exif = Image.Exif()
    exif[0x0112] = orientation
    if orientation == 6:  # stored on its side: a quarter turn to the right sets it upright
        photo = photo.transpose(Image.Transpose.ROTATE_90)
    photo.save(tmp_path / "a.jpg", exif=exif)
    found = faces.find(tmp_path / "a.jpg")
    assert len(found) == 1
    x1, y1, x2, y2 = (value / scale for value in found[0])
    assert 300 <= x1 < x2 <= 480
    assert 200 <= y1 < y2 <= 400
    assert 70 < x2 - x1 < 150
    assert faces.may_show(tmp_path / "a.jpg")


def test_leaves_show_no_face(tmp_path: Path) -> None:
    leaf(tmp_path / "a.png", [(40, 50, 70, 60)])
    assert faces.find(tmp_path / "a.png") == []
    assert not faces.may_show(tmp_path / "a.png")


def test_a_photo_that_nobody_can_open_may_show_one(tmp_path: Path) -> None:
    face().save(tmp_path / "a.jpg")
    (tmp_path / "a.jpg").write_bytes((tmp_path / "a.jpg").read_bytes()[:200])
    with pytest.raises(Unreadable):
        faces.find(tmp_path / "a.jpg")
    assert faces.may_show(tmp_path / "a.jpg")


def test_a_sliver_is_looked_at_too(tmp_path: Path) -> None:
    Image.new("RGB", (3, 900)).save(tmp_path / "a.png")
    assert faces.find(tmp_path / "a.png") == []
