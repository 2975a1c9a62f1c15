"""All rows that are done, side by side: values over seeds, paired differences, every control.

Made from what is kept alone: no photo, no weights, no training.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from fieldtruth.faults import BadRecord, Usage
from fieldtruth.grading import Estimate, differences, draw, few_groups, grade, open_protocol, panel
from fieldtruth.grading.bootstrap import Drawn
from fieldtruth.records import SCHEMA, Item, Prediction, Record
from fieldtruth.run.ablation import kept
from fieldtruth.run.ablation.seeds import NOTHING, Change, Difference, Over, changes, over_seeds
from fieldtruth.run.ablation.settings import Opened, Row, runs

Run = tuple[str, int]  # a row with a seed
Ids = tuple[str, ...]  # of items
Where = tuple[str, str, str]  # benchmark, protocol, metric
Words = dict[tuple[str, str], list[Prediction]]  # by benchmark and protocol
BESIDE = {  # what a headline leaves out
    "known_target": ("recall", "dense_f1", "lesion_f1", "object_f1"),
    "candidates": ("f1", "false_abstention"),
}


class Elsewhere(Record, frozen=True, kw_only=True):
    """A run that was asked about other items of a benchmark than are kept; digests of both.

    Nothing of it stands in the table, there: it would be a value of other photos.
    """

    row: str
    seed: int
    benchmark: str
    asked: str
    kept: str


class Table(Record, frozen=True, kw_only=True):
    """benchmark -> protocol -> metric -> row -> value over seeds; and the differences.

    `rows` and `planned`: row -> the seeds that are done, and those of the recipe. `differences` are
    of single seeds, `changes` of rows that are to have several. `unlike`: row -> settings in which
    its runs differ beside the seed, so that their deviation is not one of seeds.
    """

    schema: int = SCHEMA
    name: str
    rows: Mapping[str, tuple[int, ...]]
    planned: Mapping[str, tuple[int, ...]]
    values: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Over]]]]
    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]
    elsewhere: tuple[Elsewhere, ...]
    unlike: Mapping[str, tuple[str, ...]]

    @property
    def left(self) -> list[str]:
        """What is not done yet, in words."""
        return [
            f"{row}, seed {seed}"
            for row, seeds in self.planned.items()
            for seed in seeds
            if seed not in self.rows.get(row, ())
        ]


def leads(protocol: str) -> tuple[str, ...]:
    """The metrics that the table shows of a protocol."""
    return tuple(dict.fromkeys((*open_protocol(protocol).headline, *BESIDE.get(protocol, ()))))


@dataclass(frozen=True, slots=True)
class Held:
    """What is kept of an ablation, read once: runs in the recipe's order, items by benchmark.

    Of a run that was asked about other items than are kept, `done` lacks that benchmark.
    """

    done: Mapping[Run, kept.Scores]
    items: Mapping[str, Sequence[Item]]
    digests: Mapping[str, str | None]
    words: Mapping[Run, Words]
    elsewhere: Sequence[Elsewhere]

    def asked(self, run: Run, bench: str) -> bool:
        """Whether a run was asked about the items of a benchmark that are kept."""
        return bench in self.done[run].benchmarks


def held(opened: Opened) -> Held:
    """Read what is kept; `Usage` where no row is done, `BadRecord` for what is broken."""
    done = _done(opened)
    if not done:
        raise Usage(f"{opened.out}: expected at least one row that is done, got none")
    benches = opened.ablation.benchmarks
    digests = {bench: kept.digest(opened.out, bench) for bench in benches}
    return Held(
        {run: _here(made, digests) for run, made in done.items()},
        {bench: kept.items(opened.out, bench) for bench in benches},
        digests,
        {run: _spoken(opened.out, run) for run in done},
        tuple(_elsewhere(opened.out, done, digests)),
    )


def _here(made: kept.Scores, digests: Mapping[str, str | None]) -> kept.Scores:
    parts = made.benchmarks.items()
    some = {bench: part for bench, part in parts if part.digest == digests.get(bench)}
    return msgspec.structs.replace(made, benchmarks=some)


def _elsewhere(
    out: Path, done: Mapping[Run, kept.Scores], digests: Mapping[str, str | None]
) -> Iterator[Elsewhere]:
    for (row, seed), made in done.items():
        for bench, part in made.benchmarks.items():
            now = digests.get(bench, part.digest)  # a benchmark that the recipe has no more
            if now is None:
                raise BadRecord(
                    f"{out / kept.BENCHMARKS}: expected the items of {bench}, which {row} was "
                    "asked about, got none; without `--most 0` they are kept anew"
                )
            if now != part.digest:
                yield Elsewhere(row=row, seed=seed, benchmark=bench, asked=part.digest, kept=now)


def tabulate(opened: Opened, here: Held) -> Table:
    """The table of all rows that are kept."""
    rows = opened.ablation.rows
    seeds = {name: tuple(s for n, s in here.done if n == name) for name in rows}
    order = [(name, versus) for name, row in rows.items() for versus in row.versus]
    found = sorted(_differences(opened, here), key=lambda e: order.index((e.row, e.versus)))
    several = changes(found, {name: len(row.seeds) for name, row in rows.items()})
    unlike = {name: _unlike([here.done[name, seed].told for seed in seeds[name]]) for name in rows}
    return Table(
        name=opened.ablation.name,
        rows={name: some for name, some in seeds.items() if some},
        planned={name: row.seeds for name, row in rows.items()},
        values=_values(opened, here.done),
        differences=tuple(found),
        changes=tuple(each for each in several if each.over.planned > 1),
        elsewhere=tuple(here.elsewhere),
        unlike={name: some for name, some in unlike.items() if some},
    )


def _unlike(told: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The settings in which runs of one row differ: as when a recipe was changed between them."""
    made = [dict(_settings(each)) for each in told]
    names = sorted({name for each in made for name in each})
    return tuple(
        name for name in names if any(each.get(name) != made[0].get(name) for each in made)
    )


def _settings(told: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """What a run was made with, its seed aside; benchmarks are told by `Elsewhere`."""
    for name, each in told.items():
        if name == "seed" or (name == "benchmarks" and not within):
            continue
        if isinstance(each, Mapping):
            yield from _settings(each, f"{within}{name}.")
        else:
            yield within + name, each


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
                cells = {row: over(opened, done, row, where) for row in opened.ablation.rows}
                if any(each.mean is not None for each in cells.values()):
                    values.setdefault(bench, {}).setdefault(protocol, {})[metric] = cells
    return values


def over(opened: Opened, done: Mapping[Run, kept.Scores], row: str, where: Where) -> Over:
    """A row's value over those of its seeds that were asked so."""
    bench, protocol, metric = where
    planned = len(opened.ablation.rows[row].seeds)
    parts = [made.benchmarks.get(bench) for (name, _), made in done.items() if name == row]
    asked = [each.metrics[protocol] for each in parts if each and protocol in each.metrics]
    return over_seeds([each.get(metric, NOTHING) for each in asked], planned)


def _differences(opened: Opened, here: Held) -> Iterator[Difference]:
    """Of every run that is done, by benchmark and protocol."""
    for bench, asked in opened.ablation.benchmarks.items():
        for protocol in asked.protocols:
            drawn = dict(_drawn(here, bench, protocol))
            for name, row, seed in runs(opened.ablation):
                for against in _against(opened, row, seed):
                    two = (drawn.get(against), drawn.get((name, seed)))
                    for metric, each in _of_two(*two, leads(protocol)):
                        yield Difference(
                            benchmark=bench, protocol=protocol, metric=metric, row=name,
                            versus=against[0], seed=seed, versus_seed=against[1],
                            value=each.value, low=each.low, high=each.high, n=each.n,
                            groups=few_groups.told(each.groups).get("groups"),
                        )  # fmt: skip


def _drawn(here: Held, bench: str, protocol: str) -> Iterator[tuple[Run, tuple[Ids, Drawn]]]:
    """Every run's draws, each worked out once: over the same items they are the same draws."""
    for run, words in here.words.items():
        said = words.get((bench, protocol))
        if said is not None and here.asked(run, bench):
            graded = grade(here.items[bench], said, protocol)
            made = panel(graded.items, graded.evidence)
            yield run, (made.ids, draw([made])[0])


def _of_two(
    a: tuple[Ids, Drawn] | None, b: tuple[Ids, Drawn] | None, metrics: Sequence[str]
) -> Iterator[tuple[str, Estimate]]:
    """Second minus first, of every metric that the table shows."""
    if a is None or b is None or a[0] != b[0]:
        return
    found = differences(a[1], b[1])
    for metric in metrics:
        if found[metric].value is not None:
            yield metric, found[metric]


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
