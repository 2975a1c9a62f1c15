"""Words that give an answer away: which of them another text holds.

Whole words, in American spelling, crops under one name, plurals and the ends -ing and -ed folded,
so that "spotted leaves of corn" and "a spot on a maize leaf" have all their words in common.
"""

import re
from functools import lru_cache

from fieldtruth.taxonomy.spelling import normalise, one_crop_name, spelled


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# They join words, count, or say how sure somebody is; they name nothing.
_LINKS = _words(
    "a about above after all also an and any are as at be because been before below between both "
    "but by can could do does during each either every few for from had has have her his how if "
    "in into is it its just less like many may might more most much must near no not of off on "
    "one only onto or other out over own per same should since so some such than that the their "
    "them then there these they this those through to too two under until up upon very was were "
    "what when where which while who whose why will with within without would you your"
)
# What questions about plants are worded with. An answer is not told by them.
_FRAME = _words(
    "affect animal bug cause crop damage describe disease feature grow here insect issue kind leaf "
    "living manage name organism pest plant problem recommend see seen show shown sign species "
    "symptom thing tree visible visual way weed"
)


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that name something, each once, folded, in their order.

    >>> content_words("The leaves of the Corn were spotted.")
    ('maiz', 'spot')
    """
    return tuple(_content(text))


@lru_cache(maxsize=65536)
def _content(text: str) -> dict[str, str]:
    """Folded -> as it stands, normalised."""
    plain = one_crop_name(spelled(normalise(text)))
    found: dict[str, str] = {}
    for word in plain.split():
        folded = fold(word)
        if len(folded) > 1 and word not in _LINKS and folded not in _FRAMING:
            found.setdefault(folded, word)
    return found


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """A word without the end that its number or its tense gave it, and without a last e.

    >>> [fold(word) for word in ("berries", "wilted", "spotting", "leaves", "virus", "removing")]
    ['berry', 'wilt', 'spot', 'leaf', 'virus', 'remov']
    """
    if word in ("leaves", "leafs"):
        return "leaf"
    stem = _stem(word)
    return stem[:-1] if stem.endswith("e") and len(stem) > 4 else stem


def _stem(word: str) -> str:
    for end in ("ing", "ed"):
        stem = word.removesuffix(end)
        if stem != word and len(stem) >= 4:
            return stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "els" else stem
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes", "oes")):
        return word[:-2]
    if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


_FRAMING = frozenset(map(fold, _FRAME))


def given_away(answer: str, said: str) -> tuple[str, ...]:
    """The words of an answer that another text holds, in the order of the answer.

    >>> given_away("late blight", "What blights this potato?"), given_away("ant", "anthracnose")
    (('blight',), ())
    """
    there = _content(said)
    return tuple(word for folded, word in _content(answer).items() if folded in there)


def alike(a: str, b: str) -> float:
    """How much two texts have in common: words of both over words of either; 0 without any.

    >>> alike("Prune the dead branches.", "prune branches"), alike("", "")
    (0.6666666666666666, 0.0)
    """
    first, second = set(content_words(a)), set(content_words(b))
    either = first | second
    return len(first & second) / len(either) if either else 0.0


def names_it(name: str, text: str) -> bool:
    """Whether a text names this: the folded words of the name, in order, next to each other.

    >>> names_it("aphid", "We see Aphids there"), names_it("leaf spot", "a spot on the leaf")
    (True, False)
    """
    words = _folded(name)
    return bool(words) and f" {words} " in f" {_folded(text)} "


@lru_cache(maxsize=65536)
def _folded(text: str) -> str:
    return " ".join(map(fold, one_crop_name(spelled(normalise(text))).split()))


_CATCH_ALL = re.compile(
    r"\b(?:all|none|any|both|neither|either|some|two) (?:of )?(?:the )?"
    r"(?:above|below|foregoing|options|answers|choices)\b"
    r"|^\W*(?:all|none|any|both|neither)(?: of (?:these|those|them))?\W*$"
    r"|^\W*(?:both |either |neither )?\(?[A-J]\)? (?:and|or|nor|&) \(?[A-J]\)?(?: only)?\W*$",
    re.IGNORECASE,
)


def catch_all(option: str) -> bool:
    """Whether an option speaks of the other options.

    >>> catch_all("None of the above"), catch_all("A and C"), catch_all("Remove all of the leaves")
    (True, True, False)
    """
    return _CATCH_ALL.search(option) is not None
