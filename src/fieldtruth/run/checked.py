"""A model whose replies are read before they are handed on.

Those that are not what was asked for (blank, prose, half a JSON, another shape, cut off) are asked
for once more and are errors then. It stands before the cache, which keeps no errors.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from fieldtruth import models, store
from fieldtruth.models.contract import (
    UNREADABLE,
    Metered,
    Model,
    Replies,
    Request,
    Spent,
    Words,
    as_known,
    failed,
    in_order,
)
from fieldtruth.records import Space
from fieldtruth.rooms import open_room
from fieldtruth.run.cached import Cached

Read = Callable[[str], object]
_SHOWN = 120


class Checked:
    """A `Model` that hands on what `read` can read. `read` raises `ValueError` for what is none."""

    def __init__(self, model: Model, read: Read) -> None:
        self._model, self._read = model, read
        self.space: Space = model.space
        self.version = model.version

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request, in order."""
        return in_order(self.replies(requests))

    def replies(self, requests: Sequence[Request]) -> Replies:
        """As the model answers; those that could not be read come last."""
        again: list[int] = []
        with closing(as_known(self._model, requests)) as replies:
            for place, words in replies:
                if words.error is None and self._trouble(words) is not None:
                    again.append(place)
                else:
                    yield place, words
        again.sort()
        if not again:
            return
        with closing(as_known(self._model, [requests[place] for place in again])) as replies:
            for number, words in replies:
                trouble = self._trouble(words) if words.error is None else None
                yield again[number], failed(f"{UNREADABLE}: {trouble}") if trouble else words

    def _trouble(self, words: Words) -> str | None:
        """What is wrong with a reply, or None."""
        if words.finish == "length":
            return "it was cut off; raise --model-args max_tokens"
        try:
            self._read(words.text)
        except (ValueError, RecursionError) as error:
            shown = " ".join(words.text[:_SHOWN].split())
            return f"expected JSON of the schema, got {shown!r} ({error})"
        return None

    def estimate(self, requests: Sequence[Request]) -> str | None:
        """The model's estimate."""
        return self._model.estimate(requests) if isinstance(self._model, Metered) else None

    @property
    def spent(self) -> Spent:
        """What the model took."""
        return self._model.spent if isinstance(self._model, Metered) else Spent()


class Shape(NamedTuple):
    """What a reply has to be: the JSON schema's file, and what reads it."""

    schema: Path
    read: Read


def open_shaped(
    model: str, options: Mapping[str, str], shape: Shape, cache: Path, filed: str | None = None
) -> Cached:
    """A backend that is told the shape, where it can be, behind a cache of what could be read.

    Its replies are filed under its own name where `filed` is None.
    """
    room = open_room(models, model)
    option: str | None = getattr(room, "SCHEMA", None)
    told = {option: str(shape.schema)} if option and option not in options else {}
    opened: Model = room.OPEN({**options, **told})
    return Cached(filed or model, Checked(opened, shape.read), store.Cache(cache))
