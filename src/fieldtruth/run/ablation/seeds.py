"""What the seeds of a row say together: its values, and its differences from another row.

A value is the mean of the seeds' values, each over all photos; a difference is the mean of the
seeds' paired differences. The deviation of either is the sample's (AgroGround, appendix N, tells
seeds so), which is another thing than an interval over photos: neither is part of the other.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

import msgspec

from fieldtruth.records import Record

NOTHING: Mapping[str, Any] = {"value": None, "n": 0}  # of a run that was asked, and nothing came


class Over(Record, frozen=True, kw_only=True):
    """A value over the seeds of a row: as many as were asked, of the planned ones.

    `deviation` is the sample's, null for one seed. For one seed `low` and `high` are its interval;
    for several they are null. `n` items are those of the seed with fewest; `groups` is of how few
    groups they are, null where there are enough (`grading.few_groups`).
    """

    mean: float | None
    deviation: float | None
    seeds: int
    n: int
    planned: int = 1
    low: float | None = None
    high: float | None = None
    groups: int | None = None

    @property
    def count(self) -> str:
        """How many seeds, in words; "" where there is one and no more are to come.

        >>> run = {"value": 1, "n": 9}
        >>> over_seeds([run, run], 3).count, over_seeds([run, run]).count, over_seeds([run]).count
        ('2 of 3 seeds', '2 seeds', '')
        """
        if self.planned == 1:
            return ""
        part = "" if self.seeds == self.planned else f" of {self.planned}"
        return f"{self.seeds}{part} seeds"


class Difference(Record, frozen=True, kw_only=True):
    """One run minus another, over the same items, with a 95 % interval.

    `versus_seed` is the same as `seed`, or the only one that the other row has.
    """

    benchmark: str
    protocol: str
    metric: str
    row: str
    versus: str
    seed: int
    versus_seed: int
    value: float | None
    low: float | None
    high: float | None
    n: int
    groups: int | None = None


class Change(Record, frozen=True, kw_only=True):
    """One row minus another, over the seeds; `told` where all intervals lie on one side of zero.

    `seeds` are the row's, and parallel to them `beside` the other row's.
    """

    benchmark: str
    protocol: str
    metric: str
    row: str
    versus: str
    seeds: tuple[int, ...]
    beside: tuple[int, ...]
    over: Over
    told: bool

    @property
    def beside_one(self) -> bool:
        """Whether all seeds stand beside one run: the deviation is then of this row alone."""
        return len(set(self.beside)) < len(self.beside)


def over_seeds(found: Sequence[Mapping[str, Any]], planned: int | None = None) -> Over:
    """Mean and sample deviation of one metric over runs that differ in their seed alone.

    A run without a value leaves none for all: a mean over those that had one says another thing.
    """
    planned = len(found) if planned is None else planned
    n = min((int(each["n"]) for each in found), default=0)
    known = [float(each["value"]) for each in found if each["value"] is not None]
    if not known or len(known) < len(found):
        return Over(mean=None, deviation=None, seeds=len(found), n=n, planned=planned)
    one = found[0] if len(found) == 1 else {}
    groups = [each["groups"] for each in found if each.get("groups") is not None]
    return Over(
        mean=fmean(known), deviation=stdev(known) if len(known) > 1 else None, seeds=len(known),
        n=n, planned=planned, low=one.get("low"), high=one.get("high"),
        groups=min(groups, default=None),
    )  # fmt: skip


def changes(found: Sequence[Difference], planned: Mapping[str, int]) -> Iterator[Change]:
    """The differences of each pair of rows over the seeds; how many seeds a row is to have."""
    pairs: dict[tuple[str, str, str, str], dict[str, dict[int, Difference]]] = {}
    for each in found:
        where = (each.benchmark, each.protocol, each.row, each.versus)
        pairs.setdefault(where, {}).setdefault(each.metric, {})[each.seed] = each
    for (bench, protocol, row, versus), metrics in pairs.items():
        beside = {seed: one.versus_seed for of in metrics.values() for seed, one in of.items()}
        for metric, of in metrics.items():
            some = [of.get(seed) for seed in beside]
            told = [NOTHING if one is None else msgspec.to_builtins(one) for one in some]
            yield Change(
                benchmark=bench, protocol=protocol, metric=metric, row=row, versus=versus,
                seeds=tuple(beside), beside=tuple(beside.values()),
                over=over_seeds(told, planned[row]), told=set(map(_side, some)) in ({1}, {-1}),
            )  # fmt: skip


def _side(each: Difference | None) -> int:
    """Of zero, on which the whole interval lies: -1 or 1, or 0 where it holds zero or is none.

    Drawing one group again and again gives the same: its interval says nothing.
    """
    if each is None or each.low is None or each.high is None or each.groups == 1:
        return 0
    return (each.low > 0) - (each.high < 0)
