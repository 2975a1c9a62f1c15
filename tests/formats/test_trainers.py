"""What trainers are given, read back as each of them reads it, with no code of ours."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest
from PIL import Image
from tests.builders import example, examples_folder

from fieldtruth.records import Space
from fieldtruth.stages.check import Settings, check
from fieldtruth.stages.export import Options, export

Row = tuple[str, str, Path]  # what the user says, what the assistant answers, the photo


def made(folder: Path, name: str, **options: Any) -> Path:
    """Three examples of two photos, of every role, and one with a photo kept back."""
    examples = [
        example("e"),
        example("h", role="healthy", image="b.png"),
        example("w", role="wrong_target"),
        example("u", label="rouille \u201cbrune\u201d", query="rouille \u201cbrune\u201d"),
    ]
    export(name, examples_folder(folder, examples), folder / "out", Options(**options))
    return folder / "out"


def read_trl(folder: Path) -> list[Row]:
    """By `datasets`, as TRL's guide does; parts are filled in as `prepare_multimodal_messages`
    does (trl 1.16, data_utils)."""
    rows = datasets.load_dataset(
        "json", data_files=str(folder / "train.jsonl"), split="train", cache_dir=folder / "cache"
    )
    found = []
    for row in rows:
        user, assistant = row["messages"]
        assert (user["role"], assistant["role"]) == ("user", "assistant")
        parts = [*user["content"], *assistant["content"]]
        photos = [part for part in parts if part["type"] == "image"]
        assert len(photos) == len(row["images"]) == 1
        assert all("image" not in part for part in parts)
        words = [part["text"] for part in parts if part["type"] == "text"]
        found.append((words[0], words[1], folder / row["images"][0]))
    return found


def read_llama_factory(folder: Path) -> list[Row]:
    """As its data/README.md says of ShareGPT with photos."""
    ((_, told),) = json.loads((folder / "dataset_info.json").read_text()).items()
    assert told["formatting"] == "sharegpt"
    tags, columns = told["tags"], told["columns"]
    found = []
    for row in json.loads((folder / told["file_name"]).read_text()):
        turns = row[columns["messages"]]
        roles = [turn[tags["role_tag"]] for turn in turns]
        assert roles == [tags["user_tag"], tags["assistant_tag"]]
        user, assistant = (turn[tags["content_tag"]] for turn in turns)
        photos = row[columns["images"]]
        assert (user + assistant).count("<image>") == len(photos) == 1
        found.append((user.replace("<image>", ""), assistant, folder / photos[0]))
    return found


def read_ms_swift(folder: Path) -> list[Row]:
    """As its "Custom dataset" says of messages with photos."""
    found = []
    for text in (folder / "train.jsonl").read_text().splitlines():
        row = json.loads(text)
        user, assistant = row["messages"]
        assert (user["role"], assistant["role"]) == ("user", "assistant")
        assert user["content"].count("<image>") == len(row["images"]) == 1
        assert "objects" not in row
        words = user["content"].removeprefix("<image>")
        found.append((words, assistant["content"], folder / row["images"][0]))
    return found


def read_verl(folder: Path) -> list[Row]:
    """By `datasets`, as verl's RLHFDataset does, which cuts the prompt at `<image>`."""
    rows = datasets.load_dataset(
        "parquet", data_files=str(folder / "train.parquet"), split="train",
        cache_dir=folder / "cache",
    )  # fmt: skip
    found = []
    for at, row in enumerate(rows):
        (message,) = row["prompt"]
        assert message["role"] == "user"
        before, words = message["content"].split("<image>")
        (photo,) = row["images"]
        assert (before, photo.size, row["extra_info"]["index"]) == ("", (64, 48), at)
        assert row["reward_model"]["style"] == "rule"
        truth = json.loads(row["reward_model"]["ground_truth"])
        answer = row["extra_info"]["answer"]
        assert len(truth["boxes"]) == answer.count("bbox_2d")
        path = folder / "images" / f"{row['extra_info']['image_sha256'][:32]}.png"
        found.append((words, answer, path))
    return found


READ: dict[str, Callable[[Path], list[Row]]] = {
    "trl": read_trl,
    "llama_factory": read_llama_factory,
    "ms_swift": read_ms_swift,
    "verl": read_verl,
}


@pytest.mark.parametrize("name", READ)
def test_a_trainer_reads_what_was_composed(name: str, tmp_path: Path) -> None:
    folder = made(tmp_path, name)
    examples = [json.loads(each) for each in
                (tmp_path / "training" / "examples.jsonl").read_text().splitlines()]  # fmt: skip
    rows = READ[name](folder)
    assert [row[:2] for row in rows] == [(each["prompt"], each["answer"]) for each in examples]
    for (_, _, photo), each in zip(rows, examples, strict=True):
        original = tmp_path / "release" / each["image"]
        assert photo.read_bytes() == original.read_bytes()
    assert len(list((folder / "images").iterdir())) == 2


@pytest.mark.parametrize("name", [each for each in READ if each != "verl"])
def test_check_finds_nothing_in_it(name: str, tmp_path: Path) -> None:
    (path,) = (each for each in made(tmp_path, name).glob("train.json*"))
    report = check(path, Settings())
    assert (report.kind, report.rows) == ("chat", 4)
    assert [each.problem for each in report.problems] == ["unknown_label"]  # the French name


@pytest.mark.parametrize("space", ["pixel", "norm1", "yx1000", "loc1024", "pixel_resized"])
def test_boxes_are_in_the_space_that_was_asked_for(space: Space, tmp_path: Path) -> None:
    folder = made(tmp_path, "ms-swift", space=space)
    numbers = {
        "pixel": [10, 8, 30, 24], "norm1": [0.1562, 0.1667, 0.4688, 0.5],
        "yx1000": [167, 156, 500, 469], "loc1024": [171, 160, 512, 480],
        "pixel_resized": [9, 9, 26, 28],
    }[space]  # fmt: skip
    prompt, answer, _ = read_ms_swift(folder)[0]
    (box,) = json.loads(answer)
    assert (next(iter(box.values())), box["label"]) == (numbers, "early blight")
    assert next(iter(box)) in prompt
    report = check(folder / "train.jsonl", Settings())
    assert {each.problem for each in report.problems} == {"unknown_label"}


def test_the_truth_that_a_reward_is_given_by(tmp_path: Path) -> None:
    folder = made(tmp_path, "verl")
    rows = datasets.load_dataset(
        "parquet", data_files=str(folder / "train.parquet"), split="train",
        cache_dir=folder / "cache",
    )  # fmt: skip
    truths = [json.loads(row["reward_model"]["ground_truth"]) for row in rows]
    assert truths[0] == {
        "space": "norm1000", "protocol": "known_target",
        "boxes": [[156.25, pytest.approx(500 / 3), 468.75, 500.0]], "label": "early blight",
        "candidates": None, "healthy": False, "query": "early blight",
    }  # fmt: skip
    assert [(each["healthy"], each["boxes"] == []) for each in truths] == [
        (False, False), (True, True), (False, True), (False, False),
    ]  # fmt: skip
    assert rows[0]["data_source"] == "fieldtruth/hand"
    assert rows[1]["extra_info"]["role"] == "healthy"


@pytest.mark.slow
def test_trl_itself_fills_in_the_photos(tmp_path: Path) -> None:
    data_utils = pytest.importorskip("trl.data_utils", exc_type=ImportError)
    folder = made(tmp_path, "trl")
    rows = datasets.load_dataset(
        "json", data_files=str(folder / "train.jsonl"), split="train", cache_dir=folder / "cache"
    )
    for row in rows:
        assert data_utils.is_conversational(row)
        with Image.open(folder / row["images"][0]) as photo:
            turns = data_utils.prepare_multimodal_messages(row["messages"], images=[photo])
        assert [part["type"] for part in turns[0]["content"]] == ["image", "text"]
        assert turns[0]["content"][0]["image"] is photo
