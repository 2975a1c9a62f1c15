"""Who is drawn: floors first, then the sources in turn, each in an order of its own."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from fieldtruth import draws
from fieldtruth.faults import Refused, Usage
from fieldtruth.records import Item
from fieldtruth.stages.select.settings import STRATA, Settings, Stratum, stratum_of

_NAMED = 5  # floors named in a refusal

At = tuple[Stratum, str]  # a stratum and a source
Pools = Mapping[Stratum, Mapping[str, list[Item]]]  # items, first drawn first


def pools(items: Iterable[Item], settings: Settings) -> Pools:
    """Items in the order in which they are drawn: by (seed, id), whatever else there is."""
    found: dict[Stratum, dict[str, list[Item]]] = {each: defaultdict(list) for each in STRATA}
    for item in items:
        found[stratum_of(item)][item.source].append(item)
    for sources in found.values():
        for mine in sources.values():
            mine.sort(key=lambda item: (draws.key(settings.seed, "select", item.id), item.id))
    return found


class Drawing:
    """Photos taken one by one, never one of a content or group that was taken before."""

    def __init__(self, of: Pools, settings: Settings) -> None:
        self.pools, self.settings = of, settings
        self.chosen: dict[At, list[Item]] = defaultdict(list)  # by stratum and source
        self.photos: set[str] = set()  # SHA-256 of what was taken
        self.groups: set[str] = set()
        self._next: dict[At, int] = defaultdict(int)
        self.lifted: dict[At, int] = defaultdict(int)

    def draw(self, given: Mapping[At, int]) -> None:
        """Everything. `given` counts what each source has of each stratum, drawn or not.

        Raises `Usage` for floors that contradict the rest, `Refused` for those that the photos
        do not reach.
        """
        self._floors(given)
        for stratum in self.settings.wanted:
            self._in_turn(stratum)
            if self.settings.lift_cap:
                before = {at: len(items) for at, items in self.chosen.items()}
                self._in_turn(stratum, lifted=True)
                for at, items in self.chosen.items():
                    self.lifted[at] += len(items) - before.get(at, 0)

    def total(self, stratum: Stratum) -> int:
        """How many of a stratum were taken."""
        return sum(len(items) for (each, _), items in self.chosen.items() if each == stratum)

    def full(self, stratum: Stratum, source: str) -> bool:
        """Whether a source has given all that it may of a stratum."""
        most = self.settings.most(stratum, source)
        return most is not None and len(self.chosen[stratum, source]) >= most

    def available(self, stratum: Stratum, source: str) -> int:
        """How many groups a source could give of a stratum, were it alone."""
        return len({item.group for item in self.pools[stratum].get(source, ())})

    def _floors(self, given: Mapping[At, int]) -> None:
        owed = {
            at: self.settings.least(at[1])
            for at in sorted(given)
            if at[0] in self.settings.want and self.settings.least(at[1])
        }
        self._fit(owed)
        missed: list[str] = []
        for stratum in self.settings.wanted:
            for at in (each for each in owed if each[0] == stratum):
                taken = sum(self._take(*at) for _ in range(owed[at]))
                if taken < owed[at]:
                    missed.append(f"{at[1]} gives {taken} of {owed[at]} {stratum} photos")
        if missed:
            raise Refused(
                f"--floor: expected every source to give what it has to, but "
                f"{'; '.join(missed[:_NAMED])}; lower the floor of these sources (--floor "
                "SOURCE=N), or want less"
            )

    def _fit(self, owed: Mapping[At, int]) -> None:
        for stratum in self.settings.wanted:
            want = self.settings.want[stratum]
            mine = {source: least for (each, source), least in owed.items() if each == stratum}
            if sum(mine.values()) > want:
                raise Usage(
                    f"--floor: expected floors within the {want} {stratum} photos that are "
                    f"wanted, got {len(mine)} sources with {sum(mine.values())}; lower them"
                )
            for source, least in mine.items():
                most = self.settings.most(stratum, source)
                if most is not None and least > most:
                    raise Usage(
                        f"--floor: expected a floor of {source} within its cap, which is {most} "
                        f"of {want} {stratum} photos, got {least}; lower it, or raise the cap"
                    )

    def _in_turn(self, stratum: Stratum, *, lifted: bool = False) -> None:
        """One photo of each source in turn, those that have most first, until it is enough."""
        sources = sorted(
            self.pools[stratum], key=lambda source: (-self.available(stratum, source), source)
        )
        missing = self.settings.want[stratum] - self.total(stratum)
        while missing and sources:
            left = []
            for source in sources:
                if not missing or (not lifted and self.full(stratum, source)):
                    continue
                if self._take(stratum, source):
                    missing -= 1
                    left.append(source)
            sources = left

    def _take(self, stratum: Stratum, source: str) -> bool:
        """The next photo of a source that may be taken, if there is one."""
        at = stratum, source
        pool = self.pools[stratum].get(source, [])
        while self._next[at] < len(pool):
            item = pool[self._next[at]]
            self._next[at] += 1
            if item.image_sha256 not in self.photos and item.group not in self.groups:
                self.photos.add(item.image_sha256)
                self.groups.add(item.group)
                self.chosen[at].append(item)
                return True
        return False
