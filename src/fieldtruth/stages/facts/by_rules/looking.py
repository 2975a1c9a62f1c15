"""Sentences in which an expert tells how something looks: a colour or form, and where it is."""

import re

from fieldtruth.stages.facts.sentences import Sentence

_LOOK = (
    "black|blackened|bleached|blotch(?:es|y)?|bronzed|brown|browning|brownish|chlorotic|chlorosis|"
    "circular|concentric|cottony|crusty|cupped|cupping|curled|curling|dark|darkened|discolored|"
    "discoloration|distorted|dots|elongated|fluffy|frothy|fuzzy|fuzz|galls?|gr[ae]y|gr[ae]yish|"
    "green|greenish|hairy|halos?|holes|irregular|jagged|lance-shaped|lesions?|lobed|metallic|"
    "mottled|mottling|mosaic|mushy|narrow|necrotic|necrosis|notched|opposite|alternate|orange|oval|"
    "pale|patches|pink|pinkish|powdery|purple|purplish|pustules?|raised|red|reddish|ringed|rings|"
    "rounded|round|rust-colored|scorched|segmented|serrated|shiny|shriveled|skeletonized|slimy|"
    "smooth|speckled|speckling|spotted|spots|stippled|stippling|streaks?|striped|stripes|sunken|"
    "swollen|tan|thorny|toothed|translucent|tubular|twisted|velvety|warts?|water-soaked|waxy|"
    "webbing|white|whitish|wilted|wilting|wrinkled|yellow|yellowed|yellowing|yellowish|"
    "inch(?:es)?|mm|cm|millimeters?|long|wide|tall|sticky|honeydew|sawdust|frass"
)
_PART = (
    "abdomen|antennae?|back|bark|base|berries|berry|blades?|blooms?|body|bodies|branch(?:es)?|"
    "buds?|"
    "bumps?|canes?|canopy|cap|clitellum|clusters?|crown|edges?|eggs?|fibers|flowers?|flowerheads?|"
    "foliage|fronds?|fruits?|galls?|gills|growths?|head|heads|heartwood|larvae?|leaf|leaves|"
    "leaflets|"
    "leafs|legs|lesions?|limbs?|margins?|needles?|petals?|pods?|roots?|rhizomes?|sap|scales|seeds?|"
    "seedheads?|shells?|shoots?|spores?|stalks?|stems?|surfaces?|tips?|trunk|twigs?|undersides?|"
    "veins?|wings?|wood|worms?|spots?|insects?|adults?|beetles?|nymphs?|patches|lawn|turf|grass|"
    "plants?|tree"
)
_HAS = (
    r"is|are|has|have|shows?|display|displays|appears?|develops?|turns?|become|becomes|presents?|"
    r"produces?|bears?|causes?|causing|exhibits?|feature|features|looks?|forms?|grows?|with|seen|"
    r"characterized|starts?|begins?|ends up|contains?|leaves?|includes?|called"
)
_LOOKS, _PARTS, _TELLS = (
    re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE) for words in (_LOOK, _PART, _HAS)
)
# What the grower saw, what is wanted, what should be looked for, and what is not so.
_NOT_SEEN = re.compile(
    r"\b(?:you (?:mention(?:ed)?|describe[d]?|observed?|noticed?|said|see|are seeing|saw|'ve|have|"
    r"can|may|might|could|should|will)|you['\u2019](?:re|ve|ll)|if|not|no|never|without|i|we|my|"
    r"our|"
    r"should|would|unless|once|until|look for|check|inspect|prefers?|need|needs|require|avoid|"
    r"apply|use|remove|prune|water(?:ing|ed)?|fertiliz\w+|mulch|ensure|provide|plant it|"
    r"recommend\w*|help|helps|control|fungicides?|pesticides?|herbicides?|insecticides?|soil|"
    r"pictures?|eradicat\w+|can|caused by|causes?|suggests?|indicat\w+|due to|because|signs of|"
    r"lead to|"
    r"align\w*|discouraged|form when|different from each|variety of|factors|range of|such as|"
    r"reasons?|symptoms of|this year)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w-]+")
_NEAR = 8  # words between what is seen and where
_LEAST = 6  # words: fewer show nothing


def looks_in(sentence: Sentence) -> bool:
    """Whether a sentence describes what can be seen.

    >>> looks_in(Sentence("The leaves have small brown spots with yellow halos.", 0))
    True
    """
    text = sentence.text
    if sentence.asks or len(text.split()) < _LEAST or _NOT_SEEN.search(text):
        return False
    if _TELLS.search(text) is None:
        return False
    words = _WORD.findall(text)
    looks = [at for at, word in enumerate(words) if _LOOKS.fullmatch(word)]
    parts = [at for at, word in enumerate(words) if _PARTS.fullmatch(word)]
    return any(0 < abs(look - part) <= _NEAR for look in looks for part in parts)
