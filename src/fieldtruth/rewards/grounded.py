"""Our reward: the reply is read by the one reader and graded as scoring grades it.

It closes what can be had for nothing under the published one (agroground.md, 16.7):

- a box under 0.001 of the photo that finds nothing is a speck: it is no answer, has no vote, and
  still counts as a false box;
- what is said twice costs the whole answer term, on top of precision, or the format where there is
  no answer: a box on what another found, or two that find nothing and are the same, or all but;
  over 300 boxes that find nothing are not compared: some are taken to be the same;
- the name counts on known-target prompts too; several names under one reply count half, and
  nothing where something is said twice: a name is not carried by repeating its box;
- a malformed object is no box, and costs nothing else;
- how many there are counts, times the share of boxes that hit: a box more that finds nothing never
  adds to it;
- a photo without what is asked for, healthy or not, pays for the explicit empty list alone;
- words around the answer or within it, a second list, or an object around the list cost the format
  term.
"""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from itertools import chain, compress, groupby
from math import fsum
from operator import attrgetter
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
_AT_ONCE = 500  # replies: with more, memory goes back to the system each time, a tenth slower
_PHOTO = attrgetter("boxes", "space", "width", "height")
_HIT = 0.5  # the IoU of a match
_ANY = 5e-324  # of boxes that share anything
_SAME = 0.9  # the IoU of two boxes that say one thing
_MANY = 300  # boxes that find nothing; comparing grows with the square of their number
# Repairs that say there was more than the words of one list.
_TALK = {"prose", "comment", "several_lists", "wrapped"}


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


class _Placed(NamedTuple):
    """The boxes of replies against the true ones: for each reply one entry of each field.

    `labels` are those of boxes that are no specks; `answered` says whether there is such a box,
    `repeats` whether something is said twice; `said`, `true` and `hits` are numbers of boxes.
    """

    labels: list[Sequence[str]]
    answered: Bools
    repeats: Bools
    said: Ints
    true: Ints
    hits: Ints
    regions: Floats


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
        """See `Reward`. Many replies are worked out at once."""
        starts = range(0, len(rollouts), _AT_ONCE)
        return [paid for at in starts for paid in self._pay(rollouts[at : at + _AT_ONCE])]

    def _pay(self, rollouts: Sequence[Rollout]) -> list[Paid]:
        """Some of them, term by term."""
        readings = [read_boxes(each.text, each.space, each.finish) for each in rollouts]
        placed = _place(rollouts, readings)
        chosen = _ints(each.chosen for each in rollouts)
        both = np.array([astuple(self.known_target), astuple(self.candidates)])
        form, answer, localization, recall, count, name = both[chosen].T
        worded = np.array(list(map(_clean, readings)), dtype=np.bool_)
        once, hits = ~placed.repeats, placed.hits
        said, true = np.maximum(placed.said, 1), np.maximum(placed.true, 1)
        answered = placed.answered & (placed.true > 0)
        terms = np.array(
            [
                form * (worded & (answered | once)),
                answer * once,
                localization * (2 * hits / (said + true) + placed.regions) / 2,
                recall * hits / true,
                count * hits / said * np.minimum(said, true) / np.maximum(said, true),
                name * _named(rollouts, placed),
            ]
        )
        terms[1:, ~answered] = 0.0
        return [
            _paid(
                {"format": a, "answer": b, "localization": c, "recall": d, "count": e, "name": f}
                if asked.boxes
                else {"format": a, "abstention": (1 - weight) * (reading.outcome == "empty")},
                reading,
            )
            for (a, b, c, d, e, f), weight, asked, reading in zip(
                terms.T.tolist(), form.tolist(), rollouts, readings, strict=True
            )
        ]


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


def _named(rollouts: Sequence[Rollout], placed: _Placed) -> Floats:
    """What the names of each reply are worth, from 0 to 1; one name for all is looked up once."""
    known: dict[tuple[object, ...], float] = {}
    shares: list[float] = []
    for asked, labels, again in zip(rollouts, placed.labels, placed.repeats.tolist(), strict=True):
        first = labels[0] if labels else ""
        if not asked.boxes:
            shares.append(0.0)
        elif labels.count(first) < len(labels):
            shares.append(_share(asked, labels, repeats=again))
        else:
            case = (first, asked.protocol, asked.candidates, asked.label, asked.query)
            if (share := known.get(case)) is None:
                share = known[case] = _share(asked, labels, repeats=again)
            shares.append(share)
    return np.array(shares, dtype=np.float64)


def _share(rollout: Rollout, labels: Sequence[str], *, repeats: bool) -> float:
    """1 for the right name; half of it beside another name, or for none to a known target."""
    given = votes(labels, (rollout.candidates or ()) if rollout.chosen else ())
    if not given:
        return 0.0 if rollout.chosen else 0.5
    right = _right(rollout)
    if winner(given) not in right:
        return 0.0
    return 1.0 if given.keys() <= right else 0.5 * (not repeats)


def _place(rollouts: Sequence[Rollout], readings: Sequence[Reading]) -> _Placed:
    """The boxes of replies on their photos; matching as in scoring (section 6)."""
    counts = _ints(len(each.boxes) for each in readings)
    # Replies to one photo stand side by side: its boxes are taken once.
    photos = [(next(run), 1 + sum(1 for _ in run)) for _, run in groupby(rollouts, _PHOTO)]
    shown = _flat([each.boxes for each, _ in photos])
    shown_counts = _ints(len(each.boxes) for each, _ in photos)
    photo = np.repeat(np.arange(len(photos)), _ints(many for _, many in photos))
    true_counts = shown_counts[photo]
    true = shown.take(geometry.rows_of(shown_counts, photo), axis=0)
    owner = np.repeat(np.arange(len(counts)), counts)
    limits = np.array([each.limits for each, _ in photos], dtype=np.float64).reshape(-1, 2)[photo]
    # Cut to their photos, in the space of each reply; none is left out.
    said = _flat([each.boxes for each in readings]).clip(
        0.0, np.tile(limits, 2).take(owner, axis=0)
    )
    one, other, overlap = geometry.near(said, true, counts, true_counts, threshold=_ANY)
    hit = overlap >= _HIT
    first = one[hit]
    found = first[_matched(first, other[hit], overlap[hit])]
    matched, close = np.zeros((2, len(said)), dtype=np.bool_)
    matched[found], close[first] = True, True
    least: Floats = SPECK * limits.prod(axis=1)
    for row in np.flatnonzero(np.isinf(least)).tolist():
        least[row] = SPECK * frame(rollouts[row])
    real = matched | (geometry.areas(said) >= least[owner])
    kept, hits = (np.bincount(owner[rows], minlength=len(counts)) for rows in (real, found))
    repeats = np.bincount(owner[close & ~matched], minlength=len(counts)) > 0
    repeats |= _alike(said[~close], owner[~close], len(counts))
    regions = _regions((said, counts), (shown, shown_counts, photo), (one, other))
    labels = _voters(readings, counts, kept, real)
    return _Placed(labels, kept > 0, repeats, counts, true_counts, hits, regions)


def _matched(said: Ints, true: Ints, overlap: Floats) -> Ints:
    """The pairs that `geometry.greedy` takes, in no order: as a rule most have no rival."""
    rivals = np.bincount(said)[said] + np.bincount(true)[true] > 2
    some = np.flatnonzero(rivals)
    taken = geometry.greedy(said[some], true[some], overlap[some])
    return np.concatenate([np.flatnonzero(~rivals), some[taken]])


def _regions(
    told: tuple[Boxes, Ints], there: tuple[Boxes, Ints, Ints], pairs: tuple[Ints, Ints]
) -> Floats:
    """`geometry.region_ious` where the pairs that meet are known: (row of said, of true boxes).

    What both unions share is covered by what the pairs share; as a rule that are fewer boxes than
    both have, and then these are measured. Equal up to rounding, and exactly in whole numbers.
    """
    (said, counts), (shown, shown_counts, photo) = told, there
    true_rows, true_counts = geometry.rows_of(shown_counts, photo), shown_counts[photo]
    replies = np.arange(len(counts))
    owner, true_owner = np.repeat(replies, counts), np.repeat(replies, true_counts)
    pair_owner = owner[pairs[0]]
    few = np.bincount(pair_owner, minlength=len(counts)) <= counts + true_counts
    by_pair, by_box, by_true = few[pair_owner], ~few[owner], ~few[true_owner]
    one = said.take(pairs[0][by_pair], axis=0)
    other = shown.take(true_rows[pairs[1][by_pair]], axis=0)
    inner = np.minimum(one, other)
    inner[:, :2] = np.maximum(one[:, :2], other[:, :2])
    both = np.concatenate([inner, said[by_box], shown[true_rows[by_true]]])
    owners = np.concatenate([pair_owner[by_pair], owner[by_box], true_owner[by_true]])
    boxes = np.concatenate([said, both.take(np.argsort(owners, kind="stable"), axis=0), shown])
    number = np.bincount(owners, minlength=len(counts))
    areas = geometry.union_areas(boxes, np.concatenate([counts, number, shown_counts]))
    first, swept, second = np.split(areas, [len(counts), 2 * len(counts)])
    apart = first + second[photo]
    shared, union = np.where(few, swept, apart - swept), np.where(few, apart - swept, swept)
    ratio = np.divide(shared, union, out=np.zeros_like(union), where=union > 0)
    return np.clip(ratio, 0.0, 1.0)


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def _flat(boxes: Iterable[Sequence[Box]]) -> Boxes:
    """The boxes of all, one after another, shape (boxes, 4)."""
    corners = chain.from_iterable(chain.from_iterable(boxes))
    return np.fromiter(corners, dtype=np.float64).reshape(-1, 4)


def _alike(far: Boxes, owner: Ints, replies: int) -> Bools:
    """Which replies have the same box twice, or all but, among those that find nothing.

    Of those that lie outside the photo nothing is left, so that any two are the same.
    """
    counts, gone = np.bincount(owner, minlength=replies), geometry.areas(far) <= 0
    twice: Bools = np.bincount(owner[gone], minlength=replies) > 1
    twice |= counts > _MANY
    some = ~twice[owner]
    far, counts = far[some], np.where(twice, 0, counts)
    first, second, _ = geometry.near(far, far, counts, counts, _SAME)
    twice[owner[some][first[first != second]]] = True
    return twice


def _voters(
    readings: Sequence[Reading], counts: Ints, kept: Ints, real: Bools
) -> list[Sequence[str]]:
    """Of each reply the labels of the boxes that are no specks."""
    labels: list[Sequence[str]] = [each.labels for each in readings]
    ends = np.cumsum(counts)
    for row in np.flatnonzero(kept < counts).tolist():
        counted = real[ends[row] - counts[row] : ends[row]].tolist()
        labels[row] = tuple(compress(labels[row], counted))
    return labels


REWARD: Reward = Grounded()
