"""Photos that are one photo in several files: near hashes first, then near pixels.

    search     every photo looked at once; the near pairs found
    shortlist  pairs of photos, the worst first, never too many
    compare    what two near photos are to each other

`audit` reports what this finds, and `split` keeps it together.
"""

from fieldtruth.duplicates.compare import (
    AMBIGUOUS,
    BAD,
    COPY,
    Verdict,
    correlations,
    verdict,
)
from fieldtruth.duplicates.search import Found, Over, Passing, attempt, find, in_threads, look_at
from fieldtruth.duplicates.shortlist import Near, Nodes

__all__ = [
    "AMBIGUOUS",
    "BAD",
    "COPY",
    "Found",
    "Near",
    "Nodes",
    "Over",
    "Passing",
    "Verdict",
    "attempt",
    "correlations",
    "find",
    "in_threads",
    "look_at",
    "verdict",
]
