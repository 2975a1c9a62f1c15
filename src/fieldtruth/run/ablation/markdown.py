"""The table of an ablation for people, in Markdown, line by line."""

from collections.abc import Iterator, Mapping, Sequence

from fieldtruth.run.ablation import kept
from fieldtruth.run.ablation.seeds import Change, Difference, Over
from fieldtruth.run.ablation.settings import Opened
from fieldtruth.run.ablation.table import Run, Table

VALUES = (
    "Values are fractions. One seed: the value and its 95 % interval over photos. Several: mean ± "
    "sample deviation over seeds, which is no interval over photos; every seed with its own stands "
    "in report.html and in scores.json. An interval without width says that every draw gave the "
    "same, not that the value is certain. A dash: not measured, or not with every seed. CPU s "
    "are of the process that ended a training: fewer than it took where it was stopped before."
)
PAIRS = (
    "95 % intervals are over the same photos, resampled together. Each seed stands beside the same "
    "seed of the other row, or beside its only one. Means over seeds have the sample deviation of "
    "the seeds' differences; beside one run it is of one row's seeds alone. In bold: the interval "
    "of every seed lies on the same side of zero."
)


def markdown(opened: Opened, table: Table, done: Mapping[Run, kept.Scores]) -> Iterator[str]:
    """The whole table."""
    yield f"# {table.name}\n"
    if opened.ablation.note:
        yield f"{opened.ablation.note}\n"
    yield f"{VALUES}\n"
    if table.left:
        yield f"Not done yet: {'; '.join(table.left)}.\n"
    for told in notes(table):
        yield f"**{told}**\n"
    yield "| row | what it is | seeds | examples | steps | CPU s |\n|---|---|---|---|---|---|"
    for name, seeds in table.rows.items():
        planned = len(table.planned[name])
        count = str(planned) if len(seeds) == planned else f"{len(seeds)} of {planned}"
        told = " | ".join(_learnt([done[name, seed].learnt for seed in seeds]))
        yield f"| {name} | {opened.ablation.rows[name].note} | {count} | {told} |"
    for bench, protocols in table.values.items():
        items = next(m.benchmarks[bench].items for m in done.values() if bench in m.benchmarks)
        yield f"\n## {bench} ({items} photos)"
        for protocol, metrics in protocols.items():
            yield f"\n### {bench}: {protocol}\n"
            yield from _grid(["row", *metrics], [
                _row(name, [cells[name] for cells in metrics.values()]) for name in table.rows
            ])  # fmt: skip
    yield f"\n## Paired differences: row minus the row it is held against\n\n{PAIRS}"
    for bench in table.values:
        of = [each for each in table.differences if each.benchmark == bench]
        for protocol in dict.fromkeys(each.protocol for each in of):
            yield f"\n### {bench}: {protocol}\n"
            yield from _pairs(table, bench, protocol)


def notes(table: Table) -> Iterator[str]:
    """What a reader must know before any number: what is left out, and what is not of seeds alone.

    Of each benchmark, the runs that were asked about other items than are kept.
    """
    for bench in dict.fromkeys(each.benchmark for each in table.elsewhere):
        names = [f"{e.row}, seed {e.seed}" for e in table.elsewhere if e.benchmark == bench]
        yield (
            f"Asked about another version of {bench} than is kept here, so not in its tables until "
            f"they are asked again: {'; '.join(names)}."
        )
    for row, settings in table.unlike.items():
        yield (
            f"The runs of {row} differ in more than their seed ({', '.join(settings)}): what is "
            "told over them is no spread of seeds."
        )


def _learnt(runs: Sequence[kept.Learnt | None]) -> Iterator[str]:
    """Examples, steps and seconds: one number, or from which to which over the seeds."""
    known = [each for each in runs if each is not None]
    for values in (
        [each.examples for each in known], [each.steps for each in known],
        [each.cpu_seconds for each in known if each.cpu_seconds is not None],
    ):  # fmt: skip
        ends = sorted({min(values), max(values)}) if values else []
        yield " to ".join(map(str, ends)) or "-"


def _pairs(table: Table, bench: str, protocol: str) -> Iterator[str]:
    """Every seed of a pair, and under them their mean."""
    singles: dict[tuple[str, str], list[Difference]] = {}
    for each in table.differences:
        if (each.benchmark, each.protocol) == (bench, protocol):
            singles.setdefault((each.row, each.versus), []).append(each)
    means: dict[tuple[str, str], dict[str, Change]] = {}
    for change in table.changes:
        if (change.benchmark, change.protocol) == (bench, protocol):
            means.setdefault((change.row, change.versus), {})[change.metric] = change
    metrics = list(dict.fromkeys(each.metric for of in singles.values() for each in of))
    lines = []
    for pair, of in singles.items():
        seeds = {each.seed: each.versus_seed for each in of}
        for seed, other in seeds.items():
            cells = {each.metric: _difference(each) for each in of if each.seed == seed}
            which = str(seed) if seed == other else f"{seed} (beside {other})"
            lines.append([*pair, which, *(cells.get(metric, "-") for metric in metrics)])
        if len(seeds) > 1:
            first = next(iter(means[pair].values()))
            cells = {metric: _mean(change) for metric, change in means[pair].items()}
            which = f"mean of {first.over.count}{', beside one run' if first.beside_one else ''}"
            lines.append([*pair, which, *(cells.get(metric, "-") for metric in metrics)])
    yield from _grid(["row", "minus", "seed", *metrics], lines)


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"


def _row(name: str, cells: Sequence[Over]) -> list[str]:
    """A row's cells; how many of its seeds are done stands once, where it is the same for all."""
    counts = [each.count if 0 < each.seeds < each.planned else "" for each in cells]
    if len(set(counts)) == 1:
        return [name + (f" ({counts[0]})" if counts[0] else ""), *map(_cell, cells)]
    ends = [f" ({count})" if count else "" for count in counts]
    return [name, *(_cell(each) + end for each, end in zip(cells, ends, strict=True))]


def _cell(cell: Over) -> str:
    if cell.mean is None:
        return "-"
    if cell.deviation is not None:
        return f"{cell.mean:.3f} ± {cell.deviation:.3f}"
    return f"{cell.mean:.3f} {_interval(cell, '')}"


def _difference(each: Difference) -> str:
    return f"{each.value:+.3f} {_interval(each, '+')}"


def _mean(change: Change) -> str:
    over = change.over
    if over.mean is None:
        return "-"
    told = f"{over.mean:+.3f} ± {over.deviation:.3f}"
    return f"**{told}**" if change.told else told


def _interval(of: Over | Difference, sign: str) -> str:
    """In brackets, with what it stands on where that is little; `one group` is no interval."""
    if of.groups == 1:
        return "(one group)"
    few = "" if of.groups is None else f" ({of.groups} groups)"
    return f"[{of.low:{sign}.3f}, {of.high:{sign}.3f}]{few}"
