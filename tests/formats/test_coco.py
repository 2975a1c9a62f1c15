"""COCO files: ids, healthy photos and boxes come back as they were; what is broken is named."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders import frozen, healthy_row, item, row
from tests.strategies import items

from fieldtruth import store
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.formats import coco
from fieldtruth.records import Item
from fieldtruth.stages.export import export


def image(name: Any = 1, **more: Any) -> dict[str, Any]:
    return {"id": name, "file_name": "a.jpg", "width": 100, "height": 80} | more


def box(name: Any = 1, **more: Any) -> dict[str, Any]:
    return {"id": name, "image_id": 1, "category_id": 0, "bbox": [10, 20, 30, 40]} | more


def saved(path: Path, **parts: Any) -> Path:
    whole = {"images": [image()], "annotations": [box()], "categories": [{"id": 0, "name": "rust"}]}
    path.write_text(json.dumps(whole | parts))
    return path


# --- each row is read, or refused with its place (peers.md, section 4, fault 8) ----------------

READ: dict[str, dict[str, Any]] = {
    "category 0": {},
    "text ids": {
        "images": [image("a-1")],
        "categories": [{"id": "rust", "name": "rust"}],
        "annotations": [box(image_id="a-1", category_id="rust")],
    },
    "sparse ids": {
        "images": [image(7_000_000_000)],
        "categories": [{"id": 90, "name": "rust"}, {"id": 3, "name": "mite"}],
        "annotations": [box(image_id=7_000_000_000, category_id=90)],
    },
    "no id of its own": {"annotations": [{k: v for k, v in box().items() if k != "id"}]},
    "iscrowd null": {"annotations": [box(iscrowd=None)]},
    "iscrowd 0, area, polygons": {
        "annotations": [box(iscrowd=0, area=1200.0, segmentation=[[1, 2, 3, 4, 5, 6]])]
    },
    "segmentation empty": {"annotations": [box(segmentation=[])]},
    "a run-length segmentation": {
        "annotations": [box(segmentation={"counts": "abc", "size": [80, 100]})]
    },
    "no size": {"images": [{"id": 1, "file_name": "a.jpg"}]},
    "a size of 0": {"images": [image(width=0, height=0)]},
    "a size as a float": {"images": [image(width=100.0, height=80.0)]},
    "keys of other tools": {"images": [image(coco_url="http://x", extra={"a": 1})], "info": None},
    "a photo in a folder": {"images": [image(file_name="train/deep/a.jpg")]},
}


@pytest.mark.parametrize("case", READ)
def test_what_is_read(tmp_path: Path, case: str) -> None:
    made = coco.read(saved(tmp_path / "a.json", **READ[case]))
    assert made.bad == ()
    (region,) = made.regions
    assert region.box == (10.0, 20.0, 40.0, 60.0)
    assert not region.crowd
    source = json.loads((tmp_path / "a.json").read_text())
    assert [photo.id for photo in made.photos] == [each["id"] for each in source["images"]]
    assert [each.id for each in made.categories] == [each["id"] for each in source["categories"]]
    assert region.category == source["annotations"][0]["category_id"]


BAD: dict[str, tuple[str, coco.Bad | tuple[str, str], dict[str, Any]]] = {
    "category 117 of 115": (
        "annotations[0]",
        ("unknown_category", "category_id 117; there are 115"),
        {
            "categories": [{"id": at, "name": f"n{at}"} for at in range(1, 116)],
            "annotations": [box(category_id=117)],
        },
    ),
    "no categories": ("annotations[0]", ("unknown_category", "there are 0"), {"categories": []}),
    "an image that is not there": (
        "annotations[0]",
        ("unknown_image", "image_id 2"),
        {"annotations": [box(image_id=2)]},
    ),
    "a text for a number": (
        "annotations[0]",
        ("malformed", "bbox"),
        {"annotations": [box(bbox=["10", 20, 30, 40])]},
    ),
    "three numbers": (
        "annotations[0]",
        ("malformed", "bbox"),
        {"annotations": [box(bbox=[1, 2, 3])]},
    ),
    "no bbox": (
        "annotations[0]",
        ("malformed", "bbox"),
        {"annotations": [{"image_id": 1, "category_id": 0}]},
    ),
    "true for a number": (
        "annotations[0]",
        ("malformed", "bbox"),
        {"annotations": [box(bbox=[True, 2, 3, 4])]},
    ),
    "no annotation at all": ("annotations[0]", ("malformed", ""), {"annotations": [None]}),
    "all zero": ("annotations[0]", ("bad_box", "[0.0,"), {"annotations": [box(bbox=[0] * 4)]}),
    "no width": ("annotations[0]", ("bad_box", ""), {"annotations": [box(bbox=[1, 2, 0, 4])]}),
    "a width below 0": (
        "annotations[0]",
        ("bad_box", ""),
        {"annotations": [box(bbox=[50, 2, -9, 4])]},
    ),
    "left of the photo": (
        "annotations[0]",
        ("bad_box", ""),
        {"annotations": [box(bbox=[-1.5, 2, 9, 4])]},
    ),
    "beyond the photo": (
        "annotations[0]",
        ("bad_box", ""),
        {"annotations": [box(bbox=[90, 2, 11.5, 4])]},
    ),
    "as large as can be": (
        "annotations[0]",
        ("bad_box", ""),
        {"images": [image(width=None)], "annotations": [box(bbox=[1e308, 2, 1e308, 4])]},
    ),
    "a name that is no text": (
        "categories[1]",
        ("malformed", "name"),
        {"categories": [{"id": 0, "name": "rust"}, {"id": 1, "name": 5}]},
    ),
    "an image without a name": (
        "images[1]",
        ("malformed", "file_name"),
        {"images": [image(), {"id": 2}]},
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_bad_is_named_with_its_place(tmp_path: Path, case: str) -> None:
    place, said, parts = BAD[case]
    made = coco.read(saved(tmp_path / "a.json", **parts))
    (bad,) = made.bad
    assert bad.place == place
    assert bad.reason == said[0]  # type: ignore[index]
    assert said[1] in bad.detail  # type: ignore[index]
    if place.startswith("annotations") and case != "no annotation at all":
        assert bad.photo == json.loads((tmp_path / "a.json").read_text())["annotations"][0].get(
            "image_id"
        )
        assert made.regions == ()


def test_duplicate_ids_make_every_one_of_them_bad(tmp_path: Path) -> None:
    made = coco.read(
        saved(
            tmp_path / "a.json",
            images=[image(1), image(2), image(1, file_name="b.jpg")],
            categories=[{"id": 0, "name": "rust"}, {"id": 5, "name": "x"}, {"id": 5, "name": "y"}],
            annotations=[
                box(1), box(2, image_id=2), box(3, image_id=2), box(3, image_id=2),
                box(4, image_id=2, category_id=5),
            ],
        )
    )  # fmt: skip
    assert [(bad.place, bad.reason) for bad in made.bad] == [
        ("images[0]", "duplicate_image_id"),
        ("images[2]", "duplicate_image_id"),
        ("categories[1]", "duplicate_category_id"),
        ("categories[2]", "duplicate_category_id"),
        ("annotations[0]", "unknown_image"),
        ("annotations[2]", "duplicate_annotation_id"),
        ("annotations[3]", "duplicate_annotation_id"),
        ("annotations[4]", "unknown_category"),
    ]
    assert [photo.id for photo in made.photos] == [2]
    assert [region.id for region in made.regions] == [2]


@pytest.mark.parametrize(
    ("bbox", "kept"),
    [
        ([-1, -0.5, 11, 10.5], (0, 0, 10, 10)),  # by a pixel, as rounding makes it
        ([90, 70, 11, 11], (90, 70, 100, 80)),
        ([0, 0, 100, 80], (0, 0, 100, 80)),
    ],
)
def test_a_box_that_sticks_out_by_a_pixel_is_cut(
    tmp_path: Path, bbox: list[float], kept: tuple[float, ...]
) -> None:
    (region,) = coco.read(saved(tmp_path / "a.json", annotations=[box(bbox=bbox)])).regions
    assert region.box == kept


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "null", '{"images": {}}', '{"annotations": []}', '{"images": [', "\x00",
        '{"images": [], "annotations": [{"bbox": [NaN, 1, 2, 3]}]}', "[" * 100_000,
        '[{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}]',
    ],
)  # fmt: skip
def test_what_is_no_coco_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(BadRecord, match=r"a\.json: expected a COCO file"):
        coco.read(tmp_path / "a.json")


def test_licences_by_name_else_by_address(tmp_path: Path) -> None:
    made = coco.read(
        saved(
            tmp_path / "a.json",
            images=[image(at, license=at) for at in range(4)],
            annotations=[],
            licenses=[
                {"id": 0, "name": "CC BY 4.0", "url": "u"},
                {"id": 1, "url": "https://x"},
                {"id": 2},
            ],
        )
    )
    assert [photo.licence for photo in made.photos] == ["CC BY 4.0", "https://x", None, None]


def test_a_crowd_is_said(tmp_path: Path) -> None:
    (region,) = coco.read(saved(tmp_path / "a.json", annotations=[box(iscrowd=1)])).regions
    assert region.crowd


# --- and back ----------------------------------------------------------------------------------

ids = st.integers(-5, 2**53) | st.text(max_size=5)
floats = st.floats(0, 1e4, exclude_min=True)


@st.composite
def whole_files(draw: st.DrawFn) -> coco.Coco:
    photos = [
        coco.Photo(
            id=name,
            file_name=draw(st.text(max_size=9)),
            width=draw(st.none() | st.just(20_000)),
            height=draw(st.none() | st.just(20_000)),
            licence=draw(st.none() | st.sampled_from(["MIT", "CC0"])),
        )
        for name in draw(st.lists(ids, unique=True, max_size=4))
    ]
    categories = [
        coco.Category(id=name, name=draw(st.text(max_size=9)), supercategory=draw(st.none()))
        for name in draw(st.lists(ids, unique=True, max_size=4))
    ]
    regions = []
    for name in draw(st.lists(ids, unique=True, max_size=6)) if photos and categories else ():
        (x1, x2), (y1, y2) = (
            sorted(draw(st.lists(floats, min_size=2, max_size=2, unique=True))) for _ in "xy"
        )
        regions.append(
            coco.Region(
                id=name,
                photo=draw(st.sampled_from(photos)).id,
                category=draw(st.sampled_from(categories)).id,
                box=(x1, y1, x2, y2),
                crowd=draw(st.booleans()),
            )
        )
    return coco.Coco(photos=tuple(photos), categories=tuple(categories), regions=tuple(regions))


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(whole=whole_files())
def test_a_file_comes_back_as_it_was(tmp_path: Path, whole: coco.Coco) -> None:
    coco.write(tmp_path / "a.json", whole)
    assert coco.read(tmp_path / "a.json") == whole


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(items(), max_size=5), each_photo=st.sampled_from(["one", "two"]))
def test_items_come_back_as_they_were(tmp_path: Path, drawn: list[Item], each_photo: str) -> None:
    """One item a photo, or two."""
    mine = [
        msgspec.structs.replace(each, id=f"i{at}", image=f"{at}.jpg")
        for at, each in enumerate(drawn)
    ]
    if each_photo == "two":
        mine += [msgspec.structs.replace(each, id=f"{each.id}#2") for each in mine]
    coco.write(tmp_path / "a.json", coco.from_items(mine))
    back = coco.to_items(coco.read(tmp_path / "a.json"), "a.json")
    assert sorted(back, key=lambda each: each.id) == sorted(mine, key=lambda each: each.id)


def test_every_field_of_an_item_is_carried(tmp_path: Path) -> None:
    """With a value that is not the field's own default, so that none is forgotten."""
    made = item(
        "h", level="healthy", label=None, kind=None, boxes=(), ask_level="object",
        ask_kind="pest", absent_query="rust", candidates=("a", "b", "c", "d"),
    )  # fmt: skip
    plain = {field.name: field.default for field in msgspec.structs.fields(Item)}
    assert [name for name, default in plain.items() if getattr(made, name) == default] == []
    coco.write(tmp_path / "a.json", coco.from_items([made]))
    assert coco.to_items(coco.read(tmp_path / "a.json"), "a.json") == [made]


def test_far_edges_that_do_not_add_up_are_kept_to_the_last_bit(tmp_path: Path) -> None:
    x1, x2 = 0.3855314160076, 2.4332197
    assert x1 + (x2 - x1) != x2
    coco.write(tmp_path / "a.json", coco.from_items([item(boxes=((x1, 1.0, x2, 2.0),))]))
    said = json.loads((tmp_path / "a.json").read_text())["annotations"][0]
    assert said["fieldtruth"]["corners"] == [x1, 1.0, x2, 2.0]
    (back,) = coco.to_items(coco.read(tmp_path / "a.json"), "a.json")
    assert back.boxes == ((x1, 1.0, x2, 2.0),)


def test_a_box_moved_by_another_tool_wins_over_the_kept_corners(tmp_path: Path) -> None:
    coco.write(
        tmp_path / "a.json",
        coco.from_items([item(boxes=((0.3855314160076, 1.0, 2.4332197, 2.0),))]),
    )
    whole = json.loads((tmp_path / "a.json").read_text())
    whole["annotations"][0]["bbox"] = [5, 6, 7, 8]
    (tmp_path / "a.json").write_text(json.dumps(whole))
    (back,) = coco.to_items(coco.read(tmp_path / "a.json"), "a.json")
    assert back.boxes == ((5.0, 6.0, 12.0, 14.0),)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda whole: whole["images"][0].pop("fieldtruth"), "under `fieldtruth`"),
        (lambda whole: whole["images"][0].pop("width"), "its size"),
        (lambda whole: whole["images"][0]["fieldtruth"]["items"][0].pop("group"), "group"),
        (lambda whole: whole["images"][0]["fieldtruth"]["items"][0].update(x=1), "unknown field"),
        (lambda whole: whole["images"][0]["fieldtruth"]["items"][0].update(level="x"), "level"),
        (lambda whole: whole["annotations"].clear(), "expected boxes"),
        (lambda whole: whole["annotations"][0].update(image_id=9), "unknown_image"),
        (lambda whole: whole["annotations"][0]["fieldtruth"].update(item="x"), "expected boxes"),
    ],
)
def test_a_file_that_does_not_hold_its_items_is_refused(
    tmp_path: Path, change: Any, said: str
) -> None:
    coco.write(tmp_path / "a.json", coco.from_items([item()]))
    whole = json.loads((tmp_path / "a.json").read_text())
    change(whole)
    (tmp_path / "a.json").write_text(json.dumps(whole))
    with pytest.raises(BadRecord, match=said):
        coco.to_items(coco.read(tmp_path / "a.json"), "a.json")


def test_bad_rows_are_not_written(tmp_path: Path) -> None:
    bad = coco.Bad(place="images[0]", reason="malformed", detail="")
    whole = coco.Coco(photos=(), categories=(), regions=(), bad=(bad,))
    with pytest.raises(Usage, match=r"images\[0\]"):
        coco.write(tmp_path / "a.json", whole)
    assert not (tmp_path / "a.json").exists()


def test_a_benchmark_is_exported_with_its_photos(tmp_path: Path) -> None:
    mite = row("p2", label="spider mite", kind="pest", candidates=None)
    rows = [row("p0"), row("p1", label="late blight"), mite, healthy_row("h0")]
    bench = frozen(tmp_path / "bench", rows)
    made = export("coco", bench, tmp_path / "out")
    assert (made.rows, made.photos, made.absent) == (4, 2, 0)
    whole = coco.read(tmp_path / "out" / coco.FILE)
    opened = store.open_bench(bench)
    assert sorted(coco.to_items(whole, "x"), key=lambda each: each.id) == list(opened.items)
    assert [(each.id, each.name, each.supercategory) for each in whole.categories] == [
        (1, "early blight", "disease"),
        (2, "late blight", "disease"),
        (3, "spider mite", "pest"),
    ]
    for photo in whole.photos:
        assert store.sha256(tmp_path / "out" / photo.file_name) == photo.items[0]["image_sha256"]
    unmarked = {photo.id for photo in whole.photos} - {region.photo for region in whole.regions}
    assert len(unmarked) == 1  # the healthy photo is there, without boxes


def test_photos_that_may_not_be_handed_on_stay_out(tmp_path: Path) -> None:
    bench = frozen(tmp_path / "bench", [row("p0", licence="not stated"), healthy_row("h0")])
    made = export("coco", bench, tmp_path / "out")
    assert (made.rows, made.photos, made.absent) == (2, 1, 1)
