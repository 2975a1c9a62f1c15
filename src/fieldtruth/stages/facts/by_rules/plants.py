"""The plants that growers ask about, by the names they have in gardens.

Crops come from the taxonomy; these are the trees, shrubs, flowers and house plants that have no
detection set of their own. Only names: no wild species lists, no varieties.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from fieldtruth.taxonomy import wordlists
from fieldtruth.taxonomy.data import book
from fieldtruth.taxonomy.spelling import CROPS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GARDEN = (
    "abelia", "african violet", "agave", "ajuga", "alder", "aloe", "alstroemeria", "amaryllis",
    "anemone", "arborvitae", "arizona cypress", "ash tree", "aspen", "aster", "astilbe",
    "azalea", "baby's breath", "bald cypress", "bamboo", "barberry", "basswood", "bayberry",
    "beautyberry", "beech", "begonia", "bermuda grass", "birch", "black-eyed susan",
    "bleeding heart", "bluegrass", "boston fern", "bougainvillea", "box elder", "boxwood",
    "bradford pear", "bromeliad", "buckeye", "buckthorn", "burning bush", "butterfly bush",
    "cactus", "caladium", "calla lily", "camellia", "canna", "canna lily", "catalpa", "catmint",
    "cedar", "chinaberry", "christmas cactus", "chrysanthemum", "clematis", "coleus",
    "coneflower", "coral bells", "coreopsis", "cosmos", "cotoneaster", "cottonwood",
    "crabapple", "crab apple", "crape myrtle", "crepe myrtle", "croton", "cypress", "daffodil",
    "dahlia", "daisy", "daylily", "day lily", "delphinium", "dogwood", "douglas fir",
    "eastern redbud", "echinacea", "elderberry", "elm", "english ivy", "eucalyptus", "euonymus",
    "fern", "fescue", "fiddle leaf fig", "ficus", "fir", "forsythia", "foxglove", "freesia",
    "fringe tree", "fuchsia", "gardenia", "geranium", "gingko", "ginkgo", "gladiolus",
    "goldenrod", "hackberry", "hawthorn", "hawthorne", "hazel", "hellebore", "hemlock",
    "hen and chicks", "heuchera", "hibiscus", "hickory", "holly", "hollyhock", "honey locust",
    "honeysuckle", "hornbeam", "hosta", "hyacinth", "hydrangea", "hyssop", "impatiens", "iris",
    "ironwood", "ivy", "jade plant", "japanese maple", "jasmine", "juniper", "kentucky bluegrass",
    "knockout rose", "knock out rose", "lantana", "larch", "laurel", "lawn", "leyland cypress",
    "liatris", "lilac", "lily", "lily of the valley", "linden", "liriope", "locust tree",
    "lupine", "magnolia", "maidenhair fern", "maple", "marigold", "milkweed", "mimosa tree",
    "monstera", "moonflower", "moss", "mountain ash", "mountain laurel", "mugo pine", "mulberry",
    "mum", "nandina", "narcissus", "nasturtium", "ninebark", "norfolk island pine", "oak",
    "oleander", "orchid", "oregon grape", "ornamental grass", "pachysandra", "palm tree",
    "pampas grass", "pansy", "pawpaw", "peace lily", "pecan", "peony", "periwinkle", "petunia",
    "philodendron", "phlox", "photinia", "pieris", "pin oak", "pine", "plumeria", "poinsettia",
    "ponderosa pine", "poplar", "poppy", "pothos", "primrose", "privet", "purple coneflower",
    "pussy willow", "pyracantha", "redbud", "red cedar", "red maple", "redwood", "rhododendron",
    "river birch", "rose", "rose of sharon", "rubber plant", "rudbeckia", "russian sage",
    "rye grass", "ryegrass", "sage", "salvia", "sassafras", "sedum", "sequoia", "serviceberry",
    "service berry", "silver maple", "smoke bush", "smoke tree", "snake plant", "snapdragon",
    "snowberry", "sod", "spider plant", "spirea", "spruce", "st john's wort", "stewartia",
    "succulent", "sugar maple", "sumac", "sunflower", "sweet gum", "sweetgum", "sycamore",
    "tall fescue", "thuja", "tulip poplar", "tulip tree", "turf", "turfgrass", "verbena",
    "veronica", "viburnum", "vinca", "violet", "weeping cherry", "weigela", "white oak",
    "white pine", "willow", "wisteria", "witch hazel", "yarrow", "yew", "yucca", "zinnia",
    "zoysia", "swamp milkweed", "red oak", "burr oak", "bur oak", "blue spruce", "white spruce",
    "norway spruce", "norway maple", "scotch pine", "live oak", "water lettuce", "bee balm",
    "butterfly weed", "cherry laurel", "wood lily", "tiger lily", "asiatic lily", "false "
    "strawberry",
    "mock orange", "passion flower", "morning glory", "trumpet vine", "virginia creeper",
    "wild grape", "grape vine", "apple tree", "pear tree", "plum tree", "peach tree",
    "cherry tree", "lemon tree", "lime tree", "orange tree", "fig tree", "olive tree",
    "box tree", "boxwood tree", "citrus", "squash", "zucchini", "pumpkin", "gourd", "stone fruit",
)  # fmt: skip
# Crops' names that mean something else in a grower's words.
_NOT = _words("palm ash box hop elder rape flax hemp teff vetch mint date olive lime")
# Lawns are asked about as such; they name no species.
VAGUE = _words(
    "lawn sod turf turfgrass grass tree bush shrub plant weed vine flower fern moss cactus "
    "succulent"
)


@cache
def _names() -> re.Pattern[str]:
    known = set(_GARDEN) | set(book().crops) | set(CROPS) | set(wordlists.MORE_CROPS)
    known |= {name for name, crop in wordlists.OTHER_NAMES.items() if crop is not None}
    wanted = sorted(
        (name for name in known if name not in _NOT and len(name) > 2), key=lambda n: (-len(n), n)
    )
    either = "|".join(map(_either, wanted))
    return re.compile(
        rf"(?<![\w-])(?:{either})(?: (?:trees?|bush(?:es)?|shrubs?|plants?|vines?))?(?![\w-])",
        re.IGNORECASE,
    )


def _either(name: str) -> str:
    """A name in the singular and the plural, its blanks as blanks or hyphens."""
    word = re.escape(name).replace(r"\ ", r"[ -]")
    if name.endswith("y"):
        return f"{word[:-1]}(?:y|ys|ies)"
    return f"{word}(?:e?s)?"


# A name here is a colour, a thing or part of another's name: "rose in June", "pine cones".
_ASIDE = re.compile(
    r"\s*(?:colou?r\w*|mulch|straw|bark mulch|needles?\s+mulch|cones?|beetles?|aphids?|moths?|"
    r"borers?|worms?|bugs?|mites?|oil|scale|lace ?bugs?|sawfl\w+|weevils?|rust|juice|grounds|"
    r"tar|nuts?|honey)\b",
    re.IGNORECASE,
)
_THEIRS = re.compile(r"\b(?:your|you have an?)\s+(?:[\w-]+\s+){0,2}$", re.IGNORECASE)
_NONE = re.compile(
    r"\b(?:no|not|without|any|near|beside|under|beneath)\s+(?:the |my |our |a |an |any )?$", re.I
)
_FORMS = _words("tree bush shrub plant vine")


def plants_in(text: str) -> Iterator[str]:
    """The plants that a text names, as it writes them, in order.

    >>> list(plants_in("The leaves of my Pin Oak, near the cedar mulch"))
    ['Pin Oak']
    """
    for found in _names().finditer(text):
        if _ASIDE.match(text, found.end()) is None:
            yield found[0]


def plant_asked_about(asked: str, said: str) -> str | None:
    """The plant that a grower writes about: the only one that the expert names as well.

    Where they share none: the one that the expert calls the grower's, then the only one that the
    grower names. Where they share several it may be any of them, and none is told.

    >>> plant_asked_about("Under the oaks, my hosta has holes", "Slugs eat hostas")
    'hosta'
    >>> plant_asked_about("my lawn", "") is None
    True
    """
    named, answered = _definite(asked), _definite(said)
    shared = _kinds([each for each in named if any(_akin(each, other) for other in answered)])
    if shared:
        return shared[0] if len(shared) == 1 else None
    theirs = _definite(said, of_theirs=True)
    if theirs:
        return theirs[0]
    kinds = _kinds(named)
    return kinds[0] if len(kinds) == 1 else None


def _kinds(names: Sequence[str]) -> list[str]:
    """One name for each plant, the first: a pin oak and an oak are one."""
    kept: list[str] = []
    for name in names:
        if not any(_akin(name, other) for other in kept):
            kept.append(name)
    return kept


def _definite(text: str, *, of_theirs: bool = False) -> list[str]:
    """The plants that a text names, in order, without lawns and other plants of no kind."""
    found = []
    for each in _names().finditer(text):
        before = text[max(0, each.start() - 40) : each.start()]
        if _ASIDE.match(text, each.end()) or _root(each[0]) in VAGUE or _NONE.search(before):
            continue
        if not of_theirs or _THEIRS.search(before):
            found.append(each[0])
    return found


def _akin(first: str, second: str) -> bool:
    a, b = _root(first), _root(second)
    return a.endswith(b) or b.endswith(a)


def _root(name: str) -> str:
    """A plant's name in one way of writing: "Maple trees" and "maple" are the same."""
    words = [_singular(word) for word in re.split(r"[ -]", name.casefold())]
    kept = [word for word in words if word not in _FORMS]
    return "".join(kept or words)


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("oes", "shes", "ches", "xes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word.removesuffix("s")
