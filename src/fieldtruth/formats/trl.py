"""Chat lines for TRL: what `SFTTrainer` takes of a vision-language model.

    train.jsonl   {"id", "messages", "images", "space", "source", "licence"}; of questions only
                  {"messages", "images"}
    images/

The photo stands as a part `{"type": "image"}` before the words, and its path under `images`, which
`datasets` turns into the photo itself. So `<image>` in a text would be no more than words (trl
`dataset_formats`, "Vision dataset"; peers.md, section 4.10). Parts hold no `image` of their own: a
null there, which a table makes of what is missing, would be taken for a photo.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fieldtruth.formats.contract import Posed, QuestionTrainer, Shown, Trainer, write_lines
from fieldtruth.records import Split

_USE = """
```python
from datasets import Image, Sequence, load_dataset

rows = load_dataset("json", data_files="{name}", split="train")
rows = rows.cast_column("images", Sequence(Image()))  # paths begin in this folder: run from here
```

Give `rows` to `SFTTrainer`; with `assistant_only_loss=True` only the answers count.
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
    asked = [*({"type": "image"} for _ in photos), {"type": "text", "text": prompt}]
    return {
        "messages": [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": [{"type": "text", "text": reply}]},
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
