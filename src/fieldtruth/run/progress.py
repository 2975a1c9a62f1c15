"""One progress bar on stderr for long work; none where nobody is looking."""

import sys
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

T = TypeVar("T")


class Track:
    """Wraps an iterable in a bar; off with `quiet` and where stderr is not a terminal."""

    def __init__(self, label: str, *, quiet: bool = False) -> None:
        self.label = label
        self.quiet = quiet or not sys.stderr.isatty()

    def __call__(self, records: Iterable[T], total: int | None = None) -> Iterator[T]:
        """The records themselves, each counted as it passes."""
        return iter(records) if self.quiet else self._shown(records, total)

    def _shown(self, records: Iterable[T], total: int | None) -> Iterator[T]:
        from rich.console import Console
        from rich.progress import track

        if total is None and isinstance(records, Sized):
            total = len(records)
        yield from track(
            records,
            description=self.label,
            total=total,
            console=Console(stderr=True),
            transient=True,
        )


SILENT = Track("", quiet=True)
