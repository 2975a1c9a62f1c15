"""Every random draw, keyed by (seed, stage, record id): never by the order of a stream.

So adding a source, a worker or a resume changes no other record's draw, and two runs of one
recipe give the same bytes (design, section 2, rule 8).
"""

from hashlib import blake2b

import numpy as np


def key(seed: int, stage: str, record: str) -> int:
    """A 64-bit number of (seed, stage, record id), the same on every machine."""
    text = "\x1f".join((str(seed), stage, record)).encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")


def rng(seed: int, stage: str, record: str) -> np.random.Generator:
    """A generator of its own for one record in one stage.

    >>> a, b = rng(7, "compose", "leaf-1"), rng(7, "compose", "leaf-1")
    >>> bool(a.random() == b.random())
    True
    """
    return np.random.default_rng(key(seed, stage, record))
