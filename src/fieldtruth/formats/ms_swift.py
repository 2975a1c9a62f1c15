"""Chat lines for ms-swift: its standard format with one photo a row.

    train.jsonl   {"id", "messages", "images", "space", "source", "licence"}
    images/

`<image>` stands once, before the user's words, where the photo goes. Boxes stay as the answer
writes them, in the space that the model declares: ms-swift's own `objects` would rescale them
(ms-swift, "Custom dataset", multimodal and grounding). Fields that it does not know it drops.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fieldtruth.formats.contract import Shown, Trainer, write_lines
from fieldtruth.records import Split

_USE = """
```sh
swift sft --dataset {name} ...   # paths of photos begin in this folder: run from here
```
"""


def row(shown: Shown) -> dict[str, Any]:
    """One line."""
    example, photo = shown
    return {
        "id": example.id,
        "messages": [
            {"role": "user", "content": f"<image>{example.prompt}"},
            {"role": "assistant", "content": example.answer},
        ],
        "images": [photo],
        "space": example.space,
        "source": example.source,
        "licence": example.licence,
    }


def write(rows: Iterable[Shown], folder: Path, split: Split) -> str:
    """Write `SPLIT.jsonl`."""
    write_lines(folder / f"{split}.jsonl", map(row, rows))
    return _USE.format(name=f"{split}.jsonl")


TRAINING: Trainer = write
