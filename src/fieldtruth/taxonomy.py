"""Names of what is wrong with a plant, and when two of them are one thing.

One label identity (design, section 2, rule 9): prompts, answers, candidate lists, truth and
scoring all meet in `label_id`. The names themselves come later; here are the rules.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

_MARKS = re.compile(r"[\s\-_/\u2010-\u2015\u2212]+")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")  # they choose a glyph, not a word

# One thing under several spellings. Left: as written, normalised; right: the label id.
SYNONYMS: Mapping[str, str] = {
    "asochyta blight": "ascochyta blight",
    "damping off disease": "damping off",
    "early leaf blight": "early blight",
    "late leaf blight": "late blight",
    "powder mildew": "powdery mildew",
    "rusts": "rust",
    "witches broom disease": "witches broom",
}
CROPS: Mapping[str, str] = {
    "bell pepper": "pepper",
    "capsicum": "pepper",
    "corn": "maize",
    "pepper bell": "pepper",
}

# Words that say where, or that something is there, and name nothing by themselves.
_LINKS = {"a", "an", "in", "of", "on", "the"}
_NAMELESS = _LINKS | {
    "crop", "crops", "damage", "disease", "diseased", "diseases", "flower", "flowers", "fruit",
    "fruits", "infected", "infection", "insect", "insects", "leaf", "leaves", "pest", "pests",
    "plant", "plants", "root", "roots", "seed", "seeds", "stem", "stems", "symptom", "symptoms",
    "weed", "weeds",
}  # fmt: skip


@lru_cache(maxsize=65536)
def normalise(name: str) -> str:
    """Case, width, accents' form, hyphens, underscores, punctuation and blanks made one.

    >>> normalise("  Cedar-Apple_Rust. ")
    'cedar apple rust'
    >>> normalise("Witches\u2019 broom") == normalise("witches' broom")
    True
    """
    text = _MARKS.sub(" ", unicodedata.normalize("NFKC", name).casefold())
    text = "".join(filter(_of_a_word, _SELECTORS.sub("", text)))
    return unicodedata.normalize("NFKC", " ".join(text.split()))


def _of_a_word(letter: str) -> bool:
    """Letters, digits, blanks, and marks: the vowels of many scripts are marks."""
    return letter.isalnum() or letter == " " or unicodedata.category(letter).startswith("M")


def label_id(name: str) -> str:
    """The one id of a label, whatever way it is written.

    >>> label_id("Powder Mildew")
    'powdery mildew'
    """
    plain = normalise(name)
    return SYNONYMS.get(plain, plain)


def crop_id(name: str) -> str:
    """The one id of a crop: corn and maize are one.

    >>> crop_id("Corn")
    'maize'
    """
    plain = normalise(name)
    return CROPS.get(plain, plain)


def same(a: str, b: str) -> bool:
    """Whether two names are one thing."""
    return label_id(a) == label_id(b)


def conflict(a: str, b: str) -> bool:
    """Whether one can be mistaken for a case of the other, so that they cannot be rivals.

    True for one thing under two names and where the words of one lie within the other, in
    order. Whole words only: an ant is not a part of anthracnose.

    >>> conflict("leaf rust", "rust"), conflict("ant", "anthracnose")
    (True, False)
    """
    first, second = label_id(a), label_id(b)
    return f" {first} " in f" {second} " or f" {second} " in f" {first} "


def akin(said: str, true: str, crop: str | None = None) -> bool:
    """Whether a name given without a list holds the true name, or lies in it.

    The lenient rule for open answers: one thing under two names, or the whole words of one
    within the other, in order, once the words of the crop are left out of both (agroground.md,
    11.2 and W-73: the published rule takes any run of letters). A name of nothing but the crop, a
    part of the plant or "disease" names nothing, so it lies in no other.

    >>> akin("Late blight of potato", "late blight"), akin("rot", "carrot weevil")
    (True, False)
    >>> akin("corn rust", "common rust of maize"), akin("corn rust", "maize rust", "maize")
    (False, True)
    """
    if same(said, true):
        return label_id(true) != ""
    first, second = _without_crop(said, crop), _without_crop(true, crop)
    return _names(first) and _names(second) and conflict(first, second)


def _names(plain: str) -> bool:
    return not _NAMELESS.issuperset(plain.split())


def _without_crop(name: str, crop: str | None) -> str:
    """A normalised name without the crop in any of its spellings, and without loose ends."""
    text = f" {normalise(name)} "
    if crop:
        own = crop_id(crop)
        spellings = {own, normalise(crop), *(other for other, one in CROPS.items() if one == own)}
        for spelling in sorted(spellings - {""}, key=lambda each: (-len(each), each)):
            text = text.replace(f" {spelling} ", " ")
    words = text.split()
    while words and words[-1] in _LINKS:
        words.pop()
    while words and words[0] in _LINKS:
        words.pop(0)
    return " ".join(words)


def rivals(truth: Iterable[str], pool: Iterable[str]) -> list[str]:
    """The labels of a pool that are in conflict with no true one nor with each other.

    Sorted by label id, one spelling (the first in sorted order) per id, so that the result does
    not depend on the order of the pool.
    """
    taken = list(truth)
    kept: list[str] = []
    for name in sorted(set(pool), key=lambda n: (label_id(n), n)):
        if not any(conflict(name, other) for other in (*taken, *kept)):
            kept.append(name)
    return kept
