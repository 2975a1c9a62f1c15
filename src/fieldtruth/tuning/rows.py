"""Training examples by their number, read when they are needed; and batches made of them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np

from fieldtruth.faults import Refused, Unreadable, Usage
from fieldtruth.images import open_upright
from fieldtruth.models.transformers.encoding import Encoder, Turn, batch
from fieldtruth.records import Example, Space
from fieldtruth.store import ExampleSet, sha256

HEAVIEST = 16  # examples of each kind whose tokens are counted before the first step


class Talk(NamedTuple):
    """What is shown and said, the right replies with it."""

    id: str
    turns: tuple[Turn, ...]
    photos: tuple[Path, ...]


class Shown(Protocol):
    """Anything that is trained on, by its number."""

    def __len__(self) -> int: ...

    def talk(self, number: int) -> Talk: ...

    def heaviest(self) -> list[int]: ...


class Rows:
    """The examples of several folders, one after another; only where they lie is held.

    `groups` and `photos` are the groups and the content hashes that occur.
    """

    def __init__(self, sets: Sequence[ExampleSet], limit: int | None = None) -> None:
        """At most `limit` of each folder.

        Raises what reading them raises, and `Usage` where they are in several box spaces.
        """
        self._sets = sets
        self.groups: set[str] = set()
        self.photos: set[str] = set()
        self._wordiest: dict[tuple[int, int], tuple[int, int]] = {}  # size -> (bytes, number)
        spaces: dict[Space, Path] = {}
        numbers = count()
        starts = []
        for number, each in enumerate(sets):
            for example in islice(each, limit):
                self._weigh(example, next(numbers))
                self.groups.add(example.group)
                self.photos.add(example.image_sha256)
                spaces.setdefault(example.space, each.path)
            with each.path.open("rb") as file:
                at = np.cumsum([0, *map(len, file)])[:-1][:limit]
            starts.append(np.stack([np.full_like(at, number), at], axis=1))
        self._starts = np.concatenate(starts)
        self.digests = tuple(sha256(each.path) for each in sets)
        if not len(self._starts):
            raise Usage(f"{sets[0].path}: expected examples, got none")
        if len(spaces) > 1:
            told = ", ".join(f"{path} in {space}" for space, path in spaces.items())
            raise Usage(f"expected examples in one box space, got {told}; compose them alike")
        self.space: Space = next(iter(spaces))

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, number: int) -> tuple[Example, Path]:
        """An example and where its photo lies."""
        which, at = self._starts[number].tolist()
        with self._sets[which].path.open("rb") as file:
            file.seek(at)
            example = msgspec.json.decode(file.readline(), type=Example)
        return example, self._sets[which].photo(example)

    def talk(self, number: int) -> Talk:
        """An example as what is asked and what is right."""
        example, photo = self[number]
        turns = (("user", example.prompt), ("assistant", example.answer))
        return Talk(example.id, turns, (photo,))

    def _weigh(self, example: Example, number: int) -> None:
        """Keep which example has the most words beside a photo of its size; the first of equals."""
        said = len(example.prompt.encode()) + len(example.answer.encode())
        size = (example.width, example.height)
        if said > self._wordiest.get(size, (-1, 0))[0]:
            self._wordiest[size] = (said, number)

    def heaviest(self) -> list[int]:
        """Which examples may take the most tokens, ascending: of the wordiest beside a photo of
        their size those with the most words, and those with the largest photos."""
        wordiest = sorted(self._wordiest.values(), key=lambda each: (-each[0], each[1]))
        largest = sorted(self._wordiest, key=lambda size: (-size[0] * size[1], size))
        some = (*wordiest[:HEAVIEST], *(self._wordiest[size] for size in largest[:HEAVIEST]))
        return sorted({number for _, number in some})

    def head(self, limit: int | None) -> list[tuple[Example, Path]]:
        """The first so many; they lie in a drawn order."""
        return [self[number] for number in range(min(limit or len(self), len(self)))]


def apart(train: Rows, val: Rows) -> None:
    """Raise `Refused` where a group of photos, or a photo, is trained on and validated on."""
    for what, shared in (
        ("groups", train.groups & val.groups), ("photos", train.photos & val.photos),
    ):  # fmt: skip
        if shared:
            raise Refused(
                f"val: expected {what} that are not trained on, got {len(shared):,} that are, "
                f"such as {min(shared)!r}; compose both from one `split`"
            )


class Taught:
    """Rows of `{"row": number}` -> a batch with its labels: the right replies, and nothing else."""

    def __init__(self, rows: Shown, encoder: Encoder, pad: int, length: int) -> None:
        self._rows, self._encoder, self._pad, self._length = rows, encoder, pad, length

    def __call__(self, some: Iterable[Mapping[str, int]]) -> dict[str, Any]:
        """Raises `Unreadable` naming the example that cannot be shown, `Usage` for one too long."""
        made = []
        for each in some:
            talk = self._rows.talk(each["row"])
            try:
                shown = [open_upright(photo) for photo in talk.photos]
                taught = self._encoder.teach_talk(talk.turns, shown)
            except Unreadable as fault:
                raise Unreadable(f"example {talk.id!r}: {fault}", fault.outcome) from None
            if taught.tokens > self._length:
                raise Usage(
                    f"example {talk.id!r}: expected at most {self._length} tokens, got "
                    f"{taught.tokens}; lower max_pixels, or raise length"
                )
            made.append(taught)
        return batch(made, self._pad, "right", "cpu")
