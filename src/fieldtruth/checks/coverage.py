"""Photos that could not be read: whether they are copies of others, nobody knows.

An unreadable image is an unverified image (design, section 2, rule 11): each is a failure.
"""

from collections.abc import Iterator

from fieldtruth.checks.contract import Seen
from fieldtruth.records import Finding


def check(seen: Seen) -> Iterator[Finding]:
    """A failure for each file that was not compared."""
    for name, report in seen.sets.items():
        for bad in report.unreadable:
            yield Finding(
                id=f"coverage:{name}:{bad.path}",
                check="coverage",
                about=(f"{name}:{bad.path}",),
                severity="failure",
                evidence=bad.reason,
            )
