"""The names that may stand beside each other in a list of candidates."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

import numpy as np

from fieldtruth.records import Kind, Target
from fieldtruth.taxonomy import conflict, crop_id, rivals

LISTED = 4  # names in a candidate list


class Pools:
    """The labels that may stand beside each other in a list.

    On a crop where some kind has fewer than four labels, all its kinds make one pool. Were the
    one pest of a crop listed among its diseases only when it is the truth, its name would give
    the answer away.
    """

    def __init__(self, targets: Iterable[Target]) -> None:
        self._of: dict[tuple[str, Kind], set[str]] = defaultdict(set)
        self._seen: dict[str, list[tuple[str, Kind]]] = defaultdict(list)
        for target in targets:
            self._of[crop_key(target.crop), target.kind].add(target.label)
            self._seen[crop_key(target.crop)].append((target.label, target.kind))
        for seen in self._seen.values():
            seen.sort()
        self._mixed = {crop for (crop, _), names in self._of.items() if len(names) < LISTED}
        self._sorted: dict[tuple[str, Kind], tuple[tuple[str, ...], ...]] = {}

    def plausible(
        self, crop: str | None, rng: np.random.Generator
    ) -> tuple[str, Kind] | tuple[None, None]:
        """A label to ask a healthy photo about: as often as the crop's photos show it.

        So neither the label nor the wording of its kind tells healthy photos from others.
        """
        seen = self._seen.get(crop_key(crop))
        return seen[int(rng.integers(len(seen)))] if seen else (None, None)

    def nearest(self, crop: str | None, kind: Kind | None) -> Iterator[set[str]]:
        """Same crop and kind, then all of the crop's kinds, then the kind on any crop."""
        own, keys = crop_key(crop), sorted(self._of)
        whole = set().union(*(self._of[key] for key in keys if key[0] == own))
        yield whole if own in self._mixed else self._of.get((own, kind or "disease"), set())
        yield whole
        yield set().union(*(self._of[key] for key in keys if key[1] == kind))

    def distractors(
        self, truth: Collection[str], near: tuple[str | None, Kind | None], rng: np.random.Generator
    ) -> list[str]:
        """Up to three labels in conflict with no true one and not with each other.

        Pools farther off are not looked at, nor drawn from, once there are three.
        """
        chosen: list[str] = []
        for pool in self.nearest(*near):
            if len(chosen) == 3:
                break
            names = rivals([*truth, *chosen], pool, near[0])
            take = min(3 - len(chosen), len(names))
            chosen += [names[i] for i in rng.permutation(len(names))[:take]]
        return chosen

    def walk(
        self, truth: Collection[str], near: tuple[str, Kind], rng: np.random.Generator
    ) -> list[str]:
        """`distractors` for hundreds of thousands of lists: names are tried as they are drawn.

        The time does not grow with the pool, and of two names in conflict either may be drawn.
        """
        chosen: list[str] = []
        for pool in self._ordered(*near):
            for i in rng.permutation(len(pool)):
                if len(chosen) == 3:
                    return chosen
                if not any(conflict(pool[i], name, near[0] or None) for name in (*truth, *chosen)):
                    chosen.append(pool[i])
        return chosen

    def _ordered(self, crop: str, kind: Kind) -> tuple[tuple[str, ...], ...]:
        if (crop, kind) not in self._sorted:
            self._sorted[crop, kind] = tuple(
                tuple(sorted(pool)) for pool in self.nearest(crop, kind)
            )
        return self._sorted[crop, kind]


def crop_key(name: str | None) -> str:
    """The one id of a crop, `""` where none is given."""
    return crop_id(name) if name else ""
