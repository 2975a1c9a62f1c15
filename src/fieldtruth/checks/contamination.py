"""How much of each source's split lies in another split or another set.

A leak is seldom spread evenly: one source's test photos are another's training photos. So every
split of every source, in every set, is told apart (design, section 2, rule 10).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from fieldtruth.checks.contract import Photo, Seen
from fieldtruth.duplicates import BAD
from fieldtruth.records import Finding


class _Part(NamedTuple):
    set: str
    source: str
    split: str

    @classmethod
    def of(cls, photo: Photo) -> "_Part":
        return cls(photo.set, photo.source, photo.split)

    def __str__(self) -> str:
        words = [self.set, self.source and f"source {self.source}", self.split]
        return ", ".join(word for word in words if word)


def check(seen: Seen) -> Iterator[Finding]:
    """A finding for each two parts, of different sets or splits, that share photos."""
    sizes = Counter(_Part.of(photo) for photo in seen.photos)
    leaked: dict[tuple[_Part, _Part], set[int]] = defaultdict(set)
    for pair, (a, b) in zip(seen.pairs, seen.ends, strict=True):
        if pair.verdict not in BAD:
            continue
        for one, twin in ((a, b), (b, a)):
            parts = _Part.of(seen.photos[one]), _Part.of(seen.photos[twin])
            if parts[0].set != parts[1].set or parts[0].split != parts[1].split:
                leaked[parts].add(one)
    for (mine, other), places in sorted(leaked.items()):
        share = len(places) / sizes[mine]
        least = "" if seen.complete else "at least "  # the list of pairs was cut
        yield Finding(
            id=f"contamination:{mine}|{other}",
            check="contamination",
            about=tuple(seen.photos[place].name for place in sorted(places)),
            severity="failure" if mine.set != other.set else "warning",
            evidence=f"{least}{len(places)} of {sizes[mine]} photos ({share:.1%}) of {mine} are, "
            f"or may be, in {other}",
        )
