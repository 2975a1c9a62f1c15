"""One form for every way a name is written, and one name for every crop.

What is done here needs no data: case, width, hyphens, blanks and punctuation (`normalise`);
British spellings and the plural of the last word (`spelled`); the crops' other names (`CROPS`).
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache

_MARKS = re.compile(r"[\s\-_/\u2010-\u2015\u2212]+")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")  # they choose a glyph, not a word

# Left: as written, normalised; right: the crop's id, which is the host's name in the data.
CROPS: Mapping[str, str] = {
    "aubergine": "eggplant",
    "beetroot": "beet",
    "bell pepper": "pepper",
    "bengal gram": "chickpea",
    "brinjal": "eggplant",
    "capsicum": "pepper",
    "chilli": "chili",
    "chilli pepper": "chili",
    "chili pepper": "chili",
    "cilantro": "coriander",
    "cocoa": "cacao",
    "common bean": "bean",
    "corn": "maize",
    "courgette": "zucchini",
    "egg plant": "eggplant",
    "filbert": "hazelnut",
    "french bean": "bean",
    "garbanzo": "chickpea",
    "garbanzo bean": "chickpea",
    "grape vine": "grape",
    "grapevine": "grape",
    "green gram": "mung bean",
    "ground nut": "peanut",
    "groundnut": "peanut",
    "kidney bean": "bean",
    "lucerne": "alfalfa",
    "manioc": "cassava",
    "mungbean": "mung bean",
    "oilseed rape": "canola",
    "paddy": "rice",
    "paddy rice": "rice",
    "pepper bell": "pepper",
    "pigeon pea": "pigeonpea",
    "rapeseed": "canola",
    "soy": "soybean",
    "soy bean": "soybean",
    "soya": "soybean",
    "soya bean": "soybean",
    "soyabean": "soybean",
    "sugar beet": "beet",
    "sugar cane": "sugarcane",
    "sugarbeet": "beet",
    "sweet pepper": "pepper",
    "sweetpotato": "sweet potato",
    "vitis": "grape",
}
_SPELLINGS: Mapping[str, str] = {
    "colour": "color",
    "grey": "gray",
    "mould": "mold",
    "moulds": "molds",
    "sulphur": "sulfur",
}
# The plurals of what names end with. "Spots" and "scales" are left: they are symptoms as often.
_PLURALS: Mapping[str, str] = {
    "flies": "fly",
    "sawflies": "sawfly",
    "whiteflies": "whitefly",
} | {
    f"{one}s": one
    for one in (
        "ant", "adelgid", "aphid", "armyworm", "bagworm", "bollworm", "budworm", "earworm",
        "fruitworm", "rootworm", "bee", "beetle", "bindweed", "blight", "borer", "bug", "canker",
        "cankerworm", "cast", "caterpillar", "cicada", "curculio", "cutworm", "earwig", "gall",
        "grasshopper", "grub", "hopper", "hornworm", "killer", "knotweed", "leafhopper",
        "leafminer", "leafroller", "locust", "looper", "maggot", "mealybug", "midge", "mildew",
        "miner", "mite", "mold", "moth", "needleminer", "nematode", "planthopper", "psyllid",
        "roller", "rot", "rust", "sawyer", "sharpshooter", "slug", "smut", "snail", "spittlebug",
        "termite", "thistle", "wasp", "webworm", "weevil", "wilt", "wireworm", "worm",
    )
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


def spelled(plain: str) -> str:
    """A normalised name in American spelling, its last word in the singular.

    >>> spelled("grey moulds"), spelled("thrips"), spelled("aster yellows")
    ('gray mold', 'thrips', 'aster yellows')
    """
    words = [_SPELLINGS.get(word, word) for word in plain.split()]
    return " ".join([*words[:-1], *(_PLURALS.get(word, word) for word in words[-1:])])


def crop_named(name: str, known: frozenset[str]) -> str:
    """The one id of a crop; a plural is folded where its singular is one of `known`."""
    plain = normalise(name)
    if plain in CROPS or plain in known:
        return CROPS.get(plain, plain)
    for end, instead in (("ies", "y"), ("es", ""), ("s", "")):
        one = plain.removesuffix(end) + instead
        if plain.endswith(end) and (one in CROPS or one in known):
            return CROPS.get(one, one)
    return plain


@cache
def spellings(crop: str) -> tuple[str, ...]:
    """A crop id and everything it is also called, the longest first."""
    names = {crop, *(other for other, one in CROPS.items() if one == crop)} - {""}
    plurals = {f"{name}es" if name.endswith(("o", "ch")) else f"{name}s" for name in names}
    return tuple(sorted(names | plurals, key=lambda each: (-len(each), each)))


def one_crop_name(plain: str) -> str:
    """A name with every crop in it called by its id, whole words only.

    >>> one_crop_name("corn rust"), one_crop_name("popcorn rust")
    ('maize rust', 'popcorn rust')
    """
    if _ALIASES.isdisjoint(plain.split()):
        return plain
    before = ""
    while before != plain:
        before, plain = plain, _ALIAS.sub(lambda found: CROPS[found[0]], plain)
    return plain


_ALIASES = frozenset(name.split()[-1] for name in CROPS)
_ALIAS = re.compile(
    r"(?<!\S)(?:" + "|".join(sorted(CROPS, key=len, reverse=True)) + r")(?!\S)",
)
