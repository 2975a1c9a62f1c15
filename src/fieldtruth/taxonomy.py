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
