"""Whether many ids are all different, in eight bytes each.

A set of a million ids takes 150 MB. Here their hashes are kept; where two are equal, the ids with
those hashes are gone through once more and compared as they are, so the answer is exact.
"""

from collections.abc import Callable, Collection, Iterable

import numpy as np

Hashes = np.ndarray[tuple[int], np.dtype[np.int64]]


def hashes_of(names: Collection[str]) -> Hashes:
    """(n,) hashes of names, as this process makes them."""
    return np.fromiter(map(hash, names), np.int64, len(names))


class Unique:
    """Ids seen once; `add` them, then ask for one that came `twice`."""

    def __init__(self) -> None:
        self._hashes: list[Hashes] = []

    def add(self, names: Collection[str]) -> None:
        """Enter ids."""
        self._hashes.append(hashes_of(names))

    def __len__(self) -> int:
        return sum(map(len, self._hashes))

    def doubled(self) -> frozenset[int]:
        """The hashes that more than one of the ids has."""
        if not self._hashes:
            return frozenset()
        hashes = np.sort(np.concatenate(self._hashes))
        return frozenset(hashes[1:][hashes[1:] == hashes[:-1]].tolist())

    def twice(self, again: Callable[[], Iterable[str]]) -> str | None:
        """The first id, in the order of `again` (all of them once more), that came before.

        >>> ids = Unique()
        >>> ids.add("abca")
        >>> ids.twice(lambda: "abca"), len(ids)
        ('a', 4)
        """
        doubled = self.doubled()
        seen: set[str] = set()
        for name in again() if doubled else ():
            if hash(name) in doubled:
                if name in seen:
                    return name
                seen.add(name)
        return None
