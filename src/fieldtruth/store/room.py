"""A disk that takes no more is one clear error that names the file, and nothing is half there."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, EFBIG, ENOSPC
from pathlib import Path

from fieldtruth.faults import CannotWrite

_FULL = {
    ENOSPC: "the disk is full",
    EDQUOT: "the quota is used up",
    EFBIG: "files may not be that long here (a limit of the system, or of `ulimit -f`)",
}


@contextmanager
def room(place: Path | str) -> Iterator[None]:
    """`CannotWrite` naming `place` where the system had no room for what was written there.

    Reading never fails that way, so it is certain that writing did; of two blocks one within the
    other, the inner one knows better and is heard.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise CannotWrite(
            f"{place}: expected room to write, got none: {_FULL[error.errno]}; make some, or name "
            "another place, and give the same command again (what was whole before still is)"
        ) from error


@contextmanager
def possible(place: Path) -> Iterator[None]:
    """`CannotWrite` naming `place` where the system says that there can be none (below /proc)."""
    try:
        yield
    except FileNotFoundError as error:
        raise CannotWrite(
            f"{place}: expected a place where a file or folder can be made, got: {error.strerror}; "
            "name another"
        ) from error


def make_folder(folder: Path) -> None:
    """A folder with all those above it; `CannotWrite` where no such place can be."""
    with possible(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def new_or_there(folder: Path) -> Iterator[None]:
    """`make_folder` for the block; one that was not there goes when the block fails and left it
    empty."""
    new = not folder.exists()
    make_folder(folder)
    try:
        yield
    except BaseException:
        if new:
            with suppress(OSError):  # something is in it
                folder.rmdir()
        raise
