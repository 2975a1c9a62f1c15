"""Two people on one photo: boxes, their number, the level, and the verdict.

Boxes are matched one to one (Hungarian, IoU of at least 0.5), for every pair of people who both
boxed a photo. Verdicts and levels are choices: Cohen's kappa for each pair of people, and over all
of them Krippendorff's alpha (Fleiss' kappa too, where as many saw every photo). Intervals
resample photos.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from fieldtruth import store
from fieldtruth.agreement import Coefficient, cohen, fleiss, krippendorff
from fieldtruth.faults import Usage
from fieldtruth.geometry import as_boxes, match, overlaps
from fieldtruth.records import Record
from fieldtruth.resampling import Floats, estimate, ratio
from fieldtruth.stages.review.anchoring import MATCHED, Share
from fieldtruth.stages.review.decisions import SETTLES, Decision
from fieldtruth.stages.review.returning import LOG


class Boxes(Record, frozen=True, kw_only=True):
    """Agreement on boxes over `photos` that two or more people boxed.

    `f1` is matched boxes over the mean of both numbers, `overlap` the mean IoU of the matched,
    `equal_count` the share of pairs that drew as many, `count` alpha of the numbers themselves.
    """

    photos: int
    f1: Share
    overlap: Share
    equal_count: Share
    count: Coefficient


class Choices(Record, frozen=True, kw_only=True):
    """Agreement on a choice; `fleiss` is None where not as many people made each."""

    agreement: Share  # of the pairs of people on a photo, those who chose the same
    alpha: Coefficient
    fleiss: Coefficient | None
    cohen: dict[str, Coefficient]  # by "A and B", the server's numbers of the two


class Agreement(Record, frozen=True, kw_only=True):
    """Of `photos` with a decision, `shared` were decided on by two or more people."""

    photos: int
    shared: int
    people: tuple[str, ...]
    boxes: Boxes
    verdict: Choices
    level: Choices


Rows = Sequence[Sequence[Decision]]  # a photo's decisions, one a person, people ascending


def agreement(folder: Path) -> Agreement:
    """The agreement in the log of a folder that `review import` made."""
    path = folder / LOG
    if not path.is_file():
        raise Usage(f"{folder}: expected what `review import` made, got no {LOG} there")
    return agree(store.read(path, Decision))


def agree(log: Iterable[Decision]) -> Agreement:
    """The agreement among these decisions, whatever their order."""
    latest: dict[str, dict[str, Decision]] = {}
    for each in sorted(log, key=lambda one: (one.item, one.at, one.annotation)):
        if each.said in SETTLES:
            latest.setdefault(each.item, {})[each.who] = each
    rows = [[by[who] for who in sorted(by)] for by in latest.values()]
    shared = [row for row in rows if len(row) > 1]
    boxed = [[each for each in row if each.said == "boxes"] for row in shared]
    boxed = [row for row in boxed if len(row) > 1]
    return Agreement(
        photos=len(rows), shared=len(shared),
        people=tuple(sorted({each.who for row in rows for each in row})),
        boxes=_boxes(boxed),
        verdict=_choices([[(each.who, each.said) for each in row] for row in shared]),
        level=_choices([[(each.who, str(each.level)) for each in row] for row in boxed]),
    )  # fmt: skip


def line(found: Agreement) -> str:
    """The agreement for people, a line each."""
    return "\n".join(
        (
            f"{found.shared} of {found.photos} photos were seen by two or more of "
            f"{len(found.people)} people",
            f"boxes of {found.boxes.photos}: F1 {_told(found.boxes.f1)}, "
            f"overlap {_told(found.boxes.overlap)}, same number {_told(found.boxes.equal_count)}",
            f"verdict: same {_told(found.verdict.agreement)}, alpha {_told(found.verdict.alpha)}",
            f"level: same {_told(found.level.agreement)}, alpha {_told(found.level.alpha)}",
        )
    )


def _told(found: Share | Coefficient) -> str:
    if found.value is None:
        return f"none ({found.undefined})" if isinstance(found, Coefficient) else "none"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _boxes(rows: Rows) -> Boxes:
    sums = np.array([_compared(row) for row in rows]).reshape(len(rows), 5)
    return Boxes(
        photos=len(rows), f1=_ratio(sums[:, [0, 1]]), overlap=_ratio(sums[:, [2, 0]]),
        equal_count=_ratio(sums[:, [3, 4]]),
        count=krippendorff([[float(len(e.boxes)) for e in row] for row in rows], "interval"),
    )  # fmt: skip


def _compared(row: Sequence[Decision]) -> list[float]:
    """Over a photo's pairs of people: matches, mean number of boxes, IoU, equal counts, pairs."""
    total = np.zeros(5)
    for a, b in combinations(row, 2):
        ours, theirs = as_boxes(a.boxes), as_boxes(b.boxes)
        pairs = np.array(match(ours, theirs, MATCHED, "hungarian"), np.int64).reshape(-1, 2)
        overlap = float(overlaps(ours[pairs[:, 0]], theirs[pairs[:, 1]]).sum())
        same = float(len(ours) == len(theirs))
        total += [len(pairs), (len(ours) + len(theirs)) / 2, overlap, same, 1]
    return [float(each) for each in total]


def _choices(rows: Sequence[Sequence[tuple[str, str]]]) -> Choices:
    said = [[choice for _, choice in row] for row in rows]
    sums = np.array(
        [
            [sum(a == b for a, b in combinations(row, 2)), len(row) * (len(row) - 1) / 2]
            for row in said
        ],
        np.float64,
    ).reshape(len(rows), 2)
    as_many = len({len(row) for row in said}) == 1
    people = sorted({who for row in rows for who, _ in row})
    of = [dict(row) for row in rows]
    return Choices(
        agreement=_ratio(sums), alpha=krippendorff(said), fleiss=fleiss(said) if as_many else None,
        cohen={
            f"{a} and {b}": cohen([by[a] for by in of if a in by and b in by],
                                  [by[b] for by in of if a in by and b in by])
            for a, b in combinations(people, 2)
        },
    )  # fmt: skip


def _ratio(sums: Floats) -> Share:
    found = estimate(sums, ratio)
    return Share(value=found.value, low=found.low, high=found.high, n=found.n)
