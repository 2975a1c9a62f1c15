"""Boxes of sources' folders for an audit by people, of one split of their photos."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from fieldtruth import store
from fieldtruth.faults import Usage
from fieldtruth.records import Annotation, Place, Split, Target
from fieldtruth.run import workspace
from fieldtruth.run.splitting import SPLITS
from fieldtruth.stages.review import sampling


def sample(
    folders: Sequence[Path], split: str, out: Path, settings: sampling.Settings
) -> sampling.Drawn:
    """A sample of the annotations whose photos are in this split.

    Raises `Usage` for a folder that was not annotated, or has no splits: an audit of what is
    trained on must not see other photos.
    """
    if split not in get_args(Split):
        raise Usage(f"--split: expected one of {', '.join(get_args(Split))}, got {split!r}")
    boxed = (each for folder in folders for each in _boxed(folder, split))
    return sampling.sample(boxed, out, settings)


def _boxed(folder: Path, split: str) -> Iterator[sampling.Boxed]:
    root = workspace.root(folder)
    for name, maker in ((SPLITS, "split"), ("annotations.jsonl", "annotate")):
        if not (folder / name).is_file():
            raise Usage(f"{folder}: expected {name}, got none; run `{maker}` first")
    photos = {
        place.id for place in store.read(folder / SPLITS, Place) if place.split == split
    }  # fmt: skip
    source = {each.id: each.source for each in workspace.samples(folder)}
    targets = {each.id: each for each in store.read(folder / "targets.jsonl", Target)}
    for mark in store.read(folder / "annotations.jsonl", Annotation):
        if mark.image in photos:
            target = targets[mark.target]
            yield sampling.Boxed(mark, target, source[target.sample], root)
