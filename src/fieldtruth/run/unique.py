"""Whether many ids are all different, in eight bytes each.

A set of a million ids takes 150 MB. Here their hashes are kept; where two are equal, the ids with
those hashes are gone through once more and compared as they are, so the answer is exact.
"""

from collections.abc import Callable, Iterable

import numpy as np


class Unique:
    """Ids seen once; `add` them, then ask for one that came `twice`."""

    def __init__(self) -> None:
        self._hashes: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []

    def add(self, names: Iterable[str]) -> None:
        """Enter ids."""
        self._hashes.append(np.fromiter(map(hash, names), np.int64))

    def __len__(self) -> int:
        return sum(map(len, self._hashes))

    def twice(self, again: Callable[[], Iterable[str]]) -> str | None:
        """The first id, in the order of `again` (all of them once more), that came before.

        >>> ids = Unique()
        >>> ids.add("abca")
        >>> ids.twice(lambda: "abca"), len(ids)
        ('a', 4)
        """
        if not self._hashes:
            return None
        hashes = np.sort(np.concatenate(self._hashes))
        doubled = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        seen: set[str] = set()
        for name in again() if doubled else ():
            if hash(name) in doubled:
                if name in seen:
                    return name
                seen.add(name)
        return None
