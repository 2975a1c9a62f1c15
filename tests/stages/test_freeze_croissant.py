"""croissant.json: valid for MLCommons' own validator, and its records can be walked through it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.builders import healthy_row, plain, row

from fieldtruth import store
from fieldtruth.records import Item, Question
from fieldtruth.stages.freeze import About, Settings, freeze

FULL = About(published="2026-01-31", creator="A lab", url="https://e.example/x")
CHOICE = {
    "id": "q1", "form": "mcq", "images": ["a.png", "b.png"], "question": "What is it?",
    "options": ["rust", "blight"], "answer": "B", "source": "hand", "licence": "CC0",
    "facts": ["It is blight."],
}  # fmt: skip
OPEN = {
    "id": "q0", "form": "open", "question": "Why?", "answer": "Rain.", "source": "hand",
    "licence": "CC0",
}  # fmt: skip
CLOSED = {"licence": "All rights reserved"}


def made(folder: Path, *rows: dict[str, Any], about: About = FULL, **settings: Any) -> Path:
    for shade, name in enumerate(("a.png", "b.png", "c.png", "d.jpg"), start=1):
        plain(folder / "photos" / name, shade)
    lines = folder / "set.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in rows))
    given: dict[str, Any] = {"name": "leaves", "version": "1.0", "about": about} | settings
    freeze(lines, folder / "photos", folder / "bench", Settings(**given))
    return folder / "bench"


def told(bench: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((bench / "croissant.json").read_text(encoding="utf-8"))
    return read


def test_every_file_object_has_its_address_and_hash(tmp_path: Path) -> None:
    bench = made(tmp_path, row("p0"), row("z", image="c.png", **CLOSED))
    read = told(bench)
    assert read["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert read["@context"]["@vocab"] == read["@context"]["sc"] == "https://schema.org/"
    objects = {
        each["contentUrl"]: each["sha256"]
        for each in read["distribution"]
        if each["@type"] == "cr:FileObject"
    }
    assert objects == {
        name: store.sha256(bench / name) for name in ("items.jsonl", "fetch.py")
    }  # fmt: skip
    photos = read["distribution"][-1]
    assert (photos["@type"], photos["includes"]) == ("cr:FileSet", "images/*")
    assert photos["description"] == "1 of the benchmark's 2 photos."
    assert read["license"] == ["All rights reserved", "https://spdx.org/licenses/CC0-1.0.html"]
    assert "1 of the photos may not be handed on and are not part" in read["description"]


def test_nothing_is_dated_or_claimed_that_was_not_given(tmp_path: Path) -> None:
    read = told(made(tmp_path, row("p0"), about=About()))
    assert not {"datePublished", "dateCreated", "url", "creator"} & read.keys()
    assert "SHA-256 of items.jsonl: " in read["citeAs"]
    assert "Not audited" in read["rai:dataAnnotationAnalysis"][0]
    assert "not recorded" in read["rai:dataAnnotationProtocol"][0]
    given = told(made(tmp_path / "given", row("p0")))
    assert (given["datePublished"], given["url"]) == ("2026-01-31", "https://e.example/x")


@pytest.mark.parametrize(("kind", "rows"), [(Item, [row("p0")]), (Question, [OPEN])])
def test_every_field_of_a_record_is_a_field_of_the_record_set(
    tmp_path: Path, kind: type[Item | Question], rows: list[dict[str, Any]]
) -> None:
    fields = told(made(tmp_path, *rows))["recordSet"][-1]["field"]
    columns = [each["source"]["extract"]["column"] for each in fields if each["name"] != "photo"]
    assert columns == list(kind.__struct_fields__)


def opened(bench: Path) -> Any:
    """The benchmark as mlcroissant opens it: raises on an error; there are no warnings either."""
    mlcroissant = pytest.importorskip("mlcroissant")
    dataset = mlcroissant.Dataset(str(bench / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    return dataset


def walked(dataset: Any, record_set: str) -> list[dict[str, Any]]:
    """Its records, by short names, bytes as text."""
    return [
        {
            name.partition("/")[2]: value.decode() if isinstance(value, bytes) else value
            for name, value in record.items()
        }
        for record in dataset.records(record_set)
    ]


pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")


@pytest.mark.slow
def test_items_are_walked_with_their_boxes_and_photos(tmp_path: Path) -> None:
    bench = made(
        tmp_path,
        row("p0", boxes=[[1, 2, 10, 12], [3.5, 4, 9, 8.25]]),
        row("p1", image="d.jpg", candidates=None, crop=None),
        healthy_row("h0"),
        row("z", image="c.png", **CLOSED),
    )
    read = walked(opened(bench), "items")
    items = store.open_bench(bench).items
    assert [each["id"] for each in read] == [item.id for item in items] == ["h0", "p0", "p1", "z"]
    for each, item in zip(read, items, strict=True):
        assert each["boxes"] == [list(box) for box in item.boxes]
        assert (each["label"], each["level"], each["image"]) == (item.label, item.level, item.image)
        assert (each["width"], each["crop"], each["group"]) == (item.width, item.crop, item.group)
    assert [each["photo"] and each["photo"].size for each in read] == [(32, 24)] * 3 + [None]
    assert read[1]["photo"].getpixel((0, 0)) == (0, 97, 40)
    assert (read[2]["candidates"], len(read[1]["candidates"])) == (None, 4)


@pytest.mark.slow
def test_questions_are_walked_and_their_photos_beside_them(tmp_path: Path) -> None:
    dataset = opened(made(tmp_path, CHOICE, OPEN))
    words, choice = walked(dataset, "questions")
    assert (words["id"], words["images"], words["options"]) == ("q0", [], None)
    assert choice["options"] == [b"rust", b"blight"]
    photos = {each["path"]: each["photo"].size for each in walked(dataset, "photos")}
    assert {each.decode() for each in choice["images"]} == photos.keys()


@pytest.mark.slow
def test_where_no_photo_may_be_handed_on_none_is_described(tmp_path: Path) -> None:
    bench = made(tmp_path, row("p0", **CLOSED), healthy_row("h0", **CLOSED))
    read = walked(opened(bench), "items")
    assert [each["boxes"] for each in read] == [[], [[10.0, 8.0, 20.0, 16.0]]]
    assert not [each for each in told(bench)["distribution"] if each["@type"] == "cr:FileSet"]
    assert "photo" not in read[0]


@pytest.mark.slow
def test_hostile_text_and_questions_without_photos_are_valid_too(tmp_path: Path) -> None:
    hostile = 'x "y" {z} \\ <b> @id: https://e.example | \u202e\x00'
    opened(made(tmp_path / "a", row("p 0", source=hostile, licence=hostile, crop=hostile,
                                    label=hostile, candidates=None), name=hostile))  # fmt: skip
    assert walked(opened(made(tmp_path / "b", OPEN)), "questions")[0]["answer"] == "Rain."


@pytest.mark.slow
def test_the_validator_on_the_command_line_agrees(tmp_path: Path) -> None:
    pytest.importorskip("mlcroissant")
    bench = made(tmp_path, row("p0"), about=About())
    command = Path(sys.executable).with_name("mlcroissant")
    done = subprocess.run(
        [command, "validate", "--jsonld", bench / "croissant.json"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "Done." in done.stderr
