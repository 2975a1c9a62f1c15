"""Sources' folders split together: `splits.jsonl` and `leakage.json` in each, or checked."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from os.path import realpath
from pathlib import Path

import msgspec

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Place
from fieldtruth.run import workspace
from fieldtruth.run.progress import SILENT, Track
from fieldtruth.stages import split as splitting

SPLITS = "splits.jsonl"
LEAKAGE = "leakage.json"


def split(
    folders: Sequence[Path], settings: splitting.Settings, track: Track = SILENT
) -> splitting.Leakage:
    """Groups over all the sources at once; a place for every photo of each.

    The files of all folders are written in full before the old ones go, and then appear; a folder
    of a run that was killed in between has none, and never those of another run.
    """
    with _held(folders):
        places, leakage = splitting.split([_origin(each) for each in folders], settings, track)
        report = msgspec.json.format(msgspec.json.encode(leakage), indent=1) + b"\n"
        with ExitStack() as files:
            for folder, rows in zip(folders, places, strict=True):
                put = files.enter_context(store.writing(folder / SPLITS))
                for row in rows:
                    put(row)
                files.enter_context(store.replacing(folder / LEAKAGE)).write(report)
            for folder in folders:
                (folder / SPLITS).unlink(missing_ok=True)
                (folder / LEAKAGE).unlink(missing_ok=True)
    return leakage


def check(
    folders: Sequence[Path], settings: splitting.Settings, track: Track = SILENT
) -> splitting.Checked:
    """Hold the splits of these folders against their photos as they are now."""
    _distinct(folders)
    places = [_places(each) for each in folders]
    return splitting.check([_origin(each) for each in folders], places, settings, track)


def checked_line(checked: splitting.Checked) -> str:
    """What a person reads when a check ends."""
    return f"{checked.files} files, " + (
        "not as they were split" if checked.leaks else "every one as it was split; nothing leaks"
    )


def _origin(folder: Path) -> splitting.Origin:
    return splitting.Origin(samples=workspace.samples(folder), root=workspace.root(folder))


def _places(folder: Path) -> dict[str, Place]:
    path = folder / SPLITS
    if not path.is_file():
        raise Usage(f"{folder}: expected {SPLITS}, got none; run `split` first")
    return {place.id: place for place in store.read_unique(path, Place)}


def _distinct(folders: Sequence[Path]) -> None:
    # `Path.resolve` raises RuntimeError where a link leads to itself.
    if len({realpath(folder) for folder in folders}) < len(folders):
        told = ", ".join(map(str, folders))
        raise Usage(f"split: expected each folder once, got {told}")


@contextmanager
def _held(folders: Sequence[Path]) -> Iterator[None]:
    """All of them locked for this process; each has to be what `ingest` made."""
    _distinct(folders)
    for folder in folders:
        workspace.root(folder)
    with ExitStack() as locks:
        for folder in sorted(folders):
            locks.enter_context(store.lock(folder))
        yield
