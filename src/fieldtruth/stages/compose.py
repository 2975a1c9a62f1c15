"""Compose: annotated targets and healthy photos become benchmark items under both protocols.

AgroGround, section 3.1: four candidates, the true one and three of the same crop, in random
order; healthy photos are asked for a plausible disease of their crop. Beyond the paper: rivals
are never two names of one thing nor a part of the truth, lists hold exactly four or are null,
every draw is keyed by the item's id and by what is drawn, and a healthy photo's wording (lesions,
or whole leaves) is drawn with the share its crop's positives have, so that wording does not tell.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fieldtruth import draws
from fieldtruth.faults import Refused, Unreadable
from fieldtruth.images import facts
from fieldtruth.records import Annotation, AskLevel, Drop, Healthy, Item, Kind, Sample, Target
from fieldtruth.store import inside
from fieldtruth.taxonomy import crop_id, normalise, rivals

LISTED = 4  # names in a candidate list
REASONS = ("no_annotation", "other_split", "unreadable_photo")
SHARES = {"train": 0.6, "val": 0.1, "test": 0.3}  # used where the release has no split of its own

# A generator of its own for each thing that is drawn for an item, so that none moves another.
Draw = Callable[[str], np.random.Generator]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One source after `label` and `annotate`; `exhaustive` as the source says."""

    samples: Mapping[str, Sample]
    targets: Sequence[Target]
    healthy: Sequence[Healthy]
    annotations: Mapping[str, Annotation]  # by target id
    exhaustive: bool
    root: Path


class Pools:
    """The labels that may stand beside each other in a list.

    On a crop where some kind has fewer than four labels, all its kinds make one pool. Were the
    one pest of a crop listed among its diseases only when it is the truth, its name would give
    the answer away.
    """

    def __init__(self, targets: Iterable[Target]) -> None:
        self._of: dict[tuple[str, Kind], set[str]] = defaultdict(set)
        self._seen: dict[str, list[tuple[str, Kind]]] = defaultdict(list)
        for target in targets:
            self._of[_crop(target.crop), target.kind].add(target.label)
            self._seen[_crop(target.crop)].append((target.label, target.kind))
        for seen in self._seen.values():
            seen.sort()
        self._mixed = {crop for (crop, _), names in self._of.items() if len(names) < LISTED}

    def plausible(
        self, crop: str | None, rng: np.random.Generator
    ) -> tuple[str, Kind] | tuple[None, None]:
        """A label to ask a healthy photo about: as often as the crop's photos show it.

        So neither the label nor the wording of its kind tells healthy photos from others.
        """
        seen = self._seen.get(_crop(crop))
        return seen[int(rng.integers(len(seen)))] if seen else (None, None)

    def nearest(self, crop: str | None, kind: Kind | None) -> Iterator[set[str]]:
        """Same crop and kind, then all of the crop's kinds, then the kind on any crop."""
        own, keys = _crop(crop), sorted(self._of)
        whole = set().union(*(self._of[key] for key in keys if key[0] == own))
        yield whole if own in self._mixed else self._of.get((own, kind or "disease"), set())
        yield whole
        yield set().union(*(self._of[key] for key in keys if key[1] == kind))

    def distractors(
        self, truth: Collection[str], near: tuple[str | None, Kind | None], rng: np.random.Generator
    ) -> list[str]:
        """Up to three labels in conflict with no true one and not with each other.

        Pools farther off are not looked at, nor drawn from, once there are three.
        """
        chosen: list[str] = []
        for pool in self.nearest(*near):
            if len(chosen) == 3:
                break
            names = rivals([*truth, *chosen], pool, near[0])
            take = min(3 - len(chosen), len(names))
            chosen += [names[i] for i in rng.permutation(len(names))[:take]]
        return chosen


def compose(source: Labelled, split: str = "all", seed: int = 0) -> Iterator[Item | Drop]:
    """One item or drop for every target and every healthy photo, of one split or `all`.

    An item's id is its sample's, with the label behind `#` where a photo has several targets.
    Raises `Refused` for a photo that has another size than the one its boxes were drawn on.
    """
    pools = Pools(source.targets)
    shows: dict[str, list[str]] = defaultdict(list)
    for target in source.targets:
        shows[target.sample].append(target.label)
    lesions = _lesion_shares(source)
    records: list[Target | Healthy] = [*source.targets, *source.healthy]
    for record in records:
        sample = source.samples[record.sample]
        if isinstance(record, Target) and record.id not in source.annotations:
            yield _drop(record, "no_annotation")
            continue
        try:
            base = _photo(sample, source.root)
        except Unreadable as fault:
            yield _drop(record, "unreadable_photo", str(fault))
            continue
        own = sample.native.get("split") or keyed_split(base["group"], seed)
        if split not in ("all", own):
            yield _drop(record, "other_split", own)
        elif isinstance(record, Target):
            truth = shows[record.sample]
            if len(truth) > 1:
                base["id"] = f"{sample.id}#{normalise(record.label)}"
            fields = _positive(record, truth, pools, partial(_draw, seed, base["id"]))
            if not source.exhaustive:
                fields["absent_query"] = None
            mark = source.annotations[record.id]
            _check_size(mark, base)
            yield Item(**base, **fields, level=mark.level, boxes=mark.boxes)
        else:
            draw: Draw = partial(_draw, seed, base["id"])
            share = lesions.get(_crop(record.crop), lesions[None])
            level: AskLevel = "lesion" if draw("wording").random() < share else "object"
            yield Item(**base, **_negative(record, pools, draw), ask_level=level)


def keyed_split(group: str, seed: int) -> str:
    """The split of a group of photos, drawn by its name with the shares of `SHARES`."""
    spot = draws.rng(seed, "split", group).random()
    for name, share in SHARES.items():
        if spot < share:
            return name
        spot -= share
    return "test"


def _photo(sample: Sample, root: Path) -> dict[str, Any]:
    seen = facts(inside(root, sample.images[0]))
    return {
        "id": sample.id,
        "image": sample.images[0],
        "image_sha256": seen.sha256,
        "width": seen.width,
        "height": seen.height,
        "source": sample.source,
        "licence": sample.licence,
        "group": sample.native.get("group") or seen.pixels,
    }


def _check_size(mark: Annotation, base: Mapping[str, Any]) -> None:
    size = (base["width"], base["height"])
    if (mark.width, mark.height) != size:
        raise Refused(
            f"{base['image']} ({mark.id}): expected the photo that its boxes were drawn on, "
            f"{mark.width} x {mark.height} pixels, got {size[0]} x {size[1]}; annotate again"
        )


def _draw(seed: int, item: str, what: str) -> np.random.Generator:
    return draws.rng(seed, f"compose {what}", item)


def _positive(target: Target, truth: Sequence[str], pools: Pools, draw: Draw) -> dict[str, Any]:
    near = (target.crop, target.kind)
    names = [target.label, *pools.distractors(truth, near, draw("distractors"))]
    own, other, _ = pools.nearest(target.crop, target.kind)
    crop_only = rivals(truth, own, target.crop) or rivals(truth, other, target.crop)
    return {
        "crop": target.crop,
        "kind": target.kind,
        "label": target.label,
        "query": target.label,
        "absent_query": _pick(crop_only, draw("absent query")),
        "candidates": _listed(names, draw("order")),
    }


def _negative(healthy: Healthy, pools: Pools, draw: Draw) -> dict[str, Any]:
    query, kind = pools.plausible(healthy.crop, draw("query"))
    near = (healthy.crop, kind)
    names = [query, *pools.distractors([query], near, draw("distractors"))] if query else []
    return {
        "crop": healthy.crop,
        "kind": None,
        "label": None,
        "level": "healthy",
        "boxes": (),
        "query": query,
        "absent_query": query,
        "candidates": _listed(names, draw("order")),
        "ask_kind": kind,
    }


def _listed(names: Sequence[str], rng: np.random.Generator) -> tuple[str, ...] | None:
    """Four names in an order drawn for them; None where there are fewer."""
    return tuple(names[i] for i in rng.permutation(4)) if len(names) == 4 else None


def _pick(names: Sequence[str], rng: np.random.Generator) -> str | None:
    return names[int(rng.integers(len(names)))] if names else None


def _lesion_shares(source: Labelled) -> Mapping[str | None, float]:
    """The share of lesion-level boxes among each crop's positives; under None among all."""
    levels: dict[str | None, list[bool]] = defaultdict(list)
    for target in source.targets:
        mark = source.annotations.get(target.id)
        for where in (_crop(target.crop), None) if mark else ():
            levels[where].append(mark is not None and mark.level == "lesion")
    return {None: 1.0} | {where: sum(seen) / len(seen) for where, seen in levels.items()}


def _crop(name: str | None) -> str:
    return crop_id(name) if name else ""


def _drop(record: Target | Healthy, reason: str, detail: str = "") -> Drop:
    return Drop(
        id=f"{record.id}#compose",
        sample=record.sample,
        parent=record.id,
        stage="compose",
        reason=reason,
        detail=detail,
    )
