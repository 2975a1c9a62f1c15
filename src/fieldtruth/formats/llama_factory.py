"""ShareGPT conversations for LLaMA-Factory, with the description that its data folder needs.

    train.json          [{"conversations": [{"from", "value"}], "images": [...], ...}]
    dataset_info.json   {"fieldtruth_train": {"file_name", "formatting", "columns", "tags"}}
    images/

Rows of questions hold `conversations` and `images` only. `<image>` stands once for each photo,
before the human's words: there have to be as many as photos (LLaMA-Factory,
data/README.md, "Multimodal Image Dataset"). The list is one row a line.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth.formats.contract import Posed, QuestionTrainer, Shown, Trainer
from fieldtruth.records import Split

INFO = "dataset_info.json"
_TAGS = {
    "role_tag": "from",
    "content_tag": "value",
    "user_tag": "human",
    "assistant_tag": "gpt",
}
_USE = """
```yaml
dataset_dir: .   # this folder; paths of photos begin here
dataset: {name}
```
"""


def row(shown: Shown) -> dict[str, Any]:
    """One element of the list."""
    example, photo = shown
    return {
        "id": example.id,
        **_chat(example.prompt, example.answer, [photo]),
        "space": example.space,
        "source": example.source,
        "licence": example.licence,
    }


def _chat(prompt: str, reply: str, photos: Sequence[str]) -> dict[str, Any]:
    return {
        "conversations": [
            {"from": "human", "value": f"{'<image>' * len(photos)}{prompt}"},
            {"from": "gpt", "value": reply},
        ],
        "images": list(photos),
    }


def write(rows: Iterable[Shown], folder: Path, split: Split) -> str:
    """Write `SPLIT.json` and `dataset_info.json`."""
    return _write(map(row, rows), folder, split)


def write_questions(rows: Iterable[Posed], folder: Path, split: Split) -> str:
    """Write `SPLIT.json` of questions and `dataset_info.json`."""
    return _write((_chat(*each) for each in rows), folder, split)


def dataset(split: Split) -> str:
    """What `dataset_info.json` calls the rows of a split."""
    return f"fieldtruth_{split}"


def _write(rows: Iterable[dict[str, Any]], folder: Path, split: Split) -> str:
    encode = msgspec.json.Encoder().encode
    with (folder / f"{split}.json").open("wb") as file:
        before = b"[\n"
        for each in rows:
            file.write(before + encode(each))
            before = b",\n"
        file.write(b"\n]\n")
    told = {
        "file_name": f"{split}.json",
        "formatting": "sharegpt",
        "columns": {"messages": "conversations", "images": "images"},
        "tags": _TAGS,
    }
    whole = msgspec.json.format(msgspec.json.encode({dataset(split): told}), indent=2)
    (folder / INFO).write_bytes(whole + b"\n")
    return _USE.format(name=dataset(split))


TRAINING: Trainer = write
QUESTIONS: QuestionTrainer = write_questions
