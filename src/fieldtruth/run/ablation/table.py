"""All rows that are done, side by side: values over seeds, paired differences, every control.

Made from what is kept alone: no photo, no weights, no training.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from fieldtruth.faults import Usage
from fieldtruth.grading import Estimate, differences, draw, grade, open_protocol, panel
from fieldtruth.records import SCHEMA, Item, Prediction, Record
from fieldtruth.run.ablation import kept
from fieldtruth.run.ablation.settings import Opened, Row, runs

Run = tuple[str, int]  # a row with a seed
Words = dict[tuple[str, str], list[Prediction]]  # by benchmark and protocol
BESIDE = {  # what a headline leaves out
    "known_target": ("recall", "dense_f1", "lesion_f1", "object_f1"),
    "candidates": ("f1", "false_abstention"),
}


class Over(Record, frozen=True, kw_only=True):
    """A value over the seeds of a row; `deviation` is the sample's, null for one seed.

    For one seed `low` and `high` are its interval; for several they are null: an interval of the
    photos and a deviation of the seeds are not one thing.
    """

    mean: float | None
    deviation: float | None
    seeds: int
    n: int
    low: float | None = None
    high: float | None = None


class Difference(Record, frozen=True, kw_only=True):
    """Row minus the row it is held against, over the same items, with a 95 % interval."""

    benchmark: str
    protocol: str
    metric: str
    row: str
    versus: str
    seed: int
    value: float | None
    low: float | None
    high: float | None
    n: int


class Table(Record, frozen=True, kw_only=True):
    """benchmark -> protocol -> metric -> row -> value over seeds; and the differences."""

    schema: int = SCHEMA
    name: str
    rows: Mapping[str, tuple[int, ...]]  # row -> the seeds that are done
    values: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Over]]]]
    differences: tuple[Difference, ...]


def over_seeds(found: Sequence[Mapping[str, Any]]) -> Over:
    """Mean and sample deviation of one metric over runs that differ in their seed alone.

    A run without a value leaves none for all: a mean over those that had one says another thing.
    """
    if not found:
        return Over(mean=None, deviation=None, seeds=0, n=0)
    values = [each.get("value") for each in found]
    known = [float(each) for each in values if each is not None]
    n = min(int(each["n"]) for each in found)
    if len(known) < len(values):
        return Over(mean=None, deviation=None, seeds=len(values), n=n)
    one = found[0] if len(found) == 1 else {}
    return Over(
        mean=fmean(known), deviation=stdev(known) if len(known) > 1 else None, seeds=len(known),
        n=n, low=one.get("low"), high=one.get("high"),
    )  # fmt: skip


def leads(protocol: str) -> tuple[str, ...]:
    """The metrics that the table shows of a protocol."""
    return tuple(dict.fromkeys((*open_protocol(protocol).headline, *BESIDE.get(protocol, ()))))


@dataclass(frozen=True, slots=True)
class Held:
    """What is kept of an ablation, read once: runs in the recipe's order, items by benchmark.

    A run was perhaps asked about other items than are kept now: see `asked`.
    """

    done: Mapping[Run, kept.Scores]
    items: Mapping[str, Sequence[Item]]
    digests: Mapping[str, str | None]
    words: Mapping[Run, Words]

    def asked(self, run: Run, bench: str) -> bool:
        """Whether a run was asked about the items of a benchmark that are kept."""
        part = self.done[run].benchmarks.get(bench)
        return part is not None and part.digest == self.digests[bench]


def held(opened: Opened) -> Held:
    """Read what is kept; `Usage` where no row is done, `BadRecord` for what is broken."""
    done = _done(opened)
    if not done:
        raise Usage(f"{opened.out}: expected at least one row that is done, got none")
    benches = opened.ablation.benchmarks
    return Held(
        done,
        {bench: kept.items(opened.out, bench) for bench in benches},
        {bench: kept.digest(opened.out, bench) for bench in benches},
        {run: _spoken(opened.out, run) for run in done},
    )


def tabulate(opened: Opened, here: Held) -> Table:
    """The table of all rows that are kept; those asked about other items are not compared."""
    seeds = {name: tuple(s for n, s in here.done if n == name) for name in opened.ablation.rows}
    return Table(
        name=opened.ablation.name,
        rows={name: some for name, some in seeds.items() if some},
        values=_values(opened, here.done),
        differences=tuple(_differences(opened, here)),
    )


def _done(opened: Opened) -> dict[Run, kept.Scores]:
    found = {}
    for name, _, seed in runs(opened.ablation):
        made = kept.scores(kept.place(opened.out, name, seed))
        if made is not None:
            found[name, seed] = made
    return found


def _values(
    opened: Opened, done: Mapping[Run, kept.Scores]
) -> dict[str, dict[str, dict[str, dict[str, Over]]]]:
    values: dict[str, dict[str, dict[str, dict[str, Over]]]] = {}
    for bench, asked in opened.ablation.benchmarks.items():
        for protocol in asked.protocols:
            for metric in leads(protocol):
                where = (bench, protocol, metric)
                cells = {row: over(done, row, where) for row in opened.ablation.rows}
                if any(each.mean is not None for each in cells.values()):
                    values.setdefault(bench, {}).setdefault(protocol, {})[metric] = cells
    return values


def over(done: Mapping[Run, kept.Scores], row: str, where: tuple[str, str, str]) -> Over:
    """A row's value over its seeds; `where` is benchmark, protocol, metric."""
    bench, protocol, metric = where
    parts = [made.benchmarks.get(bench) for (name, _), made in done.items() if name == row]
    some = [each.metrics.get(protocol, {}).get(metric) for each in parts if each is not None]
    return over_seeds([each for each in some if each is not None])


def _differences(opened: Opened, here: Held) -> Iterator[Difference]:
    done, spoken = here.done, here.words
    for name, row, seed in runs(opened.ablation):
        for against in _against(opened, row, seed):
            if (name, seed) not in done or against not in done:
                continue
            two = (against, (name, seed))
            shared = [b for b in here.items if all(here.asked(each, b) for each in two)]
            both = [spoken[each] for each in two]
            for (bench, protocol), metric, each in _of_two(opened, here.items, shared, both):
                yield Difference(
                    benchmark=bench, protocol=protocol, metric=metric, row=name,
                    versus=against[0], seed=seed, value=each.value, low=each.low, high=each.high,
                    n=each.n,
                )  # fmt: skip


def _of_two(
    opened: Opened,
    items: Mapping[str, Sequence[Item]],
    shared: Sequence[str],
    both: Sequence[Words],
) -> Iterator[tuple[tuple[str, str], str, Estimate]]:
    """Second run minus first: (benchmark, protocol), metric, difference."""
    for bench in shared:
        for protocol in opened.ablation.benchmarks[bench].protocols:
            words = [each.get((bench, protocol)) for each in both]
            for metric, found in _paired(items[bench], words, protocol):
                yield (bench, protocol), metric, found


def _against(opened: Opened, row: Row, seed: int) -> Iterator[Run]:
    """The runs that one is held against: of the same seed, or of the only one there is."""
    for versus in row.versus:
        seeds = opened.ablation.rows[versus].seeds
        yield versus, seed if seed in seeds else seeds[0]


def _spoken(out: Path, which: Run) -> Words:
    """A run's replies."""
    found: Words = {}
    for each in kept.words(kept.place(out, *which)):
        found.setdefault((each.benchmark, each.reply.protocol), []).append(each.reply)
    return found


def _paired(
    items: Sequence[Item], both: Sequence[list[Prediction] | None], protocol: str
) -> Iterator[tuple[str, Estimate]]:
    """Second minus first, of every metric that the table shows."""
    graded = [grade(items, some, protocol) for some in both if some is not None]
    if len(graded) < len(both) or any(each.items != graded[0].items for each in graded):
        return
    a, b = draw([panel(each.items, each.evidence) for each in graded])
    found = differences(a, b)
    for metric in leads(protocol):
        if found[metric].value is not None:
            yield metric, found[metric]


def markdown(opened: Opened, table: Table, done: Mapping[Run, kept.Scores]) -> Iterator[str]:
    """The table for people, line by line."""
    yield f"# {table.name}\n"
    if opened.ablation.note:
        yield f"{opened.ablation.note}\n"
    yield (
        "Values are fractions. One seed: the value and its 95 % interval over photos. Several: "
        "mean ± sample deviation over seeds. A dash: not measured.\n"
    )
    yield "| row | what it is | seeds | examples | steps | CPU s |\n|---|---|---|---|---|---|"
    for name, seeds in table.rows.items():
        first = done[name, seeds[0]].learnt
        cells = (first.examples, first.steps, first.cpu_seconds) if first else (None, None, None)
        told = " | ".join("-" if each is None else str(each) for each in cells)
        yield f"| {name} | {opened.ablation.rows[name].note} | {len(seeds)} | {told} |"
    for bench, protocols in table.values.items():
        items = next(m.benchmarks[bench].items for m in done.values() if bench in m.benchmarks)
        yield f"\n## {bench} ({items} photos)"
        for protocol, metrics in protocols.items():
            yield f"\n### {bench}: {protocol}\n"
            yield from _grid(["row", *metrics], [
                [name, *(_cell(cells[name]) for cells in metrics.values())] for name in table.rows
            ])  # fmt: skip
    yield "\n## Paired differences: row minus the row it is held against, with 95 % intervals"
    for bench in table.values:
        of = [each for each in table.differences if each.benchmark == bench]
        for protocol in dict.fromkeys(each.protocol for each in of):
            yield f"\n### {bench}: {protocol}\n"
            yield from _pairs([each for each in of if each.protocol == protocol])


def _pairs(found: Sequence[Difference]) -> Iterator[str]:
    metrics = list(dict.fromkeys(each.metric for each in found))
    rows: dict[tuple[str, str, int], dict[str, str]] = {}
    for each in found:
        told = f"{each.value:+.3f} [{each.low:+.3f}, {each.high:+.3f}]"
        rows.setdefault((each.row, each.versus, each.seed), {})[each.metric] = told
    yield from _grid(["row", "minus", "seed", *metrics], [
        [name, versus, str(seed), *(cells.get(metric, "-") for metric in metrics)]
        for (name, versus, seed), cells in rows.items()
    ])  # fmt: skip


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"


def _cell(cell: Over) -> str:
    if cell.mean is None:
        return "-"
    if cell.deviation is not None:
        return f"{cell.mean:.3f} ± {cell.deviation:.3f}"
    return f"{cell.mean:.3f} [{cell.low:.3f}, {cell.high:.3f}]"
