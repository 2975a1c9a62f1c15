"""Our reward: the reply is read by the one reader and graded as scoring grades it.

It closes what can be had for nothing under the published one (agroground.md, 16.7, W-76 and W-78):

- a box under 0.001 of the photo that finds nothing is a speck: it is no answer, has no vote, and
  still counts as a false box;
- what is said twice costs the whole answer term, on top of precision;
- the name counts on known-target prompts too, and several names under one reply count half;
- a malformed object is no box, and costs nothing else;
- how many there are counts, but only beside a box that hits, so that it cannot be had by guessing;
- a photo without what is asked for, healthy or not, pays for the explicit empty list alone;
- words around the answer, or a second list, cost the format term.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum

import numpy as np

from fieldtruth import geometry
from fieldtruth.geometry import Boxes
from fieldtruth.grading.evidence import answer, resolve
from fieldtruth.metrics.contract import Bools, Floats, Ints
from fieldtruth.records import Reading
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
# The name stands in the prompt, so copying it earns less; leaving it out earns half of that.
KNOWN_TARGET = Weights(localization=0.35, recall=0.20, name=0.15)


@dataclass(frozen=True, slots=True)
class _Placed:
    """One reply's boxes against the true ones. `real` has shape (boxes said,): no speck."""

    real: list[bool]
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
        shown = [bool(each.boxes) for each in rollouts]
        rows = np.flatnonzero(shown).tolist()
        placed = iter(_place([rollouts[i] for i in rows], [readings[i] for i in rows]))
        return [
            self._present(rollout, reading, next(placed))
            if rollout.boxes
            else self._absent(rollout, reading)
            for rollout, reading in zip(rollouts, readings, strict=True)
        ]

    def _weights(self, rollout: Rollout) -> Weights:
        return self.candidates if rollout.chosen else self.known_target

    def _absent(self, rollout: Rollout, reading: Reading) -> Paid:
        """What is asked for is not there: everything but the format is for saying so."""
        w, empty = self._weights(rollout), reading.outcome == "empty"
        clean = _clean(reading) and len(set(reading.boxes)) == len(reading.boxes)
        return _paid({"format": w.format * clean, "abstention": (1 - w.format) * empty}, reading)

    def _present(self, rollout: Rollout, reading: Reading, placed: _Placed) -> Paid:
        w, said, true = self._weights(rollout), len(reading.boxes), len(rollout.boxes)
        answered, hit = any(placed.real), placed.hits > 0
        f1 = 2 * placed.hits / (said + true)
        terms = {
            "format": w.format * _clean(reading),
            "answer": w.answer * (not placed.repeats),
            "localization": w.localization * (f1 + placed.region) / 2,
            "recall": w.recall * placed.hits / true,
            "count": w.count * hit * min(said, true) / max(said, true),
            "name": w.name * _named(rollout, reading, placed.real),
        }
        if not answered:
            terms = {name: paid * (name == "format") for name, paid in terms.items()}
        return _paid(terms, reading)


def _paid(terms: dict[str, float], reading: Reading) -> Paid:
    return Paid(
        reward=min(1.0, max(0.0, fsum(terms.values()))), terms=terms, outcome=reading.outcome
    )


def _clean(reading: Reading) -> bool:
    """Whether the reply is an answer and nothing else."""
    return reading.outcome in ("boxes", "empty") and _TALK.isdisjoint(reading.repairs)


def _right(rollout: Rollout) -> set[str]:
    """Label ids that name what is there."""
    names = (rollout.label,) if rollout.chosen else (rollout.label, rollout.query)
    return {label_id(name) for name in names if name} - {""}


def _named(rollout: Rollout, reading: Reading, real: Sequence[bool]) -> float:
    """1 for the right name; half of it beside another name, or for none to a known target."""
    labels = [name for name, counts in zip(reading.labels, real, strict=True) if counts]
    shown = (rollout.candidates or ()) if rollout.chosen else ()
    name = answer(labels, shown)
    if name is None:
        return 0.0 if rollout.chosen else 0.5
    right = _right(rollout)
    if name not in right:
        return 0.0
    given = {resolve(each, shown) for each in Counter(labels) if each} - {""}
    return 1.0 if given <= right else 0.5


def _place(rollouts: Sequence[Rollout], readings: Sequence[Reading]) -> list[_Placed]:
    """The boxes of replies whose photos show the target; matching as in scoring (section 6)."""
    if not rollouts:
        return []
    counts = np.array([len(each.boxes) for each in readings], dtype=np.int64)
    said = _within(_flat(readings), rollouts, counts)
    true = _flat(rollouts)
    true_counts = np.array([len(each.boxes) for each in rollouts], dtype=np.int64)
    image, first, second = geometry.pairs(counts, true_counts)
    overlap = geometry.overlaps(said[first], true[second])
    near = np.flatnonzero(overlap >= 0.5)
    taken = near[geometry.greedy(first[near], second[near], overlap[near])]
    matched, close = np.zeros((2, len(said)), dtype=np.bool_)
    matched[first[taken]] = True
    close[first[near]] = True
    owner = np.repeat(np.arange(len(rollouts)), counts)
    twice = ~matched & (close | _copied(said, owner))
    repeats = np.bincount(owner[twice], minlength=len(rollouts)) > 0
    least: Floats = SPECK * np.array([frame(each) for each in rollouts])
    real = matched | (geometry.areas(said) >= least[owner])
    hits = np.bincount(image[taken], minlength=len(rollouts))
    regions = geometry.region_ious(said, true, counts, true_counts)
    ends = np.cumsum(counts)[:-1]
    return [
        _Placed(real=own.tolist(), repeats=bool(again), hits=int(found), region=float(overlap))
        for own, again, found, overlap in zip(
            np.split(real, ends), repeats, hits, regions, strict=True
        )
    ]


def _flat(holders: Iterable[Reading | Rollout]) -> Boxes:
    """The boxes of all, one after another, shape (boxes, 4)."""
    boxes = chain.from_iterable(each.boxes for each in holders)
    return np.fromiter(chain.from_iterable(boxes), dtype=np.float64).reshape(-1, 4)


def _within(said: Boxes, rollouts: Sequence[Rollout], counts: Ints) -> Boxes:
    """Boxes cut to their photos, in the space of each reply; none left out."""
    limits = np.array([each.limits for each in rollouts], dtype=np.float64)
    return said.clip(0.0, np.repeat(limits, counts, axis=0)[:, [0, 1, 0, 1]])


def _copied(said: Boxes, owner: Ints) -> Bools:
    """Boxes that one reply says more than once, corner for corner, shape (boxes,)."""
    rows = np.column_stack([owner, said])
    _, which, times = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(times[which.reshape(-1)] > 1, dtype=np.bool_)


REWARD: Reward = Grounded()
