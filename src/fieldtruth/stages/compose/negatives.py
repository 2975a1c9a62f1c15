"""The photos on which nothing that is asked can be.

The prompt comes first, made as a positive's would be; then a photo is found for it. So a prompt
with an empty answer has its words from where all prompts have them, and text cannot tell.
"""

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence

from fieldtruth import draws
from fieldtruth.stages.compose.gathered import Gathered, Ill, Well
from fieldtruth.taxonomy import conflict

_LOOKED_AT = 8  # healthy photos in a row that may show something asked: a weed, an object
_TRIES = 32  # photos drawn in one ring for a wrong target, until the next ring is drawn from

Queue = deque[Well]


class HealthyPhotos:
    """The healthy photos of a split, handed out in an order drawn for them.

    First of the same source and crop, so that neither the crop nor the look of a source tells;
    then of the crop; then of any crop, from where most are left: a healthy plant has no disease of
    another crop either. A photo is handed out at most once in a protocol; in the second in the
    opposite order, so that two of one photo come as late as they can.
    """

    def __init__(self, found: Gathered, seed: int) -> None:
        ranked: dict[tuple[str, str], list[Well]] = defaultdict(list)
        for well in found.well:
            ranked[well.crop, well.source.name].append(well)
        for some in ranked.values():
            some.sort(key=lambda well: draws.key(seed, "compose healthy photo", well.name))
        self._left: dict[bool, dict[tuple[str, str], Queue]] = {
            listed: {key: deque(some[::step]) for key, some in sorted(ranked.items())}
            for listed, step in ((True, 1), (False, -1))
        }
        self._shown = found.shown

    def take(self, of: Ill, names: Sequence[str], *, listed: bool, last: bool) -> Well | None:
        """A photo to ask for these names; None where there is none left.

        With `last` from the other end of the order, so that what else is handed out stays.
        """
        for queue, end in self._queues(of, listed=listed):
            for place in range(min(_LOOKED_AT, len(queue))):
                at = -1 - place if end or last else place
                well = queue[at]
                if _absent(names, self._shown.near(well.photo, well.source), None):
                    del queue[at]
                    return well
        return None

    def _queues(self, of: Ill, *, listed: bool) -> Iterator[tuple[Queue, bool]]:
        """The queues to take from, nearest first, and whether from the end: those of others."""
        queues, own = self._left[listed], (of.crop, of.source.name)
        if own in queues:
            yield queues[own], False
        for key, queue in queues.items():
            if key[0] == of.crop and key != own:
                yield queue, True
        far = sorted((len(queue), key) for key, queue in queues.items() if key[0] != of.crop)
        for _, key in reversed(far):
            yield queues[key], True


class OtherPhotos:
    """The diseased photos of a split, drawn for a prompt that names nothing on them.

    First of the same source and crop, then of the crop, then any. With `exhaustive` only of sources
    that name all that a photo shows. Photos lie on a ring by a key of theirs, and the next one
    from a drawn spot is taken, so that more photos change few draws.
    """

    def __init__(self, found: Gathered, seed: int, *, exhaustive: bool) -> None:
        rings: dict[tuple[str, ...], list[tuple[int, str, Ill]]] = defaultdict(list)
        for ill in found.ill:
            if ill.source.exhaustive or not exhaustive:
                name = ill.name
                place = (draws.key(seed, "compose wrong target photo", name), name, ill)
                for key in self._near(ill):
                    rings[key].append(place)
        for ring in rings.values():
            ring.sort(key=lambda place: place[:2])
        self._rings = {
            key: ([place for place, _, _ in ring], [ill for _, _, ill in ring])
            for key, ring in rings.items()
        }
        self._shown, self._seed = found.shown, seed
        self._asked: set[tuple[str, ...]] = set()

    def take(self, of: Ill, name: str, names: Sequence[str]) -> Ill | None:
        """A photo to ask for these names that was not asked for them before.

        `name` is what the draw is keyed by.
        """
        for key in self._near(of):
            places, ring = self._rings.get(key, ([], []))
            crop = of.crop if key else None
            for number in range(_TRIES if ring else 0):
                drawn = f"{name}\x1f{number}"
                spot = draws.key(self._seed, "compose wrong target", drawn)
                ill = ring[bisect_left(places, spot) % len(ring)]
                asked = (ill.photo.content, *sorted(names))
                shown = self._shown.near(ill.photo, ill.source)
                if asked not in self._asked and _absent(names, shown, crop):
                    self._asked.add(asked)
                    return ill
        return None

    @staticmethod
    def _near(ill: Ill) -> tuple[tuple[str, ...], ...]:
        return (ill.crop, ill.source.name), (ill.crop,), ()


def _absent(names: Sequence[str], shown: Sequence[str], crop: str | None) -> bool:
    """Whether no name is one thing with what is shown, a part of it, or holds it as a part."""
    return not any(conflict(name, other, crop or None) for name in names for other in shown)
