"""One photo under two names: at least one of them is wrong, or the photo shows both.

Two spellings of one label are no conflict, nor is a name that lies within the other (rust, leaf
rust): the photo is called the same thing with more or less said.
"""

from collections.abc import Iterator
from itertools import combinations

from fieldtruth import taxonomy
from fieldtruth.checks.contract import Seen
from fieldtruth.records import Finding


def check(seen: Seen) -> Iterator[Finding]:
    """A finding for each group of copies in which two names exclude each other."""
    for number, group in enumerate(seen.groups):
        named = [seen.photos[place] for place in group if seen.photos[place].label]
        labels = sorted({taxonomy.label_id(each.label) for each in named if each.label})
        if all(taxonomy.conflict(a, b) for a, b in combinations(labels, 2)):
            continue
        yield Finding(
            id=f"label_conflicts:{number}",
            check="label_conflicts",
            about=tuple(each.name for each in named),
            severity="warning",
            evidence="one photo is called " + " and ".join(labels),
        )
