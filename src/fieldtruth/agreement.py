"""How far people agree beyond chance: Cohen's and Fleiss' kappa, Krippendorff's alpha.

Each is a value of sums over units (what was judged), so its interval is the bootstrap of
`resampling` over units in the order given: give them by id. A coefficient is undefined where
nothing was judged twice, or where chance alone explains every agreement because one answer only
was given: it is null then with n = 0, as every value of ours that cannot be measured, and
`undefined` says why.

    Cohen (1960)          two raters, nominal       (po - pe) / (1 - pe), pe from each rater's own
                                                    share of answers
    Fleiss (1971)         m raters a unit, nominal  the same, pe from the shares of all answers
    Krippendorff (2011)   any number, gaps allowed  1 - Do / De, nominal or interval
"""

from collections.abc import Sequence
from typing import Literal, TypeVar

import numpy as np
from msgspec.structs import replace

from fieldtruth.records import Record
from fieldtruth.resampling import Bools, Estimate, Floats, Value, estimate

Metric = Literal["nominal", "interval"]
NOTHING = "nothing was judged by two"
ONE_ANSWER = "one answer only was given"

T = TypeVar("T", bound=str | float)


class Answer(Record, frozen=True, kw_only=True):
    """One line of an expert's file or of the key; `answer` is null when flagged.

    `note` says why, `stratum` (read from the key) is what counts are broken down by: a crop, say.
    """

    id: str
    answer: str | None
    note: str = ""
    stratum: str = ""

    def __post_init__(self) -> None:
        if self.answer is not None and self.answer.strip() != (self.answer or " "):
            raise ValueError(
                "expected an answer without blanks around it, or null where it is flagged, "
                f"got {self.answer!r}"
            )


class Coefficient(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A value with its 95 % interval; `n` units were judged. Null with n = 0 where undefined."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    undefined_draws: int = 0  # resamples in which it is undefined, left out of the interval
    undefined: str | None = None  # why there is no value


def cohen(
    first: Sequence[str], second: Sequence[str], groups: Sequence[str] | None = None
) -> Coefficient:
    """Cohen's kappa of two raters' answers to the same units, in the same order.

    `groups` (parallel) says which units are drawn together for the interval: statements of one
    answer, answers about one conversation. Every unit on its own if not given.
    """
    names = sorted(set(first) & set(second))  # an answer of one rater alone adds nothing to chance
    code = {name: at for at, name in enumerate(names)}
    equal = np.array([a == b for a, b in zip(first, second, strict=True)], np.float64)
    ours, theirs = (
        _one_hot([code.get(each, -1) for each in r], len(code)) for r in (first, second)
    )
    sums = np.concatenate([np.ones((len(equal), 1)), equal[:, None], ours, theirs], axis=1)

    def value(total: Floats) -> tuple[Floats, Bools]:
        n, agreed = total[..., 0], total[..., 1]
        k = (total.shape[-1] - 2) // 2
        chance = (total[..., 2 : 2 + k] * total[..., 2 + k :]).sum(axis=-1)
        return _over(n * agreed - chance, n * n - chance)

    if groups is None:
        return _coefficient(sums, value)
    row = {group: at for at, group in enumerate(sorted(set(groups)))}
    drawn = np.zeros((len(row), sums.shape[1]))
    np.add.at(drawn, [row[group] for group in groups], sums)
    found = _coefficient(drawn, value)
    return found if found.value is None else replace(found, n=len(sums))


def fleiss(ratings: Sequence[Sequence[str]]) -> Coefficient:
    """Fleiss' kappa: a row a unit with the answers of its raters, as many in every row.

    Raises `ValueError` where the rows differ in length: `krippendorff` has gaps.
    """
    raters = {len(row) for row in ratings}
    if len(raters) > 1:
        raise ValueError(f"expected as many answers to every unit, got {sorted(raters)}")
    m = raters.pop() if raters else 0
    counts = _counts(ratings)
    alike = (counts * (counts - 1)).sum(axis=1, keepdims=True)
    sums = np.concatenate([np.ones((len(counts), 1)), alike, counts], axis=1)

    def value(total: Floats) -> tuple[Floats, Bools]:
        n, pairs = total[..., 0] * m, total[..., 1]
        chance = (total[..., 2:] ** 2).sum(axis=-1)
        # Both sides of (P - Pe) / (1 - Pe) times n^2 (m - 1), which keeps them whole numbers.
        return _over(pairs * n - chance * (m - 1), (n * n - chance) * (m - 1))

    return _coefficient(sums if m > 1 else sums[:0], value)


def krippendorff(ratings: Sequence[Sequence[T | None]], metric: Metric = "nominal") -> Coefficient:
    """Krippendorff's alpha: a row a unit with its answers, None where a rater gave none.

    Units with fewer than two answers cannot be paired and are left out. `interval` takes numbers
    and weighs a disagreement by its square.
    """
    rows = [[each for each in row if each is not None] for row in ratings]
    rows = [row for row in rows if len(row) > 1]
    size = np.array([len(row) for row in rows], np.float64)
    if metric == "nominal":
        counts = _counts(rows)
        apart = (size**2 - (counts**2).sum(axis=1)) / np.maximum(size - 1, 1)
        sums = np.concatenate([size[:, None], apart[:, None], counts], axis=1)
        return _coefficient(sums, _nominal)
    centre = np.mean([float(each) for row in rows for each in row]) if rows else 0.0
    numbers = [np.array(row, np.float64) - centre for row in rows]  # squares of small numbers
    first = np.array([row.sum() for row in numbers])
    square = np.array([(row**2).sum() for row in numbers])
    apart = 2 * (size * square - first**2) / np.maximum(size - 1, 1)
    return _coefficient(np.stack([size, apart, first, square], axis=1), _interval)


def _nominal(total: Floats) -> tuple[Floats, Bools]:
    n, apart = total[..., 0], total[..., 1]
    expected = n * n - (total[..., 2:] ** 2).sum(axis=-1)
    share, known = _over((n - 1) * apart, expected)
    return 1 - share, known


def _interval(total: Floats) -> tuple[Floats, Bools]:
    n, apart, first, square = (total[..., at] for at in range(4))
    expected = 2 * (n * square - first**2)
    # Where all numbers are equal their squares differ by rounding alone.
    share, known = _over((n - 1) * apart, np.where(expected > 1e-9 * n * square, expected, 0.0))
    return 1 - share, known


def _over(above: Floats, below: Floats) -> tuple[Floats, Bools]:
    known = below > 0
    return np.divide(above, below, out=np.zeros_like(below), where=known), known


def _one_hot(codes: Sequence[int], width: int) -> Floats:
    """Rows with a 1 at their code, and none where the code is -1: (n, width)."""
    made = np.zeros((len(codes), width))
    rows = np.flatnonzero(np.array(codes, np.int64) >= 0)
    made[rows, np.array(codes, np.int64)[rows]] = 1
    return made


def _counts(rows: Sequence[Sequence[str | float]]) -> Floats:
    """How often each answer was given to each unit: (units, answers)."""
    names = sorted({each for row in rows for each in row}, key=repr)
    code = {name: at for at, name in enumerate(names)}
    made = np.zeros((len(rows), len(names)))
    for at, row in enumerate(rows):
        for each in row:
            made[at, code[each]] += 1
    return made


def _coefficient(sums: Floats, value: Value) -> Coefficient:
    found: Estimate = estimate(sums, value)
    why = None if found.value is not None else ONE_ANSWER if len(sums) else NOTHING
    return Coefficient(
        value=found.value,
        low=found.low,
        high=found.high,
        n=found.n,
        undefined_draws=found.undefined_draws,
        undefined=why,
    )
