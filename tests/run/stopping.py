"""Work that is stopped in the middle, as Ctrl-C would."""

from collections.abc import Iterator
from typing import Any

from fieldtruth.run.progress import Track


class Stopped(Exception):
    """What stops it."""


class Stopping(Track):
    """A bar whose reader goes away after some records."""

    def __init__(self, after: int) -> None:
        super().__init__("", quiet=True)
        self.after = after

    def __call__(self, records: Any, total: int | None = None) -> Iterator[Any]:
        for number, record in enumerate(records):
            if number == self.after:
                raise Stopped
            yield record
