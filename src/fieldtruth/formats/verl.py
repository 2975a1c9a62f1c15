"""Parquet for verl: prompts with photos inside and the truth that a reward is given by.

    train.parquet   data_source, prompt, images, ability, reward_model, extra_info

as verl's own `examples/data_preprocess/geo3k.py` writes them. `images` are structs {bytes, path},
which `datasets` decodes. `reward_model.ground_truth` is JSON text: a line of `fieldtruth reward`
without `text` and `finish`, truth boxes in the space of the answer, `[]` where it is the empty
list. `data_source` is the source, by which verl reports its figures. Of questions, the truth is the
right reply, `data_source` and `ability` are fixed words, and `extra_info` holds split and place.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from fieldtruth.faults import Usage
from fieldtruth.formats.contract import Posed, QuestionTrainer, Shown, Trainer
from fieldtruth.geometry import as_boxes, from_pixels
from fieldtruth.records import Example, Split

GROUP = 100  # rows, so photos, held at a time
_USE = """
Give `{name}` as `data.train_files`. What a reward function gets as `ground_truth` is JSON: put
`text` (the reply) and `finish` to it and it is a line of `fieldtruth reward`.
"""
_USE_QUESTIONS = """
Give `{name}` as `data.train_files`. What a reward function gets as `ground_truth` is the right
reply.
"""
_TOLD = (
    "split", "index", "id", "answer", "role", "space", "width", "height", "image_sha256",
    "source", "licence",
)  # fmt: skip


def row(at: int, shown: Shown, folder: Path) -> dict[str, Any]:
    """One row; the photo's bytes are null where it may not be handed on."""
    example, photo = shown
    path = folder / photo
    return {
        "data_source": f"fieldtruth/{example.source}",
        "prompt": [{"role": "user", "content": f"<image>{example.prompt}"}],
        "images": [{"bytes": path.read_bytes() if path.is_file() else None, "path": photo}],
        "ability": example.protocol,
        "reward_model": {"style": "rule", "ground_truth": _truth(example)},
        "extra_info": {
            "split": example.split,
            "index": at,
            "id": example.id,
            "answer": example.answer,
            "role": example.role,
            "space": example.space,
            "width": example.width,
            "height": example.height,
            "image_sha256": example.image_sha256,
            "source": example.source,
            "licence": example.licence,
        },
    }


def _truth(example: Example) -> str:
    boxes = from_pixels(as_boxes(example.boxes), example.space, example.width, example.height)
    told = {
        "space": example.space,
        "protocol": example.protocol,
        "boxes": boxes.tolist(),
        "label": example.label,
        "candidates": example.candidates,
        "healthy": example.role == "healthy",
        "query": example.query,
    }
    return json.dumps(told, ensure_ascii=False)


def question_row(at: int, posed: Posed, folder: Path, split: Split) -> dict[str, Any]:
    """One row of a question; the bytes of photos are null that may not be handed on."""
    places = [(photo, folder / photo) for photo in posed.photos]
    return {
        "data_source": "fieldtruth/questions",
        "prompt": [{"role": "user", "content": f"{'<image>' * len(places)}{posed.prompt}"}],
        "images": [
            {"bytes": path.read_bytes() if path.is_file() else None, "path": photo}
            for photo, path in places
        ],
        "ability": "questions",
        "reward_model": {"style": "rule", "ground_truth": posed.reply},
        "extra_info": {"split": split, "index": at},
    }


def write(rows: Iterable[Shown], folder: Path, split: Split) -> str:
    """Write `SPLIT.parquet`. Raises `Usage` where pyarrow is not installed."""
    numbered = (row(at, each, folder) for at, each in enumerate(rows))
    return _USE.format(name=_write(numbered, _TOLD, folder, split))


def write_questions(rows: Iterable[Posed], folder: Path, split: Split) -> str:
    """Write `SPLIT.parquet` of questions. Raises `Usage` where pyarrow is not installed."""
    numbered = (question_row(at, each, folder, split) for at, each in enumerate(rows))
    return _USE_QUESTIONS.format(name=_write(numbered, _TOLD[:2], folder, split))


def _write(
    rows: Iterator[dict[str, Any]], told: tuple[str, ...], folder: Path, split: Split
) -> str:
    """Write the rows, whose `extra_info` has the fields `told`; the file's name."""
    arrow, parquet = _pyarrow()
    schema = _schema(arrow, told)
    name = f"{split}.parquet"
    with parquet.ParquetWriter(folder / name, schema, use_dictionary=False) as file:
        for group in _groups(rows):
            file.write_table(arrow.Table.from_pylist(group, schema=schema))
    return name


TRAINING: Trainer = write
QUESTIONS: QuestionTrainer = write_questions


def _groups(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    for each in rows:
        group.append(each)
        if len(group) == GROUP:
            yield group
            group = []
    if group:
        yield group


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise Usage(
            "export verl: expected the package pyarrow, got none; pip install 'fieldtruth[parquet]'"
        ) from None
    return pyarrow, pyarrow.parquet


def _schema(arrow: Any, told: tuple[str, ...]) -> Any:
    text, whole = arrow.string(), arrow.int64()
    turn = arrow.struct([("role", text), ("content", text)])
    photo = arrow.struct([("bytes", arrow.binary()), ("path", text)])
    kinds = {"index": whole, "width": whole, "height": whole}
    fields = {
        "data_source": text,
        "prompt": arrow.list_(turn),
        "images": arrow.list_(photo),
        "ability": text,
        "reward_model": arrow.struct([("style", text), ("ground_truth", text)]),
        "extra_info": arrow.struct([(name, kinds.get(name, text)) for name in told]),
    }
    return arrow.schema(list(fields.items())).with_metadata(
        {"huggingface": json.dumps({"info": {"features": _features(fields, told, kinds)}})}
    )


def _features(fields: Any, told: tuple[str, ...], kinds: Any) -> dict[str, Any]:
    """The columns as `datasets` calls them, so that photos are decoded."""
    text, whole = {"dtype": "string", "_type": "Value"}, {"dtype": "int64", "_type": "Value"}
    return dict.fromkeys(fields, text) | {
        "prompt": [{"role": text, "content": text}],
        "images": {"feature": {"_type": "Image"}, "_type": "Sequence"},
        "reward_model": {"style": text, "ground_truth": text},
        "extra_info": {name: whole if name in kinds else text for name in told},
    }
