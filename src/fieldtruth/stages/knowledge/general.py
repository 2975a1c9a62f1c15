"""A general instruction set beside the facts, so that a model goes on following instructions.

Any file of conversations that `fieldtruth check` knows (LLaVA's among them: a list of `{"id",
"image", "conversations"}`). Which rows are taken is keyed by what stands in them, so that another
seed, and nothing else, takes others.
"""

import heapq
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from fieldtruth import draws
from fieldtruth.faults import BadRecord
from fieldtruth.formats import chat
from fieldtruth.store import any_rows, unsafe


class General(NamedTuple):
    """One row of the general set: its turns, its photos' paths, where it stood."""

    id: str
    turns: tuple[tuple[str, str], ...]  # (role, words)
    images: tuple[str, ...]
    row: int


def read(path: Path) -> Iterator[General]:
    """Every conversation. `BadRecord` names file and row of one that is none."""
    for row in any_rows.read(path):
        if row.fault:
            raise BadRecord(f"{path} row {row.number}: {row.fault}")
        if not chat.shape(row.value):
            raise BadRecord(
                f"{path} row {row.number}: expected a conversation (messages, conversations or "
                f"prompt and completion), got the fields {', '.join(sorted(row.value)) or 'none'}"
            )
        try:
            found = chat.parse(row.value)
        except ValueError as error:
            raise BadRecord(f"{path} row {row.number}: {error}") from None
        yield _general(row.number, row.value, found, path)


def _general(number: int, value: dict[str, Any], found: chat.Chat, path: Path) -> General:
    for image in found.images:
        if why := unsafe(image):
            raise BadRecord(
                f"{path} row {number}: expected photos below --general-images, got {image!r}: {why}"
            )
    if found.places != len(found.images):
        raise BadRecord(
            f"{path} row {number}: expected a place for each of {len(found.images)} photos, got "
            f"{found.places}; see `fieldtruth check {path}`"
        )
    words = tuple((turn.role, turn.text.replace(chat.TAG, "").strip()) for turn in found.turns)
    whole = sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()[:16]
    return General(f"general:{whole}", words, tuple(found.images), number)


def drawn(rows: Iterable[General], want: int, seed: int) -> tuple[list[General], int]:
    """`want` of the rows (all, where there are fewer) in order of their draw, and how many there
    were. Memory holds no more than those. Equal rows are one."""
    seen = 0
    best: dict[str, General] = {}
    heap: list[tuple[int, str]] = []
    for row in rows:
        seen += 1
        if row.id in best or want == 0:
            continue
        rank = draws.key(seed, "knowledge", row.id)
        if len(heap) < want:
            heapq.heappush(heap, (-rank, row.id))
        elif rank < -heap[0][0]:
            _, gone = heapq.heapreplace(heap, (-rank, row.id))
            del best[gone]
        else:
            continue
        best[row.id] = row
    return [best[name] for _, name in sorted(heap, reverse=True)], seen
