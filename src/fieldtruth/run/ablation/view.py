"""From the table of an ablation to what each part of its page shows: cells and plots, no HTML."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from fieldtruth.grading import grade, position
from fieldtruth.run.ablation import kept
from fieldtruth.run.ablation.settings import Opened, runs
from fieldtruth.run.ablation.table import (
    Difference,
    Held,
    Over,
    Run,
    Table,
    leads,
    over,
    over_seeds,
)
from fieldtruth.stages.report import plots
from fieldtruth.stages.report.glossary import METRICS, OUTCOMES, about
from fieldtruth.stages.report.numbers import Measured
from fieldtruth.stages.report.view import BESIDE, KINDS, Probe, probes

GLANCE = (  # protocol and metric: what is read first
    ("known_target", "f1"), ("known_target", "dense_f1"), ("candidates", "recognition"),
    ("candidates", "joint"), ("known_target", "abstention"), ("known_target", "false_abstention"),
    ("known_target+wrong_target", "wrong_target_abstention"),
)  # fmt: skip
FEW = 20  # photos under which a cell is greyed
SHORT = 12  # digits of a hash that are shown

Overs = tuple[Over, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row: what it is, how many of its seeds are done, and how it was trained."""

    name: str
    note: str
    seeds: tuple[int, ...]
    planned: int
    versus: tuple[str, ...]
    learnt: tuple[str, ...]
    alarms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A row minus another: over the seeds; `told` where every interval lies on one side of zero."""

    pair: str
    cells: tuple[tuple[Over, bool] | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One protocol of one benchmark. Cells run parallel to `metrics`."""

    anchor: str
    protocol: str
    about: str
    metrics: tuple[str, ...]
    rows: tuple[tuple[str, Overs], ...]
    single: tuple[tuple[str, tuple[Measured, ...]], ...]  # every run alone; none if one seed each
    forests: tuple[plots.Forest, ...]
    others: tuple[tuple[str, Overs], ...]
    changes: tuple[Change, ...]
    pairs: tuple[plots.Forest, ...]
    kinds: tuple[str, ...]
    outcomes: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One benchmark: plain protocols first, then the controls."""

    anchor: str
    name: str
    items: int
    sections: tuple[Section, ...]
    controls: tuple[Section, ...]
    probes: tuple[Probe, ...]


def context(opened: Opened, table: Table, here: Held) -> dict[str, Any]:
    """Everything the page's template is given."""
    planned = runs(opened.ablation)
    blocks = tuple(_block(opened, table, here, bench) for bench in table.values)
    columns = [
        (protocol, metric)
        for protocol, metric in GLANCE
        if any(metric in table.values[bench].get(protocol, {}) for bench in table.values)
    ]
    metrics = {
        metric for block in blocks for each in (*block.sections, *block.controls)
        for metric in (*each.metrics, *(name for name, _ in each.others))
    }  # fmt: skip
    return {
        "name": table.name,
        "note": opened.ablation.note,
        "done": len(here.done),
        "left": [f"{name}, seed {seed}" for name, _, seed in planned
                 if (name, seed) not in here.done],
        "lines": _lines(opened, table, here),
        "learnt": [_headed(name) for name in _learnt_names(here)],
        "columns": columns,
        "glance": [(block, _glance(table, block.name, columns)) for block in blocks],
        "changed": [(block, _changed(table, block.name, columns)) for block in blocks],
        "blocks": blocks,
        "metrics": [metric for metric in METRICS if metric in metrics],
        "outcomes": OUTCOMES,
        "few": FEW,
        "made": tuple(_made(opened, here)),
    }  # fmt: skip


def called(run: Run, table: Table) -> str:
    """A run's name: the row's alone where it has one seed."""
    row, seed = run
    return f"{row}, seed {seed}" if len(table.rows[row]) > 1 else row


def _lines(opened: Opened, table: Table, here: Held) -> list[Line]:
    made = []
    for name, seeds in table.rows.items():
        row = opened.ablation.rows[name]
        made.append(
            Line(
                name=name, note=row.note, seeds=seeds, planned=len(row.seeds), versus=row.versus,
                learnt=tuple(_spread([_learnt(here.done[name, seed]).get(each) for seed in seeds])
                             for each in _learnt_names(here)),
                alarms=tuple(dict.fromkeys(told for seed in seeds
                                           for told in _alarms(here.done[name, seed]))),
            )
        )  # fmt: skip
    return made


def _learnt(made: kept.Scores) -> dict[str, float]:
    """The numbers that are kept of a training, by name."""
    told = msgspec.to_builtins(made.learnt) if made.learnt is not None else {}
    return {name: each for name, each in told.items() if type(each) in (int, float)}


def _alarms(made: kept.Scores) -> tuple[str, ...]:
    """What a training warned of."""
    return made.learnt.alarms if made.learnt is not None else ()


def _learnt_names(here: Held) -> list[str]:
    return list(dict.fromkeys(name for made in here.done.values() for name in _learnt(made)))


def _headed(name: str) -> str:
    """A field as the head of a column.

    >>> _headed("cpu_seconds"), _headed("loss_first")
    ('CPU seconds', 'Loss first')
    """
    words = name.replace("_", " ").replace("cpu", "CPU")
    return words[:1].upper() + words[1:]


def _spread(values: Sequence[float | None]) -> str:
    """One number, or from which to which.

    >>> _spread([1200, 1300]), _spread([0.5]), _spread([None])
    ('1,200 to 1,300', '0.500', '–')
    """
    known = sorted({each for each in values if each is not None})
    if not known:
        return "–"
    ends = [f"{each:,}" if isinstance(each, int) else f"{each:.3f}" for each in known]
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]} to {ends[-1]}"


def _glance(
    table: Table, bench: str, columns: Sequence[tuple[str, str]]
) -> list[tuple[str, tuple[Over | None, ...]]]:
    values = table.values[bench]
    return [
        (row, tuple(values.get(p, {}).get(m, {}).get(row) for p, m in columns))
        for row in table.rows
    ]


def _changed(table: Table, bench: str, columns: Sequence[tuple[str, str]]) -> list[Change]:
    of = [each for each in table.differences if each.benchmark == bench]
    return _changes(of, columns)


def _changes(differences: Sequence[Difference], columns: Sequence[tuple[str, str]]) -> list[Change]:
    """Pairs in the order met; a cell for each (protocol, metric)."""
    pairs: dict[str, dict[tuple[str, str], list[Difference]]] = {}
    for each in differences:
        of = pairs.setdefault(_pair(each), {})
        of.setdefault((each.protocol, each.metric), []).append(each)
    return [
        Change(pair=pair, cells=tuple(_change(of.get(where)) for where in columns))
        for pair, of in pairs.items()
        if any(where in of for where in columns)
    ]


def _change(found: Sequence[Difference] | None) -> tuple[Over, bool] | None:
    if not found:
        return None
    over_all = over_seeds([msgspec.to_builtins(each) for each in found])
    above = all(each.low is not None and each.low > 0 for each in found)
    below = all(each.high is not None and each.high < 0 for each in found)
    return over_all, above or below


def _pair(each: Difference) -> str:
    return f"{each.row} − {each.versus}"


def _block(opened: Opened, table: Table, here: Held, bench: str) -> Block:
    number = list(table.values).index(bench) + 1
    made = [
        _section(table, here, (bench, protocol), f"benchmark-{number}-{place}")
        for place, protocol in enumerate(table.values[bench], start=1)
    ]
    return Block(
        anchor=f"benchmark-{number}", name=bench,
        items=next(m.benchmarks[bench].items for m in here.done.values() if bench in m.benchmarks),
        sections=tuple(each for each in made if "+" not in each.protocol),
        controls=tuple(each for each in made if "+" in each.protocol),
        probes=_probes(opened, table, here, bench),
    )  # fmt: skip


def _section(table: Table, here: Held, where: tuple[str, str], anchor: str) -> Section:
    bench, protocol = where
    asked = {
        run: made.benchmarks[bench]
        for run, made in here.done.items()
        if bench in made.benchmarks and protocol in made.benchmarks[bench].metrics
    }
    metrics = tuple(table.values[bench][protocol])
    single = tuple(
        (called(run, table), tuple(Measured.of(part.metrics[protocol].get(m)) for m in metrics))
        for run, part in _by_row(asked, table)
    )
    of = [e for e in table.differences if (e.benchmark, e.protocol) == where]
    of.sort(key=lambda each: list(table.rows).index(each.row))
    kinds = _kinds([part.outcomes.get(protocol, {}) for part in asked.values()])
    return Section(
        anchor=anchor, protocol=protocol, about=about(protocol), metrics=metrics,
        rows=tuple(
            (row, tuple(table.values[bench][protocol][m][row] for m in metrics))
            for row in table.rows
        ),
        single=single if any(len(seeds) > 1 for seeds in table.rows.values()) else (),
        forests=tuple(
            plots.values(metric, [(name, cells[at]) for name, cells in single])
            for at, metric in enumerate(metrics)
        ),
        others=tuple(_others(table, here, where, asked.values())),
        changes=tuple(_changes(of, [(protocol, metric) for metric in metrics])),
        pairs=tuple(
            plots.differences(metric, [
                (f"{_pair(e)}, seed {e.seed}", Measured(e.value, e.low, e.high, e.n))
                for e in of if e.metric == metric
            ])
            for metric in metrics if any(e.metric == metric for e in of)
        ),
        kinds=kinds,
        outcomes=tuple(
            (called(run, table), tuple(part.outcomes.get(protocol, {}).get(k, 0) for k in kinds))
            for run, part in _by_row(asked, table)
        ),
    )  # fmt: skip


def _by_row(asked: Mapping[Run, kept.Part], table: Table) -> Iterator[tuple[Run, kept.Part]]:
    """The seeds of a row under one another, rows in the table's order."""
    for row, seeds in table.rows.items():
        yield from (((row, seed), asked[row, seed]) for seed in seeds if (row, seed) in asked)


def _others(
    table: Table, here: Held, place: tuple[str, str], parts: Iterable[kept.Part]
) -> Iterator[tuple[str, Overs]]:
    """The metrics that do not lead, in the glossary's order."""
    bench, protocol = place
    known = {metric for part in parts for metric in part.metrics[protocol]}
    for metric in METRICS:
        if metric in known - set(leads(protocol)):
            yield (
                metric,
                tuple(over(here.done, row, (bench, protocol, metric)) for row in table.rows),
            )


def _kinds(counts: Sequence[Mapping[str, int]]) -> tuple[str, ...]:
    met = {name for each in counts for name in each}
    known = [name for name in (*KINDS, *BESIDE) if name in met]
    return (*known, *sorted(met - set(known)))


def _probes(opened: Opened, table: Table, here: Held, bench: str) -> tuple[Probe, ...]:
    """Each run's list in its several orders."""
    orders = [p for p in opened.ablation.benchmarks[bench].protocols if _reorders(p)]
    bases = {each.partition("+")[0] for each in orders}
    found = {}
    for run, words in here.words.items():
        graded = [
            grade(here.items[bench], words[bench, protocol], protocol)
            for protocol in (*sorted(bases), *orders)
            if (bench, protocol) in words and here.asked(run, bench)
        ]
        name = called(run, table)
        found[name] = next(iter(position(graded).values()), {}) if graded else {}
    return tuple(probes({"position": found}))


def _reorders(protocol: str) -> bool:
    return protocol.partition("+")[2].startswith("rotate")


def _made(opened: Opened, here: Held) -> Iterator[tuple[str, str]]:
    """What the numbers stand on."""
    for bench in opened.ablation.benchmarks:
        digests = {m.benchmarks[bench].digest for m in here.done.values() if bench in m.benchmarks}
        for digest in sorted(digests):
            yield f"Items of {bench}", digest
    for (row, seed), made in here.done.items():
        yield f"{row}, seed {seed}", "; ".join([f"key {made.key}", *_lineage(made.told)])


def _lineage(told: Mapping[str, Any]) -> Iterator[str]:
    """From which base on, with which examples and settings; what came last stands last."""
    if "after" in told:
        yield from _lineage(told["after"])
        yield f"then, on its {told['after']['which']} weights"
    if told.get("base_weights"):
        yield f"base weights {told['base_weights']}"
    yield from (f"examples {str(each)[:SHORT]}" for each in told.get("train", ()))
    for name, each in sorted({**told.get("sft", {}), **told.get("grpo", {})}.items()):
        if name != "seed" and isinstance(each, int | float | str):
            yield f"{name} {each}"
        elif name != "seed" and isinstance(each, Mapping):
            yield from (f"{name}.{key} {value}" for key, value in sorted(each.items()))
