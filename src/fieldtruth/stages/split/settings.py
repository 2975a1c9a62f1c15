"""How a split finds its groups and draws them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum, isclose

from fieldtruth.faults import Usage
from fieldtruth.records import Split
from fieldtruth.stages.split.photos import SPLITS

SHARES: Mapping[Split, float] = {"train": 0.8, "val": 0.1, "test": 0.1}
MOST_RADIUS = 16  # of 64 bits, as in an audit


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`radius` is of the hashes, in bits; `flips` looks for flipped and turned copies as well.
    Where there are more than `most_pairs` near pairs, photos are joined by their hashes alone.

    Raises `Usage` for a radius out of range and for shares that are none.
    """

    radius: int = 6
    flips: bool = False
    most_pairs: int = 2_000_000
    seed: int = 0
    shares: Mapping[Split, float] = field(default_factory=lambda: SHARES)

    def __post_init__(self) -> None:
        if not 0 <= self.radius <= MOST_RADIUS:
            raise Usage(f"--radius: expected 0 to {MOST_RADIUS} bits, got {self.radius}")
        shares = self.shares
        known = set(shares) <= set(SPLITS) and all(0 <= each <= 1 for each in shares.values())
        if not known or not isclose(fsum(shares.values()), 1, abs_tol=1e-9):  # false for NaN too
            told = ",".join(f"{name}={share}" for name, share in shares.items())
            raise Usage(
                f"--shares: expected shares of {', '.join(SPLITS)} that add up to 1, got {told!r}"
            )
