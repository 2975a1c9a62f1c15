"""What is a plant, a pest or a pathogen, and so is nobody: daisy, rose, Septoria, Bradford pear.

A detector of names that was trained on newspapers takes half a garden for people and places. Here
are all names of the taxonomy (labels, other names, hosts, organisms, genera), and some that gardens
have and the taxonomy has not. They count as they stand, word for word and the longest first:
"Johnson" in "johnson grass" is a grass, and by himself a man.
"""

import re
from functools import cache

from fieldtruth import taxonomy
from fieldtruth.taxonomy.data import book, label

# Remedies by their active ingredient: what experts advise must survive.
_REMEDIES = (
    "abamectin|acephate|azadirachtin|azoxystrobin|bacillus thuringiensis|bifenthrin|boscalid"
    "|captan|carbaryl|chlorothalonil|chlorpyrifos|clethodim|cyfluthrin|cyhalothrin|cypermethrin"
    "|dicamba|difenoconazole|dinotefuran|diquat|esfenvalerate|fipronil|fluazifop|fluopyram"
    "|flutolanil|glufosinate|glyphosate|hexythiazox|imidacloprid|indoxacarb|iprodione|isoxaben"
    "|malathion|mancozeb|metalaxyl|metaldehyde|metolachlor|myclobutanil|oryzalin|paraquat"
    "|pendimethalin|permethrin|prodiamine|propiconazole|pyraclostrobin|pyrethrin|quinclorac"
    "|sethoxydim|spinetoram|spinosad|sulfur|tebuconazole|thiamethoxam|thiophanate|triclopyr"
    "|trifloxystrobin|trifluralin|triticonazole|zoxamide"
)
# Garden plants, cultivars and makes that are called like people or places.
_GARDEN = (
    "abelia|african violet|annabelle|arborvitae|aster|autumn blaze|azalea|bartlett|bartlett pear"
    "|basil|begonia|black eyed susan|blenheim apricot|boston ivy|bougainvillea|boxwood|bradford"
    "|bradford pear|buttercup|butterfly bush|camellia|christmas cactus|clematis|cleome"
    "|colorado blue spruce|columbine|coneflower|cosmos|crape myrtle|crepe myrtle|daffodil"
    "|dahlia|daisy|daylily"
    "|delphinium|dogwood|douglas fir|early girl|endless summer|english ivy|euonymus|fern|forsythia"
    "|foxglove|fuji|gala|gardenia|geranium|ginger|golden delicious|granny smith|hawthorn|hazel"
    "|heather|hellebore|hibiscus|holly|honeycrisp|hosta|hyacinth|hydrangea|iris|ivy"
    "|jacobs ladder|johnson grass"
    "|jade|japanese maple|jasmine|jerusalem artichoke|jonathan|johnny jump up|joe pye weed"
    "|joe pye|juniper|kentucky bluegrass|knock out|knockout rose|lantana|laurel|lavender|leyland"
    "|leyland cypress|lilac|lily|magnolia|marigold|mcintosh|meyer lemon|miss kim|myrtle|nandina"
    "|narcissus|nellie stevens|nellie stevens holly|norfolk island pine|norway maple|norway spruce"
    "|olive|oregano|oriental bittersweet|pansy|pachysandra|penstemon|peony|petunia|photinia|pieris"
    "|poinsettia|poppy|queen annes lace|queen elizabeth|rhododendron|roma|rose|rose of sharon"
    "|rosemary|rudbeckia|russian sage|sage|salvia|sedum|shasta daisy|solomons seal|st augustine"
    "|st johns wort|sweet william|thyme|timothy|timothy grass|tree of heaven|trumpet vine|veronica"
    "|viburnum|viola|violet|virginia creeper|weigela|willow|wisteria|yarrow|yellowwood|yucca|zinnia"
    "|zoysia|abies|acer|ajuga|alyssum|amaranth|amsonia|asclepias|baptisia|berberis|betula|bluegrass"
    "|buxus|celosia|coreopsis|cornus|cotoneaster|crapemyrtle|echinacea|fraxinus|gaillardia|heuchera"
    "|ilex|inkberry|lamium|liatris|liriope|lobelia|maackia|malus|monarda|mugo|ninebark|physocarpus"
    "|picea|pinus|populus|prunus|quercus|ryegrass|salix|spiderwort|spiraea|stewartia|syringa|taxus"
    "|thuja|tilia|tsuga|ulmus|vinca|earwig|ladybug|cicada|hover fly|gravenstein|seckel"
    "|japanese beetle|jumping spider|roundup|sevin|bonide|miracle gro|scotts|neem|daconil"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+")
_RANKS = ("sp", "spp", "f", "subsp", "var", "pv", "cv", "ssp", "candidatus", "x")


@cache
def _phrases() -> dict[str, frozenset[tuple[str, ...]]]:
    """First word -> the names that begin with it, each in words; plurals too."""
    held = book()
    names = {
        *_GARDEN.split("|"),
        *taxonomy.CROPS,
        *taxonomy.CROPS.values(),
        *held.crops,
        *taxonomy.names(),
    }
    for name in taxonomy.names():
        known = label(name)
        if known is not None:
            names.update(known.synonyms, known.hosts, known.organisms, (known.base,))
            names.update(each.split()[0] for each in known.organisms if " " in each)
    table: dict[str, set[tuple[str, ...]]] = {}
    for name in names:
        words = _words(name)
        if words and not (len(words) == 1 and len(words[0]) < 3):
            table.setdefault(words[0], set()).add(words)
    return {first: frozenset(some) for first, some in table.items()}


def _words(name: str) -> tuple[str, ...]:
    return tuple(_plain(word) for word in _WORD.findall(name) if _plain(word) not in _RANKS)


def _plain(word: str) -> str:
    """Lower case, no apostrophe and hyphen, singular: as good as a form two spellings share.

    >>> _plain("Daisies"), _plain("Queen's"), _plain("Roses"), _plain("Cypress")
    ('daisy', 'queen', 'rose', 'cypress')
    """
    low = word.casefold().replace("’", "'").removesuffix("'s").replace("'", "").replace("-", "")
    if low.endswith("ies") and len(low) > 4:
        return low[:-3] + "y"
    plural = len(low) > 3 and low.endswith("s") and not low.endswith(("ss", "us", "is"))
    return low[:-1] if plural else low


def spans(text: str) -> list[tuple[int, int]]:
    """Where a text names a plant, a pest or a pathogen, the longest name first, in order."""
    table = _phrases()
    tokens = [match for match in _WORD.finditer(text) if _plain(match[0]) not in _RANKS]
    words = [_plain(match[0]) for match in tokens]
    found, at = [], 0
    while at < len(words):
        names = table.get(words[at], ())
        long = max(
            (len(name) for name in names if name == tuple(words[at : at + len(name)])), default=0
        )
        if long:
            found.append((tokens[at].start(), tokens[at + long - 1].end()))
        at += max(1, long)
    return found


def covers(name: str) -> bool:
    """Whether all of a name is names of plants, pests and pathogens.

    >>> covers("Daisy"), covers("Septoria"), covers("Bradford pears"), covers("Daisy Miller")
    (True, True, True, False)
    """
    letters = {at for start, end in spans(name) for at in range(start, end)}
    return all(match.start() in letters for match in _WORD.finditer(name)) and bool(letters)
