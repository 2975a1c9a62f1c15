"""Conversations by their number, read when they are needed: what `knowledge` and exports make.

Rows are in any form that `fieldtruth check` knows; photos lie beside the file. Such rows teach
words, not boxes: nothing is validated on them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from fieldtruth import store
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.formats import chat
from fieldtruth.models.transformers.encoding import Turn
from fieldtruth.tuning.rows import HEAVIEST, Talk


class Talks:
    """The conversations of several files of JSON lines; only where they lie is held."""

    groups: frozenset[str] = frozenset()
    photos: frozenset[str] = frozenset()
    space = None  # they hold no boxes that anybody could read

    def __init__(self, paths: Sequence[Path], limit: int | None = None) -> None:
        """At most `limit` of each file. Raises `Usage` for a file that is not there or empty."""
        self._paths = paths
        starts = []
        for number, path in enumerate(paths):
            with store.open_existing(path) as file:
                found = np.array(list(_lines(file))[:limit], np.int64).reshape(-1, 2)
            starts.append(np.insert(found, 0, number, axis=1))
        self._starts = np.concatenate(starts)
        self.digests = tuple(store.sha256(path) for path in paths)
        if not len(self._starts):
            raise Usage(f"{paths[0]}: expected conversations, got none")

    def __len__(self) -> int:
        return len(self._starts)

    def talk(self, number: int) -> Talk:
        """The turns of a conversation and where its photos lie; `BadRecord` for what is none."""
        which, at, _ = self._starts[number].tolist()
        path = self._paths[which]
        with path.open("rb") as file:
            file.seek(at)
            raw = file.readline()
        try:
            row = msgspec.json.decode(raw, type=dict)
            found = chat.parse(row)
        except (ValueError, KeyError) as error:
            raise BadRecord(f"{path} (byte {at}): expected a conversation, got: {error}") from None
        name = str(row.get("id", f"{path.name} at byte {at}"))
        photos = [store.inside(path.parent, image, f"{path} ({name})") for image in found.images]
        return Talk(name, tuple(_turns(found)), tuple(photos))

    def heaviest(self) -> list[int]:
        """Which conversations have the most words, ascending."""
        longest = np.argsort(-self._starts[:, 2], kind="stable")[:HEAVIEST]
        return sorted(longest.tolist())


def _lines(file: Iterator[bytes]) -> Iterator[tuple[int, int]]:
    """Where each line begins that holds something, and how many bytes it has."""
    at = 0
    for line in file:
        if line.strip():
            yield at, len(line)
        at += len(line)


def _turns(found: chat.Chat) -> Iterator[Turn]:
    for turn in found.turns:
        words = turn.text if found.structured else turn.text.replace(chat.TAG, "")
        yield turn.role, words.strip()
