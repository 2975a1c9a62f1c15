"""The names that may stand beside each other in a list of candidates."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator

import numpy as np

from fieldtruth.records import Kind, Target
from fieldtruth.taxonomy import conflict, crop_id, rivals

LISTED = 4  # names in a candidate list


class Pools:
    """The labels that may stand beside each other in a list: of the same crop and kind first.

    A kind with fewer than four labels on a crop is filled up from the crop's other kinds, and then
    from the kind on any crop. Were nothing else done, the one pest of a crop would be listed where
    it is the truth and nowhere else, and its name would give the answer away. So some lists of
    the crop's other labels are made as a pest's list is: all of that kind, and the rest of others;
    of so many that each name on such a list is the truth as often (`_manners`).
    """

    def __init__(self, targets: Iterable[Target]) -> None:
        names: dict[tuple[str, Kind], set[str]] = defaultdict(set)
        self._seen: dict[str, list[tuple[str, Kind]]] = defaultdict(list)
        for target in targets:
            names[crop_key(target.crop), target.kind].add(target.label)
            self._seen[crop_key(target.crop)].append((target.label, target.kind))
        for seen in self._seen.values():
            seen.sort()
        whole, anywhere = defaultdict[str, set[str]](set), defaultdict[Kind, set[str]](set)
        for (crop, kind), some in names.items():
            whole[crop] |= some
            anywhere[kind] |= some
        self._of = {key: tuple(sorted(some)) for key, some in sorted(names.items())}
        self._whole = {crop: tuple(sorted(some)) for crop, some in whole.items()}
        self._anywhere = {kind: tuple(sorted(some)) for kind, some in anywhere.items()}
        self._manners = {crop: self._manners_of(crop) for crop in self._seen}
        self._others: dict[tuple[str, Kind], list[tuple[str, Kind]]] = {}
        self._asked: dict[tuple[str, frozenset[Kind] | None], list[tuple[str, Kind]]] = {}

    def plausible(
        self,
        crop: str | None,
        shown: Collection[str],
        kinds: frozenset[Kind] | None,
        rng: np.random.Generator,
    ) -> tuple[str, Kind] | tuple[None, None]:
        """A label to ask a healthy photo about: as often as the crop's photos show it.

        So neither the label nor the wording of its kind tells healthy photos from others. Of
        `kinds` only, where they are given, and nothing in conflict with what is `shown`.
        """
        key = crop_key(crop), kinds
        if key not in self._asked:
            seen = self._seen.get(key[0], ())
            self._asked[key] = [each for each in seen if kinds is None or each[1] in kinds]
        fit = self._asked[key]
        if shown:
            fit = [each for each in fit if not any(conflict(each[0], on, crop) for on in shown)]
        return fit[int(rng.integers(len(fit)))] if fit else (None, None)

    def near(self, crop: str | None, kind: Kind) -> Iterator[tuple[str, ...]]:
        """Same crop and kind, then all of the crop's kinds."""
        own = crop_key(crop)
        yield self._of.get((own, kind), ())
        yield self._whole.get(own, ())

    def distractors(
        self, truth: Collection[str], near: tuple[str | None, Kind | None], rng: np.random.Generator
    ) -> list[str]:
        """Up to three labels in conflict with no true one and not with each other.

        Pools farther off are not looked at, nor drawn from, once there are three.
        """
        chosen: list[str] = []
        for pool in self._pools(near[0], near[1] or "disease", rng):
            names = rivals([*truth, *chosen], pool, near[0])
            take = min(3 - len(chosen), len(names))
            chosen += [names[i] for i in rng.permutation(len(names))[:take]]
            if len(chosen) == 3:
                break
        return chosen

    def walk(
        self, truth: Collection[str], near: tuple[str, Kind], rng: np.random.Generator
    ) -> list[str]:
        """`distractors` for hundreds of thousands of lists: names are tried as they are drawn.

        The time does not grow with the pool, and of two names in conflict either may be drawn.
        """
        chosen: list[str] = []
        for pool in self._pools(*near, rng):
            for i in rng.permutation(len(pool)):
                if not any(conflict(pool[i], name, near[0] or None) for name in (*truth, *chosen)):
                    chosen.append(pool[i])
                if len(chosen) == 3:
                    return chosen
        return chosen

    def _pools(
        self, crop: str | None, kind: Kind, rng: np.random.Generator
    ) -> Iterator[tuple[str, ...]]:
        """Where names are taken from, in order; what comes late is drawn only when it is due."""
        own = crop_key(crop)
        manner = self._manner(own, kind, rng)
        yield self._of.get((own, manner), ())
        others = self._besides(own, manner)
        if manner != kind:
            yield self._of.get((own, kind), ())
        elif others:  # as often as it is the truth itself beside names of this manner
            label, other = others[int(rng.integers(len(others)))]
            yield (label,)
            yield self._of[own, other]
        yield self._whole.get(own, ())
        yield self._anywhere.get(kind, ())

    def _besides(self, own: str, kind: Kind) -> list[tuple[str, Kind]]:
        """What the crop's photos show of other kinds."""
        if (own, kind) not in self._others:
            seen = self._seen.get(own, ())
            self._others[own, kind] = [each for each in seen if each[1] != kind]
        return self._others[own, kind]

    def _manner(self, own: str, kind: Kind, rng: np.random.Generator) -> Kind:
        """The kind whose names a list takes first: that of the truth, but for a share of them."""
        shares = self._manners.get(own, {}).get(kind)
        if shares is None:
            return kind
        return tuple(shares)[int(rng.choice(len(shares), p=tuple(shares.values())))]

    def _manners_of(self, own: str) -> dict[Kind, dict[Kind, float]]:
        """For each kind of truth, the shares of its lists that are made in each kind's manner.

        A list in the manner of a kind with k labels holds m = min(k, 4) of them. Were each of its
        four names the truth as often as any other, the truth would be of that kind in m / 4 of
        such lists, and in the rest of another, by the numbers of photos. How many lists of each
        manner that takes is a linear equation, whose answer must not be negative: where a lone
        pest is on more than a quarter of a crop's photos, every list names it, and it is the truth
        in more than a quarter of them. Empty where each kind's lists are made in its own manner.
        """
        kinds: list[Kind] = [kind for crop, kind in self._of if crop == own]
        held = np.array([min(LISTED, len(self._of[own, kind])) for kind in kinds]) / LISTED
        if len(kinds) == 1 or held.min() == 1:
            return {}
        from scipy.optimize import nnls

        counts = Counter(kind for _, kind in self._seen[own])
        shown = np.array([counts[kind] for kind in kinds]) / len(self._seen[own])
        chance = np.outer(1 - held, shown) / (1 - shown)[:, None]  # of a manner, of a true kind
        np.fill_diagonal(chance, held)
        lists = nnls(chance.T, shown)[0][:, None] * chance
        return {
            kind: dict(zip(kinds, (column / column.sum()).tolist(), strict=True))
            for kind, column in zip(kinds, lists.T, strict=True)
            if column.sum() > 0
        }


def crop_key(name: str | None) -> str:
    """The one id of a crop, `""` where none is given."""
    return crop_id(name) if name else ""
