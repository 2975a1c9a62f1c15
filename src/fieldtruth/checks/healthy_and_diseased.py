"""One photo that is healthy in one place and diseased in another: it cannot be both."""

from collections.abc import Iterator

from fieldtruth import taxonomy
from fieldtruth.checks.contract import Seen
from fieldtruth.records import Finding


def check(seen: Seen) -> Iterator[Finding]:
    """A finding for each group of copies that holds both."""
    for number, group in enumerate(seen.groups):
        told = [seen.photos[place] for place in group if seen.photos[place].labelled]
        labels = sorted({taxonomy.label_id(each.label) for each in told if each.label})
        if labels and any(each.label is None for each in told):
            yield Finding(
                id=f"healthy_and_diseased:{number}",
                check="healthy_and_diseased",
                about=tuple(each.name for each in told),
                severity="warning",
                evidence="one photo is healthy and shows " + ", ".join(labels),
            )
