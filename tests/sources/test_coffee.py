"""BRACOL: which photos give lesions, which lesions count, and what a broken release says."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from tests.sources.releases import (
    SYMPTOM,
    coffee_mask,
    coffee_photo,
    coffee_table,
    save,
)

from fieldtruth.faults import BadRecord, Refused
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.sources.coffee import SOURCE, smallest_lesion

REAL = Path(__file__).parents[3] / "shared/data/coffee"


def one(root: Path, row: str, mask: NDArray[np.uint8] | None = None) -> Sample | Drop:
    """The only row of a release with one photo."""
    native = int(row.split(",")[0])
    coffee_photo(root, native)
    coffee_table(root, row)
    if mask is not None:
        save(root / f"annotations/train/{native}_mask.png", mask)
    (record,) = SOURCE.samples(root)
    return record


def boxes(root: Path, mask: NDArray[np.uint8]) -> tuple[tuple[float, ...], ...] | str:
    """What a miner photo with that mask is annotated with, or why it is not."""
    sample = one(root, "7,1,1,0,0,0,2", mask)
    assert isinstance(sample, Sample)
    (target,) = SOURCE.label(sample)
    assert isinstance(target, Target)
    made = SOURCE.annotate(sample, target, root)
    return made.reason if isinstance(made, Drop) else made.boxes


@pytest.mark.parametrize(
    ("stress", "flags", "expected"),
    [
        (0, "0,0,0,0", "healthy"),
        (1, "1,0,0,0", ("pest", "leaf miner")),
        (2, "0,1,0,0", ("disease", "leaf rust")),
        (3, "0,0,1,0", ("disease", "phoma leaf spot")),
        (4, "0,0,0,1", ("disease", "cercospora leaf spot")),
        (1, "0,1,0,0", "flags_contradict"),
        (1, "0,0,0,0", "flags_contradict"),
        (0, "0,1,0,0", "flags_contradict"),
        (5, "0,0,0,0", "flags_contradict"),
        (5, "0,0,1,0", "flags_contradict"),
        (1, "1,1,0,0", "several_stresses"),
        (5, "1,1,0,0", "several_stresses"),
        (0, "0,0,1,1", "several_stresses"),
    ],
)
def test_only_one_stress_that_is_the_predominant_one_names_a_photo(
    tmp_path: Path, stress: int, flags: str, expected: str | tuple[str, str]
) -> None:
    sample = one(tmp_path, f"7,{stress},{flags},2")
    assert isinstance(sample, Sample)
    (record,) = SOURCE.label(sample)
    if isinstance(record, Target):
        assert (record.kind, record.label) == expected
        assert (record.crop, record.organ) == ("coffee", "leaf")
    elif isinstance(record, Healthy):
        assert (record.crop, "healthy") == ("coffee", expected)
    else:
        assert record.reason == expected


def test_the_row_travels_with_the_sample(tmp_path: Path) -> None:
    sample = one(tmp_path, "7,1,1,0,0,0,2")
    assert isinstance(sample, Sample)
    assert sample.images == ("images/train/7.jpg",)
    assert (sample.native["split"], sample.native["severity"]) == ("train", "2")


@pytest.mark.parametrize(
    ("size", "least"), [((2048, 1024), 420), ((200, 100), 4), ((100, 50), 1), ((101, 50), 2)]
)
def test_the_smallest_lesion(size: tuple[int, int], least: int) -> None:
    assert smallest_lesion(*size) == least


def test_a_lesion_of_the_threshold_counts_and_one_pixel_less_does_not(tmp_path: Path) -> None:
    mask = coffee_mask((20, 20, 22, 22), (40, 20, 43, 21))  # 4 and 3 of 20,000 pixels
    assert boxes(tmp_path, mask) == ((20, 20, 22, 22),)


def test_diagonal_neighbours_are_one_lesion(tmp_path: Path) -> None:
    mask = coffee_mask((20, 20, 22, 22), (22, 22, 24, 24), (30, 22, 32, 24))
    assert boxes(tmp_path, mask) == ((20, 20, 24, 24), (30, 22, 32, 24))


def test_a_lesion_may_touch_every_border(tmp_path: Path) -> None:
    mask = coffee_mask()
    mask[[0, -1]] = mask[:, [0, -1]] = SYMPTOM
    assert boxes(tmp_path, mask) == ((0, 0, 200, 100),)


@pytest.mark.parametrize("colour", [(254, 0, 0), (255, 0, 1), (0, 177, 0), (1, 0, 0)])
def test_a_colour_that_is_none_of_the_three_is_a_drop(
    tmp_path: Path, colour: tuple[int, int, int]
) -> None:
    mask = coffee_mask((20, 20, 30, 30))
    mask[5, 5] = colour
    assert boxes(tmp_path, mask) == "bad_mask_colours"


def test_a_broken_mask_is_a_drop_that_says_so(tmp_path: Path) -> None:
    sample = one(tmp_path, "7,1,1,0,0,0,2", coffee_mask((20, 20, 30, 30)))
    assert isinstance(sample, Sample)
    (target,) = SOURCE.label(sample)
    assert isinstance(target, Target)
    path = tmp_path / "annotations/train/7_mask.png"
    path.write_bytes(path.read_bytes()[:60])
    made = SOURCE.annotate(sample, target, tmp_path)
    assert isinstance(made, Drop)
    assert made.reason == "mask_unreadable"
    assert "7_mask.png: expected a photo" in made.detail
    (tmp_path / "images/train/7.jpg").write_bytes(b"")
    made = SOURCE.annotate(sample, target, tmp_path)
    assert isinstance(made, Drop)
    assert made.reason == "photo_unreadable"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "dataset.csv:1: expected the columns"),
        ("id,stress\n1,0\n", "dataset.csv:1: expected the columns"),
        ("HEADER\n1,0,0,0,0,0\n", "dataset.csv:2: expected 7 values"),
        ("HEADER\n1,0,0,0,0,0,0,0\n", "dataset.csv:2: expected 7 values"),
        ("HEADER\n1,6,0,0,0,0,0\n", "expected predominant_stress 0 to 5, got '6'"),
        ("HEADER\n1,1,2,0,0,0,0\n", "expected miner 0 to 1, got '2'"),
        ("HEADER\n1,1,1,0,0,0,x\n", "expected severity 0 to 4, got 'x'"),
        ("HEADER\n../1,0,0,0,0,0,0\n", "expected a whole number as id, got '../1'"),
        ("HEADER\n1,0,0,0,0,0,0\n1,0,0,0,0,0,0\n", "expected every id once, got 1 again"),
    ],
)
def test_a_table_that_is_not_bracols_is_refused_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    header = "id,predominant_stress,miner,rust,phoma,cercospora,severity"
    (tmp_path / "dataset.csv").write_text(text.replace("HEADER", header), encoding="utf-8")
    with pytest.raises(BadRecord) as caught:
        list(SOURCE.samples(tmp_path))
    assert said in str(caught.value)


def test_no_table_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match="the folder that holds dataset\\.csv"):
        list(SOURCE.samples(tmp_path))


def test_a_table_of_bytes_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "dataset.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadRecord, match="in UTF-8"):
        list(SOURCE.samples(tmp_path))


def test_a_photo_that_links_out_of_the_release_is_dropped(tmp_path: Path) -> None:
    outside = tmp_path / "outside.jpg"
    Image.new("RGB", (200, 100)).save(outside)
    root = tmp_path / "release"
    coffee_table(root, "1,0,0,0,0,0,0")
    (root / "images/train").mkdir(parents=True)
    (root / "images/train/1.jpg").symlink_to(outside)
    (record,) = SOURCE.samples(root)
    assert isinstance(record, Drop)
    assert record.reason == "unsafe_path"


def test_a_mask_that_links_out_of_the_release_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.png"
    save(outside, coffee_mask((20, 20, 30, 30)))
    root = tmp_path / "release"
    sample = one(root, "1,1,1,0,0,0,2")
    assert isinstance(sample, Sample)
    (target,) = SOURCE.label(sample)
    assert isinstance(target, Target)
    (root / "annotations/train").mkdir(parents=True)
    (root / "annotations/train/1_mask.png").symlink_to(outside)
    with pytest.raises(Refused):
        SOURCE.annotate(sample, target, root)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the real photos are not at hand")
def test_the_real_release() -> None:
    fates: Counter[str] = Counter()
    for sample in SOURCE.samples(REAL):
        if isinstance(sample, Drop):
            fates[sample.reason] += 1
            continue
        for record in SOURCE.label(sample):
            if isinstance(record, Target):
                fates[f"{sample.native['split']} {record.label}"] += 1
                if sample.native["split"] == "val":
                    made = SOURCE.annotate(sample, record, REAL)
                    assert isinstance(made, Annotation)
                    assert (made.width, made.height) == (2048, 1024)
                    fates["val boxes"] += len(made.boxes)
            else:
                fates["healthy" if isinstance(record, Healthy) else record.reason] += 1
    assert fates == {
        "no_photo": 1297,
        "train leaf miner": 82,
        "train leaf rust": 64,
        "train phoma leaf spot": 94,
        "train cercospora leaf spot": 17,
        "val leaf miner": 9,
        "val leaf rust": 8,
        "val phoma leaf spot": 14,
        "val cercospora leaf spot": 1,
        "val boxes": 145,
        "healthy": 90,
        "several_stresses": 70,
        "flags_contradict": 1,
    }
