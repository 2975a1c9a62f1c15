"""Fit the colour model from boxes: what a user has, who seldom has masks.

A box holds leaf as well as lesion, so its pixels are labelled in rounds: first those in the
ellipse that fills it, then those that the last fit finds most like a lesion, always the same
share. The thresholds are set on photos that the blob regression did not see.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fieldtruth.draws import rng
from fieldtruth.faults import Usage
from fieldtruth.geometry import as_boxes, iou, match
from fieldtruth.images import open_upright
from fieldtruth.models.colour import naming, parts, pixels
from fieldtruth.models.colour.fitted import Fitted
from fieldtruth.models.colour.leaf import Array
from fieldtruth.models.colour.parts import Parts
from fieldtruth.models.colour.pixels import Logistic, View
from fieldtruth.records import Item
from fieldtruth.store import inside

SEED = 0
PHOTOS = 160  # at most so many teach the pixel regression
OUTSIDE = 400  # pixels drawn from outside the boxes of a photo
INSIDE = 60  # pixels drawn from each box
FILL = 0.63  # share of a box that is lesion; BRACOL's masks have 0.46 to 0.75, median 0.60
CENTRAL = 2.0  # log odds that a pixel at the rim of the box's ellipse lacks against its middle
ROUNDS = 2
RIDGE_PIXEL, RIDGE_BLOB = 1.0, 10.0
FOLDS = 3
MISJUDGED = 0.1  # so many training photos may be ruled out under their own name
KEEPS = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5)

Floats = NDArray[np.float64]


class _Photo(NamedTuple):
    """A training photo once its blobs are known; few numbers, so that many fit in memory."""

    item: Item
    found: Parts
    boxes: Floats  # (n, 4) of the blobs, in pixels of the photo


class _Row(NamedTuple):
    """The lesions of one training photo in one row, for naming."""

    summary: Floats  # (naming.FEATURES,)
    name: str
    group: str


def fit(items: Sequence[Item], folder: Path) -> Fitted:
    """Learn from a training benchmark's items, whose photos lie in `folder`; see `fit_all`."""
    return fit_all([(items, folder)])


def fit_all(sets: Sequence[tuple[Sequence[Item], Path]]) -> Fitted:
    """Learn from the items of some training benchmarks, each with the folder of its photos.

    Lesion-level items teach where lesions are, and healthy ones where none are; object-level
    ones teach names only, since their boxes are not lesions. Raises `Usage` without any
    lesion-level item or where two sets share an id, and `Unreadable` on a photo that cannot be
    opened.
    """
    told = ", ".join(str(folder) for _, folder in sets)
    photo = {item.id: inside(folder, item.image) for some, folder in sets for item in some}
    items = sorted((item for some, _ in sets for item in some), key=lambda item: item.id)
    if len(photo) != len(items):
        raise Usage(f"{told}: expected an id of its own for each item, got one twice")
    if not any(item.level == "lesion" for item in items):
        raise Usage(
            f"{told}: expected at least one item of level lesion to fit colour on, got "
            f"{len(items)} others; train on a benchmark that has lesion boxes"
        )
    taught = [item for item in items if item.level != "object"]
    pixel = _fit_pixels(taught, photo)
    photos = [_look(item, photo, pixel) for item in items]
    judged = [each for each in photos if each.item.level != "object"]
    blob, chances = _fit_blobs(judged)
    keep = max(KEEPS, key=lambda share: _f1(judged, chances, share))
    rows = _rows(photos, blob, keep)
    return Fitted(
        photos=len(items),
        pixel=pixel,
        blob=blob,
        keep=keep,
        enough=max(keep, _enough(judged, chances)),
        naming=_fit_naming(rows),
        declines=_ruled_out(rows) <= MISJUDGED,
    )


def _fit_pixels(items: Sequence[Item], photo: Mapping[str, Path]) -> Logistic:
    order = rng(SEED, "colour photos", "").permutation(len(items))[:PHOTOS]
    outside, inside_, rims = [], [], []
    for item in (items[place] for place in sorted(order.tolist())):
        seen = _view(item, photo)
        rest, boxed, rim = _draw(seen, item)
        outside.append(rest)
        inside_.extend(boxed)
        rims.extend(rim)
    if not inside_:
        raise Usage("expected lesion boxes that lie on a leaf, found none that do")
    return _relabel(np.concatenate(outside), np.stack(inside_), np.stack(rims))


def _draw(seen: View, item: Item) -> tuple[Array, list[Array], list[Floats]]:
    """Pixels outside all boxes; `INSIDE` of each box; how far each is from the box's middle."""
    draw = rng(SEED, "colour pixels", item.id)
    features = pixels.describe(seen)
    number = np.full(seen.mask.shape, -1)
    number[seen.mask] = np.arange(len(features))
    free = seen.mask.copy()
    boxed, rims = [], []
    for box in item.boxes:
        x1, y1, x2, y2 = seen.here(box)
        free[y1:y2, x1:x2] = False
        y, x = np.nonzero(seen.mask[y1:y2, x1:x2])
        if len(x) == 0:
            continue
        picked = draw.integers(0, len(x), INSIDE)
        y, x = y[picked], x[picked]
        across, down = (2 * x + 1) / (x2 - x1) - 1, (2 * y + 1) / (y2 - y1) - 1
        boxed.append(features[number[y1 + y, x1 + x]])
        rims.append(across**2 + down**2)
    rest = number[free]
    return features[draw.permutation(rest)[:OUTSIDE]], boxed, rims


def _relabel(outside: Array, boxed: Array, rims: Floats) -> Logistic:
    """(m, k) pixels outside, (b, INSIDE, k) inside and their (b, INSIDE) distances."""
    features = np.concatenate([outside, boxed.reshape(-1, boxed.shape[-1])])
    lesion = rims <= 1

    def fitted() -> Logistic:
        true = np.concatenate([np.zeros(len(outside)), lesion.ravel().astype(float)])
        return pixels.fit_logistic(features, true, RIDGE_PIXEL)

    for _ in range(ROUNDS):
        odds = fitted().odds(features[len(outside) :])
        like = odds.reshape(rims.shape) - CENTRAL * rims
        lesion = like >= np.quantile(like, 1 - FILL, axis=1, keepdims=True)
    return fitted()


def _view(item: Item, photo: Mapping[str, Path]) -> View:
    return pixels.view(open_upright(photo[item.id]))


def _look(item: Item, photo: Mapping[str, Path], pixel: Logistic) -> _Photo:
    seen = _view(item, photo)
    found = parts.grow(seen, pixels.odds_map(seen, pixel))
    return _Photo(item, found, as_boxes(seen.back(found.boxes)))


def _fit_blobs(photos: Sequence[_Photo]) -> tuple[Logistic, list[Array]]:
    """The regression over all photos, and each photo's chances by one that did not see its group.

    Groups, not photos, are parted, since photos of a group are near copies.
    """
    fold = _folds(photo.item.group for photo in photos)
    mine = np.array([fold[photo.item.group] for photo in photos])
    true = [_matched(photo) for photo in photos]
    chances: list[Array] = [np.zeros(0, np.float32)] * len(photos)
    for turn in range(FOLDS):
        others = np.flatnonzero(mine != turn)
        fitted = _fit_some(photos, true, others if len(fold) >= FOLDS else range(len(photos)))
        for place in np.flatnonzero(mine == turn).tolist():
            chances[place] = fitted.chance(photos[place].found.features)
    return _fit_some(photos, true, range(len(photos))), chances


def _folds(groups: Iterable[str]) -> dict[str, int]:
    """Which of `FOLDS` parts each group is in."""
    return {group: place % FOLDS for place, group in enumerate(sorted(set(groups)))}


def _fit_some(photos: Sequence[_Photo], true: Sequence[Floats], some: Iterable[int]) -> Logistic:
    chosen = list(some)
    features = np.concatenate([photos[place].found.features for place in chosen])
    matched = np.concatenate([true[place] for place in chosen])
    if len(features) == 0:
        raise Usage("expected lesions that differ from the leaf in colour, found no such spot")
    return pixels.fit_logistic(features, matched, RIDGE_BLOB)


def _matched(photo: _Photo) -> Floats:
    """(n,) whether each blob's box meets a true one at IoU 0.5, the measure's own threshold."""
    if not photo.item.boxes:
        return np.zeros(len(photo.boxes))
    overlap = iou(photo.boxes, as_boxes(photo.item.boxes))
    return np.asarray(overlap.max(axis=1) >= 0.5, np.float64)


def _f1(photos: Sequence[_Photo], chances: Sequence[Array], keep: float) -> float:
    """Pooled over the photos with lesions (design, section 6)."""
    matched, said, true = 0, 0, 0
    for photo, chance in zip(photos, chances, strict=True):
        if photo.item.positive:
            boxes = photo.boxes[parts.select(photo.found.parent, chance - keep)]
            matched += len(match(boxes, as_boxes(photo.item.boxes)))
            said += len(boxes)
            true += len(photo.item.boxes)
    return 2 * matched / max(said + true, 1)


def _enough(photos: Sequence[_Photo], chances: Sequence[Array]) -> float:
    """The best blob's chance that parts healthy from ill leaves best (Youden 1950), or 0."""
    best = np.array([chance.max(initial=0.0) for chance in chances])
    ill = np.array([photo.item.positive for photo in photos])
    if ill.all():
        return 0.0
    order = np.unique(best)
    cuts = np.concatenate([[0.0], (order[1:] + order[:-1]) / 2])
    right = [(best[~ill] < cut).mean() + (best[ill] >= cut).mean() for cut in cuts]
    return float(cuts[int(np.argmax(right))])


def _rows(photos: Sequence[_Photo], blob: Logistic, keep: float) -> list[_Row]:
    """What can be named: the lesions kept on each photo, or the likeliest where none is."""
    rows = []
    for photo in photos:
        if photo.item.label is None or len(photo.boxes) == 0:
            continue
        chance = blob.chance(photo.found.features)
        kept = parts.select(photo.found.parent, chance - keep)
        some = kept if len(kept) else np.array([int(chance.argmax())])
        summary = naming.summary(photo.found.features[some])
        rows.append(_Row(summary, photo.item.label, photo.item.group))
    if not rows:
        raise Usage("expected a photo on which some spot could be named, found none")
    return rows


def _fit_naming(rows: Sequence[_Row]) -> naming.Naming:
    return naming.fit_naming(np.stack([row.summary for row in rows]), [row.name for row in rows])


def _ruled_out(rows: Sequence[_Row]) -> float:
    """The share of photos ruled out under their own name by a naming that did not see them."""
    fold = _folds(row.group for row in rows)
    wrong = 0
    for turn in range(FOLDS):
        others = [row for row in rows if fold[row.group] != turn]
        if not others:
            return 1.0
        named = _fit_naming(others)
        mine = [row for row in rows if fold[row.group] == turn]
        wrong += sum(named.rules_out(row.summary, row.name) for row in mine)
    return wrong / len(rows)
