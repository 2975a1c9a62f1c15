"""What a control shows: the item as it is asked about, and the photo as it was drawn anew."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.builders import NAMES, item, leaf

from fieldtruth.draws import rng
from fieldtruth.faults import Refused, Usage
from fieldtruth.grading import open_protocol
from fieldtruth.images import open_upright, size
from fieldtruth.records import Item
from fieldtruth.stages.control import Shown, show
from fieldtruth.store import sha256

KEY = (0, "shuffle")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """`a.png` and `b.png`; `c.jpg`, which lies on its side; `bad.jpg`, which is no photo."""
    root = tmp_path / "bench"
    leaf(root / "a.png", [(60, 50, 80, 60)])
    leaf(root / "b.png", [(30, 30, 50, 60)], shade=40)
    exif = Image.Exif()
    exif[0x0112] = 6
    open_upright(root / "a.png").resize((70, 33)).save(root / "c.jpg", exif=exif)
    (root / "bad.jpg").write_bytes(b"\xff\xd8\xff no photo")
    return root


def shown(items: list[Item], name: str, photos: Path, into: str = "into", seed: int = 0) -> Shown:
    control = name.partition("+")[2]
    return show(items, open_protocol(name), photos, photos.parent / into, (seed, control))


def pixels(of: Shown, place: int = 0) -> list[object]:
    found: list[object] = np.asarray(open_upright(of.folder / of.items[place].image)).tolist()
    return found


def test_without_a_changed_photo_nothing_is_written(photos: Path) -> None:
    one = item(image="a.png", candidates=NAMES, absent_query="leaf mold")
    wrong = shown([one], "known_target+wrong_target", photos)
    turned = shown([one], "candidates+rotate1", photos)
    for found in (wrong, turned, shown([one], "candidates", photos)):
        assert (found.folder, found.broken) == (photos, {})
        assert [each.image for each in found.items] == ["a.png"]
    assert wrong.items[0].query == "leaf mold"
    assert turned.items[0].candidates == (*NAMES[1:], NAMES[0])
    assert not (photos.parent / "into").exists()


def test_the_photo_shown_is_the_one_drawn_for_the_item_without_loss(photos: Path) -> None:
    found = shown([item("x", image="a.png")], "known_target+shuffle", photos)
    own = np.asarray(open_upright(photos / "a.png"))
    control = open_protocol("known_target+shuffle").control
    assert control is not None
    assert control.photo is not None
    drawn = control.photo(own, rng(0, "control shuffle", "x"))
    assert pixels(found) == drawn.tolist() != own.tolist()
    path = found.folder / found.items[0].image
    assert path.read_bytes().startswith(b"\x89PNG")
    assert found.items[0].image_sha256 == sha256(path) == path.stem


def test_it_is_upright_before_it_is_changed(photos: Path) -> None:
    for name in ("known_target+shuffle", "known_target+blank"):
        found = shown([item(image="c.jpg")], name, photos)
        assert size(found.folder / found.items[0].image) == (33, 70)


def test_the_same_run_shows_the_same_bytes_whatever_else_is_asked(photos: Path) -> None:
    many = [item(f"i{n}", image="a.png") for n in range(4)]
    whole = shown(many, "known_target+shuffle", photos)
    part = shown(many[2:], "known_target+shuffle", photos, "other")
    under = shown(many, "open_set+shuffle", photos, "third")
    names = [each.image for each in whole.items]
    assert len(set(names)) == 4
    assert [each.image for each in part.items] == names[2:]
    assert [each.image for each in under.items] == names
    assert {p.name: p.read_bytes() for p in part.folder.iterdir()} == {
        name: (whole.folder / name).read_bytes() for name in names[2:]
    }
    other = shown(many, "known_target+shuffle", photos, "fourth", seed=1)
    assert not set(names) & {each.image for each in other.items}


def test_blank_photos_of_one_size_are_one_file(photos: Path) -> None:
    some = [item("i", image="a.png"), item("j", image="b.png"), item("k", image="c.jpg")]
    found = shown(some, "known_target+blank", photos)
    first, second, third = (each.image for each in found.items)
    assert first == second != third
    assert len(list(found.folder.iterdir())) == 2


def test_a_photo_that_cannot_be_opened_is_an_error_of_its_item_only(photos: Path) -> None:
    some = [item("i", image="bad.jpg"), item("j", image="a.png"), item("k", image="none.png")]
    found = shown(some, "known_target+blank", photos)
    assert [each.id for each in found.items] == ["j"]
    assert list(found.broken) == ["i", "k"]
    assert "bad.jpg: expected a photo" in found.broken["i"]
    assert "none.png" in found.broken["k"]


def test_a_photo_outside_the_benchmark_is_refused(photos: Path) -> None:
    with pytest.raises(Refused):
        shown([item(image="../a.png")], "known_target+blank", photos)


def test_where_nothing_can_be_written_it_is_said(photos: Path) -> None:
    (photos.parent / "into").write_text("a file")
    with pytest.raises(Usage, match="expected room for the photos a control shows, got: "):
        shown([item(image="a.png")], "known_target+blank", photos)
