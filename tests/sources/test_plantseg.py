"""PlantSeg: the two published rules, as an independent reading of their description has them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from tests.sources.releases import painted, photo, plantseg_table, save

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.records import Annotation, Drop, Sample, Target
from fieldtruth.sources import plantseg

Box = tuple[float, float, float, float]


def grown(mask: NDArray[np.bool_], steps: list[tuple[int, int]]) -> Iterator[set[tuple[int, int]]]:
    """Sets of (row, column) that hang together by these steps, by their first pixel."""
    left = {(int(r), int(c)) for r, c in zip(*np.nonzero(mask), strict=True)}
    for start in sorted(left):
        if start not in left:
            continue
        found, edge = {start}, [start]
        while edge:
            row, column = edge.pop()
            near = {(row + a, column + b) for a, b in steps} & left - found
            found |= near
            edge += near
        left -= found
        yield found


PLUS = [(0, 1), (1, 0), (0, -1), (-1, 0)]
STAR = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]


def around(pixels: set[tuple[int, int]]) -> tuple[int, int, int, int]:
    rows, columns = zip(*pixels, strict=True)
    return min(columns), min(rows), max(columns) + 1, max(rows) + 1


def area(box: tuple[int, int, int, int]) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def reference_test(mask: NDArray[np.bool_]) -> list[Box]:
    """'>0 -> 4-connected components; keep component BOXES >=0.1% of the image; any box >50% ->
    coarse, one box around the whole mask (max+1); else fine, 30 largest.'"""
    boxes = [around(each) for each in grown(mask, PLUS)]
    height, width = mask.shape
    boxes = [box for box in boxes if area(box) >= 0.001 * height * width]
    if any(2 * area(box) > mask.size for box in boxes):
        return [around({(int(r), int(c)) for r, c in zip(*np.nonzero(mask), strict=True)})]
    return [*sorted(boxes, key=lambda box: -area(box))[:30]]


def reference_sft(mask: NDArray[np.bool_]) -> list[list[int]]:
    """The same in whole thousandths; the one box of a coarse photo ends at its last pixel."""
    height, width = mask.shape
    boxes = reference_test(mask)
    if any(2 * area(around(each)) > mask.size for each in grown(mask, PLUS)):
        ((x1, y1, x2, y2),) = boxes
        return [
            [
                int(x1 / width * 1000),
                int(y1 / height * 1000),
                int(np.ceil((x2 - 1) / width * 1000)),
                int(np.ceil((y2 - 1) / height * 1000)),
            ]
        ]
    scale = (width, height, width, height)
    return [[round(side / of * 1000) for side, of in zip(b, scale, strict=True)] for b in boxes]


def reference_ours(mask: NDArray[np.bool_]) -> list[Box]:
    kept = [each for each in grown(mask, STAR) if 1000 * len(each) >= mask.size]
    boxes: list[Box] = [around(each) for each in kept]
    if any(2 * area(around(each)) > mask.size for each in kept):
        return [around(set().union(*kept))]
    return boxes


@st.composite
def masks(draw: st.DrawFn) -> NDArray[np.bool_]:
    """Dots, bars and blocks on 20 to 60 pixels a side, where a few pixels are 0.1 %."""
    height, width = draw(st.integers(20, 60)), draw(st.integers(20, 60))
    mask = np.zeros((height, width), bool)
    for _ in range(draw(st.integers(1, 45))):
        y, x = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
        mask[y : y + draw(st.integers(1, 9)), x : x + draw(st.sampled_from([1, 1, 2, 5, 50]))] = (
            True
        )
    return mask


@settings(max_examples=25, deadline=None)
@given(mask=masks())
def test_the_rules_are_those_of_the_reference(mask: NDArray[np.bool_]) -> None:
    height, width = mask.shape
    boxes, _ = plantseg.published_test(mask)
    assert [tuple(box) for box in boxes.tolist()] == reference_test(mask)
    boxes, _ = plantseg.ours(mask)
    assert [tuple(box) for box in boxes.tolist()] == reference_ours(mask)
    boxes, _ = plantseg.published_sft(mask)
    scale = np.array([width, height, width, height])
    said = [box for box in reference_sft(mask) if box[0] < box[2] and box[1] < box[3]]
    assert np.rint(boxes / scale * 1000).tolist() == [[float(side) for side in box] for box in said]


def scratch() -> NDArray[np.bool_]:
    """A line of one pixel from corner to corner of 1000 x 1000: a box of all, 0.1 % by area."""
    return np.eye(1000, dtype=bool)


def test_a_scratch_is_everything_by_its_box_and_a_lesion_only_just_by_its_area() -> None:
    boxes, level = plantseg.ours(scratch())
    assert (boxes.tolist(), level) == ([[0, 0, 1000, 1000]], "object")
    short = scratch()
    short[0, 0] = False  # 999 pixels of a million
    assert len(plantseg.ours(short)[0]) == 0
    # By corners only its pixels are 1,000 components of one pixel: none is kept.
    assert len(plantseg.published_test(scratch())[0]) == 0
    thick = np.zeros((1000, 1000), bool)
    for at in range(999):  # a staircase hangs together by edges
        thick[at, at : at + 2] = True
    assert len(plantseg.published_test(thick[:, :])[0]) == 1


def test_a_thin_line_is_a_lesion_by_its_box_and_none_by_its_area() -> None:
    mask = np.zeros((100, 100), bool)
    mask[10:14, 10] = mask[13, 10:14] = True  # an L of 7 pixels in a box of 16; 0.1 % are 10
    assert plantseg.published_test(mask)[0].tolist() == [[10, 10, 14, 14]]
    assert plantseg.ours(mask)[0].tolist() == []


def test_lesions_that_meet_in_a_corner_are_one_to_us() -> None:
    mask = np.zeros((100, 100), bool)
    mask[10:20, 10:20] = mask[20:30, 20:30] = True
    assert plantseg.ours(mask)[0].tolist() == [[10, 10, 30, 30]]
    assert plantseg.published_test(mask)[0].tolist() == [[10, 10, 20, 20], [20, 20, 30, 30]]


def test_the_31st_lesion_is_kept_by_us() -> None:
    mask = np.zeros((100, 100), bool)
    for at in range(36):
        y, x = divmod(at, 6)
        mask[y * 15 : y * 15 + 4, x * 15 : x * 15 + 4] = True
    assert len(plantseg.ours(mask)[0]) == 36
    assert len(plantseg.published_test(mask)[0]) == 30


@pytest.mark.parametrize(
    ("rule", "box"),
    [
        (plantseg.ours, [5, 5, 95, 75]),
        (plantseg.published_test, [0, 5, 95, 75]),  # a speck stretches it
        (plantseg.published_sft, [0, 4.96, 94, 74]),  # y of 62 thousandths; up to the last pixel
    ],
)
def test_a_whole_plant_is_one_box(rule: object, box: list[float]) -> None:
    mask = painted((5, 5, 95, 75), (0, 40, 1, 41)) > 0
    boxes, level = rule(mask)  # type: ignore[operator]
    assert level == "object"
    assert boxes.tolist() == [pytest.approx(box)]


def annotated(root: Path, **options: str) -> dict[str, Annotation | Drop]:
    it = plantseg.open_source(options)
    made: dict[str, Annotation | Drop] = {}
    for sample in it.samples(root):
        if isinstance(sample, Sample):
            for record in it.label(sample):
                if isinstance(record, Target):
                    made[sample.id] = it.annotate(sample, record, root)
    return made


def test_the_table_may_name_another_mask_and_only_the_published_training_rule_asks_it(
    tmp_path: Path,
) -> None:
    photo(tmp_path / "images/test/a.jpg")
    save(tmp_path / "annotations/test/a.png", painted((10, 10, 30, 30)))
    save(tmp_path / "annotations/test/b.png", painted((50, 51, 60, 60)))
    plantseg_table(tmp_path, "a.jpg,1,Apple,apple rust,100x80,b.png,0.1,u,,Test")
    boxes = {}
    for rule in ("ours", "published_test", "published_sft"):
        mark = annotated(tmp_path, rule=rule)["plantseg:test/a.jpg"]
        assert isinstance(mark, Annotation)
        assert mark.rule == f"plantseg {rule}"
        boxes[rule] = mark.boxes
    assert boxes["ours"] == boxes["published_test"] == ((10, 10, 30, 30),)
    (box,) = boxes["published_sft"]
    assert box == pytest.approx((50, 51.04, 60, 60))  # 637.5 thousandths are 638


@pytest.mark.parametrize("mode", ["L", "P", "1", "I;16", "RGB"])
def test_whatever_is_not_nothing_is_diseased(tmp_path: Path, mode: str) -> None:
    photo(tmp_path / "images/test/a.jpg")
    path = tmp_path / "annotations/test/a.png"
    path.parent.mkdir(parents=True)
    mask = painted((10, 10, 30, 30), value=115)
    if mode == "P":  # whose palette paints 0 white: the index counts
        picture = Image.fromarray(mask).convert("P")
        picture.putpalette([255, 255, 255] + [0, 0, 0] * 255)
    elif mode == "I;16":
        picture = Image.fromarray(mask.astype(np.uint16))
    elif mode == "1":
        picture = Image.fromarray(mask > 0)
    else:
        picture = Image.fromarray(mask).convert(mode)
    picture.save(path)
    plantseg_table(tmp_path, "a.jpg,1,Apple,apple rust,100x80,b.png,0.1,u,,Test")
    mark = annotated(tmp_path)["plantseg:test/a.jpg"]
    assert isinstance(mark, Annotation)
    assert mark.boxes == ((10, 10, 30, 30),)


@pytest.mark.parametrize(
    ("said", "plant", "crop", "label"),
    [
        ("apple black rot", "Apple", "apple", "black rot"),
        ("bell pepper bacterial spot", "Bell Pepper", "pepper", "bacterial spot"),
        ("corn northern leaf blight", "Corn", "maize", "northern leaf blight"),
        ("  Wheat   leaf rust ", "wheat", "wheat", "leaf rust"),
        ("tobacco mosaic virus", "Tobacco", "tobacco", "tobacco mosaic virus"),
        ("fire blight", "Pear", "pear", "fire blight"),
        ("apple", "Apple", "apple", "apple"),
        ("grape downy mildew", "", None, "grape downy mildew"),
    ],
)
def test_names(tmp_path: Path, said: str, plant: str, crop: str | None, label: str) -> None:
    photo(tmp_path / "images/train/a.jpg")
    plantseg_table(tmp_path, f"a.jpg,1,{plant},{said},100x80,a.png,0.1,u,,Training")
    (sample,) = plantseg.SOURCE.samples(tmp_path)
    assert isinstance(sample, Sample)
    (target,) = plantseg.SOURCE.label(sample)
    assert isinstance(target, Target)
    assert (target.crop, target.label, target.kind) == (crop, label, "disease")


def test_ids_do_not_depend_on_other_rows(tmp_path: Path) -> None:
    for name in "abc":
        photo(tmp_path / f"images/train/{name}.jpg")
    rows = [f"{name}.jpg,1,Apple,apple rust,x,{name}.png,0.1,u,,Training" for name in "abc"]
    plantseg_table(tmp_path, *rows)
    before = [row.id for row in plantseg.SOURCE.samples(tmp_path)]
    plantseg_table(tmp_path, *rows[:0:-1])
    after = [row.id for row in plantseg.SOURCE.samples(tmp_path) if isinstance(row, Sample)]
    assert before == [f"plantseg:train/{name}.jpg" for name in "abc"]
    assert after == before[:0:-1]


def test_the_third_versions_table(tmp_path: Path) -> None:
    photo(tmp_path / "images/val/a.jpg")
    (tmp_path / "Metadatav2.csv").write_text(
        "Name,Index,Plant,Disease,Label file,Split\na.jpg,0,Apple,apple rust,a.png,Validation\n"
    )
    (sample,) = plantseg.SOURCE.samples(tmp_path)
    assert isinstance(sample, Sample)
    assert (sample.id, sample.native["split"]) == ("plantseg:val/a.jpg", "val")
    assert sample.licence == "CC BY-NC-ND 4.0"
    (sample,) = plantseg.open_source({"licence": "CC BY-NC 4.0"}).samples(tmp_path)
    assert isinstance(sample, Sample)
    assert sample.licence == "CC BY-NC 4.0"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Name,Plant,Disease,Split\n", "expected the columns"),
        ("Name,Plant,Disease,Label file\n", "Training/Test or Split"),
        ("", "expected the columns"),
        ("Name,Plant,Disease,Label file,Split\na.jpg,Apple\n", "Metadata.csv:2: expected a value"),
        ("Name,Plant,Disease,Label file,Split\na,b,c,d,Test,more\n", "Metadata.csv:2"),
        ("Name,Plant,Disease,Label file,Split\n ,b,c,d,Test\n", "expected a Name"),
        ("Name,Plant,Disease,Label file,Split\n\xff", "UTF-8"),
    ],
)
def test_what_is_not_plantsegs_table(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "Metadata.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(BadRecord, match=said):
        list(plantseg.SOURCE.samples(tmp_path))


def test_no_table_and_no_such_rule(tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match="give the folder that holds"):
        list(plantseg.SOURCE.samples(tmp_path))
    with pytest.raises(Usage, match="rule"):
        plantseg.open_source({"rule": "published"})
