"""A benchmark as parquet: read back by pyarrow and by the library that hubs use, photos and all."""

import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml
from msgspec.structs import replace
from PIL import Image
from tests.builders import frozen, healthy_row, plain, row

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.formats import parquet
from fieldtruth.formats.contract import Exported
from fieldtruth.stages.freeze import Settings, freeze

CLOSED = {"licence": "All rights reserved", "image": "c.png"}
CHOICE = {
    "id": "q1", "form": "mcq", "images": ["a.png", "b.png"], "question": "What is it?",
    "options": ["rust", "blight"], "answer": "B", "source": "hand", "licence": "CC0",
}  # fmt: skip
OPEN = {
    "id": "q0", "form": "open", "question": "Why?", "answer": "Rain.", "source": "hand",
    "licence": "CC0", "facts": ["It rained."],
}  # fmt: skip


def exported(bench: Path, split: str = "test", *, fetched: bool = False) -> tuple[Any, Exported]:
    """The data file, and what was said of it."""
    folder = bench.with_name(f"{bench.name}.parquet")
    folder.mkdir()
    said = parquet.write(store.open_bench(bench), folder, fetched=fetched)
    return pyarrow.parquet.ParquetFile(folder / "data" / f"{split}.parquet"), said


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A positive, a healthy photo, and one whose photo may not be handed on."""
    plain(tmp_path / "photos" / "c.png", 3)
    return frozen(
        tmp_path / "bench", [row("p"), healthy_row("h", candidates=None), row("z", **CLOSED)]
    )


def test_every_field_comes_back_and_the_photo_is_the_same_bytes(mixed: Path) -> None:
    file, said = exported(mixed)
    bench = store.open_bench(mixed)
    healthy, positive, closed = file.read().to_pylist()
    assert (said.rows, said.photos, said.absent) == (3, 2, 1)
    for read, item in zip((healthy, positive), bench.items, strict=False):
        assert read.pop("image") == {
            "bytes": bench.photo(item.image).read_bytes(), "path": item.image,
        }  # fmt: skip
        assert read.pop("image_path") == item.image
        expected = json.loads(
            (mixed / "items.jsonl").read_text().splitlines()[0 if read["id"] == "h" else 1]
        )
        del expected["image"]
        assert read == expected
    assert closed["image"] is None
    assert closed["image_sha256"] == bench.items[2].image_sha256


def test_a_fetched_photo_goes_along_only_when_told(mixed: Path, tmp_path: Path) -> None:
    closed = store.open_bench(mixed).items[2]
    (mixed / closed.image).write_bytes((tmp_path / "photos" / "c.png").read_bytes())
    assert exported(mixed)[1].absent == 1
    (tmp_path / "bench.parquet").rename(tmp_path / "kept")
    file, said = exported(mixed, fetched=True)
    assert (said.photos, said.absent) == (3, 0)
    inside = file.read().to_pylist()[2]["image"]["bytes"]
    assert inside == (tmp_path / "photos" / "c.png").read_bytes()


def test_row_groups_hold_at_most_a_hundred_photos(tmp_path: Path) -> None:
    rows = [row(f"{number:03}") for number in range(250)]
    file, _ = exported(frozen(tmp_path / "bench", rows))
    sizes = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
    assert sizes == [100, 100, 50]
    assert [each["id"] for each in file.read().to_pylist()] == [f"{n:03}" for n in range(250)]


def questions(folder: Path, *rows: dict[str, Any], split: str = "val") -> Path:
    for name, shade in (("a.png", 1), ("b.png", 2)):
        plain(folder / "photos" / name, shade)
    lines = folder / "questions.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in rows))
    settings = Settings(name="asked", version="1", split=split)
    freeze(lines, folder / "photos", folder / "bench", settings)
    return folder / "bench"


def test_questions_carry_their_photos_in_order(tmp_path: Path) -> None:
    bench = questions(tmp_path, CHOICE, OPEN)
    file, said = exported(bench, "validation")
    words, choice = file.read().to_pylist()
    assert (words["images"], words["image_paths"], words["options"]) == ([], [], None)
    assert [each["bytes"] for each in choice["images"]] == [
        (tmp_path / "photos" / name).read_bytes() for name in ("a.png", "b.png")
    ]
    assert (choice["options"], choice["answer"]) == (["rust", "blight"], "B")
    assert (said.rows, said.photos) == (2, 2)


def test_questions_with_many_photos_make_small_row_groups_too(tmp_path: Path) -> None:
    rows = [{**CHOICE, "id": f"{number:03}"} for number in range(101)]
    file, _ = exported(questions(tmp_path, *rows), "validation")
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [50, 50, 1]


def test_two_exports_are_byte_equal(mixed: Path) -> None:
    exported(mixed)
    first = mixed.with_name("bench.parquet").rename(mixed.with_name("first"))
    exported(mixed)
    second = mixed.with_name("bench.parquet")
    for name in ("README.md", "data/test.parquet"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_the_readme_lists_the_columns_as_the_file_has_them(mixed: Path) -> None:
    file, _ = exported(mixed)
    text = mixed.with_name("bench.parquet").joinpath("README.md").read_text()
    _, head, body = text.split("---\n", 2)
    told = yaml.safe_load(head)
    assert told["license"] == ["cc0-1.0", "other"]
    assert told["configs"][0]["data_files"] == [{"split": "test", "path": "data/test.parquet"}]
    assert told["size_categories"] == ["n<1K"]
    features = told["dataset_info"]["features"]
    assert [each["name"] for each in features] == file.schema_arrow.names
    assert {"name": "image", "dtype": "image"} in features
    assert told["dataset_info"]["splits"][0]["num_examples"] == 3
    in_file = json.loads(file.schema_arrow.metadata[b"huggingface"])["info"]["features"]
    assert in_file["image"] == {"_type": "Image"}
    assert list(in_file) == file.schema_arrow.names
    assert "Null, since they may not be handed on: 1." in body
    assert "## How do I score a model on it?" in body  # the benchmark's own card


def test_a_benchmark_from_before_there_were_cards_is_exported(mixed: Path) -> None:
    bench = store.open_bench(mixed)
    files = {name: digest for name, digest in bench.manifest.files.items() if name != "CARD.md"}
    (mixed / "CARD.md").unlink()
    sealed = replace(bench.manifest, files=files).sealed()
    (mixed / "manifest.json").write_bytes(sealed.rendered())
    assert exported(mixed)[1].rows == 3


@pytest.mark.slow
@pytest.mark.parametrize("part", ["", "data"])
def test_the_library_of_the_hubs_decodes_the_photos(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """With the README's features, and with those in the file alone; on its side in EXIF."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    (tmp_path / "photos").mkdir()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 24), (20, 120, 30)).save(tmp_path / "photos" / "c.jpg", exif=exif)
    plain(tmp_path / "photos" / "d.png", 9)
    turned = row("turned", image="c.jpg", boxes=[[1, 2, 20, 30]])
    closed = row("z", licence="unknown", image="d.png")
    exported(frozen(tmp_path / "bench", [turned, healthy_row("h"), closed]))
    loaded = datasets.load_dataset(
        str(tmp_path / "bench.parquet" / part), split="test", cache_dir=str(tmp_path / "cache")
    )
    healthy, sick, unseen = loaded
    assert type(loaded.features["image"]).__name__ == "Image"
    assert (sick["image"].size, sick["width"], sick["height"]) == ((24, 40), 24, 40)
    assert sick["boxes"] == [[1.0, 2.0, 20.0, 30.0]]
    assert (healthy["boxes"], healthy["label"], healthy["image"].size) == ([], None, (32, 24))
    assert unseen["image"] is None
    raw = loaded.cast_column("image", datasets.Image(decode=False))[1]["image"]["bytes"]
    assert Image.open(io.BytesIO(raw)).size == (40, 24)


def test_no_pyarrow_is_said_with_the_extra(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(Usage, match=r"pip install 'fieldtruth\[parquet\]'"):
        parquet.write(store.open_bench(mixed), mixed.parent / "x", fetched=False)
