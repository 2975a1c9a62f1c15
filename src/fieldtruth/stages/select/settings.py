"""What a selection is asked for: how many of each stratum, and what a source gives at least, at
most."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from fieldtruth.faults import Usage
from fieldtruth.records import Item

Stratum = Literal["dense", "lesion", "object", "healthy"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)
DENSE = 5  # boxes of a lesion photo, from which on it is dense (agroground.md, section 10.1)
EVERY = ""  # the source that stands for all that are not named


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`want`: photos by stratum. `floor` and `cap` by source, `EVERY` for the rest: how many of a
    stratum a source that has such photos gives at least, and what share of those wanted at most.

    Raises `Usage` for what cannot be, a floor over its cap and floors over a stratum included.
    """

    want: Mapping[str, int]
    floor: Mapping[str, int] = field(default_factory=dict)
    cap: Mapping[str, float] = field(default_factory=dict)
    lift_cap: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if not set(self.want) <= set(STRATA) or min(self.want.values(), default=0) < 1:
            raise Usage(
                f"--want: expected some of {', '.join(STRATA)} with a number over 0 for each, got "
                f"{_told(self.want)}"
            )
        if min(self.floor.values(), default=0) < 0:
            raise Usage(f"--floor: expected numbers of 0 and more, got {_told(self.floor)}")
        if not all(0 < share <= 1 for share in self.cap.values()):  # false for NaN as well
            raise Usage(f"--cap: expected shares over 0 and up to 1, got {_told(self.cap)}")

    @property
    def wanted(self) -> tuple[Stratum, ...]:
        """The strata that are wanted, in their one order."""
        return tuple(each for each in STRATA if each in self.want)

    def least(self, source: str) -> int:
        """How many of each stratum a source gives at least."""
        return self.floor.get(source, self.floor.get(EVERY, 0))

    def most(self, stratum: Stratum, source: str) -> int | None:
        """How many of a stratum a source gives at most; None where nothing says so."""
        share = self.cap.get(source, self.cap.get(EVERY))
        return None if share is None else int(share * self.want[stratum] + 1e-9)


def stratum_of(item: Item) -> Stratum:
    """A lesion photo of five boxes and more is dense."""
    if item.level == "lesion":
        return "dense" if len(item.boxes) >= DENSE else "lesion"
    return item.level


def _told(given: Mapping[str, object]) -> str:
    return ",".join(f"{name or 'all'}={value}" for name, value in given.items()) or "none"
