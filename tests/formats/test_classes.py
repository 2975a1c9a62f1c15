"""One label in several spellings is one class, in whatever format."""

import json
from pathlib import Path

import yaml
from tests.builders import frozen, item, row

from fieldtruth.formats.contract import Classes
from fieldtruth.stages.export import export


def test_all_spellings_of_a_label_are_one_class_on_a_crop() -> None:
    spelled = ("Leaf-Mold", "leaf mold", "leaf mould", "tomato leaf mold")
    some = [item(name, label=name, query=name, candidates=None, crop="tomato") for name in spelled]
    other = item("o", label="late blight", query="late blight", candidates=None, crop="potato")
    well = item("w", label=None, kind=None, level="healthy", boxes=(), candidates=None)
    classes = Classes([*some, other, well])
    assert classes.names == ("Leaf-Mold", "late blight")
    assert [classes.of(each) for each in (*some, other, well)] == [
        *["Leaf-Mold"] * 4, "late blight", "",
    ]  # fmt: skip


def test_in_every_format(tmp_path: Path) -> None:
    rows = [
        row(name, label=name, query=name, candidates=None, crop="tomato")
        for name in ("Leaf-Mold", "leaf mould")
    ]
    bench = frozen(tmp_path / "bench", rows)
    for name in ("coco", "yolo", "voc", "label_studio"):
        export(name, bench, tmp_path / name)
    told = json.loads((tmp_path / "coco" / "annotations.json").read_text())
    assert [each["name"] for each in told["categories"]] == ["Leaf-Mold"]
    assert yaml.safe_load((tmp_path / "yolo" / "data.yaml").read_text())["names"] == {
        0: "Leaf-Mold"
    }
    (voc,) = (tmp_path / "voc" / "annotations").iterdir()
    assert "leaf mould" not in voc.read_text()
    assert (tmp_path / "label_studio" / "config.xml").read_text().count("<Label ") == 1
    said = {
        label
        for task in json.loads((tmp_path / "label_studio" / "tasks.json").read_text())
        for made in task["predictions"]
        for region in made["result"]
        for label in region["value"]["rectanglelabels"]
    }
    assert said == {"Leaf-Mold"}
