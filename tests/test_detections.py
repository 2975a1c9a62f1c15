"""Photos with named boxes: what their names mean, and which photos they lie on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.sources.releases import save

from fieldtruth import detections
from fieldtruth.detections import Marked, Named, Names, Seen, Settings
from fieldtruth.faults import BadRecord, Refused, Unreadable, Usage
from fieldtruth.records import Annotation, Drop, Healthy, Sample, Target

HEAD = "name,label,kind,crop\n"


def table(root: Path, text: str) -> Path:
    (root / "names.csv").write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("name", "what", "label"),
    [
        ("Late_Blight", "target", "late blight"),
        ("Powder mildew", "target", "powdery mildew"),
        ("Tomato leaf healthy", "healthy", ""),
        ("Healthy", "healthy", ""),
        ("unhealthy", "target", "unhealthy"),
        ("not_healthy", "target", "not healthy"),
        ("Non-healthy", "target", "non healthy"),
        ("--", "other", ""),
        ("", "other", ""),
    ],
)
def test_a_name_is_its_own_label(tmp_path: Path, name: str, what: str, label: str) -> None:
    said = Names(tmp_path, Settings()).of(name)
    assert (said.what, said.label, said.kind, said.crop) == (what, label, "disease", None)


@pytest.mark.parametrize(
    ("settings", "supercategory", "kind", "crop"),
    [
        (Settings(kind="pest", crop="Corn"), "weed", "pest", "maize"),
        (Settings(supercategory="kind"), "weed", "weed", None),
        (Settings(supercategory="kind", kind="pest"), "thing", "pest", None),
        (Settings(supercategory="crop"), "Bell Pepper", "disease", "pepper"),
        (Settings(supercategory="crop", crop="tomato"), None, "disease", "tomato"),
    ],
)
def test_kind_and_crop_from_the_settings_or_the_supercategory(
    tmp_path: Path, settings: Settings, supercategory: str | None, kind: str, crop: str | None
) -> None:
    said = Names(tmp_path, settings).of("rust", supercategory)
    assert (said.kind, said.crop) == (kind, crop)


def test_a_name_with_its_crop_is_the_label_that_other_sources_give_it(tmp_path: Path) -> None:
    for crop, name, label in (("apple", "Apple scab", "scab"), ("tomato", "rust", "rust")):
        assert Names(tmp_path, Settings(crop=crop)).of(name).label == label


def test_a_table_of_names(tmp_path: Path) -> None:
    rows = "TLB,late blight,,tomato\nAPH,aphid,pest,\nleaf,,,\nok,healthy,,potato\n"
    names = Names(table(tmp_path, HEAD + rows), Settings(names="names.csv", crop="pepper"))
    said = {name: names.of(name) for name in ("TLB", "APH", "leaf", "ok", "tlb")}
    assert [(each.what, each.label, each.kind, each.crop) for each in said.values()] == [
        ("target", "late blight", "disease", "tomato"),
        ("target", "aphid", "pest", "pepper"),
        ("other", "", "disease", "pepper"),
        ("healthy", "", "disease", "potato"),
        ("unknown", "", "disease", None),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,label\n", r"names\.csv:1: expected name,label,kind,crop"),
        (HEAD + "a,b\n", r"names\.csv:2: expected 4 values"),
        (HEAD + "a,b,c,d,e\n", r"names\.csv:2: expected 4 values"),
        (HEAD + "a,b,illness,\n", r"names\.csv:2: expected a kind"),
        (HEAD + "a,b,,\na,c,,\n", r"names\.csv:3: expected every name once"),
        (HEAD + '"a', "expected a CSV file"),
    ],
)
def test_a_table_that_cannot_be_used(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadRecord, match=said):
        Names(table(tmp_path, text), Settings(names="names.csv"))


def test_a_table_that_is_not_there_or_outside(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="no such file"):
        Names(tmp_path, Settings(names="names.csv"))
    with pytest.raises(Refused):
        Names(tmp_path, Settings(names="../names.csv"))


def marked(name: str, box: tuple[float, ...] = (10, 10, 20, 20), **more: Any) -> Marked:
    x1, y1, x2, y2 = box
    what = more.pop("what", "target")
    label = name if what == "target" else ""
    named = Named(what=what, label=label, kind=more.pop("kind", "disease"), crop="tomato")
    return Marked(name=name, named=named, box=(x1, y1, x2, y2), **more)


def of(*marks: Marked, healthy: str = "no", size: tuple[int, int] | None = (100, 80)) -> Sample:
    width, height = size or (None, None)
    seen = Seen(width=width, height=height, marks=marks, healthy=healthy == "yes")
    return detections.sample("coco:a.png", "a.png", seen, "MIT", "test")


def test_one_target_a_label_whatever_its_boxes() -> None:
    sample = of(marked("rust"), marked("mite", kind="pest"), marked("rust"))
    made = list(detections.label(sample, Settings()))
    assert [(each.id, isinstance(each, Target) and each.kind) for each in made] == [
        ("coco:a.png:mite", "pest"),
        ("coco:a.png:rust", "disease"),
    ]
    assert (sample.source, sample.native["split"]) == ("coco", "test")


@pytest.mark.parametrize(
    ("marks", "healthy", "settings", "fate"),
    [
        ((), "no", Settings(), "no_boxes_and_not_told_healthy"),
        ((), "yes", Settings(crop="Corn"), "maize"),
        ((marked("leaf", what="healthy"),), "no", Settings(), "tomato"),
        ((marked("leaf", what="other"),), "yes", Settings(), "names_no_target"),
        ((marked("leaf", what="unknown"), marked("rust")), "no", Settings(), "name_not_in_table"),
    ],
)
def test_photos_without_a_target(
    marks: tuple[Marked, ...], healthy: str, settings: Settings, fate: str
) -> None:
    (made,) = detections.label(of(*marks, healthy=healthy), settings)
    assert not isinstance(made, Target)
    assert fate == (made.crop if isinstance(made, Healthy) else made.reason)


def test_a_diseased_leaf_among_healthy_ones_is_diseased() -> None:
    sample = of(marked("leaf", what="healthy"), marked("rust"))
    (made,) = detections.label(sample, Settings())
    assert isinstance(made, Target)
    assert made.label == "rust"


def annotated(root: Path, sample: Sample, **settings: Any) -> Annotation | Drop:
    save(root / "a.png", np.zeros((80, 100, 3), np.uint8))
    told = Settings(**settings)
    (target,) = detections.label(sample, told)
    assert isinstance(target, Target)
    return detections.annotate(sample, target, root, told)


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (of(marked("rust"), size=(80, 100)), "size_swapped"),
        (of(marked("rust"), size=(100, 81)), "size_differs"),
        (of(marked("rust"), marked("rust", crowd=True)), "crowd"),
        (of(marked("rust", (90, 10, 101.5, 20)), size=None), "box_outside"),
        (of(marked("rust", (100, 10, 101, 20)), size=None), "box_outside"),
    ],
)
def test_boxes_that_are_not_of_this_photo(tmp_path: Path, sample: Sample, reason: str) -> None:
    made = annotated(tmp_path, sample)
    assert isinstance(made, Drop)
    assert made.reason == reason
    assert made.reason in detections.REASONS


@pytest.mark.parametrize(
    ("mark", "level", "made"),
    [
        (marked("rust"), "auto", "lesion"),
        (marked("rust", (0, 0, 100, 40)), "auto", "lesion"),  # half is not over half
        (marked("rust", (0, 0, 100, 41)), "auto", "object"),
        (marked("mite", kind="pest"), "auto", "object"),
        (marked("mite", kind="pest"), "lesion", "lesion"),
        (marked("rust"), "object", "object"),
    ],
)
def test_levels(tmp_path: Path, mark: Marked, level: str, made: str) -> None:
    mark_ = annotated(tmp_path, of(mark), level=level)
    assert isinstance(mark_, Annotation)
    assert mark_.level == made


def test_a_pixel_too_much_is_cut(tmp_path: Path) -> None:
    made = annotated(tmp_path, of(marked("rust", (-1, 60, 101, 80.5)), size=None))
    assert isinstance(made, Annotation)
    assert made.boxes == ((0, 60, 100, 80),)


@pytest.mark.parametrize(
    ("place", "split"),
    [
        ("annotations.json", None),
        ("train/_annotations.coco.json", "train"),
        ("annotations/instances_val2017.json", "val"),
        ("test.json", "test"),
        ("train_and_val.json", None),
        ("contest/latest.json", None),
        ("Training/a.jpg", "train"),
    ],
)
def test_splits_are_read_off_paths(place: str, split: str | None) -> None:
    assert detections.split_of(place) == split


def test_photos_are_found_in_the_first_folder_that_has_them(tmp_path: Path) -> None:
    for place in ("b/a.png", "c/a.png"):
        save(tmp_path / place, np.zeros((2, 2, 3), np.uint8))
    assert detections.find(tmp_path, "a.png", ["", "b", "c"]) == "b/a.png"
    with pytest.raises(Unreadable, match="no such file"):
        detections.find(tmp_path, "z.png", ["", "b"])
    with pytest.raises(Refused):
        detections.find(tmp_path, "../a.png", ["b"])


@pytest.mark.parametrize("options", [{"kind": "illness"}, {"empty": "yes"}, {"nmes": "a.csv"}])
def test_settings_that_do_not_exist(options: dict[str, str]) -> None:
    with pytest.raises(Usage, match="--source-args"):
        detections.settings_of(options, Settings)
