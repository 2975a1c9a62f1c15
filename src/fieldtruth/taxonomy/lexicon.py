"""What the words of a question or an answer are about: crops, pests, measures to take, causes.

Question-answer sets say in free text what detection sets say in a column. Everything here looks at
whole words: there is no beet in a beetle, no tea in steam, nothing healthy in "unhealthy" and
nothing to cut in a cutworm (AgroGround looks for substrings; reference section 1.0 lists what it
then finds). These are the last resort: options, folders and columns are read first, and what the
taxonomy knows about a label goes before the words of its name.

    crop_in           the crop that a text names
    words_in          which of six word lists a text touches
    asked_for         what kind of thing a question asks about
    measurement       whether an answer is nothing but numbers and units
    disease_after_no  the name in "No, it has X"
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal

from fieldtruth.taxonomy import wordlists
from fieldtruth.taxonomy.data import book
from fieldtruth.taxonomy.resolve import crop_id
from fieldtruth.taxonomy.spelling import CROPS

Word = Literal["pest", "weed", "healthy", "stress", "action", "cause"]
Asked = Literal[
    "disease", "pest", "weed", "plant", "symptom", "action", "cause", "count", "place", "yes_no"
]
_TOKEN = re.compile(r"[^\W_]+|[.,;:!?()]")
_APOSTROPHE = re.compile("['\u2018\u2019](?:s\\b|(?=[^\\W_]))")
_STOPS = frozenset(".,;:!?()")


def _tokens(text: str) -> list[str]:
    """Lower-case words and stops: "isn't" is one word, "tomato's" a tomato; a hyphen parts two."""
    return _TOKEN.findall(_APOSTROPHE.sub("", text.casefold()))


# ------------------------------------------------------------------------------------- crops


@cache
def _crops() -> tuple[dict[str, dict[tuple[str, ...], str | None]], frozenset[str]]:
    """First word -> name in words -> crop id or None; and all first words."""
    table: dict[str, dict[tuple[str, ...], str | None]] = {}
    plain = (
        book().crops | set(CROPS) | set(CROPS.values()) | set(wordlists.MORE_CROPS)
    ) - wordlists.EVERYDAY
    known: dict[str, str | None] = {name: crop_id(name) for name in plain}
    for name, crop in {**known, **wordlists.OTHER_NAMES}.items():
        for form in _forms(name):
            words = tuple(form.split())
            table.setdefault(words[0], {}).setdefault(words, crop)
    return table, frozenset(table)


def _forms(name: str) -> Iterator[str]:
    """A name in the singular and in the plural."""
    yield name
    if name.endswith("y") and name[-2] not in "aeiou":
        yield f"{name[:-1]}ies"
    yield f"{name}es" if name.endswith(("o", "ch", "sh", "s", "x")) else f"{name}s"


def crop_in(text: str) -> str | None:
    """The id of the crop that a text names: the first, and there the longest name; None for none.

    A crop that is a colour there ("orange spots"), a thing made of it ("coffee grounds", "pea
    sized") or part of an animal's name ("Colorado potato beetle") is passed over.

    >>> crop_in("Beetles on my bell peppers"), crop_in("orange spots"), crop_in("orange tree")
    ('pepper', None, 'orange')
    >>> crop_in("instead, the price of pineapples"), crop_in("a potato beetle on eggplant")
    ('pineapple', 'eggplant')
    """
    return _crop_in(text)


@lru_cache(maxsize=65536)
def _crop_in(text: str) -> str | None:
    tokens = _tokens(text)
    table, firsts = _crops()
    if firsts.isdisjoint(tokens):
        return None
    at = 0
    while at < len(tokens):
        names = table.get(tokens[at], {})
        found = [words for words in names if tuple(tokens[at : at + len(words)]) == words]
        if not found:
            at += 1
            continue
        words = max(found, key=len)
        crop = names[words]
        if crop is not None and not _otherwise(tokens, at, len(words)):
            return crop
        at += len(words)
    return None


def _otherwise(tokens: list[str], at: int, length: int) -> bool:
    """Whether the crop's name at that place means a colour, a thing or an animal."""
    word = tokens[at]
    before = tokens[at - 1] if at else ""
    after = tokens[at + length] if at + length < len(tokens) else ""
    later = tokens[at + length + 1] if at + length + 1 < len(tokens) else ""
    if after in wordlists.MADE_OF or after in wordlists.NAMED_AFTER:
        return True
    if after in wordlists.BETWEEN and later in wordlists.NAMED_AFTER:  # squash vine borer
        return True
    if word == "fig" and (after.isdigit() or after == "."):  # Fig. 3
        return True
    if word == "rose" and before in ("temperature", "temperatures", "levels", "it", "prices"):
        return True
    if word == "lime" and after in ("application", "applications", "sulfur", "sulphur"):
        return True
    if length > 1 or word not in wordlists.COLOURS:
        return False
    if word != "orange":
        return after in wordlists.HUES
    return (
        after in wordlists.HUES | wordlists.MARKS
        or before in wordlists.SHADES
        or after in ("and", "or", "to", "ish")
    )


# ------------------------------------------------------------------------------- word lists


_PEST_ENDS = ("worm", "worms", "bug", "bugs", "fly", "flies", "miner", "miners")
_ENDS = (*_PEST_ENDS, "weed", "weeds")
_TELLING = wordlists.PESTS | wordlists.WEEDS | wordlists.STRESSES | wordlists.HARMFUL
_TELLING |= wordlists.ACTIONS | wordlists.ORDERS | {"scale", "scales"}


def words_in(text: str) -> frozenset[Word]:
    """Which of the six word lists a text touches, by whole words.

    "Not healthy" is not healthy; "no disease" is. Scale is a pest, but not a large scale. A text
    can touch several lists: where only one can be meant, ask for the pest before the action.

    >>> sorted(words_in("Cutworms")), sorted(words_in("unhealthy")), sorted(words_in("abnormal"))
    (['pest'], [], [])
    >>> sorted(words_in("Remove the weeds by hand")), sorted(words_in("it was discovered there"))
    (['action', 'weed'], [])
    """
    return _words_in(text)


@lru_cache(maxsize=65536)
def _words_in(text: str) -> frozenset[Word]:
    tokens = _tokens(text)
    found: set[Word] = set()
    if _healthy(tokens):
        found.add("healthy")
    for at, token in enumerate(tokens):
        if token not in _TELLING and not token.endswith(_ENDS):
            continue
        before = tokens[at - 1] if at else ""
        after = tokens[at + 1] if at + 1 < len(tokens) else ""
        found |= _about(token, before, after)
    if _any_phrase(tokens, wordlists.CAUSES, _CAUSE_BEGINS):
        found.add("cause")
    return frozenset(found)


def _about(token: str, before: str, after: str) -> set[Word]:
    if token in wordlists.HARMFUL and after in wordlists.HARM:
        return {"stress"}  # herbicide injury, which is nothing to do
    if token in ("scale", "scales"):
        plain = (
            before not in wordlists.SCALE_BEFORE
            and after not in wordlists.SCALE_AFTER
            and not after.isdigit()
        )
        return {"pest"} if plain else set()
    if token in wordlists.PESTS or _ends_in_pest(token):
        return {"pest"}
    if token in wordlists.WEEDS or (
        token.endswith(("weed", "weeds")) and token not in wordlists.NO_WEEDS
    ):
        return {"weed"}
    if token in wordlists.STRESSES:
        return {"stress"}
    if token in wordlists.ACTIONS:
        return {"action"}
    begins = not before or before in _STOPS or before in wordlists.BEFORE_ORDERS
    return {"action"} if begins and token in wordlists.ORDERS and after else set()


def _ends_in_pest(token: str) -> bool:
    """Cutworm, whitefly, stinkbug, leafminer: words whose end names the animal."""
    return token.endswith(_PEST_ENDS) and token not in wordlists.NO_PESTS


def _healthy(tokens: list[str]) -> bool:
    for at, token in enumerate(tokens):
        if token not in wordlists.HEALTHY:
            continue
        clause: list[str] = []
        for word in reversed(tokens[:at]):
            if word in _STOPS or len(clause) == 4:
                break
            clause.append(word)
        if wordlists.NOT.isdisjoint(clause) and clause[:1] != ["no"]:
            return True
    return _any_phrase(tokens, wordlists.NOTHING_WRONG, _WELL_BEGINS)


_CAUSE_BEGINS = frozenset(phrase[0] for phrase in wordlists.CAUSES)
_WELL_BEGINS = frozenset(phrase[0] for phrase in wordlists.NOTHING_WRONG)


def _any_phrase(
    tokens: list[str], phrases: tuple[tuple[str, ...], ...], begins: frozenset[str]
) -> bool:
    """Whether one of the phrases is in a text; `begins` are their first words, looked at first."""
    return not begins.isdisjoint(tokens) and any(
        tuple(tokens[at : at + len(phrase)]) == phrase
        for phrase in phrases
        for at in range(len(tokens) - len(phrase) + 1)
    )


# -------------------------------------------------------------------------------- questions

# In this order: the first that a question holds is what it asks about.
_PHRASES: tuple[tuple[Asked, str], ...] = (
    ("count", r"\bhow many\b|\bnumber of\b|\bcount the\b"),
    ("place", r"\bwhere\b|\bcoordinates\b|\bwhich (?:region|part|area)\b|\blocated\b"),
    (
        "cause",
        r"\bwhy\b|\bwhat (?:is |are )?(?:likely |probably )?(?:the )?(?:cause|causes|causing|"
        r"caused)\b|\bcause of\b|\breasons? for\b",
    ),
    (
        "action",
        r"\bhow (?:can|do|should|to|could|would)\b|\bwhat (?:should|can|could) (?:i|we|be|one|"
        r"the)\b|\bwhat (?:\w+ )?(?:measures?|actions?|treatments?|steps?)\b|\b(?:measures?|"
        r"treatment|manage|management|control|prevent|get rid)\b",
    ),
    ("yes_no", r"^\W*(?:is|are|does|do|did|can|could|will|was|were|has|have|should)\b"),
    ("symptom", r"\bsymptoms?\b|\bappearance\b|\blook like\b|\bvisible signs?\b"),
    ("weed", r"\bweeds?\b"),
    ("pest", r"\b(?:pests?|insects?|bugs?|beetles?|caterpillars?|larvae?|mites?)\b"),
    ("disease", r"\b(?:diseases?|infect\w*|ails?|ailing|wrong with|pathogen|affecting)\b"),
    ("plant", r"\b(?:plant|crop|tree|flower|shrub|fruit|species|variety|vegetable)\b"),
)
_ASKED = tuple((what, re.compile(phrase, re.IGNORECASE)) for what, phrase in _PHRASES)


@lru_cache(maxsize=65536)
def asked_for(question: str) -> Asked | None:
    """What a question asks about, None where no phrase of ours is in it.

    >>> asked_for("What insect is this?"), asked_for("How many insects?"), asked_for("Hm?")
    ('pest', 'count', None)
    """
    return next((what for what, phrase in _ASKED if phrase.search(question)), None)


# ---------------------------------------------------------------------------------- answers

_MEASURE = re.compile(
    r"(?:[\d\s.,:;/~\-\u2013\u2212+\u00b1<>\u2264\u2265\u2248=%\u00b0\u00b2()\[\]{}x\u00d7]++"
    r"|(?<![^\W\d_])(?:to|and|about|approximately|percent|square|cubic|per|by|[mck]?m2?|ha|"
    r"hectares?|acres?|[mk]?g|mg|l|ml|lbs?|in|ft|inch|inches|feet|foot|yards?|"
    r"(?:centi|milli|kilo)?met(?:er|re)s?|pixels?|px|degrees?|[cf]|days?|weeks?|months?|years?|"
    r"hours?|minutes?)(?![^\W\d_]))++",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")


@lru_cache(maxsize=65536)
def measurement(text: str) -> bool:
    """Whether a text is nothing but numbers, ranges, coordinates and units.

    >>> [measurement(each) for each in ("0%~10%", "3.52m", "[0-100]square meters", "3 mites")]
    [True, True, True, False]
    """
    return bool(_MEASURE.fullmatch(text) and _DIGIT.search(text))


_AFTER_NO = re.compile(r"\s*no\s*,?\s*(?:it|they|this)\s+(?:has|have|is|shows)\s+(?P<name>.+)",
                       re.IGNORECASE | re.DOTALL)  # fmt: skip
# What AgroMind and AgroCoT put behind a name to say what causes it. A mold or a virus is part of
# the name that it ends: "leaf mold", "mosaic virus".
_CAUSERS = ("water mold", "fungus", "bacteria", "bacterium", "disease", "damage")
# "Tehon and Daniels": who described the fungus, two names of which one is at least written large.
_AUTHOR = r"(?:[A-Z]\.\s?)*[A-Z][\w.]+"
_AUTHORS = re.compile(
    rf"\s+(?:\([^)]*\)\s*)?{_AUTHOR}(?:, {_AUTHOR})*\s+(?:&|and|et)\s+{_AUTHOR}(?:,?\s+\d{{4}})?$"
)


@lru_cache(maxsize=4096)
def disease_after_no(text: str) -> str | None:
    """The X of "No, it has X", without its causer and authors; None for any other text.

    >>> disease_after_no("No, it has Leaf Mold Fungus"), disease_after_no("No, it has Leaf Mold")
    ('Leaf Mold', 'Leaf Mold')
    >>> disease_after_no("No, it has zeaemaydis Tehon and Daniels"), disease_after_no("Yes")
    ('zeaemaydis', None)
    """
    found = _AFTER_NO.fullmatch(text)
    if found is None:
        return None
    name = _AUTHORS.sub("", found["name"].strip().rstrip(".").rstrip())
    for causer in _CAUSERS:
        shorter = name[: -len(causer) - 1]
        if name.casefold().endswith(f" {causer}") and shorter.strip():
            return shorter.rstrip()
    return name or None
