"""Chat lines for ms-swift: its standard format with one photo a row.

    train.jsonl   {"id", "messages", "images", "space", "source", "licence"}; of questions only
                  {"messages", "images"}
    images/

`<image>` stands once for each photo, before the user's words, where the photo goes. Boxes stay as
the answer writes them, in the space that the model declares: ms-swift's own `objects` would rescale
them (ms-swift, "Custom dataset", multimodal and grounding). Fields that it does not know it drops.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fieldtruth.formats.contract import Posed, QuestionTrainer, Shown, Trainer, write_lines
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
        **_chat(example.prompt, example.answer, [photo]),
        "space": example.space,
        "source": example.source,
        "licence": example.licence,
    }


def _chat(prompt: str, reply: str, photos: Sequence[str]) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "user", "content": f"{'<image>' * len(photos)}{prompt}"},
            {"role": "assistant", "content": reply},
        ],
        "images": list(photos),
    }


def write(rows: Iterable[Shown], folder: Path, split: Split) -> str:
    """Write `SPLIT.jsonl`."""
    write_lines(folder / f"{split}.jsonl", map(row, rows))
    return _USE.format(name=f"{split}.jsonl")


def write_questions(rows: Iterable[Posed], folder: Path, split: Split) -> str:
    """Write `SPLIT.jsonl` of questions."""
    write_lines(folder / f"{split}.jsonl", (_chat(*each) for each in rows))
    return _USE.format(name=f"{split}.jsonl")


TRAINING: Trainer = write
QUESTIONS: QuestionTrainer = write_questions
