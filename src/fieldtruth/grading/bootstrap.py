"""The one bootstrap: intervals and paired differences of every metric, from sums per item.

How draws are made, and so the interval, is `resampling`'s: with `unit="image"` this is the
published procedure to the digit (agroground.md, 11.2 and 17).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from fieldtruth import metrics, rooms
from fieldtruth.metrics.contract import Bools, Evidence, Floats, Ints, Metric
from fieldtruth.records import Item
from fieldtruth.resampling import BOUNDS, RESAMPLES, Estimate, by_group, summed, totals

__all__ = [
    "RESAMPLES", "Drawn", "Estimate", "Panel", "Unit", "differences", "draw", "estimates", "panel",
    "room",
]  # fmt: skip

Unit = Literal["group", "image"]


@dataclass(frozen=True, slots=True)
class Panel:
    """The sums of every metric for one model: rows are items ascending by id.

    `ids` and `groups` are (n,); `over` (n, metrics) says which items a metric speaks of; `sums`
    (n, columns) holds the metrics' sums side by side, 0 where a metric does not speak, and
    `widths` says how many columns each metric has.
    """

    ids: tuple[str, ...]
    groups: tuple[str, ...]
    over: Bools
    sums: Floats
    widths: tuple[int, ...]

    def take(self, rows: Ints) -> "Panel":
        """The same panel with only these rows."""
        ids, groups = (tuple(names[i] for i in rows) for names in (self.ids, self.groups))
        return Panel(ids, groups, self.over[rows], self.sums[rows], self.widths)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A panel's values: `value`, `known` (metrics,) and those of each draw, (metrics, draws).

    `speaks` (units, metrics) says which units have something to measure; None where a draw that
    lacks them is a value too.
    """

    over: Bools
    value: Floats
    known: Bools
    draws: Floats
    draws_known: Bools
    speaks: Bools | None


@cache
def room() -> dict[str, Metric]:
    """Every metric by name, in alphabetical order."""
    return {name: rooms.open_room(metrics, name).METRIC for name in rooms.names(metrics)}


def panel(items: Sequence[Item], evidence: Evidence) -> Panel:
    """The sums of every metric of the room; `items` are parallel to the evidence."""
    over = [metric.over(evidence) for metric in room().values()]
    sums = [
        np.where(spoken[:, None], metric.sums(evidence), 0.0)
        for metric, spoken in zip(room().values(), over, strict=True)
    ]
    ids, groups = tuple(i.id for i in items), tuple(i.group for i in items)
    widths = tuple(s.shape[1] for s in sums)
    return Panel(ids, groups, np.stack(over, axis=1), np.concatenate(sums, axis=1), widths)


def draw(
    panels: Sequence[Panel],
    unit: Unit = "group",
    resamples: int = RESAMPLES,
    *,
    floored: bool = False,
) -> list[Drawn]:
    """Resample several panels over the same items, with the same draws.

    `floored` gives a statistic with nothing to measure the value 0, as the published script
    does, instead of leaving it out. Raises `ValueError` when the items differ.
    """
    if any(p.ids != panels[0].ids for p in panels):
        raise ValueError("panels are drawn together only over the same items")
    sums = [_per_unit(p, unit) for p in panels]
    drawn = totals(sums, resamples)
    return [_drawn(p, s, t, floored=floored) for p, s, t in zip(panels, sums, drawn, strict=True)]


def _per_unit(panel: Panel, unit: Unit) -> Floats:
    """Sums per resampling unit: per item, or per group with the groups ascending."""
    if unit == "image" or not panel.ids:
        return panel.sums
    return by_group(panel.sums, panel.groups)


def _drawn(panel: Panel, sums: Floats, resampled: Floats, *, floored: bool) -> Drawn:
    """The value of every metric, from all units and in every draw."""
    observed, ends = summed(sums), np.cumsum(panel.widths)
    columns = [slice(end - width, end) for end, width in zip(ends, panel.widths, strict=True)]
    values = [m.value(observed[c]) for m, c in zip(room().values(), columns, strict=True)]
    draws = [m.value(resampled[:, c]) for m, c in zip(room().values(), columns, strict=True)]
    return Drawn(
        panel.over,
        np.array([v.value for v in values]),
        np.array([v.known | floored for v in values]),
        np.stack([d.value for d in draws]),
        np.stack([d.known | floored for d in draws]),
        None if floored else np.stack([sums[:, c].any(axis=1) for c in columns], axis=1),
    )


def estimates(drawn: Drawn) -> dict[str, Estimate]:
    """Each metric's value with its interval."""
    n = drawn.over.sum(axis=0)
    found = _estimates(drawn.value, drawn.known, drawn.draws, drawn.draws_known, n)
    return _grouped(found, drawn.speaks)


def differences(a: Drawn, b: Drawn) -> dict[str, Estimate]:
    """Each metric's `b - a` with its interval; both drawn together, over the same items.

    n counts the items that the metric speaks of in either.
    """
    n = (a.over | b.over).sum(axis=0)
    known, draws_known = a.known & b.known, a.draws_known & b.draws_known
    found = _estimates(b.value - a.value, known, b.draws - a.draws, draws_known, n)
    return _grouped(found, None if a.speaks is None or b.speaks is None else a.speaks | b.speaks)


def _grouped(found: dict[str, Estimate], speaks: Bools | None) -> dict[str, Estimate]:
    """The estimates (in the order of the metrics) with the number of units behind each."""
    if speaks is None:
        return found
    counts = speaks.sum(axis=0)
    return {
        name: each if each.value is None else each._replace(groups=int(count))
        for (name, each), count in zip(found.items(), counts, strict=True)
    }


def _estimates(
    value: Floats, known: Bools, draws: Floats, draws_known: Bools, n: Ints
) -> dict[str, Estimate]:
    """Values (metrics,) and draws (metrics, resamples) as one estimate a metric."""
    bounds = np.zeros((2, len(value)))
    whole = draws_known.all(axis=1)
    if draws.shape[1]:
        bounds[:, whole] = np.percentile(draws[whole], BOUNDS, axis=1)
        for row in np.flatnonzero(~whole & draws_known.any(axis=1)):
            bounds[:, row] = np.percentile(draws[row, draws_known[row]], BOUNDS)
    return {
        name: Estimate(
            float(value[row]),
            float(bounds[0, row]),
            float(bounds[1, row]),
            int(n[row]),
            int((~draws_known[row]).sum()),
        )
        if known[row] and draws_known[row].any()
        else Estimate(None, None, None, 0)  # null and n = 0 always go together
        for row, name in enumerate(room())
    }
