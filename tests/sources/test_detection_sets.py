"""COCO and VOC sets as people hand them out, and our own exports read as such sets."""

import json
from pathlib import Path

import pytest
from tests.builders import frozen, healthy_row, row
from tests.sources.releases import photo, voc_file

from fieldtruth import store
from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target
from fieldtruth.sources import coco, voc
from fieldtruth.sources.contract import Source
from fieldtruth.stages.export import export

BOX = (11.0, 21.0, 40.0, 60.0)


def walked(source: Source, root: Path) -> dict[str, list[Annotation | Healthy | Drop]]:
    """What becomes of each row, by its sample's id."""
    made: dict[str, list[Annotation | Healthy | Drop]] = {}
    for sample in source.samples(root):
        if isinstance(sample, Drop):
            made.setdefault(sample.sample, []).append(sample)
            continue
        for record in source.label(sample):
            end = source.annotate(sample, record, root) if isinstance(record, Target) else record
            made.setdefault(sample.id, []).append(end)
    return made


def coco_file(path: Path, *names: str) -> Path:
    """Images of 100 x 80, each with one box of `rust`."""
    whole = {
        "images": [
            {"id": at, "file_name": name, "width": 100, "height": 80}
            for at, name in enumerate(names)
        ],
        "annotations": [
            {"image_id": at, "category_id": 0, "bbox": [10, 20, 30, 40]}
            for at, _ in enumerate(names)
        ],
        "categories": [{"id": 0, "name": "rust", "supercategory": "wheat"}],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("file", "where", "split"),
    [
        ("annotations.json", "a.jpg", None),
        ("annotations.json", "images/a.jpg", None),
        ("annotations/instances_train2017.json", "images/train/a.jpg", "train"),
        ("annotations/instances_val.json", "val/a.jpg", "val"),
        ("valid/_annotations.coco.json", "valid/a.jpg", "val"),
        ("annotations/test.json", "annotations/a.jpg", "test"),
    ],
)
def test_photos_lie_where_people_put_them(
    tmp_path: Path, file: str, where: str, split: str | None
) -> None:
    coco_file(tmp_path / file, "a.jpg")
    photo(tmp_path / where)
    (sample,) = coco.SOURCE.samples(tmp_path)
    assert isinstance(sample, Sample)
    assert (sample.id, sample.images) == (f"coco:{where}", (where,))
    assert sample.native.get("split") == split


def test_a_file_and_a_folder_may_be_named(tmp_path: Path) -> None:
    coco_file(tmp_path / "odd/boxes.json", "a.jpg")
    coco_file(tmp_path / "other.json", "b.jpg")
    photo(tmp_path / "pictures/a.jpg")
    told = coco.open_source({"file": "odd/boxes.json", "photos": "pictures"})
    assert list(walked(told, tmp_path)) == ["coco:pictures/a.jpg"]
    for options in ({"file": "../x.json"}, {"photos": "../x"}):
        source = coco.open_source(options)
        try:
            rows = list(source.samples(tmp_path))
        except Refused:
            continue
        assert {each.reason for each in rows if isinstance(each, Drop)} == {"unsafe_path"}
    with pytest.raises(Usage, match=r"none\.json"):
        list(coco.open_source({"file": "none.json"}).samples(tmp_path))


def test_supercategories_may_be_crops(tmp_path: Path) -> None:
    coco_file(tmp_path / "a.json", "a.jpg")
    photo(tmp_path / "a.jpg")
    source = coco.open_source({"supercategory": "crop", "kind": "symptom"})
    (sample,) = source.samples(tmp_path)
    assert isinstance(sample, Sample)
    (target,) = source.label(sample)
    assert isinstance(target, Target)
    assert (target.crop, target.kind, target.label) == ("wheat", "symptom", "rust")


def test_a_photo_of_two_files_is_nobodys(tmp_path: Path) -> None:
    coco_file(tmp_path / "a.json", "a.jpg")
    coco_file(tmp_path / "b.json", "a.jpg")
    photo(tmp_path / "a.jpg")
    ends = [end for made in walked(coco.SOURCE, tmp_path).values() for end in made]
    assert [isinstance(end, Drop) and end.reason for end in ends] == ["listed_twice"] * 2


@pytest.mark.parametrize("source", [coco.SOURCE, voc.SOURCE])
def test_nothing_to_read(tmp_path: Path, source: Source) -> None:
    with pytest.raises(Usage, match=r"expected .* got none"):
        list(source.samples(tmp_path))


def test_a_file_that_is_not_coco_stops_the_reading(tmp_path: Path) -> None:
    coco_file(tmp_path / "a.json", "a.jpg")
    (tmp_path / "package.json").write_text("{}")
    with pytest.raises(BadRecord, match=r"package\.json: expected a COCO file"):
        list(coco.SOURCE.samples(tmp_path))
    photo(tmp_path / "a.jpg")
    assert list(walked(coco.open_source({"file": "a.json"}), tmp_path)) == ["coco:a.jpg"]


@pytest.mark.parametrize(("empty", "fate"), [("drop", "Drop"), ("healthy", "Healthy")])
@pytest.mark.parametrize("module", [coco, voc])
def test_photos_without_boxes_are_healthy_only_when_told(
    tmp_path: Path, module: object, empty: str, fate: str
) -> None:
    whole = {"images": [{"id": 0, "file_name": "a.jpg"}]}
    (tmp_path / "a.json").write_text(json.dumps(whole))
    voc_file(tmp_path, "a")
    photo(tmp_path / "a.jpg")
    source = module.open_source({"empty": empty})  # type: ignore[attr-defined]
    ((end,),) = walked(source, tmp_path).values()
    assert type(end).__name__ == fate


@pytest.mark.parametrize(("base", "box"), [("1", (10, 20, 40, 60)), ("0", (11, 21, 40, 60))])
def test_voc_counted_from_one_or_from_zero(
    tmp_path: Path, base: str, box: tuple[float, ...]
) -> None:
    voc_file(tmp_path, "a", ("rust", BOX))
    photo(tmp_path / "JPEGImages/a.jpg")
    ((end,),) = walked(voc.open_source({"base": base}), tmp_path).values()
    assert isinstance(end, Annotation)
    assert end.boxes == (box,)


@pytest.mark.parametrize(
    ("said", "where"),
    [
        ("a.jpg", "JPEGImages/a.jpg"),
        ("a.jpg", "images/a.jpg"),
        ("a.jpg", "Annotations/a.jpg"),
        ("a.jpg", "wrong/a.jpg"),  # the folder that the file names
        ("", "JPEGImages/a.png"),
        ("IMG_1.jpg", "JPEGImages/a.JPG"),
    ],
)
def test_voc_photos_lie_where_people_put_them(tmp_path: Path, said: str, where: str) -> None:
    voc_file(tmp_path, "a", ("rust", BOX), photo_name=said)
    photo(tmp_path / where)
    assert list(walked(voc.SOURCE, tmp_path)) == [f"voc:{where}"]


def test_a_voc_release_below_the_top(tmp_path: Path) -> None:
    voc_file(tmp_path / "VOCdevkit/VOC2012", "a", ("rust", BOX))
    photo(tmp_path / "VOCdevkit/VOC2012/JPEGImages/a.jpg")
    assert list(walked(voc.SOURCE, tmp_path)) == ["voc:VOCdevkit/VOC2012/JPEGImages/a.jpg"]


def test_our_own_exports_are_such_sets(tmp_path: Path) -> None:
    rows = [
        row("p0"), row("p1", image="c.png", label="late blight", kind="symptom"), healthy_row("h0"),
    ]  # fmt: skip
    (tmp_path / "photos").mkdir()
    photo(tmp_path / "photos/c.png", (32, 24))
    bench = frozen(tmp_path / "bench", rows)
    for name in ("coco", "voc"):
        export(name, bench, tmp_path / name)
    items = {item.id: item for item in store.open_bench(bench).items}
    expected = {
        items["p0"].image: (items["p0"].boxes, "lesion"),
        items["p1"].image: (items["p1"].boxes, "lesion"),
        items["h0"].image: "healthy",
    }
    for source, root in (
        (coco.open_source({"supercategory": "kind"}), tmp_path / "coco"),
        (voc.open_source({"empty": "healthy"}), tmp_path / "voc"),
    ):
        found = {}
        for name, (end,) in walked(source, root).items():
            assert not isinstance(end, Drop), end
            fate = "healthy" if isinstance(end, Healthy) else (end.boxes, end.level)
            found[name.partition(":")[2]] = fate
        assert found == expected
