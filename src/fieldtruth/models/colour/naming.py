"""What the lesions of a photo are called: the names of those most like them in training.

A photo's lesions are summed up in one row: their colours within and around, sizes, shapes, places
and count. Rows are standardised, turned so that the names differ most against the scatter within
a name (Fisher's discriminant, shrunk), and the nearest neighbours vote.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fieldtruth.models.colour import parts
from fieldtruth.models.colour.leaf import Array
from fieldtruth.models.colour.pixels import CLIP
from fieldtruth.records import Record
from fieldtruth.taxonomy import label_id

FEATURES = 2 * parts.FEATURES + 6  # of a photo, see `summary`
NEIGHBOURS = 9
DOUBT = 0.1  # a name with a smaller share of the votes is ruled out
SHRINK = 0.1  # of the scatter towards the unit matrix: names can have very few photos
DIRECTIONS = 8
DIGITS = 6  # of the turn: beyond them it hangs on the threads of numpy's linear algebra

Floats = NDArray[np.float64]


class Naming(Record, frozen=True, kw_only=True):
    """The rows of the training photos, turned; `labels` holds positions in `names`."""

    names: tuple[str, ...]  # label ids
    centre: tuple[float, ...]
    spread: tuple[float, ...]
    turn: tuple[tuple[float, ...], ...]  # (k, directions)
    points: tuple[tuple[float, ...], ...]  # (photos, directions)
    labels: tuple[int, ...]

    def __post_init__(self) -> None:
        directions = {len(row) for row in (*self.turn, *self.points)}
        if not len(self.centre) == len(self.spread) == len(self.turn) or len(directions) != 1:
            raise ValueError("expected a centre, a spread and a turn for every feature")
        if len(self.points) != len(self.labels) or not set(self.labels) <= set(
            range(len(self.names))
        ):
            raise ValueError("expected a label for every point, and a name for every label")

    def votes(self, row: Floats, among: Sequence[str]) -> dict[str, float]:
        """Each label id's share among the nearest training photos of these label ids.

        Nearer ones count more; a label id that no training photo has gets nothing.
        """
        kinds = [place for place, name in enumerate(self.names) if name in among]
        turn = np.array(self.turn)
        place = _turned(_standard(row, np.array(self.centre), np.array(self.spread)), turn)
        photos = np.flatnonzero(np.isin(self.labels, kinds))
        shares = dict.fromkeys(among, 0.0)
        if len(photos) == 0:
            return shares
        distance = np.sqrt(((np.array(self.points)[photos] - place) ** 2).sum(1))
        nearest = np.argsort(distance, kind="stable")[:NEIGHBOURS]
        weight = 1 / (distance[nearest] + 0.5 * distance[nearest].mean() + 1e-9)
        for photo, share in zip(photos[nearest], weight / weight.sum(), strict=True):
            shares[self.names[self.labels[photo]]] += float(share)
        return shares

    def rules_out(self, row: Floats, name: str) -> bool:
        """Whether the nearest training photos have other names, when some photo has this one."""
        wanted = label_id(name)
        return wanted in self.names and self.votes(row, self.names)[wanted] < DOUBT

    def best(self, row: Floats, offered: Sequence[str]) -> str:
        """The name offered, as written, with most votes among training photos of these names.

        Of equals the first offered. So where no training photo has any of them, the first
        offered is said: an answer has to be some name. Where none is offered, all it knows are.
        """
        offered = offered or self.names
        shares = self.votes(row, [label_id(name) for name in offered])
        return max(offered, key=lambda name: shares[label_id(name)])


def summary(features: Array) -> Floats:
    """(n, parts.FEATURES) of a photo's n lesions, n >= 1, to (FEATURES,).

    Their means weighted by area and plain, the most of some, area and count.
    """
    told = features.astype(np.float64)
    area = np.exp(told[:, 1])
    weighted = (told * (area / area.sum())[:, None]).sum(0)
    return np.concatenate(
        [weighted, told.mean(0), told[:, 1:5].max(0), [np.log(area.sum()), np.log(len(told))]]
    )


def fit_naming(rows: Floats, names: Sequence[str]) -> Naming:
    """(n, k) rows, n >= 1, and their names, in whatever spelling."""
    ids = [label_id(name) for name in names]
    kinds = tuple(sorted(set(ids)))
    labels = np.array([kinds.index(name) for name in ids])
    centre, spread = rows.mean(0), rows.std(0) + 1e-6
    scaled = _standard(rows, centre, spread)
    means = np.stack([scaled[labels == kind].mean(0) for kind in range(len(kinds))])
    left = scaled - means[labels]
    scatter = (1 - SHRINK) * left.T @ left / len(rows) + SHRINK * np.eye(rows.shape[1])
    whiten = np.linalg.inv(np.linalg.cholesky(scatter)).T
    share = np.bincount(labels) / len(labels)
    between = np.sqrt(share)[:, None] * ((means - scaled.mean(0)) @ whiten)
    directions = np.linalg.svd(np.round(between, DIGITS), full_matrices=False)[2]
    turn = np.round(whiten @ directions[: max(1, min(len(kinds) - 1, DIRECTIONS))].T, DIGITS)
    turn *= np.sign(turn[np.abs(turn).argmax(0), np.arange(turn.shape[1])])  # either way is right
    return Naming(
        names=kinds,
        centre=tuple(centre.tolist()),
        spread=tuple(spread.tolist()),
        turn=_rows(turn),
        points=_rows(_turned(scaled, turn)),
        labels=tuple(labels.tolist()),
    )


def _standard(rows: Floats, centre: Floats, spread: Floats) -> Floats:
    return np.clip((rows - centre) / spread, -CLIP, CLIP)


def _turned(scaled: Floats, turn: Floats) -> Floats:
    """(..., k) rows times the (k, directions) turn, always summed in the same order."""
    return np.asarray((scaled[..., None] * turn).sum(-2))


def _rows(table: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())
