"""A disk that takes no more is one clear error that names the file, and nothing is half there."""

from collections.abc import Iterator
from contextlib import contextmanager
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


def make_folder(folder: Path) -> None:
    """A folder with all those above it; `CannotWrite` where no such place can be (below /proc)."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileNotFoundError as error:
        raise CannotWrite(
            f"{folder}: expected a place where a folder can be made, got: {error.strerror}; "
            "name another"
        ) from error
