"""A base, examples and settings for fine-tuning runs that take a second."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from PIL import Image
from tests.builders import NAMES, example, examples_folder
from tests.models import tiny

from fieldtruth.records import Example
from fieldtruth.stages import sft

T = TypeVar("T")
ROLES = ("positive", "healthy", "positive", "wrong_target")


def base(folder: Path) -> Path:
    """The tiny Qwen3-VL."""
    return folder / "base" if (folder / "base").exists() else tiny.qwen3_vl(folder / "base")


def examples(folder: Path, count: int = 8, split: str = "train", **changes: Any) -> Path:
    """A folder of examples of all roles on photos of two sizes, as `compose --training` leaves."""
    for number in range(count):
        size = ((48, 64, 3), (64, 96, 3))[number % 3 % 2]
        noise = np.random.default_rng([number, len(split)]).integers(0, 255, size, dtype=np.uint8)
        path = folder / "release" / f"{split}{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(noise).save(path)
    return examples_folder(folder, [one(number, split, changes) for number in range(count)])


def one(number: int, split: str, changes: dict[str, Any]) -> Example:
    """An example; every second one with a list, of eight each role once with and once without."""
    role = ROLES[number % len(ROLES)]
    fields: dict[str, Any] = {
        "role": role, "split": split, "group": f"{split}{number}",
        "image": f"{split}{number}.png",
    }  # fmt: skip
    if number % 3 % 2:
        fields |= {"width": 96, "height": 64}
    if number % 8 in (1, 2, 4, 7):
        names = (*NAMES[1:], "scab") if role == "wrong_target" else NAMES
        fields |= {"protocol": "candidates", "candidates": names, "query": None}
        fields["answer"] = "[]"
        if role == "positive":
            fields["answer"] = f'[{{"bbox_2d": [156, 166, 468, 500], "label": "{NAMES[0]}"}}]'
    return example(f"{split}-{number}", **(fields | changes))


def settings(folder: Path, **changes: Any) -> sft.Sft:
    """A run of six steps over eight examples, with a checkpoint every two."""
    fields: dict[str, Any] = {
        "base": str(folder / "base"), "train": (str(folder / "train" / "training"),),
        "out": str(folder / "out"), "rank": 4, "alpha": 8, "batch": 2, "accumulate": 2,
        "rate": 1e-2, "steps": 6, "save_every": 2, "budget": 16, "device": "cpu",
    }  # fmt: skip
    return sft.Sft(**(fields | changes))


def silent(records: Iterable[T], total: int | None = None) -> Iterator[T]:
    """No bar."""
    return iter(records)


def trained(told: sft.Sft) -> sft.Trained:
    """Run it to its end."""
    return sft.train(told, silent, lambda _: None)


def losses(done: sft.Trained) -> list[float]:
    """Of each step."""
    assert [row["step"] for row in done.history] == list(range(1, done.steps + 1))
    return [row["loss"] for row in done.history]
