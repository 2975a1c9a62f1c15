"""When two names are one thing, and when they may not stand beside each other in a list."""

from collections.abc import Iterable
from functools import lru_cache

from fieldtruth.taxonomy.data import label
from fieldtruth.taxonomy.resolve import crop_id, kin, label_id
from fieldtruth.taxonomy.spelling import normalise, spellings

# Words that say where, or that something is there, and name nothing by themselves.
_LINKS = {"a", "an", "in", "of", "on", "the"}
_NAMELESS = _LINKS | {
    "crop", "crops", "damage", "disease", "diseased", "diseases", "flower", "flowers", "fruit",
    "fruits", "infected", "infection", "insect", "insects", "leaf", "leaves", "pest", "pests",
    "plant", "plants", "root", "roots", "seed", "seeds", "stem", "stems", "symptom", "symptoms",
    "weed", "weeds",
}  # fmt: skip


def same(a: str, b: str, crop: str | None = None) -> bool:
    """Whether two names are one thing, on this crop where one is given."""
    return label_id(a, crop) == label_id(b, crop)


def conflict(a: str, b: str, crop: str | None = None) -> bool:
    """Whether one can be mistaken for a case of the other, so that they cannot be rivals.

    True for one thing under two names; where the words of one lie within the other, in order, with
    its host or without; where one is a synonym of the other, or they share one; and where one
    organism causes both: on the crop, or on any host they share where none is given.
    Whole words only: an ant is not a part of anthracnose.

    >>> conflict("leaf rust", "rust"), conflict("ant", "anthracnose")
    (True, False)
    >>> conflict("black scurf", "stem canker", "potato"), conflict("scab", "black scurf", "potato")
    (True, False)
    """
    first, second = sorted((label_id(a, crop), label_id(b, crop)))
    return _conflict(first, second, crop_id(crop) if crop else None)


@lru_cache(maxsize=65536)
def _conflict(first: str, second: str, crop: str | None) -> bool:
    if any(_within(a, b) for a in _forms(first) for b in _forms(second)):
        return True
    return bool(_names_of(first) & _names_of(second)) or _one_organism(first, second, crop)


def _within(a: str, b: str) -> bool:
    """Whether the whole words of one lie within the other, in order."""
    return f" {a} " in f" {b} " or f" {b} " in f" {a} "


def _forms(name: str) -> set[str]:
    what = label(name)
    return {name, what.base} if what else {name}


def _names_of(name: str) -> set[str]:
    what = label(name)
    return {name, *what.synonyms} if what else {name}


def _one_organism(first: str, second: str, crop: str | None) -> bool:
    one, two = label(first), label(second)
    if one is None or two is None:
        return False
    if crop:
        where: Iterable[str | None] = (crop,)
    else:  # a label without hosts, as most pests and weeds, may be on any
        where = sorted(one.hosts.keys() & two.hosts.keys())
        where = where if one.hosts and two.hosts else (None,)
    return any(kin(a, b) for host in where for a in one.on(host) for b in two.on(host))


def akin(said: str, true: str, crop: str | None = None) -> bool:
    """Whether a name given without a list holds the true name, or lies in it.

    The lenient rule for open answers: one thing under two names, or the whole words of one
    within the other, in order, once the words of the crop are left out of both (agroground.md,
    11.2: the published rule takes any run of letters). A name of nothing but the crop, a
    part of the plant or "disease" names nothing, so it lies in no other.

    >>> akin("Late blight of potato", "late blight"), akin("rot", "carrot weevil")
    (True, False)
    >>> akin("corn rust", "common rust of maize"), akin("corn rust", "maize rust", "maize")
    (False, True)
    """
    if same(said, true):
        return label_id(true) != ""
    first, second = _without_crop(said, crop), _without_crop(true, crop)
    if not (_names(first) and _names(second)):
        return False
    return same(said, true, crop) or _within(label_id(first), label_id(second))


def _names(plain: str) -> bool:
    return not _NAMELESS.issuperset(plain.split())


def _without_crop(name: str, crop: str | None) -> str:
    """A normalised name without the crop in any of its spellings, and without loose ends."""
    text = f" {normalise(name)} "
    if crop:
        own = {*spellings(crop_id(crop)), normalise(crop)} - {""}
        for spelling in sorted(own, key=lambda each: (-len(each), each)):
            text = text.replace(f" {spelling} ", " ")
    words = text.split()
    while words and words[-1] in _LINKS:
        words.pop()
    while words and words[0] in _LINKS:
        words.pop(0)
    return " ".join(words)


def rivals(truth: Iterable[str], pool: Iterable[str], crop: str | None = None) -> list[str]:
    """The labels of a pool that are in conflict with no true one nor with each other.

    Sorted by label id, one spelling (the first in sorted order) per id, so that the result does
    not depend on the order of the pool.
    """
    taken = list(truth)
    kept: list[str] = []
    for name in sorted(set(pool), key=lambda n: (label_id(n, crop), n)):
        if not any(conflict(name, other, crop) for other in (*taken, *kept)):
            kept.append(name)
    return kept
