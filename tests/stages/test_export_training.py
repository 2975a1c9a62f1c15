"""Training exports: photos by licence, other spaces, and what is refused."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import example, examples_folder, four, frozen, healthy_row, row
from tests.strategies import SPACES, boxes_within, names

from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.records import Example, Space
from fieldtruth.replies import read_boxes, spelling, write_boxes
from fieldtruth.stages.export import Options, export, line
from fieldtruth.stages.export.spaces import in_space

OPEN, CLOSED = "CC BY 4.0", "All rights reserved"


def exported(tmp_path: Path, examples: Sequence[Example], options: Options | None = None) -> Path:
    folder = examples_folder(tmp_path, examples)
    export("ms-swift", folder, tmp_path / "out", options)
    return tmp_path / "out"


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_what_is_in_the_folder(tmp_path: Path) -> None:
    out = exported(tmp_path, [example("e"), example("h", role="healthy", image="b.png")])
    photos = [name for name in files(out) if name.startswith("images/")]
    assert len(photos) == 2
    assert files(out) == sorted([*photos, "README.md", "manifest.json", "train.jsonl"])
    told = json.loads((out / "manifest.json").read_text())
    assert (told["rows"], told["licences"], told["references"]) == (2, {"CC0-1.0": 2}, {})
    assert "swift sft --dataset train.jsonl" in (out / "README.md").read_text()


def test_two_exports_are_byte_equal(tmp_path: Path) -> None:
    folder = examples_folder(tmp_path, [example("e"), example("u", licence="unknown")])
    for name in ("trl", "llama-factory", "ms-swift", "verl"):
        for out in ("one", "two"):
            export(name, folder, tmp_path / name / out, Options(by_licence=True))
        one, two = tmp_path / name / "one", tmp_path / name / "two"
        assert files(one) == files(two)
        assert all((one / each).read_bytes() == (two / each).read_bytes() for each in files(one))


def test_photos_that_a_licence_keeps_back_are_named_by_their_hash(tmp_path: Path) -> None:
    rows = [example("e", licence=OPEN), example("c", licence=CLOSED, image="b.png")]
    out = exported(tmp_path, rows)
    told = json.loads((out / "manifest.json").read_text())
    ((place, known),) = told["references"].items()
    assert known["original"] == "b.png"
    assert not (out / place).exists()
    assert place in (out / "train.jsonl").read_text()
    words = [sys.executable, str(out / "fetch.py"), str(tmp_path / "release")]
    assert subprocess.run(words, check=False).returncode == 0
    assert (out / place).read_bytes() == (tmp_path / "release" / "b.png").read_bytes()


def test_a_photo_of_two_licences_is_copied_only_when_both_let_it(tmp_path: Path) -> None:
    out = exported(tmp_path, [example("e", licence=OPEN), example("c", licence=CLOSED)])
    assert not any(name.startswith("images/") for name in files(out))


def test_photos_go_along_where_that_was_asked_for(tmp_path: Path) -> None:
    out = exported(tmp_path, [example("c", licence=CLOSED)], Options(fetched=True))
    assert sum(name.startswith("images/") for name in files(out)) == 1
    assert not (out / "fetch.py").exists()


def test_a_release_is_parted_by_licence(tmp_path: Path) -> None:
    rows = [
        example("a", licence=OPEN), example("b", licence="cc-by-4.0"),
        example("c", licence=CLOSED, image="b.png"), example("d", licence="CC0"),
    ]  # fmt: skip
    folder = examples_folder(tmp_path, rows)
    made = export("trl", folder, tmp_path / "out", Options(by_licence=True))
    assert made.licences == {"All rights reserved": 1, "CC-BY-4.0": 2, "CC0-1.0": 1}
    assert line(made, Path("O")) == (
        "4 rows with 2 photos, 1 left out (kept by reference only), in 3 folders by licence: O"
    )
    index = json.loads((tmp_path / "out" / "licences.json").read_text())
    told = [(each["folder"], each["spdx"], each["copied"], each["rows"]) for each in index]
    assert told == [
        ("all-rights-reserved", None, False, 1), ("cc-by-4.0", "CC-BY-4.0", True, 2),
        ("cc0-1.0", "CC0-1.0", True, 1),
    ]  # fmt: skip
    for name, ids in (
        ("all-rights-reserved", ["c"]),
        ("cc-by-4.0", ["a", "b"]),
        ("cc0-1.0", ["d"]),
    ):
        lines = (tmp_path / "out" / name / "train.jsonl").read_text().splitlines()
        assert [json.loads(each)["id"] for each in lines] == ids


@pytest.mark.parametrize("name", ["coco", "voc", "yolo", "parquet"])
def test_a_benchmark_is_parted_by_licence(name: str, tmp_path: Path) -> None:
    rows = [row("p0", licence=OPEN), row("p1", licence="cc by 4.0"), healthy_row("h", licence="!")]
    bench = frozen(tmp_path / "bench", rows)
    made = export(name, bench, tmp_path / "out", Options(by_licence=True))
    assert (made.rows, made.absent, made.licences) == (3, 1, {"!": 1, "CC-BY-4.0": 2})
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "cc-by-4.0", "unnamed", "licences.json",
    }  # fmt: skip


def test_references_of_a_benchmark_can_be_fetched(tmp_path: Path) -> None:
    bench = frozen(tmp_path / "bench", [row("p", licence="unknown"), healthy_row("h")])
    made = export("coco", bench, tmp_path / "out")
    assert made.absent == 1
    words = [sys.executable, str(tmp_path / "out" / "fetch.py"), str(tmp_path / "photos")]
    assert subprocess.run(words, check=False).returncode == 0
    assert len(list((tmp_path / "out" / "images").iterdir())) == 2
    inside = export("parquet", bench, tmp_path / "inside")
    assert inside.absent == 1
    assert not (tmp_path / "inside" / "fetch.py").exists()


# --- spaces ------------------------------------------------------------------------------------


@given(st.data(), names, st.sampled_from(SPACES), st.sampled_from(SPACES))
def test_an_example_goes_to_another_space_and_back(
    data: st.DataObject, name: str, first: Space, other: Space
) -> None:
    width, height = data.draw(st.integers(1, 4000)), data.draw(st.integers(1, 4000))
    boxes = tuple(data.draw(st.lists(boxes_within(width, height), min_size=1, max_size=4)))
    given_ = example(
        "e", boxes=boxes, width=width, height=height, space=first, query=name,
        prompt=f"Find {name}.\n{spelling(json.dumps(name), first)}\nOr say [].",
        answer=write_boxes(boxes, name, first, width=width, height=height),
    )  # fmt: skip
    there = in_space(given_, other)
    assert there.prompt == f"Find {name}.\n{spelling(json.dumps(name), other)}\nOr say []."
    assert there.answer == write_boxes(boxes, name, other, width=width, height=height)
    assert set(read_boxes(there.answer, other, "stop").labels) == {name}
    assert in_space(there, first) == given_


def test_a_prompt_that_names_no_space_stays_where_it_is(tmp_path: Path) -> None:
    odd = example("e", prompt="Where is it?")
    assert in_space(odd, "norm1000") is odd
    with pytest.raises(BadRecord, match=r"'e': expected one sentence .* in norm1000, got 0"):
        in_space(odd, "pixel")


# --- what is refused ---------------------------------------------------------------------------


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    folder, bench = examples_folder(tmp_path, [example("e")]), four(tmp_path / "bench")
    out = tmp_path / "out"
    with pytest.raises(Usage, match=r"coco: expected a format that examples .*\(llama_factory"):
        export("coco", folder, out)
    with pytest.raises(Usage, match=r"trl: expected a format that benchmarks .*coco.*yolo"):
        export("trl", bench, out)
    with pytest.raises(Usage, match=r"nowhere: expected a folder with examples\.jsonl"):
        export("trl", tmp_path / "nowhere", out)
    with pytest.raises(Usage, match="--space: expected one of pixel"):
        export("trl", folder, out, Options(space="miles"))
    with pytest.raises(Usage, match="--space, --images: expected a folder of examples"):
        export("coco", bench, out, Options(space="pixel"))
    with pytest.raises(Usage, match="expected a place outside"):
        export("trl", folder, folder / "trl")
    (tmp_path / "release" / "a.png").write_bytes(b"another")
    with pytest.raises(Refused, match="expected the photo as it was looked at"):
        export("trl", folder, out)
    (tmp_path / "release" / "a.png").unlink()
    with pytest.raises(Refused, match=r"a\.png: expected a photo, got nothing there"):
        export("trl", folder, out)
    (folder / "examples.jsonl").write_bytes(b"")
    with pytest.raises(Refused, match="compose the folder again"):
        export("trl", folder, out)
    assert not out.exists()


@pytest.mark.parametrize("words", ["<image>", "<|image_pad|>", "<video>", "<|vision_start|>"])
def test_words_that_a_trainer_takes_for_a_photo(words: str, tmp_path: Path) -> None:
    folder = examples_folder(tmp_path, [example("e", prompt=f"Is it {words}?")])
    with pytest.raises(BadRecord, match=r"\(id 'e'\): expected words in its prompt, got <"):
        export("llama-factory", folder, tmp_path / "out")


def test_a_test_split_is_not_exported_for_a_trainer(tmp_path: Path) -> None:
    folder = examples_folder(tmp_path, [example("e", split="test")])
    with pytest.raises(Refused, match="expected examples to train on"):
        export("trl", folder, tmp_path / "out")


def test_photos_that_lie_elsewhere_now(tmp_path: Path) -> None:
    folder = examples_folder(tmp_path, [example("e")])
    (tmp_path / "release").rename(tmp_path / "moved")
    with pytest.raises(Usage, match="expected the photos of 'hand'"):
        export("trl", folder, tmp_path / "out")
    made = export("trl", folder, tmp_path / "out", Options(images=tmp_path / "moved"))
    assert made.photos == 1
