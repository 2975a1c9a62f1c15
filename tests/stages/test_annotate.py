"""Targets get boxes, or are dropped as the target they are."""

from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from tests.builders import boxed, leaf, plain, sample, target

from fieldtruth.faults import Refused
from fieldtruth.records import Annotation, Drop, Sample, Target
from fieldtruth.stages.annotate import REASONS, annotate, leaf_box


def drawn_by_hand(given: Sample, of: Target, root: Path) -> Annotation | Drop:
    """An annotator that draws a box for everything but mites."""
    assert given.id == of.sample
    if of.label != "mite":
        return boxed(of, image=str(root / given.images[0]))
    return Drop(id=f"{of.id}:no", sample=given.id, stage="annotate", reason="no_mask", detail="-")


def test_one_record_for_every_target_and_a_drop_names_the_target(tmp_path: Path) -> None:
    samples = {name: sample(name, f"{name}.png") for name in ("s1", "s2", "s3")}
    targets = [target("s2", "rust"), target("s1", "mite"), target("s2", "mite")]
    made = list(annotate(drawn_by_hand, targets, samples, tmp_path))
    assert made[0] == boxed(targets[0], image=str(tmp_path / "s2.png"))
    drops = [each for each in made if isinstance(each, Drop)]
    assert [(each.sample, each.parent, each.detail) for each in drops] == [
        ("s1", "s1:mite", "-"),
        ("s2", "s2:mite", "-"),
    ]


def test_the_leaf_is_boxed_whole_and_its_rule_says_who_did_it(tmp_path: Path) -> None:
    leaf(tmp_path / "a.png", [(60, 50, 80, 60)])
    mark = leaf_box(sample("s"), target("s"), tmp_path)
    assert isinstance(mark, Annotation)
    assert (mark.target, mark.image, mark.width, mark.height) == ("s:rust", "a.png", 160, 120)
    assert mark.level == "object"
    assert mark.scores == ()
    assert "machine" in mark.rule
    (box,) = mark.boxes
    assert box == pytest.approx((20, 20, 140, 100), abs=4)


def test_the_box_is_on_the_upright_photo(tmp_path: Path) -> None:
    """Stored on its side (orientation 6: turn a quarter clockwise to see it upright)."""
    picture = Image.new("RGB", (160, 120), (200, 200, 205))
    ImageDraw.Draw(picture).ellipse((10, 20, 89, 99), fill=(40, 130, 50))
    exif = Image.Exif()
    exif[0x0112] = 6
    picture.save(tmp_path / "a.jpg", exif=exif, quality=95)
    mark = leaf_box(sample("s", "a.jpg"), target("s"), tmp_path)
    assert isinstance(mark, Annotation)
    assert (mark.width, mark.height) == (120, 160)
    # (x, y) stored lies at (119 - y, x) upright: rows 20 to 99 become columns 20 to 99.
    assert mark.boxes[0] == pytest.approx((20, 10, 100, 90), abs=4)


# Sizes at which a height or width shrunk and scaled back lies a rounding error beyond the photo.
@pytest.mark.parametrize("size", [(797, 496), (496, 797), (2645, 859), (300, 1), (1, 1), (257, 3)])
def test_a_close_up_is_boxed_to_its_very_edge_and_not_beyond(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    plain(tmp_path / "a.png", size=size)
    mark = leaf_box(sample("s"), target("s"), tmp_path)
    assert isinstance(mark, Annotation)
    assert mark.boxes == ((0, 0, *size),)


@pytest.mark.parametrize("name", ["text.png", "absent.png"])
def test_a_photo_that_cannot_be_opened_is_a_drop(tmp_path: Path, name: str) -> None:
    (tmp_path / "text.png").write_text("no photo")
    made = leaf_box(sample("s", name), target("s"), tmp_path)
    assert isinstance(made, Drop)
    assert (made.sample, made.stage, made.reason) == ("s", "annotate", "photo_unreadable")
    assert made.reason in REASONS
    assert name in made.detail


def test_a_path_that_leaves_the_release_is_refused(tmp_path: Path) -> None:
    leaf(tmp_path / "a.png")
    (tmp_path / "release").mkdir()
    with pytest.raises(Refused, match="a step up"):
        leaf_box(sample("s", "../a.png"), target("s"), tmp_path / "release")
