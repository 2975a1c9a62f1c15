"""score: a frozen benchmark and replies -> metrics with intervals, differences, outcome counts.

The result has the shape of the score contract (design, section 5) and is ready for JSON. Values
are fractions; a value that nothing can be measured for is null with its n, never 0. Replies are
refused when more of them failed, are missing, doubled or unknown than `allow_missing` allows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any, get_args

import numpy as np

from fieldtruth.faults import Refused, Usage
from fieldtruth.geometry import Rule
from fieldtruth.grading import bootstrap, few_groups
from fieldtruth.grading.bootstrap import Drawn, Estimate, Panel, Unit
from fieldtruth.grading.evidence import Graded, grade
from fieldtruth.grading.position import position
from fieldtruth.grading.published import published
from fieldtruth.records import Item, Prediction
from fieldtruth.store import Bench
from fieldtruth.taxonomy import crop_id

DIMENSIONS = ("source", "kind", "crop", "level", "density", "box_size")
# Median area of an image's true boxes as a share of the image. The bounds are COCO's for small
# and large objects (32 x 32 and 96 x 96 pixels) on a photo of 640 x 480, made free of resolution.
SMALL, LARGE = 1 / 300, 3 / 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to score. `Usage` for a value that cannot be used.

    `allow_missing` bounds, per model and protocol, the share of items with an error or without a
    reply, and in the same way that of doubled and unknown rows. `unit` is what the bootstrap
    draws: groups of photos, or images as published. `as_published` reads, measures and draws the
    published way (agroground.md, section 11), refuses nothing, and has no strata.
    """

    allow_missing: float = 0.0
    unit: Unit = "group"
    resamples: int = bootstrap.RESAMPLES
    matching: Rule = "greedy"
    as_published: bool = False
    strata: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.allow_missing <= 1:
            raise Usage(f"allow-missing: expected a share from 0 to 1, got {self.allow_missing}")
        if self.resamples < 1:
            raise Usage(f"resamples: expected at least 1, got {self.resamples}")
        for name, value, choices in (
            ("unit", self.unit, get_args(Unit)),
            ("matching", self.matching, get_args(Rule)),
        ):
            if value not in choices:
                raise Usage(f"{name}: expected one of {', '.join(choices)}, got {value!r}")


def score(
    bench: Bench, predictions: Iterable[Prediction], options: Options | None = None
) -> dict[str, Any]:
    """Score every model and protocol found among the predictions, in the order they come in.

    Beside the contract's keys an entry has `unasked`, the items of the benchmark that its protocol
    does not ask about, and where a list was shown in several orders the result has `position`
    (see `grading.position`); where numbers stand on few groups it has `few_groups`.

    Raises `Usage` for an unknown protocol or nothing to score, `BadRecord` for a row without a
    box space, `Refused` past `allow_missing`.
    """
    options = options or Options()
    if not bench.items:
        raise Usage(f"{bench.folder}: expected a benchmark with items, got none")
    replies = _by_protocol(predictions)
    if not replies:
        raise Usage("expected predictions to score, got none")
    positives = sum(item.positive for item in bench.items)
    models: dict[str, dict[str, Any]] = {}
    paired: list[dict[str, Any]] = []
    every: list[Graded] = []
    for protocol, rows in replies.items():
        graded = [_checked(bench.items, some, protocol, options) for some in rows.values()]
        entries, differences = _tables(graded, _panels(bench.items, graded, rows, options), options)
        for one, entry in zip(graded, entries, strict=True):
            entry["unasked"] = len(bench.items) - one.asked
            models.setdefault(one.model, {})[protocol] = entry
        paired += differences
        every += graded
    probed = {} if options.as_published else position(every)
    made = {
        "benchmark": {
            "name": bench.manifest.name,
            "version": bench.manifest.version,
            "items": len(bench.items),
            "positives": positives,
            "healthy": len(bench.items) - positives,
        },
        "models": models,
        "paired": paired,
    } | ({"position": probed} if probed else {})
    return few_groups.aside(made)


def _by_protocol(predictions: Iterable[Prediction]) -> dict[str, dict[str, list[Prediction]]]:
    """protocol -> model -> rows, each in the order of first appearance."""
    replies: dict[str, dict[str, list[Prediction]]] = {}
    for row in predictions:
        replies.setdefault(row.protocol, {}).setdefault(row.model, []).append(row)
    return replies


def _checked(
    items: Sequence[Item], rows: Iterable[Prediction], protocol: str, options: Options
) -> Graded:
    """Grade, and refuse what is too incomplete to give a number that holds.

    Rows beside a control, of items that it cannot ask, are counted as extra and harm nothing.
    """
    graded = grade(items, rows, protocol, matching=options.matching)
    if options.as_published:
        return graded
    counts, bar = graded.outcomes, options.allow_missing
    counts = counts | {"extra": counts["extra"] - graded.beside}
    faults = (
        ("error", "missing", "ask again for what is missing (predict resumes)"),
        ("duplicate", "extra", "leave one row per item of this benchmark"),
    )
    for first, second, remedy in faults:
        if (counts[first] + counts[second]) / max(graded.asked, 1) > bar:
            raise Refused(
                f"{graded.model} under {protocol}: {counts[first]} {first} and {counts[second]} "
                f"{second} for {graded.asked} items, expected at most a share of {bar:g}; "
                f"{remedy}, or accept a larger share with --allow-missing"
            )
    return graded


def _panels(
    items: Sequence[Item],
    graded: Sequence[Graded],
    rows: Mapping[str, Sequence[Prediction]],
    options: Options,
) -> list[Panel]:
    if options.as_published:
        return [published(items, rows[one.model], one.protocol) for one in graded]
    return [bootstrap.panel(one.items, one.evidence) for one in graded]


def _tables(
    graded: Sequence[Graded], panels: Sequence[Panel], options: Options
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """One entry per model, and the paired differences, of one protocol."""
    drawn = _draw(panels, options)
    strata = _strata(graded, panels, options)
    entries = [
        {"metrics": _shown(bootstrap.estimates(d)), "outcomes": one.outcomes, "strata": some}
        for one, d, some in zip(graded, drawn, strata, strict=True)
    ]
    differences = [
        {"protocol": graded[i].protocol, "metric": metric, "a": graded[i].model}
        | {"b": graded[j].model}
        | _fields(estimate, "difference")
        for i, j in combinations(range(len(graded)), 2)
        for metric, estimate in _difference(panels, drawn, i, j, options).items()
    ]
    return entries, differences


def _draw(panels: Sequence[Panel], options: Options) -> list[Drawn]:
    """Draw each panel; those over the same items share their draws."""
    families: dict[tuple[str, ...], list[int]] = {}
    for index, panel in enumerate(panels):
        families.setdefault(panel.ids, []).append(index)
    drawn: dict[int, Drawn] = {}
    for members in families.values():
        some = _draw_together([panels[index] for index in members], options)
        drawn.update(zip(members, some, strict=True))
    return [drawn[index] for index in range(len(panels))]


def _draw_together(panels: Sequence[Panel], options: Options) -> list[Drawn]:
    unit: Unit = "image" if options.as_published else options.unit
    return bootstrap.draw(panels, unit, options.resamples, floored=options.as_published)


def _difference(
    panels: Sequence[Panel], drawn: Sequence[Drawn], i: int, j: int, options: Options
) -> dict[str, Estimate]:
    """Model j minus model i, over the items measured in both."""
    a, b = panels[i], panels[j]
    if a.ids == b.ids:
        return bootstrap.differences(drawn[i], drawn[j])
    at = {name: row for row, name in reversed(list(enumerate(b.ids)))}
    rows = {name: (row, at[name]) for row, name in reversed(list(enumerate(a.ids))) if name in at}
    both = np.array(sorted(rows.values()), dtype=np.int64).reshape(-1, 2)
    a, b = a.take(both[:, 0]), b.take(both[:, 1])
    return bootstrap.differences(*_draw_together([a, b], options))


def _strata(
    graded: Sequence[Graded], panels: Sequence[Panel], options: Options
) -> list[dict[str, dict[str, Any]]]:
    """dimension -> stratum -> metrics, for each model; strata are drawn each on their own."""
    found: list[dict[str, dict[str, Any]]] = [{} for _ in graded]
    if options.as_published or not options.strata:
        return found
    places = [[strata_of(item) for item in one.items] for one in graded]
    for dimension in DIMENSIONS:
        names = sorted({place[dimension] for mine in places for place in mine})
        for table in found:
            table[dimension] = {}
        for name in names:
            parts = [
                panel.take(np.flatnonzero([place[dimension] == name for place in mine]))
                for panel, mine in zip(panels, places, strict=True)
            ]
            for table, part, drawn in zip(found, parts, _draw(parts, options), strict=True):
                if part.ids:
                    table[dimension][name] = _shown(bootstrap.estimates(drawn))
    return found


def strata_of(item: Item) -> dict[str, str]:
    """The stratum of an item in each dimension.

    `density`: a lesion image with five or more true boxes is dense, any other positive sparse.
    `box_size`: see SMALL and LARGE. What an item does not say is `unknown`.
    """
    density, size = "healthy", "healthy"
    if item.positive:
        density = "dense" if item.level == "lesion" and len(item.boxes) >= 5 else "sparse"
        share = median((x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in item.boxes)
        share /= item.width * item.height
        size = "small" if share < SMALL else "medium" if share < LARGE else "large"
    return {
        "source": item.source,
        "kind": item.kind or ("unknown" if item.positive else "healthy"),
        "crop": crop_id(item.crop) if item.crop else "unknown",
        "level": item.level,
        "density": density,
        "box_size": size,
    }


def _shown(estimates: Mapping[str, Estimate]) -> dict[str, dict[str, Any]]:
    return {metric: _fields(estimate, "value") for metric, estimate in estimates.items()}


def _fields(estimate: Estimate, value: str) -> dict[str, Any]:
    fields: dict[str, Any] = {
        value: estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
    }
    if estimate.undefined_draws:
        fields["undefined_draws"] = estimate.undefined_draws
    return fields | few_groups.told(estimate.groups)
