"""The one plain sentence a result comes down to, with its interval.

It compares the two best models of a protocol on its leading metric, by their paired difference:
the first of `LEADING` among the protocol's headline metrics.
A difference is claimed only where the whole interval lies on one side of zero. Models with
failed or missing calls are ranked only where fewer than two models answered everything: what a
model gets on the half it lived through is not what it gets.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fieldtruth.stages.report.glossary import term
from fieldtruth.stages.report.numbers import Measured, digits, signed

LEADING = ("joint", "f1", "region_iou", "recognition", "abstention", "accuracy", "harmonic")


def sentence(scores: Mapping[str, Any], protocol: str, headline: Sequence[str]) -> str:
    """What can be said of this protocol's best two models, or why nothing can.

    `scores` is the score contract's dict (design, section 5).
    """
    metric, ranked = ranking(scores, protocol, headline)
    if metric is None:
        return f"Nothing could be measured under {protocol}."
    if len(ranked) == 1:
        return _alone(
            ranked[0],
            Measured.of(scores["models"][ranked[0]][protocol]["metrics"][metric]),
            metric,
            protocol,
        )
    first, second = ranked[:2]
    for row in scores["paired"]:
        if (row["protocol"], row["metric"]) == (protocol, metric) and {row["a"], row["b"]} == {
            first,
            second,
        }:
            return _compared(row) if _judges(protocol, metric) else _apart(row)
    return f"{first} and {second} were not compared under {protocol}: no item was measured in both."


def ranking(
    scores: Mapping[str, Any], protocol: str, headline: Sequence[str]
) -> tuple[str | None, list[str]]:
    """The metric that leads, and the models that can be ranked by it, best first."""
    cells = {
        model: protocols[protocol]
        for model, protocols in scores["models"].items()
        if protocol in protocols
    }
    metric = _leading(cells, headline)
    return metric, [] if metric is None else _ranked(cells, metric)


def left_out(scores: Mapping[str, Any], protocol: str) -> list[tuple[str, int, int]]:
    """Models with failed or missing calls: (model, how many, of how many items)."""
    found = []
    for model, protocols in scores["models"].items():
        outcomes = protocols.get(protocol, {}).get("outcomes", {})
        lost = _lost(outcomes)
        if lost:
            answered = ("boxes", "empty", "prose", "unreadable", "letter", "text")
            asked = lost + sum(outcomes.get(name, 0) for name in answered)
            found.append((model, lost, asked))
    return found


def _lost(outcomes: Mapping[str, int]) -> int:
    return outcomes.get("error", 0) + outcomes.get("missing", 0)


def _leading(cells: Mapping[str, Any], headline: Sequence[str]) -> str | None:
    asked = [metric for metric in headline if term(metric).better != "neither"]
    first = [metric for metric in LEADING if metric in asked]
    for metric in dict.fromkeys((*first, *asked, *LEADING)):
        if any(cell["metrics"].get(metric, {}).get("value") is not None for cell in cells.values()):
            return metric
    return None


def _ranked(cells: Mapping[str, Any], metric: str) -> list[str]:
    """Models with a value, best first; ties in the order given."""
    value = {
        model: cell["metrics"][metric]["value"]
        for model, cell in cells.items()
        if cell["metrics"].get(metric, {}).get("value") is not None
    }
    whole = [model for model in value if not _lost(cells[model].get("outcomes", {}))]
    pool = whole if len(whole) >= 2 else list(value)
    return sorted(pool, key=lambda model: value[model], reverse=term(metric).better != "less")


def _alone(model: str, got: Measured, metric: str, protocol: str) -> str:
    return (
        f"{model} alone was measured under {protocol}: {_inline(metric)} {digits(got.value)} "
        f"{_behind(got)}. With one model there is nothing to compare."
    )


def _judges(protocol: str, metric: str) -> bool:
    """Whether more is better: under a control only where it says what the right answer is."""
    return "+" not in protocol or metric == "wrong_target_abstention"


def _apart(row: Mapping[str, Any]) -> str:
    """The sentence of one paired row that speaks of no better and no worse."""
    got = Measured.difference(row)
    return (
        f"Under {row['protocol']} the {_inline(row['metric'])} of {row['b']} is apart from that of "
        f"{row['a']} by {signed(got.value)} {_behind(got)}; under a "
        "control more is not better."
    )


def _compared(row: Mapping[str, Any]) -> str:
    """The sentence of one paired row, turned so that the better model is named first."""
    a, b, metric, protocol = row["a"], row["b"], row["metric"], row["protocol"]
    title, low, high, n = _inline(metric), row["low"], row["high"], row["n"]
    if row["difference"] is None:
        return f"{a} and {b} cannot be compared under {protocol}: there is nothing to measure."
    first_is_b = (row["difference"] > 0) != (term(metric).better == "less")
    sign = 1 if first_is_b else -1
    first, second = (b, a) if first_is_b else (a, b)
    gain = signed(sign * row["difference"])
    got = Measured.difference(row)
    if got.groups == 1:
        return (
            f"No difference can be told between {first} and {second} under {protocol}: {title} "
            f"{gain}, n={n}, and all of them are of one group."
        )
    if low is None or high is None:
        return (
            f"No difference can be told between {first} and {second} under {protocol}: {title} "
            f"{gain}, n={n}, and no interval could be drawn."
        )
    bounds = sorted((sign * low, sign * high))
    turned = Measured(got.value, bounds[0], bounds[1], n, got.groups)
    numbers = f"{title} {gain} {_behind(turned)}"
    if bounds[0] <= 0 <= bounds[1]:
        return (
            f"No difference can be told between {first} and {second} under {protocol}: {numbers}; "
            "the interval holds zero."
        )
    return f"{first} {term(metric).beats} {second} under {protocol}: {numbers}."


def _behind(got: Measured) -> str:
    """The interval and what stands behind it.

    >>> _behind(Measured(0.5, 0.5, 0.5, 8, 1)), _behind(Measured(0.5, 0.25, 0.75, 8, 3))
    ('(one group), n=8', '[0.250, 0.750], n=8 of 3 groups')
    """
    interval = f"({got.interval})" if got.groups == 1 else got.interval
    return f"{interval}, n={got.n}" + (f" of {got.few}" if got.few else "")


def _inline(metric: str) -> str:
    """A metric's title within a sentence.

    >>> _inline("region_iou"), _inline("f1")
    ('region IoU', 'F1')
    """
    title = term(metric).title
    return title if title[1:2].isdigit() else title[:1].lower() + title[1:]
