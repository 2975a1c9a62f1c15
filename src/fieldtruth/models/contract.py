"""What a backend is: requests in, words out.

A request carries the prompt and the photos. `names` and `level` say in structured form what the
prompt says in words, for backends that do not read sentences; they hold nothing else, and never
the truth. A backend that cannot be asked answers with `finish="error"` and says why; it
raises only for what no retry will mend.

A backend that waits for somebody else may also be `Eager` (replies in whatever order they come, so
that a slow one holds nothing back) and `Metered` (its calls can be counted and cost something);
callers go through `as_known`, which serves both kinds.

A backend's file ends in `OPEN: Opener = ...`, which takes the options of the command line
(`--model-args key=value,key=value`) and refuses those it does not know with `Usage`.
"""

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

import msgspec

from fieldtruth.faults import Unbalanced, Unreadable, Usage
from fieldtruth.records import AskLevel, Box, Finish, Record, Space

if TYPE_CHECKING:
    from PIL.Image import Image

S = TypeVar("S", bound=Record)
UNREADABLE = "unreadable reply"  # how the error of a reply begins that is not what was asked for


class Request(Record, frozen=True, kw_only=True):
    """One thing to ask: the item's id, the prompt and its photos (paths on disk)."""

    id: str
    prompt: str
    images: tuple[Path, ...]
    names: tuple[str, ...] = ()  # the names the prompt offers, in its order
    phrases: tuple[str, ...] = ()  # what a detector is to find for each name, where the asker says
    level: AskLevel = "lesion"


class Words(Record, frozen=True, kw_only=True):
    """What came back, verbatim."""

    text: str
    finish: Finish = "stop"
    error: str | None = None


class Model(Protocol):
    """`space` is the box space it writes in; `version` changes whenever its replies may."""

    @property
    def space(self) -> Space: ...

    @property
    def version(self) -> str: ...

    def reply(self, requests: Sequence[Request]) -> Iterator[Words]:
        """One `Words` per request, in order, each as soon as it is known."""
        ...


Replies = Generator[tuple[int, Words], None, None]  # (position of its request, what came back)


@runtime_checkable
class Eager(Protocol):
    """A backend whose replies need not wait for those before them."""

    def replies(self, requests: Sequence[Request]) -> Replies:
        """Every position once, in any order; closing the generator ends the work."""
        ...


class Spent(Record, frozen=True, kw_only=True):
    """What a backend's calls have taken so far; tokens are as the server counted them."""

    calls: int = 0  # tries included that failed and were made again
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0  # those of the reasoning included
    reasoning_tokens: int = 0
    cost: float | None = None  # None where no prices were given
    notes: tuple[str, ...] = ()


@runtime_checkable
class Metered(Protocol):
    """A backend whose calls take tokens and money."""

    @property
    def spent(self) -> Spent: ...

    def estimate(self, requests: Sequence[Request]) -> str | None:
        """What asking these would cost, for a person to read, or None where nothing is known.

        Raises `Usage` when it is certainly more than the backend was allowed to spend.
        """
        ...


@runtime_checkable
class Noted(Protocol):
    """A backend that has something to say before it is asked."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its numbers has to know, a sentence each."""
        ...


Opener = Callable[[Mapping[str, str]], Model]


def as_known(model: Model, requests: Sequence[Request]) -> Replies:
    """(position, `Words`) for each request once, as soon as the backend can.

    Raises `Unbalanced` where the backend answers a request twice or never.
    """
    if not isinstance(model, Eager):
        yield from zip(range(len(requests)), model.reply(requests), strict=True)
        return
    left = set(range(len(requests)))
    with closing(model.replies(requests)) as replies:
        for place, words in replies:
            if place not in left:
                raise Unbalanced(f"request {place} of {len(requests)} was answered twice")
            left.remove(place)
            yield place, words
    if left:
        raise Unbalanced(f"{len(left)} of {len(requests)} requests were never answered")


def in_order(replies: Replies) -> Iterator[Words]:
    """The words in the order of their requests, each once those before it are known."""
    waiting: dict[int, Words] = {}
    due = 0
    with closing(replies):
        for place, words in replies:
            waiting[place] = words
            while due in waiting:
                yield waiting.pop(due)
                due += 1


def say(boxes: Sequence[Box], label: str, scores: Sequence[float] = ()) -> str:
    """The JSON list that a backend without words of its own answers with; `[]` for no boxes.

    `scores` are parallel to the boxes, from 0 to 1, for a backend that has them; readers of boxes
    pass over them.
    """
    rows: list[dict[str, object]] = [
        {"bbox_2d": [round(edge, 1) for edge in box], "label": label} for box in boxes
    ]
    for row, score in zip(rows, scores, strict=False):
        row["score"] = round(score, 4)
    return json.dumps(rows, ensure_ascii=False)


def failed(why: str) -> Words:
    """The reply of a backend that could not answer: an error, which is never an empty answer."""
    return Words(text="", finish="error", error=why)


def by_photo(
    requests: Iterable[Request], answer: Callable[["Image", Request], str]
) -> Iterator[Words]:
    """The answer to each request, from its first photo, upright; an error where none opens."""
    from fieldtruth.images import open_upright

    for request in requests:
        if not request.images:
            yield failed("expected a photo, got none")
            continue
        try:
            photo = open_upright(request.images[0])
        except Unreadable as fault:
            yield failed(str(fault))
            continue
        yield Words(text=answer(photo, request))


def settings_of(model: str, options: Mapping[str, str], kind: type[S]) -> S:
    """The words after `--model-args` as the model's settings, each of the type it is declared as.

    Raises `Usage` naming the option that is unknown, missing or of another kind. A bound is
    declared with `msgspec.Meta`; numbers have to be finite.
    """
    known_options(model, options, kind.__struct_fields__)
    try:
        settings = msgspec.convert(dict(options), kind, strict=False)
    except msgspec.ValidationError as error:
        what = str(error).replace("Object missing required field", "expected the option")
        what = what.replace(" - at `$.", " in `")
        told = f"{model}: {what[0].lower()}{what[1:]}"
        lacks = re.fullmatch(r"expected the option `(\w+)`", what)
        raise Usage(
            f"{told}; give it with --model-args {lacks[1]}=..." if lacks else told
        ) from None
    for name in kind.__struct_fields__:
        value = getattr(settings, name)
        if isinstance(value, float) and not isfinite(value):
            raise Usage(f"{model}: {name}: expected a finite number, got {value}")
    return settings


def known_options(model: str, options: Mapping[str, str], known: Sequence[str]) -> None:
    """Raise `Usage` on an option that the model does not have, naming those it has."""
    unknown = sorted(set(options) - set(known))
    if unknown:
        has = ", ".join(sorted(known)) or "none"
        raise Usage(f"{model} has no option {unknown[0]!r}; its options: {has}")
