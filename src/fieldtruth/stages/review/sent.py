"""What was sent to people, one line a task, and the folder it lies in."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fieldtruth import store
from fieldtruth.draws import key
from fieldtruth.faults import Usage
from fieldtruth.records import Box, Item, Record

SENT = "sent.jsonl"
DROPS = "drops.jsonl"
PHOTOS = "images"


class Sent(Record, frozen=True, kw_only=True):
    """One task: the item it asks about, and the boxes that were on the photo when it was opened.

    `annotators` people were to see it. `blind`: the item's boxes were held back.
    """

    id: str  # says nothing of the item
    item: Item
    photo: str  # its name in the folder
    shown: tuple[Box, ...]
    blind: bool
    annotators: int = 1


def read_sent(folder: Path) -> dict[str, Sent]:
    """The tasks of a folder that `review export` made, by id."""
    path = folder / SENT
    if not path.is_file():
        raise Usage(f"{folder}: expected what `review export` made, got no {SENT} there")
    return {each.id: each for each in store.read_unique(path, Sent)}


def task_id(seed: int, item: str) -> str:
    """The name of an item's task: nobody reads label, source or kind off it, nor off its place."""
    return f"{key(seed, 'review task', item):016x}"


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to fill that becomes `out` when the block succeeds; `Usage` where files are."""
    out = out.resolve()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Usage(f"{out}: expected no such folder or an empty one, got files; name another")
    with store.drafting(out) as part:
        yield part
        store.publish(part, out)


def apart(ids: Iterable[str]) -> None:
    """No two tasks may have one id: of 64 bits, that takes billions of items, or a bug."""
    names = list(ids)
    if len(set(names)) < len(names):
        raise AssertionError("two items have one task id")
