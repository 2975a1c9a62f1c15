"""What a backend is: requests in, words out.

A request carries the prompt and the photos. `names` and `level` say in structured form what the
prompt says in words, for backends that do not read sentences; they hold nothing else, and never
the truth. A backend that cannot be asked answers with `finish="error"` and says why; it
raises only for what no retry will mend.

A backend's file ends in `OPEN: Opener = ...`, which takes the options of the command line
(`--model-args key=value,key=value`) and refuses those it does not know with `Usage`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from fieldtruth.faults import Usage
from fieldtruth.records import AskLevel, Box, Finish, Record, Space


class Request(Record, frozen=True, kw_only=True):
    """One thing to ask: the item's id, the prompt and its photos (paths on disk)."""

    id: str
    prompt: str
    images: tuple[Path, ...]
    names: tuple[str, ...] = ()  # the names the prompt offers, in its order
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


Opener = Callable[[Mapping[str, str]], Model]


def say(boxes: Sequence[Box], label: str) -> str:
    """The JSON list that a backend without words of its own answers with; `[]` for no boxes."""
    rows = [{"bbox_2d": [round(edge, 1) for edge in box], "label": label} for box in boxes]
    return json.dumps(rows, ensure_ascii=False)


def failed(why: str) -> Words:
    """The reply of a backend that could not answer: an error, which is never an empty answer."""
    return Words(text="", finish="error", error=why)


def known_options(model: str, options: Mapping[str, str], known: Sequence[str]) -> None:
    """Raise `Usage` on an option that the model does not have, naming those it has."""
    unknown = sorted(set(options) - set(known))
    if unknown:
        has = ", ".join(sorted(known)) or "none"
        raise Usage(f"{model} has no option {unknown[0]!r}; its options: {has}")
