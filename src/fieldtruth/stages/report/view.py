"""From a score result to what each section of the page shows: rows, plots and counts, no HTML."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fieldtruth import controls, protocols
from fieldtruth.grading import Graded, open_protocol
from fieldtruth.rooms import names
from fieldtruth.stages.report import plots
from fieldtruth.stages.report.cards import Gallery
from fieldtruth.stages.report.glossary import METRICS, about
from fieldtruth.stages.report.numbers import Measured
from fieldtruth.stages.report.sentence import left_out, ranking, sentence
from fieldtruth.taxonomy import label_id

KINDS = ("boxes", "letter", "text", "empty", "prose", "unreadable", "error")
BESIDE = ("truncated", "missing", "duplicate", "extra")
FALLBACK = ("f1", "region_iou", "recognition", "joint", "abstention")
FEW_PAIRS = 6  # more are folded away

Cells = tuple[Measured, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """One way to cut the items, and the leading metrics of each part, models under one another."""

    title: str
    parts: tuple[tuple[str, tuple[tuple[str, Cells], ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Of the listed names given to diseased photos, the share at each place; and of the truths."""

    model: str
    n: int
    answered: tuple[float, ...]
    true: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """All of one protocol. Rows of cells run parallel to `headline`, or to `models`."""

    anchor: str
    protocol: str
    about: str
    sentence: str
    left_out: tuple[tuple[str, int, int], ...]
    models: tuple[str, ...]
    headline: tuple[str, ...]
    rows: tuple[tuple[str, Cells], ...]
    forests: tuple[plots.Forest, ...]
    others: tuple[tuple[str, Cells], ...]
    undefined: tuple[tuple[str, str, int], ...]
    paired: tuple[plots.Forest, ...]
    paired_others: tuple[tuple[str, str, Measured], ...]
    unpaired: int
    few_pairs: bool
    outcome_names: tuple[str, ...]
    outcomes: tuple[tuple[str, tuple[int, ...]], ...]
    stacks: tuple[tuple[str, tuple[plots.Share, ...]], ...]
    stack_names: tuple[str, ...]
    positions: tuple[Positions, ...]
    strata: tuple[Stratum, ...]
    walls: tuple[tuple[str, list[Gallery]], ...]
    best: str  # the model whose photos lie open


def protocols_of(scores: Mapping[str, Any]) -> list[str]:
    """The protocols that any model answered, in the order met."""
    return list(dict.fromkeys(name for each in scores["models"].values() for name in each))


def metrics_of(scores: Mapping[str, Any]) -> list[str]:
    """Every metric that any model has under any protocol, in the glossary's order."""
    cells = [cell for each in scores["models"].values() for cell in each.values()]
    return sorted({metric for cell in cells for metric in cell["metrics"]}, key=_place)


def headline(protocol: str) -> tuple[str, ...]:
    """The metrics that the tables of a protocol, or of its control, lead with."""
    name, _, control = protocol.partition("+")
    if name not in names(protocols) or (control and control not in names(controls)):
        return FALLBACK
    return open_protocol(protocol).headline


def section(
    scores: Mapping[str, Any],
    protocol: str,
    graded: Sequence[Graded],
    walls: Sequence[tuple[str, list[Gallery]]],
) -> Section:
    """One protocol's tables and plots. `graded` are this protocol's."""
    cells = {m: each[protocol] for m, each in scores["models"].items() if protocol in each}
    measured = [metric for cell in cells.values() for metric in cell["metrics"]]
    ordered = sorted(dict.fromkeys(measured), key=_place)
    lead = tuple(metric for metric in headline(protocol) if metric in ordered)
    pairs = [row for row in scores["paired"] if row["protocol"] == protocol]
    counted = _counted(cells)
    return Section(
        anchor=f"protocol-{protocols_of(scores).index(protocol) + 1}",
        protocol=protocol,
        about=about(protocol),
        sentence=sentence(scores, protocol, lead),
        left_out=tuple(left_out(scores, protocol)),
        models=tuple(cells),
        headline=lead,
        rows=tuple((model, _cells(cell["metrics"], lead)) for model, cell in cells.items()),
        forests=tuple(plots.values(metric, _column(cells, metric)) for metric in lead),
        others=tuple(
            (metric, tuple(got for _, got in _column(cells, metric)))
            for metric in ordered
            if metric not in lead
        ),
        undefined=tuple(_undefined(cells)),
        paired=tuple(plot for metric in lead if (plot := _pairs(pairs, metric)).marks),
        paired_others=tuple(
            (row["metric"], _pair(row), Measured.difference(row))
            for row in sorted(pairs, key=lambda row: _place(row["metric"]))
            if row["metric"] not in lead and row["difference"] is not None
        ),
        unpaired=sum(row["metric"] not in lead and row["difference"] is None for row in pairs),
        few_pairs=len({(row["a"], row["b"]) for row in pairs}) <= FEW_PAIRS,
        outcome_names=counted,
        outcomes=tuple(
            (model, tuple(cell["outcomes"].get(name, 0) for name in counted))
            for model, cell in cells.items()
        ),
        stacks=tuple((model, _stack(cell["outcomes"])) for model, cell in cells.items()),
        stack_names=(*_kinds(cells), "missing"),
        positions=tuple(found for each in graded if (found := positions(each)) is not None),
        strata=tuple(_strata(cells, lead)),
        walls=tuple(walls),
        best=next(iter([*ranking(scores, protocol, lead)[1], *cells])),
    )


def positions(graded: Graded) -> Positions | None:
    """Where on the list the answers stand; None where no list was shown, or it was reordered."""
    if "+" in graded.protocol:
        return None
    answered, true = [0] * 4, [0] * 4
    for index, item in enumerate(graded.items):
        if item.candidates is None or not item.positive or not graded.evidence.listed[index]:
            continue
        listed = [label_id(name) for name in item.candidates]
        places = {name: place for place, name in enumerate(listed)}
        said = places.get(graded.answers[index] or "")
        truth = places.get(label_id(item.label or ""))
        if said is not None:
            answered[said] += 1
        if truth is not None:
            true[truth] += 1
    if not sum(true) and not sum(answered):
        return None
    return Positions(
        model=graded.model,
        n=sum(answered),
        answered=_shares(answered),
        true=_shares(true),
        counts=tuple(answered),
    )


@dataclass(frozen=True, slots=True)
class Probe:
    """One model's list in several orders. The cells run over the four places; see the glossary."""

    model: str
    protocol: str
    orders: int
    items: int
    answers: Cells  # share of the listed answers at each place
    accuracy: Cells  # share answered rightly where the truth stands at each place
    same: Measured  # share of photos with one listed answer in every order


def probes(scores: Mapping[str, Any]) -> list[Probe]:
    """The position probes of a result, model by model."""
    return [
        Probe(
            model=model,
            protocol=protocol,
            orders=len(found["orders"]),
            items=found["items"],
            answers=tuple(
                Measured.of({"value": share, "n": found["answers"]["n"]})
                for share in found["answers"]["shares"]
            ),
            accuracy=tuple(map(Measured.of, found["accuracy"])),
            same=Measured.of(found["same_answer"]),
        )
        for model, bases in scores.get("position", {}).items()
        for protocol, found in bases.items()
    ]


def side_by_side(
    scores: Mapping[str, Any], naive: Mapping[str, Any]
) -> list[tuple[str, tuple[str, ...], list[tuple[str, Cells, Cells]]]]:
    """Per protocol: its leading metrics, and each model's cells here and as scored naively."""
    tables = []
    for protocol in protocols_of(scores):
        rows = []
        lead = headline(protocol)
        for model, each in scores["models"].items():
            other = naive["models"].get(model, {}).get(protocol)
            if protocol in each and other is not None:
                rows.append(
                    (model, _cells(each[protocol]["metrics"], lead), _cells(other["metrics"], lead))
                )
        if rows:
            tables.append((protocol, lead, rows))
    return tables


def _place(metric: str) -> tuple[int, str]:
    """Known metrics in the glossary's order, new ones behind them."""
    known = list(METRICS)
    return (known.index(metric) if metric in METRICS else len(known), metric)


def _cells(metrics: Mapping[str, Any], wanted: Sequence[str]) -> Cells:
    return tuple(Measured.of(metrics.get(metric)) for metric in wanted)


def _column(cells: Mapping[str, Any], metric: str) -> list[tuple[str, Measured]]:
    return [(model, Measured.of(cell["metrics"].get(metric))) for model, cell in cells.items()]


def _pair(row: Mapping[str, Any]) -> str:
    return f"{row['b']} − {row['a']}"


def _pairs(pairs: Sequence[Mapping[str, Any]], metric: str) -> plots.Forest:
    rows = [(_pair(row), Measured.difference(row)) for row in pairs if row["metric"] == metric]
    return plots.differences(metric, rows)


def _kinds(cells: Mapping[str, Any]) -> tuple[str, ...]:
    """The outcomes a reply can have here: those of boxes, or of a protocol without any."""
    met = {name for cell in cells.values() for name in cell["outcomes"]}
    if met & {"letter", "text"}:
        return tuple(name for name in KINDS if name in met)
    return tuple(name for name in KINDS if name not in ("letter", "text"))


def _counted(cells: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns of the outcome table: those of the contract, then whatever else was counted."""
    met = dict.fromkeys(name for cell in cells.values() for name in cell["outcomes"])
    known = (*_kinds(cells), *BESIDE)
    return (*known, *(name for name in met if name not in known))


def _stack(outcomes: Mapping[str, int]) -> tuple[plots.Share, ...]:
    return plots.stacked([(name, outcomes.get(name, 0)) for name in (*KINDS, "missing")])


def _undefined(cells: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """(model, metric, draws) where resamples had nothing to measure and were left out."""
    for model, cell in cells.items():
        for metric, got in cell["metrics"].items():
            if got.get("undefined_draws"):
                yield model, metric, got["undefined_draws"]


def _strata(cells: Mapping[str, Any], lead: Sequence[str]) -> Iterator[Stratum]:
    axes = dict.fromkeys(axis for cell in cells.values() for axis in cell.get("strata", {}))
    for axis in axes:
        parts = dict.fromkeys(
            part for cell in cells.values() for part in cell.get("strata", {}).get(axis, {})
        )
        if len(parts) < 2:  # one part is the whole again
            continue
        yield Stratum(
            title=axis,
            parts=tuple(
                (
                    part,
                    tuple(
                        (model, _cells(cell["strata"][axis][part], lead))
                        for model, cell in cells.items()
                        if part in cell.get("strata", {}).get(axis, {})
                    ),
                )
                for part in parts
            ),
        )


def _shares(counts: Sequence[int]) -> tuple[float, ...]:
    total = sum(counts)
    return tuple(count / total if total else 0.0 for count in counts)
