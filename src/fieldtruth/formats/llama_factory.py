"""ShareGPT conversations for LLaMA-Factory, with the description that its data folder needs.

    train.json          [{"conversations": [{"from", "value"}], "images": [...], ...}]
    dataset_info.json   {"fieldtruth_train": {"file_name", "formatting", "columns", "tags"}}
    images/

`<image>` stands once, before the human's words: there have to be as many as photos (LLaMA-Factory,
data/README.md, "Multimodal Image Dataset"). The list is one row a line.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth.formats.contract import Shown, Trainer
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
        "conversations": [
            {"from": "human", "value": f"<image>{example.prompt}"},
            {"from": "gpt", "value": example.answer},
        ],
        "images": [photo],
        "space": example.space,
        "source": example.source,
        "licence": example.licence,
    }


def write(rows: Iterable[Shown], folder: Path, split: Split) -> str:
    """Write `SPLIT.json` and `dataset_info.json`."""
    encode = msgspec.json.Encoder().encode
    with (folder / f"{split}.json").open("wb") as file:
        before = b"[\n"
        for each in rows:
            file.write(before + encode(row(each)))
            before = b",\n"
        file.write(b"\n]\n")
    name = f"fieldtruth_{split}"
    told = {
        "file_name": f"{split}.json",
        "formatting": "sharegpt",
        "columns": {"messages": "conversations", "images": "images"},
        "tags": _TAGS,
    }
    whole = msgspec.json.format(msgspec.json.encode({name: told}), indent=2)
    (folder / INFO).write_bytes(whole + b"\n")
    return _USE.format(name=name)


TRAINING: Trainer = write
