"""From the table of an ablation to what each part of its page shows: cells and plots, no HTML."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from fieldtruth.grading import grade, position
from fieldtruth.grading.few_groups import FEW_GROUPS
from fieldtruth.run.ablation import kept
from fieldtruth.run.ablation.markdown import notes
from fieldtruth.run.ablation.seeds import Change, Difference, Over, changes
from fieldtruth.run.ablation.settings import Opened
from fieldtruth.run.ablation.table import Held, Run, Table, leads, over
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
class Pair:
    """A row minus another. A cell has the change over the seeds and, of several, each alone."""

    name: str
    note: str
    cells: tuple[tuple[Change, tuple[tuple[str, Measured], ...]] | None, ...]


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
    changes: tuple[Pair, ...]
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
        "left": table.left,
        "notes": tuple(notes(table)),
        "lines": _lines(opened, table, here),
        "learnt": [_headed(name) for name in _learnt_names(here)],
        "columns": columns,
        "glance": [(block, _glance(table, block.name, columns)) for block in blocks],
        "changed": [(block, list(_pairs(table, block.name, columns))) for block in blocks],
        "blocks": blocks,
        "metrics": [metric for metric in METRICS if metric in metrics],
        "outcomes": OUTCOMES,
        "few": FEW,
        "few_groups": FEW_GROUPS,
        "made": tuple(_made(opened, here)),
    }  # fmt: skip


def called(run: Run, table: Table) -> str:
    """A run's name: the row's alone where it has one seed, and no more are to come."""
    row, seed = run
    return f"{row}, seed {seed}" if len(table.planned[row]) > 1 else row


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
    """The numbers that are kept of a training, by name; losses of a reward say nothing."""
    told = msgspec.to_builtins(made.learnt) if made.learnt is not None else {}
    silent = ("loss_first", "loss_last") if told.get("reward_first") is not None else ()
    return {
        name: each
        for name, each in told.items()
        if type(each) in (int, float) and name not in silent
    }


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


def _pairs(table: Table, bench: str, columns: Sequence[tuple[str, str]]) -> Iterator[Pair]:
    """The pairs of a benchmark in the order of the rows; a cell for each (protocol, metric)."""
    protocols = {protocol for protocol, _ in columns}
    of = [e for e in table.differences if e.benchmark == bench and e.protocol in protocols]
    singles: dict[tuple[str, ...], list[tuple[str, Measured]]] = {}
    for one in of:
        where = (one.row, one.versus, one.protocol, one.metric)
        singles.setdefault(where, []).append((f"seed {one.seed}", _measured(one)))
    found: dict[tuple[str, str], dict[tuple[str, str], Change]] = {}
    for each in changes(of, {row: len(seeds) for row, seeds in table.planned.items()}):
        found.setdefault((each.row, each.versus), {})[each.protocol, each.metric] = each
    for (row, versus), cells in found.items():
        made = []
        for column in columns:
            change, alone = cells.get(column), singles.get((row, versus, *column), [])
            shown = tuple(alone) if change and len(change.seeds) > 1 else ()
            made.append(None if change is None else (change, shown))
        if any(made):
            note = _beside(next(iter(cells.values())), table)
            yield Pair(name=f"{row} − {versus}", note=note, cells=tuple(made))


def _beside(change: Change, table: Table) -> str:
    """Which runs a row stands beside, where those are not its own seeds."""
    if len(table.planned[change.row]) > 1 and len(table.planned[change.versus]) == 1:
        return f"every seed beside the one run of {change.versus}"
    if len(table.planned[change.row]) < len(table.planned[change.versus]):
        seeds = ", ".join(map(str, change.beside))
        return f"beside seed {seeds} of {change.versus} alone"
    return ""


def _measured(each: Difference) -> Measured:
    return Measured(each.value, each.low, each.high, each.n, each.groups)


def _pair(each: Difference, table: Table) -> str:
    """A difference's name, with its seed; the only run of a row goes without."""
    row, versus = (len(table.planned[name]) for name in (each.row, each.versus))
    if row > 1 == versus:
        return f"{each.row}, seed {each.seed} − {each.versus}"
    return f"{each.row} − {each.versus}, seed {each.seed}"


def _block(opened: Opened, table: Table, here: Held, bench: str) -> Block:
    number = list(table.values).index(bench) + 1
    made = [
        _section(opened, table, here, (bench, protocol, f"benchmark-{number}-{place}"))
        for place, protocol in enumerate(table.values[bench], start=1)
    ]
    return Block(
        anchor=f"benchmark-{number}", name=bench,
        items=len(here.items[bench]),
        sections=tuple(each for each in made if "+" not in each.protocol),
        controls=tuple(each for each in made if "+" in each.protocol),
        probes=_probes(opened, table, here, bench),
    )  # fmt: skip


def _section(opened: Opened, table: Table, here: Held, place: tuple[str, str, str]) -> Section:
    bench, protocol, anchor = place
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
    of = [e for e in table.differences if (e.benchmark, e.protocol) == (bench, protocol)]
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
        others=tuple(_others(opened, table, here, (bench, protocol))),
        changes=tuple(_pairs(table, bench, [(protocol, metric) for metric in metrics])),
        pairs=tuple(
            plots.differences(metric, [
                (_pair(each, table), _measured(each)) for each in of if each.metric == metric
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
    opened: Opened, table: Table, here: Held, place: tuple[str, str]
) -> Iterator[tuple[str, Overs]]:
    """The metrics that do not lead, in the glossary's order."""
    bench, protocol = place
    parts = [made.benchmarks[bench] for made in here.done.values() if bench in made.benchmarks]
    known = {metric for part in parts for metric in part.metrics.get(protocol, {})}
    for metric in METRICS:
        if metric in known - set(leads(protocol)):
            where = (bench, protocol, metric)
            yield metric, tuple(over(opened, here.done, row, where) for row in table.rows)


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
        if here.digests[bench] is not None:
            yield f"Items of {bench}", here.digests[bench] or ""
    for each in here.elsewhere:
        yield f"Items of {each.benchmark} that {each.row}, seed {each.seed}, was asked", each.asked
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
