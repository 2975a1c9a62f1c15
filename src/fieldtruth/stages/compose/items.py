"""Compose: annotated targets and healthy photos become benchmark items under both protocols.

AgroGround, section 3.1: four candidates, the true one and three of the same crop, in random
order; healthy photos are asked for a plausible disease of their crop. Beyond the paper: rivals
are never two names of one thing nor a part of the truth, lists hold exactly four or are null,
every draw is keyed by the item's id and by what is drawn, and a healthy photo's wording (lesions,
or whole leaves) is drawn with the share its crop's positives have, so that wording does not tell.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fieldtruth import draws
from fieldtruth.faults import Refused, Unreadable
from fieldtruth.records import Annotation, AskLevel, Drop, Healthy, Item, Kind, Sample, Target
from fieldtruth.stages.compose.pools import Pools, crop_key
from fieldtruth.stages.compose.sources import Album, Labelled, Photo
from fieldtruth.taxonomy import normalise, rivals

REASONS = ("no_annotation", "other_split", "unreadable_photo", "also_diseased")

# What a healthy plant is free of. It says nothing of a weed beside it, nor of what else is there.
DENIED: frozenset[Kind] = frozenset({"disease", "pest", "symptom", "stress"})

# A generator of its own for each thing that is drawn for an item, so that none moves another.
Draw = Callable[[str], np.random.Generator]


def compose(source: Labelled, split: str = "all", seed: int = 0) -> Iterator[Item | Drop]:
    """One item or drop for every target and every healthy photo, of one split or `all`.

    Of a target that was annotated at both levels it is the lesions that are asked for. An item's id
    is its sample's, with the label behind `#` where a photo has several targets.
    What any row names on the same picture is true of it: it is no rival there and not absent, and
    a picture that a row calls diseased is not healthy.
    Raises `Refused` for a photo that has another size than the one its boxes were drawn on.
    """
    pools = Pools(source.targets)
    marks = {name: found[0] for name, found in source.marks().items()}
    lesions, album = _lesion_shares(source.targets, marks), Album(source, seed, decode=True)
    named = Counter(target.sample for target in source.targets)
    shows, ill = _shown(source, marks, album)
    records: list[Target | Healthy] = [*source.targets, *source.healthy]
    for record in records:
        sample = source.samples[record.sample]
        if isinstance(record, Target) and record.id not in marks:
            yield drop(record, "no_annotation")
            continue
        try:
            image = photo_of(sample, marks.get(record.id))
            photo = album.photo(sample, image)
            own = album.split(sample, image)
        except Unreadable as fault:
            yield drop(record, "unreadable_photo", str(fault))
            continue
        base, truth = _photo(sample, photo), sorted(shows[photo.content])
        if split not in ("all", own):
            yield drop(record, "other_split", own)
        elif isinstance(record, Target):
            if named[record.sample] > 1:
                base["id"] = f"{sample.id}#{normalise(record.label)}"
            fields = _positive(record, truth, pools, partial(_draw, seed, base["id"]))
            if not source.exhaustive:
                fields["absent_query"] = None
            mark = marks[record.id]
            check_size(mark, (base["width"], base["height"]))
            yield Item(**base, **fields, level=mark.level, boxes=mark.boxes)
        elif photo.content in ill:
            yield drop(record, "also_diseased", ", ".join(truth))
        else:
            draw: Draw = partial(_draw, seed, base["id"])
            share = lesions.get(crop_key(record.crop), lesions[None])
            level: AskLevel = "lesion" if draw("wording").random() < share else "object"
            # A healthy photo tells nothing of a weed on it, unless its source names all there is.
            kinds = None if source.exhaustive else DENIED
            query = pools.plausible(record.crop, truth, kinds, draw("query"))
            yield Item(**base, **_negative(record, truth, query, pools, draw), ask_level=level)


def _shown(
    source: Labelled, marks: Mapping[str, Annotation], album: Album
) -> tuple[dict[str, set[str]], set[str]]:
    """The labels that rows name on each picture, and the pictures on which one is a trouble."""
    shows: dict[str, set[str]] = defaultdict(set)
    ill = set()
    for target in source.targets:
        sample = source.samples[target.sample]
        photo_of(sample, marks.get(target.id))  # refuses boxes on a photo that it does not have
        for image in sample.images:  # which of them shows it, the row does not say
            try:
                content = album.photo(sample, image).content
            except Unreadable:
                continue
            shows[content].add(target.label)
            if target.kind in DENIED:
                ill.add(content)
    return shows, ill


def _photo(sample: Sample, photo: Photo) -> dict[str, Any]:
    return {
        "id": sample.id,
        "image": photo.image,
        "image_sha256": photo.sha256,
        "width": photo.width,
        "height": photo.height,
        "source": sample.source,
        "licence": sample.licence,
        "group": photo.group,
    }


def photo_of(sample: Sample, mark: Annotation | None) -> str:
    """The photo of a sample that is asked about: the annotated one, the first of a healthy sample.

    Raises `Refused` for an annotation of a photo that its sample does not have.
    """
    if mark is not None and mark.image not in sample.images:
        raise Refused(
            f"{mark.id}: expected a photo of {sample.id}, {', '.join(sample.images)}, got "
            f"{mark.image}; annotate again"
        )
    return mark.image if mark else sample.images[0]


def check_size(mark: Annotation, size: tuple[int, int]) -> None:
    """Raises `Refused` for boxes that were drawn on a photo of another size, in pixels."""
    if (mark.width, mark.height) != size:
        raise Refused(
            f"{mark.image} ({mark.id}): expected the photo that its boxes were drawn on, "
            f"{mark.width} x {mark.height} pixels, got {size[0]} x {size[1]}; annotate again"
        )


def _draw(seed: int, item: str, what: str) -> np.random.Generator:
    return draws.rng(seed, f"compose {what}", item)


def _positive(target: Target, truth: Sequence[str], pools: Pools, draw: Draw) -> dict[str, Any]:
    near = (target.crop, target.kind)
    names = [target.label, *pools.distractors(truth, near, draw("distractors"))]
    own, other = pools.near(target.crop, target.kind)
    crop_only = rivals(truth, own, target.crop) or rivals(truth, other, target.crop)
    return {
        "crop": target.crop,
        "kind": target.kind,
        "label": target.label,
        "query": target.label,
        "absent_query": _pick(crop_only, draw("absent query")),
        "candidates": _listed(names, draw("order")),
    }


def _negative(
    healthy: Healthy,
    truth: Sequence[str],
    asked: tuple[str, Kind] | tuple[None, None],
    pools: Pools,
    draw: Draw,
) -> dict[str, Any]:
    query, kind = asked
    near = (healthy.crop, kind)
    names = [query, *pools.distractors([query, *truth], near, draw("distractors"))] if query else []
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


def _lesion_shares(
    targets: Sequence[Target], marks: Mapping[str, Annotation]
) -> Mapping[str | None, float]:
    """The share of lesion-level boxes among each crop's positives; under None among all."""
    levels: dict[str | None, list[bool]] = defaultdict(list)
    for target in targets:
        mark = marks.get(target.id)
        for where in (crop_key(target.crop), None) if mark else ():
            levels[where].append(mark is not None and mark.level == "lesion")
    return {None: 1.0} | {where: sum(seen) / len(seen) for where, seen in levels.items()}


def drop(record: Target | Healthy, reason: str, detail: str = "") -> Drop:
    """A record that went no further, and why."""
    return Drop(
        id=f"{record.id}#compose",
        sample=record.sample,
        parent=record.id,
        stage="compose",
        reason=reason,
        detail=detail,
    )
