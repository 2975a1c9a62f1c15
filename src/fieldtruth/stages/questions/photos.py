"""The photos of dialogues: which are there, and which conversations share one.

Conversations are joined where one photo's bytes, or a near copy of it confirmed pixel by pixel,
stand in both; so are pairs that cannot be told apart for certain (design, section 2, rules 10 and
11). A photo that is not there is compared by its path.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fieldtruth import duplicates, store
from fieldtruth.duplicates import AMBIGUOUS, Nodes, Passing
from fieldtruth.faults import Unreadable
from fieldtruth.privacy import metadata
from fieldtruth.records import Dialogue
from fieldtruth.stages.questions.settings import (
    FACE,
    METADATA,
    NO_PHOTO,
    PHOTO_MISSING,
    PHOTO_UNREADABLE,
    Settings,
)

MOST_PAIRS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """`why_not`: dialogue -> (reason, detail) where no question can show its photos. `group`:
    conversation -> the name of all that it shares photos with. `joined` conversations are in a
    group of several."""

    why_not: Mapping[str, tuple[str, str]]
    group: Mapping[str, str]
    photos: int
    joined: int


def look(
    dialogues: Sequence[Dialogue], root: Path | None, settings: Settings, track: Passing
) -> Seen:
    """Every photo once. `Refused` for a path that leaves `root`.

    Where `root` is None no photo is looked for: all count as missing.
    """
    found: dict[str, Path] = {}
    why_not: dict[str, tuple[str, str]] = {}
    for each in dialogues:
        lost = list(each.missing)
        for image in each.images:
            path = None if root is None else store.inside(root, image, f"dialogue {each.id!r}")
            if path is None or not path.is_file():
                lost.append(image)
            else:
                found[image] = path
        if not each.images:
            why_not[each.id] = (NO_PHOTO, "")
        elif lost:
            why_not[each.id] = (PHOTO_MISSING, ", ".join(dict.fromkeys(lost))[:200])
    content = {image: store.sha256(path) for image, path in sorted(found.items())}
    broken, pairs = _near(found, content, settings.radius, track)
    for each in dialogues:
        bad = [image for image in each.images if content.get(image) in broken]
        if bad and each.id not in why_not:
            why_not[each.id] = (PHOTO_UNREADABLE, broken[content[bad[0]]][:200])
        if each.faces and not settings.faces:
            why_not.setdefault(each.id, (FACE, ", ".join(each.faces)[:200]))
        told = [image for image in each.images if image in found and metadata.tells(found[image])]
        if told:
            why_not.setdefault(each.id, (METADATA, ", ".join(told)[:200]))
    group = _groups(dialogues, content, pairs)
    several = _crowded(group)
    return Seen(why_not=why_not, group=group, photos=len(content), joined=several)


def _near(
    found: Mapping[str, Path], content: Mapping[str, str], radius: int, track: Passing
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Contents that are no photo, with why; pairs of contents that may be one photo."""
    first: dict[str, Path] = {}
    for image, sha in sorted(content.items()):
        first.setdefault(sha, found[image])
    if not first:
        return {}, []
    names, files = sorted(first), [first[sha] for sha in sorted(first)]
    looks = duplicates.look_at(files, track)
    broken = {n: str(each) for n, each in zip(names, looks, strict=True)
              if isinstance(each, Unreadable)}  # fmt: skip
    nodes = Nodes(np.zeros(len(files), np.int64), np.arange(len(files)))
    near = duplicates.find(files, looks, nodes, (radius, MOST_PAIRS, 1), track)
    broken |= {names[at]: str(fault) for at, fault in near.broken.items()}
    sure = np.nan_to_num(near.correlation, nan=1.0) > AMBIGUOUS  # unknown may be one photo as well
    pairs = zip(near.near.a[sure].tolist(), near.near.b[sure].tolist(), strict=True)
    joined = [(names[a], names[b]) for a, b in pairs]
    if not near.complete:
        joined += [(names[a], names[b]) for a, b in enumerate(near.joined.tolist())]
    return broken, joined


def _groups(
    dialogues: Iterable[Dialogue], content: Mapping[str, str], pairs: Iterable[tuple[str, str]]
) -> dict[str, str]:
    """Conversations joined by photos; a set is called by the first of its names in order."""
    parent: dict[str, str] = {}

    def top(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = name = parent[parent[name]]
        return name

    def join(a: str, b: str) -> None:
        low, high = sorted((top(a), top(b)))
        parent[high] = low

    names: dict[str, str] = {}
    for each in dialogues:
        names[each.group] = f"0{each.group}"  # sorts before every photo
        for image in each.images:
            join(names[each.group], f"1{content.get(image, image)}")
    for a, b in pairs:
        join(f"1{a}", f"1{b}")
    return {group: top(name)[1:] for group, name in sorted(names.items())}


def _crowded(group: Mapping[str, str]) -> int:
    """How many conversations share a photo with another."""
    size: dict[str, int] = {}
    for name in group.values():
        size[name] = size.get(name, 0) + 1
    return sum(count for count in size.values() if count > 1)
