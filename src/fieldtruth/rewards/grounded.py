"""Our reward: the reply is read by the one reader and graded as scoring grades it.

It closes what can be had for nothing under the published one (agroground.md, 16.7, W-76 and W-78):

- a box under 0.001 of the photo that finds nothing is a speck: it is no answer, has no vote, and
  still counts as a false box;
- what is said twice costs the whole answer term, on top of precision, or the format where there is
  no answer;
- the name counts on known-target prompts too; several names under one reply count half, and
  nothing where something is said twice: a name is not carried by repeating its box;
- a malformed object is no box, and costs nothing else;
- how many there are counts, times the share of boxes that hit: a box more that finds nothing never
  adds to it;
- a photo without what is asked for, healthy or not, pays for the explicit empty list alone;
- words around the answer, or a second list, cost the format term.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from math import fsum
from typing import NamedTuple

import numpy as np

from fieldtruth import geometry
from fieldtruth.geometry import Boxes
from fieldtruth.grading.evidence import votes, winner
from fieldtruth.metrics.contract import Bools, Floats, Ints
from fieldtruth.records import Box, Reading
from fieldtruth.replies import read_boxes
from fieldtruth.rewards.contract import Paid, Reward, Rollout, frame, require_whole
from fieldtruth.taxonomy import label_id

SPECK = 0.001  # share of the photo's area (AgroGround, appendix J: "boxes below 0.1%")
_TALK = {"prose", "several_lists"}  # repairs that say there was more than one answer's words


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What a perfect reply is paid for. Raises `Usage` unless they add up to 1."""

    format: float = 0.10
    answer: float = 0.10
    localization: float = 0.30  # mean of F1 at IoU 0.5 and region IoU
    recall: float = 0.15
    count: float = 0.10
    name: float = 0.25

    def __post_init__(self) -> None:
        placed = (self.localization, self.recall, self.count)
        require_whole((self.format, self.answer, *placed, self.name))


CANDIDATES = Weights()
_NOTHING = dict.fromkeys(("format", "answer", "localization", "recall", "count", "name"), 0.0)
# The name stands in the prompt, so copying it earns less; leaving it out earns half of that.
KNOWN_TARGET = Weights(localization=0.35, recall=0.20, name=0.15)


class _Placed(NamedTuple):
    """One reply's boxes against the true ones. `labels` are those of boxes that are no specks."""

    labels: Sequence[str]
    answered: bool
    repeats: bool
    hits: int
    region: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """The reward under some weights for each protocol."""

    candidates: Weights = CANDIDATES
    known_target: Weights = KNOWN_TARGET

    def unfit(self, rollout: Rollout) -> str | None:
        """A photo that shows its target needs the name, and a choice its list."""
        if rollout.chosen and len(set(rollout.candidates or ())) < 2:
            return f"expected the candidates that were listed, got {rollout.candidates}"
        if rollout.boxes and not _right(rollout):
            return f"expected a label beside {len(rollout.boxes)} boxes, got {rollout.label!r}"
        return None

    def pay(self, rollouts: Sequence[Rollout]) -> list[Paid]:
        """See `Reward`. Boxes of all replies are compared in one pass."""
        readings = [read_boxes(each.text, each.space, each.finish) for each in rollouts]
        rows = [i for i, each in enumerate(rollouts) if each.boxes]
        placed = _place([rollouts[i] for i in rows], [readings[i] for i in rows])
        return [
            self._present(rollout, reading, next(placed))
            if rollout.boxes
            else self._absent(rollout, reading)
            for rollout, reading in zip(rollouts, readings, strict=True)
        ]

    def _absent(self, rollout: Rollout, reading: Reading) -> Paid:
        """What is asked for is not there: everything but the format is for saying so."""
        w = self.candidates if rollout.chosen else self.known_target
        empty = reading.outcome == "empty"
        clean = _clean(reading) and len(set(reading.boxes)) == len(reading.boxes)
        return _paid({"format": w.format * clean, "abstention": (1 - w.format) * empty}, reading)

    def _present(self, rollout: Rollout, reading: Reading, placed: _Placed) -> Paid:
        w, worded = self.candidates if rollout.chosen else self.known_target, _clean(reading)
        if not placed.answered:
            once = worded and not placed.repeats
            return _paid({**_NOTHING, "format": w.format * once}, reading)
        said, true, hits = len(reading.boxes), len(rollout.boxes), placed.hits
        terms = {
            "format": w.format * worded,
            "answer": w.answer * (not placed.repeats),
            "localization": w.localization * (2 * hits / (said + true) + placed.region) / 2,
            "recall": w.recall * hits / true,
            "count": w.count * hits / said * min(said, true) / max(said, true),
            "name": w.name * _named(rollout, placed),
        }
        return _paid(terms, reading)


def _paid(terms: dict[str, float], reading: Reading) -> Paid:
    earned = fsum(terms.values())
    return Paid(reward=min(1.0, earned), terms=terms, outcome=reading.outcome)


def _clean(reading: Reading) -> bool:
    """Whether the reply is an answer and nothing else."""
    return reading.outcome in ("boxes", "empty") and _TALK.isdisjoint(reading.repairs)


def _right(rollout: Rollout) -> frozenset[str]:
    """Label ids that name what is there."""
    return _ids(rollout.label, None if rollout.chosen else rollout.query)


@lru_cache(maxsize=256)  # of one photo, for all its replies
def _ids(*names: str | None) -> frozenset[str]:
    return frozenset(label_id(name) for name in names if name) - {""}


def _named(rollout: Rollout, placed: _Placed) -> float:
    """1 for the right name; half of it beside another name, or for none to a known target."""
    given = votes(placed.labels, (rollout.candidates or ()) if rollout.chosen else ())
    if not given:
        return 0.0 if rollout.chosen else 0.5
    right = _right(rollout)
    if winner(given) not in right:
        return 0.0
    return 1.0 if given.keys() <= right else 0.5 * (not placed.repeats)


def _place(rollouts: Sequence[Rollout], readings: Sequence[Reading]) -> Iterator[_Placed]:
    """The boxes of replies whose photos show the target; matching as in scoring (section 6)."""
    counts = _ints(len(each.boxes) for each in readings)
    photos = [(boxes, len(list(run))) for boxes, run in groupby(each.boxes for each in rollouts)]
    shown, shown_counts = _flat([boxes for boxes, _ in photos]), _ints(len(b) for b, _ in photos)
    photo = np.repeat(np.arange(len(photos)), _ints(many for _, many in photos))
    true, true_counts = shown[geometry.rows_of(shown_counts, photo)], shown_counts[photo]
    owner = np.repeat(np.arange(len(counts)), counts)
    limits = np.array([each.limits for each in rollouts], dtype=np.float64).reshape(-1, 2)
    # Cut to their photos, in the space of each reply; none is left out.
    said = _flat([each.boxes for each in readings]).clip(0.0, np.tile(limits, 2)[owner])
    first, second, overlap = geometry.near(said, true, counts, true_counts)
    found = first[geometry.greedy(first, second, overlap)]
    matched, close = np.zeros((2, len(said)), dtype=np.bool_)
    matched[found], close[first] = True, True
    far = np.flatnonzero(~close)
    again = np.concatenate([np.flatnonzero(close & ~matched), far[_copies(said[far], owner[far])]])
    least: Floats = SPECK * limits.prod(axis=1)
    for row in np.flatnonzero(np.isinf(least)).tolist():
        least[row] = SPECK * frame(rollouts[row])
    real = matched | (geometry.areas(said) >= least[owner])
    n = len(counts)
    kept, repeats = np.bincount(owner[real], minlength=n), np.bincount(owner[again], minlength=n)
    hits = np.bincount(owner[found], minlength=n)
    regions = geometry.region_ious(said, shown, counts, shown_counts, photo)
    labels = _voters(readings, counts, kept, real)
    rows = (each.tolist() for each in (kept > 0, repeats > 0, hits, regions))
    return map(_Placed, labels, *rows)


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def _flat(boxes: Iterable[Sequence[Box]]) -> Boxes:
    """The boxes of all, one after another, shape (boxes, 4)."""
    corners = chain.from_iterable(chain.from_iterable(boxes))
    return np.fromiter(corners, dtype=np.float64).reshape(-1, 4)


def _copies(said: Boxes, owner: Ints) -> Ints:
    """Rows of boxes that one reply says more than once, corner for corner."""
    rows = np.flatnonzero(_beside_its_like(owner, said[:, 0]))  # few share so much as an edge
    again = _beside_its_like(owner[rows], *said[rows].T)
    return rows[np.flatnonzero(again)]


def _beside_its_like(owner: Ints, *columns: Floats) -> Bools:
    """Which rows are there again."""
    order = np.lexsort((*columns, owner))
    same = owner[order][1:] == owner[order][:-1]
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    again = np.zeros(len(owner), dtype=np.bool_)
    again[order[1:]] = same
    again[order[:-1]] |= same
    return again


def _voters(
    readings: Sequence[Reading], counts: Ints, kept: Ints, real: Bools
) -> Iterator[Sequence[str]]:
    """Of each reply the labels of the boxes that are no specks."""
    ends = np.cumsum(counts)
    for reading, few, end in zip(readings, (kept < counts).tolist(), ends.tolist(), strict=True):
        if few:
            counted = real[end - len(reading.boxes) : end].tolist()
            yield [name for name, votes in zip(reading.labels, counted, strict=True) if votes]
        else:
            yield reading.labels


REWARD: Reward = Grounded()
