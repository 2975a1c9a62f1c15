"""A folder made whole or not at all, by one process at a time."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fieldtruth.store.locks import lock
from fieldtruth.store.room import room


@contextmanager
def drafting(out: Path) -> Iterator[Path]:
    """An empty hidden folder beside `out` to fill and then to `publish`; gone when the block ends.

    Its name is always the same, so that what a killed process left is cleared away by the next.
    Raises `Busy` where another process is making `out`, `CannotWrite` where there is no room.
    """
    with lock(out), room(out):
        part = out.with_name(f".{out.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            yield part
        finally:
            shutil.rmtree(part, ignore_errors=True)


def publish(part: Path, out: Path) -> None:
    """One rename makes a drafted folder visible as `out`, which is not there yet or empty."""
    if out.exists():
        out.rmdir()
    part.rename(out)
