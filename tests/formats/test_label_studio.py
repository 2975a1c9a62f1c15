"""Percent, pixels, and all that a server's file may hold that is no rectangle of ours."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.builders import NAMES, four, plain
from tests.labelstudio.people import drawn, ticked

from fieldtruth.faults import BadRecord, Unreadable, Usage
from fieldtruth.formats.label_studio import writing
from fieldtruth.formats.label_studio.reading import Annotated, Returned, read
from fieldtruth.images import facts
from fieldtruth.stages.export import export

SIZE = (160, 120)


def returned(path: Path, *annotations: Any, **more: Any) -> Returned:
    rows = [{"id": 1, "data": {"task": "t", "image": "x"}, "annotations": annotations, **more}]
    path.write_text(json.dumps(rows))
    return read(path, {"t": SIZE})


def one(folder: Path, *regions: Any, **more: Any) -> Annotated:
    told = {"id": 7, "completed_by": 3, "result": regions, "updated_at": "2026", **more}
    (made,) = returned(folder / "e.json", told).tasks["t"]
    return made


# Label Studio's docs: x, y is the upper left corner in percent of the photo.
@pytest.mark.parametrize(
    ("region", "box"),
    [
        (drawn("a", 0, 0, 100, 100), (0, 0, 160, 120)),
        (drawn("a", 50, 25, 25, 50), (80, 30, 120, 90)),
        (drawn("a", 1e-9, 0, 10, 10), (0, 0, 16, 12)),
        (drawn("a", 33.3333333, 10, 33.3333334, 10), (53.333, 12, 106.667, 24)),
        (drawn("a", -1, -5, 11, 15), (0, 0, 16, 12)),  # cut
        (drawn("a", 90, 95, 20, 20), (144, 114, 160, 120)),  # cut
        (drawn("a", 50, 50, 10, 10, turn=90), (68, 60, 80, 76)),
        (drawn("a", 50, 50, 10, 10, turn=180), (64, 48, 80, 60)),
        (drawn("a", 50, 50, 10, 10, turn=-90), (80, 44, 92, 60)),
        # 16 x 12 pixels turned by 45 degrees: (16 + 12) / sqrt 2 across and down, in pixels
        (drawn("a", 50, 50, 10, 10, turn=45), (71.515, 60, 91.314, 79.799)),
    ],
)
def test_percent_become_pixels(
    tmp_path: Path, region: dict[str, Any], box: tuple[float, ...]
) -> None:
    made = one(tmp_path, region)
    assert made.boxes[0] == pytest.approx(box, abs=6e-4)
    assert made.faults == ()
    turned, x = region["value"]["rotation"], region["value"]["x"]
    assert bool(made.remarks) is (bool(turned) or x in (-1, 90))


def other(**fields: Any) -> dict[str, Any]:
    return drawn("a", 10, 10, 10, 10) | fields


def valued(**fields: Any) -> dict[str, Any]:
    region = drawn("a", 10, 10, 10, 10)
    return region | {"value": region["value"] | fields}


@pytest.mark.parametrize(
    ("region", "why"),
    [
        (drawn("a", 2691.55, 30, 143.4, 20), "pixels?"),
        (drawn("a", 80, 30, 143.4, 20), "pixels?"),
        (drawn("a", 10, 10, -5, 20), "from 0 to 100"),
        (drawn("a", -120, 10, 5, 20), "from 0 to 100"),
        (valued(x=None), "expected x, y, width and height"),
        (other(image_rotation=90), "turned by 90 degrees"),
        (other(original_width=120, original_height=160), "drawn on 120x160"),
        (other(original_width=1600, original_height=1200), "drawn on 1600x1200"),
        (other(type="polygonlabels"), "expected a rectangle, got polygonlabels"),
        (other(type="brushlabels", value={"rle": [1], "format": "rle"}), "got brushlabels"),
        (valued(rectanglelabels=["rust"]), "got 'rust'"),
        (valued(rectanglelabels=["target", "rust"]), "got 'target, rust'"),
    ],
)
def test_what_is_no_rectangle_of_ours_spoils_its_annotation(
    tmp_path: Path, region: dict[str, Any], why: str
) -> None:
    made = one(tmp_path, drawn("good", 1, 1, 5, 5), region)
    (fault,) = made.faults
    assert fault.startswith("box 2: ")
    assert why in fault


@pytest.mark.parametrize(
    "region",
    [drawn("a", 10, 10, 0, 5), drawn("a", 100, 5, 0.5, 5), drawn("a", -20, 5, 10, 10)],
)
def test_a_slip_without_area_is_left_out_and_told(tmp_path: Path, region: dict[str, Any]) -> None:
    made = one(tmp_path, region)
    assert (made.boxes, made.faults) == ((), ())
    assert any("no area" in each for each in made.remarks)


def test_a_box_without_its_label_and_size_counts(tmp_path: Path) -> None:
    region = valued(rectanglelabels=[])
    del region["original_width"]
    assert one(tmp_path, region | {"type": "rectangle"}).boxes == ((16, 12, 32, 24),)


def test_who_when_and_what(tmp_path: Path) -> None:
    words = {"type": "textarea", "from_name": "note", "value": {"text": ["a", "b"]}}
    made = one(
        tmp_path, ticked("verdict", "flag"), ticked("reason", "repeat", "other"), words,
        lead_time=2.5, ground_truth=True, completed_by={"id": 9, "email": "x@example.org"},
    )  # fmt: skip
    assert (made.who, made.number, made.at, made.seconds) == ("9", 7, "2026", 2.5)
    assert made.choices == {"verdict": ("flag",), "reason": ("repeat", "other")}
    assert made.note == "a\nb"
    assert made.ground_truth


def test_drafts_skips_and_strangers(tmp_path: Path) -> None:
    skipped = {"id": 1, "result": [], "was_cancelled": True, "completed_by": None}
    drafts = [
        {"id": 5, "result": [drawn("a", 1, 1, 5, 5)], "annotation": None, "user": "x"},
        {"id": 6, "result": [], "annotation": 1},  # an edit that was not saved
        8,
    ]
    made = returned(tmp_path / "e.json", skipped, drafts=drafts)
    assert [(each.skipped, each.draft, each.who) for each in made.tasks["t"]] == [
        (True, False, ""), (False, True, ""),
    ]  # fmt: skip
    row = {"id": 1, "data": {"task": "t"}, "annotations": []}
    rows = [row, row, {"id": 2, "data": {"task": "else"}}, {"id": 3, "data": {"image": "x"}}]
    (tmp_path / "e.json").write_text(json.dumps(rows))
    found = read(tmp_path / "e.json", {"t": SIZE})
    assert (found.tasks, found.unknown, found.twice) == ({"t": ()}, 2, ("t",))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected the list of tasks"),
        ("{}", "expected the list of tasks"),
        ("[1]", "expected the list of tasks"),
        ("[" * 100_000, "expected the list of tasks"),
        ('[{"data": {"task": "t"}, "annotations": [{"result": [{"type": 3}]}]}]', "row 0.*task t"),
        ('[{"data": {"task": "t"}, "annotations": [{"result": [{"type": "x", "value": '
         '{"x": "1"}}]}]}]', "row 0"),
        ('[{"data": {"task": "t"}, "annotations": [{"result": [{"type": "x", "value": '
         '{"x": NaN}}]}]}]', "expected the list"),
        ('[{"data": {"task": "u"}}]', "the tasks that were sent, got none in 1"),
        ('[{"task": "t", "annotation_id": 1, "box": 3}]', "row 0"),
        ('[{"task": "t", "annotation_id": 1, "box": [3]}]', "row 0"),
        ('[{"task": "t", "annotation_id": 1, "level": 3}]', "row 0"),
        ('[{"task": "t", "annotation_id": 1, "reason": {"choices": [3]}}]', "row 0"),
        ('[{"task": "t", "annotation_id": "x"}]', "row 0"),
    ],
)  # fmt: skip
def test_a_file_of_another_kind_is_one_clear_error(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "e.json"
    path.write_text(text)
    with pytest.raises(BadRecord, match=says):
        read(path, {"t": SIZE})


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="got nothing there"):
        read(tmp_path / "none.json", {})


whole = st.integers(0, 4000)


@given(st.integers(1, 4000), st.integers(1, 4000), st.data())
def test_there_and_back(width: int, height: int, data: st.DataObject) -> None:
    """In our own hands alone; that a server keeps the percents is tested with one."""
    xs = sorted(data.draw(st.lists(st.integers(0, width), min_size=2, max_size=2, unique=True)))
    ys = sorted(data.draw(st.lists(st.integers(0, height), min_size=2, max_size=2, unique=True)))
    (region,) = writing.regions([(xs[0], ys[0], xs[1], ys[1])], width, height, "target")
    value = region["value"]
    assert all(0 <= value[name] <= 100 for name in ("x", "y", "width", "height"))
    assert round(value["x"] / 100 * width, 3) == xs[0]
    assert round((value["y"] + value["height"]) / 100 * height, 3) == ys[1]


# --- photos and configs ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "form", "turn", "suffix", "same"),
    [
        ("a.JPEG", "JPEG", 1, ".jpg", True),
        ("a.png", "PNG", 1, ".png", True),
        ("a.gif", "GIF", 1, ".gif", True),
        ("a.webp", "WEBP", 1, ".webp", True),
        ("a.jpg", "PNG", 1, ".png", True),  # the name of another format
        ("a.jpg", "JPEG", 6, ".png", False),
        ("a.png", "PNG", 8, ".png", False),
        ("a.tif", "TIFF", 1, ".png", False),
        ("a.bmp", "BMP", 1, ".png", False),
    ],
)
def test_photos_are_what_a_browser_shows(
    tmp_path: Path, name: str, form: str, turn: int, suffix: str, *, same: bool
) -> None:
    plain(tmp_path / "p.png", 3, (32, 24))
    exif = Image.Exif()
    if turn != 1:
        exif[0x0112] = turn
    with Image.open(tmp_path / "p.png") as picture:
        picture.save(tmp_path / name, format=form, exif=exif)
    identity = facts(tmp_path / name).sha256
    got = writing.place_photo(tmp_path / name, tmp_path / "to", identity)
    assert got == identity[:32] + suffix
    assert ((tmp_path / "to" / got).read_bytes() == (tmp_path / name).read_bytes()) is same
    with Image.open(tmp_path / "to" / got) as shown:
        assert shown.size == ((24, 32) if turn != 1 else (32, 24))
        assert shown.getexif().get(0x0112, 1) == 1
    again = writing.place_photo(tmp_path / name, tmp_path / "to", identity)
    assert again == got


def test_a_photo_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("no photo at all")
    with pytest.raises(Unreadable):
        writing.place_photo(tmp_path / "a.jpg", tmp_path / "to", "0" * 64)


@pytest.mark.parametrize("config", [writing.review_config(), writing.audit_config()])
def test_configs_hold_together(config: str) -> None:
    view = ElementTree.fromstring(config)
    names = [each.get("name") for each in view.iter() if each.get("name")]
    assert len(names) == len(set(names))
    for each in view.iter():
        assert each.get("toName", "image") == "image"
        if each.get("whenTagName"):
            shown = {choice.get("alias") for choice in view.iter("Choice")}
            assert set((each.get("whenChoiceValue") or "").split(",")) <= shown
    assert {each.get("value") for each in view.iter("Label")} == {"target"}


def test_hostile_labels_stay_text() -> None:
    labels = ['<img src=x onerror="alert(1)">', "a & b", "\x00tab\tnew\nline", "'single'"]
    view = ElementTree.fromstring(writing.boxes_config(labels))
    assert [each.get("value") for each in view.iter("Label")] == [
        labels[0], "a & b", " tab new line", "'single'",
    ]  # fmt: skip


def test_a_benchmark_is_exported_whole(tmp_path: Path) -> None:
    made = export("label_studio", four(tmp_path / "bench"), tmp_path / "out")
    assert (made.rows, made.photos, made.absent) == (4, 2, 0)
    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text())
    assert [each["data"]["item"] for each in tasks] == ["h0", "h1", "p0", "p1"]
    assert tasks[0]["predictions"][0]["result"] == []
    (region,) = tasks[2]["predictions"][0]["result"]
    value = region["value"]
    assert value["rectanglelabels"] == [NAMES[0]]
    sides = [value[name] for name in ("x", "y", "width", "height", "rotation")]
    assert sides == pytest.approx([31.25, 100 / 3, 31.25, 100 / 3, 0])
    for each in tasks:
        place = each["data"]["image"].removeprefix("/data/local-files/?d=")
        assert (tmp_path / "out" / place).is_file()
    labels = ElementTree.fromstring((tmp_path / "out" / "config.xml").read_text()).iter("Label")
    assert [each.get("value") for each in labels] == [NAMES[0]]
