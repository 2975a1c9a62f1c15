"""A small Qwen3-VL from nothing: words, weights drawn at random, and eyes that have been warmed up.

    settings  what it is told
    words     a tokenizer made of its examples
    body      the model and its processor
    seen      photos, and what every part of them shows
    warming   the eyes taught to see, before `train sft` teaches the whole to answer

What is made is a folder like any other model's: `train sft` takes it as its base.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
import numpy as np

from fieldtruth import pretrained, store
from fieldtruth.faults import Usage
from fieldtruth.models.transformers import on_cpu
from fieldtruth.models.transformers.processor import open_processor
from fieldtruth.models.transformers.saving import save
from fieldtruth.records import Record
from fieldtruth.stages.scratch import body, seen, warming, words
from fieldtruth.stages.scratch.settings import Scratch

__all__ = ["MADE", "Made", "Scratch", "line", "make"]

MADE = "scratch.json"
_TAIL = 20  # steps whose losses are averaged
_LOOKED, _PATCHES = 400, 40  # photos, and patches of each, that the first layer is set by
T = TypeVar("T")


class Track(Protocol):
    """Shows how far an iteration is."""

    def __call__(self, records: Iterable[T], total: int | None = None) -> Iterator[T]: ...


class Made(Record, frozen=True, kw_only=True):
    """`scratch.json`: how large it is, what it was warmed up with, and how the losses ended."""

    weights: int
    tokens: int  # of the vocabulary
    labels: tuple[str, ...]
    photos: int
    steps: int
    losses: dict[str, float]  # means over the last steps
    settings: dict[str, object]


def make(settings: Scratch, track: Track, tell: Callable[[str], None]) -> Made:
    """Make the model in `settings.out`, a folder that is new or empty, whole or not at all.

    Raises `Usage` where it is not, or where no photo has boxes; `Unreadable` for a photo;
    `CannotWrite` where there is no room.
    """
    out = Path(settings.out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected a new or empty folder, got one with something in it")
    pretrained.load_transformers()
    device = pretrained.pick_device(settings.device)
    some, labels, texts = seen.photos([Path(each) for each in settings.train])
    if not labels:
        raise Usage(f"{settings.train[0]}: expected examples with boxes to learn from, got none")
    with store.drafting(out) as part, pretrained.hushed():
        tokenizer = words.build(texts, part)
        body.write_processor(settings, part)
        model = body.draw(settings, tokenizer)
        save(model, part, out)
        weights = sum(int(each.numel()) for each in model.parameters())
        tell(f"{weights:,} weights, {len(tokenizer):,} tokens, {len(some):,} photos")
        processor = open_processor(str(part))
        if device == "cpu":
            on_cpu.patch(model)
        album = seen.Album(some, processor)
        body.whiten(model, album.patches(_LOOKED, _PATCHES, settings.seed))
        warmer = warming.Warmer(settings, model.to(device), album, labels, tokenizer)
        history = warmer.run(track(range(settings.steps), settings.steps))
        save(model.to("cpu"), part, out)
        made = Made(
            weights=weights, tokens=len(tokenizer), labels=tuple(labels), photos=len(some),
            steps=settings.steps, losses=_ended(history), settings=_told(settings),
        )  # fmt: skip
        with store.replacing(part / MADE) as file:
            file.write(msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n")
        store.publish(part, out)
    return made


def _ended(history: Sequence[dict[str, float]]) -> dict[str, float]:
    """Means over the last steps; nothing where there was none."""
    last = history[-_TAIL:]
    return {
        name: round(float(np.mean([row[name] for row in last])), 4) for name in (last or [{}])[0]
    }


def _told(settings: Scratch) -> dict[str, object]:
    """What it was told but for places, which differ from machine to machine."""
    told = msgspec.structs.asdict(settings)
    return {name: each for name, each in told.items() if name not in ("train", "out", "device")}


def line(made: Made, out: str) -> str:
    """For people."""
    ended = ", ".join(f"{name} {value:.3g}" for name, value in made.losses.items())
    return (
        f"{made.weights / 1e6:.2f} million weights and {made.tokens:,} tokens; "
        f"{made.steps:,} steps of warm-up on {made.photos:,} photos"
        f"{f' (losses: {ended})' if ended else ''}. In {out}"
    )
