"""What people said of machine-made boxes: rates with intervals, and what confidence knew of it.

Every photo has one verdict of `VERDICTS` (AgroGround's appendix on the audit of pseudo-labels);
of several people's the one that most gave, and where two lead together it is disputed and counted
apart. A rate's interval is Wilson's. The strata were sampled equally, so the rate for the whole
split weighs each photo by how many of its stratum it stands for.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path

import numpy as np

from fieldtruth import store
from fieldtruth.agreement import Coefficient, krippendorff
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.formats.label_studio import reading
from fieldtruth.formats.label_studio.writing import VERDICT, VERDICTS
from fieldtruth.records import Record
from fieldtruth.resampling import BOUNDS, RESAMPLES, Bools, Floats, estimate, ratio, totals
from fieldtruth.stages.review.anchoring import Share
from fieldtruth.stages.review.sampling import SAMPLE, Sampled

Z = 1.959963984540054  # the 97.5 % point of the normal distribution
GOOD = "correct"


class Verdict(Record, frozen=True, kw_only=True):
    """One line of a file of verdicts written by hand; `id` is a task's or an annotation's."""

    id: str
    verdict: str
    who: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"expected one of {', '.join(VERDICTS)}, got {self.verdict!r}")


class Rate(Record, frozen=True, kw_only=True):
    """`count` of `n`, as a share with Wilson's 95 % interval; null where n is 0."""

    count: int
    value: float | None
    low: float | None
    high: float | None
    n: int


class Stratum(Record, frozen=True, kw_only=True):
    """The rates of one source and level, which has `size` photos."""

    size: int
    rates: dict[str, Rate]
    issues: Rate


class Confidence(Record, frozen=True, kw_only=True):
    """The boxes' scores against the verdict, over photos that have any.

    `mean` and `highest` of a photo's scores; the area under the curve is the chance that a photo
    with all boxes correct scores higher than one with an issue: 0.5 where scores know nothing.
    """

    photos: int
    mean: dict[str, Share]  # of the photos' means, by verdict
    auc_mean: Share
    auc_highest: Share


class Audited(Record, frozen=True, kw_only=True):
    """`sampled == judged + disputed + not_judged`; `issues` is any verdict but `correct`."""

    sampled: int
    judged: int
    disputed: int
    not_judged: int
    unusable: int
    auditors: int
    alpha: Coefficient
    rates: dict[str, Rate]
    issues: Rate
    weighted_issues: Share
    strata: dict[str, Stratum]
    confidence: Confidence


def audit(told: Path, folder: Path) -> Audited:
    """The verdicts in a server's export (`.json`), or in a file of `Verdict` lines (`.jsonl`).

    `folder` is what `review sample` made. Raises `BadRecord` for a verdict that is none, or of
    another sample, for two of one person on a photo, and for an export without any.
    """
    path = folder / SAMPLE
    if not path.is_file():
        raise Usage(f"{folder}: expected what `review sample` made, got no {SAMPLE} there")
    sampled = sorted(store.read_unique(path, Sampled), key=lambda each: each.id)
    by_hand = told.suffix == ".jsonl"
    votes, unusable = _by_hand(told, sampled) if by_hand else _exported(told, sampled)
    verdict = {name: _majority(each) for name, each in votes.items() if each}
    judged = [each for each in sampled if verdict.get(each.id)]
    said = [verdict[each.id] or "" for each in judged]
    disputed = sum(one is None for one in verdict.values())
    return Audited(
        sampled=len(sampled), judged=len(judged), disputed=disputed,
        not_judged=len(sampled) - len(judged) - disputed, unusable=unusable,
        auditors=len({who for each in votes.values() for who in each}),
        alpha=krippendorff([list(votes.get(each.id, {}).values()) for each in sampled]),
        rates=_rates(said), issues=_issues(said), weighted_issues=_weighted(judged, said),
        strata=_strata(judged, said), confidence=_confidence(judged, said),
    )  # fmt: skip


def line(found: Audited) -> str:
    """The rates for people."""
    rates = [f"{name} {_told(each)}" for name, each in found.rates.items() if each.count]
    auc = found.confidence.auc_mean
    knew = "" if auc.value is None else f"; confidence against correct: AUC {_told(auc)}"
    return (
        f"{found.judged} of {found.sampled} judged by {found.auditors} people "
        f"({found.disputed} disputed, {found.not_judged} not judged): "
        f"{', '.join(rates) or 'none'}; "
        f"with an issue, of the whole split: {_told(found.weighted_issues)}{knew}"
    )


def wilson(count: int, n: int) -> Rate:
    """A share with Wilson's score interval.

    >>> found = wilson(62, 100)
    >>> round(found.low, 3), round(found.high, 3)
    (0.522, 0.709)
    """
    if n == 0:
        return Rate(count=0, value=None, low=None, high=None, n=0)
    share, z = count / n, Z * Z
    middle = (share + z / (2 * n)) / (1 + z / n)
    half = Z * sqrt(share * (1 - share) / n + z / (4 * n * n)) / (1 + z / n)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Rate(count=count, value=share, low=low, high=high, n=n)


def _told(found: Rate | Share) -> str:
    if found.value is None:
        return "none"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


Votes = dict[str, dict[str, str]]  # task -> person -> verdict


def _by_hand(path: Path, sampled: Sequence[Sampled]) -> tuple[Votes, int]:
    names = {each.annotation: each.id for each in sampled} | {each.id: each.id for each in sampled}
    votes: Votes = {}
    store.fields_once(path)
    for row in store.read_unique(path, Verdict, lambda each: f"{each.id} of {each.who}"):
        if row.id not in names:
            raise BadRecord(f"{path}: expected ids of the sample, got {row.id!r}")
        mine = votes.setdefault(names[row.id], {})
        if row.who in mine:  # by the task's id and by the annotation's
            raise BadRecord(f"{path}: expected one verdict of each person, got two on {row.id!r}")
        mine[row.who] = row.verdict
    return votes, 0


def _exported(path: Path, sampled: Sequence[Sampled]) -> tuple[Votes, int]:
    sizes = {each.id: (each.width, each.height) for each in sampled}
    votes: Votes = {}
    unusable = 0
    for name, annotated in reading.read(path, sizes).tasks.items():
        for each in sorted(annotated, key=lambda one: (one.at, one.number)):
            if each.skipped or each.draft:
                continue
            chosen = each.choices.get(VERDICT, ())
            if len(chosen) == 1 and chosen[0] in VERDICTS:
                votes.setdefault(name, {})[each.who] = chosen[0]
            else:
                unusable += 1
    if not votes and not unusable:
        raise BadRecord(
            f"{path}: expected people's verdicts, got none; export as JSON from the server once "
            "they are given (tasks.json is what it was given)"
        )
    return votes, unusable


def _majority(votes: Mapping[str, str]) -> str | None:
    """The verdict most gave; None where two lead together."""
    ranked = Counter(votes.values()).most_common(2)
    return None if len(ranked) > 1 and ranked[0][1] == ranked[1][1] else ranked[0][0]


def _rates(said: Sequence[str]) -> dict[str, Rate]:
    count = Counter(said)
    return {name: wilson(count[name], len(said)) for name in VERDICTS}


def _issues(said: Sequence[str]) -> Rate:
    return wilson(sum(each != GOOD for each in said), len(said))


def _strata(judged: Sequence[Sampled], said: Sequence[str]) -> dict[str, Stratum]:
    of: dict[str, list[str]] = {}
    size: dict[str, int] = {}
    for each, verdict in zip(judged, said, strict=True):
        of.setdefault(each.stratum, []).append(verdict)
        size[each.stratum] = each.stratum_size
    return {
        name: Stratum(size=size[name], rates=_rates(of[name]), issues=_issues(of[name]))
        for name in sorted(of)
    }


def _weighted(judged: Sequence[Sampled], said: Sequence[str]) -> Share:
    count = Counter(each.stratum for each in judged)
    weight = np.array([each.stratum_size / count[each.stratum] for each in judged])
    issue = np.array([each != GOOD for each in said], np.float64)
    found = estimate(np.stack([weight * issue, weight], axis=1), ratio)
    return Share(value=found.value, low=found.low, high=found.high, n=found.n)


def _confidence(judged: Sequence[Sampled], said: Sequence[str]) -> Confidence:
    rows = [(each.scores, what) for each, what in zip(judged, said, strict=True) if each.scores]
    good = np.array([what == GOOD for _, what in rows], bool)
    means: Floats = np.array([np.mean(scores) for scores, _ in rows], np.float64)
    return Confidence(
        photos=len(rows),
        mean={
            name: _mean(means[np.array([what == name for _, what in rows], bool)])
            for name in VERDICTS
            if any(what == name for _, what in rows)
        },
        auc_mean=_auc(means, good),
        auc_highest=_auc(np.array([max(scores) for scores, _ in rows], np.float64), good),
    )  # fmt: skip


def _mean(values: Floats) -> Share:
    found = estimate(np.stack([values, np.ones_like(values)], axis=1), ratio)
    return Share(value=found.value, low=found.low, high=found.high, n=found.n)


def _auc(scores: Floats, good: Bools) -> Share:
    """The area with its interval over photos; a draw without both kinds is left out."""
    n = len(scores)
    if not good.any() or good.all():
        return Share(value=None, low=None, high=None, n=0)
    above = scores[good][:, None] - scores[~good]
    wins = np.where(above > 0, 1.0, np.where(above == 0, 0.5, 0.0))
    times = totals([np.eye(n)], RESAMPLES)[0]  # how often each draw holds each photo
    first, second = times[:, good], times[:, ~good]
    pairs = first.sum(axis=1) * second.sum(axis=1)
    won = ((first @ wins) * second).sum(axis=1)
    low, high = np.percentile((won / np.maximum(pairs, 1))[pairs > 0], BOUNDS)
    return Share(value=float(wins.mean()), low=float(low), high=float(high), n=n)
