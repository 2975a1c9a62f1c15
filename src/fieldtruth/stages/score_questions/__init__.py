"""score on a question benchmark: replies -> accuracy and harmonic mean, with intervals and counts.

The shape is the contract's (design, section 8): models -> NAME -> PROTOCOL -> `all` and `types` ->
QTYPE. With c the shares correct, p those partial and Q the scored questions, accuracy is c / Q and
`harmonic` the harmonic mean of c / Q and c / (Q - p), which is 2c / (2Q - p), as published
(agroground.md, section 15.6). `n` of a count is the questions measured: the five counts add to it,
and the `n` of a value is that without the unscored. `type_mean` is the unweighted mean over the
types, AgMMU's average; crops, domains and challenges stand beside the types where questions have
them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import Any, Literal, get_args

import numpy as np

from fieldtruth.faults import Refused, Usage
from fieldtruth.grading import few_groups
from fieldtruth.grading.grades import GRADES, Shares
from fieldtruth.grading.judge import Judge
from fieldtruth.grading.published_questions import published_letter, published_open
from fieldtruth.grading.questions import Answered, answered
from fieldtruth.records import Prediction, Question
from fieldtruth.resampling import (
    BOUNDS,
    RESAMPLES,
    Bools,
    Estimate,
    Floats,
    Value,
    by_group,
    ratio,
    summed,
    totals,
)
from fieldtruth.store import Bench

UNKNOWN = "unknown"  # the stratum of a question that does not say
STRATA: dict[str, Callable[[Question], str | None]] = {
    "types": lambda question: question.qtype,
    "crops": lambda question: question.crop,
    "domains": lambda question: question.domain,
    "challenges": lambda question: question.challenge,
}
Unit = Literal["group", "image"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`unit` is what the bootstrap draws: groups, or (`image`) single questions.

    `allow_missing` bounds, per model and protocol, the share of questions with an error or without
    a reply, and in the same way that of doubled and unknown rows. `as_published` reads and counts
    as published (see `grading.published_questions`) and refuses nothing. `pairs` of models, base
    and tuned, are set side by side part by part (see `parts`).
    """

    allow_missing: float = 0.0
    unit: Unit = "group"
    resamples: int = RESAMPLES
    as_published: bool = False
    pairs: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.allow_missing <= 1:
            raise Usage(f"allow-missing: expected a share from 0 to 1, got {self.allow_missing}")
        if self.unit not in get_args(Unit):
            raise Usage(f"unit: expected one of {', '.join(get_args(Unit))}, got {self.unit!r}")


@dataclass(frozen=True, slots=True)
class Table:
    """The scored questions, by id: their groups and (n, 3) sums: correct, partial, 1."""

    ids: tuple[str, ...]
    groups: tuple[str, ...]
    sums: Floats

    def take(self, wanted: Iterable[bool]) -> "Table":
        kept = [row for row, want in enumerate(wanted) if want]
        ids, groups = (tuple(of[row] for row in kept) for of in (self.ids, self.groups))
        return Table(ids, groups, self.sums[kept])


@dataclass(frozen=True, slots=True)
class Worth:
    """One model's answers under one protocol: `shares` parallel to `questions`."""

    model: str
    protocol: str
    questions: Sequence[Question]
    shares: Sequence[Shares | None]

    def table(self, wanted: Sequence[bool] | None = None) -> Table:
        """The scored ones among the wanted questions."""
        chosen = wanted if wanted is not None else [True] * len(self.questions)
        kept = [
            (question, shares)
            for question, shares, want in zip(self.questions, self.shares, chosen, strict=True)
            if want and shares is not None
        ]
        sums = [(shares.correct, shares.partial, 1.0) for _, shares in kept]
        return Table(
            tuple(question.id for question, _ in kept),
            tuple(question.group for question, _ in kept),
            np.array(sums, dtype=np.float64).reshape(-1, 3),
        )


def gather(
    bench: Bench,
    predictions: Iterable[Prediction],
    settings: Settings,
    judge: Judge | None = None,
) -> list[Answered]:
    """Grade every model and protocol found among the predictions, in the order they come in.

    Raises `Usage` for an unknown protocol or nothing to score, `Refused` past `allow_missing`;
    both before the judge is asked for anything.
    """
    if not bench.questions:
        raise Usage(f"{bench.folder}: expected a benchmark with questions, got none")
    replies: dict[tuple[str, str], list[Prediction]] = {}
    for row in predictions:
        replies.setdefault((row.protocol, row.model), []).append(row)
    if not replies:
        raise Usage("expected predictions to score, got none")
    for (protocol, _), rows in replies.items():
        one = answered(bench.questions, rows, protocol)
        if not settings.as_published:
            _complete(one, settings.allow_missing)
        elif judge is None and any(each.form == "open" for each in one.questions):
            raise Usage(
                "--as-published: open answers are graded by a judge there; give one with --judge"
            )
    return [
        answered(bench.questions, rows, protocol, judge) for (protocol, _), rows in replies.items()
    ]


def score_questions(bench: Bench, graded: Sequence[Answered], settings: Settings) -> dict[str, Any]:
    """The contract's tables of what `gather` graded."""
    models: dict[str, dict[str, Any]] = {}
    worth = worths(graded, settings)
    for one in graded:
        mine = next(each for each in worth[one.protocol] if each.model == one.model)
        models.setdefault(one.model, {})[one.protocol] = _entry(mine, one.outcomes, settings)
    return {
        "benchmark": {
            "name": bench.manifest.name,
            "version": bench.manifest.version,
            "questions": len(bench.questions),
        },
        "models": models,
        "paired": [row for each in worth.values() for row in _paired(each, settings)],
    }


def _complete(one: Answered, bar: float) -> None:
    """Refuse what is too incomplete to give a number that holds."""
    counts = one.outcomes
    faults = (
        ("error", "missing", "ask again for what is missing (predict resumes)"),
        ("duplicate", "extra", "leave one row per question that this protocol asks"),
    )
    for first, second, remedy in faults:
        if (counts[first] + counts[second]) / max(one.asked, 1) > bar:
            raise Refused(
                f"{one.model} under {one.protocol}: {counts[first]} {first} and {counts[second]} "
                f"{second} for {one.asked} questions, expected at most a share of {bar:g}; "
                f"{remedy}, or accept a larger share with --allow-missing"
            )


def worths(graded: Iterable[Answered], settings: Settings) -> dict[str, list[Worth]]:
    """What the answers of each model are worth, by protocol, in the order they come in."""
    made: dict[str, list[Worth]] = {}
    for one in graded:
        made.setdefault(one.protocol, []).append(worth_of(one, settings))
    return made


def worth_of(one: Answered, settings: Settings) -> Worth:
    """What one model's answers are worth under one protocol."""
    shares: list[Shares | None] = list(one.shares)
    if settings.as_published:
        shares = [
            published_letter(question, text)
            if question.form == "mcq"
            else published_open(question, verdict)
            for question, text, verdict in zip(one.questions, one.texts, one.verdicts, strict=True)
        ]
    return Worth(one.model, one.protocol, one.questions, shares)


def _entry(one: Worth, outcomes: Mapping[str, int], settings: Settings) -> dict[str, Any]:
    entry: dict[str, Any] = {"all": figures(one, [True] * len(one.questions), settings)}
    for name, parts in cuts(one.questions).items():
        entry[name] = {
            each: figures(one, [each == own for own in parts], settings)
            for each in sorted(set(parts))
        }
    entry["type_mean"] = _type_mean(one, settings)
    entry["outcomes"] = dict(outcomes)
    return entry


def cuts(questions: Sequence[Question]) -> dict[str, list[str]]:
    """Each way to cut the questions, and the part that each of them is in; a way that tells
    nothing is left out, but for the types."""
    made = {name: [of(each) or UNKNOWN for each in questions] for name, of in STRATA.items()}
    return {
        name: parts for name, parts in made.items() if name == "types" or set(parts) - {UNKNOWN}
    }


def figures(one: Worth, wanted: Sequence[bool], settings: Settings) -> dict[str, Any]:
    """Both values with intervals, and the counts, over the questions that are wanted."""
    shares = [each for each, want in zip(one.shares, wanted, strict=True) if want]
    scored = [each for each in shares if each is not None]
    part = one.table(wanted)
    values = {
        name: fields(estimated([part], value, settings), "value") for name, value in VALUES.items()
    }
    counts: dict[str, Any] = {
        name: _count(getattr(each, name) for each in scored) for name in GRADES
    }
    return {**values, **counts, "unscored": len(shares) - len(scored), "n": len(shares)}


def _count(shares: Iterable[float]) -> int | float:
    """A sum of shares; whole where no question was split."""
    total = round(fsum(shares), 9)
    return int(total) if total.is_integer() else total


def _harmonic(sums: Floats) -> tuple[Floats, Bools]:
    """2c / (2Q - p), and 0 where no question is left once the partial ones are taken away."""
    correct, partial, scored = sums[..., 0], sums[..., 1], sums[..., 2]
    above = np.where(scored - partial > 1e-9, 2 * correct, 0.0)
    below = np.where(scored > 0, np.maximum(2 * scored - partial, 1e-9), 0.0)
    return ratio(np.stack([above, below], axis=-1))


VALUES: Mapping[str, Value] = {
    "accuracy": lambda sums: ratio(sums[..., [0, 2]]),
    "harmonic": _harmonic,
}


def estimated(
    tables: Sequence[Table], value: Value, settings: Settings, *, minus: bool = False
) -> Estimate:
    """A value of one table, or (`minus`) the second's less the first's, over the same questions."""
    units = [_units(table, settings) for table in tables]
    drawn = totals(units, settings.resamples)
    points = [value(summed(each)) for each in units]
    draws = [value(each) for each in drawn]
    known = np.logical_and.reduce([each for _, each in points])
    draws_known = np.logical_and.reduce([each for _, each in draws])
    if not known or not draws_known.any():
        return Estimate(None, None, None, 0)
    point, found = points[-1][0], draws[-1][0]
    if minus:
        point, found = point - points[0][0], found - draws[0][0]
    low, high = np.percentile(found[draws_known], BOUNDS)
    n, undefined = len(tables[0].ids), int((~draws_known).sum())
    groups = int(np.logical_or.reduce([each.any(axis=1) for each in units]).sum())
    return Estimate(float(point), float(low), float(high), n, undefined, groups)


def _units(table: Table, settings: Settings) -> Floats:
    """Sums per resampling unit: per question, or per group with the groups ascending."""
    if settings.unit == "image" or not table.ids:
        return table.sums
    return by_group(table.sums, table.groups)


def _type_mean(one: Worth, settings: Settings) -> dict[str, Any]:
    """The unweighted mean of both values over the types; a draw has to hold every type."""
    types = sorted({question.qtype or UNKNOWN for question in one.questions})
    whole = one.table()
    type_of = {question.id: question.qtype or UNKNOWN for question in one.questions}
    spread = np.zeros((len(whole.ids), 3 * len(types)))
    for row, name in enumerate(whole.ids):
        at = 3 * types.index(type_of[name])
        spread[row, at : at + 3] = whole.sums[row]
    table = Table(whole.ids, whole.groups, spread)

    def mean_of(value: Value) -> Value:
        def mean(sums: Floats) -> tuple[Floats, Bools]:
            several = sums.reshape(*sums.shape[:-1], len(types), 3)
            found, known = value(several)
            return np.asarray(found.mean(axis=-1)), np.asarray(known.all(axis=-1))

        return mean

    if not types:
        return {name: fields(Estimate(None, None, None, 0), "value") for name in VALUES}
    return {
        name: fields(estimated([table], mean_of(value), settings), "value")
        for name, value in VALUES.items()
    }


def _paired(some: Sequence[Worth], settings: Settings) -> list[dict[str, Any]]:
    """Each pair of models once per value, over the questions scored in both."""
    made: list[dict[str, Any]] = []
    tables = [one.table() for one in some]
    for i, j in combinations(range(len(some)), 2):
        both = set(tables[i].ids) & set(tables[j].ids)
        pair = [tables[at].take(name in both for name in tables[at].ids) for at in (i, j)]
        for name, value in VALUES.items():
            found = estimated(pair, value, settings, minus=True)
            who = {"a": some[i].model, "b": some[j].model}
            made.append(
                {"protocol": some[i].protocol, "metric": name} | who | fields(found, "difference")
            )
    return made


def fields(estimate: Estimate, value: str) -> dict[str, Any]:
    """An estimate as the contract writes it, its value under the name `value`; how many groups
    it stands on goes aside before it is written (`grading.few_groups`)."""
    made: dict[str, Any] = {
        value: estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n,
    }  # fmt: skip
    if estimate.undefined_draws:
        made["undefined_draws"] = estimate.undefined_draws
    return made | few_groups.told(estimate.groups)
