"""Photos that are the same photo: near in their hashes, then compared pixel by pixel.

`duplicates` has found the near pairs and what they are to each other. Every near pair is looked
at: a collision that lies nearer hides no copy, and what cannot be compared is a failure.
"""

from collections.abc import Iterator
from itertools import compress

from fieldtruth.checks.contract import Seen
from fieldtruth.duplicates import BAD
from fieldtruth.records import Finding


def check(seen: Seen) -> Iterator[Finding]:
    """A finding for each group of copies, and for each pair that nobody can vouch for."""
    for number, group in enumerate(seen.groups):
        members = [seen.photos[place] for place in group]
        sets = sorted({each.set for each in members})
        yield Finding(
            id=f"near_duplicates:group:{number}",
            check="near_duplicates",
            about=tuple(each.name for each in members),
            severity="failure" if len(sets) > 1 else "warning",
            evidence=f"{len(members)} photos are one, in {', '.join(sets)}",
        )
    open_pairs = [pair.verdict in BAD and pair.verdict != "copy" for pair in seen.pairs]
    for pair in compress(seen.pairs, open_pairs):
        yield Finding(
            id=f"near_duplicates:{pair.set_a}:{pair.a}|{pair.set_b}:{pair.b}",
            check="near_duplicates",
            about=(f"{pair.set_a}:{pair.a}", f"{pair.set_b}:{pair.b}"),
            severity="failure" if pair.across else "warning",
            evidence=f"{pair.verdict}: distance {pair.distance}, correlation {pair.correlation}",
        )
    if not seen.complete:
        yield Finding(
            id="near_duplicates:list",
            check="near_duplicates",
            about=(),
            severity="failure",
            evidence="there are more near pairs than are listed; raise --max-pairs",
        )
