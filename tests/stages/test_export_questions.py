"""Training exports of questions: photo, question, options and reply, and not a word besides."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from tests.builders import four, frozen, plain, question

from fieldtruth.faults import BadRecord, Refused, Usage
from fieldtruth.stages.export import Options, Tuned, export
from fieldtruth.stages.export.questions import open_set

TRAINERS = ("trl", "llama_factory", "ms_swift", "verl")
PLANTED = {
    "id": "paper9-planted-figure2", "evidence": ["planted evidence"], "facts": ["planted fact"],
    "background": "planted caption", "domain": "planted domain", "challenge": "planted challenge",
    "crop": "planted crop", "qtype": "planted type", "group": "planted group",
    "source": "planted source", "images": ["planted.png"],
}  # fmt: skip
# LLaMA-Factory's own names: hparams/{model,data,finetuning}_args.py, and transformers' arguments.
KNOWN = {
    "model_name_or_path", "dataset", "dataset_dir", "template", "cutoff_len", "stage",
    "finetuning_type", "lora_rank", "lora_alpha", "lora_dropout", "lora_target", "do_train",
    "output_dir", "save_strategy", "logging_steps", "report_to", "per_device_train_batch_size",
    "gradient_accumulation_steps", "learning_rate", "num_train_epochs", "optim",
    "lr_scheduler_type", "warmup_ratio", "bf16", "seed",
}  # fmt: skip


def rows(path: Path, *some: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in some))
    return path


def planted(tmp_path: Path, **changes: Any) -> Path:
    plain(tmp_path / "photos" / "planted.png", 3)
    return rows(tmp_path / "silver.jsonl", question("q", **(PLANTED | changes)))


def told(tmp_path: Path, name: str, **more: Any) -> Path:
    """One planted question exported from a file."""
    source = planted(tmp_path)
    options = Options(images=tmp_path / "photos", split="train", **more)
    export(name, source, tmp_path / "out", options)
    return tmp_path / "out"


@pytest.mark.parametrize("name", TRAINERS)
@pytest.mark.parametrize("protocol", [None, "reasoned_choice"])
def test_nothing_planted_is_in_any_byte_of_the_export(
    name: str, protocol: str | None, tmp_path: Path
) -> None:
    out = told(tmp_path, name, protocol=protocol)
    files = [path for path in out.rglob("*") if path.is_file()]
    assert len(files) >= 4  # rows, photo, README.md, manifest.json
    for path in files:
        assert "planted" not in str(path.relative_to(out))
        assert b"planted" not in path.read_bytes(), path
        assert b"planted".hex().encode() not in path.read_bytes()


def test_a_row_is_what_a_trainer_takes(tmp_path: Path) -> None:
    (line,) = (told(tmp_path, "trl") / "train.jsonl").read_text().splitlines()
    row = json.loads(line)
    assert row.keys() == {"messages", "images"}
    asked, answered = row["messages"]
    assert [part["type"] for part in asked["content"]] == ["image", "text"]
    assert asked["content"][1]["text"] == (
        "What is it?\nA. rust\nB. scab\nC. blight\nD. mildew\n"
        "Answer with the letter of the right option and nothing else."
    )
    assert answered["content"] == [{"type": "text", "text": "A"}]
    (photo,) = row["images"]
    source = (tmp_path / "photos" / "planted.png").read_bytes()
    assert (tmp_path / "out" / photo).read_bytes() == source


def test_a_placeholder_for_each_photo(tmp_path: Path) -> None:
    bench = frozen(tmp_path / "bench", [question("q", images=["a.png", "b.png"])], "train")
    export("ms_swift", bench, tmp_path / "ms")
    row = json.loads((tmp_path / "ms" / "train.jsonl").read_text())
    assert row["messages"][0]["content"].startswith("<image><image>What is it?")
    assert len(row["images"]) == 2
    export("llama_factory", bench, tmp_path / "lf")
    (row,) = json.loads((tmp_path / "lf" / "train.json").read_text())
    assert row.keys() == {"conversations", "images"}
    assert row["conversations"][0]["value"].startswith("<image><image>What is it?")
    assert row["conversations"][1] == {"from": "gpt", "value": "A"}
    export("verl", bench, tmp_path / "verl")
    (row,) = pyarrow.parquet.read_table(tmp_path / "verl" / "train.parquet").to_pylist()
    assert row["reward_model"] == {"style": "rule", "ground_truth": "A"}
    assert row["extra_info"] == {"split": "train", "index": 0}
    assert [bool(each["bytes"]) for each in row["images"]] == [True, True]


@pytest.mark.parametrize("name", TRAINERS)
def test_nobody_trains_on_a_test_split(name: str, tmp_path: Path) -> None:
    bench = frozen(tmp_path / "bench", [question("q", images=["a.png"])], "test")
    with pytest.raises(Refused, match="the split test"):
        export(name, bench, tmp_path / "out")
    source, photos = planted(tmp_path), tmp_path / "photos"
    for options in (Options(images=photos, split="test"), Options(images=photos), Options()):
        with pytest.raises(Usage, match="nobody trains on a test split"):
            export(name, source, tmp_path / "out", options)
    inner = Options(images=photos, split="train")
    with pytest.raises(Usage, match="expected its folder"):
        export(name, bench / "questions.jsonl", tmp_path / "out", inner)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("told", "kept"), [('{"seed": 0}', False), ('{"split": "test"}', True), ("{", True)]
)
def test_what_questions_wrote_is_no_frozen_set(told: str, kept: bool, tmp_path: Path) -> None:  # noqa: FBT001
    (tmp_path / "manifest.json").write_text(told)
    (tmp_path / "questions.jsonl").write_text("")
    if kept:
        with pytest.raises(Usage, match="expected its folder"):
            open_set(tmp_path / "questions.jsonl", tmp_path, "train")
    else:
        assert open_set(tmp_path / "questions.jsonl", tmp_path, "train").questions == ()


def test_photos_go_by_licence(tmp_path: Path) -> None:
    some = [
        question("a", images=["a.png"], licence="CC0"),
        question("b", images=["b.png"], licence="All rights reserved"),
    ]  # fmt: skip
    bench = frozen(tmp_path / "bench", some, "train")
    made = export("trl", bench, tmp_path / "out", Options(by_licence=True))
    assert (made.rows, made.photos, made.absent) == (2, 1, 1)
    closed = tmp_path / "out" / "all-rights-reserved"
    assert list((closed / "images").iterdir()) == []
    assert (closed / "fetch.py").is_file()


def test_words_that_stand_for_a_photo_are_refused(tmp_path: Path) -> None:
    source = planted(tmp_path, question="What is <image>?")
    options = Options(images=tmp_path / "photos", split="train")
    with pytest.raises(BadRecord, match="trainers take for a photo"):
        export("trl", source, tmp_path / "out", options)


def test_a_question_that_a_protocol_cannot_ask(tmp_path: Path) -> None:
    source = planted(tmp_path, form="open", options=None, answer="rust", facts=[])
    options = Options(images=tmp_path / "photos", split="train", protocol="choice")
    with pytest.raises(Usage, match="expected questions it can ask"):
        export("trl", source, tmp_path / "out", options)


def test_what_is_for_questions_alone(tmp_path: Path) -> None:
    bench = four(tmp_path / "bench")
    for options in (Options(split="train"), Options(protocol="choice")):
        with pytest.raises(Usage, match="expected questions and a trainer's format"):
            export("coco", bench, tmp_path / "out", options)
    tuned = Tuned(model="m", template="t")
    with pytest.raises(Usage, match="expected the format llama_factory"):
        told(tmp_path, "trl", tuned=tuned)


def test_the_configuration_of_a_run(tmp_path: Path) -> None:
    tuned = Tuned(model="Qwen/Qwen3-VL-2B-Instruct", template="qwen3_vl_nothink")
    out = told(tmp_path, "llama_factory", tuned=tuned)
    lines = (out / "lora.yaml").read_text().splitlines()[1:]
    said = {name: json.loads(value) for name, _, value in (each.partition(": ") for each in lines)}
    assert said.keys() == KNOWN
    assert said["dataset"] in json.loads((out / "dataset_info.json").read_text())
    assert (said["lora_rank"], said["lora_alpha"], said["lora_dropout"]) == (16, 32, 0.05)
    assert (said["learning_rate"], said["warmup_ratio"], said["num_train_epochs"]) == (
        1e-4, 0.03, 3,
    )  # fmt: skip
    assert "learning_rate: 0.0001" in lines  # `1e-4` would be words in YAML 1.1
    assert said["cutoff_len"] == 4096
    assert (said["per_device_train_batch_size"], said["gradient_accumulation_steps"]) == (1, 4)


@pytest.mark.parametrize(("name", "value"), [("model", " "), ("template", ""), ("length", 0)])
def test_a_configuration_needs_names(name: str, value: Any) -> None:
    fields: dict[str, Any] = {"model": "m", "template": "t"} | {name: value}
    with pytest.raises(Usage, match=f"--{name}"):
        Tuned(**fields)
