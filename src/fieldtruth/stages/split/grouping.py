"""Photos to groups: equal bytes, near-duplicates confirmed pixel by pixel, and what a source says.

Photos of equal decoded pixels have equal hashes and correlate with 1, so they come in as copies.
Ambiguous and unverifiable pairs are joined as well: what an audit would not let lie between two
sets (design, section 2, rule 11) is not to lie between two splits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256 as sha256_of
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fieldtruth import duplicates, store
from fieldtruth.duplicates import AMBIGUOUS, COPY, Found, Nodes, Passing
from fieldtruth.faults import Unreadable
from fieldtruth.hashing import TURNS
from fieldtruth.neighbours.groups import Groups as Labels
from fieldtruth.stages.split.photos import Photos
from fieldtruth.stages.split.settings import Settings

UNVERIFIED = "unverified"
_DIGITS = 32  # of a SHA-256: of a milliard groups no two share a name

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """Photos in groups, parallel to `Photos`.

    `sha256` is "" where a file has no bytes to read. `content` numbers distinct contents, `group`
    the groups, and `names` names the group of each photo by its members' contents. `joined`
    counts the pairs that made groups, by verdict; `complete` is false where there were more near
    pairs than are compared.
    """

    sha256: list[str]
    content: Places
    group: Places
    names: list[str]
    readable: NDArray[np.bool_]
    joined: dict[str, int]
    complete: bool


def group(photos: Photos, settings: Settings, track: Passing) -> Grouped:
    """Each file's bytes are hashed once; each distinct content is decoded once, or twice where
    another's hash lies near.

    A photo that cannot be read is compared with nothing, so it is a group of its own (with those of
    equal bytes), whatever its source says of it.
    """
    hashes = _hashes(photos.files, track)
    keys = [_key(photos, number, each) for number, each in enumerate(hashes)]
    contents = sorted(set(keys))
    place = {key: number for number, key in enumerate(contents)}
    content = np.array([place[key] for key in keys], np.int64)
    _, first = np.unique(content, return_index=True)
    files = [photos.files[number] for number in first.tolist()]
    looks = duplicates.look_at(files, track)
    nodes = Nodes(np.zeros(len(files), np.int64), np.arange(len(files)))
    knobs = settings.radius, settings.most_pairs, len(TURNS) if settings.flips else 1
    found = duplicates.find(files, looks, nodes, knobs, track)
    readable = np.array([not isinstance(look, Unreadable) for look in looks], np.bool_)
    readable[list(found.broken)] = False
    labels, joined = _joined(found, _links(photos, content, readable), len(files))
    names = [_name(contents[label], readable[label]) for label in labels.tolist()]
    return Grouped(
        sha256=hashes,
        content=content,
        group=labels[content],
        names=[names[each] for each in content.tolist()],
        readable=readable[content],
        joined=joined,
        complete=found.complete,
    )


def _hashes(files: Sequence[Path], track: Passing) -> list[str]:
    """The SHA-256 of every file, "" where it cannot be read; a file of two sources once."""
    distinct = list(dict.fromkeys(files))
    seen = track(duplicates.in_threads(_hash, distinct), total=len(distinct))
    known = dict(zip(distinct, seen, strict=True))
    return [str(known[file]) for file in files]


def _hash(file: Path) -> str:
    try:
        return store.sha256(file) if file.is_file() else ""  # a named pipe would wait for ever
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return ""


def _key(photos: Photos, number: int, sha256: str) -> str:
    """What tells contents apart: the bytes, or where a file without bytes is said to lie."""
    if sha256:
        return sha256
    return sha256_of(f"{photos.sources[number]}\0{photos.paths[number]}".encode()).hexdigest()


def _links(photos: Photos, content: Places, readable: NDArray[np.bool_]) -> tuple[Places, Places]:
    """What the sources say belongs together, as contents, where both can be read."""
    ends = content[np.array(photos.links, np.int64).reshape(-1, 2)]
    ends = ends[readable[ends].all(axis=1)]
    return ends[:, 0], ends[:, 1]


def _joined(found: Found, said: tuple[Places, Places], count: int) -> tuple[Places, dict[str, int]]:
    """For each content the least of its group, and how many pairs of each verdict joined them."""
    r, near = found.correlation, found.near
    unknown = np.isnan(r)
    bad = unknown | (np.nan_to_num(r, nan=-1) > AMBIGUOUS)
    labels = Labels(np.arange(count))
    labels.unite(near.a[bad], near.b[bad])
    labels.unite(*said)
    if not found.complete:
        labels.unite(np.arange(count), found.joined)
    copies = int((r > COPY).sum())
    unverified = int(unknown.sum())
    ambiguous = int(bad.sum()) - copies - unverified
    return labels.labels, {"copy": copies, "ambiguous": ambiguous, UNVERIFIED: unverified}


def _name(key: str, readable: object) -> str:
    return key[:_DIGITS] if readable else f"{UNVERIFIED}-{key[:_DIGITS]}"
